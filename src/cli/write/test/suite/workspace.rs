//! Where a case is played: its own folders, and an environment that holds nothing of ours.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::exec::Abort;
use crate::engine::run::signal_name;
use crate::lab::scenario::{CaseFolders, Content, PlacedValue, SuppliedFile};
use tempfile::TempDir;

use super::stillness::Stillness;
use super::trial::{CaseTrial, not_a_file, read};
use crate::cli::exit::Result;
use crate::engine::errand;

const SETUP_LIMIT: Duration = Duration::from_secs(60);

/// The permissions of a case's folders.
const PRIVATE: u32 = 0o700;

const SEARCH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The folder that all cases of a run have theirs in.
#[derive(Debug)]
pub(super) struct SuiteFolder {
    folder: TempDir,
    root: PathBuf,
    /// The mark of our hooks.
    mark: String,
    program: Option<PathBuf>,
}

/// The folders of one case; they are gone when they are dropped.
#[derive(Debug)]
pub(super) struct CaseDirs {
    root: PathBuf,
    /// Whether anything has happened since they were found clean.
    still: Option<Stillness>,
}

const WORK: &str = "work";
const HOME: &str = "home";
const TEMPORARY: &str = "tmp";
/// The state of hooks, where empty folders may stay.
const STATE: &str = "state";

#[derive(Debug)]
pub(super) struct Workspace {
    dirs: CaseDirs,
    pub(super) folders: CaseFolders,
    pub(super) env: Environment,
    variables: Vec<(OsString, OsString)>,
    /// Something was laid out, or lines of `setup` were run.
    is_used: std::cell::Cell<bool>,
}

impl SuiteFolder {
    pub(super) fn make(env: &Environment) -> Result<SuiteFolder> {
        let failed = |error: io::Error| {
            Complaint::with_cure(
                format!(
                    "cannot make a folder in `{}`: {error}",
                    env.temporary.display()
                ),
                "set TMPDIR to a folder that may be written",
            )
        };
        let builder = || {
            tempfile::Builder::new()
                .prefix("hookrun-suite-")
                .tempdir_in(&env.temporary)
        };
        let folder = builder().map_err(failed)?;
        let root = folder.path().canonicalize().map_err(failed)?;
        fs::create_dir(root.join("bin")).map_err(failed)?;
        if let Some(program) = &env.program {
            // Hooks call `hookrun field` and the like.
            symlink(program, root.join("bin/hookrun")).map_err(failed)?;
        }
        let (mark, program) = (env.run_id.clone(), env.program.clone());
        Ok(SuiteFolder {
            folder,
            root,
            mark,
            program,
        })
    }

    /// The workspace of `trial`, the case with this number, in the folders of an earlier one if there
    /// are some.
    pub(super) fn workspace(
        &self,
        number: usize,
        trial: &CaseTrial,
        spare: Option<CaseDirs>,
    ) -> io::Result<Workspace> {
        let dirs = match spare {
            Some(dirs) => dirs,
            None => CaseDirs::make(self.root.join(number.to_string()))?,
        };
        let below = |name: &str| dirs.root.join(name);
        let folders = CaseFolders {
            work: below(WORK),
            home: below(HOME),
            suite: trial.folder.clone(),
        };
        let search = format!("{}:{SEARCH}", self.root.join("bin").display());
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), search.into()),
            ("HOME".into(), below(HOME).into()),
            ("TMPDIR".into(), below(TEMPORARY).into()),
            ("LANG".into(), "C.UTF-8".into()),
            // git looks neither above the folder nor at the system's settings.
            ("GIT_CEILING_DIRECTORIES".into(), dirs.root.clone().into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
        ];
        for (name, value) in &trial.case.env {
            variables.retain(|(known, _)| known != name.as_str());
            variables.push((name.into(), folders.fill(value).into()));
        }
        let apart = Environment::apart(variables.clone(), below(WORK), below(STATE));
        let run_id = format!("{}.{number}", self.mark);
        let env = Environment {
            run_id,
            program: self.program.clone(),
            ..apart
        };
        Ok(Workspace {
            dirs,
            folders,
            env,
            variables,
            is_used: false.into(),
        })
    }

    /// Removes everything. Returns what could not be removed.
    pub(super) fn close(self) -> Option<String> {
        let path = self.root.clone();
        let error = self.folder.close().err()?;
        Some(format!("cannot remove `{}`: {error}", path.display()))
    }
}

impl Workspace {
    /// The folders, for the next case, if this one has left them as it found them: making and
    /// removing folders takes longer than deciding.
    pub(super) fn leave(self) -> Option<CaseDirs> {
        let Workspace {
            mut dirs, is_used, ..
        } = self;
        (!is_used.get() && dirs.are_clean()).then_some(dirs)
    }

    /// Lays out files, then runs the lines of `setup`.
    pub(super) fn prepare(
        &self,
        files: &[SuppliedFile],
        setup: &[PlacedValue<String>],
        abort: &Abort,
    ) -> std::result::Result<(), String> {
        self.is_used
            .set(self.is_used.get() || !files.is_empty() || !setup.is_empty());
        for laid in files {
            let path = self.folders.fill(&laid.path.value);
            let lay = || self.lay(&self.folders.work.join(&path), laid);
            lay().map_err(|error| format!("cannot write the file `{path}`: {error}"))?;
        }
        setup
            .iter()
            .try_for_each(|lines| self.run(&lines.value, abort))
    }

