//! `hookrun install` and `hookrun uninstall`: write hookrun into a host's own file, and take it out
//! again.

pub(crate) mod document;
mod edit;
pub(crate) mod files;
pub(crate) mod found;
pub(crate) mod git;
pub(crate) mod host;
mod list;
pub(crate) mod program;
pub(crate) mod shim;
pub(crate) mod wanted;

use std::io::Write;
use std::path::PathBuf;

use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::hosts;
use crate::hosts::capability::ServedEvent;
use crate::hosts::install::HostForm;
use crate::hosts::{Host, find_installable};
use crate::lab::report::Paths;

use crate::cli::args::{InstallArgs, PlaceArgs, SettingsScope};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;
use crate::cli::trust::offer;
use document::{Document, EditError};
use files::{FileBackup, InstallRecord, Target, unified};
use host::NAME;
use program::is_own;
use wanted::{HooksByEvent, quoted};

struct Site<'a> {
    host: &'static Host,
    scope: SettingsScope,
    /// Where the project is, as far as hooks are concerned.
    folder: PathBuf,
    target: Target,
    record: InstallRecord,
    env: &'a Environment,
    paths: Paths,
}

/// Installs hookrun into a host, or lists those that are here: 0 done or nothing to do, 2 could not.
pub(crate) fn install(args: &InstallArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let named = args.place.host.as_deref();
    if named == Some(hosts::git::NAME) {
        let done = git::install(args, env, out)?;
        if !args.place.dry_run && args.place.scope().settings() == SettingsScope::Project {
            offer(env, out)?;
        }
        return Ok(done);
    }
    if args.git.are_given() {
        return Err(Complaint::new(
            "--hooks, --settings, --discover and --budget are only for git",
        ));
    }
    let done = match named.map(find_installable) {
        None => found::install(args, env, out)?,
        Some(Some(host)) => install_into(host, args, env, out)?,
        Some(None) => return Err(Complaint::new("no such host")),
    };
    let is_written = !args.place.dry_run && (named.is_some() || args.place.all);
    if is_written {
        offer(env, out)?;
    }
    Ok(done)
}

/// Installs hookrun into one host.
fn install_into(
    host: &'static Host,
    args: &InstallArgs,
    env: &Environment,
    out: &mut dyn Write,
) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::All);
    let site = Site::find(host, &args.place, &config, env)?;
    streams::problems(&config.problems, &site.paths);
    let wanted = HooksByEvent::of(&config.hooks);
    // Other projects of the user have other hooks.
    let is_for_all = args.all_events || site.scope == SettingsScope::User;
    let rows = wanted.rows(host, is_for_all);
    if rows.is_empty() {
        return Err(Complaint::with_cure(
            format!("no hook wants an event of {}", host.title),
            "`hookrun add no-force-push` writes a first one; --all-events installs without any",
        ));
    }
    let program = program::path(env)?;
    let mut texts = Vec::new();
    for (site, rows) in site.parts(&rows)? {
        let (text, doubts) = site.text_with(&rows, &program)?;
        texts.push((site, rows, text, doubts));
    }
    if args.place.dry_run {
        for (site, _, text, _) in &texts {
            site.diff(Some(text), out)?;
        }
        return Ok(ExitStatus::Yes);
    }
    let mut doubts = Vec::new();
    for (site, rows, text, of_site) in texts {
        site.write(&text, out)?;
        for row in rows {
            let hooks = wanted.bound(row.event).map(|bound| quoted(&bound.hooks));
            let hooks = hooks.unwrap_or_else(|| "no hook yet".to_string());
            writeln!(out, "  {:<22} {}: {hooks}", row.name, row.event)?;
        }
        doubts.extend(of_site);
    }
    let has_path = "it has the path of hookrun: all who use this file need hookrun there";
    let notes = wanted
        .lacks(host)
        .into_iter()
        .chain(doubts)
        .chain(host.limits());
    let of_project = (site.scope == SettingsScope::Project).then(|| has_path.to_string());
    for note in notes.chain(of_project) {
        writeln!(out, "  note: {note}")?;
    }
    for step in host.steps() {
        writeln!(out, "  to do: {step}")?;
    }
    Ok(ExitStatus::Yes)
}

/// Takes hookrun out of a host: 0 done or nothing to do, 2 could not.
pub(crate) fn uninstall(args: &PlaceArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let Some(named) = args.host.as_deref() else {
        return found::uninstall(args, env, out);
    };
    if named == hosts::git::NAME {
        return git::uninstall(args, env, out);
    }
    let host = find_installable(named).ok_or_else(|| Complaint::new("no such host"))?;
    uninstall_from(host, args, env, out)
}

