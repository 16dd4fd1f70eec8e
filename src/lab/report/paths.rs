//! Paths as short as a person can use them.

use std::path::{Path, PathBuf};

/// Writes paths as short as a person standing in `cwd` can use them.
#[derive(Debug, Clone)]
pub struct Paths {
    cwd: PathBuf,
}

impl Paths {
    /// Paths as seen from `cwd`.
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
