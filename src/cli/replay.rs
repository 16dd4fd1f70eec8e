//! `hookrun replay FILE…`: decides recorded events again and prints changes.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::config::{Config, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::runner::Runner;
use crate::lab::replay::{BrokenHooks, Decider, Hooks, ReplayTotals, ReplayedLine};
use crate::log::Redactor;
use crate::log::read::{FileLines, ReadError};

use crate::cli::args::{ReplayArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::files::temporary_folder;
use crate::cli::run::start_up;
use crate::cli::streams;

const STDIN: &str = "-";

/// How often a waiting replay checks for signals and a closed stdout.
const TICK: Duration = Duration::from_millis(100);

const MOST_WAITING: usize = 16;

/// A line of a recording: file, number and bytes.
type RecordedLine = std::result::Result<(String, u64, Vec<u8>), ReadError>;

/// Replays events: 0 unchanged, 1 changed, 2 error, or stdout was closed.
pub(crate) fn replay(args: &ReplayArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let (abort, grounds) = start_up()?;
    let state = temporary_folder("hookrun-replay-", env)?;
    let own_env = Environment {
        state_home: Some(state.path().to_path_buf()),
        ..env.clone()
    };
    let first = Runner::one_shot_of(Config::default(), env)
        .abort(abort.clone())
        .subreaper(grounds);
    let hooks = Hooks::new(args.source.choice(env, ""), own_env, first);
    let redact = hooks.check()?;
    let redactor = Redactor::new(redact.iter().map(String::as_str)).map_err(Complaint::new)?;
    let mut decider = Decider { hooks, redactor };
    let lines = lines_of(&args.files, env)?;
    let names: Vec<String> = args.files.iter().map(|file| name_of(file)).collect();
    let names = names.join(", ");
    let mut totals = ReplayTotals::default();
    loop {
        let next = lines.recv_timeout(TICK);
        if let Some(signal) = abort.signal() {
            streams::remark(&format!(
                "interrupted: not all events of {names} were decided\n"
            ));
            return Ok(ExitStatus::Signal(signal));
        }
        if streams::has_reader_left() {
            return Ok(ExitStatus::CouldNot);
        }
        let replayed = match next {
            Ok(Ok((file, number, line))) => decider.line(&line, file, number)?,
            Ok(Err(error)) => ReplayedLine {
                file: error.file.display().to_string(),
                line: error.line,
                why: Some(error.problem),
                ..ReplayedLine::default()
            },
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if abort.times_raised() > 0 {
            // Answers of interrupted hooks do not count.
            continue;
        }
        totals.add(&replayed);
        match args.format {
            TextFormat::Human => replayed.human(out)?,
            TextFormat::Json => {
                serde_json::to_writer(&mut *out, &replayed).map_err(io::Error::from)?;
                writeln!(out)?;
            }
        }
        out.flush()?;
    }
    let is_complete = totals.is_complete(args.allow_undecided);
    if args.format == TextFormat::Human {
        totals.human(is_complete, out)?;
    }
    if totals.events == 0 && totals.unreadable == 0 {
        return Err(Complaint::with_cure(
            format!("there is no event in {names}"),
            "`hookrun run --record FILE` records them",
        ));
    }
    Ok(match totals.changed {
        _ if !is_complete => ExitStatus::CouldNot,
        0 => ExitStatus::Yes,
        _ => ExitStatus::No,
    })
}

fn name_of(file: &Path) -> String {
    if file.as_os_str() == STDIN {
        "stdin".to_string()
    } else {
        file.display().to_string()
    }
}

/// The lines of all files, read in a thread because a read of stdin cannot be interrupted.
fn lines_of(files: &[PathBuf], env: &Environment) -> Result<Receiver<RecordedLine>> {
    let stdins = files.iter().filter(|file| file.as_os_str() == STDIN);
    if stdins.count() > 1 {
        return Err(Complaint::with_cure(
            "`-` appears twice",
            "stdin can only be read once",
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

/// Sends the lines of a file; `None` once the receiver is gone.
fn read(file: &Path, folder: &Path, sender: &SyncSender<RecordedLine>) -> Option<()> {
    let name = name_of(file);
    let opened = if file.as_os_str() == STDIN {
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(folder.join(file))
    };
    let mut lines = match FileLines::of(Path::new(&name), opened) {
        Ok(lines) => lines,
        Err(error) => return sender.send(Err(error)).ok(),
    };
    let mut line = Vec::new();
    loop {
        match lines.next_line(&mut line) {
            Ok(Some(number)) => sender.send(Ok((name.clone(), number, line.clone()))).ok()?,
            Ok(None) => return Some(()),
            Err(error) => {
                // Reading continues after a line that is too long.
                let is_end = error.line.is_none();
                sender.send(Err(error)).ok()?;
                if is_end {
                    return Some(());
                }
            }
        }
    }
}

impl From<BrokenHooks> for Complaint {
    fn from(error: BrokenHooks) -> Complaint {
        Complaint::new(error.to_string())
    }
}
