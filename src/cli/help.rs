//! The help: commands by what a person wants to do, and examples at the end; and suggestions for a
//! word that the command line does not know. One that looks only a little like it would mislead.

use std::ffi::OsString;
use std::fmt::Write;

use crate::engine::event::catalog;
use crate::engine::spelling;
use crate::hosts::git;
use clap::builder::{PossibleValuesParser, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use crate::cli::args::Cli;
use crate::cli::write::import;
use crate::cli::write::new::templates;
use crate::hosts::installable;

/// What a person wants to do, and the commands for it. All others are in the last group.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Begin",
        &[
            "init",
            "new",
            "add",
            "import",
            "trust",
            "install",
            "uninstall",
            "doctor",
        ],
    ),
    ("Try hooks", &["test", "replay"]),
    (
        "See what there is",
        &["list", "explain", "validate", "events", "schema"],
    ),
    ("Share hooks", &["sets"]),
    ("See what was decided", &["why", "report"]),
    ("Decide, as hosts, git and CI jobs ask", &["run", "serve"]),
    ("Inside a hook", &["field", "ui", "send", "state"]),
    ("More", &[]),
];

/// Lines to copy: the command that they are for, the line, and what it does.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("hookrun", "hookrun init", "guard the agents here"),
    (
        "hookrun",
        "hookrun new guard --event tool.pre",
        "write a first hook, with its cases",
    ),
    (
        "hookrun",
        "hookrun test tool.pre",
        "decide a sample event, and show everything",
    ),
    ("hookrun", "hookrun test", "play the project's suite"),
    (
        "hookrun",
        "hookrun install claude",
        "make Claude Code ask hookrun",
    ),
    ("hookrun", "hookrun why", "explain the last decision here"),
    (
        "run",
        "hookrun run tool.pre < event.json",
        "decide an event",
    ),
    (
        "run",
        "hookrun run --host claude",
        "decide in the words of a host",
    ),
    (
        "run",
        "hookrun run plan.pre --hooks gates --format github < plan.json",
        "gate a CI job",
    ),
    (
        "serve",
        "hookrun serve --stdio",
        "answer the program that started it",
    ),
    (
        "serve",
        "hookrun serve --mcp --host claude",
        "be an MCP server for Claude Code's hooks",
    ),
    ("test", "hookrun test", "play the project's suite"),
    (
        "test",
        "hookrun test tool.pre < event.json",
        "decide an event, and show everything",
    ),
    (
        "test",
        "hookrun test --coverage",
        "see what the suite does not show",
    ),
    (
        "test",
        "hookrun test --watch",
        "play it again at every change",
    ),
    ("why", "hookrun why", "explain the last decision here"),
    (
        "why",
        "hookrun why --decision block -n 5",
        "explain the last five blocks",
    ),
    (
        "why",
        "hookrun why --all --brief --since 2h",
        "list them, a line each",
    ),
    (
        "why",
        "hookrun why --stats --everywhere",
        "count those of all projects",
    ),
    (
        "why",
        "hookrun why --follow --everywhere --decision block",
        "watch blocks of all projects",
    ),
    (
        "report",
        "hookrun report >report.html",
        "see what was decided here, in a browser",
    ),
    (
        "report",
        "hookrun report --since 7d --everywhere >week.html",
        "the same of a week and all projects",
    ),
    (
        "report",
        "hookrun report --format jsonl | duckdb -c \"FROM '/dev/stdin'\"",
        "ask a database",
    ),
    (
        "explain",
        "hookrun explain 'cd x && sudo rm -rf \"$y\"'",
        "see what it runs, and which hooks run",
    ),
    (
        "explain",
        "hookrun explain < deploy.sh",
        "the same of a script",
    ),
    (
        "schema",
        "hookrun schema tool.pre",
        "see what hooks of an event get, and may answer",
    ),
    (
        "schema",
        "hookrun schema hookrun.toml >hookrun.schema.json",
        "let an editor complete and check",
    ),
    (
        "replay",
        "hookrun replay events.jsonl",
        "see what today's hooks decide otherwise",
    ),
    (
        "sets",
        "hookrun sets add baseline --git https://git.example/acme/hooks --rev v1.4.0",
        "use the hooks of a repository",
    ),
    (
        "sets",
        "hookrun sets verify",
        "fetch what is locked, in a new clone or a CI job",
    ),
    (
        "sets",
        "hookrun sets update baseline",
        "take what is declared now",
    ),
    (
        "init",
        "hookrun init",
        "see what it would write, and say yes or no",
    ),
    (
        "init",
        "hookrun init --user --host claude --yes",
        "guard Claude Code in all projects",
    ),
    (
        "init",
        "hookrun init --guard no-sudo --guard no-force-push",
        "begin with other guards",
    ),
    (
        "new",
        "hookrun new guard --event tool.pre",
        "guard commands and files",
    ),
    (
        "new",
        "hookrun new sudo --event tool.pre --template ask",
        "ask a person about commands",
    ),
    (
        "new",
        "hookrun new wip --event commit.msg --lang python",
        "check messages of commits",
    ),
    (
        "import",
        "hookrun import pre-commit --dry-run",
        "see what would be carried over, and what not",
    ),
    (
        "import",
        "hookrun import claude ~/.claude/settings.json --hooks ~/.config/hookrun",
        "for all projects",
    ),
    ("add", "hookrun add --list", "see what there is"),
    (
        "add",
        "hookrun add guard-destructive no-sudo",
        "guard commands that destroy, and sudo",
    ),
    (
        "add",
        "hookrun add terraform-plan --hooks gates",
        "gate the plans of a CI job",
    ),
    (
        "add",
        "hookrun add --update",
        "see what a new version would change",
    ),
    (
        "trust",
        "hookrun trust",
        "see the hooks of this project, and let them run",
    ),
    (
        "trust",
        "hookrun trust --follow origin/main",
        "run the hooks that were merged there",
    ),
    (
        "trust",
        "hookrun trust --show",
        "see what has changed, and the digest for `hookrun run --trust DIGEST` in CI",
    ),
    (
        "completions",
        "source <(hookrun completions bash)",
        "in ~/.bashrc",
    ),
    (
        "completions",
        "source <(hookrun completions zsh)",
        "in ~/.zshrc, below compinit",
    ),
    (
        "completions",
        "hookrun completions fish | source",
        "in ~/.config/fish/config.fish",
    ),
    (
        "completions",
        "eval (hookrun completions elvish | slurp)",
        "in ~/.config/elvish/rc.elv",
    ),
    (
        "completions",
        "hookrun completions powershell | Out-String | iex",
        "in $PROFILE",
    ),
    (
        "install",
        "hookrun install claude",
        "make Claude Code ask hookrun",
    ),
    ("install", "hookrun install git", "guard commits and pushes"),
    (
        "install",
        "hookrun install codex --dry-run",
        "see what would be written",
    ),
];

