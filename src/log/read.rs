//! Lines are read again: from the first on, or from the last back, with memory for one of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::record::{LONGEST_LINE_BYTES, RecordError};

const BLOCK: usize = 64 * 1024;

/// A problem with a file, or with one line; the lines after it can be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", place(file, *line))]
pub struct ReadError {
    pub file: PathBuf,
    /// From 1; `None` if the file itself cannot be read.
    pub line: Option<u64>,
    pub problem: String,
}

pub(crate) fn place(file: &Path, line: Option<u64>) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}", file.display())
}

impl ReadError {
    pub fn of_file<E: ToString>(file: &Path) -> impl Fn(E) -> ReadError {
        move |problem| ReadError {
            file: file.to_path_buf(),
            line: None,
            problem: problem.to_string(),
        }
    }

    pub fn of_line(file: &Path, line: u64, problem: &RecordError) -> ReadError {
        let problem = problem.to_string();
        ReadError {
            file: file.to_path_buf(),
            line: Some(line),
            problem,
        }
    }
}

/// The lines of a file from first to last, without empty ones.
pub struct FileLines {
    file: PathBuf,
    reader: Box<dyn BufRead + Send>,
    number: u64,
}

impl std::fmt::Debug for FileLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines")
            .field("file", &self.file)
            .field("number", &self.number)
            .finish()
    }
}

impl FileLines {
    pub fn open(file: &Path) -> Result<FileLines, ReadError> {
        let opened = File::open(file).map_err(ReadError::of_file(file))?;
        Ok(FileLines::of(file, BufReader::with_capacity(BLOCK, opened)))
    }

    pub fn of(name: &Path, reader: impl BufRead + Send + 'static) -> FileLines {
        FileLines {
            file: name.to_path_buf(),
            reader: Box::new(reader),
            number: 0,
        }
    }

    /// Puts the next line into `into`, without its end, and returns its number; `None` at the end
    /// of the file.
    pub fn next_line(&mut self, into: &mut Vec<u8>) -> Result<Option<u64>, ReadError> {
        loop {
            into.clear();
            self.number += 1;
            let fails = ReadError::of_file::<io::Error>(&self.file);
            let most = LONGEST_LINE_BYTES as u64 + 1;
            let mut bounded = (&mut self.reader).take(most);
            let read = bounded.read_until(b'\n', into).map_err(&fails)?;
            if read == 0 {
                return Ok(None);
            }
            if into.last() == Some(&b'\n') {
                into.pop();
            } else if into.len() > LONGEST_LINE_BYTES {
                into.clear();
                into.shrink_to(0);
                self.reader.skip_until(b'\n').map_err(fails)?;
                return Err(ReadError::of_line(
                    &self.file,
                    self.number,
                    &RecordError::TooLong,
                ));
            }
            if !into.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(self.number));
            }
        }
    }
}

/// The lines of a file from last to first, without empty ones.
#[derive(Debug)]
pub struct Backwards {
    path: PathBuf,
    file: File,
    /// How many bytes of the file are not read yet.
    unread: u64,
    /// What is read and not returned yet.
    pending: Vec<u8>,
    /// From here on, `pending` has no line break.
    searched: usize,
}

impl Backwards {
    /// The lines of `path`, as far as it is written now.
    pub fn open(path: &Path) -> Result<Backwards, ReadError> {
        let file = File::open(path).map_err(ReadError::of_file(path))?;
        let meta = file.metadata().map_err(ReadError::of_file(path))?;
        if !meta.is_file() {
            return Err(ReadError::of_file(path)("it is not a file"));
        }
        let path = path.to_path_buf();
        Ok(Backwards {
            path,
            file,
            unread: meta.len(),
            pending: Vec::new(),
            searched: 0,
        })
    }

    /// The same for every name of the file.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.file
            .metadata()
            .ok()
            .map(|meta| (meta.dev(), meta.ino()))
    }

    pub fn file(&self) -> &Path {
        &self.path
    }

    /// The line before the one that was given last, and where it begins.
    pub fn line_before(&mut self) -> Result<Option<(u64, Vec<u8>)>, ReadError> {
        loop {
            let end = self.pending.len();
            let found = self.pending[..self.searched]
                .iter()
                .rposition(|byte| *byte == b'\n');
            if let Some(newline) = found {
                let line = self.pending.split_off(newline + 1);
                self.pending.truncate(newline);
                self.searched = newline;
                if !line.iter().all(u8::is_ascii_whitespace) {
                    return Ok(Some((self.unread + newline as u64 + 1, line)));
                }
                continue;
            }
            if self.unread == 0 {
                self.searched = 0;
                let line = std::mem::take(&mut self.pending);
                let is_empty = line.iter().all(u8::is_ascii_whitespace);
                return Ok((!is_empty).then_some((0, line)));
            }
            if end > LONGEST_LINE_BYTES {
                let line = self.number_at(self.unread)?;
                self.unread = 0;
                self.pending = Vec::new();
                self.searched = 0;
                return Err(ReadError::of_line(&self.path, line, &RecordError::TooLong));
            }
            self.read_more()?;
        }
    }

    /// Reads a block in front of `pending`, as long as that is, so that long lines cost no more.
    fn read_more(&mut self) -> Result<(), ReadError> {
        let size = (self.pending.len().max(BLOCK) as u64).min(self.unread);
        let mut block = vec![0; usize::try_from(size).unwrap_or(BLOCK)];
        let start = self.unread - size;
        self.file
            .read_exact_at(&mut block, start)
            .map_err(ReadError::of_file(&self.path))?;
        self.unread = start;
        self.searched = block.len();
        block.append(&mut self.pending);
        self.pending = block;
        Ok(())
    }

    /// The number of the line that begins at this offset. It reads the file up to there.
    pub fn number_at(&self, offset: u64) -> Result<u64, ReadError> {
        let mut number = 1;
        let mut block = vec![0; BLOCK];
        let mut at = 0;
        while at < offset {
            let wanted = usize::try_from(offset - at).unwrap_or(BLOCK).min(BLOCK);
            let read = self.file.read_at(&mut block[..wanted], at);
            let read = read.map_err(ReadError::of_file(&self.path))?;
            if read == 0 {
                break;
            }
            number += block[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
            at += read as u64;
        }
        Ok(number)
    }
}
