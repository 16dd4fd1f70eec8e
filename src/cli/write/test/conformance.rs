//! `hookrun test --conformance DIR`: does a runner behave as the vectors say?

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::exec::{Abort, tree};
use crate::engine::lock::locked;
use crate::hosts::git;
use crate::lab::conformance::{
    CommandTemplate, Got, HookFile, TemplateValues, Vector, VectorStep, misses,
};
use crate::lab::report::Paths;
use crate::lab::report::vectors::VectorReport;
use tempfile::TempDir;

use crate::cli::args::TestArgs;
use crate::cli::decide::startup::start_up;
use crate::cli::errand::{Errand, ErrandEnd};
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::host::install::row::InstallHost;
use crate::cli::host::install::table;
use crate::cli::streams;

/// How long a runner may take for one answer, and a vector to prepare its folder.
const LIMIT: Duration = Duration::from_secs(30);

/// How long what a runner has left may take to end by itself.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// How our own binary is called: by hosts that name the event in what they send, by those that do
/// not, and by git. `install` writes the same.
const OURS: &[&str] = &["run", "--host", "{host}", "--hooks", "{hooks}"];
const OURS_NAMED: &[&str] = &["run", "{event}", "--host", "{host}", "--hooks", "{hooks}"];
const OURS_OF_GIT: &[&str] = &[
    "run",
    "{event}",
    "--host",
    "{host}",
    "--hooks",
    "{hooks}",
    "--",
    "{arguments}",
];

struct ReadVector {
    name: String,
    vector: Vector,
}

/// Tries every vector: 0 as expected, 1 not, 2 could not.
pub(super) fn conformance(
    place: &Path,
    args: &TestArgs,
    env: &Environment,
    out: &mut dyn Write,
) -> Result {
    let (abort, _grounds) = start_up()?;
    let command = args.command.as_deref().map(|text| {
        CommandTemplate::parse(text).map_err(|error| {
            let help = "`{host} {event} {hooks} {arguments}` may be in it, and no shell runs it";
            Complaint::with_cure(error.to_string(), help)
        })
    });
    let command = command.transpose()?;
    let mut all = read_all(place, env)?;
    if let Some(filter) = &args.vectors.filter {
        all.retain(|one| filter.is_match(&one.name));
        if all.is_empty() {
            return Err(Complaint::new(format!(
                "--filter `{filter}` leaves no vector"
            )));
        }
    }
    // All files are written before the first runner starts: a program that starts earlier would hold
    // them open for writing, and then no script can be run.
    let folders = all.iter().map(|one| lay_out(&one.vector, env));
    let folders: io::Result<Vec<TempDir>> = folders.collect();
    let folders = folders.map_err(failed("the folders of the vectors cannot be made"))?;
    let trial = VectorTrial {
        command,
        env,
        abort: &abort,
    };
    let (count, jobs) = (all.len(), args.vectors.jobs.unwrap_or_else(usual_jobs));
    let cases = trial.try_all(all.into_iter().zip(folders).collect(), jobs)?;
    if let Some(signal) = abort.signal() {
        let wrong = cases.iter().filter(|case| !case.passes()).count();
        let far = format!("{} of {count} cases done, {wrong} failed", cases.len());
        streams::remark(&format!("interrupted: {far}\n"));
        return Ok(ExitStatus::Signal(signal));
    }
    args.format
        .write(cases.as_slice(), &Paths::from(&env.cwd), out)?;
    Ok(if cases.iter().all(VectorReport::passes) {
        ExitStatus::Yes
    } else {
        ExitStatus::No
    })
}

fn usual_jobs() -> usize {
    thread::available_parallelism()
        .map_or(2, |processors| processors.get() * 2)
        .min(16)
}

fn read_all(place: &Path, env: &Environment) -> Result<Vec<ReadVector>> {
    let mut files = Vec::new();
    let what = format!("the vectors in `{}` cannot be read", place.display());
    collect(place, &mut files).map_err(failed(what))?;
    files.sort();
    if files.is_empty() {
        return Err(Complaint::with_cure(
            format!("there is no vector in `{}`", place.display()),
            "vectors are files that end in .json",
        ));
    }
    let mut all = Vec::new();
    let mut broken = Vec::new();
    for file in files {
        let shown = Paths::from(&env.cwd).show(&file);
        let text = fs::read_to_string(&file).map_err(|error| format!("{shown}: {error}"));
        let vector =
            text.and_then(|text| Vector::parse(&text).map_err(|error| format!("{shown}:{error}")));
        let below = file.strip_prefix(place).ok();
        let below = below.filter(|path| !path.as_os_str().is_empty());
        let name = below.unwrap_or(&file).display().to_string();
        match vector {
            Ok(vector) => all.push(ReadVector { name, vector }),
            Err(error) => broken.push(error),
        }
    }
    if broken.is_empty() {
        return Ok(all);
    }
    let noun = if broken.len() == 1 {
        "a vector is broken"
    } else {
        "vectors are broken"
    };
    Err(Complaint::new(format!("{noun}\n{}", broken.join("\n"))))
}