/// An argument whose values are the names in a table that the arguments must not know.
struct NamedValues {
    command: &'static str,
    argument: &'static str,
    names: fn() -> Vec<&'static str>,
}

#[rustfmt::skip]
const VALUES: &[NamedValues] = &[
    NamedValues { command: "init", argument: "host", names: agents },
    NamedValues { command: "import", argument: "tool", names: tools },
    NamedValues { command: "install", argument: "host", names: hosts },
    NamedValues { command: "uninstall", argument: "host", names: hosts },
    NamedValues { command: "doctor", argument: "host", names: hosts },
    NamedValues { command: "new", argument: "template", names: templates::names },
    NamedValues { command: "new", argument: "lang", names: languages },
];

fn languages() -> Vec<&'static str> {
    templates::LANGUAGES
        .iter()
        .map(|language| language.name)
        .collect()
}

fn tools() -> Vec<&'static str> {
    import::tools().map(|tool| tool.name).collect()
}

fn agents() -> Vec<&'static str> {
    installable().map(|host| host.name).collect()
}

fn hosts() -> Vec<&'static str> {
    agents().into_iter().chain([git::NAME]).collect()
}

pub(crate) fn command_line() -> Command {
    Cli::command().mut_subcommands(|command| {
        let name = command.get_name().to_string();
        command.mut_args(|arg| {
            let is_it = |row: &&NamedValues| row.command == name && arg.get_id() == row.argument;
            match VALUES.iter().find(is_it) {
                Some(row) => arg.value_parser(PossibleValuesParser::new((row.names)())),
                None => arg,
            }
        })
    })
}

/// The command line with groups and examples in its help.
pub(crate) fn command() -> Command {
    let mut root = command_line();
    for examples in EXAMPLES.chunk_by(|one, next| one.0 == next.0) {
        let name = examples[0].0;
        let lines: String = examples
            .iter()
            .map(|(_, line, about)| format!("\n  {line}\n      {about}"))
            .collect();
        let add = |command: Command| {
            let before = command.get_after_help().map(|text| format!("{text}\n\n"));
            command.after_help(format!(
                "{}{}{lines}",
                before.unwrap_or_default(),
                heading("Examples")
            ))
        };
        root = if name == "hookrun" {
            add(root)
        } else {
            root.mut_subcommand(name, add)
        };
    }
    let groups = groups(&root);
    root.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{}\n{{options}}{{after-help}}",
        heading("Options")
    ))
}

