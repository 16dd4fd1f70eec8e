//! The files of hosts: read as they are, replaced whole, and what was there before kept.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::config::problem::utf8;
use crate::config::reader::read_file;
use crate::config::tree::Tree;
use crate::engine::complaint::Complaint;
use crate::engine::session;
use crate::lab::report::diff::LineDiff;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;
use toml::de::DeTable;

use crate::cli::args::SettingsScope;
use crate::cli::exit::{Result, failed};
use crate::hosts::Host;
use crate::hosts::install::UserFile;

/// The value of a JSON or TOML file. What cannot be read has none; the reader of the file itself
/// reports it.
pub(crate) fn read_value(file: &Path) -> Option<Value> {
    let text = String::from_utf8(read_file(file).ok()?).ok()?;
    if file.extension().is_some_and(|ending| ending == "toml") {
        return Some(Tree::of_toml(&DeTable::parse_recoverable(&text).0).to_json());
    }
    let root = CstRootNode::parse(
        text.trim_start_matches('\u{feff}'),
        &ParseOptions::default(),
    );
    root.ok()?.to_serde_value()
}

/// What a file loses and gets, as a unified diff; `None` for no file.
pub(crate) fn unified(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    let diff = LineDiff::of(old.unwrap_or_default(), new.unwrap_or_default()).unified();
    let head = |text: Option<&str>| if text.is_some() { name } else { "/dev/null" };
    let is_same = diff.is_empty();
    if is_same {
        diff
    } else {
        format!("--- {}\n+++ {}\n{diff}", head(old), head(new))
    }
}

impl Host {
    /// Where its file is; `None` for a user without a home, and for a project where it reads none.
    pub(crate) fn path(
        &self,
        scope: SettingsScope,
        project: &Path,
        env: &Environment,
    ) -> Option<PathBuf> {
        if scope == SettingsScope::Project {
            return (!self.install.project.is_empty()).then(|| project.join(self.install.project));
        }
        match self.install.user {
            UserFile::Home(path) => Some(env.home.as_ref()?.join(path)),
            UserFile::Moved {
                variable,
                usual,
                file,
            } => {
                let moved = env.host_folders.iter().find(|(name, _)| *name == variable);
                let usual = || Some(env.home.as_ref()?.join(usual));
                Some(
                    moved
                        .map(|(_, folder)| folder.clone())
                        .or_else(usual)?
                        .join(file),
                )
            }
            UserFile::Config(path) => Some(env.config_home.as_ref()?.join(path)),
        }
    }

    /// The other files with hooks that it reads in the folder of `path`, its file of this scope.
    pub(crate) fn files_beside(&self, scope: SettingsScope, path: &Path) -> Vec<PathBuf> {
        let is_read = |is_of_user: bool| is_of_user || scope == SettingsScope::Project;
        let beside = self
            .install
            .beside
            .iter()
            .filter(|one| is_read(one.is_of_user));
        beside.map(|one| path.with_file_name(one.file)).collect()
    }

    /// Why it has no file of this scope.
    pub(crate) fn no_file(&self, scope: SettingsScope, env: &Environment) -> Complaint {
        if scope == SettingsScope::Project {
            let cause = format!("{} reads hooks from its user's settings alone", self.title);
            return Complaint::with_cure(cause, "install for the user: --scope user");
        }
        let project = "set HOME to it, or install for the project: --scope project";
        let cure = if self.install.project.is_empty() {
            "set HOME to it"
        } else {
            project
        };
        Complaint::with_cure(env.why_no_home(), cure)
    }

