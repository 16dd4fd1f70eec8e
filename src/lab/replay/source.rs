//! Recordings, read one after another in batches, with memory for one batch.

use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::finding::{LinePlace, Unreadable};
use crate::log::read::{FileLines, ReadError};

const MOST_BYTES: usize = 128 * 1024;

const BLOCK: usize = 64 * 1024;

/// A larger buffer is dropped after its line.
const KEPT_BYTES: usize = 1024 * 1024;

pub enum RecordingInput {
    /// A file, and what it is called. It is read as far as it is written when it is opened: a hook
    /// may append to it.
    File(PathBuf, String),
    /// Under this name.
    Stream(String, Box<dyn Read + Send>),
}

impl std::fmt::Debug for RecordingInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Input").field(&self.name()).finish()
    }
}

impl RecordingInput {
    pub fn name(&self) -> String {
        match self {
            RecordingInput::File(_, name) | RecordingInput::Stream(name, _) => name.clone(),
        }
    }

    fn open(self) -> Result<FileLines, ReadError> {
        match self {
            RecordingInput::Stream(name, stream) => Ok(FileLines::of(
                Path::new(&name),
                BufReader::with_capacity(BLOCK, stream),
            )),
            RecordingInput::File(file, name) => {
                let name = Path::new(&name);
                let opened = File::open(&file).map_err(ReadError::of_file(name))?;
                let length = opened.metadata().ok().filter(std::fs::Metadata::is_file);
                let length = length.map_or(u64::MAX, |meta| meta.len());
                Ok(FileLines::of(
                    name,
                    BufReader::with_capacity(BLOCK, opened.take(length)),
                ))
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Batch {
    /// How many bytes of the recordings are read with it.
    pub(super) read_bytes: u64,
    pub(super) lines: Vec<BatchLine>,
    pub(super) bytes: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum BatchLine {
    /// `range` of the batch's bytes.
    Text {
        input: usize,
        line: u64,
        range: Range<usize>,
    },
    Unreadable(Unreadable),
}

#[derive(Debug, Default)]
pub(super) struct Recordings {
    waiting: std::vec::IntoIter<(usize, RecordingInput)>,
    open: Option<(usize, FileLines)>,
    buffer: Vec<u8>,
    read_bytes: u64,
}

impl Recordings {
    pub(super) fn new(inputs: Vec<RecordingInput>) -> Recordings {
        let waiting: Vec<(usize, RecordingInput)> = inputs.into_iter().enumerate().collect();
        Recordings {
            waiting: waiting.into_iter(),
            ..Recordings::default()
        }
    }

    pub(super) fn next(&mut self, most_lines: usize) -> Option<Batch> {
        let mut batch = Batch::default();
        while batch.lines.len() < most_lines && batch.bytes.len() < MOST_BYTES {
            let Some(line) = self.line(&mut batch.bytes) else {
                break;
            };
            batch.lines.push(line);
        }
        if batch.lines.is_empty() {
            return None;
        }
        batch.read_bytes = self.read_bytes;
        Some(batch)
    }

    fn line(&mut self, bytes: &mut Vec<u8>) -> Option<BatchLine> {
        loop {
            let Some((input, lines)) = &mut self.open else {
                let (input, waiting) = self.waiting.next()?;
                match waiting.open() {
                    Ok(lines) => self.open = Some((input, lines)),
                    Err(error) => return Some(unreadable(input, &error)),
                }
                continue;
            };
            match lines.next_line(&mut self.buffer) {
                Ok(Some(line)) => {
                    let (input, start) = (*input, bytes.len());
                    bytes.extend_from_slice(&self.buffer);
                    self.read_bytes += self.buffer.len() as u64 + 1;
                    if self.buffer.capacity() > KEPT_BYTES {
                        self.buffer = Vec::new();
                    }
                    return Some(BatchLine::Text {
                        input,
                        line,
                        range: start..bytes.len(),
                    });
                }
                Ok(None) => self.open = None,
                Err(error) => {
                    let item = unreadable(*input, &error);
                    // Behind a line that is too long others can be read, of a broken file nothing.
                    if error.line.is_none() {
                        self.open = None;
                    }
                    return Some(item);
                }
            }
        }
    }
}

fn unreadable(input: usize, error: &ReadError) -> BatchLine {
    let place = LinePlace {
        input,
        line: error.line,
        file: error.file.display().to_string(),
    };
    BatchLine::Unreadable(Unreadable {
        place,
        problem: error.problem.clone(),
    })
}