/// The examples of a command: a line, and what it does.
pub(crate) fn examples_of(name: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_command = EXAMPLES
        .iter()
        .filter(move |(command, ..)| *command == name);
    of_command.map(|(_, line, about)| (*line, *about))
}

fn groups(root: &Command) -> String {
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{}", heading(title));
        let all = root
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let others = all.filter(|command| names.is_empty() && !is_grouped(command.get_name()));
        let named = names.iter().filter_map(|name| root.find_subcommand(name));
        for command in named.chain(others) {
            let about = command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            let _ = writeln!(
                text,
                "  \u{1b}[1m{:<12}\u{1b}[0m {about}",
                command.get_name()
            );
        }
        text.push('\n');
    }
    text
}

fn heading(text: &str) -> String {
    format!("\u{1b}[1m\u{1b}[4m{text}:\u{1b}[0m")
}

/// Words that people try first, and the command for it. Words that mean the same are aliases.
const WORDS: &[(&str, &str)] = &[
    (
        "create",
        "`hookrun new NAME --event EVENT` writes a hook, and its cases",
    ),
    (
        "history",
        "`hookrun why --all --brief` lists what was decided",
    ),
    ("stats", "`hookrun why --stats` counts what was decided"),
    (
        "status",
        "`hookrun doctor` says what is wrong, `hookrun list` which hooks there are",
    ),
    (
        "record",
        "`hookrun run --record FILE` records events, and `hookrun replay` decides them again",
    ),
    (
        "exec",
        "`hookrun run EVENT` decides an event, `hookrun test EVENT` shows how",
    ),
    (
        "watch",
        "`hookrun test --watch` plays the suite again at every change",
    ),
    (
        "coverage",
        "`hookrun test --coverage` shows what no case has tested",
    ),
    ("setup", "`hookrun init` guards the agents here"),
    (
        "remove",
        "`hookrun uninstall HOST`; a hook is removed with its file",
    ),
];

/// The pairs of what was typed and what clap suggests for it.
const PAIRS: &[(ContextKind, ContextKind)] = &[
    (
        ContextKind::InvalidSubcommand,
        ContextKind::SuggestedSubcommand,
    ),
    (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    (ContextKind::InvalidValue, ContextKind::SuggestedValue),
];

/// What to do about an argument too many of a command: a command line without quotes around it, or
/// as an argument where an event is sent.
fn too_many(arguments: &[OsString]) -> Option<String> {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let (name, words) = words.split_first()?;
    let is_word = |word: &&str| !word.starts_with('-');
    let first = words.first().filter(|word| is_word(word))?;
    match *name {
        "explain" if !first.contains(char::is_whitespace) => {
            let quoted = shell_words::quote(&shell_words::join(words)).into_owned();
            Some(format!("quote the command: `hookrun explain {quoted}`"))
        }
        "test" => {
            let rest = words.get(1..).filter(|rest| rest.iter().all(is_word))?;
            if first.ends_with(".toml") {
                let files = shell_words::join(words);
                return Some(format!(
                    "play files of cases: `hookrun test --suite {files}`"
                ));
            }
            let rest = shell_words::quote(&shell_words::join(rest)).into_owned();
            let json = format!("pipe the event as JSON: `hookrun test {first} < event.json`");
            let is_tool = catalog::find(first).is_some_and(|spec| spec.carries("toolInput"));
            let command =
                is_tool.then(|| format!("; for a command line: `hookrun explain {rest}`"));
            Some(json + &command.unwrap_or_default())
        }
        _ => None,
    }
}

/// Keeps suggestions that correct a slip, and translates words of other tools.
pub(crate) fn mend(error: &mut clap::Error, arguments: &[OsString]) {
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    if let Some(tip) = too_many(arguments).filter(|_| is_unknown) {
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, tip);
        return;
    }
    for (typed, suggested) in PAIRS {
        let Some(ContextValue::String(word)) = error.get(*typed).cloned() else {
            continue;
        };
        let known = match error.get(*suggested) {
            Some(ContextValue::String(known)) => vec![known.clone()],
            Some(ContextValue::Strings(known)) => known.clone(),
            Some(_) | None => continue,
        };
        let nearest = spelling::nearest(&word, known.iter().map(String::as_str));
        match nearest.map(str::to_string) {
            Some(nearest) => error.insert(*suggested, ContextValue::String(nearest)),
            None => error.remove(*suggested),
        };
    }
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    if let Some((_, help)) = WORDS.iter().find(|(known, _)| known == word) {
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(*help)]);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, tip);
    }
}
