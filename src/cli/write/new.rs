//! `hookrun new`: a hook to begin with, and its first cases.

mod last;
pub(crate) mod templates;

use std::io::Write;
use std::path::PathBuf;

use crate::config::discover::is_passed_over;
use crate::config::{Config, ConfigScope, Environment, Problem, Severity, commands};
use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::engine::event::catalog::{command_event, command_name, is_command_name};
use crate::lab::report::{Paths, plain};

use super::files::{FileWrite, PROGRAM, WritePlan, choice, hooks_folder, hooks_option, tell_idle};
use crate::cli::args::NewArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::look::events::COMMON;
use crate::cli::streams;
use crate::decide::find_event;
use templates::{LANGUAGES, Language};

/// Writes the hook and its cases, or a case: 0 done, 2 could not.
pub(crate) fn new(args: &NewArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let choice = choice(args.hooks.as_ref(), env);
    let config = Config::load(&choice, env, ConfigScope::Event(""));
    let hooks = hooks_folder(args.hooks.as_ref(), &config, env)?;
    let paths = Paths::from(&env.cwd);
    let plan = match &args.event {
        Some(event) => hook_of(args, event, &config, hooks)?,
        None if args.from_last => case_of(args, env, hooks)?,
        None => return Err(no_event(&args.name)),
    };
    if args.hooks.is_none() {
        let config = Config::load(&choice, env, ConfigScope::All);
        let is_error = |one: &&Problem| one.severity == Severity::Error;
        streams::problems(config.problems.iter().filter(is_error), &paths);
    }
    if args.dry_run {
        plan.show(&paths, out)?;
        return Ok(ExitStatus::Yes);
    }
    plan.write(env, out)?;
    if args.hooks.is_none() {
        tell_idle(env, out)?;
    }
    Ok(ExitStatus::Yes)
}

fn no_event(name: &str) -> Complaint {
    let widest = COMMON
        .iter()
        .map(|(event, _)| event.len())
        .max()
        .unwrap_or(0);
    let line = |(event, about): &(&str, &str)| format!("\n{event:<widest$}  {about}");
    let common: String = COMMON.iter().map(line).collect();
    let help = format!(
        "`hookrun new {name} --event EVENT`; these are the usual ones, and `hookrun events` lists all:{common}"
    );
    Complaint::with_cure("no event is named that the hook is for", help)
}

fn hook_of(args: &NewArgs, event: &str, config: &Config, hooks: PathBuf) -> Result<WritePlan> {
    let spec = find_spec(config, event)?;
    let sort = match &args.template {
        None => templates::sort_of(&spec),
        Some(name) => {
            templates::chosen(name, &spec).map_err(|suiting| unsuited(name, &spec, &suiting))?
        }
    };
    let mut languages = templates::languages(sort);
    let language = match &args.lang {
        None => languages.next(),
        Some(name) => languages.find(|language| language.name == *name),
    };
    let language = language.ok_or_else(|| {
        let names = templates::languages(sort)
            .map(|language| language.name)
            .collect::<Vec<_>>()
            .join(", ");
        Complaint::with_cure(
            "this template is not written in that language",
            format!("`--lang` takes {names}"),
        )
    })?;
    let file = file_name(&args.name, language, &spec)?;
    let stem = file
        .strip_suffix(&format!(".{}", language.ending))
        .unwrap_or(&file);
    let folder = match command_name(&spec.name) {
        Some(_) => commands::FOLDER,
        None => spec.name.as_ref(),
    };
    let text = templates::hook(sort, &spec, language, &file);
    let hook = FileWrite::new(hooks.join(folder).join(&file), text, PROGRAM);
    let text = templates::cases(sort, &spec, language, &file);
    let cases = FileWrite::cases(&hooks, stem, &text);
    let named = hooks_option(args.hooks.as_ref());
    let hints = vec![
        format!(
            "`hookrun test {}{named} --hook {file}` shows what it says",
            spec.name
        ),
        format!("`hookrun test --suite{named}` plays its cases"),
    ];
    Ok(WritePlan {
        hooks,
        changes: vec![hook, cases],
        hints,
    })
}

fn unsuited(name: &str, spec: &EventSpec, suiting: &[&str]) -> Complaint {
    let help = match suiting {
        [] => "without `--template` it gets the hook that such events have".to_string(),
        names => format!("`--template` takes {} there", names.join(", ")),
    };
    Complaint::with_cure(
        format!("the template `{name}` does not suit `{}`", spec.name),
        help,
    )
}

/// A case that expects what was decided last.
fn case_of(args: &NewArgs, env: &Environment, hooks: PathBuf) -> Result<WritePlan> {
    let name = args.name.strip_suffix(".toml").unwrap_or(&args.name);
    if !is_name(name) || is_passed_over(name.as_ref()) {
        let cause = format!("`{}` cannot be the name of a file of cases", args.name);
        return Err(Complaint::with_cure(
            cause,
            "use letters, digits, `-`, `_` and `.`",
        ));
    }
    let line = last::newest(args.file.as_ref(), env)?;
    let last::CaseDraft {
        text,
        doubt,
        secret,
    } = last::case_of(&line, name)?;
    if let Some(place) = secret {
        let secret = format!("a secret was replaced in `{place}` when it was kept");
        if !args.dry_run {
            let cause = format!("no case can be made of the last event: {secret}");
            let help = "`--dry-run` prints it as it is: write a secret that is made up in its place, and save it";
            return Err(Complaint::with_cure(cause, help));
        }
        streams::remark(&format!("warning: {}\n", plain(&secret)));
    }
    let plays = format!(
        "`hookrun test --suite{}` plays it",
        hooks_option(args.hooks.as_ref())
    );
    let hints = doubt.into_iter().chain([plays]).collect();
    let changes = vec![FileWrite::cases(&hooks, name, &text)];
    Ok(WritePlan {
        hooks,
        changes,
        hints,
    })
}

/// The event; a command need not be there before its hook.
fn find_spec(config: &Config, event: &str) -> Result<EventSpec> {
    match command_name(event) {
        Some(name) if is_command_name(name) => Ok(command_event(name, None)),
        _ => Ok(find_event(config, event)?.as_ref().clone()),
    }
}

/// Whether a file can be called that: the name must be easy to type.
fn is_name(name: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_good)
}

fn file_name(name: &str, language: &Language, spec: &EventSpec) -> Result<String> {
    let ending = format!(".{}", language.ending);
    let stem = name.strip_suffix(&ending).unwrap_or(name);
    let file = format!("{stem}{ending}");
    let cannot = |cure: String| {
        Err(Complaint::with_cure(
            format!("`{name}` cannot be the name of a hook"),
            cure,
        ))
    };
    if !is_name(stem) {
        return cannot("use letters, digits, `-`, `_` and `.`: `10-guard`".to_string());
    }
    if let Some(other) = LANGUAGES.iter().find(|other| {
        other.ending != language.ending && stem.ends_with(&format!(".{}", other.ending))
    }) {
        return cannot(format!(
            "a hook in {} does not end in .{}",
            language.name, other.ending
        ));
    }
    if is_passed_over(stem.as_ref()) || is_passed_over(file.as_ref()) {
        return cannot("hooks.d skips files with such a name".to_string());
    }
    match command_name(&spec.name) {
        Some(command) if command != stem => cannot(format!(
            "the file of a command is called as it: `hookrun new {command} --event {}`",
            spec.name
        )),
        _ => Ok(file),
    }
}
