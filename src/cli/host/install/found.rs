//! `install` and `uninstall` without a host: those that are here, and what would become of each.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::cli::args::{InstallArgs, PlaceArgs, SettingsScope};
use crate::cli::exit::{ExitStatus, Result};
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::lab::report::Paths;

use super::document::Document;
use super::host::NAME;
use super::program::is_own;
use super::wanted::HooksByEvent;
use super::{install_into, shim, uninstall_from};
use crate::hosts::{HOSTS, Host, installable};

/// Installs hookrun into every host that is here, or lists what that would do.
pub(super) fn install(args: &InstallArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::All);
    let here: Vec<&'static Host> = installable()
        .filter(|host| is_here(host, &config, env))
        .collect();
    if here.is_empty() {
        let cause = "no host is found here: none has a folder of settings, or a program in PATH";
        return Err(Complaint::with_cure(
            cause,
            format!(
                "name one: `hookrun install {}`, `hookrun install git`",
                HOSTS[0].name
            ),
        ));
    }
    if args.place.all {
        return each(&here, out, |host, out| install_into(host, args, env, out));
    }
    let wanted = HooksByEvent::of(&config.hooks);
    for host in here {
        writeln!(
            out,
            "{}: {}",
            host.title,
            plan(host, args, &wanted, &config, env)?
        )?;
    }
    writeln!(
        out,
        "`hookrun install HOST` does one of these, `hookrun install --all` all of them"
    )?;
    Ok(ExitStatus::Yes)
}

/// Takes hookrun out of every host that has it.
pub(super) fn uninstall(args: &PlaceArgs, env: &Environment, out: &mut dyn Write) -> Result {
    if !args.all {
        let cause = "no host is named";
        return Err(Complaint::with_cure(
            cause,
            "name one, or take hookrun out of all: --all",
        ));
    }
    let config = Config::load(&Choice::default(), env, ConfigScope::Events(&[]));
    let has_it = |host: &&'static Host| {
        let scope = scope_of(host, args);
        let path = host.path(scope, config.nearest_folder(), env);
        path.is_some_and(|path| asks(host, scope, &path, env))
    };
    let all: Vec<&'static Host> = installable().filter(has_it).collect();
    if all.is_empty() {
        writeln!(out, "no host has hookrun here; nothing was changed")?;
    }
    each(&all, out, |host, out| uninstall_from(host, args, env, out))
}

/// Does it for every host, also after one for which it could not be done.
fn each(
    hosts: &[&'static Host],
    out: &mut dyn Write,
    mut act: impl FnMut(&'static Host, &mut dyn Write) -> Result,
) -> Result {
    let mut done = ExitStatus::Yes;
    for host in hosts {
        if let Err(Complaint { cause, cure }) = act(host, out) {
            let cure = cure
                .map(|cure| format!("\n  help: {cure}"))
                .unwrap_or_default();
            writeln!(out, "{}: not done: {cause}{cure}", host.title)?;
            done = ExitStatus::CouldNot;
        }
    }
    Ok(done)
}

fn scope_of(host: &Host, args: &PlaceArgs) -> SettingsScope {
    match args.scope {
        None if host.install.project.is_empty() => SettingsScope::User,
        _ => args.scope().settings(),
    }
}

/// Whether the user has the host, or the project has its file.
pub(crate) fn is_here(host: &Host, config: &Config, env: &Environment) -> bool {
    let path = host.path(SettingsScope::Project, config.nearest_folder(), env);
    host.is_installed(env) || path.is_some_and(|path| path.exists())
}

/// Whether a file of the host runs hookrun already. One that cannot be read does if it names it.
fn asks(host: &Host, scope: SettingsScope, path: &Path, env: &Environment) -> bool {
    // Reading a pipe would wait.
    let is_file = |path: &&Path| path.is_file();
    let bytes = |path: &Path| {
        Some(path)
            .filter(is_file)
            .and_then(|path| fs::read(path).ok())
            .unwrap_or_default()
    };
    let Some(shape) = host.settings_file() else {
        let is_ours = |path: &Path| shim::read(&String::from_utf8_lossy(&bytes(path))).is_some();
        return is_ours(path)
            || host
                .files_beside(scope, path)
                .iter()
                .any(|path| is_ours(path));
    };
    let bytes = bytes(path);
    let text = std::str::from_utf8(&bytes).ok();
    let Some(document) = text.and_then(|text| Document::read(text, shape).ok()) else {
        return String::from_utf8_lossy(&bytes).contains(NAME);
    };
    let hooks = document.hooks();
    let mut commands = hooks.iter().filter_map(|hook| hook.command.as_deref());
    commands.any(|command| is_own(command, host, env))
}

/// What `install` would do for a host, in words.
fn plan(
    host: &Host,
    args: &InstallArgs,
    wanted: &HooksByEvent,
    config: &Config,
    env: &Environment,
) -> Result<String> {
    let scope = scope_of(host, &args.place);
    let Some(path) = host.path(scope, config.nearest_folder(), env) else {
        return Ok(host.no_file(scope, env).cause);
    };
    let is_for_all = args.all_events || scope == SettingsScope::User;
    let rows = wanted.rows(host, is_for_all);
    let shown = Paths::from(&env.cwd).show(&path);
    let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    Ok(match (asks(host, scope, &path, env), names.as_slice()) {
        (_, []) => {
            "no hook here wants an event of it; `hookrun add no-force-push` writes a first one"
                .to_string()
        }
        (true, names) => {
            format!(
                "has hookrun in `{shown}`; would bring it up to date: {}",
                names.join(", ")
            )
        }
        (false, names) => format!("would write `{shown}`: {}", names.join(", ")),
    })
}
