//! `hookrun run --host git HOOK [-- ARG…]`: decide for git. Exit 0 goes on, 1 stops it; what goes
//! wrong stops what can be stopped.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::{Config, ConfigScope, Environment};
use crate::dialects::git::{self, GitHook, GitInput, ListingArguments, read_changes};
use crate::dialects::{LATEST, Reply, native};
use crate::engine::event::{Context, Event, EventSpec};
use crate::engine::exec::{Abort, Budget, Heartbeat};
use crate::engine::hook::duration_text;
use crate::engine::outcome::Outcome;
use crate::engine::run::{Ending, Fate, Run, told_to_stop};
use crate::engine::ui::PATIENCE;
use crate::lab::report::json;
use serde_json::{Map, Value};

use crate::cli::args::RunArgs;
use crate::cli::decide::ask::{self, Person};
use crate::cli::decide::input::{self, Deadline};
use crate::cli::decide::keep::{DecisionRecord, KeepSettings, KeptPlaces};
use crate::cli::decide::printed::{self, PrintedReply, Way};
use crate::cli::decide::progress;
use crate::cli::decide::run::{Ground, check_depth, choice, find_event, hold_ground, runner};
use crate::cli::decide::unbound::SearchedPlaces;
use crate::cli::decide::watchdog::{self, Watchdog};
use crate::cli::errand::{Errand, ErrandEnd};
use crate::cli::exit::{CommandFailure, ExitStatus, Result};

/// How long git may take to list the changed paths, if there is no budget.
const LISTING: Duration = Duration::from_secs(30);

/// How much of such a list is read.
const LONGEST_LISTING_BYTES: u64 = 256 * 1024 * 1024;

/// What hookrun does itself, beside git and the hooks.
const OWN_WORK: Duration = Duration::from_secs(30);

/// For git when it is asked for paths: no locks, no history that is not what is sent, no words
/// that depend on a language.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// What is needed to decide, and when it must be done.
struct GitRequest<'a> {
    hook: &'static GitHook,
    args: &'a RunArgs,
    env: &'a Environment,
    started: Instant,
    patience: Duration,
    pulse: &'a Heartbeat,
}

/// The reply, the report where the format is one, and what is to be kept.
type GitDecision = (Reply, Option<json::RunReport>, Option<DecisionRecord>);

/// Decides one hook of git.
pub(crate) fn run(args: &RunArgs, env: &Environment) -> Result {
    let ground = hold_ground();
    let abort = ground.as_ref().ok().map(|(abort, _)| abort.clone());
    let started = Instant::now();
    let patience = args.budget.map_or(args.stdin_timeout, |whole| whole.min(args.stdin_timeout));
    let pulse = Heartbeat::new(patience);
    let hook = args.event.as_deref().and_then(git::find);
    let refusal = hook.map(|hook| hook.refuse(watchdog::REASON, can_refuse(hook)));
    let refusal = refusal.unwrap_or_else(|| native::refuse(watchdog::REASON));
    let event = hook.map_or_else(|| args.event.as_deref().unwrap_or_default(), |hook| hook.event);
    let budget = args.budget.map(|whole| Budget::from(started, whole));
    let last_word = budget.and_then(|budget| budget.until.checked_add(LATEST));
    let refusal = printed::last_word(args.format, event, refusal);
    let watchdog = Watchdog::start(&pulse, refusal, last_word);
    let Some(name) = args.event.as_deref() else {
        return Err(CommandFailure::with_help(
            "git's events do not name themselves",
            "name the hook: `hookrun run --host git pre-commit`",
        ));
    };
    let Some(hook) = hook else {
        return Err(CommandFailure::with_help(
            format!("`{name}` is no hook of git that hookrun knows"),
            "`hookrun events` shows them under the names of their events, `commit.pre` and so on",
        ));
    };
    let asked = GitRequest { hook, args, env, started, patience, pulse: &pulse };
    let (reply, report, kept) = match ground.and_then(|ground| asked.decide(ground, budget)) {
        Ok(decided) => decided,
        Err(failure) => {
            let reply = hook.refuse(&failure.line(), can_refuse(hook));
            let report = json::refusal_report(hook.event, git::NAME, &failure.line(), &reply);
            let kept = Some(DecisionRecord::refused(report.clone()));
            (reply, Some(report), kept)
        }
    };
    if !pulse.claim() {
        Watchdog::leave_it_to_it();
    }
    let told = PrintedReply::of(args.format, &reply, report.as_ref());
    let status = told.say(&Way { watchdog: &watchdog, abort, budget, is_needed: false }, env);
    told.summarise(env);
    if let Some(kept) = kept {
        kept.keep(&reply, &KeptPlaces::of(env, args.record.as_deref()));
    }
    Ok(if status == native::ALLOWED { ExitStatus::Yes } else { ExitStatus::No })
}

