//! `hookrun install` and `hookrun uninstall`: edit a host's settings file.

pub(crate) mod command;
pub(crate) mod document;
mod edit;
pub(crate) mod files;
pub(crate) mod git;
pub(crate) mod installed;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::{Choice, Config, ConfigScope, Environment, Problem};
use crate::engine::complaint::Complaint;
use crate::hosts::settings::HostForm;
use crate::hosts::{self, Host, HostEvent, find_installable, installable};
use crate::lab::report::Paths;

use crate::cli::args::{InstallArgs, PlaceArgs, SettingsScope};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;
use crate::cli::trust::offer;
use command::{InstalledCommand, Launch, read_plugin, write_plugin};
use document::Document;
use files::{Target, unified};
use installed::{HookFile, HooksByEvent, HostSite, is_here};

/// Installs hookrun into a host, or lists the hosts here: 0 done or nothing to do, 2 error.
pub(crate) fn install(
    args: &InstallArgs,
    env: &Environment,
    verify: git::VerifySets,
    out: &mut dyn Write,
) -> Result {
    let Some(name) = args.place.host.as_deref() else {
        let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
        let hosts = installable().filter(|host| is_here(host, &config, env));
        return list(hosts.collect(), "install", out);
    };
    let is_git = name == hosts::git::NAME;
    if !is_git && args.budget.is_some() {
        return Err(Complaint::with_cure("--budget is only for git", "omit it"));
    }
    let done = if is_git {
        git::install(args, env, verify, out)?
    } else {
        install_into(host_of(name)?, args, env, out)?
    };
    let is_trusted = args.place.dry_run || offer(env, out)?;
    if is_git && !is_trusted {
        return Ok(ExitStatus::No);
    }
    Ok(done)
}

/// Lists hosts with the command for each.
fn list(hosts: Vec<&Host>, command: &str, out: &mut dyn Write) -> Result {
    if hosts.is_empty() {
        let cause = if command == "install" {
            "no agent was found here"
        } else {
            "hookrun is not installed in any agent here"
        };
        return Err(Complaint::with_cure(
            cause,
            format!("name a host: `hookrun {command} HOST` or `hookrun {command} git`"),
        ));
    }
    for host in hosts {
        writeln!(out, "{}: `hookrun {command} {}`", host.title, host.name)?;
    }
    Ok(ExitStatus::Yes)
}

fn host_of(name: &str) -> Result<&'static Host> {
    find_installable(name).ok_or_else(|| Complaint::new("no such host"))
}

fn install_into(
    host: &'static Host,
    args: &InstallArgs,
    env: &Environment,
    out: &mut dyn Write,
) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::All);
    let scope = args.place.scope.unwrap_or_else(|| host.usual_scope());
    streams::problems(&config.problems, &Paths::from(&env.cwd));
    let wanted = HooksByEvent::of(&config.hooks);
    // Other projects of the user have other hooks.
    let rows = if args.all_events || scope == SettingsScope::User {
        host.rows()
    } else {
        wanted.rows(host)
    };
    if rows.is_empty() {
        return Err(Complaint::with_cure(
            format!("no hook uses an event of {}", host.title),
            format!(
                "`hookrun add no-force-push` adds one; `hookrun install {} --all-events` installs \
                 hookrun without hooks",
                host.name
            ),
        ));
    }
    let launch = Launch::of(scope, env)?;
    let mut texts = Vec::new();
    for (site, rows) in Site::find(host, scope, &rows, &config, env)? {
        let text = site.text_with(&rows, &launch)?;
        texts.push((site, rows, text));
    }
    if args.place.dry_run {
        for (site, _, text) in &texts {
            site.diff(Some(text), out)?;
        }
        return Ok(ExitStatus::Yes);
    }
    for (site, rows, text) in texts {
        site.write(&text, out)?;
        for row in rows {
            let hooks = wanted.bound(row.event);
            let hooks = hooks.map_or("no hook yet".to_string(), |bound| bound.names());
            writeln!(out, "  {:<22} {}: {hooks}", row.name, row.event)?;
        }
    }
    for note in wanted.lacks(host).into_iter().chain(host.limits()) {
        writeln!(out, "  note: {note}")?;
    }
    if let Err(why) = launch.version(config.nearest_folder()) {
        writeln!(out, "  note: {} cannot start hookrun: {why}", host.title)?;
    }
    let site = HostSite {
        host,
        config: &config,
        env,
    };
    for (file, switch) in site.switches_off() {
        let file = Paths::from(&env.cwd).show(&file);
        writeln!(out, "  to do: {file}: {switch}")?;
    }
    for step in host.trust.iter().chain(host.install.must) {
        writeln!(out, "  to do: {step}")?;
    }
    Ok(ExitStatus::Yes)
}

/// Removes hookrun from a host, or lists the hosts that run it: 0 done or nothing to do, 2 error.
pub(crate) fn uninstall(args: &PlaceArgs, env: &Environment, out: &mut dyn Write) -> Result {
    if args.host.as_deref() == Some(hosts::git::NAME) {
        return git::uninstall(args, env, out);
    }
    let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
    let Some(name) = &args.host else {
        let mut hosts: Vec<&'static Host> = installable().collect();
        hosts.retain(|host| {
            let config = &config;
            let files = HostSite { host, config, env }.files();
            files.iter().any(HookFile::may_run_hookrun)
        });
        return list(hosts, "uninstall", out);
    };
    let host = host_of(name)?;
    let scope = args.scope.unwrap_or_else(|| host.usual_scope());
    let sites = Site::find(host, scope, &host.rows(), &config, env)?;
    let is_nowhere = sites.iter().all(|(site, _)| site.target.text.is_none());
    for (at, (site, _)) in sites.iter().enumerate() {
        if site.target.text.is_some() || (is_nowhere && at == 0) {
            site.take_out(args, out)?;
        }
    }
    Ok(ExitStatus::Yes)
}

