//! `hookrun run EVENT`: decides an event. Exit 0 allows, 2 blocks; any failure blocks.
//!
//! Reads the event, decides it ([`crate::decide`]), writes the reply or a report, and logs the
//! decision. Hooks of a detached event run in `hookrun supervise`, a process that outlives the
//! reply. In a CI job the report is annotations, and a block fails the job.

pub(super) mod git;
pub(super) mod helper;
mod progress;
pub(super) mod quick;
pub(super) mod watchdog;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Error};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::decide::hooks::check_depth;
use crate::decide::{DetachedRun, Door, EventDecision, EventRequest, LoadedHooks, Terms, decide};
use crate::engine::complaint::Complaint;
use crate::engine::errand;
use crate::engine::event::{Context, Event};
use crate::engine::exec::{Abort, Subreaper};
use crate::engine::harmless;
use crate::engine::run::interruption;
use crate::engine::runner::Runner;
use crate::engine::ui::Ui;
use crate::hosts::{LATEST, Reply, Wait, naming_folders, native};
use crate::lab::report::{CheckFormat, run_checks};
use crate::log::report::{Paths, RunReport, block_report, run_report};
use rustix::process::{Resource, Rlimit};

use crate::cli::args::RunArgs;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::input;
use crate::cli::streams;
use crate::cli::terminal::Terminal;
use helper::Helper;
use watchdog::{AnswerBy, Orders, TimeLimit};

/// The watchdog's limit on hookrun's own work for the largest event.
const OWN_WORK: Duration = Duration::from_secs(30);

/// The most time that logging may delay the exit. It takes microseconds.
const KEEPING: Duration = Duration::from_millis(500);

const READING: Duration = Duration::from_secs(10);

/// The time for a host to read the reply after the budget, or after a signal.
const AFTER_BUDGET: Duration = Duration::from_millis(500);

const FIRST_OWN_DESCRIPTOR: i32 = 3;

/// The abort signal, and the parent of orphaned processes.
pub(crate) type Ground = (Abort, Option<Subreaper>);

/// Decides one event. If hookrun fails, it blocks with that reason.
pub(crate) fn run(args: &RunArgs, env: &Environment) -> Result {
    if let Some(argument) = args.arguments.first() {
        return Err(Complaint::with_cure(
            format!("unexpected argument `{}`", argument.display()),
            "only `--host git` takes arguments after the event; send the context on stdin",
        ));
    }
    let ground = hold_ground();
    let abort = ground.as_ref().ok().map(|(abort, _)| abort.clone());
    let mut request = EventRequest::new(args.event.as_deref().unwrap_or_default(), args.host());
    let time = TimeLimit::start(args.stdin_timeout, orders(args, &request));
    let run = EventRun {
        args,
        env,
        time: &time,
        helper: Helper::new(args, env, &time.heartbeat),
    };
    let decided = match ground {
        Ok(ground) => run.decide(&mut request, ground),
        Err(failure) => Err(failure),
    };
    let decision = decided.unwrap_or_else(|failure| {
        let reason = failure.to_string();
        let reply = block(is_unknown(args, &request), &request, &reason);
        EventDecision::blocked(&request.name, request.host(), &reason, reply)
    });
    let is_allowed = give(decision, args, env, &time, abort.as_ref());
    run.helper.start_if_missing();
    Ok(if is_allowed {
        ExitStatus::Yes
    } else {
        ExitStatus::CouldNot
    })
}

/// The first step of every deciding command: from then on it never ends without a decision.
pub(crate) fn hold_ground() -> Result<Ground> {
    streams::bound_stderr();
    crate::engine::exec::hold_out();
    start_up()
}

/// The first step of every command that runs hooks, before it has other threads.
pub(crate) fn start_up() -> Result<Ground> {
    undo_inherited().map_err(failed("cannot handle signals"))?;
    // In this order: children need the SIGCHLD handler and a subreaper.
    let abort = Abort::on_signals().map_err(failed("cannot handle signals"))?;
    Ok((abort, Subreaper::take()))
}

/// Resets inherited signals, descriptors and core limits, which hooks would inherit too.
fn undo_inherited() -> io::Result<()> {
    // A host that blocks SIGTERM would block it for hookrun and hooks.
    crate::engine::exec::block_real_time()?;
    close_fds::CloseFdsBuilder::new().cloexecfrom(FIRST_OWN_DESCRIPTOR);
    // No core files from hooks; a hook may raise the limit.
    let hard = rustix::process::getrlimit(Resource::Core).maximum;
    let limit = Rlimit {
        current: Some(0),
        maximum: hard,
    };
    let _ = rustix::process::setrlimit(Resource::Core, limit);
    Ok(())
}

