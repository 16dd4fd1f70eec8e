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
use command::{InstalledCommand, Launch, NAME, read_plugin, write_plugin};
use document::Document;
use files::{FileBackup, InstallRecord, Target, unified};
use installed::{HooksByEvent, HostSite, is_here};

/// Installs hookrun into a host, or lists the hosts here: 0 done or nothing to do, 2 error.
pub(crate) fn install(
    args: &InstallArgs,
    env: &Environment,
    verify: git::VerifySets,
    out: &mut dyn Write,
) -> Result {
    let named = args.place.host.as_deref();
    if named != Some(hosts::git::NAME) && args.budget.is_some() {
        return Err(Complaint::new("--budget is only for git"));
    }
    let done = match named {
        Some(hosts::git::NAME) => git::install(args, env, verify, out)?,
        Some(name) => install_into(host_of(name)?, args, env, out)?,
        None => {
            let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
            let here: Vec<&'static Host> = installable()
                .filter(|host| is_here(host, &config, env))
                .collect();
            if here.is_empty() {
                return Err(Complaint::with_cure(
                    "no agent was found here: none has a settings folder or a program in PATH",
                    "name one: `hookrun install HOST`, `hookrun install git`",
                ));
            }
            if !args.place.all {
                for host in here {
                    writeln!(out, "{}: `hookrun install {}`", host.title, host.name)?;
                }
                writeln!(out, "All of them: `hookrun install --all`")?;
                return Ok(ExitStatus::Yes);
            }
            each(&here, out, |host, out| install_into(host, args, env, out))?
        }
    };
    let is_git = named == Some(hosts::git::NAME);
    let is_trusted = args.place.dry_run || offer(env, out)?;
    if is_git && !is_trusted {
        return Ok(ExitStatus::No);
    }
    Ok(done)
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
            "`hookrun add no-force-push` writes one; --all-events installs without hooks",
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
        writeln!(out, "  note: {} does not find hookrun: {why}", host.title)?;
    }
    for step in host.steps() {
        writeln!(out, "  to do: {step}")?;
    }
    Ok(ExitStatus::Yes)
}

/// Removes hookrun from one host or all: 0 done or nothing to do, 2 error.
pub(crate) fn uninstall(args: &PlaceArgs, env: &Environment, out: &mut dyn Write) -> Result {
    match args.host.as_deref() {
        Some(hosts::git::NAME) => return git::uninstall(args, env, out),
        Some(name) => return uninstall_from(host_of(name)?, args, env, out),
        None => {}
    }
    if !args.all {
        return Err(Complaint::with_cure(
            "no host given",
            "name a host, or use --all",
        ));
    }
    let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
    let mut all = Vec::new();
    for host in installable() {
        let scope = args.scope.unwrap_or_else(|| host.usual_scope());
        let files = HostSite {
            host,
            config: &config,
            env,
        }
        .files();
        if files
            .iter()
            .any(|file| file.scope == scope && file.may_run_hookrun())
        {
            all.push(host);
        }
    }
    if all.is_empty() {
        writeln!(out, "hookrun is not installed here; nothing was changed")?;
    }
    each(&all, out, |host, out| uninstall_from(host, args, env, out))
}