/// Takes hookrun out of one host.
fn uninstall_from(
    host: &'static Host,
    args: &PlaceArgs,
    env: &Environment,
    out: &mut dyn Write,
) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::Events(&[]));
    let site = Site::find(host, args, &config, env)?;
    let parts = site.parts(&host.rows())?.into_iter().map(|(site, _)| site);
    let (there, gone): (Vec<Site<'_>>, Vec<Site<'_>>) =
        parts.partition(|site| site.target.text.is_some());
    let is_nowhere = there.is_empty();
    for site in there
        .iter()
        .rev()
        .chain(gone.iter().take(usize::from(is_nowhere)))
    {
        site.take_out(args, out)?;
    }
    Ok(ExitStatus::Yes)
}

impl Site<'_> {
    /// Takes hookrun out of one file.
    fn take_out(&self, args: &PlaceArgs, out: &mut dyn Write) -> Result<()> {
        let Some(current) = self.target.text.clone() else {
            self.record.forget();
            self.report("is not there; nothing was changed", out)?;
            return Ok(());
        };
        let kept = self.record.kept();
        let text = self.text_without(&current, kept.as_ref())?;
        if args.dry_run {
            self.diff(text.as_deref(), out)?;
            return Ok(());
        }
        if text.as_deref() == Some(current.as_str()) {
            self.report("has nothing of hookrun's; nothing was changed", out)?;
            self.tell_of_others(&current, out)?;
            return Ok(());
        }
        let is_known = kept.as_ref().is_some_and(|kept| kept.after == current);
        let folders = kept.map(|kept| kept.folders).unwrap_or_default();
        let copy = if is_known {
            None
        } else {
            Some(self.record.keep_copy(&current)?)
        };
        let done = match &text {
            Some(text) => {
                self.target.replace(text)?;
                if is_known {
                    "is as it was before"
                } else {
                    "has lost hookrun's hooks"
                }
            }
            None => {
                self.target.remove(&folders)?;
                "was removed"
            }
        };
        self.record.forget();
        self.report(done, out)?;
        if let Some(copy) = copy {
            writeln!(out, "  what was there: {}", self.paths.show(&copy))?;
        }
        self.tell_of_others(text.as_deref().unwrap_or_default(), out)?;
        Ok(())
    }
}

