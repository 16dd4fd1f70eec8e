//! Reads decision logs and recordings line by line.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::{Path, PathBuf};

use super::record::{LONGEST_LINE_BYTES, RecordError};

const BUFFER_BYTES: usize = 64 * 1024;

/// The first bytes of compressed files, and the program that decompresses them.
const COMPRESSED: &[(&[u8], &str)] = &[(b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd")];

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
#[expect(missing_debug_implementations, reason = "a source has none")]
pub struct FileLines {
    file: PathBuf,
    reader: BufReader<Box<dyn Read>>,
    number: u64,
}

impl FileLines {
    /// Opens a file and reads up to its current end, since a hook may append to it.
    pub fn open(file: &Path) -> Result<FileLines, ReadError> {
        let opened = File::open(file).and_then(as_it_is);
        FileLines::of(file, opened.map(|file| Box::new(file) as Box<dyn Read>))
    }

    /// Reads an opened file or pipe, called `name` in messages.
    pub(crate) fn of(
        name: &Path,
        opened: io::Result<Box<dyn Read>>,
    ) -> Result<FileLines, ReadError> {
        let opened = opened.map_err(ReadError::of_file(name))?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, opened);
        let start = reader.fill_buf().map_err(ReadError::of_file(name))?;
        let mut known = COMPRESSED.iter();
        if let Some((_, program)) = known.find(|(magic, _)| start.starts_with(magic)) {
            let file = name.to_path_buf();
            let problem = format!("it is compressed: pipe the output of `{program} -dc` to stdin");
            return Err(ReadError {
                file,
                line: None,
                problem,
            });
        }
        Ok(FileLines {
            file: name.to_path_buf(),
            reader,
            number: 0,
        })
    }

    /// Whether the next line is buffered, so that reading it cannot wait.
    pub(crate) fn has_next_line(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
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

/// Limits a file to its current length. Pipes are read to their end.
pub(crate) fn as_it_is(file: File) -> io::Result<Take<File>> {
    let meta = file.metadata()?;
    let length = if meta.is_file() { meta.len() } else { u64::MAX };
    Ok(file.take(length))
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
