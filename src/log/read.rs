//! Reads decision logs and recordings line by line.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::{Path, PathBuf};

use super::record::{LONGEST_LINE_BYTES, RecordError};

/// A problem with a file or a line. Later lines can be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}{line}: {problem}", file = file.display(), line = line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct ReadError {
    pub file: PathBuf,
    /// From 1; `None` if the file cannot be read.
    pub line: Option<u64>,
    pub problem: String,
}

impl ReadError {
    fn of_file(file: &Path) -> impl Fn(io::Error) -> ReadError {
        move |error| ReadError {
            file: file.to_path_buf(),
            line: None,
            problem: error.to_string(),
        }
    }

    pub fn of_line(file: &Path, line: u64, problem: &RecordError) -> ReadError {
        ReadError {
            file: file.to_path_buf(),
            line: Some(line),
            problem: problem.to_string(),
        }
    }
}

/// The lines of a file, without empty ones.
#[derive(Debug)]
pub struct FileLines {
    file: PathBuf,
    reader: BufReader<Take<File>>,
    number: u64,
}

impl FileLines {
    /// Opens a file and reads up to its current end, since a hook may append to it.
    pub fn open(file: &Path) -> Result<FileLines, ReadError> {
        FileLines::of(file, File::open(file))
    }

    /// Reads an opened file or pipe, called `name` in messages.
    pub fn of(name: &Path, opened: io::Result<File>) -> Result<FileLines, ReadError> {
        let file = opened.map_err(ReadError::of_file(name))?;
        let meta = file.metadata().map_err(ReadError::of_file(name))?;
        let length = if meta.is_file() { meta.len() } else { u64::MAX };
        Ok(FileLines {
            file: name.to_path_buf(),
            reader: BufReader::with_capacity(64 * 1024, file.take(length)),
            number: 0,
        })
    }

    /// Reads the next line into `into`, without its line break, and returns its number; `None` at
    /// the end.
    pub fn next_line(&mut self, into: &mut Vec<u8>) -> Result<Option<u64>, ReadError> {
        loop {
            self.number += 1;
            let read = read_line(&mut self.reader, LONGEST_LINE_BYTES, into);
            match read.map_err(ReadError::of_file(&self.file))? {
                Line::End => return Ok(None),
                Line::TooLong => {
                    let problem = RecordError::TooLong;
                    return Err(ReadError::of_line(&self.file, self.number, &problem));
                }
                Line::Text if into.iter().all(u8::is_ascii_whitespace) => {}
                Line::Text => return Ok(Some(self.number)),
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    Text,
    TooLong,
    End,
}

/// Reads a line of at most `most` bytes into `into`, without its line break, which is optional at
/// the end.
pub fn read_line(from: &mut impl BufRead, most: usize, into: &mut Vec<u8>) -> io::Result<Line> {
    into.clear();
    if from
        .by_ref()
        .take(most as u64 + 1)
        .read_until(b'\n', into)?
        == 0
    {
        return Ok(Line::End);
    }
    if into.pop_if(|last| *last == b'\n').is_some() || into.len() <= most {
        return Ok(Line::Text);
    }
    *into = Vec::new();
    from.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

/// Reads the lines of a file into memory, newest first, without empty ones. Log files are small.
pub fn newest_first(file: &Path) -> Result<Vec<Vec<u8>>, ReadError> {
    let text = fs::read(file).map_err(ReadError::of_file(file))?;
    let mut lines: Vec<Vec<u8>> = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
        .map(<[u8]>::to_vec)
        .collect();
    lines.reverse();
    Ok(lines)
}
