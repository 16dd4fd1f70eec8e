//! `hookrun replay FILE…`: recorded events decided again, and what has changed.

mod progress;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::config::{Choice, Config, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::exec::Abort;
use crate::engine::runner::Runner;
use crate::lab::replay::merge::PartialReports;
use crate::lab::replay::report::{Header, ReplayReport, VERSION};
use crate::lab::replay::{
    Decider, Hooks, Partition, RecordingInput, ReplayEnd, ReplayError, ReplayFinding,
    ReplayedLines, Totals, workers,
};
use crate::lab::report::Paths;
use crate::log::Redactor;
use crate::log::read::ReadError;
use tempfile::TempDir;

use crate::cli::args::ReplayArgs;
use crate::cli::decide::startup::{choice, runner, start_up};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::look::new_file::{NewFile, is_same};
use crate::cli::streams;

const STDIN: &str = "-";

/// Decides recorded events again: 0 as recorded, 1 changed, 2 could not, or nobody wants to know.
pub(crate) fn replay(args: &ReplayArgs, env: &Environment, out: &mut dyn Write) -> Result {
    if args.merge {
        return merge(args, env, out);
    }
    check_write(args, env)?;
    let (abort, grounds) = start_up()?;
    let inputs = inputs(args, env)?;
    let header = header(args, &inputs);
    let state = state_folder(env)?;
    let first = runner(Config::default(), env)
        .abort(abort.clone())
        .subreaper(grounds);
    let decider = decider(args, env, first, state.path())?;
    let mut written = args
        .write
        .as_deref()
        .map(|file| NewFile::begin(&env.cwd.join(file)));
    let mut written = written.take().transpose()?;
    let bar = progress::bar(&args.files, env);
    let mut out = BufWriter::new(out);
    let mut report = ReplayReport::begin(args.format, args.most, &header, &mut out)?;
    let mut unused = args.allow_change.clone();
    let mut each = |done: ReplayedLines| -> std::result::Result<(), ReplayError> {
        unused.retain(|hook| !done.findings.iter().any(|finding| is_of(finding, hook)));
        if let Some(written) = &mut written {
            written.write(|out| out.write_all(&done.written))?;
        }
        if done.findings.is_empty() {
            return Ok(());
        }
        let tell = || -> io::Result<()> {
            done.findings
                .iter()
                .try_for_each(|finding| report.finding(finding, &mut out))?;
            out.flush()
        };
        bar.suspend(tell).map_err(|error| ReplayError::Write {
            what: "the report".to_string(),
            problem: error.to_string(),
        })
    };
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.jobs.unwrap_or_else(processors);
    let mut has_reader_left = false;
    let ended = workers::run(
        decider,
        inputs,
        threads,
        abort.clone(),
        &mut each,
        &mut |so_far| {
            if args.write.is_none() && streams::has_reader_left() {
                has_reader_left = true;
                abort.raise();
            }
            progress::tell(&bar, so_far);
        },
    );
    bar.finish_and_clear();
    let totals = match ended {
        Ok(totals) => totals,
        Err(ReplayError::Stopped) if has_reader_left => return Ok(ExitStatus::CouldNot),
        Err(error) => return early(&error, &abort, &header, &mut report, &mut out),
    };
    if let Some(written) = written {
        written.finish()?;
    }
    // Another part may have the change.
    for hook in unused.iter().filter(|_| header.partition.is_none()) {
        streams::remark(&format!(
            "--allow-change: nothing that `{hook}` decides has changed\n"
        ));
    }
    end(&mut report, &totals, &header, &mut out)
}

fn is_of(finding: &ReplayFinding, hook: &str) -> bool {
    matches!(finding, ReplayFinding::Changed(change) if change.hook() == Some(hook))
}

fn merge(args: &ReplayArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let files: Vec<PathBuf> = args.files.iter().map(|file| env.cwd.join(file)).collect();
    let cannot = |error: ReadError| {
        let place = Paths::from(&env.cwd).show_line(&error.file, error.line);
        Complaint::new(format!("cannot merge {place}: {}", error.problem))
    };
    let mut parts = PartialReports::open(&files).map_err(cannot)?;
    let header = parts.header.clone();
    let mut out = BufWriter::new(out);
    let mut report = ReplayReport::begin(args.format, args.most, &header, &mut out)?;
    while let Some(finding) = parts.next_finding().map_err(cannot)? {
        report.finding(&finding, &mut out)?;
    }
    end(&mut report, &parts.totals, &header, &mut out)
}

fn end(report: &mut ReplayReport, totals: &Totals, header: &Header, out: &mut dyn Write) -> Result {
    let ended = totals.ended(header.allow_undecided);
    let is_part = header.partition.is_some();
    let is_empty = totals.events == 0 && ended == ReplayEnd::Same && !is_part;
    report.end(
        totals,
        if is_empty {
            ReplayEnd::Incomplete
        } else {
            ended
        },
        out,
    )?;
    out.flush()?;
    if is_empty {
        return Err(Complaint::with_cure(
            format!("there is no event in {}", header.inputs.join(", ")),
            "`hookrun run --record FILE` records them",
        ));
    }
    Ok(match ended {
        ReplayEnd::Same => ExitStatus::Yes,
        ReplayEnd::Changed => ExitStatus::No,
        ReplayEnd::Incomplete => ExitStatus::CouldNot,
    })
}

/// The exit status of a replay that ended early.
fn early(
    error: &ReplayError,
    abort: &Abort,
    header: &Header,
    report: &mut ReplayReport,
    out: &mut dyn Write,
) -> Result {
    report.cut_short(&error.to_string(), out)?;
    out.flush()?;
    let rest = format!("not all of {} is decided", header.inputs.join(", "));
    match (error, abort.signal()) {
        (ReplayError::Stopped, Some(signal)) => {
            streams::remark(&format!("interrupted: {rest}\n"));
            Ok(ExitStatus::Signal(signal))
        }
        (ReplayError::Broken(_), _) => Err(Complaint::new(error.to_string())),
        _ => Err(Complaint::with_cure(error.to_string(), rest)),
    }
}

/// A part must not replace the recording that it is a part of.
fn check_write(args: &ReplayArgs, env: &Environment) -> Result<()> {
    let Some(file) = &args.write else {
        return Ok(());
    };
    if file.as_os_str() == STDIN {
        return Err(Complaint::with_cure(
            "`--write -` names no file",
            "name one; what is found goes to stdout",
        ));
    }
    let is_whole = args
        .partition
        .is_none_or(|partition| partition == Partition::WHOLE);
    let written = env.cwd.join(file);
    let is_written = |input: &&PathBuf| is_same(&written, &env.cwd.join(input));
    match args
        .files
        .iter()
        .find(is_written)
        .filter(|_| !is_whole || args.files.len() > 1)
    {
        None => Ok(()),
        Some(input) => Err(Complaint::with_cure(
            format!(
                "`{}` is what is replayed: what is written would not be the same events",
                input.display()
            ),
            "write to another file",
        )),
    }
}

/// Only one of them can be stdin.
fn inputs(args: &ReplayArgs, env: &Environment) -> Result<Vec<RecordingInput>> {
    let is_stdin = |file: &&PathBuf| file.as_os_str() == STDIN;
    if args.files.iter().filter(is_stdin).count() > 1 {
        return Err(Complaint::with_cure(
            "`-` appears twice",
            "stdin can be read once",
        ));
    }
    let input = |file: &PathBuf| match file {
        file if is_stdin(&file) => {
            RecordingInput::Stream("stdin".to_string(), Box::new(io::stdin()))
        }
        file => RecordingInput::File(env.cwd.join(file), file.display().to_string()),
    };
    Ok(args.files.iter().map(input).collect())
}

fn header(args: &ReplayArgs, inputs: &[RecordingInput]) -> Header {
    let part = args.partition.filter(|part| *part != Partition::WHOLE);
    let names = |files: &[PathBuf]| {
        files
            .iter()
            .map(|file| file.display().to_string())
            .collect()
    };
    Header {
        hookrun_replay: VERSION,
        inputs: inputs.iter().map(RecordingInput::name).collect(),
        partition: part.map(|part| part.to_string()),
        against: args
            .against
            .as_ref()
            .map(|folder| folder.display().to_string()),
        hooks: names(&args.source.hooks),
        settings: names(&args.source.settings),
        discover: args.source.discover,
        allow_change: args.allow_change.clone(),
        strict: args.strict,
        allow_undecided: args.allow_undecided,
    }
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

/// All hooks are run by the engine of `first` and keep state below `state`.
fn decider(args: &ReplayArgs, env: &Environment, first: Runner, state: &Path) -> Result<Decider> {
    let hooks = |choice: Choice, own: &str| {
        let env = Environment {
            state_home: Some(state.join(own)),
            ..env.clone()
        };
        Hooks::new(choice, env, first.clone())
    };
    let today = hooks(choice(&args.source, env, ""), "today");
    let redact = today.check()?;
    let against = args.against.as_ref().map(|folder| {
        let choice = Choice {
            explicit: vec![folder.clone()],
            settings: Vec::new(),
            discover: false,
            ..choice(&args.source, env, "")
        };
        hooks(choice, "against")
    });
    if let Some(against) = &against {
        against.check()?;
    }
    let redactor = Redactor::new(redact.iter().map(String::as_str)).map_err(Complaint::new)?;
    Ok(Decider {
        hooks: today,
        against,
        is_strict: args.strict,
        partition: args.partition.unwrap_or(Partition::WHOLE),
        may_change: args.allow_change.clone(),
        redactor,
        writes: args.write.is_some(),
    })
}

impl From<ReplayError> for Complaint {
    fn from(error: ReplayError) -> Complaint {
        Complaint::new(error.to_string())
    }
}
