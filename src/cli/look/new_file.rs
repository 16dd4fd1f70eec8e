//! A file that a command writes: it appears when it is whole, and what was there before
//! stays until then.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::engine::complaint::Complaint;
use crate::log::KeepError;
use rustix::fs::OFlags;
use tempfile::{NamedTempFile, TempPath};

pub(super) struct NewFile {
    file: PathBuf,
    out: BufWriter<File>,
    /// The temporary file that replaces `file` at the end; none for a pipe or a device, which cannot
    /// be replaced.
    beside: Option<TempPath>,
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
        Some(FileSize {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.len(),
        })
    }
}

impl NewFile {
    pub(super) fn begin(file: &Path) -> Result<NewFile, KeepError> {
        // A link stays, and what it leads to is replaced.
        let file = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        let is_other = file.metadata().is_ok_and(|meta| !meta.is_file());
        let opened = if is_other {
            open_other(&file).map(|file| (file, None))
        } else {
            let folder = file.parent().unwrap_or(Path::new("/"));
            let beside = tempfile::Builder::new()
                .prefix(".hookrun-new")
                .tempfile_in(folder);
            beside
                .map(NamedTempFile::into_parts)
                .map(|(file, path)| (file, Some(path)))
        };
        let (out, beside) = opened.map_err(|error| fails(&file, &error))?;
        Ok(NewFile {
            before: FileSize::at(&file),
            file,
            out: BufWriter::new(out),
            beside,
        })
    }

    /// Writes more of it.
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), KeepError> {
        write(&mut self.out).map_err(|error| fails(&self.file, &error))
    }

    /// Moves the new file into its place, unless another program has written there since.
    pub(super) fn finish(self) -> Result<(), KeepError> {
        let NewFile {
            file,
            mut out,
            beside,
            before,
        } = self;
        if beside.is_some() && FileSize::at(&file) != before {
            let problem = "another program has written to it meanwhile; it is left as it is, and \
                           nothing is written: try again";
            return Err(fails(&file, &io::Error::other(problem)));
        }
        let finished = out.flush().and_then(|()| {
            let Some(beside) = beside else { return Ok(()) };
            out.get_ref().sync_all()?;
            beside.persist(&file).map_err(|error| error.error)
        });
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
    let opened = OpenOptions::new()
        .write(true)
        .custom_flags(no_wait)
        .open(file);
    let opened = opened.map_err(|error| match error.raw_os_error() {
        Some(errno) if errno == rustix::io::Errno::NXIO.raw_os_error() => {
            io::Error::other("it is a pipe without a reader; start the reader first")
        }
        _ => error,
    })?;
    rustix::io::ioctl_fionbio(&opened, false)?;
    Ok(opened)
}

fn fails(file: &Path, error: &io::Error) -> KeepError {
    KeepError {
        file: file.to_path_buf(),
        problem: error.to_string(),
    }
}

impl From<KeepError> for Complaint {
    fn from(error: KeepError) -> Complaint {
        Complaint::new(error.to_string())
    }
}
