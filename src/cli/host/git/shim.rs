//! The shell script in git's hooks folder that runs the previous hook, then hookrun.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::cli::exit::{Result, failed};
use crate::cli::host::command::{MISSING, SEARCH};
use crate::engine::complaint::Complaint;
use crate::hosts::git::GitHook;

const MARK: &str = "# hookrun-shim: ";

const KEPT_ENDING: &str = ".before-hookrun";

/// The extension that pre-commit gives to an existing hook, which it runs.
const RUN_BY_MANAGER: &str = ".legacy";

#[derive(Debug)]
pub(crate) struct HookScript {
    pub(crate) hook: &'static GitHook,
    /// The shim's path; another hook manager may have renamed an existing one, which it runs.
    pub(crate) file: PathBuf,
    text: Option<Vec<u8>>,
    pub(crate) kept: PathBuf,
    kept_text: Option<Vec<u8>>,
    /// The user's file, where husky writes git's hook.
    pub(crate) husky: Option<PathBuf>,
    pub(crate) is_asked_by_husky: bool,
}

#[derive(Debug)]
pub(super) enum Change {
    /// Write this shim, keeping an existing hook.
    Write {
        shim: String,
        keeps: bool,
    },
    Stay,
    /// Remove the shim and restore a kept hook.
    Remove {
        restores: bool,
    },
    /// Restore a kept hook whose shim is gone.
    Restore,
    /// Leave another hook and the kept one unchanged.
    Leave,
}

impl HookScript {
    pub(super) fn find(folder: &Path, hook: &'static GitHook) -> Result<HookScript> {
        let usual = folder.join(hook.name);
        let aside = with_ending(&usual, RUN_BY_MANAGER);
        let is_aside = read_if_there(&aside)?.is_some_and(|bytes| is_shim(&bytes));
        let file = if is_aside { aside } else { usual.clone() };
        let kept = with_ending(&usual, KEPT_ENDING);
        let husky = folder
            .parent()
            .filter(|_| folder.ends_with(".husky/_"))
            .map(|folder| folder.join(hook.name));
        let husky_text = husky
            .as_ref()
            .and_then(|file| fs::read_to_string(file).ok())
            .unwrap_or_default();
        let asks = format!(" run --host git {}", hook.name);
        let is_asked_by_husky = husky_text
            .lines()
            .any(|line| line.contains(&asks) && !line.starts_with('#'));
        Ok(HookScript {
            hook,
            text: read_if_there(&file)?,
            file,
            kept_text: read_if_there(&kept)?,
            kept,
            husky,
            is_asked_by_husky,
        })
    }

    pub(crate) fn is_shim(&self) -> bool {
        self.text.as_ref().is_some_and(|bytes| is_shim(bytes))
    }

    pub(crate) fn is_foreign(&self) -> bool {
        self.text.is_some() && !self.is_shim()
    }

    pub(crate) fn has_kept(&self) -> bool {
        self.kept_text.is_some()
    }

    pub(crate) fn asks(&self) -> bool {
        self.is_shim() || self.is_asked_by_husky
    }

    pub(crate) fn path(&self) -> Option<String> {
        let text = String::from_utf8_lossy(self.text.as_deref()?);
        let value = text.lines().find_map(|line| line.strip_prefix("found="))?;
        shell_words::split(value).ok()?.into_iter().next()
    }

    /// Writes `shim`, which runs the previous hook.
    pub(super) fn install(&self, shim: &Shim<'_>) -> Result<Change> {
        let is_foreign = self.is_foreign();
        if is_foreign && self.has_kept() && self.text != self.kept_text {
            return Err(Complaint::with_cure(
                format!(
                    "`{}` is a new hook, and an older one is kept next to it",
                    self.file.display()
                ),
                format!("remove the new hook or `{}`", self.kept.display()),
            ));
        }
        let before = match &self.kept_text {
            Some(kept) => Some(kept),
            None => self.text.as_ref().filter(|_| is_foreign),
        };
        let shell = before.and_then(|kept| shell_that_sees_its_name(kept));
        let text = shim.text(shell);
        if self.text.as_deref() == Some(text.as_bytes()) && is_executable(&self.file) {
            return Ok(Change::Stay);
        }
        Ok(Change::Write {
            shim: text,
            keeps: is_foreign,
        })
    }

    /// `None` without hookrun.
    pub(super) fn uninstall(&self) -> Option<Change> {
        if self.is_shim() {
            let restores = self.has_kept();
            return Some(Change::Remove { restores });
        }
        match (&self.text, &self.kept_text) {
            (Some(_), Some(_)) => Some(Change::Leave),
            (None, Some(_)) => Some(Change::Restore),
            (_, None) => None,
        }
    }