/// Whether the catalog lets the hook refuse.
fn can_refuse(hook: &GitHook) -> bool {
    crate::engine::event::catalog::find(hook.event).is_none_or(|spec| spec.blocks)
}

impl GitRequest<'_> {
    fn decide(&self, (abort, grounds): Ground, budget: Option<Budget>) -> Result<GitDecision> {
        check_depth(self.env)?;
        let scope = ConfigScope::Event(self.hook.event);
        let choice = choice(&self.args.source, self.env, git::NAME);
        let config = Config::load(&choice, self.env, scope);
        let spec = find_event(&config, self.hook.event)?;
        let complaint = config.complaint();
        let settings = KeepSettings::of(&config);
        let runner = runner(config, self.env);
        // git runs some of its hooks very often: with nobody to ask it is asked nothing either.
        let is_recorded = self.args.record.is_some() || self.env.record.is_some();
        let has_hooks = runner.registry().has(&spec.name);
        let is_idle = complaint.is_none() && !has_hooks && !is_recorded;
        let context = if is_idle { Map::new() } else { self.context(&abort)? };
        let event = self.event(&spec, context)?;
        let person = Person::find(self.env);
        let mut runner =
            runner.abort(abort.clone()).subreaper(grounds).heartbeat(self.pulse.clone());
        let watcher = progress::watcher(self.args.format);
        let is_shown = watcher.is_some();
        runner = runner.watch(watcher);
        if let Some(person) = &person {
            runner = runner.ui(person.ui());
        }
        if let Some(jobs) = self.args.jobs {
            runner = runner.jobs(jobs);
        }
        let sought = SearchedPlaces { choice: &choice, env: self.env };
        sought.require(&self.args.require, runner.registry(), &spec.name)?;
        let event = runner.follow_links(event);
        let mut run = runner.handle_within(&event, budget);
        self.pulse.expect_within(PATIENCE);
        let until = budget.map(|budget| budget.until);
        run.outcome = ask::settle(run.outcome, person.as_ref(), until, Some(&abort));
        self.write_message(&run.outcome)?;
        let mut reply = self.hook.reply(&run.outcome, spec.blocks);
        if !is_shown {
            reply.stderr.insert_str(0, &warnings(&run));
        }
        if let Some(complaint) = complaint.filter(|_| reply.status == native::ALLOWED) {
            reply.stderr.push_str(&self.hook.refuse(&complaint, false).stderr);
        }
        let report = printed::report(self.args.format, &run, &reply, &runner, self.env);
        Ok((reply, report, DecisionRecord::decided(event, run, settings)))
    }

    /// What git gave, and the paths that change.
    fn context(&self, abort: &Abort) -> Result<Map<String, Value>> {
        let mut given = GitInput {
            arguments: self.args.arguments.clone(),
            cwd: self.env.cwd.clone(),
            variables: Environment::beginning_with("GIT_"),
            ..GitInput::default()
        };
        if self.hook.lines.is_some() {
            let deadline = Deadline::after(self.started, self.patience);
            given.stdin = input::read_lines(deadline, Some(abort))?;
        }
        if let Some(file) = self.hook.message_file(&given) {
            given.message = Some(read_message(file)?);
        }
        let context = self.hook.context(&given);
        let mut context = context.map_err(|error| CommandFailure::new(error.to_string()))?;
        let listings = self.hook.listings(&context);
        let listings = listings.map_err(|error| CommandFailure::new(error.to_string()))?;
        if self.hook.changes != git::Changes::Unknown {
            context.insert("changes".to_string(), self.changes(&listings, abort)?.into());
        }
        Ok(context)
    }

    fn changes(&self, listings: &[ListingArguments], abort: &Abort) -> Result<Vec<Value>> {
        let whole = self.args.budget.unwrap_or(LISTING);
        // A budget has begun with us, git's own time begins now.
        let started = self.args.budget.map_or_else(Instant::now, |_| self.started);
        self.pulse.expect_within(whole.saturating_add(OWN_WORK));
        let mut outputs = Vec::with_capacity(listings.len());
        for ListingArguments(arguments) in listings {
            let left = whole.saturating_sub(started.elapsed());
            outputs.push(ask_git(arguments, left, whole, abort)?);
        }
        read_changes(&outputs).map_err(CommandFailure::new)
    }

    fn event(&self, spec: &Arc<EventSpec>, context: Map<String, Value>) -> Result<Event> {
        self.pulse.expect_within(OWN_WORK);
        let context = Context::parse(Value::Object(context).to_string());
        let event = context.and_then(|context| Event::new(Arc::clone(spec), git::NAME, context));
        event.map_err(|error| CommandFailure::new(error.to_string()))
    }

    /// Puts a rewritten message into its file, where git reads it again.
    fn write_message(&self, outcome: &Outcome) -> Result<()> {
        let update = outcome.update();
        let Some(message) = update.get("message").filter(|_| outcome.is_allowed()) else {
            return Ok(());
        };
        let given = GitInput { arguments: self.args.arguments.clone(), ..GitInput::default() };
        let (Some(file), Some(text)) = (self.hook.message_file(&given), message.as_str()) else {
            return Err(CommandFailure::new("the rewritten `message` is not a text"));
        };
        let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        fs::write(file, format!("{text}{end}")).map_err(|error| {
            let file = file.display();
            CommandFailure::new(format!(
                "the rewritten message cannot be written to `{file}`: {error}"
            ))
        })
    }
}

