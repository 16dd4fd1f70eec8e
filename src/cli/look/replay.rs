//! `hookrun replay FILE…`: recorded events decided again, and what has changed.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::config::{Config, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::runner::Runner;
use crate::lab::replay::{
    BrokenHooks, Decider, Hooks, LinePlace, ReplayEnd, ReplayFinding, ReplayOutcome, Totals,
    Unreadable, report,
};
use crate::log::Redactor;
use crate::log::read::{FileLines, ReadError};
use tempfile::TempDir;

use crate::cli::args::{ReplayArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::run::start_up;
use crate::cli::streams;

const STDIN: &str = "-";

/// How often a replay that waits for its input looks for a signal, and for a reader of its output.
const TICK: Duration = Duration::from_millis(100);

/// How many lines are read ahead.
const MOST_WAITING: usize = 16;

/// A line of a recording.
struct RecordedLine {
    place: LinePlace,
    line: std::result::Result<Vec<u8>, String>,
}

/// Decides recorded events again: 0 as recorded, 1 changed, 2 could not, or the reader has left.
pub(crate) fn replay(args: &ReplayArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let (abort, grounds) = start_up()?;
    let state = state_folder(env)?;
    let first = Runner::one_shot_of(Config::default(), env)
        .abort(abort.clone())
        .subreaper(grounds);
    let mut decider = decider(args, env, first, state.path())?;
    let lines = lines_of(&args.files, env)?;
    let names: Vec<String> = args.files.iter().map(|file| name_of(file)).collect();
    let names = names.join(", ");
    let mut totals = Totals::default();
    let mut unused = args.allow_change.clone();
    loop {
        let next = lines.recv_timeout(TICK);
        if let Some(signal) = abort.signal() {
            streams::remark(&format!("interrupted: not all of {names} is decided\n"));
            return Ok(ExitStatus::Signal(signal));
        }
        if streams::has_reader_left() {
            return Ok(ExitStatus::CouldNot);
        }
        let recorded = match next {
            Ok(recorded) => recorded,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let replayed = match recorded.line {
            Ok(line) => decider.line(&line, recorded.place)?,
            Err(problem) => ReplayOutcome::Finding(ReplayFinding::Unreadable(Unreadable {
                place: recorded.place,
                problem,
            })),
        };
        if abort.times_raised() > 0 {
            // The answers of hooks that are being ended do not count.
            continue;
        }
        totals.count(&replayed);
        let ReplayOutcome::Finding(finding) = &replayed else {
            continue;
        };
        if let ReplayFinding::Changed(change) = finding {
            unused.retain(|hook| change.hook() != Some(hook));
        }
        match args.format {
            TextFormat::Human => report::human_finding(finding, out)?,
            TextFormat::Json => report::json_finding(finding, out)?,
        }
        out.flush()?;
    }
    for hook in unused {
        streams::remark(&format!(
            "--allow-change: nothing that `{hook}` decides has changed\n"
        ));
    }
    let end = totals.end(args.allow_undecided);
    match args.format {
        TextFormat::Human => report::human_end(&totals, end, out)?,
        TextFormat::Json => report::json_end(&totals, end, out)?,
    }
    if totals.events == 0 && totals.unreadable == 0 {
        return Err(Complaint::with_cure(
            format!("there is no event in {names}"),
            "`hookrun run --record FILE` records them",
        ));
    }
    Ok(match end {
        ReplayEnd::Same => ExitStatus::Yes,
        ReplayEnd::Changed => ExitStatus::No,
        ReplayEnd::Incomplete => ExitStatus::CouldNot,
    })
}

fn name_of(file: &Path) -> String {
    if file.as_os_str() == STDIN {
        "stdin".to_string()
    } else {
        file.display().to_string()
    }
}

/// The lines of all files, read by a thread: a read of stdin cannot be interrupted.
fn lines_of(files: &[PathBuf], env: &Environment) -> Result<Receiver<RecordedLine>> {
    let stdins = files.iter().filter(|file| file.as_os_str() == STDIN);
    if stdins.count() > 1 {
        return Err(Complaint::with_cure(
            "`-` appears twice",
            "stdin can be read once",
        ));
    }
    let (sender, lines) = sync_channel(MOST_WAITING);
    let files = files.to_vec();
    let folder = env.cwd.clone();
    thread::spawn(move || {
        for file in files {
            if read(&file, &folder, &sender).is_none() {
                return;
            }
        }
    });
    Ok(lines)
}

/// Sends the lines of a file. `None` when they are no longer received.
fn read(file: &Path, folder: &Path, sender: &SyncSender<RecordedLine>) -> Option<()> {
    let name = name_of(file);
    let send = |number: Option<u64>, line| {
        let file = name.clone();
        let place = LinePlace { file, line: number };
        sender.send(RecordedLine { place, line }).ok()
    };
    let mut lines = match open(file, folder, &name) {
        Ok(lines) => lines,
        Err(error) => return send(None, Err(error.problem)),
    };
    let mut line = Vec::new();
    loop {
        match lines.next_line(&mut line) {
            Ok(Some(number)) => send(Some(number), Ok(line.clone()))?,
            Ok(None) => return Some(()),
            Err(error) => {
                send(error.line, Err(error.problem))?;
                // The lines after one that is too long can be read.
                if error.line.is_none() {
                    return Some(());
                }
            }
        }
    }
}

/// Opens a file. It is read as far as it is written now: a hook may append to it.
fn open(file: &Path, folder: &Path, name: &str) -> std::result::Result<FileLines, ReadError> {
    let name = Path::new(name);
    if file.as_os_str() == STDIN {
        return Ok(FileLines::of(name, BufReader::new(io::stdin())));
    }
    let opened = File::open(folder.join(file)).map_err(ReadError::of_file(name))?;
    let meta = opened.metadata().map_err(ReadError::of_file(name))?;
    let length = if meta.is_file() { meta.len() } else { u64::MAX };
    Ok(FileLines::of(name, BufReader::new(opened.take(length))))
}

/// Where hooks keep state during a replay; the user's own state is not touched.
fn state_folder(env: &Environment) -> Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("hookrun-replay")
        .tempdir_in(&env.temporary);
    folder.map_err(|error| {
        let place = env.temporary.display();
        Complaint::with_cure(
            format!("cannot make a folder in `{place}`: {error}"),
            "hooks keep state there; set TMPDIR to a folder that can be written",
        )
    })
}

/// The engine of `first` runs all hooks; they keep state below `state`.
fn decider(args: &ReplayArgs, env: &Environment, first: Runner, state: &Path) -> Result<Decider> {
    let own_env = Environment {
        state_home: Some(state.to_path_buf()),
        ..env.clone()
    };
    let hooks = Hooks::new(args.source.choice(env, ""), own_env, first);
    let redact = hooks.check()?;
    let redactor = Redactor::new(redact.iter().map(String::as_str)).map_err(Complaint::new)?;
    Ok(Decider {
        hooks,
        is_strict: args.strict,
        may_change: args.allow_change.clone(),
        redactor,
    })
}

impl From<BrokenHooks> for Complaint {
    fn from(error: BrokenHooks) -> Complaint {
        Complaint::new(error.to_string())
    }
}
