//! `hookrun new`: writes a hook from a template, with test cases.

pub(crate) mod templates;

use std::io::Write;
use std::path::PathBuf;

use crate::config::discover::is_passed_over;
use crate::config::layer::COMMANDS;
use crate::config::{Config, ConfigScope, Environment, Severity};
use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::engine::event::catalog::{command_event, command_name, is_command_name};
use crate::hosts::git;
use crate::lab::report::Paths;

use super::files::{FileWrite, PROGRAM, WritePlan};
use crate::cli::args::NewArgs;
use crate::cli::events::COMMON;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;
use crate::decide::find_event;
use templates::Language;

pub(crate) fn new(args: &NewArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let choice = args.place.choice(env);
    let config = Config::load(&choice, env, ConfigScope::Event(""));
    let hooks = args.place.folder(&config, env)?;
    let Some(event) = &args.event else {
        return Err(no_event(&args.name));
    };
    let plan = hook_of(args, event, &config, hooks)?;
    if args.place.hooks.is_none() {
        let config = Config::load(&choice, env, ConfigScope::All);
        let errors = config
            .problems
            .iter()
            .filter(|one| one.severity == Severity::Error);
        streams::problems(errors, &Paths::from(&env.cwd));
    }
    args.place.carry_out(&plan, env, out)?;
    Ok(ExitStatus::Yes)
}

fn no_event(name: &str) -> Complaint {
    let widest = COMMON
        .iter()
        .map(|(event, _)| event.len())
        .max()
        .unwrap_or(0);
    let mut common = String::new();
    for (event, about) in COMMON {
        common.push_str(&format!("\n{event:<widest$}  {about}"));
    }
    let help = format!(
        "`hookrun new {name} --event EVENT`; these are the common ones, and `hookrun events` lists all:{common}"
    );
    Complaint::with_cure("no event given", help)
}

fn hook_of(args: &NewArgs, event: &str, config: &Config, hooks: PathBuf) -> Result<WritePlan> {
    let spec = find_spec(config, event)?;
    // git's own name for the event asks for git's own contract.
    let of_git = git::find(event).filter(|hook| hook.name == event && hook.name != spec.name);
    let sort = match of_git {
        Some(hook) => templates::sort_of_git(hook),
        None => templates::sort_of(&spec),
    };
    let languages: Vec<&Language> = templates::languages(sort).collect();
    let language = match &args.lang {
        Some(name) => languages.iter().find(|language| language.name == *name),
        None => languages
            .iter()
            .find(|language| args.name.ends_with(&format!(".{}", language.ending)))
            .or(languages.first()),
    };
    let Some(language) = language else {
        let names: Vec<&str> = languages.iter().map(|language| language.name).collect();
        return Err(Complaint::with_cure(
            "this template does not exist in that language",
            format!("`--lang` takes {}", names.join(", ")),
        ));
    };
    let ending = format!(".{}", language.ending);
    let stem = args.name.strip_suffix(&ending).unwrap_or(&args.name);
    let file = format!("{stem}{ending}");
    check_name(&args.name, stem, &file, &spec)?;
    let folder = match (command_name(&spec.name), of_git) {
        (Some(_), _) => COMMANDS,
        (None, Some(hook)) => hook.name,
        (None, None) => spec.name.as_ref(),
    };
    let text = templates::hook(sort, &spec, of_git.is_some(), language, &file);
    let hook = FileWrite::new(hooks.join(folder).join(&file), text, PROGRAM);
    let text = templates::cases(sort, &spec, language, &file);
    let cases = FileWrite::cases(&hooks, stem, &text);
    let named = args.place.option();
    let event = &spec.name;
    Ok(WritePlan {
        hooks,
        changes: vec![hook, cases],
        hints: vec![
            format!("`hookrun test {event}{named} --hook {file}` runs it"),
            format!("`hookrun test --suite{named}` runs the test cases"),
        ],
    })
}

/// The event; a command is created with its hook.
fn find_spec(config: &Config, event: &str) -> Result<EventSpec> {
    match command_name(event) {
        Some(name) if is_command_name(name) => Ok(command_event(name, None)),
        _ => Ok(find_event(config, event)?.as_ref().clone()),
    }
}

/// Checks that a hook of this name would run and is easy to type.
fn check_name(name: &str, stem: &str, file: &str, spec: &EventSpec) -> Result<()> {
    let is_plain = stem.starts_with(|c: char| c.is_ascii_alphanumeric())
        && stem
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let cure = match command_name(&spec.name) {
        _ if !is_plain => "use letters, digits, `-`, `_` and `.`: `10-guard`".to_string(),
        _ if is_passed_over(stem.as_ref()) || is_passed_over(file.as_ref()) => {
            "hookrun ignores files with such names in hooks.d".to_string()
        }
        Some(command) if command != stem => format!(
            "a command's file has the command's name: `hookrun new {command} --event {}`",
            spec.name
        ),
        _ => return Ok(()),
    };
    let cause = format!("`{name}` cannot be the name of a hook");
    Err(Complaint::with_cure(cause, cure))
}
