//! Writes and reads the files of the decision log and of recordings, also compressed ones.
//!
//! Each line is one write to a file opened for appending, so that concurrent writers do not mix. An
//! unfinished line is terminated by the next write.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;
use rustix::fs::{Access, access};
use rustix::process::{Resource, getrlimit};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::engine::complaint::Complaint;
use crate::engine::lock::{HELD, careful, lock_within, release};
use crate::engine::session::make_private;

const NAME: &str = "decisions.jsonl";

/// Size at which a new file begins.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

const KEPT: usize = 4;

/// Time to wait for a recording's lock, which is held to write one line.
const PATIENCE: Duration = Duration::from_secs(1);

const BUFFER_BYTES: usize = 64 * 1024;

/// Maximum length of a line: more than any host sends.
const LONGEST_LINE_BYTES: usize = 256 * 1024 * 1024;

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

#[derive(Debug, thiserror::Error)]
#[error("cannot write `{file}`: {problem}", file = file.display())]
pub struct KeepError {
    pub file: PathBuf,
    pub problem: String,
}

fn about<E: ToString>(file: &Path) -> impl Fn(E) -> KeepError {
    move |problem| KeepError {
        file: file.to_path_buf(),
        problem: problem.to_string(),
    }
}

/// A user's decision log: a private folder of limited size.
#[derive(Debug, Clone)]
pub struct DecisionLog {
    folder: PathBuf,
    most_bytes: u64,
}

const ATTEMPT_BYTES: usize = 4096;

impl DecisionLog {
    /// Returns the log in `folder`, which is created when needed.
    pub fn in_folder(folder: impl Into<PathBuf>) -> DecisionLog {
        DecisionLog {
            folder: folder.into(),
            most_bytes: MOST_BYTES,
        }
    }

    /// Sets the size at which a new file begins.
    #[must_use]
    pub fn file_size(self, most_bytes: u64) -> DecisionLog {
        DecisionLog { most_bytes, ..self }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the existing files, newest first.
    pub fn files(&self) -> Vec<PathBuf> {
        let files = (0..=KEPT).map(|number| self.file(number));
        files.filter(|file| file.exists()).collect()
    }

    /// Tests whether a line could be written, and leaves nothing behind.
    pub fn check(&self) -> Result<(), KeepError> {
        let mut folders = self.folder.ancestors();
        let there = folders.find(|folder| folder.symlink_metadata().is_ok());
        let there = there.unwrap_or(Path::new("/"));
        if there != self.folder {
            let allowed = access(there, Access::WRITE_OK | Access::EXEC_OK);
            return allowed.map_err(io::Error::from).map_err(about(there));
        }
        make_private(there, there).map_err(about(there))?;
        if self.file(0).exists() {
            self.open()?;
        }
        // Only writing shows that a disk is full.
        let attempt = self.folder.join("attempt");
        let (mut file, size) = open(&attempt).map_err(about(there))?;
        let written = write(&mut file, size, &"\n".repeat(ATTEMPT_BYTES));
        let _ = fs::remove_file(&attempt);
        written.map_err(about(there))
    }

    /// Appends a line.
    pub fn append(&self, line: &str) -> Result<(), KeepError> {
        let (mut file, mut size) = self.open()?;
        if size > 0 && size.saturating_add(line.len() as u64) > self.most_bytes {
            // Without the lock, write anyway: another process is rotating.
            self.rotate();
            (file, size) = self.open()?;
        }
        write(&mut file, size, line).map_err(about(&self.file(0)))
    }

    fn open(&self) -> Result<(File, u64), KeepError> {
        make_private(&self.folder, &self.folder).map_err(about(&self.folder))?;
        open(&self.file(0)).map_err(about(&self.file(0)))
    }

    fn file(&self, number: usize) -> PathBuf {
        match number {
            0 => self.folder.join(NAME),
            number => self.folder.join(format!("decisions.{number}.jsonl")),
        }
    }

    /// Rotates the files, unless another process does.
    fn rotate(&self) {
        let mut options = OpenOptions::new();
        let lock = careful(options.write(true).create(true)).open(self.folder.join("lock"));
        let Some(lock) = lock.ok().filter(|lock| lock.try_lock().is_ok()) else {
            return;
        };
        // Half of it: the line that did not fit may be large.
        let meta = self.file(0).metadata();
        if meta.is_ok_and(|meta| meta.len() > self.most_bytes / 2) {
            for number in (0..KEPT).rev() {
                let _ = fs::rename(self.file(number), self.file(number + 1));
            }
        }
        release(&lock);
    }
}

/// Appends a line to a recording, which is created when needed, under a lock, so that lines of any
/// length do not mix. Its size is unlimited.
pub fn record(path: &Path, line: &str) -> Result<(), KeepError> {
    let (mut file, _) = open(path).map_err(about(path))?;
    // Without file locks, appending usually still works.
    if let Err(TryLockError::WouldBlock) = lock_within(&file, PATIENCE) {
        return Err(about(path)(HELD));
    }
    let size = file.metadata().map_err(about(path))?.len();
    let written = write(&mut file, size, line).map_err(about(path));
    release(&file);
    written
}

/// Opens a file for appending, and returns its length.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    let file = careful(options.read(true).append(true).create(true)).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok((file, meta.len()))
}