struct Site<'a> {
    host: &'static Host,
    scope: SettingsScope,
    /// The folder that stays if the file is removed.
    root: PathBuf,
    target: Target,
    env: &'a Environment,
}

impl<'a> Site<'a> {
    /// The file for these events, or one for each.
    fn find(
        host: &'static Host,
        scope: SettingsScope,
        rows: &[&'static HostEvent],
        config: &Config,
        env: &'a Environment,
    ) -> Result<Vec<(Site<'a>, Vec<&'static HostEvent>)>> {
        let project = config.nearest_folder();
        let path = host.path(scope, project, env);
        let path = path.ok_or_else(|| host.no_file(scope, env))?;
        let root = match (&env.home, scope) {
            (Some(home), SettingsScope::User) => home.as_path(),
            _ => project,
        };
        let site = |path: &Path| -> Result<Site<'a>> {
            Ok(Site {
                host,
                scope,
                root: root.to_path_buf(),
                target: Target::read(path)?,
                env,
            })
        };
        if !matches!(host.install.form, HostForm::Scripts(_)) {
            return Ok(vec![(site(&path)?, rows.to_vec())]);
        }
        let of_row = |row: &&'static HostEvent| {
            let site = site(&path.with_file_name(row.name))?;
            Ok((site, vec![*row]))
        };
        rows.iter().map(of_row).collect()
    }

    fn write(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        if self.target.text.as_deref() == Some(text) {
            return self.report("is up to date; nothing was changed", out);
        }
        self.target.replace(text)?;
        let is_new = self.target.text.is_none();
        self.report(if is_new { "new file" } else { "changed" }, out)
    }

    fn take_out(&self, args: &PlaceArgs, out: &mut dyn Write) -> Result<()> {
        let Some(current) = self.target.text.as_deref() else {
            return self.report("does not exist; nothing was changed", out);
        };
        let text = self.text_without(current)?;
        if args.dry_run {
            return self.diff(text.as_deref(), out);
        }
        match &text {
            Some(text) if text == current => {
                self.report("has no hookrun hooks; nothing was changed", out)
            }
            Some(text) => {
                self.target.replace(text)?;
                self.report("no longer has hookrun's hooks", out)
            }
            None => {
                self.target.remove(&self.root)?;
                self.report("was removed", out)
            }
        }
    }

    fn text_with(&self, rows: &[&HostEvent], launch: &Launch) -> Result<String> {
        let Some(document) = self.document(self.target.text.as_deref().unwrap_or_default())? else {
            self.check_plugin()?;
            return Ok(write_plugin(self.host, rows, launch));
        };
        if let Some(mut problem) = document.dropped() {
            // hookrun in a file that the host ignores would have no effect.
            let what = format!(", so {} ignores the whole file", self.host.title);
            problem.cause.push_str(&what);
            return Err(complaint_of(*problem));
        }
        Ok(document.with(rows, launch, &|text| self.is_own(text)))
    }

    /// The text without hookrun; `None` to remove the file, because nothing else is in it.
    fn text_without(&self, current: &str) -> Result<Option<String>> {
        let Some(document) = self.document(current)? else {
            self.check_plugin()?;
            return Ok(None);
        };
        let text = document.without(&|text| self.is_own(text));
        let is_removable = text != current && !self.target.path.is_symlink();
        if is_removable && self.document(&text)?.is_some_and(|it| it.is_bare()) {
            return Ok(None);
        }
        Ok(Some(text))
    }

    /// Parses the settings; `None` for a host with a plugin.
    fn document(&self, text: &str) -> Result<Option<Document>> {
        let Some(shape) = self.host.settings_file() else {
            return Ok(None);
        };
        let document = Document::read(text, shape, Path::new(&self.shown()));
        document.map(Some).map_err(|problem| complaint_of(*problem))
    }

    /// Checks that a plugin file may be replaced or removed.
    fn check_plugin(&self) -> Result<()> {
        match &self.target.text {
            Some(text) if read_plugin(text).is_none() => Err(Complaint::with_cure(
                format!(
                    "`{}` was not written by hookrun, so it was not changed",
                    self.shown()
                ),
                "to install hookrun there, move the file away first",
            )),
            Some(_) | None => Ok(()),
        }
    }

    fn is_own(&self, text: &str) -> bool {
        InstalledCommand::read(text, self.host, self.env).is_some()
    }

    fn shown(&self) -> String {
        Paths::from(&self.env.cwd).show(&self.target.path)
    }

    fn report(&self, done: &str, out: &mut dyn Write) -> Result<()> {
        let title = self.host.title;
        let scope = self.scope.name();
        Ok(writeln!(
            out,
            "{title}, {scope} scope: {}\n  {done}",
            self.shown()
        )?)
    }

    fn diff(&self, new: Option<&str>, out: &mut dyn Write) -> Result<()> {
        let old = self.target.text.as_deref();
        Ok(write!(out, "{}", unified(&self.shown(), old, new))?)
    }
}

fn complaint_of(problem: Problem) -> Complaint {
    Complaint {
        cause: format!("{}: {}", problem.place(), problem.cause),
        cure: problem
            .cure
            .map(|cure| format!("{cure}; the file was not changed")),
    }
}
