//! Paths as short as a person can use them.

use std::path::{Path, PathBuf};

/// Shows paths as seen from a folder.
#[derive(Debug, Clone)]
pub struct Paths {
    cwd: PathBuf,
}

impl Paths {
    pub fn from(cwd: &Path) -> Paths {
        Paths { cwd: cwd.to_path_buf() }
    }

    /// `path`, relative where it lies below.
    pub fn show(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(below) if !below.as_os_str().is_empty() => below.display().to_string(),
            _ => path.display().to_string(),
        }
    }
}