    /// Whether this person has the host: its own folder of settings, or its program in PATH.
    pub(crate) fn is_installed(&self, env: &Environment) -> bool {
        let below = match self.install.user {
            UserFile::Home(path) | UserFile::Config(path) => Path::new(path).components().count(),
            UserFile::Moved { file, .. } => Path::new(file).components().count() + 1,
        };
        let file = self.path(SettingsScope::User, Path::new(""), env);
        let folder = file
            .as_deref()
            .and_then(|file| file.ancestors().nth(below - 1));
        let mut search = env.search.iter().flat_map(std::env::split_paths);
        folder.is_some_and(Path::is_dir)
            || search.any(|folder| folder.join(self.program.unwrap_or(self.name)).is_file())
    }
}

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    /// Where that leads: a link is followed, and stays.
    real: PathBuf,
    /// What is in it; `None` for no file.
    pub(crate) text: Option<String>,
}

impl Target {
    pub(crate) fn read(path: &Path) -> Result<Target> {
        let shown = path.display();
        let cannot = failed(format!("cannot read `{shown}`"));
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => {
                // The same as later, when it is there: its record is found by this path.
                let there = |folder: &Path| {
                    Some((
                        fs::canonicalize(folder).ok()?,
                        path.strip_prefix(folder).ok()?,
                    ))
                };
                let real = path
                    .ancestors()
                    .find_map(there)
                    .map(|(folder, rest)| folder.join(rest));
                return Ok(Target {
                    path: path.into(),
                    real: real.unwrap_or(path.into()),
                    text: None,
                });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Complaint::with_cure(
                    format!("`{shown}` is a link to nothing"),
                    "make the file that it leads to, or remove the link",
                ));
            }
            Err(error) => return Err(cannot(error)),
        };
        if !real.is_file() {
            return Err(Complaint::with_cure(
                format!("`{shown}` is not a file"),
                "move it away, or install for the other --scope",
            ));
        }
        let text = utf8(fs::read(&real).map_err(cannot)?).map_err(|at| {
            let cause = format!("{shown}:{}:{}: is not UTF-8", at.line, at.column);
            Complaint::with_cure(cause, "correct it; it was not touched")
        })?;
        Ok(Target {
            path: path.into(),
            real,
            text: Some(text),
        })
    }

    /// Puts `text` in its place, as a whole or not at all, and makes the folders that it needs.
    /// The folders that were made, the outermost first.
    pub(crate) fn replace(&self, text: &str) -> Result<Vec<PathBuf>> {
        let cannot = failed(format!("cannot write `{}`", self.path.display()));
        self.check()?;
        let folder = self.real.parent().unwrap_or(Path::new("/"));
        let missing = folder.ancestors().take_while(|folder| !folder.exists());
        let mut made: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        made.reverse();
        fs::create_dir_all(folder).map_err(&cannot)?;
        self.write_in(folder, text).map_err(cannot)?;
        Ok(made)
    }

    /// Removes the file, and of `folders` what is empty then.
    pub(crate) fn remove(&self, folders: &[PathBuf]) -> Result<()> {
        self.check()?;
        let what = format!("cannot remove `{}`", self.path.display());
        fs::remove_file(&self.path).map_err(failed(what))?;
        for folder in folders.iter().rev() {
            // One that is used by now is not empty, and stays.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let shown = self.path.display();
        let Ok(meta) = self.real.metadata() else {
            return Ok(());
        };
        // Replacing a file asks for no permission of the file itself.
        if meta.mode() & 0o200 == 0 {
            return Err(Complaint::with_cure(
                format!("`{shown}` is read-only"),
                format!("`chmod u+w {shown}` if it is yours to change"),
            ));
        }
        if fs::read(&self.real).ok().as_deref() != self.text.as_deref().map(str::as_bytes) {
            return Err(Complaint::with_cure(
                format!("`{shown}` was changed meanwhile"),
                "try again; it was not touched",
            ));
        }
        Ok(())
    }

    fn write_in(&self, folder: &Path, text: &str) -> io::Result<()> {
        let name = self.real.file_name().unwrap_or_default().to_string_lossy();
        let mut builder = tempfile::Builder::new();
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        let builder = builder.permissions(fs::Permissions::from_mode(mode));
        let mut new = builder
            .prefix(&format!(".{name}.hookrun-"))
            .tempfile_in(folder)?;
        if let Ok(old) = self.real.metadata() {
            let made = new.as_file().metadata()?;
            if (old.uid(), old.gid()) != (made.uid(), made.gid()) {
                chown(new.path(), Some(old.uid()), Some(old.gid()))?;
            }
            let mode = fs::Permissions::from_mode(old.mode() & 0o7777);
            new.as_file().set_permissions(mode)?;
        }
        new.write_all(text.as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(&self.real)
            .map(drop)
            .map_err(|error| error.error)
    }
}

/// What is kept about a file that hookrun was installed into, in hookrun's own state folder.
#[derive(Debug)]
pub(crate) struct InstallRecord {
    root: PathBuf,
    folder: PathBuf,
}

#[derive(Debug)]
pub(crate) struct FileBackup {
    /// The text before hookrun came; `None` for no file.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
    pub(crate) folders: Vec<PathBuf>,
}

const BEFORE: &str = "before";
const AFTER: &str = "after";
const FOLDERS: &str = "folders";

impl InstallRecord {
    pub(crate) fn of(target: &Target, env: &Environment) -> InstallRecord {
        let root = env.state_root();
        let folder = root.join("installed").join(name_for(&target.real));
        InstallRecord { root, folder }
    }

    pub(crate) fn kept(&self) -> Option<FileBackup> {
        let read = |name: &str| fs::read_to_string(self.folder.join(name)).ok();
        Some(FileBackup {
            before: read(BEFORE),
            after: read(AFTER)?,
            folders: read(FOLDERS)?.lines().map(PathBuf::from).collect(),
        })
    }

    /// Keeps the text before, before anything is changed. Where it is then.
    pub(crate) fn keep_before(&self, before: Option<&str>) -> Result<Option<PathBuf>> {
        self.make()?;
        if let Some(text) = before {
            return self.write(BEFORE, text).map(Some);
        }
        let _ = fs::remove_file(self.folder.join(BEFORE));
        Ok(None)
    }

    /// Keeps the text that hookrun leaves, and the folders that it made.
    pub(crate) fn keep_after(&self, after: &str, folders: &[PathBuf]) -> Result<()> {
        let lines: Vec<String> = folders
            .iter()
            .map(|one| one.display().to_string())
            .collect();
        self.write(FOLDERS, &lines.join("\n"))?;
        self.write(AFTER, after).map(drop)
    }

    /// Keeps a copy of what will be removed. Where it is then.
    pub(crate) fn keep_copy(&self, text: &str) -> Result<PathBuf> {
        self.make()?;
        self.write("removed", text)
    }

    /// Forgets all but a copy of what was removed.
    pub(crate) fn forget(&self) {
        for name in [BEFORE, AFTER, FOLDERS] {
            let _ = fs::remove_file(self.folder.join(name));
        }
        let _ = fs::remove_dir(&self.folder);
    }

    fn make(&self) -> Result<()> {
        session::make_private(&self.root, &self.folder).map_err(|error| self.cannot(&error))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.folder.join(name);
        fs::write(&file, text).map_err(|error| self.cannot(&error))?;
        Ok(file)
    }

    fn cannot(&self, error: &io::Error) -> Complaint {
        Complaint::with_cure(
            format!("cannot keep a copy in `{}`: {error}", self.folder.display()),
            "nothing was changed; set XDG_STATE_HOME to a folder that you may write",
        )
    }
}

/// A name for a folder that is different for every path, and says which.
fn name_for(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let shown: Vec<char> = text
        .chars()
        .map(|c| if is_plain(c) { c } else { '%' })
        .collect();
    let end: String = shown.iter().skip(shown.len().saturating_sub(120)).collect();
    format!("{end}-{:016x}", session::checksum(text.as_bytes()))
}
