//! `replay --write`: the new recording appears when it is whole, and a file that was there before
//! stays until then.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use hookrun::replay::ReplayError;
use tempfile::NamedTempFile;

/// A recording that is being written.
pub(super) struct NewRecording {
    file: PathBuf,
    place: Place,
}

enum Place {
    /// Beside the file, which it replaces in the end.
    Beside(BufWriter<NamedTempFile>),
    /// A pipe or a device, which cannot be replaced.
    There(BufWriter<File>),
}

impl NewRecording {
    /// Begins to write what will be `file`.
    pub(super) fn begin(file: &Path) -> Result<NewRecording, ReplayError> {
        // A link stays, and what it leads to is replaced.
        let file = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        let is_other = file.metadata().is_ok_and(|meta| !meta.is_file());
        let place = if is_other {
            OpenOptions::new()
                .write(true)
                .open(&file)
                .map(|file| Place::There(BufWriter::new(file)))
        } else {
            let folder = file.parent().unwrap_or(Path::new("/"));
            let beside = tempfile::Builder::new().prefix(".hookrun-replay").tempfile_in(folder);
            beside.map(|beside| Place::Beside(BufWriter::new(beside)))
        };
        match place {
            Ok(place) => Ok(NewRecording { file, place }),
            Err(error) => Err(fails(&file, &error)),
        }
    }

    /// Appends lines.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<(), ReplayError> {
        let written = match &mut self.place {
            Place::Beside(beside) => beside.write_all(lines),
            Place::There(there) => there.write_all(lines),
        };
        written.map_err(|error| fails(&self.file, &error))
    }

    /// All is written: it takes its place.
    pub(super) fn finish(self) -> Result<(), ReplayError> {
        let NewRecording { file, place } = self;
        let finished = match place {
            Place::There(mut there) => there.flush(),
            Place::Beside(beside) => beside
                .into_inner()
                .map_err(std::io::IntoInnerError::into_error)
                .and_then(|beside| {
                    beside.as_file().sync_all()?;
                    beside.persist(&file).map(drop).map_err(|error| error.error)
                }),
        };
        finished.map_err(|error| fails(&file, &error))
    }
}

fn fails(file: &Path, error: &std::io::Error) -> ReplayError {
    ReplayError::Write { what: format!("`{}`", file.display()), problem: error.to_string() }
}
