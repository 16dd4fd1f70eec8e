//! `hookrun tail`: decisions as they are made, a line each.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::lab::report::Paths;
use crate::log::record::DecisionLine;

use super::decisions::{ChosenDecisions, is_everywhere};
use super::why::one_line;
use crate::cli::args::{TailArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;

/// How often to look for new lines.
const PAUSE: Duration = Duration::from_millis(100);

const BLOCK: usize = 64 * 1024;

/// Shows decisions until a signal ends it, or its reader leaves.
pub(crate) fn tail(args: &TailArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let mut chosen = ChosenDecisions::of(&args.filter, env)?;
    let is_everywhere = is_everywhere(&args.filter);
    let columns = streams::columns();
    let mut files = FollowedFiles::default();
    let mut past: Option<VecDeque<Vec<u8>>> = Some(VecDeque::new());
    loop {
        files.find(&chosen)?;
        files.read(&mut |line| {
            // `why` names lines that cannot be read.
            let Ok(record) = DecisionLine::parse(line) else {
                return Ok(());
            };
            let Ok(Some(brief)) = chosen.filter.takes(&record) else {
                return Ok(());
            };
            let mut text = Vec::new();
            match args.format {
                TextFormat::Json => text.extend([line, b"\n"].concat()),
                TextFormat::Human => one_line(&record, &brief, is_everywhere, columns, &mut text)?,
            }
            let Some(past) = &mut past else {
                return Ok(out.write_all(&text)?);
            };
            past.push_back(text);
            if past.len() > args.number {
                past.pop_front();
            }
            Ok(())
        })?;
        for line in past.take().into_iter().flatten() {
            out.write_all(&line)?;
        }
        out.flush()?;
        if files.open.is_empty() && !files.has_told {
            files.has_told = true;
            streams::remark(&chosen.nothing(&Paths::from(&env.cwd)));
        }
        if let Some(log) = &chosen.log {
            chosen.files = log.files();
        }
        if streams::reader_left_within(PAUSE) {
            return Ok(ExitStatus::Yes);
        }
    }
}

/// The files of the log that are there, each as far as it was read. One that was renamed may still
/// get the line of a writer that had opened it before.
#[derive(Default)]
struct FollowedFiles {
    /// The oldest first.
    open: Vec<FollowedFile>,
    has_told: bool,
}

struct FollowedFile {
    file: File,
    identity: (u64, u64),
    read_bytes: u64,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
}

impl FollowedFiles {
    /// Opens those that are new, and leaves those that are gone.
    fn find(&mut self, chosen: &ChosenDecisions) -> Result<()> {
        for path in chosen.files.iter().rev() {
            let found = match open(path) {
                Ok(found) => found,
                // Another process may rename those of the log just now.
                Err(_) if chosen.log.is_some() => continue,
                Err(error) => return Err(error),
            };
            if self
                .open
                .iter()
                .all(|known| known.identity != found.identity)
            {
                self.open.push(found);
            }
        }
        self.open.retain(FollowedFile::may_grow);
        Ok(())
    }

    fn read(&mut self, show: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.open.iter_mut().try_for_each(|file| file.read(show))
    }
}

fn open(path: &PathBuf) -> Result<FollowedFile> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (meta, file) = opened.map_err(|error| {
        let cause = format!("cannot read {}: {error}", path.display());
        Complaint::with_cure(cause, "name a file of decisions")
    })?;
    let identity = (meta.dev(), meta.ino());
    Ok(FollowedFile {
        file,
        identity,
        read_bytes: 0,
        rest: Vec::new(),
    })
}

impl FollowedFile {
    /// Whether it still has a name, or lines that were not read.
    fn may_grow(&self) -> bool {
        let meta = self.file.metadata();
        meta.is_ok_and(|meta| meta.nlink() > 0 || meta.len() > self.read_bytes)
    }

    /// Shows the lines that are whole by now.
    fn read(&mut self, show: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let is_shorter = self
            .file
            .metadata()
            .is_ok_and(|meta| meta.len() < self.read_bytes);
        if is_shorter {
            self.file.seek(SeekFrom::Start(0))?;
            self.read_bytes = 0;
            self.rest.clear();
        }
        let mut block = vec![0; BLOCK];
        loop {
            let read = self.file.read(&mut block)?;
            if read == 0 {
                return Ok(());
            }
            self.read_bytes += read as u64;
            self.rest.extend_from_slice(&block[..read]);
            let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
                continue;
            };
            let more = self.rest.split_off(end + 1);
            let whole = std::mem::replace(&mut self.rest, more);
            let lines = whole
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty());
            for line in lines {
                show(line)?;
            }
        }
    }
}