    fn lay(&self, path: &Path, laid: &SuppliedFile) -> io::Result<()> {
        let leaves = path.components().any(|part| part == Component::ParentDir);
        if leaves || !path.starts_with(&self.dirs.root) {
            return Err(io::Error::other("it is outside of the case's folders"));
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        if path.metadata().is_ok_and(|meta| !meta.is_file()) {
            // Writing to a pipe would wait for a reader.
            return Err(not_a_file());
        }
        match &laid.content {
            Content::Text(text) => fs::write(path, self.folders.fill(text))?,
            Content::Copy(from) => fs::write(path, read(&self.folders.suite.join(from))?)?,
        }
        match laid.mode {
            Some(mode) => fs::set_permissions(path, fs::Permissions::from_mode(mode)),
            None => Ok(()),
        }
    }

    fn run(&self, lines: &str, abort: &Abort) -> std::result::Result<(), String> {
        let lines = self.folders.fill(lines);
        let place = self.dirs.root.join("setup.out");
        let said = || fs::read(&place).map(|said| String::from_utf8_lossy(&said).into_owned());
        let ran = File::create(&place).and_then(|file| {
            let (folder, variables) = (&self.folders.work, &self.variables);
            let is_over = || abort.times_raised() > 0;
            errand::set_up(&lines, folder, variables, &file, SETUP_LIMIT, is_over)
        });
        let why = match ran {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => match status.code() {
                Some(status) => format!("exited with status {status}"),
                None => {
                    format!(
                        "was killed by {}",
                        signal_name(status.signal().unwrap_or_default())
                    )
                }
            },
            Ok(None) if abort.times_raised() > 0 => "was ended with hookrun".to_string(),
            Ok(None) => "was still running after 60s".to_string(),
            Err(error) => format!("could not be started: {error}"),
        };
        let said = said().unwrap_or_default();
        let said = said.trim_end();
        let colon = if said.is_empty() { "" } else { ": " };
        Err(format!("its `setup` {why}{colon}{said}"))
    }

    /// The text of a file in the case's folder.
    pub(super) fn look(&self, path: &str) -> Option<std::result::Result<String, String>> {
        let path = self.folders.work.join(path);
        let meta = path.symlink_metadata().ok()?;
        if meta.is_dir() {
            return Some(Err("a folder".to_string()));
        }
        Some(match read(&path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Err(format!("cannot be read: {error}")),
        })
    }
}

impl CaseDirs {
    fn make(root: PathBuf) -> io::Result<CaseDirs> {
        let own = [WORK, HOME, TEMPORARY, STATE].map(|name| root.join(name));
        for folder in std::iter::once(&root).chain(&own) {
            DirBuilder::new().mode(PRIVATE).create(folder)?;
        }
        Ok(CaseDirs { root, still: None })
    }

    /// Whether everything is as it was made, but for empty folders for the state of hooks.
    fn are_clean(&mut self) -> bool {
        if self.still.as_ref().is_some_and(Stillness::lasts) {
            return true;
        }
        if !self.look_clean() {
            return false;
        }
        let mut folders = vec![self.root.clone()];
        add_folders(&self.root, &mut folders);
        self.still = Stillness::of(&folders);
        // What has happened before they were watched is not missed.
        self.look_clean()
    }

    fn look_clean(&self) -> bool {
        let is_empty = |name| entries(&self.root.join(name)).is_some_and(|found| found.is_empty());
        [WORK, HOME, TEMPORARY, STATE]
            .iter()
            .all(|name| is_private(&self.root.join(name)))
            && entries(&self.root).is_some_and(|found| found.len() == 4)
            && [WORK, HOME, TEMPORARY].into_iter().all(is_empty)
            && holds_only_folders(&self.root.join(STATE))
    }
}

impl Drop for CaseDirs {
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.root).is_err() {
            // A case may have locked its own folders. What its processes still write is removed
            // with the folder of the suite.
            open(&self.root);
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

fn is_private(folder: &Path) -> bool {
    let meta = folder.symlink_metadata();
    meta.is_ok_and(|meta| meta.is_dir() && meta.permissions().mode() & 0o7777 == PRIVATE)
}

fn entries(folder: &Path) -> Option<Vec<fs::DirEntry>> {
    fs::read_dir(folder).ok()?.collect::<io::Result<_>>().ok()
}

fn is_folder(entry: &fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

fn holds_only_folders(folder: &Path) -> bool {
    let is_bare = |entry: &fs::DirEntry| is_folder(entry) && holds_only_folders(&entry.path());
    entries(folder).is_some_and(|found| found.iter().all(is_bare))
}

fn add_folders(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in entries(folder)
        .unwrap_or_default()
        .iter()
        .filter(|entry| is_folder(entry))
    {
        found.push(entry.path());
        add_folders(&entry.path(), found);
    }
}

/// Lets us into all folders below `folder`.
fn open(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(PRIVATE));
    for entry in entries(folder)
        .unwrap_or_default()
        .iter()
        .filter(|entry| is_folder(entry))
    {
        open(&entry.path());
    }
}