fn collect(place: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if fs::metadata(place)?.is_file() {
        files.push(place.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(place)? {
        let path = entry?.path();
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        if fs::metadata(&path)?.is_dir() || is_json {
            collect(&path, files)?;
        }
    }
    Ok(())
}

/// Writes a vector's files: `home`, `tmp`, `work` and `hooks.d`.
fn lay_out(vector: &Vector, env: &Environment) -> io::Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("hookrun-vector")
        .tempdir_in(&env.temporary)?;
    for name in ["home", "tmp", "work", "hooks.d"] {
        private(&folder.path().join(name))?;
    }
    for (path, text) in &vector.files {
        let file = folder.path().join("work").join(path);
        private(file.parent().unwrap_or(&file))?;
        fs::write(&file, &text.0)?;
    }
    for hook in &vector.hooks {
        write_hook(hook, &folder.path().join("hooks.d"))?;
    }
    Ok(folder)
}

/// Makes a folder that only its owner may write, regardless of the umask.
fn private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(folder)
}

fn write_hook(hook: &HookFile, hooks: &Path) -> io::Result<()> {
    let folder = hooks.join(&hook.event);
    private(&folder)?;
    let file = folder.join(&hook.name);
    if hook.missing {
        return symlink(folder.join("nowhere").join(&hook.name), file);
    }
    fs::write(&file, hook.text())?;
    fs::set_permissions(&file, fs::Permissions::from_mode(hook.mode))
}

struct VectorTrial<'a> {
    /// `None` for our own binary.
    command: Option<CommandTemplate>,
    env: &'a Environment,
    abort: &'a Abort,
}

