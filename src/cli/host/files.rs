//! Reads and atomically replaces hosts' files.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::config::problem::utf8;
use crate::config::reader::read_file;
use crate::config::tree::Tree;
use crate::engine::complaint::Complaint;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;
use similar::Algorithm;
use toml::de::DeTable;

use crate::cli::args::SettingsScope;
use crate::cli::exit::{Result, failed};
use crate::hosts::Host;
use crate::hosts::settings::UserFile;

/// The value of a JSON or TOML file; `None` if unreadable, which its own reader reports.
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

/// A unified diff; `None` means no file.
pub(crate) fn unified(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    let from = if old.is_some() { name } else { "/dev/null" };
    let to = if new.is_some() { name } else { "/dev/null" };
    similar::udiff::unified_diff(
        Algorithm::Myers,
        old.unwrap_or_default(),
        new.unwrap_or_default(),
        3,
        Some((from, to)),
    )
}

impl Host {
    /// The file of this scope; `None` without one, or for a user without a home folder.
    pub(crate) fn path(
        &self,
        scope: SettingsScope,
        project: &Path,
        env: &Environment,
    ) -> Option<PathBuf> {
        let install = &self.install;
        match scope {
            SettingsScope::Project if install.project.is_empty() => None,
            SettingsScope::Project => Some(project.join(install.project)),
            SettingsScope::Local => {
                Some(project.join(install.project).with_file_name(install.local?))
            }
            SettingsScope::User => match install.user {
                UserFile::Home(path) => Some(env.home.as_ref()?.join(path)),
                UserFile::Config(path) => Some(env.config_home.as_ref()?.join(path)),
                UserFile::Moved {
                    variable,
                    usual,
                    file,
                } => {
                    let moved = env.host_folders.iter().find(|(name, _)| *name == variable);
                    let folder = match moved {
                        Some((_, folder)) => folder.clone(),
                        None => env.home.as_ref()?.join(usual),
                    };
                    Some(folder.join(file))
                }
            },
        }
    }

    pub(crate) fn usual_scope(&self) -> SettingsScope {
        if self.install.project.is_empty() {
            SettingsScope::User
        } else {
            SettingsScope::Project
        }
    }

    pub(crate) fn no_file(&self, scope: SettingsScope, env: &Environment) -> Complaint {
        if scope == SettingsScope::User {
            let cure = if self.install.project.is_empty() {
                "set HOME"
            } else {
                "set HOME, or use `--scope project`"
            };
            return Complaint::with_cure(env.why_no_home(), cure);
        }
        let cause = format!("{} has no {} settings", self.title, scope.name());
        let cure = if self.install.project.is_empty() {
            "use `--scope user`"
        } else {
            "use `--scope project` or `--scope user`"
        };
        Complaint::with_cure(cause, cure)
    }

    /// Whether the user has the host: its settings folder, or its program in PATH.
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
    /// The target, if the path is a link.
    real: PathBuf,
    pub(crate) text: Option<String>,
}

impl Target {
    pub(crate) fn read(path: &Path) -> Result<Target> {
        let shown = path.display();
        let cannot = failed(format!("cannot read `{shown}`"));
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => {
                return Ok(Target {
                    path: path.into(),
                    real: path.into(),
                    text: None,
                });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Complaint::with_cure(
                    format!("`{shown}` is a dangling link"),
                    "create its target, or remove the link",
                ));
            }
            Err(error) => return Err(cannot(error)),
        };
        if !real.is_file() {
            return Err(Complaint::with_cure(
                format!("`{shown}` is not a file"),
                "move it away",
            ));
        }
        let text = utf8(fs::read(&real).map_err(cannot)?).map_err(|at| {
            let cause = format!(
                "`{shown}` is not UTF-8: line {}, column {}",
                at.line, at.column
            );
            Complaint::with_cure(cause, "convert it to UTF-8; hookrun did not change it")
        })?;
        Ok(Target {
            path: path.into(),
            real,
            text: Some(text),
        })
    }

    /// Replaces the file atomically and creates its folders.
    pub(crate) fn replace(&self, text: &str) -> Result<()> {
        let cannot = failed(format!("cannot write `{}`", self.path.display()));
        self.check()?;
        let folder = self.real.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(&cannot)?;
        self.write_in(folder, text).map_err(cannot)
    }

    /// Removes the file and its empty parent folders up to `root`.
    pub(crate) fn remove(&self, root: &Path) -> Result<()> {
        self.check()?;
        let what = format!("cannot remove `{}`", self.path.display());
        fs::remove_file(&self.path).map_err(failed(what))?;
        for folder in self.path.ancestors().skip(1) {
            if folder == root || fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let shown = self.path.display();
        let Ok(meta) = self.real.metadata() else {
            return Ok(());
        };
        // Renaming over a file ignores the file's permissions.
        if meta.mode() & 0o200 == 0 {
            return Err(Complaint::with_cure(
                format!("`{shown}` is read-only"),
                format!("`chmod u+w {shown}` if you may change it"),
            ));
        }
        if fs::read(&self.real).ok().as_deref() != self.text.as_deref().map(str::as_bytes) {
            return Err(Complaint::with_cure(
                format!("`{shown}` has just been changed by another program"),
                "try again; hookrun did not change it",
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
