//! How hooks that may start warm have started, from the decision log.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::config::{Config, Environment};
use crate::engine::exec::{command, interpreter_words};
use crate::engine::hook::{Hook, Warm};
use crate::engine::run::{ColdReason, ProcessStart};
use crate::log::DecisionLog;
use crate::log::read::Backwards;
use crate::log::record::DecisionLine;

use crate::cli::decide::helper;
use crate::cli::errand::Errand;

/// How many of the last decisions are looked at.
const MOST: usize = 1_000;

/// How long an interpreter may take to start.
const LONGEST_START: Duration = Duration::from_secs(2);

/// How often its start is measured; the shortest counts.
const MEASURED: usize = 3;

/// How many hooks started how, of the last decisions.
#[derive(Debug, Default)]
pub(super) struct WarmStarts {
    /// By [`ProcessStart::name`].
    counts: BTreeMap<String, usize>,
}

impl WarmStarts {
    pub(super) fn of(env: &Environment) -> WarmStarts {
        let mut starts = WarmStarts::default();
        let Some(folder) = env.decision_log() else {
            return starts;
        };
        let mut seen = 0;
        for file in DecisionLog::in_folder(folder).files() {
            let Ok(mut lines) = Backwards::open(&file) else {
                continue;
            };
            while let Ok(Some((_, line))) = lines.line_before() {
                seen += 1;
                if seen > MOST {
                    return starts;
                }
                let Ok(run) = DecisionLine::parse(&line).and_then(|record| record.report()) else {
                    continue;
                };
                for start in run
                    .hooks
                    .iter()
                    .filter_map(|hook| hook.trace.as_ref()?.start.as_ref())
                {
                    *starts.counts.entry(start.to_string()).or_default() += 1;
                }
            }
        }
        starts
    }

    /// One line for everybody; nothing where no hook may start warm.
    pub(super) fn line(&self, config: &Config, env: &Environment) -> Option<String> {
        let is_warm = config
            .hooks
            .iter()
            .any(|hook| hook.warm.is_some_and(|warm| warm != Warm::Off));
        if !is_warm && self.counts.is_empty() {
            return None;
        }
        let helper = helper::address(env).is_some_and(|path| UnixStream::connect(path).is_ok());
        let helper = if helper {
            "the helper runs"
        } else {
            "no helper runs"
        };
        let warm = self
            .counts
            .get(ProcessStart::Warm.name())
            .copied()
            .unwrap_or(0);
        let all: usize = self.counts.values().sum();
        let told = match all {
            0 => "no such hook has started yet".to_string(),
            all => format!(
                "{warm} of the last {all} starts were warm; `hookrun doctor --warm` says why not all"
            ),
        };
        Some(format!("Warm hooks: {helper}; {told}"))
    }

    /// Why hooks started cold, and how often.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.counts.is_empty() {
            return writeln!(
                out,
                "no hook that may start warm is among the last {MOST} decisions"
            );
        }
        for (name, count) in &self.counts {
            let reason = ColdReason::NAMES.iter().find(|(_, known)| known == name);
            match reason {
                Some((reason, _)) => {
                    writeln!(out, "{count:>6}  cold ({name}): {}", reason.about())?
                }
                None => writeln!(out, "{count:>6}  {name}")?,
            }
        }
        Ok(())
    }
}

/// Hooks that could start warm and do not, and how long their interpreters take to start, measured
/// now. `None` if there are none.
pub(super) fn missed(config: &Config, env: &Environment) -> Option<String> {
    let search = env.search.as_deref();
    let mut starts: BTreeMap<Vec<OsString>, Vec<&str>> = BTreeMap::new();
    let is_cold = |hook: &&Hook| hook.may_run() && hook.warm.is_none();
    for hook in config.hooks.iter().filter(is_cold) {
        let Ok(program) = command::resolve(&hook.handler, search) else {
            continue;
        };
        let Ok(words) = interpreter_words(&program, search) else {
            continue;
        };
        starts.entry(words).or_default().push(&hook.name);
    }
    let told = starts.iter().filter_map(|(words, hooks)| {
        let shortest = (0..MEASURED).filter_map(|_| start_of(words)).min()?;
        Some(format!(
            "{} ({} ms)",
            hooks.join(", "),
            shortest.as_millis()
        ))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| {
        format!(
            "Hooks that could start warm, and what the start of their interpreter takes: {}; \
             `hookrun test --profile` measures what `warm = \"fork\"` saves",
            told.join("; ")
        )
    })
}

/// How long an interpreter takes to do nothing.
fn start_of(words: &[OsString]) -> Option<Duration> {
    let (program, options) = words.split_first()?;
    let nothing = [OsString::from("-c"), OsString::new()];
    let started = Instant::now();
    let errand = Errand::new(program, options.iter().chain(&nothing), LONGEST_START);
    let output = errand.output().ok()??;
    output.status.success().then(|| started.elapsed())
}