/// The watchdog's reply and its deadline: `--budget`, else the host's.
fn orders(args: &RunArgs, request: &EventRequest<'_>) -> Orders {
    let of_host = request.budget();
    let by = args.budget.or(of_host).map(|budget| AnswerBy {
        budget,
        last_word: match of_host {
            Some(_) => Wait::last_word(budget),
            None => budget.saturating_add(LATEST),
        },
    });
    let format = args.format;
    let is_unknown = is_unknown(args, request);
    let name = request.name.to_string();
    let host = request.host();
    let block = Box::new(move || {
        let request = EventRequest::new(&name, host);
        let reply = block(is_unknown, &request, watchdog::REASON);
        last_word_in(format, &name, reply)
    });
    Orders { block, by }
}

/// The format, if it is one of a CI system.
fn of_job(format: Option<CheckFormat>) -> Option<CheckFormat> {
    format.filter(|format| format.is_of_lists())
}

fn last_word_in(format: Option<CheckFormat>, event: &str, reply: Reply) -> Reply {
    let Some(job) = of_job(format) else {
        return reply;
    };
    let report = block_report(event, native::NAME, reply.stderr.trim_end(), &reply);
    Reply {
        stdout: annotations(job, &report),
        status: reply.status.max(1),
        ..reply
    }
}

fn is_unknown(args: &RunArgs, request: &EventRequest<'_>) -> bool {
    args.event.is_none() && args.dialect.is_none() && request.name.is_empty()
}

fn block(is_unknown: bool, request: &EventRequest<'_>, reason: &str) -> Reply {
    let mut reply = request.block(reason);
    if is_unknown {
        // Text on stderr blocks in every host.
        reply.stdout.clear();
    }
    reply
}

struct EventRun<'a> {
    args: &'a RunArgs,
    env: &'a Environment,
    time: &'a TimeLimit,
    helper: Helper<'a>,
}

impl EventRun<'_> {
    /// Decides the event. If only the context names it, `request` is replaced.
    fn decide(&self, request: &mut EventRequest<'_>, ground: Ground) -> Result<EventDecision> {
        let args = self.args;
        let env = self.env;
        let abort = ground.0.clone();
        let mut context = None;
        if args.event.is_none() {
            let first = self.read_event(&abort)?;
            *request = EventRequest::in_context(&first, args.dialect.as_deref(), "run")?;
            context = Some(first);
            self.time.change(orders(args, request));
            if let Some(reply) = request.reply_to_unknown()?
                && args.require.is_empty()
            {
                return Ok(EventDecision::of_reply(reply, false));
            }
        }
        check_depth(env)?;
        // The context may name the folders with hooks.
        if context.is_none() && naming_folders(request.host()).is_some() {
            context = Some(self.read_event(&abort)?);
        }
        let choice = args
            .source
            .trusting(&args.deciding.trust, env, request.host());
        let choice = choice.with_folders_of(request.host(), context.as_ref());
        // Usually before reading stdin, while the host still writes the event.
        let mut config = request.load(&choice, env);
        request.check(&config)?;
        let context = match context {
            Some(context) => context,
            None => {
                let context = self.read_event(&abort)?;
                config = request.load_for(&context, config, &choice, env);
                context
            }
        };
        self.time.heartbeat.expect_within(OWN_WORK);
        let question = self.helper.question(&config, &context);
        let hosted = request.event(&config, context)?;
        let budget = self.time.budget();
        if let Some(question) = question
            && let Some(decided) = self.helper.decide(&question, &hosted.event, budget, &abort)
        {
            return decided;
        }
        let ui = Terminal::ui();
        let hooks = LoadedHooks::new(config, env, |runner| {
            equipped(runner, ground, self.time, args, env, ui.clone())
        });
        hooks.require(&args.require, &hosted.event.spec().name)?;
        let terms = Terms {
            budget,
            abort: &abort,
            ui: ui.as_deref(),
            detached: DetachedRun::InProcess(&|event: &Event| hand_over(event, args, env)),
            is_watched: of_job(args.format).is_some() || progress::is_watched(args.format),
            heartbeat: Some(&self.time.heartbeat),
        };
        let mut decision = decide(hosted, &hooks, &hooks.runner, &terms);
        report(&mut decision, args.format, &hooks.runner, env);
        Ok(decision)
    }

    fn read_event(&self, abort: &Abort) -> Result<Context> {
        let cure = "pipe in the event's context as one JSON object, `{}` if it is empty";
        input::needed(self.time.stdin, Some(abort), "no event on stdin", cure)
    }
}

