//! Finds files of cases.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::config::discover::{DROP_INS, HIDDEN, MANIFEST, SUITES};
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::hook::LayerKind;
use crate::engine::spelling;

use super::trial::{self, CaseFile};
use crate::cli::args::SourceArgs;
use crate::cli::exit::Result;

/// How many files are looked at for cases where none belong.
const MOST_LOOKED_AT: usize = 1000;

/// How deep such files are looked for.
const DEEPEST: usize = 4;

/// The files of cases below `paths`; of those that `source` names, or of the project, if there are
/// none.
pub(super) fn find(
    paths: &[PathBuf],
    source: &SourceArgs,
    env: &Environment,
) -> Result<Vec<CaseFile>> {
    let mut found = Vec::new();
    if !paths.is_empty() {
        for path in paths {
            found.extend(below(&env.cwd.join(path), path)?);
        }
    } else if !source.hooks.is_empty() {
        for folder in &source.hooks {
            found.extend(of_folder(&env.cwd.join(folder), true)?);
        }
    } else {
        for folder in project(env) {
            found.extend(of_folder(&folder, false)?);
        }
    }
    let mut seen = HashSet::new();
    found.retain(|one: &CaseFile| seen.insert(one.path.clone()));
    if found.iter().all(|one| one.misplaced.is_some()) {
        let near = found.first().map(near).unwrap_or_default();
        let help = format!(
            "{near}cases are files `{DROP_INS}/{SUITES}/*.toml`, or `{SUITES}/*.toml` next to {MANIFEST}; hookrun-suite(5) describes them. One event is decided by `hookrun test EVENT`"
        );
        return Err(Complaint::with_cure("there are no files of cases", help));
    }
    Ok(found)
}

/// A file with cases in the wrong place, for a message.
fn near(misplaced: &CaseFile) -> String {
    format!(
        "`{}` {}; ",
        misplaced.path.display(),
        misplaced.misplaced.unwrap_or_default()
    )
}

/// The project's folder with hooks, and those of the sets that the project uses.
fn project(env: &Environment) -> Vec<PathBuf> {
    let config = Config::load(&Choice::default(), env, ConfigScope::Events(&[]));
    let own = config.layers.iter().find(|layer| layer.is_own_of_project());
    let of_project = config
        .layers
        .iter()
        .filter(|layer| layer.kind == LayerKind::Project);
    let sets = of_project.filter(|layer| layer.declared_in.is_some());
    own.into_iter()
        .chain(sets)
        .map(|layer| layer.folder.clone())
        .collect()
}

/// A path on the command line: a file of cases, or a folder that has some.
fn below(path: &Path, named: &Path) -> Result<Vec<CaseFile>> {
    let shown = named.display();
    let meta = path.metadata().map_err(|error| {
        Complaint::with_cure(
            format!("cannot look at `{shown}`: {error}"),
            "name a file of cases, or a folder with some",
        )
    })?;
    if meta.is_file() {
        return Ok(vec![CaseFile {
            path: path.to_path_buf(),
            is_guess: false,
            misplaced: None,
        }]);
    }
    if !meta.is_dir() {
        let help = "name a file of cases, or a folder with some";
        return Err(Complaint::with_cure(
            format!("`{shown}` is not a file"),
            help,
        ));
    }
    let mut found = of_folder(path, true)?;
    if path.file_name() == Some(OsStr::new(SUITES)) {
        found.extend(files(path, false)?);
    }
    if found.iter().all(|one| one.misplaced.is_some()) {
        let near = found.first().map(near).unwrap_or_default();
        let help = format!("{near}cases are files `{SUITES}/*.toml` in a folder of hooks");
        return Err(Complaint::with_cure(
            format!("there are no files of cases in `{shown}`"),
            help,
        ));
    }
    Ok(found)
}

/// The files of cases that belong to the hooks in `folder`.
fn of_folder(folder: &Path, is_named: bool) -> Result<Vec<CaseFile>> {
    let is_drop_ins = folder.file_name() == Some(OsStr::new(DROP_INS));
    let has_manifest = folder.join(MANIFEST).exists();
    let mut found = Vec::new();
    if is_drop_ins || is_named || has_manifest {
        found.extend(files(&folder.join(SUITES), !is_drop_ins)?);
    }
    for place in [
        folder.join(DROP_INS),
        folder.join(HIDDEN),
        folder.join(HIDDEN).join(DROP_INS),
    ] {
        found.extend(files(&place.join(SUITES), false)?);
    }
    Ok(found)
}

/// The files of TOML in `folder`, in the byte order of their names; none if there is no such
/// folder.
fn files(folder: &Path, is_guess: bool) -> Result<Vec<CaseFile>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |error: std::io::Error| {
        Complaint::with_cure(
            format!("cannot read the folder `{}`: {error}", folder.display()),
            "check its permissions",
        )
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.as_bytes().starts_with(b"."));
        if path.extension() == Some(OsStr::new("toml")) && !is_hidden {
            paths.push(path);
        }
    }
    paths.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    let played = paths.into_iter().map(|path| CaseFile {
        path,
        is_guess,
        misplaced: None,
    });
    Ok(played.chain(misplaced(folder)).collect())
}

/// Files with cases that are not played because of their place or name, though their author
/// expects it.
fn misplaced(folder: &Path) -> Vec<CaseFile> {
    let mut left = MOST_LOOKED_AT;
    let mut found = Vec::new();
    look_for_misplaced(folder, 0, &mut left, &mut found);
    found.sort_by(|a, b| {
        a.path
            .as_os_str()
            .as_bytes()
            .cmp(b.path.as_os_str().as_bytes())
    });
    found
}

fn look_for_misplaced(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<CaseFile>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if name.as_bytes().starts_with(b".") || *left == 0 {
            continue;
        }
        *left -= 1;
        if kind.is_dir() && depth < DEEPEST {
            look_for_misplaced(&path, depth + 1, left, found);
        }
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let why = match (ending, depth) {
            ("toml", 0) => continue,
            ("toml", _) => "is in a folder below",
            (other, _) if spelling::nearest(other, ["toml"]).is_some() => "does not end in .toml",
            _ => continue,
        };
        let text = if kind.is_file() {
            trial::read(&path).ok()
        } else {
            None
        };
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        if text.is_some_and(|text| text.contains("[[case]]")) {
            found.push(CaseFile {
                path,
                is_guess: true,
                misplaced: Some(why),
            });
        }
    }
}

/// The folder with the hooks that the cases in `file` test, if they name none themselves: the one
/// that the folder of suites is in, with the `hookrun.toml` of its drop-ins.
pub(super) fn hooks_around(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let is_suites = folder.file_name() == Some(OsStr::new(SUITES));
    let base = if is_suites { folder.parent()? } else { folder };
    if base.file_name() == Some(OsStr::new(DROP_INS)) {
        return base.parent().map(Path::to_path_buf);
    }
    let has = |name: &str| base.join(name).exists();
    let is_configured = has(MANIFEST) || has(DROP_INS) || has(HIDDEN);
    (is_suites || is_configured).then(|| base.to_path_buf())
}