impl<'a> Site<'a> {
    fn find(
        host: &'static Host,
        args: &PlaceArgs,
        config: &Config,
        env: &'a Environment,
    ) -> Result<Site<'a>> {
        let scope = match args.scope {
            None if host.install.project.is_empty() => SettingsScope::User,
            _ => args.scope().of_host(host.title)?,
        };
        let path = host.path(scope, config.nearest_folder(), env);
        let path = path.ok_or_else(|| host.no_file(scope, env))?;
        let target = Target::read(&path)?;
        let record = InstallRecord::of(&target, env);
        let paths = Paths::from(&env.cwd);
        let folder = config.nearest_folder().to_path_buf();
        Ok(Site {
            host,
            scope,
            folder,
            target,
            record,
            env,
            paths,
        })
    }

    /// The files with these events: one, or one for each.
    fn parts(&self, rows: &[ServedEvent]) -> Result<Vec<(Site<'a>, Vec<ServedEvent>)>> {
        let part = |path: PathBuf, rows: &[ServedEvent]| {
            let target = Target::read(&path)?;
            let record = InstallRecord::of(&target, self.env);
            let (folder, paths) = (self.folder.clone(), self.paths.clone());
            Ok((
                Site {
                    target,
                    record,
                    folder,
                    paths,
                    ..*self
                },
                rows.to_vec(),
            ))
        };
        let own = &self.target.path;
        match self.host.install.form {
            HostForm::Scripts(_) => rows
                .iter()
                .map(|row| part(own.with_file_name(row.name), std::slice::from_ref(row)))
                .collect(),
            HostForm::Settings | HostForm::Plugin(_) | HostForm::Nothing => {
                Ok(vec![part(own.clone(), rows)?])
            }
        }
    }

    /// Writes the new text of one file, and says what became of it.
    fn write(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        let done = if self.target.text.as_deref() == Some(text) {
            "is up to date; nothing was changed".to_string()
        } else {
            match self.put(text)? {
                Some(file) => format!("what was there before: {}", self.paths.show(&file)),
                None => "the file is new".to_string(),
            }
        };
        self.report(&done, out)
    }

    /// The text with hookrun in it, and doubts about the one without it.
    fn text_with(&self, rows: &[ServedEvent], program: &str) -> Result<(String, Vec<String>)> {
        let Some(document) = self.document(self.target.text.as_deref().unwrap_or_default())? else {
            self.check_plugin()?;
            return Ok((shim::write(self.host, rows, program), Vec::new()));
        };
        if let Some(error) = document.dropped().first() {
            // The host reads nothing of the file, so hookrun in it would have no effect.
            let Complaint { cause, cure } = self.refusal(error);
            let cause = format!("{cause}: {} reads nothing of the file", self.host.title);
            return Err(Complaint { cause, cure });
        }
        let plain = document.doubt().map(|error| self.refusal(&error).cause);
        let doubts = plain.into_iter().chain(document.strays());
        let doubts = doubts.map(|it| format!("{it}; {} may not read it", self.host.title));
        let command = program::command_line(program, self.host);
        let text = document.with(rows, &command, &|text| self.is_own(text));
        Ok((text, doubts.collect()))
    }

    fn text_without(&self, current: &str, kept: Option<&FileBackup>) -> Result<Option<String>> {
        if let Some(kept) = kept.filter(|kept| kept.after == current) {
            return Ok(kept.before.clone());
        }
        let Some(document) = self.document(current)? else {
            self.check_plugin()?;
            return Ok(kept.and_then(|kept| kept.before.clone()));
        };
        let original = kept.and_then(|kept| kept.before.as_deref());
        let text = document.without(original, &|text| self.is_own(text));
        // A file that is named after hookrun is hookrun's, even where nothing is known about it.
        let was_made = match kept {
            Some(kept) => kept.before.is_none(),
            None => self
                .target
                .path
                .file_stem()
                .is_some_and(|stem| stem == NAME),
        };
        let is_bare = was_made
            && text != current
            && self
                .document(&text)?
                .is_some_and(|document| document.is_bare());
        Ok(if is_bare { None } else { Some(text) })
    }

    /// The settings in a text; `None` where the host has a plugin.
    fn document(&self, text: &str) -> Result<Option<Document>> {
        let read = |settings| Document::read(text, settings);
        self.host
            .settings_file()
            .map(read)
            .transpose()
            .map_err(|error| self.refusal(&error))
    }

    /// Writes the new text. Where the text before is kept, if there was a file.
    fn put(&self, text: &str) -> Result<Option<PathBuf>> {
        let kept = self.record.kept();
        let current = self.target.text.as_deref();
        let known = kept
            .as_ref()
            .filter(|kept| current == Some(kept.after.as_str()));
        let before = match (known, current) {
            (Some(kept), _) => kept.before.clone(),
            // It was changed since, or nothing is known: everything else in it was there before.
            (None, Some(current)) => self.text_without(current, kept.as_ref())?,
            (None, None) => None,
        };
        let backup = self.record.keep_before(before.as_deref())?;
        let made = self.target.replace(text)?;
        let folders = kept
            .map(|kept| kept.folders)
            .filter(|_| made.is_empty())
            .unwrap_or(made);
        self.record.keep_after(text, &folders)?;
        Ok(backup)
    }

    /// Whether a plugin file may be replaced or removed.
    fn check_plugin(&self) -> Result<()> {
        match &self.target.text {
            Some(text) if shim::read(text).is_none() => Err(Complaint::with_cure(
                format!("`{}` was not written by hookrun", self.shown()),
                "move it away; it was not touched",
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Names the commands that run hookrun and that `install` never wrote: they stay.
    fn tell_of_others(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        let document = self.document(text).ok().flatten();
        for hook in document.iter().flat_map(Document::hooks) {
            let command = hook.command.unwrap_or_default();
            if !self.is_own(&command) && program::runs_hookrun(&command, self.env) {
                let event = &hook.event;
                writeln!(
                    out,
                    "  note: `{command}` of {event} runs hookrun in its own way and stays"
                )?;
            }
        }
        Ok(())
    }

    fn is_own(&self, text: &str) -> bool {
        is_own(text, self.host, self.env)
    }

    fn refusal(&self, error: &EditError) -> Complaint {
        let at = error
            .at
            .map(|at| format!(":{}:{}", at.line, at.column))
            .unwrap_or_default();
        let cause = format!("{}{at}: {}", self.shown(), error.complaint.cause);
        Complaint {
            cause,
            cure: error.complaint.cure.clone(),
        }
    }

    fn shown(&self) -> String {
        self.paths.show(&self.target.path)
    }

    fn report(&self, done: &str, out: &mut dyn Write) -> Result<()> {
        let (title, scope) = (self.host.title, self.scope.name());
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
