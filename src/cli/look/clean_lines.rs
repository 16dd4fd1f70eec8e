//! Lines of decisions without their secrets, read and searched by a thread while the ones before
//! them are used: that search is much of what a report of many decisions takes.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::log::read::{FileLines, ReadError};
use crate::log::redact::Redactor;

/// How much is handed over at once: so much that handing over costs nothing.
const BATCH_BYTES: usize = 64 * 1024;

/// How many batches may wait.
const BATCHES: usize = 4;

/// A line, or why one could not be read. If that error names no line, it is the last.
pub(super) type CleanLine = Result<CleanText, ReadError>;

#[derive(Debug)]
pub(super) struct CleanText {
    /// Which of the files it is from.
    pub(super) file: usize,
    pub(super) number: u64,
    pub(super) text: String,
}

/// The lines of all files, one after the other, and the thread that reads them. Wait for it only
/// after the last line: it may wait until somebody takes lines that are not wanted any more.
pub(super) fn read_clean(
    files: Vec<FileLines>,
    redactor: Redactor,
) -> (Receiver<Vec<CleanLine>>, JoinHandle<()>) {
    let (sender, receiver) = sync_channel(BATCHES);
    let reader = thread::spawn(move || {
        let mut batch = LineBatch {
            lines: Vec::new(),
            bytes: 0,
            sender,
        };
        for (file, mut lines) in files.into_iter().enumerate() {
            if batch.read(file, &mut lines, &redactor).is_none() {
                break;
            }
        }
        batch.hand_over();
    });
    (receiver, reader)
}

struct LineBatch {
    lines: Vec<CleanLine>,
    bytes: usize,
    sender: SyncSender<Vec<CleanLine>>,
}

impl LineBatch {
    /// All lines of a file; `None` if nothing more is wanted, or can be read.
    fn read(&mut self, file: usize, lines: &mut FileLines, redactor: &Redactor) -> Option<()> {
        let mut raw = Vec::new();
        loop {
            match lines.next_line(&mut raw) {
                Ok(None) => return Some(()),
                Ok(Some(number)) => {
                    let mut text = String::with_capacity(raw.len());
                    redactor.json(&String::from_utf8_lossy(&raw), &mut text);
                    self.bytes += text.len();
                    self.lines.push(Ok(CleanText { file, number, text }));
                }
                // After a line that is too long, go on; after a read error, stop.
                Err(error) => {
                    let is_last = error.line.is_none();
                    self.lines.push(Err(error));
                    if is_last {
                        return None;
                    }
                }
            }
            if self.bytes > BATCH_BYTES {
                self.hand_over()?;
            }
        }
    }

    /// `None` if nobody takes it.
    fn hand_over(&mut self) -> Option<()> {
        self.bytes = 0;
        self.sender.send(std::mem::take(&mut self.lines)).ok()
    }
}