/// Pauses before checking again whether a line is complete.
const LOOKS_MS: [u64; 6] = [0, 1, 2, 4, 8, 16];

/// Returns true if a file of this size ends in a line break. Retries, since another process's line
/// may be partly visible: files grow page by page.
fn is_at_line_end(file: &File, size: u64) -> io::Result<bool> {
    let mut size = size;
    for pause in LOOKS_MS {
        if pause > 0 {
            std::thread::sleep(Duration::from_millis(pause));
        }
        let mut last = [b'\n'];
        if size > 0 {
            file.read_exact_at(&mut last, size - 1)?;
        }
        if last == *b"\n" {
            return Ok(true);
        }
        size = file.metadata()?.len();
    }
    Ok(false)
}

fn write(file: &mut File, size: u64, line: &str) -> io::Result<()> {
    // A writer was killed within a line, or the disk was full.
    let mended = (!is_at_line_end(file, size)?).then(|| format!("\n{line}"));
    let line = mended.as_deref().unwrap_or(line);
    // Beyond this limit, the system sends a signal instead of an error.
    let limit = getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX);
    if size.saturating_add(line.len() as u64) > limit {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    file.write_all(line.as_bytes())
}

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

    pub fn of_line(file: &Path, line: u64, problem: &Complaint) -> ReadError {
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
        let opened = File::open(file).and_then(|opened| {
            let length = length_now(&opened)?;
            Ok(Box::new(opened.take(length)) as Box<dyn Read>)
        });
        FileLines::of(file, opened)
    }

    /// Reads an opened file or pipe, called `name` in messages.
    pub(crate) fn of(
        name: &Path,
        opened: io::Result<Box<dyn Read>>,
    ) -> Result<FileLines, ReadError> {
        let reader = opened.and_then(decompressed);
        let reader = reader.map_err(ReadError::of_file(name))?;
        Ok(FileLines {
            file: name.to_path_buf(),
            reader: BufReader::with_capacity(BUFFER_BYTES, reader),
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
                    let cause = format!("the line is longer than {} MiB", LONGEST_LINE_BYTES >> 20);
                    let problem = Complaint::with_cure(cause, "remove it");
                    return Err(ReadError::of_line(&self.file, self.number, &problem));
                }
                Line::Text if into.iter().all(u8::is_ascii_whitespace) => {}
                Line::Text => return Ok(Some(self.number)),
            }
        }
    }
}

/// The current length of a file. Pipes are read to their end.
pub(crate) fn length_now(file: &File) -> io::Result<u64> {
    let meta = file.metadata()?;
    Ok(if meta.is_file() { meta.len() } else { u64::MAX })
}

/// Decompresses by the first bytes, because stdin has no name.
fn decompressed(reader: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut source = BufReader::with_capacity(BUFFER_BYTES, reader);
    let start = source.fill_buf()?;
    if start.starts_with(GZIP) {
        return Ok(Box::new(MultiGzDecoder::new(source)));
    }
    if start.starts_with(ZSTD) {
        let frame = StreamingDecoder::new(source).map_err(io::Error::other)?;
        return Ok(Box::new(ZstdFrames { frame: Some(frame) }));
    }
    Ok(Box::new(source))
}

/// Decompresses the concatenated frames of a zstd file.
struct ZstdFrames<R: BufRead> {
    /// `None` after the last frame, and after an error.
    frame: Option<StreamingDecoder<R, FrameDecoder>>,
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut frame) = self.frame.take() {
            let count = frame.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                self.frame = Some(frame);
                return Ok(count);
            }
            let mut rest = frame.into_inner();
            if !rest.fill_buf()?.is_empty() {
                self.frame = Some(StreamingDecoder::new(rest).map_err(io::Error::other)?);
            }
        }
        Ok(0)
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
    let mut limited = from.by_ref().take(most as u64 + 1);
    if limited.read_until(b'\n', into)? == 0 {
        return Ok(Line::End);
    }
    if into.pop_if(|last| *last == b'\n').is_some() || into.len() <= most {
        return Ok(Line::Text);
    }
    *into = Vec::new();
    from.skip_until(b'\n')?;
    Ok(Line::TooLong)
}
