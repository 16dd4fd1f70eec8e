//! The hot form, `hookrun run …`, without building the whole command line parser.
//!
//! A host pays for hookrun's start at every tool call, and the parser is the largest part of
//! it. What is not understood here, mistakes included, is left to clap; what is understood means
//! the same, which a test holds.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::dialects::DIALECTS;
use clap::ValueEnum;

use crate::cli::args::{RunArgs, RunFormat, SourceArgs, duration, jobs};

/// The arguments of `run`, if the command line is of that form and has no mistakes.
pub(crate) fn parse(arguments: &[OsString]) -> Option<RunArgs> {
    let (command, rest) = arguments.split_first()?;
    if command != "run" {
        return None;
    }
    let mut event: Option<String> = None;
    let mut source = SourceArgs { hooks: Vec::new(), settings: Vec::new(), discover: false };
    let mut require = Vec::new();
    let mut once = SingleOptions::default();
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_str()?;
        let (name, inline) = match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (text, None),
        };
        if name == "--discover" && inline.is_none() && !source.discover {
            source.discover = true;
            continue;
        }
        if !name.starts_with('-') {
            // A second word is a mistake, and an empty one looks like one.
            if event.replace(text.to_string()).is_some() || text.is_empty() {
                return None;
            }
            continue;
        }
        let value = match inline {
            Some(value) => value,
            None => rest.next()?.to_str().filter(|value| !value.starts_with('-'))?,
        };
        match name {
            "--hooks" if !value.is_empty() => source.hooks.push(PathBuf::from(value)),
            "--settings" if !value.is_empty() => source.settings.push(PathBuf::from(value)),
            "--require" if !value.is_empty() => require.push(value.to_string()),
            _ => once.take(name, value)?,
        }
    }
    if source.discover && source.hooks.is_empty() && source.settings.is_empty() {
        return None;
    }
    Some(RunArgs {
        event,
        arguments: Vec::new(),
        dialect: once.dialect,
        source,
        require,
        budget: once.budget,
        stdin_timeout: once.stdin_timeout.unwrap_or(Duration::from_secs(5)),
        jobs: once.jobs,
        record: once.record,
        format: once.format.unwrap_or(RunFormat::Reply),
    })
}

/// Options that may stand once.
#[derive(Default)]
struct SingleOptions {
    budget: Option<Duration>,
    stdin_timeout: Option<Duration>,
    jobs: Option<usize>,
    record: Option<PathBuf>,
    format: Option<RunFormat>,
    dialect: Option<String>,
}

impl SingleOptions {
    /// Takes an option; `None` for what is unknown, wrong, or there for the second time.
    fn take(&mut self, name: &str, value: &str) -> Option<()> {
        let is_new = match name {
            "--budget" => self.budget.replace(duration(value).ok()?).is_none(),
            "--stdin-timeout" => self.stdin_timeout.replace(duration(value).ok()?).is_none(),
            "--jobs" => self.jobs.replace(jobs(value).ok()?).is_none(),
            "--record" if !value.is_empty() => self.record.replace(PathBuf::from(value)).is_none(),
            "--format" => self.format.replace(RunFormat::from_str(value, false).ok()?).is_none(),
            // Another name for one is left to clap, which knows it too.
            "--dialect" | "--host" if names().any(|known| known == value) => {
                self.dialect.replace(value.to_string()).is_none()
            }
            _ => false,
        };
        is_new.then_some(())
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once("native").chain(DIALECTS.iter().map(|dialect| dialect.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;

    fn quick(line: &str) -> Option<RunArgs> {
        let words: Vec<OsString> =
            shell_words::split(line).unwrap().iter().map(Into::into).collect();
        parse(&words)
    }

    fn full(line: &str) -> Option<RunArgs> {
        told(std::iter::once("hookrun".to_string()).chain(shell_words::split(line).unwrap()))
    }

    /// What clap makes of a whole command line.
    fn told<W: Into<OsString> + Clone>(words: impl IntoIterator<Item = W>) -> Option<RunArgs> {
        let command = Cli::try_parse_from(words).ok()?.command;
        if let Command::Run(args) = command { Some(args) } else { None }
    }

    #[test]
    fn what_is_understood_means_what_clap_says() {
        for line in [
            "run tool.pre",
            "run PreToolUse --hooks hooks.d",
            "run --hooks=a --hooks 'b c' tool.pre --discover",
            "run tool.pre --budget 10s --stdin-timeout=300ms --jobs 4 --format json",
            "run tool.pre --format=reply",
            "run tool.pre --hooks a=b",
            "run tool.pre --settings agent.json --settings=b --hooks c",
            "run tool.pre --settings agent.json --discover",
            "run a=b",
            "run tool.pre --record events.jsonl",
            "run tool_call --dialect wolli",
            "run tool.pre --dialect=native",
            "run --host claude",
            "run --host=codex --hooks hooks.d --budget 20s",
            "run PreToolUse --host claude",
            "run",
            "run --hooks a",
        ] {
            assert!(quick(line).is_some(), "{line}");
            assert_eq!(quick(line), full(line), "{line}");
        }
    }

    #[test]
    fn mistakes_and_all_else_are_left_to_clap() {
        for line in [
            "",
            "test tool.pre",
            "run --host claude --dialect claude",
            "run --host git pre-commit",
            "run a b",
            "run --help",
            "run tool.pre --dialect nobody",
            "run --host nobody",
            "run --host git pre-commit",
            "run --host claude --dialect codex",
            "run tool.pre --jobs 0",
            "run tool.pre --jobs 2 --jobs 3",
            "run tool.pre --budget 10",
            "run tool.pre --discover",
            "run tool.pre --hooks",
            "run tool.pre --hooks --discover",
            "run -- tool.pre",
            "run tool.pre --color never",
            "run tool.pre --format xml",
            "run tool.pre --record=",
            "run tool.pre --record a --record b",
            "run tool.pre --discover=x --hooks a",
            "run tool.pre --hooks=",
            "run tool.pre --settings",
            "run tool.pre --settings=",
            "run ''",
            "--color never run tool.pre",
            "run tool.pre --log debug",
        ] {
            assert_eq!(quick(line), None, "{line}");
        }
    }

    /// Pieces of command lines: each option with good, bad and missing values, in both forms.
    const WORDS: &str = "tool.pre PreToolUse a=b '' - -- --discover --discover=x --hooks --hooks=a \
        --hooks= hooks.d --settings --settings=claude:f --settings= --require --require=any \
        --require= --budget --budget=2s --budget=2 10s --stdin-timeout --stdin-timeout=300ms \
        --jobs --jobs=4 --jobs=0 3 --record --record=f --record= --format --format=json \
        --format=xml github --dialect --dialect=pi --dialect=nobody --host --host=claude \
        --host=git codex --color --color=never --log -h --help -x --h --discove \u{e9}";

    fn words() -> Vec<String> {
        shell_words::split(WORDS).unwrap()
    }

    proptest::proptest! {
        #[test]
        fn no_command_line_is_read_in_two_ways(
            words in proptest::collection::vec(proptest::sample::select(words()), 0..7)
        ) {
            let line = std::iter::once("run".to_string()).chain(words);
            let words: Vec<OsString> = line.map(OsString::from).collect();
            if let Some(args) = parse(&words) {
                let all = std::iter::once(OsString::from("hookrun")).chain(words.iter().cloned());
                proptest::prop_assert_eq!(Some(args), told(all), "{:?}", words);
            }
        }
    }
}