    pub(super) fn carry_out(&self, change: &Change) -> io::Result<()> {
        match change {
            Change::Write { shim, keeps } => {
                if let Some(folder) = self.file.parent() {
                    fs::create_dir_all(folder)?;
                }
                let new = with_ending(&self.file, ".hookrun-new");
                fs::write(&new, shim)?;
                fs::set_permissions(&new, fs::Permissions::from_mode(0o755))?;
                if *keeps {
                    fs::rename(&self.file, &self.kept)?;
                }
                fs::rename(&new, &self.file)
            }
            Change::Remove { restores: true } | Change::Restore => {
                fs::rename(&self.kept, &self.file)
            }
            Change::Remove { restores: false } => fs::remove_file(&self.file),
            Change::Stay | Change::Leave => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(super) struct Shim<'a> {
    pub(super) hook: &'static GitHook,
    /// The path to try first; `None` in a shared file.
    pub(super) path: Option<&'a str>,
    /// The options of every run, each after a space.
    pub(super) options: &'a str,
}

impl Shim<'_> {
    /// The script. It runs the previous hook, by `shell` if that hook needs its old name.
    fn text(&self, shell: Option<String>) -> String {
        let name = self.hook.name;
        let path = shell_words::quote(self.path.unwrap_or_default());
        let first = match shell {
            None => "\"$before\" \"$@\"".to_string(),
            Some(shell) => format!("{shell} -c '. \"$0{KEPT_ENDING}\"' \"$name\" \"$@\""),
        };
        let own = format!("\"$found\" run{} --host git {name} -- \"$@\"", self.options);
        // Both programs need git's stdin. `$(…)` would strip trailing newlines.
        let (keep, pipe) = if self.hook.lines.is_some() {
            (
                "  lines=$(cat; echo .)\n  lines=${lines%.}\n",
                "printf %s \"$lines\" 2>/dev/null | ",
            )
        } else {
            ("", "")
        };
        let missing = if self.hook.is_gate() {
            format!("  echo \"hookrun: {name} blocked: {MISSING}\" >&2\n  exit 1\n")
        } else {
            format!("  echo \"hookrun: {name} ran no hooks: {MISSING}\" >&2\n")
        };
        let run = if self.hook.is_gate() {
            format!("{keep}  {pipe}{first} || exit $?\n  {pipe}{own}\n  exit $?\nfi\nexec {own}\n")
        } else {
            format!(
                "  status=0\n{keep}  {pipe}{first} || status=$?\n  \
                 [ -z \"$found\" ] || {pipe}{own}\n  exit $status\nfi\n\
                 [ -z \"$found\" ] || exec {own}\n"
            )
        };
        format!(
            "#!/bin/sh\n\
             # Generated by `hookrun install git`, which overwrites changes. `hookrun uninstall git`\n\
             # removes it and restores the previous hook, which runs first.\n\
             {MARK}{name}\n\n\
             name=${{0%{RUN_BY_MANAGER}}}\n\
             before=$name{KEPT_ENDING}\n\
             found={path}\n\
             if [ ! -x \"$found\" ]; then\n  \
             found=\n  {SEARCH}found=$d/hookrun; break; done\nfi\n\
             if [ -z \"$found\" ]; then\n{missing}fi\n\
             if [ -f \"$before\" ] && [ -x \"$before\" ]; then\n{run}"
        )
    }
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut path = file.as_os_str().to_os_string();
    path.push(ending);
    PathBuf::from(path)
}

pub(crate) fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.permissions().mode() & 0o111 == 0o111)
}

fn is_shim(bytes: &[u8]) -> bool {
    let beginning = &bytes[..bytes.len().min(1024)];
    beginning.starts_with(b"#!/bin/sh\n")
        && beginning
            .windows(MARK.len())
            .any(|part| part == MARK.as_bytes())
}

/// The shell for a kept hook that reads its name, as hook managers do to find their hook.
fn shell_that_sees_its_name(kept: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(kept);
    if !text.contains("$0") && !text.contains("${0") {
        return None;
    }
    let interpreter = text.lines().next()?.strip_prefix("#!")?.trim();
    let program = interpreter
        .split_whitespace()
        .rfind(|word| !word.starts_with('-'))?;
    let name = program.rsplit('/').next()?;
    let is_plain = interpreter
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/ -_.".contains(&byte));
    let is_shell = ["sh", "bash", "dash", "ksh", "zsh"].contains(&name);
    (is_plain && is_shell).then(|| interpreter.to_string())
}

/// A file's bytes; `None` if missing. A dangling link is empty.
pub(super) fn read_if_there(file: &Path) -> Result<Option<Vec<u8>>> {
    use std::io::ErrorKind;
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(file.symlink_metadata().is_ok().then(Vec::new))
        }
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(failed(format!("cannot read `{}`", file.display()))(error)),
    }
}