/// Adds the command line's and the user's settings to the runner.
fn equipped(
    runner: Runner,
    ground: Ground,
    time: &TimeLimit,
    args: &RunArgs,
    env: &Environment,
    ui: Option<Arc<dyn Ui>>,
) -> Runner {
    let mut runner = grounded(runner, ground, args, env).heartbeat(time.heartbeat.clone());
    runner.engine.watcher = progress::watcher(args.format);
    match ui {
        Some(ui) => runner.ui(ui),
        None => runner,
    }
}

/// Adds what every process that decides one event needs.
fn grounded(
    runner: Runner,
    (abort, subreaper): Ground,
    args: &RunArgs,
    env: &Environment,
) -> Runner {
    let runner = runner.with_program(env).one_shot();
    let runner = runner.abort(abort).subreaper(subreaper);
    match args.deciding.jobs {
        Some(jobs) => runner.jobs(jobs),
        None => runner,
    }
}

/// Adds the report, for formats that print it.
fn report(
    decision: &mut EventDecision,
    format: Option<CheckFormat>,
    runner: &Runner,
    env: &Environment,
) {
    let (Some(decided), Some(format)) = (&decision.decided, format) else {
        return;
    };
    let mut report = run_report(&decided.run, &decision.reply, &paths(format, env));
    if format.is_of_lists()
        && let Some(workspace) = workspace(env)
    {
        let place = runner.place(&decided.run.event);
        run_checks::place(&mut report, &workspace, &place.project, &place.cwd);
    }
    decision.report = Some(report);
}

/// The base of printed paths; for CI systems the checkout.
pub(crate) fn paths(format: CheckFormat, env: &Environment) -> Paths {
    if format.is_of_lists()
        && let Some(workspace) = workspace(env)
        && env.cwd.starts_with(&workspace)
    {
        return Paths::from(&workspace);
    }
    Paths::from(&env.cwd)
}

/// The checkout of a CI job: GitHub's workspace, else the enclosing working tree.
fn workspace(env: &Environment) -> Option<PathBuf> {
    let of_github = env.workspace.as_ref();
    if let Some(Ok(workspace)) = of_github.map(|folder| folder.canonicalize()) {
        return Some(workspace);
    }
    let mut folders = env.cwd.ancestors();
    let root = folders.find(|folder| folder.join(".git").exists())?;
    root.canonicalize().ok()
}

/// Writes a decision to the host and logs it. Returns whether the event continues.
fn give(
    decision: EventDecision,
    args: &RunArgs,
    env: &Environment,
    time: &TimeLimit,
    abort: Option<&Abort>,
) -> bool {
    if !time.heartbeat.claim() {
        // The watchdog replies, and ends the process.
        loop {
            thread::park();
        }
    }
    let status = write(&decision, args.format, env, time, abort);
    keep(decision, args, env);
    status == native::ALLOWED
}

/// Logs a decision, and reports a recording that cannot be written.
fn keep(decision: EventDecision, args: &RunArgs, env: &Environment) {
    let unwritten = decision.keep(Door::Command, env, args.deciding.record.as_deref());
    if let Some(problem) = unwritten.recording {
        streams::remark(&format!("cannot record the event: {problem}\n"));
    }
}

/// The exit status. Some hosts read a block from stdout with 0; a CI job reads only the status.
fn exit_status(decision: &EventDecision, format: Option<CheckFormat>) -> u8 {
    let report = decision.report.as_ref();
    let stops = report.is_some_and(|report| !run_checks::goes_on(report));
    if of_job(format).is_some() && decision.reply.status == native::ALLOWED && stops {
        return native::BLOCKED;
    }
    decision.reply.status
}

