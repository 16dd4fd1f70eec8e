//! Parses `hookrun run …` without clap, because hosts run it for every tool call.
//!
//! clap for `run` alone costs 60 to 100 µs of a fresh process (3 to 5 % of an `sh` hook), this
//! parser nothing measurable. It leaves everything else, including mistakes, to clap; a test checks
//! that both agree.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::hosts::{dialects, native};
use clap::ValueEnum;

use crate::cli::args::{RunArgs, digest, duration, jobs};
use crate::lab::report::CheckFormat;

/// Parses the arguments of `run`; `None` leaves them to clap.
pub(crate) fn parse(arguments: &[OsString]) -> Option<RunArgs> {
    let (command, rest) = arguments.split_first()?;
    if command != "run" {
        return None;
    }
    let mut args = RunArgs {
        stdin_timeout: Duration::from_secs(5),
        ..RunArgs::default()
    };
    let mut stdin_timeout = None;
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_str()?;
        let (name, inline) = match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (text, None),
        };
        if text == "--discover" && !args.source.discover {
            args.source.discover = true;
            continue;
        }
        if !name.starts_with('-') {
            once(&mut args.event, text.to_string()).filter(|()| !text.is_empty())?;
            continue;
        }
        let value = match inline {
            Some(value) => value,
            None => rest
                .next()?
                .to_str()
                .filter(|value| !value.starts_with('-'))?,
        };
        match name {
            _ if value.is_empty() => return None,
            "--hooks" => args.source.hooks.push(PathBuf::from(value)),
            "--settings" => args.source.settings.push(PathBuf::from(value)),
            "--require" => args.require.push(value.to_string()),
            "--trust" => args.deciding.trust.push(digest(value).ok()?),
            "--budget" => once(&mut args.budget, duration(value).ok()?)?,
            "--stdin-timeout" => once(&mut stdin_timeout, duration(value).ok()?)?,
            "--jobs" => once(&mut args.deciding.jobs, jobs(value).ok()?)?,
            "--record" => once(&mut args.deciding.record, PathBuf::from(value))?,
            "--format" => {
                let format = CheckFormat::from_str(value, false).ok()?;
                once(&mut args.format, format).filter(|()| format != CheckFormat::Human)?;
            }
            "--host" if is_name(value) => once(&mut args.dialect, value.into())?,
            _ => return None,
        }
    }
    args.stdin_timeout = stdin_timeout.unwrap_or(args.stdin_timeout);
    let is_named = !args.source.hooks.is_empty() || !args.source.settings.is_empty();
    (is_named || !args.source.discover).then_some(args)
}

/// Sets an option that may occur once.
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

/// Whether clap accepts this host, except git.
fn is_name(name: &str) -> bool {
    name == native::NAME || dialects().any(|host| host.name == name || host.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;

    /// clap's result for the same words.
    fn full(words: &[OsString]) -> Option<RunArgs> {
        let words = std::iter::once(OsString::from("hookrun")).chain(words.iter().cloned());
        let command = Cli::try_parse_from(words).ok()?.command;
        if let Command::Run(args) = command {
            Some(args)
        } else {
            None
        }
    }

    fn words(line: &str) -> Vec<OsString> {
        shell_words::split(line)
            .unwrap()
            .iter()
            .map(Into::into)
            .collect()
    }

    #[test]
    fn what_hosts_write_is_read_here() {
        for line in [
            "run",
            "run tool.pre",
            "run PreToolUse --host claude --hooks=a --hooks 'b c' --discover",
            "run tool.pre --budget 10s --stdin-timeout=300ms --jobs 4 --format json",
            "run tool.pre --settings agent.json --settings=b --record events.jsonl --require any",
            "run a=b --host=native",
            "run a --host claude-code",
            "run a --trust sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        ] {
            let words = words(line);
            assert!(parse(&words).is_some(), "{line}");
            assert_eq!(parse(&words), full(&words), "{line}");
        }
        assert_eq!(parse(&words("test tool.pre")), None);
    }

    /// Fragments of command lines: each option with good, bad and missing values, in both forms.
    const WORDS: &str = "tool.pre PreToolUse a=b '' - -- --discover --discover=x --hooks --hooks=a \
        --hooks= hooks.d --settings --settings=claude:f --settings= --require --require=any \
        --require= --budget --budget=2s --budget=2 10s --stdin-timeout --stdin-timeout=300ms \
        --trust --trust=sha256:0 --jobs --jobs=4 --jobs=0 3 --record --record=f --record= --format --format=json \
        --format=xml --format=human github --host=pi --host=nobody --host --host=claude \
        --host=claude-code --host=git codex --color --color=never --log -h --help -x --h --discove \u{e9}";

    proptest::proptest! {
        #[test]
        fn no_command_line_is_read_in_two_ways(
            line in proptest::collection::vec(proptest::sample::select(words(WORDS)), 0..7)
        ) {
            let line: Vec<OsString> = std::iter::once("run".into()).chain(line).collect();
            if let Some(args) = parse(&line) {
                proptest::prop_assert_eq!(Some(args), full(&line), "{:?}", line);
            }
        }
    }
}
