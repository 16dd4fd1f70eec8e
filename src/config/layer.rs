//! A layer of configuration: its files and folders.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::problem::Problem;
use crate::engine::complaint::Complaint;
use crate::engine::hook::LayerKind;

pub const MANIFEST: &str = "hookrun.toml";

/// The file in which one person disables hooks; it is not committed.
pub(crate) const LOCAL: &str = "hookrun.local.toml";

pub const DROP_INS: &str = "hooks.d";

/// The folder of commands in `hooks.d`.
pub(crate) const COMMANDS: &str = "command";

pub const HIDDEN: &str = ".hookrun";

/// The folder of test suites, in `hooks.d` or beside `hookrun.toml`.
pub const SUITES: &str = "tests";

/// Folders in `hooks.d` that are not events: suites, and shared code.
pub(crate) const RESERVED: &[&str] = &[SUITES, "lib"];

/// Read-me files, and leftovers of editors and interpreters; vim tests a folder with `4913`.
#[rustfmt::skip]
const LEFTOVERS: &[&str] = &[
    ".*", "README*", "*.md", "*~", "*.bak", "*.swp", "*.orig", "*.rej", "*.tmp", "#*#", "4913",
    "__pycache__", "*.pyc", "node_modules", "Thumbs.db", "desktop.ini",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub kind: LayerKind,
    pub folder: PathBuf,
    pub manifests: Vec<PathBuf>,
    pub drop_ins: Vec<PathBuf>,
    pub settings: Vec<PathBuf>,
    pub settings_of: Option<&'static str>,
    pub(crate) set: Option<String>,
    /// The folder of the layer that declares the set.
    pub(crate) declared_in: Option<PathBuf>,
    /// Its place in a project that declares it as a member.
    pub(crate) member: Option<Membership>,
}

/// How a layer is a member of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Membership {
    /// Its folder, from that of the layer that declares it. Its hooks are named after it.
    pub(super) name: String,
    /// It was found around the working directory too: its hooks of other events run as well.
    pub(super) is_around: bool,
}

impl Layer {
    pub(super) fn empty(kind: LayerKind, folder: PathBuf) -> Layer {
        Layer {
            kind,
            folder,
            manifests: Vec::new(),
            drop_ins: Vec::new(),
            settings: Vec::new(),
            settings_of: None,
            set: None,
            declared_in: None,
            member: None,
        }
    }

    /// Whether it is the system's or the user's.
    pub(super) fn is_owners(&self) -> bool {
        matches!(self.kind, LayerKind::System | LayerKind::User)
    }

    pub(crate) fn is_own_of_project(&self) -> bool {
        self.kind == LayerKind::Project && self.declared_in.is_none()
    }

    pub(super) fn places(&self) -> Vec<&Path> {
        let mut places = Vec::new();
        let files = self.manifests.iter().chain(&self.drop_ins);
        for file in files.chain(&self.settings) {
            if let Some(folder) = file.parent().filter(|folder| !places.contains(folder)) {
                places.push(folder);
            }
        }
        places
    }
}

/// Whether something exists or may exist; a failed read then blocks gates.
pub(super) fn is_there(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput
        ),
    }
}

/// Whether a hook folder exists. A file in its place or a dangling link above is a problem.
pub(super) fn has_folder(path: &Path, problems: &mut Vec<Problem>) -> bool {
    let standing = path.ancestors().find(|path| is_there(path)).unwrap_or(path);
    let cause = match standing.metadata() {
        Ok(meta) if meta.is_dir() => return standing == path,
        Ok(_) => "is not a folder".to_string(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "is a dangling link".to_string(),
        Err(error) => format!("cannot be read: {error}"),
    };
    let cause = format!("{cause}, but hookrun expects a hook folder here");
    problems.push(
        Complaint::with_cure(cause, "make it a readable folder, or remove it")
            .in_file(standing, None),
    );
    false
}

pub(super) fn layer_in(
    kind: LayerKind,
    folder: &Path,
    problems: &mut Vec<Problem>,
) -> Option<Layer> {
    let mut layer = Layer::empty(kind, folder.to_path_buf());
    let hidden = folder.join(HIDDEN);
    let hidden = is_there(&hidden).then_some(hidden);
    for place in [folder].into_iter().chain(hidden.as_deref()) {
        if place != folder && !has_folder(place, problems) {
            continue;
        }
        let manifest = place.join(MANIFEST);
        let drop_ins = place.join(DROP_INS);
        if is_there(&manifest) {
            layer.manifests.push(manifest);
        }
        if is_there(&drop_ins) {
            layer.drop_ins.push(drop_ins);
        }
    }
    let is_empty = layer.manifests.is_empty() && layer.drop_ins.is_empty();
    (!is_empty).then_some(layer)
}

#[derive(Debug)]
pub(super) struct DropIn {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) is_folder: bool,
}

/// The entries of a folder sorted by bytes, without hidden files and leftovers.
pub(super) fn entries(folder: &Path) -> io::Result<Vec<DropIn>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if is_passed_over(&name) {
            continue;
        }
        let kind = entry.file_type()?;
        let is_folder = kind.is_dir() || kind.is_symlink() && entry.path().is_dir();
        let name = name.to_string_lossy().into_owned();
        found.push(DropIn {
            path: entry.path(),
            name,
            is_folder,
        });
    }
    found.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    Ok(found)
}

pub fn is_passed_over(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let mut patterns = LEFTOVERS.iter();
    patterns.any(|pattern| match pattern.split_once('*') {
        None => name == *pattern,
        Some((start, end)) => {
            let rest = name.strip_prefix(start);
            rest.is_some_and(|rest| rest.ends_with(end))
        }
    })
}
