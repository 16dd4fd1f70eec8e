//! `hookrun replay [FILE…]`: decides recorded events again and prints changes.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use crate::config::{Config, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::exec::Abort;
use crate::engine::runner::Runner;
use crate::lab::replay::{Decider, Hooks, ReplayResult, ReplayedLine};
use crate::lab::report::stats::Stats;
use crate::lab::report::style::counted;
use crate::lab::report::write_json;
use crate::log::Redactor;
use crate::log::files::{FileLines, ReadError, length_now};

use crate::cli::args::ReplayArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::files::temporary_folder;
use crate::cli::input::WatchedInput;
use crate::cli::run::start_up;
use crate::cli::streams;

const STDIN: &str = "-";

/// Replays events: 0 unchanged, 1 changed, 2 error, or stdout was closed.
pub(crate) fn replay(args: &ReplayArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let mut files = args.files.clone();
    if files.is_empty() {
        files.push(PathBuf::from(STDIN));
    }
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
    let mut replay = Replay {
        args,
        decider: Decider {
            hooks,
            redactor,
            shows_all: args.all,
        },
        stats: Stats::default(),
        abort,
        out: BufWriter::new(out),
    };
    let names: Vec<String> = files.iter().map(|file| name_of(file)).collect();
    for (file, name) in files.iter().zip(&names) {
        replay.file(file, name, &env.cwd)?;
        if let Some(signal) = replay.abort.signal() {
            let names = names.join(", ");
            streams::remark(&format!(
                "interrupted: not all events of {names} were decided\n"
            ));
            return Ok(ExitStatus::Signal(signal));
        }
        if streams::has_reader_left() {
            return Ok(ExitStatus::CouldNot);
        }
    }
    replay.sum(&names.join(", "))
}

fn name_of(file: &Path) -> String {
    if file.as_os_str() == STDIN {
        "stdin".to_string()
    } else {
        file.display().to_string()
    }
}

struct Replay<'a> {
    args: &'a ReplayArgs,
    decider: Decider,
    stats: Stats,
    abort: Abort,
    out: BufWriter<&'a mut dyn Write>,
}

impl Replay<'_> {
    /// Decides the events of a file, until its end, a signal or a closed stdout.
    fn file(&mut self, file: &Path, name: &str, folder: &Path) -> Result<()> {
        let opened = if file.as_os_str() == STDIN {
            io::stdin().as_fd().try_clone_to_owned().map(File::from)
        } else {
            File::open(folder.join(file))
        };
        let watched = opened.and_then(|file| {
            let length = length_now(&file)?;
            let abort = self.abort.clone();
            let file = WatchedInput { from: file, abort }.take(length);
            Ok(Box::new(file) as Box<dyn Read>)
        });
        let mut lines = match FileLines::of(Path::new(name), watched) {
            Ok(lines) => lines,
            Err(error) => return self.problem(&error),
        };
        let mut line = Vec::new();
        loop {
            if !lines.has_next_line() {
                // The next read may wait, and the output must not.
                self.out.flush()?;
            }
            match lines.next_line(&mut line) {
                _ if self.abort.signal().is_some() => return Ok(()),
                Ok(None) => return Ok(()),
                Ok(Some(number)) => {
                    let replayed = self.decider.line(&line, name, number)?;
                    // Answers of interrupted hooks do not count.
                    if self.abort.times_raised() == 0 {
                        self.show(&replayed)?;
                    }
                }
                // Reading continues after a line that is too long.
                Err(error) if error.line.is_some() => self.problem(&error)?,
                Err(error) => return self.problem(&error),
            }
        }
    }

    /// Shows a file or line that cannot be read, unless the replay has ended.
    fn problem(&mut self, error: &ReadError) -> Result<()> {
        if self.abort.signal().is_some() || streams::has_reader_left() {
            return Ok(());
        }
        self.show(&ReplayedLine {
            file: error.file.display().to_string(),
            line: error.line,
            why: Some(error.problem.clone()),
            ..ReplayedLine::default()
        })
    }

    /// Counts a line, and writes it unless it is unchanged.
    fn show(&mut self, replayed: &ReplayedLine) -> Result<()> {
        replayed.count(&mut self.stats);
        let is_wanted = self.args.all || replayed.result != ReplayResult::Same;
        if is_wanted && !self.args.summary {
            serde_json::to_writer(&mut self.out, replayed).map_err(io::Error::from)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes the sum of all lines.
    fn sum(mut self, names: &str) -> Result {
        let sum = self.stats.replayed().clone();
        if self.args.summary {
            write_json(&self.stats.report(), &mut self.out)?;
        }
        self.out.flush()?;
        let events = sum.same + sum.changed + sum.undecided;
        if events + sum.unreadable == 0 {
            return Err(Complaint::with_cure(
                format!("no events in {names}"),
                "`hookrun run --record FILE` records events",
            ));
        }
        let events_text = counted(events, "event");
        streams::remark(&format!(
            "{events_text}: {} as recorded, {} changed, {} undecided; {} unreadable\n",
            sum.same, sum.changed, sum.undecided, sum.unreadable
        ));
        for (change, count) in &sum.changes {
            streams::remark(&format!("  {change}: {count}\n"));
        }
        let is_incomplete = sum.undecided > 0 && !self.args.allow_undecided;
        if is_incomplete || sum.unreadable > 0 || events == 0 {
            return Ok(ExitStatus::CouldNot);
        }
        if sum.changed > 0 {
            return Ok(ExitStatus::No);
        }
        Ok(ExitStatus::Yes)
    }
}