impl VectorTrial<'_> {
    /// Tries all vectors, some at once. The cases have the order of the vectors.
    fn try_all(&self, ready: Vec<(ReadVector, TempDir)>, jobs: usize) -> Result<Vec<VectorReport>> {
        let jobs = jobs.min(ready.len());
        let waiting = Mutex::new(ready.into_iter().enumerate());
        let next = || locked(&waiting).next();
        let done = Mutex::new(Vec::new());
        let work = || {
            while let Some((place, (read, folder))) = next().filter(|_| !self.is_over()) {
                let case = self.try_one(read, &folder);
                if self.is_over() {
                    // It was cut short, or may have been.
                    break;
                }
                locked(&done).push((place, case));
            }
        };
        let ended: thread::Result<()> = thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            threads
                .into_iter()
                .try_for_each(thread::ScopedJoinHandle::join)
        });
        ended.map_err(|_| Complaint::new("hookrun itself failed at a vector"))?;
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(place, _)| *place);
        done.into_iter().map(|(_, case)| case).collect()
    }

    fn is_over(&self) -> bool {
        self.abort.times_raised() > 0
    }

    fn try_one(&self, read: ReadVector, folder: &TempDir) -> Result<VectorReport> {
        let started = Instant::now();
        let ReadVector { name, vector } = read;
        let home = folder.path().join("home");
        let mut wrong = Vec::new();
        let ended = self.steps(&vector, folder.path(), &mut wrong);
        let mark = home.to_string_lossy();
        if vector.leaves_no_process {
            wrong.extend(left(&mark).map(|names| format!("processes are left: {names}")));
        }
        tree::end_started_with("HOME", &mark);
        ended?;
        Ok(VectorReport {
            name,
            about: vector.about,
            misses: wrong,
            took: started.elapsed(),
        })
    }

    fn steps(&self, vector: &Vector, folder: &Path, wrong: &mut Vec<String>) -> Result<()> {
        if !vector.setup.0.is_empty() {
            let words = [OsString::from("-ec"), OsString::from(&vector.setup.0)];
            let talked = self.talk(Path::new("/bin/sh"), &words, vector, folder, None)?;
            let why = match talked {
                ErrandEnd::Exited(output) if output.status.success() => None,
                ErrandEnd::Exited(output) => {
                    let said = String::from_utf8_lossy(&output.stderr);
                    Some(format!("setup: it failed: {}", said.trim_end()))
                }
                ErrandEnd::Held | ErrandEnd::Killed => Some("setup: it did not end".to_string()),
            };
            if let Some(why) = why {
                wrong.push(why);
                return Ok(());
            }
        }
        for (number, step) in (1..).zip(&vector.steps) {
            let found = self.step(step, vector, folder)?;
            wrong.extend(
                found
                    .into_iter()
                    .map(|miss| format!("step {number}: {miss}")),
            );
        }
        Ok(())
    }

    /// How the answer of one step differs from what is expected.
    fn step(&self, step: &VectorStep, vector: &Vector, folder: &Path) -> Result<Vec<String>> {
        let hooks = folder.join("hooks.d");
        let host = step.host.as_ref().unwrap_or(&vector.host);
        let event = step.event.as_ref().unwrap_or(&vector.event);
        let places = TemplateValues {
            host,
            event,
            hooks: &hooks,
            arguments: &step.arguments,
        };
        let (program, arguments) = self.command_for(host)?.filled(&places);
        let program = PathBuf::from(program);
        // A path is relative to here.
        let is_path = program.components().count() > 1;
        let program = if is_path {
            self.env.cwd.join(program)
        } else {
            program
        };
        let talked = self.talk(&program, &arguments, vector, folder, Some(step))?;
        Ok(match talked {
            ErrandEnd::Exited(Output {
                status,
                stdout,
                stderr,
            }) => {
                let by_signal = || status.signal().map_or(-1, |signal| -signal);
                let status = status.code().unwrap_or_else(by_signal);
                misses(
                    &step.expect,
                    &Got {
                        status,
                        stdout,
                        stderr,
                    },
                )
            }
            ErrandEnd::Held => {
                vec!["stdout or stderr was still open 10 s after the exit".to_string()]
            }
            ErrandEnd::Killed => vec![format!("no answer within {} s", LIMIT.as_secs())],
        })
    }

    fn command_for(&self, host: &str) -> Result<CommandTemplate> {
        if let Some(command) = &self.command {
            return Ok(command.clone());
        }
        let own = self
            .env
            .program
            .as_ref()
            .map(|path| path.to_string_lossy().into_owned());
        let own = own.ok_or_else(|| {
            let help = "name the runner with --command";
            Complaint::with_cure("hookrun does not find its own program", help)
        })?;
        let shape = table::find(host).and_then(InstallHost::settings);
        let rest = match shape {
            _ if host == git::NAME => OURS_OF_GIT,
            Some(shape) if shape.names_event => OURS_NAMED,
            Some(_) | None => OURS,
        };
        let words = std::iter::once(own).chain(rest.iter().map(|word| (*word).to_string()));
        CommandTemplate::of(words.collect()).ok_or_else(|| Complaint::new("the command is empty"))
    }

    fn talk(
        &self,
        program: &Path,
        arguments: &[OsString],
        vector: &Vector,
        folder: &Path,
        step: Option<&VectorStep>,
    ) -> Result<ErrandEnd> {
        let mut errand = Errand::new(program, arguments, LIMIT);
        let command = errand.command.current_dir(folder.join("work")).env_clear();
        command
            .env("PATH", self.env.search.clone().unwrap_or_default())
            .env("LANG", "C");
        command.env("TMPDIR", folder.join("tmp")).envs(&vector.env);
        // It identifies processes that are left behind, so a vector cannot change it.
        command.env("HOME", folder.join("home"));
        errand.stdin = step.map(VectorStep::input).unwrap_or_default();
        errand.keeps_stdin_open = step.is_some_and(|step| step.keeps_stdin_open);
        let what = format!("the runner `{}` cannot be started", program.display());
        errand.run(|| self.is_over()).map_err(failed(what))
    }
}

/// The processes with this home that are left after they had time to end.
fn left(home: &str) -> Option<String> {
    let started = Instant::now();
    loop {
        let names = tree::started_with("HOME", home);
        if names.is_empty() {
            return None;
        }
        if started.elapsed() > ENDS_WITHIN {
            return Some(names.join(", "));
        }
        thread::sleep(Duration::from_millis(10));
    }
}
