//! The files that a program was started from, to see when they change.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::engine::exec::command::Program;

/// For how long a look at a folder counts: the same as for hooks that `serve` has read.
const FRESH: Duration = Duration::from_millis(20);

/// A folder with more files than this is none of scripts: of it only the file itself counts.
const MOST_FILES: usize = 256;

/// Device, inode, size and times of a file; `None` if there is none.
type FileIdentity = Option<[i64; 5]>;

/// The program, the files that its words name, and what is in the folders of those.
#[derive(Debug)]
pub(super) struct WatchedFiles {
    own: Vec<(PathBuf, FileIdentity)>,
    folders: Vec<(PathBuf, Vec<(PathBuf, FileIdentity)>)>,
    looked_at: Instant,
}

impl WatchedFiles {
    pub(super) fn of(program: &Program, cwd: Option<&Path>) -> WatchedFiles {
        let place = cwd.unwrap_or(Path::new("."));
        let words = program.arguments.iter().map(|word| place.join(word));
        let mut named: Vec<PathBuf> = words.filter(|file| file.is_file()).collect();
        if Path::new(&program.name).components().count() > 1 {
            named.push(program.path.clone());
        }
        let mut folders: Vec<PathBuf> = named
            .iter()
            .filter_map(|file| Some(file.parent()?.to_path_buf()))
            .collect();
        folders.sort();
        folders.dedup();
        named.push(program.path.clone());
        let own = named
            .into_iter()
            .map(|file| (file.clone(), stamp(&file)))
            .collect();
        let folders = folders
            .into_iter()
            .map(|folder| (folder.clone(), files_in(&folder)));
        WatchedFiles {
            own,
            folders: folders.collect(),
            looked_at: Instant::now(),
        }
    }

    pub(super) fn have_changed(&mut self) -> bool {
        if self.own.iter().any(|(file, known)| stamp(file) != *known) {
            return true;
        }
        if self.looked_at.elapsed() < FRESH {
            return false;
        }
        self.looked_at = Instant::now();
        self.folders
            .iter()
            .any(|(folder, known)| files_in(folder) != *known)
    }
}

pub(super) fn stamp(file: &Path) -> FileIdentity {
    let found = file.metadata().ok()?;
    let number = |number: u64| number.cast_signed();
    Some([
        number(found.dev()),
        number(found.ino()),
        number(found.size()),
        found.mtime(),
        found.ctime() * 1_000_000_000 + found.ctime_nsec(),
    ])
}

/// The files in a folder, in the order of their names; none of a folder with too many.
fn files_in(folder: &Path) -> Vec<(PathBuf, FileIdentity)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_dir());
    let mut files: Vec<PathBuf> = entries
        .filter(is_file)
        .take(MOST_FILES + 1)
        .map(|entry| entry.path())
        .collect();
    if files.len() > MOST_FILES {
        return Vec::new();
    }
    files.sort();
    files
        .into_iter()
        .map(|file| (file.clone(), stamp(&file)))
        .collect()
}
