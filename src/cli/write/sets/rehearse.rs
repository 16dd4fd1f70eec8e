//! What an update would change: recorded decisions, made again with the old sets and with the new.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use crate::config::{Choice, Config, Environment};
use crate::engine::complaint::Complaint;
use crate::lab::replay::{
    Decider, Hooks, Partition, RecordingInput, ReplayFinding, ReplayedLines, workers,
};
use crate::lab::report::plain;
use crate::lab::report::style::counted;
use crate::log::read::FileLines;
use crate::log::{DecisionLine, DecisionLog, Redactor};

use crate::cli::decide::startup::{runner, start_up};
use crate::cli::exit::{Result, failed};
use crate::cli::look::{decisions::project, filter::is_of_project};
use crate::cli::terminal::Terminal;
use crate::cli::trust;

/// How many changed decisions are shown; the others are counted.
const MOST_SHOWN: usize = 10;

/// Shows which recorded decisions of this project would change with these texts of lock files.
pub(super) fn compare(
    locks: Vec<(PathBuf, String)>,
    env: &Environment,
    out: &mut dyn Write,
) -> Result<()> {
    let recorded = recorded(env)?;
    if recorded.is_empty() {
        let what = "no decision of this project is in the decision log, so none is compared";
        writeln!(out, "{what}")?;
        return Ok(());
    }
    // The hooks of the project run for it: a person sees to that, or has trusted them.
    if !trust::is_trusted(env) && Terminal::open(env).is_none() {
        let what = "the hooks of this project are not trusted, so no decision is compared";
        writeln!(out, "{what}")?;
        return Ok(());
    }
    let (abort, grounds) = start_up()?;
    let state = tempfile::Builder::new()
        .prefix("hookrun-sets-")
        .tempdir_in(&env.temporary);
    let state = state.map_err(failed("cannot make a folder for the state of hooks"))?;
    let first = runner(Config::default(), env)
        .abort(abort.clone())
        .subreaper(grounds);
    let hooks = |locks, own: &str| {
        let env = Environment {
            state_home: Some(state.path().join(own)),
            ..env.clone()
        };
        let choice = Choice {
            locks,
            ..Choice::default()
        };
        Hooks::new(choice, env, first.clone())
    };
    let (old, new) = (hooks(Vec::new(), "old"), hooks(locks, "new"));
    let redact = match new.check() {
        Ok(redact) => redact,
        Err(error) => {
            writeln!(
                out,
                "warning: with the new sets {}",
                plain(&error.to_string())
            )?;
            return Ok(());
        }
    };
    // Without a usable old set, with what was recorded.
    let (hooks, against) = match old.check() {
        Ok(_) => (old, Some(new)),
        Err(_) => (new, None),
    };
    let decider = Decider {
        hooks,
        against,
        is_strict: false,
        partition: Partition::WHOLE,
        may_change: Vec::new(),
        redactor: Redactor::new(redact.iter().map(String::as_str)).map_err(Complaint::new)?,
        writes: false,
    };
    let input = RecordingInput::Stream("the decision log".into(), Box::new(Cursor::new(recorded)));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut shown = Vec::new();
    let mut each = |done: ReplayedLines| {
        let room = MOST_SHOWN - shown.len();
        shown.extend(done.findings.iter().filter_map(changed).take(room));
        Ok(())
    };
    let totals = workers::run(decider, vec![input], threads, abort, &mut each, &mut |_| {})?;
    let (changed, all) = (totals.changed, counted(totals.events, "recorded decision"));
    writeln!(out, "{changed} of {all} would change")?;
    for line in shown {
        writeln!(out, "  {line}")?;
    }
    if totals.undecided > 0 {
        writeln!(out, "  {} could not be made again", totals.undecided)?;
    }
    Ok(())
}

/// A changed decision on one line: what it was and is, the event and what it is about.
fn changed(finding: &ReplayFinding) -> Option<String> {
    let ReplayFinding::Changed(change) = finding else {
        return None;
    };
    let (was, is) = (&change.was.decision, &change.is.decision);
    let about = change.about.as_deref().unwrap_or_default();
    Some(plain(&format!("{was} → {is}  {}  {about}", change.event)))
}

/// The lines of the decision log that are about this project, the oldest first.
fn recorded(env: &Environment) -> Result<Vec<u8>> {
    let (mut all, mut line) = (Vec::new(), Vec::new());
    let Some(log) = env.decision_log() else {
        return Ok(all);
    };
    let project = project(env);
    for file in DecisionLog::in_folder(log).files().iter().rev() {
        let mut lines = FileLines::open(file).map_err(Complaint::of)?;
        // What cannot be read is no decision.
        while let Ok(Some(_)) = lines.next_line(&mut line) {
            if DecisionLine::parse(&line).is_ok_and(|record| is_of_project(&record, &project)) {
                all.extend_from_slice(&line);
                all.push(b'\n');
            }
        }
    }
    Ok(all)
}
