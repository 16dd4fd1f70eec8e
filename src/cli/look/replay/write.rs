//! `replay --write`: the new recording appears when it is whole, and a file that was there before
//! stays until then.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::lab::replay::ReplayError;
use rustix::fs::OFlags;
use tempfile::NamedTempFile;

pub(super) struct NewRecording {
    file: PathBuf,
    place: OutputPlace,
    before: Option<FileSize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileSize {
    device: u64,
    inode: u64,
    bytes: u64,
}

impl FileSize {
    fn at(file: &Path) -> Option<FileSize> {
        let meta = file.metadata().ok()?;
        Some(FileSize { device: meta.dev(), inode: meta.ino(), bytes: meta.len() })
    }
}

enum OutputPlace {
    /// A temporary file that replaces the file at the end.
    Beside(BufWriter<NamedTempFile>),
    /// A pipe or a device, which cannot be replaced.
    There(BufWriter<File>),
}

impl NewRecording {
    pub(super) fn begin(file: &Path) -> Result<NewRecording, ReplayError> {
        // A link stays, and what it leads to is replaced.
        let file = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        let is_other = file.metadata().is_ok_and(|meta| !meta.is_file());
        let place = if is_other {
            open_other(&file).map(|file| OutputPlace::There(BufWriter::new(file)))
        } else {
            let folder = file.parent().unwrap_or(Path::new("/"));
            let beside = tempfile::Builder::new().prefix(".hookrun-replay").tempfile_in(folder);
            beside.map(|beside| OutputPlace::Beside(BufWriter::new(beside)))
        };
        match place {
            Ok(place) => Ok(NewRecording { before: FileSize::at(&file), file, place }),
            Err(error) => Err(fails(&file, &error)),
        }
    }

    pub(super) fn append(&mut self, lines: &[u8]) -> Result<(), ReplayError> {
        let written = match &mut self.place {
            OutputPlace::Beside(beside) => beside.write_all(lines),
            OutputPlace::There(there) => there.write_all(lines),
        };
        written.map_err(|error| fails(&self.file, &error))
    }

    /// Moves the new file into its place, unless another program has written there since.
    pub(super) fn finish(self) -> Result<(), ReplayError> {
        let NewRecording { file, place, before } = self;
        if matches!(place, OutputPlace::Beside(_)) && FileSize::at(&file) != before {
            let problem = "another program has written to it meanwhile; it is left as it is, and \
                           nothing is written: replay it again";
            return Err(fails(&file, &io::Error::other(problem)));
        }
        let finished = match place {
            OutputPlace::There(mut there) => there.flush(),
            OutputPlace::Beside(beside) => {
                beside.into_inner().map_err(io::IntoInnerError::into_error).and_then(|beside| {
                    beside.as_file().sync_all()?;
                    beside.persist(&file).map(drop).map_err(|error| error.error)
                })
            }
        };
        finished.map_err(|error| fails(&file, &error))
    }
}

pub(super) fn is_same(file: &Path, other: &Path) -> bool {
    let of = |file| FileSize::at(file).map(|seen| (seen.device, seen.inode));
    of(file).is_some_and(|file| of(other) == Some(file))
}

/// Opens a pipe or a device. A pipe without a reader is an error; opening it would block.
fn open_other(file: &Path) -> io::Result<File> {
    let no_wait = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let opened = OpenOptions::new().write(true).custom_flags(no_wait).open(file);
    let opened = opened.map_err(|error| match error.raw_os_error() {
        Some(errno) if errno == rustix::io::Errno::NXIO.raw_os_error() => {
            io::Error::other("it is a pipe without a reader; start the reader first")
        }
        _ => error,
    })?;
    rustix::io::ioctl_fionbio(&opened, false)?;
    Ok(opened)
}

fn fails(file: &Path, error: &io::Error) -> ReplayError {
    ReplayError::Write { what: format!("`{}`", file.display()), problem: error.to_string() }
}
