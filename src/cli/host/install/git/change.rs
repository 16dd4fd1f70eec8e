//! Changes to the hooks in a folder of git's: planned as a whole, then made.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::engine::complaint::Complaint;
use crate::hosts::git::GitHook;

use super::files::{asks_by_husky, is_executable, kept_beside, put_aside, read};
use super::shim::{self, KEPT_ENDING, Shim};
use crate::cli::exit::{Result, failed};

#[derive(Debug)]
pub(super) struct ShimChange {
    pub(super) hook: &'static GitHook,
    pub(super) file: PathBuf,
    kept: PathBuf,
    pub(super) act: FileChange,
}

#[derive(Debug)]
pub(super) enum FileChange {
    /// Write this shim; a hook that is there is kept first.
    Write { shim: Vec<u8>, keeps: bool },
    /// Nothing: the shim is there as it should be.
    Stay,
    /// Take the shim away; a kept hook is put back.
    Remove { restores: bool },
    /// Put back a kept hook whose shim is gone.
    Restore,
    /// Another hook is there too; it and the kept one stay as they are.
    Leave,
}

#[derive(Debug)]
pub(super) struct ShimFolder {
    pub(super) hooks: PathBuf,
    /// The folder in which git runs them: the worktree, or a bare repository.
    pub(super) base: PathBuf,
    /// Whether it is hookrun's own folder for all repositories, whose own hooks git then
    /// ignores.
    pub(super) is_ours: bool,
    /// Whether git does not know of the folder yet.
    pub(super) is_new: bool,
    /// The repository's own folder, if git ignores it: what was installed there before
    /// `core.hooksPath` was set has no effect.
    pub(super) passed_over: Option<PathBuf>,
}

pub(super) fn plan_write(place: &ShimFolder, mut shim: Shim<'_>) -> Result<Vec<ShimChange>> {
    let hook = shim.hook;
    let mut file = place.hooks.join(hook.name);
    let mut aside = put_aside(&place.hooks, hook)?;
    let is_there_foreign = read(&file)?.is_some_and(|bytes| !shim::is_shim(&bytes));
    // Its manager runs it: a second shim would run every hook twice.
    if let Some(at) = aside.iter().position(|(_, runs)| *runs && is_there_foreign) {
        file = aside.remove(at).0;
    }
    let kept = kept_beside(&file);
    let mut changes = removals(hook, aside);
    if asks_by_husky(&place.hooks, hook.name) {
        changes.extend(plan_removal(&place.hooks, hook)?);
        return Ok(changes);
    }
    let (there, before) = (read(&file)?, read(&kept)?);
    let is_foreign = there.as_ref().is_some_and(|bytes| !shim::is_shim(bytes));
    if is_foreign && before.is_some() && there != before {
        return Err(Complaint::with_cure(
            format!(
                "`{}` is a new hook, and an older one is kept next to it",
                file.display()
            ),
            format!(
                "remove the one that is not wanted: it, or `{}`",
                kept.display()
            ),
        ));
    }
    if is_foreign && place.is_ours {
        return Err(Complaint::with_cure(
            format!(
                "`{}` is in hookrun's own folder and is not hookrun's",
                file.display()
            ),
            "move it away; it would not be run any more",
        ));
    }
    let kept_text = before.as_ref().or(there.as_ref().filter(|_| is_foreign));
    if let Some(kept) = kept_text.filter(|_| !place.is_ours) {
        shim.before = shim::how_to_run(kept);
    }
    let text = shim.text();
    let act = if there.as_deref() == Some(&text) && is_executable(&file) {
        FileChange::Stay
    } else {
        FileChange::Write {
            shim: text,
            keeps: is_foreign,
        }
    };
    changes.push(ShimChange {
        hook,
        file,
        kept,
        act,
    });
    Ok(changes)
}

pub(super) fn plan_removal(folder: &Path, hook: &'static GitHook) -> Result<Vec<ShimChange>> {
    let mut changes = removals(hook, put_aside(folder, hook)?);
    let file = folder.join(hook.name);
    let kept = kept_beside(&file);
    let (there, before) = (read(&file)?, read(&kept)?);
    let act = match (there, before.is_some()) {
        (Some(bytes), restores) if shim::is_shim(&bytes) => FileChange::Remove { restores },
        (Some(_), true) => FileChange::Leave,
        (None, true) => FileChange::Restore,
        (Some(_) | None, false) => return Ok(changes),
    };
    changes.push(ShimChange {
        hook,
        file,
        kept,
        act,
    });
    Ok(changes)
}

fn removals(hook: &'static GitHook, aside: Vec<(PathBuf, bool)>) -> Vec<ShimChange> {
    let removal = |(file, _)| {
        let kept = PathBuf::new();
        ShimChange {
            hook,
            file,
            kept,
            act: FileChange::Remove { restores: false },
        }
    };
    aside.into_iter().map(removal).collect()
}

pub(super) fn carry_out(changes: &[ShimChange], is_dry: bool, out: &mut dyn Write) -> Result<()> {
    for change in changes {
        if !is_dry {
            let what = format!("cannot change `{}`", change.file.display());
            change.carry_out().map_err(failed(what))?;
        }
        let file = change.file.display();
        let (name, kept) = (
            change.hook.name,
            format!("{}{KEPT_ENDING}", change.hook.name),
        );
        let (verb, more) = match change.act {
            FileChange::Stay => {
                writeln!(out, "{file} is as it should be")?;
                continue;
            }
            FileChange::Leave => {
                writeln!(
                    out,
                    "{name}: left alone; {file} is not hookrun's, and {kept} is kept next to it"
                )?;
                continue;
            }
            FileChange::Write { keeps: true, .. } => (
                "write",
                format!("; the hook that was there is {kept} and runs first"),
            ),
            FileChange::Write { keeps: false, .. } => ("write", String::new()),
            FileChange::Remove { restores: true } => {
                ("remove", "; the hook that was there is back".to_string())
            }
            FileChange::Remove { restores: false } => ("remove", String::new()),
            FileChange::Restore => ("put back", String::new()),
        };
        say(out, is_dry, verb, &format!("{file}{more}"))?;
    }
    Ok(())
}

/// Says what was done, or would be; `verb` is in the infinitive.
pub(super) fn say(out: &mut dyn Write, is_dry: bool, verb: &str, what: &str) -> Result<()> {
    let did = match verb {
        "write" => "wrote",
        "remove" => "removed",
        other => other,
    };
    let verb = if is_dry {
        format!("would {verb}")
    } else {
        did.to_string()
    };
    Ok(writeln!(out, "{verb} {what}")?)
}

impl ShimChange {
    fn carry_out(&self) -> std::io::Result<()> {
        match &self.act {
            FileChange::Write { shim, keeps } => {
                if let Some(folder) = self.file.parent() {
                    fs::create_dir_all(folder)?;
                }
                let new = self.file.with_extension("hookrun-new");
                fs::write(&new, shim)?;
                fs::set_permissions(&new, fs::Permissions::from_mode(0o755))?;
                if *keeps {
                    fs::rename(&self.file, &self.kept)?;
                }
                fs::rename(&new, &self.file)
            }
            FileChange::Remove { restores: true } | FileChange::Restore => {
                fs::rename(&self.kept, &self.file)
            }
            FileChange::Remove { restores: false } => fs::remove_file(&self.file),
            FileChange::Stay | FileChange::Leave => Ok(()),
        }
    }
}
