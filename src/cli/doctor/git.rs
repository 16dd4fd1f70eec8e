//! Checks that git reaches hookrun: its hooks folder, the shims, and their programs.

use std::path::Path;

use crate::config::layer::LOCAL;
use crate::config::{Config, Environment};
use crate::hosts::git;

use super::Seen;
use crate::cli::exit::Result;
use crate::cli::host::command::Launch;
use crate::cli::host::git::{HookScript, Repository, ask, is_executable};
use crate::cli::host::installed::HooksByEvent;
use crate::cli::validate::{Findings, error, warning};

const AGAIN: &str = "`hookrun install git` repairs it";

/// Checks the repository around the working directory. Returns a summary line; `None` outside one.
pub(super) fn look(
    config: &Config,
    env: &Environment,
    is_named: bool,
    seen: &Seen,
    findings: &mut Findings,
) -> Result<Option<String>> {
    let repository = match Repository::around(env) {
        Ok(repository) => repository,
        Err(complaint) if is_named => {
            findings.add(complaint.in_file(&env.cwd, None));
            return Ok(Some("git: not a repository".to_string()));
        }
        Err(_) => return Ok(None),
    };
    about_local_files(config, findings)?;
    let scripts = repository.scripts()?;
    let asking = scripts.iter().filter(|script| script.asks()).count();
    let wanted = HooksByEvent::of(&config.hooks);
    for script in &scripts {
        about_script(script, config, findings);
        let Some(bound) = wanted.bound(script.hook.event) else {
            continue;
        };
        if asking > 0 && !script.asks() {
            let what = if script.is_foreign() {
                "is not hookrun's"
            } else {
                "does not call hookrun"
            };
            let name = script.hook.name;
            let names = bound.names();
            let cause = format!("`{name}` {what}: {names} does not run");
            let cure = if script.is_foreign() && script.has_kept() {
                cure_of_both(script)
            } else {
                "`hookrun install git`".to_string()
            };
            findings.add(error(&script.file, cause, cure));
        }
    }
    let path = repository.hooks.as_path();
    if asking == 0 {
        if is_named && !findings.has_error() {
            let cause = "git does not call hookrun";
            findings.add(error(path, cause, "`hookrun install git`"));
        }
        return Ok(Some("git: does not call hookrun".to_string()));
    }
    findings.check(path);
    findings.add(seen.about_dialect(git::NAME, "git", None, path));
    let noun = if asking == 1 { "hook" } else { "hooks" };
    Ok(Some(format!(
        "git: installed in {asking} {noun} of this repository"
    )))
}

fn about_local_files(config: &Config, findings: &mut Findings) -> Result<()> {
    for layer in config
        .layers
        .iter()
        .filter(|layer| layer.is_own_of_project())
    {
        let file = layer.folder.join(LOCAL);
        let is_tracked = file.exists()
            && ask(&layer.folder, &["ls-files", "--error-unmatch", "--", LOCAL])?.is_some();
        if is_tracked {
            let cause = "git tracks it, so it would disable hooks for everyone";
            let cure = format!("`git rm --cached {LOCAL}`, and ignore it");
            findings.add(warning(&file, cause, cure));
        }
    }
    Ok(())
}

/// The fix if another hook has replaced the shim and a kept one exists too.
fn cure_of_both(script: &HookScript) -> String {
    format!(
        "move both into `{}` and remove `{}`, then `hookrun install git`",
        script.file.display(),
        script.kept.display()
    )
}

fn chmod(path: &Path) -> String {
    format!("`chmod +x {}`", path.display())
}

fn about_script(script: &HookScript, config: &Config, findings: &mut Findings) {
    let file = script.file.as_path();
    let name = script.hook.name;
    if script.has_kept() && !script.is_shim() {
        let cause = format!("`{name}` is no longer hookrun's, and this hook does not run");
        findings.add(warning(&script.kept, cause, cure_of_both(script)));
    } else if script.has_kept() && script.runs_kept() && !is_executable(&script.kept) {
        let cause = "it is not executable: neither git nor hookrun runs it";
        findings.add(warning(&script.kept, cause, chmod(&script.kept)));
    }
    if !script.is_shim() {
        return;
    }
    if script.is_asked_by_husky {
        let cause = format!("husky's own `{name}` runs hookrun too: every hook runs twice");
        findings.add(warning(file, cause, AGAIN));
    }
    if !is_executable(file) {
        let cause = "it is not executable: git skips it";
        findings.add(error(file, cause, chmod(file)));
    }
    let path = script.path().filter(|path| Path::new(path).exists());
    let launch = path.map_or(Launch::Search, Launch::Path);
    if let Err(why) = launch.version(config.nearest_folder()) {
        let cause = format!("git does not reach hookrun: {why}");
        findings.add(error(file, cause, AGAIN));
    }
}