fn each(
    hosts: &[&'static Host],
    out: &mut dyn Write,
    mut act: impl FnMut(&'static Host, &mut dyn Write) -> Result,
) -> Result {
    let mut done = ExitStatus::Yes;
    for host in hosts {
        let Err(Complaint { cause, cure }) = act(host, out) else {
            continue;
        };
        writeln!(out, "{}: not done: {cause}", host.title)?;
        if let Some(cure) = cure {
            writeln!(out, "  help: {cure}")?;
        }
        done = ExitStatus::CouldNot;
    }
    Ok(done)
}

fn uninstall_from(
    host: &'static Host,
    args: &PlaceArgs,
    env: &Environment,
    out: &mut dyn Write,
) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
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
    record: InstallRecord,
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
        if !matches!(host.install.form, HostForm::Scripts(_)) {
            return Ok(vec![(
                Site::at(&path, host, scope, root, env)?,
                rows.to_vec(),
            )]);
        }
        let mut sites = Vec::new();
        for row in rows {
            let site = Site::at(&path.with_file_name(row.name), host, scope, root, env)?;
            sites.push((site, vec![*row]));
        }
        Ok(sites)
    }

    fn at(
        path: &Path,
        host: &'static Host,
        scope: SettingsScope,
        root: &Path,
        env: &'a Environment,
    ) -> Result<Site<'a>> {
        let target = Target::read(path)?;
        let record = InstallRecord::of(&target, env);
        Ok(Site {
            host,
            scope,
            root: root.to_path_buf(),
            target,
            record,
            env,
        })
    }

    /// Writes the new text and reports the backup of the old one.
    fn write(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        if self.target.text.as_deref() == Some(text) {
            return self.report("is up to date; nothing was changed", out);
        }
        let backup = self.record.read();
        let before = match (self.target.text.as_deref(), &backup) {
            (Some(current), Some(backup)) if backup.after == current => backup.before.clone(),
            // Changed since, or without a record: everything except hookrun was there before.
            (Some(current), _) => self.text_without(current, backup.as_ref())?,
            (None, _) => None,
        };
        let copy = self.record.write(before.as_deref(), text)?;
        self.target.replace(text)?;
        match copy {
            Some(file) => {
                let shown = Paths::from(&self.env.cwd).show(&file);
                self.report(&format!("original: {shown}"), out)
            }
            None => self.report("new file", out),
        }
    }

    fn take_out(&self, args: &PlaceArgs, out: &mut dyn Write) -> Result<()> {
        let Some(current) = self.target.text.as_deref() else {
            self.record.forget();
            return self.report("does not exist; nothing was changed", out);
        };
        let backup = self.record.read();
        let text = self.text_without(current, backup.as_ref())?;
        if args.dry_run {
            return self.diff(text.as_deref(), out);
        }
        let is_unchanged = backup.is_some_and(|backup| backup.after == current);
        let done = match &text {
            Some(text) if text == current => "has no hookrun hooks; nothing was changed",
            Some(text) => {
                self.target.replace(text)?;
                if is_unchanged {
                    "is restored"
                } else {
                    "no longer has hookrun's hooks"
                }
            }
            None => {
                self.target.remove(&self.root)?;
                "was removed"
            }
        };
        self.record.forget();
        self.report(done, out)
    }

    fn text_with(&self, rows: &[&HostEvent], launch: &Launch) -> Result<String> {
        let Some(document) = self.document(self.target.text.as_deref().unwrap_or_default())? else {
            self.check_plugin()?;
            return Ok(write_plugin(self.host, rows, launch));
        };
        if let Some(mut problem) = document.dropped() {
            // hookrun in a file that the host ignores would have no effect.
            let what = format!(": {} ignores the whole file", self.host.title);
            problem.cause.push_str(&what);
            return Err(complaint_of(*problem));
        }
        Ok(document.with(rows, launch, &|text| self.is_own(text)))
    }

    /// The text without hookrun; `None` to remove the file.
    fn text_without(&self, current: &str, backup: Option<&FileBackup>) -> Result<Option<String>> {
        if let Some(backup) = backup
            && backup.after == current
        {
            return Ok(backup.before.clone());
        }
        let original = backup.and_then(|backup| backup.before.as_deref());
        let Some(document) = self.document(current)? else {
            self.check_plugin()?;
            return Ok(original.map(str::to_string));
        };
        let text = document.without(original, &|text| self.is_own(text));
        // A file named after hookrun is hookrun's even without a record.
        let was_made = match backup {
            Some(backup) => backup.before.is_none(),
            None => self.target.path.file_stem().is_some_and(|it| it == NAME),
        };
        if was_made && text != current && self.document(&text)?.is_some_and(|it| it.is_bare()) {
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
                format!("`{}` was not written by hookrun", self.shown()),
                "move it away; it was not changed",
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
        cure: problem.cure,
    }
}
