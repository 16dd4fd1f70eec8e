//! Whether git reaches hookrun: its folder of hooks, the shims in it, and what they call.

use std::path::Path;

use crate::config::{Config, Environment};
use crate::engine::exec::command;
use crate::engine::hook::{Handler, LayerKind};
use crate::hosts::git;

use super::evidence::Evidence;
use super::reach;
use crate::cli::exit::Result;
use crate::cli::host::install::git::look::{FoundHookFile, HookFolder, Standing};
use crate::cli::host::install::host::NAME;
use crate::cli::host::install::wanted::{HooksByEvent, quoted};
use crate::cli::look::validate::{Findings, error, warning};

const AGAIN: &str = "`hookrun install git` puts it right";

/// Looks at the repository around the working directory. One line about it; `None` outside of one.
pub(super) fn look(
    config: &Config,
    env: &Environment,
    is_named: bool,
    evidence: &Evidence,
    findings: &mut Findings,
) -> Result<Option<String>> {
    let Some(folder) = HookFolder::find(env)? else {
        if is_named {
            let cause = format!("`{}` is in no git repository", env.cwd.display());
            findings.add(error(&env.cwd, cause, "change into one"));
        }
        return Ok(is_named.then(|| "git: there is no repository here".to_string()));
    };
    let path = folder.repository.hooks.as_path();
    // The shims for all repositories run no hook that a repository brings.
    let runs = |layer: LayerKind| !folder.is_ours || layer != LayerKind::Project;
    let wanted = HooksByEvent::of(config.hooks.iter().filter(|hook| runs(hook.source.layer)));
    let shims: Vec<&Standing> = folder.hooks.iter().filter(|one| one.asks()).collect();
    for one in &folder.hooks {
        about(one, env, config, findings);
    }
    if folder.hides_shims()? {
        let cause = format!(
            "git passes over the hooks here: core.hooksPath is `{}` ({})",
            path.display(),
            folder.repository.set_in.as_deref().unwrap_or("set")
        );
        // If the other folder runs hookrun, this one is only left over.
        let finding = if shims.is_empty() { error } else { warning };
        let cure = if folder.repository.is_shared() {
            "`hookrun uninstall git` takes them out"
        } else {
            "`hookrun install git` moves them"
        };
        findings.add(finding(&folder.repository.usual, cause, cure));
    }
    let names_hooks = |one: &&Standing| {
        matches!(
            one.what,
            FoundHookFile::Shim {
                names_hooks: true,
                ..
            }
        )
    };
    // Where the shims name the hooks, those are not the ones that are found here.
    if !shims.is_empty() && !shims.iter().any(names_hooks) {
        about_missing(&folder, &wanted, findings);
    }
    if shims.is_empty() {
        if is_named && !findings.has_error() {
            findings.add(error(
                path,
                "git does not ask hookrun",
                "`hookrun install git`",
            ));
        }
        return Ok(Some("git: does not ask hookrun".to_string()));
    }
    findings.check(path);
    findings.add(evidence.about(Some(git::NAME), "git", None, path));
    let noun = if shims.len() == 1 { "hook" } else { "hooks" };
    let place = if folder.is_ours {
        "all repositories"
    } else {
        "this repository"
    };
    Ok(Some(format!(
        "git: installed in {} {noun} of {place}",
        shims.len()
    )))
}

impl Standing {
    /// Whether it runs hookrun: by a shim, by one that its manager runs, or by a line in a hook of
    /// husky.
    fn asks(&self) -> bool {
        let is_shim = matches!(
            self.what,
            FoundHookFile::Shim {
                program: Some(_),
                ..
            }
        );
        is_shim || self.is_run_by_manager() || self.asks_by_husky
    }

    /// What to do if another hook has replaced the shim, and a kept one is there too.
    fn cure_of_both(&self, kept: &Path) -> String {
        let file = self.file.display();
        let kept = kept.display();
        format!("put what both do into `{file}` and remove `{kept}`, then `hookrun install git`")
    }

