//! Finds test case files.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::config::discover::{DROP_INS, HIDDEN, MANIFEST, SUITES};
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::hook::LayerKind;

use crate::cli::args::SourceArgs;
use crate::cli::exit::Result;

const NAME_CASES: &str = "name a test case file, or a folder of test case files";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CaseFile {
    pub(super) path: PathBuf,
    /// Skip it without cases, because its folder may have other TOML files.
    pub(super) may_lack_cases: bool,
}

/// The test case files below `paths`, by default of the folders in `source`, else of the project.
pub(super) fn find(
    paths: &[PathBuf],
    source: &SourceArgs,
    env: &Environment,
) -> Result<Vec<CaseFile>> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(find_named(&env.cwd.join(path), path)?);
    }
    if paths.is_empty() && source.hooks.is_empty() {
        for folder in project_folders(env) {
            files.extend(suites_of(&folder, false)?);
        }
    } else if paths.is_empty() {
        for folder in &source.hooks {
            let below = env.cwd.join(folder);
            if !below.exists() {
                let cause = format!("`{}` does not exist", folder.display());
                return Err(Complaint::with_cure(cause, "correct `--hooks`"));
            }
            files.extend(suites_of(&below, true)?);
        }
    }
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.path.clone()));
    if files.is_empty() {
        let help = format!(
            "test cases are in `{DROP_INS}/{SUITES}/*.toml`, or `{SUITES}/*.toml` next to {MANIFEST}; see hookrun-suite(5). To decide one event, use `hookrun test EVENT`"
        );
        let places = source
            .hooks
            .iter()
            .map(|place| format!("`{}`", place.display()));
        let places = places.collect::<Vec<_>>().join(", ");
        if paths.is_empty() && !places.is_empty() {
            let help =
                format!("put them in `{DROP_INS}/{SUITES}/*.toml` there; see hookrun-suite(5)");
            return Err(Complaint::with_cure(
                format!("no test case files in {places}"),
                help,
            ));
        }
        return Err(Complaint::with_cure("no test case files", help));
    }
    Ok(files)
}

/// The project's hook folder, and those of its members and shared sets.
fn project_folders(env: &Environment) -> Vec<PathBuf> {
    let config = Config::load(&Choice::default(), env, ConfigScope::Events(&[]));
    let mut folders = Vec::new();
    for layer in &config.layers {
        if layer.is_own_of_project() && layer.member.is_none() && folders.is_empty() {
            folders.push(layer.folder.clone());
        }
    }
    for layer in &config.layers {
        let is_more = layer.declared_in.is_some() || layer.member.is_some();
        if layer.kind == LayerKind::Project && is_more {
            folders.push(layer.folder.clone());
        }
    }
    folders
}

fn find_named(path: &Path, written: &Path) -> Result<Vec<CaseFile>> {
    let shown = written.display();
    let meta = path.metadata().map_err(|error| {
        Complaint::with_cure(format!("cannot read `{shown}`: {error}"), NAME_CASES)
    })?;
    if meta.is_file() {
        return Ok(vec![CaseFile {
            path: path.to_path_buf(),
            may_lack_cases: false,
        }]);
    }
    if !meta.is_dir() {
        let cause = format!("`{shown}` is not a file or folder");
        return Err(Complaint::with_cure(cause, NAME_CASES));
    }
    let mut files = suites_of(path, true)?;
    if path.file_name() == Some(OsStr::new(SUITES)) {
        files.extend(toml_files(path, false)?);
    }
    if files.is_empty() {
        let help = format!("put test cases in `{SUITES}/*.toml` inside the hooks folder");
        let cause = format!("no test case files in `{shown}`");
        return Err(Complaint::with_cure(cause, help));
    }
    Ok(files)
}

fn suites_of(folder: &Path, is_named: bool) -> Result<Vec<CaseFile>> {
    let is_drop_ins = folder.file_name() == Some(OsStr::new(DROP_INS));
    let mut files = Vec::new();
    if is_drop_ins || is_named || folder.join(MANIFEST).exists() {
        files.extend(toml_files(&folder.join(SUITES), !is_drop_ins)?);
    }
    let hidden = folder.join(HIDDEN);
    for place in [folder.join(DROP_INS), hidden.clone(), hidden.join(DROP_INS)] {
        files.extend(toml_files(&place.join(SUITES), false)?);
    }
    Ok(files)
}

/// The TOML files in `folder`, sorted by bytes; none if it is missing.
fn toml_files(folder: &Path, may_lack_cases: bool) -> Result<Vec<CaseFile>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries: io::Result<Vec<DirEntry>> = fs::read_dir(folder).and_then(Iterator::collect);
    let entries = entries.map_err(|error| {
        let cause = format!("cannot read the folder `{}`: {error}", folder.display());
        Complaint::with_cure(cause, "check its permissions")
    })?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.path();
        let is_hidden = entry.file_name().as_bytes().starts_with(b".");
        if path.extension() == Some(OsStr::new("toml")) && !is_hidden {
            files.push(CaseFile {
                path,
                may_lack_cases,
            });
        }
    }
    files.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    Ok(files)
}

/// The default hooks for the cases in `file`: those around its folder.
pub(super) fn hooks_around(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let is_suites = folder.file_name() == Some(OsStr::new(SUITES));
    let base = if is_suites { folder.parent()? } else { folder };
    if base.file_name() == Some(OsStr::new(DROP_INS)) {
        return base.parent().map(Path::to_path_buf);
    }
    let is_configured = [MANIFEST, DROP_INS, HIDDEN]
        .iter()
        .any(|name| base.join(name).exists());
    (is_suites || is_configured).then(|| base.to_path_buf())
}