/// What hooks that answered printed on stderr, where nobody blocked: git shows it to the person.
fn warnings(run: &Run) -> String {
    let mut text = String::new();
    if !run.outcome.is_allowed() {
        return text;
    }
    for hook in &run.hooks {
        let Fate::Ran(trace) = &hook.fate else { continue };
        if matches!(trace.ending, Ending::Answered(_)) {
            text.push_str(&progress::lines(&hook.hook, &trace.stderr.text()));
        }
    }
    text
}

fn read_message(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).map_err(|error| {
        let file = file.display();
        CommandFailure::new(format!("the message in `{file}` cannot be read: {error}"))
    })
}

/// What git prints, within what is left of a limit.
fn ask_git(
    arguments: &[OsString],
    left: Duration,
    limit: Duration,
    abort: &Abort,
) -> Result<Vec<u8>> {
    let mut errand = Errand::new("git", arguments, left);
    errand.command.envs(VARIABLES.iter().copied());
    errand.kept_bytes = LONGEST_LISTING_BYTES + 1;
    let ended = errand.run(|| abort.times_raised() > 0).map_err(|error| {
        CommandFailure::new(format!("cannot get the changes from git: {error}"))
    })?;
    let is_whole = |output: &Output| output.stdout.len() as u64 <= LONGEST_LISTING_BYTES;
    let output = match ended {
        ErrandEnd::Exited(output) if is_whole(&output) => output,
        _ if abort.times_raised() > 0 => {
            return Err(CommandFailure::new(told_to_stop(abort.signal())));
        }
        _ => {
            let why = format!("git did not list what changes within {}", duration_text(limit));
            return Err(CommandFailure::new(why));
        }
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        // Outside of a repository `git diff` compares files, and prints the usage of that.
        let is_outside = said.contains("usage: git diff --no-index");
        let why = if is_outside { "there is no repository here" } else { said.trim_end() };
        return Err(CommandFailure::new(format!("git cannot list what changes: {why}")));
    }
    Ok(output.stdout)
}