    fn is_run_by_manager(&self) -> bool {
        self.what == FoundHookFile::Foreign && self.aside.iter().any(|(_, runs)| *runs)
    }
}

/// Shims that a manager of hooks has put aside.
fn about_aside(one: &Standing, findings: &mut Findings) {
    let name = one.hook.name;
    let is_shim = matches!(one.what, FoundHookFile::Shim { .. });
    for (file, runs) in &one.aside {
        let cause = match (runs, is_shim) {
            (true, true) => format!("`{name}` runs hookrun too: every hook runs twice"),
            (true, false) if one.what == FoundHookFile::Foreign => continue,
            (true | false, _) => "nothing runs this shim any more".to_string(),
        };
        findings.add(warning(file, cause, AGAIN));
    }
    if one.asks_by_husky && is_shim {
        let cause = format!("husky's own `{name}` runs hookrun too: every hook runs twice");
        findings.add(warning(&one.file, cause, AGAIN));
    }
}

/// One hook of git, and what was there before.
fn about(one: &Standing, env: &Environment, config: &Config, findings: &mut Findings) {
    let name = one.hook.name;
    about_aside(one, findings);
    if let Some((kept, would_run)) = &one.kept {
        if !matches!(one.what, FoundHookFile::Shim { .. }) {
            let cause = format!("`{name}` is not hookrun's any more, and this hook is not run");
            findings.add(warning(kept, cause, one.cure_of_both(kept)));
        } else if !would_run {
            let cause = "it may not be executed: neither git nor hookrun runs it";
            findings.add(warning(
                kept,
                cause,
                format!("`chmod +x {}`", kept.display()),
            ));
        }
    }
    let FoundHookFile::Shim {
        is_executable,
        program,
        ..
    } = &one.what
    else {
        return;
    };
    if !is_executable {
        let cure = format!("`chmod +x {}`", one.file.display());
        findings.add(error(
            &one.file,
            "it may not be executed: git passes over it",
            cure,
        ));
    }
    let Some(program) = program else { return };
    let called = Handler::Words {
        words: vec![program.to_string_lossy().into_owned()],
        base: config.project.clone(),
    };
    match command::resolve(&called, None) {
        Ok(found) => {
            let file = &one.file;
            let project = config.project.as_path();
            findings.extend(reach::about_called(found.path, AGAIN, file, project, env));
        }
        Err(wrong) => {
            let by_name = Handler::Words {
                words: vec![NAME.into()],
                base: config.project.clone(),
            };
            let why = wrong.problem;
            findings.add(match command::resolve(&by_name, env.search.as_deref()) {
                Ok(_) => warning(&one.file, format!("{why}; it calls the one in PATH"), AGAIN),
                Err(_) => error(
                    &one.file,
                    format!("git does not reach hookrun: {why}"),
                    AGAIN,
                ),
            });
        }
    }
}

fn about_missing(folder: &HookFolder, wanted: &HooksByEvent, findings: &mut Findings) {
    for one in folder.hooks.iter().filter(|one| !one.asks()) {
        let Some(bound) = wanted.bound(one.hook.event) else {
            continue;
        };
        let names = quoted(&bound.hooks);
        let what = match one.what {
            FoundHookFile::Foreign => "is not hookrun's",
            FoundHookFile::Nothing | FoundHookFile::Shim { .. } => "does not ask hookrun",
        };
        let cause = format!("`{}` {what}: {names} does not run", one.hook.name);
        let cure = match (&one.kept, &one.what) {
            (Some((kept, _)), FoundHookFile::Foreign) => one.cure_of_both(kept),
            (Some(_) | None, _) if folder.repository.is_shared() => {
                "`hookrun install git --scope global`".to_string()
            }
            (Some(_) | None, _) => "`hookrun install git`".to_string(),
        };
        findings.add(error(&one.file, cause, cure));
    }
}
