//! What happened, for people and for programs. A format is a function over a writer.

pub mod cases;
pub mod github;
pub mod human;
pub mod json;
pub mod junit;
pub mod problems;
pub mod schema;
pub mod suite;

use std::path::{Path, PathBuf};

pub use crate::engine::harmless::plain;

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