/// Writes text for people to stderr, without waiting, and the reply or report to stdout. Returns
/// the exit status, which blocks if the decision was not delivered.
///
/// After that, nothing may delay the host: the watchdog limits what follows.
fn write(
    decision: &EventDecision,
    format: Option<CheckFormat>,
    env: &Environment,
    time: &TimeLimit,
    abort: Option<&Abort>,
) -> u8 {
    let was_stopped = is_stopped(abort);
    let now = Instant::now();
    let mut until = now + READING;
    if let Some(budget) = time.budget() {
        until = until.min(budget.until + AFTER_BUDGET);
    }
    if was_stopped {
        until = until.min(now + AFTER_BUDGET);
    }
    let status = exit_status(decision, format);
    let stdout = stdout(decision, format, env);
    let lost = if stdout.is_empty() {
        status
    } else {
        status.max(native::BLOCKED)
    };
    time.watchdog
        .answers(lost, until.saturating_duration_since(now));
    if format.is_none() {
        streams::words(&decision.reply.stderr, env);
    } else {
        // The report has it too; stderr is for people.
        streams::remark(&decision.reply.stderr);
    }
    let must_arrive = status == native::ALLOWED && decision.is_needed && !stdout.is_empty();
    let written = if must_arrive && streams::is_stdout_thrown_away() {
        Err(Error::other("it is closed or /dev/null"))
    } else {
        streams::write_reply(stdout.as_bytes(), until, &|| {
            !was_stopped && is_stopped(abort)
        })
    };
    let Err(error) = written else {
        time.watchdog.answers(status, KEEPING);
        return status;
    };
    time.watchdog.answers(lost, KEEPING);
    let why = if is_stopped(abort) {
        interruption(abort.and_then(Abort::signal))
    } else {
        error.to_string()
    };
    streams::remark(&format!(
        "error: cannot write the result to stdout: {why}\n"
    ));
    lost
}

fn is_stopped(abort: Option<&Abort>) -> bool {
    abort.is_some_and(|abort| abort.times_raised() > 0)
}

fn stdout<'d>(
    decision: &'d EventDecision,
    format: Option<CheckFormat>,
    env: &Environment,
) -> Cow<'d, str> {
    let (Some(report), Some(format)) = (&decision.report, format) else {
        return streams::document(&decision.reply.stdout, env);
    };
    if format == CheckFormat::Json {
        let text = serde_json::to_string(report).unwrap_or_default();
        return Cow::Owned(format!("{}\n", harmless::json(&text)));
    }
    Cow::Owned(annotations(format, report))
}

fn annotations(format: CheckFormat, report: &RunReport) -> String {
    let mut stdout = Vec::new();
    let _ = format.write_list(&run_checks::run(report), &mut stdout);
    let text = String::from_utf8_lossy(&stdout);
    let is_json = matches!(format, CheckFormat::Sarif | CheckFormat::Gitlab);
    if is_json {
        harmless::json(&text).into_owned()
    } else {
        text.into_owned()
    }
}

/// Starts `hookrun supervise` for an event. Returns false on failure.
fn hand_over(event: &Event, args: &RunArgs, env: &Environment) -> bool {
    let Some(own) = env.image() else {
        return false;
    };
    let payload = event.context().to_json();
    errand::hand_over(&own, &supervise_arguments(event, args, env), &payload).is_ok()
}

fn supervise_arguments(event: &Event, args: &RunArgs, env: &Environment) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["supervise".into(), event.spec().name.as_ref().into()];
    arguments.push(format!("--host={}", event.host()).into());
    for folder in &args.source.hooks {
        arguments.push(with_value("--hooks=", folder));
    }
    for file in &args.source.settings {
        arguments.push(with_value("--settings=", file));
    }
    if args.source.discover {
        arguments.push("--discover".into());
    }
    if let Some(jobs) = args.deciding.jobs {
        arguments.push(format!("--jobs={jobs}").into());
    }
    for digest in &args.deciding.trust {
        arguments.push(format!("--trust={digest}").into());
    }
    if let Some(file) = &args.deciding.record {
        arguments.push(with_value("--record=", &env.cwd.join(file)));
    }
    arguments
}

fn with_value(option: &str, value: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(value);
    argument
}

/// `hookrun supervise EVENT`: the process started by [`hand_over`].
pub(crate) fn supervise(args: &RunArgs, env: &Environment, ground: Ground) -> Result {
    let abort = ground.0.clone();
    let cure = "`supervise` is for `hookrun run` only";
    let context = input::needed(input::soon(), Some(&abort), "no event on stdin", cure)?;
    let event = args.event.as_deref().unwrap_or_default();
    let request = EventRequest::new(event, args.host());
    let choice = args.source.trusting(&args.deciding.trust, env, args.host());
    let choice = choice.with_folders_of(args.host(), Some(&context));
    let config = request.load(&choice, env);
    let hosted = request.event(&config, context)?;
    let hooks = LoadedHooks::new(config, env, |runner| grounded(runner, ground, args, env));
    let terms = Terms {
        budget: None,
        abort: &abort,
        ui: None,
        detached: DetachedRun::Awaited,
        is_watched: false,
        heartbeat: None,
    };
    keep(decide(hosted, &hooks, &hooks.runner, &terms), args, env);
    Ok(ExitStatus::Yes)
}
