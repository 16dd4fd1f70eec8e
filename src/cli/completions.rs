//! `hookrun completions SHELL`, and the words that its script wants at each TAB: no hook is run,
//! stderr stays empty, and mistakes in the configuration only leave words out.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;

use crate::config::env::{COMPLETE, completing};
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::event::EventSpec;
use crate::engine::hook::Hook;
use crate::hosts::{dialects, git};
use clap::{Arg, Command as CommandLine, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{Bash, EnvCompleter, Shells};

use crate::cli::exit::{ExitStatus, Result};
use crate::cli::help;
use crate::cli::look::events::COMMON;
use crate::cli::look::schema::NAMED;
use crate::cli::streams;
use crate::cli::write::add::shipped;

type CandidateWords = fn() -> Vec<CompletionCandidate>;

/// The words for a value, by its name in the help.
#[rustfmt::skip]
const WORDS: &[(&str, CandidateWords)] = &[
    ("EVENT", events), ("HOOK", hooks), ("HOST", hosts), ("NAMES", shipped),
    ("SCHEMA", schemas), ("SET", sets),
];

pub(crate) fn completions(shell: Shell, out: &mut dyn Write) -> Result {
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(&shell.to_string()) {
        shell.write_registration(COMPLETE, "hookrun", "hookrun", "hookrun", &mut script)?;
    }
    let script = String::from_utf8_lossy(&script);
    // Names of files are left to bash, which quotes them.
    out.write_all(
        script
            .replace("-o bashdefault", "-o bashdefault -o default")
            .as_bytes(),
    )?;
    Ok(ExitStatus::Yes)
}

/// Prints the words that may come next, if a completion script runs `hookrun -- hookrun WORD…`.
pub(crate) fn complete(arguments: &[OsString]) -> Option<ExitStatus> {
    let (_, words) = arguments
        .split_first()
        .filter(|(first, _)| *first == "--")?;
    let name = completing()?;
    let shells = Shells::builtins();
    let shell = shells.completer(&name).filter(|_| !words.is_empty())?;
    let env = Environment::capture();
    let mut text = Vec::new();
    // An error means that no word can come next.
    let _ = shell.write_complete(&mut line(shell), words.to_vec(), Some(&env.cwd), &mut text);
    let _ = streams::data().write_all(&text);
    Some(ExitStatus::Yes)
}

fn line(shell: &dyn EnvCompleter) -> CommandLine {
    let all = help::command_line();
    let is_bash = shell.name() == Bash.name();
    // Hidden commands would be completed as well.
    let commands = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .cloned();
    let commands = commands.map(|command| completed(command, is_bash));
    CommandLine::new("hookrun")
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments())
        .subcommands(commands.collect::<Vec<_>>())
}

fn completed(command: CommandLine, is_bash: bool) -> CommandLine {
    let command = command.mut_args(|arg| with_words(arg, is_bash));
    command.mut_subcommands(|below| completed(below, is_bash))
}

fn with_words(arg: Arg, is_bash: bool) -> Arg {
    let name = match arg.get_value_names() {
        Some([name]) => name.to_string(),
        Some(_) | None => arg.get_id().as_str().to_uppercase(),
    };
    if let Some((_, words)) = WORDS.iter().find(|(known, _)| *known == name) {
        return arg.add(ArgValueCandidates::new(*words));
    }
    let is_left_to_bash = is_bash && arg.get_value_hint() == ValueHint::AnyPath;
    if is_left_to_bash {
        arg.value_hint(ValueHint::Other)
    } else {
        arg
    }
}

/// The common events first, then the others and those of the project. Names of hosts are hidden:
/// they appear if nothing else fits.
fn events() -> Vec<CompletionCandidate> {
    let config = config(ConfigScope::Event(""));
    let specs: Vec<&EventSpec> = config.catalog.iter().collect();
    let common = COMMON
        .iter()
        .filter_map(|(name, _)| specs.iter().find(|spec| spec.name == *name));
    let is_common = |spec: &&&EventSpec| COMMON.iter().any(|(name, _)| spec.name == *name);
    let all = common.chain(specs.iter().filter(|spec| !is_common(spec)));
    let names = all.filter(|spec| is_a_word(&spec.name));
    let names = names.map(|spec| word(&spec.name, Some(&spec.summary)));
    let aliases = specs.iter().flat_map(|spec| spec.aliases);
    names
        .chain(aliases.map(|name| word(name, None).hide(true)))
        .collect()
}

fn schemas() -> Vec<CompletionCandidate> {
    let named = NAMED
        .iter()
        .map(|named| word(named.name, Some(named.about)));
    events().into_iter().chain(named).collect()
}

fn hooks() -> Vec<CompletionCandidate> {
    let config = config(ConfigScope::All);
    let mut seen = HashSet::new();
    let is_new = |hook: &&Hook| is_a_word(&hook.name) && seen.insert(hook.name.clone());
    config
        .hooks
        .iter()
        .filter(is_new)
        .map(|hook| word(&hook.name, Some(&hook.event)))
        .collect()
}

fn hosts() -> Vec<CompletionCandidate> {
    let dialects = dialects().map(|dialect| dialect.name);
    ["native", git::NAME]
        .into_iter()
        .chain(dialects)
        .map(|name| word(name, None))
        .collect()
}

fn shipped() -> Vec<CompletionCandidate> {
    shipped::all()
        .iter()
        .map(|one| word(&one.name, Some(&one.about)))
        .collect()
}

/// Whether they can be used or not: `sets update` mends them.
fn sets() -> Vec<CompletionCandidate> {
    let sets = config(ConfigScope::Event("")).sets;
    sets.iter()
        .map(|set| word(&set.declared.name, Some(&set.declared.git)))
        .collect()
}

fn config(scope: ConfigScope<'_>) -> Config {
    Config::load(&Choice::default(), &Environment::capture(), scope)
}

fn word(text: &str, about: Option<&str>) -> CompletionCandidate {
    CompletionCandidate::new(text).help(about.map(|about| about.to_string().into()))
}

/// Whether a shell reads it as one word and nothing else. Names of hooks come with the project, and
/// bash inserts them as they are.
fn is_a_word(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@' | '+');
    !name.starts_with('-') && name.chars().all(is_plain)
}
