//! `hookrun run --host git HOOK [-- ARG…]`: decides for git. Exit 0 continues, 1 blocks. If hookrun
//! fails, every gate blocks.

mod check;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::config::discover::work_tree;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::decide::git::{EventGit, OWN_WORK};
use crate::decide::hooks::{check_depth, nearest_hook};
use crate::decide::staged::StagedFiles;
use crate::decide::{self, DetachedRun, EventDecision, LoadedHooks, Terms, find_event};
use crate::engine::complaint::{Complaint, did_you_mean};
use crate::engine::event::{Context, Event};
use crate::engine::hook::StagedText;
use crate::engine::outcome::Outcome;
use crate::engine::run::{Ending, Fate, Run};
use crate::hosts::git::{self, GitHook, GitInput, read_changes};
use crate::hosts::{LATEST, native};
use serde_json::{Map, Value};

use crate::cli::args::{CheckArgs, DecidingArgs, RunArgs};
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::host::git::ask;
use crate::cli::input;
use crate::cli::run::progress;
use crate::cli::run::watchdog::{self, AnswerBy, Orders, TimeLimit};
use crate::cli::run::{Ground, equipped, give, hold_ground, last_word_in, report};
use crate::cli::terminal::Terminal;
use check::CheckedFiles;

/// The marker file of each operation. A rebase also picks and merges, so it comes first.
const SIGNS: &[(&str, &str)] = &[
    ("rebase-merge", "rebase"),
    ("rebase-apply/rebasing", "rebase"),
    ("MERGE_HEAD", "merge"),
    (CHERRY_PICK, "cherry-pick"),
    (REVERT, "revert"),
];

const CHERRY_PICK: &str = "CHERRY_PICK_HEAD";
const REVERT: &str = "REVERT_HEAD";

/// HEAD of a repository with reftables.
const ELSEWHERE: &str = "refs/heads/.invalid";

struct GitRequest<'a> {
    hook: &'static GitHook,
    args: &'a RunArgs,
    env: &'a Environment,
    time: &'a TimeLimit,
    check: Option<&'a CheckedFiles<'a>>,
}

pub(crate) fn run(args: &RunArgs, env: &Environment) -> Result {
    let hook = args.event.as_deref().and_then(git::find);
    run_hook(hook, args, env, None)
}

/// Runs the hooks of `commit.pre` on chosen files.
pub(crate) fn check(args: &CheckArgs, env: &Environment) -> Result {
    let top = work_tree(&env.cwd).ok_or_else(|| {
        let cause = format!("`{}` is not in a git repository", env.cwd.display());
        Complaint::with_cure(cause, "run `hookrun check` in a git repository")
    })?;
    let run = RunArgs {
        dialect: Some(git::NAME.to_string()),
        source: args.source.clone(),
        deciding: DecidingArgs {
            trust: args.trust.clone(),
            ..DecidingArgs::default()
        },
        stdin_timeout: Duration::from_secs(5),
        format: args.format,
        ..RunArgs::default()
    };
    let own_env = Environment {
        cwd: top.clone(),
        ..env.clone()
    };
    let check = CheckedFiles {
        args,
        cwd: &env.cwd,
        top,
    };
    run_hook(Some(&git::CHECK), &run, &own_env, Some(&check))
}

/// Decides for a git hook, or for `hookrun check`.
fn run_hook(
    hook: Option<&'static GitHook>,
    args: &RunArgs,
    env: &Environment,
    check: Option<&CheckedFiles<'_>>,
) -> Result {
    let ground = hold_ground();
    let abort = ground.as_ref().ok().map(|(abort, _)| abort.clone());
    let name = hook.map(|hook| hook.name).or(args.event.as_deref());
    let event = hook.map_or(name.unwrap_or_default(), |hook| hook.event);
    let format = args.format;
    let named = event.to_string();
    let block = Box::new(move || {
        let block = match hook {
            Some(hook) => hook.block(watchdog::REASON, hook.is_gate()),
            None => native::block(watchdog::REASON),
        };
        last_word_in(format, &named, block)
    });
    let by = args.budget.map(|budget| AnswerBy {
        budget,
        last_word: budget.saturating_add(LATEST),
    });
    let time = TimeLimit::start(args.stdin_timeout, Orders { block, by });
    let Some(name) = name else {
        return Err(Complaint::with_cure(
            "no git hook given",
            "name the hook: `hookrun run --host git pre-commit`",
        ));
    };
    let Some(hook) = hook else {
        return Err(Complaint::with_cure(
            format!("`{name}` is not a git hook that hookrun supports"),
            "name a git hook, such as `pre-commit`, or its event, such as `commit.pre`; `hookrun events` lists the events",
        ));
    };
    let request = GitRequest {
        hook,
        args,
        env,
        time: &time,
        check,
    };
    let decided = match ground {
        Ok(ground) => request.decide(ground),
        Err(failure) => Err(failure),
    };
    let mut decision = decided.unwrap_or_else(|failure| {
        let reason = failure.to_string();
        let reply = hook.block(&reason, hook.is_gate());
        EventDecision::blocked(hook.event, git::NAME, &reason, reply)
    });
    // git ignores stdout; the exit status suffices.
    decision.is_needed = false;
    let is_allowed = give(decision, args, env, &time, abort.as_ref());
    Ok(ExitStatus::yes_if(is_allowed))
}

impl GitRequest<'_> {
    fn decide(&self, ground: Ground) -> Result<EventDecision> {
        let GitRequest {
            hook,
            args,
            env,
            time,
            check,
        } = self;
        check_depth(env)?;
        let choice = args.source.trusting(&args.deciding.trust, env, git::NAME);
        let mut config = Config::load(&choice, env, ConfigScope::Event(hook.event));
        let skips = skip_lines(&mut config, &choice, env);
        let spec = find_event(&config, hook.event)?;
        let complaint = config.complaint().or_else(|| config.trust.held(&spec));
        let paths = match (check, &complaint) {
            (Some(_), Some(complaint)) if config.hooks.is_empty() => {
                return Err(Complaint::new(complaint.clone()));
            }
            (Some(check), _) => check.choose(&mut config.hooks)?,
            (None, _) => Vec::new(),
        };
        let ui = Terminal::ui();
        let abort = ground.0.clone();
        let git = EventGit {
            abort: abort.clone(),
            heartbeat: time.heartbeat.clone(),
            budget: time.budget(),
        };
        let mut hooks = LoadedHooks::new(config, env, |runner| {
            equipped(runner, ground, time, args, env, ui.clone())
        });
        // git runs some hooks very often, so do not list changes for none.
        let is_recorded = args.deciding.record.is_some() || env.record.is_some();
        let has_hooks = hooks.runner.registry().has(&spec.name);
        let is_idle = complaint.is_none() && !has_hooks && !is_recorded;
        let context = if is_idle {
            Map::new()
        } else {
            self.context(&git, &paths)?
        };
        time.heartbeat.expect_within(OWN_WORK);
        let context = Context::parse(Value::Object(context).to_string())?;
        let event = Event::new(Arc::clone(&spec), git::NAME, context)?;
        let staged = self.staged_files(&event, &git);
        if let Some(staged) = &staged {
            hooks.runner.engine.staged = Some(Arc::clone(staged) as Arc<dyn StagedText>);
        }
        hooks.require(&args.require, &spec.name)?;
        let event = hooks.runner.follow_links(event);
        let terms = Terms {
            budget: time.budget(),
            abort: &abort,
            ui: ui.as_deref(),
            detached: DetachedRun::Awaited,
            is_watched: false,
            heartbeat: Some(&time.heartbeat),
        };
        let mut run = decide::run(&event, None, &hooks, &hooks.runner, &terms);
        self.write_message(&run.outcome)?;
        if let Some(staged) = staged
            && run.outcome.is_allowed()
            && let Some(fixed) = staged.stage_fixes()?
        {
            run.outcome.add_notice(fixed);
        }
        let mut reply = hook.reply(&run);
        if !progress::is_watched(args.format) {
            reply.stderr.insert_str(0, &warnings(&run));
        }
        reply.stderr.insert_str(0, &skips);
        if let Some(complaint) = complaint
            && reply.status == native::ALLOWED
        {
            reply.stderr.push_str(&hook.block(&complaint, false).stderr);
        }
        let mut decision = EventDecision::of_event(event, run, reply, &hooks);
        report(&mut decision, args.format, &hooks.runner, env);
        Ok(decision)
    }

    fn context(&self, git: &EventGit, paths: &[PathBuf]) -> Result<Map<String, Value>> {
        let mut given = GitInput {
            arguments: self.args.arguments.clone(),
            cwd: self.env.cwd.clone(),
            variables: Environment::beginning_with("GIT_"),
            ..GitInput::default()
        };
        if self.hook.lines.is_some() {
            given.stdin = input::read_lines(self.time.stdin, Some(&git.abort))?;
        }
        if let Some(file) = self.hook.message_file(&given) {
            let what = format!("cannot read the message in `{}`", file.display());
            given.message = Some(fs::read(file).map_err(failed(what))?);
        }
        let mut context = self.hook.context(&given)?;
        if self.hook.has_head {
            let mut variables = given.variables.iter();
            let git_dir = variables.find(|(name, _)| name == "GIT_DIR");
            let git_dir = git_dir.map(|(_, folder)| folder.as_str());
            add_head(&mut context, self.hook, &given.cwd, git_dir)?;
        }
        if let Some(check) = self.check {
            context.insert("changes".to_string(), check.changes(git, paths)?.into());
            return Ok(context);
        }
        let listings = self.hook.listings(&context)?;
        if self.hook.changes != git::Changes::Unknown {
            let mut outputs = Vec::with_capacity(listings.len());
            for arguments in listings {
                outputs.push(git.call(arguments).read("list the changes")?);
            }
            let changes = read_changes(&outputs).map_err(Complaint::new)?;
            context.insert("changes".to_string(), changes.into());
        }
        Ok(context)
    }

    /// The staged files, if git commits them after this event.
    fn staged_files(&self, event: &Event, git: &EventGit) -> Option<Arc<StagedFiles>> {
        if self.hook.changes != git::Changes::Index {
            return None;
        }
        let top = self.env.cwd.clone();
        let files = event.files(&top);
        let no_fixes = match self.check {
            Some(check) => check.no_fixes(),
            None => self.hook.no_fixes(),
        };
        let files = StagedFiles::new(git.clone(), top, &files, no_fixes);
        Some(Arc::new(files))
    }

    /// Writes a rewritten message to its file; a hook may already have done so.
    fn write_message(&self, outcome: &Outcome) -> Result<()> {
        let update = outcome.update();
        let Some(message) = update.get("message").filter(|_| outcome.is_allowed()) else {
            return Ok(());
        };
        let given = GitInput {
            arguments: self.args.arguments.clone(),
            ..GitInput::default()
        };
        let (Some(file), Some(text)) = (self.hook.message_file(&given), message.as_str()) else {
            return Err(Complaint::new("the rewritten `message` is not a string"));
        };
        let now = fs::read(file).unwrap_or_default();
        if String::from_utf8_lossy(&now) == text {
            return Ok(());
        }
        let end = if text.ends_with('\n') || text.is_empty() {
            ""
        } else {
            "\n"
        };
        let what = format!("cannot write the rewritten message to `{}`", file.display());
        fs::write(file, format!("{text}{end}")).map_err(failed(what))
    }
}

fn skip_lines(config: &mut Config, choice: &Choice, env: &Environment) -> String {
    let mut lines = config.skipped.clone();
    let mut unknown = Vec::new();
    for name in &env.skip {
        let skips = config.skip(name);
        if skips.is_empty() {
            unknown.push(name);
        }
        lines.extend(skips);
    }
    if !unknown.is_empty() {
        let mut hooks = Config::load(choice, env, ConfigScope::All).hooks;
        hooks.retain(|hook| git::find(&hook.event).is_some());
        for name in unknown {
            if hooks.iter().any(|hook| hook.has_name(name)) {
                continue;
            }
            let names = hooks.iter().map(|hook| hook.name.as_str());
            let help = did_you_mean(nearest_hook(name, names), || {
                "`hookrun list` shows them".to_string()
            });
            lines.push(format!(
                "warning: HOOKRUN_SKIP names `{name}`, which is not one of this project's git hooks; {help}"
            ));
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// stderr of successful hooks for git to show, if nothing blocked.
fn warnings(run: &Run) -> String {
    let mut text = String::new();
    if !run.outcome.is_allowed() {
        return text;
    }
    for hook in &run.hooks {
        let Fate::Ran(trace) = &hook.fate else {
            continue;
        };
        if matches!(trace.ending, Ending::Answered(_)) {
            text.push_str(&progress::lines(&hook.hook, &trace.stderr.text()));
        }
    }
    text
}

/// Adds the keys `branch` and `state` to a context, read from files without starting git, except for
/// reftables; none outside a repository. Fails if HEAD cannot be read, because a rule may need the
/// branch.
fn add_head(
    context: &mut Map<String, Value>,
    hook: &GitHook,
    cwd: &Path,
    git_dir: Option<&str>,
) -> Result<()> {
    let Some(folder) = find_folder(cwd, git_dir) else {
        return Ok(());
    };
    let file = folder.join("HEAD");
    let what = format!("cannot read `{}`", file.display());
    let text = fs::read(&file).map_err(failed(what))?;
    let text = String::from_utf8_lossy(&text);
    // HEAD without a ref is a commit.
    let mut reference = text
        .strip_prefix("ref:")
        .map(|name| name.trim().to_string());
    let mut found = SIGNS.iter().find(|(sign, _)| folder.join(sign).exists());
    if reference.as_deref() == Some(ELSEWHERE) {
        let printed = ask(cwd, &["symbolic-ref", "--quiet", "HEAD"])?;
        reference = printed.map(|text| text.to_string_lossy().into_owned());
        for sign in SIGNS
            .iter()
            .filter(|(sign, _)| matches!(*sign, CHERRY_PICK | REVERT))
        {
            if found.is_none() && ask(cwd, &["rev-parse", "--verify", "--quiet", sign.0])?.is_some()
            {
                found = Some(sign);
            }
        }
    }
    let branch = reference
        .as_deref()
        .and_then(|text| text.strip_prefix("refs/heads/"));
    context.insert("branch".to_string(), branch.into());
    if let Some(operation) = found.map(|(_, operation)| *operation).or(hook.operation) {
        context.insert("state".to_string(), operation.into());
    }
    Ok(())
}

/// The git folder: `$GIT_DIR`, else that of the enclosing working tree.
fn find_folder(cwd: &Path, git_dir: Option<&str>) -> Option<PathBuf> {
    if let Some(named) = git_dir {
        return Some(cwd.join(named));
    }
    let top = work_tree(cwd)?;
    let entry = top.join(".git");
    if entry.is_dir() {
        return Some(entry);
    }
    // In a linked worktree or a submodule, `.git` is a file that names the folder.
    let text = fs::read_to_string(&entry).ok()?;
    Some(top.join(text.strip_prefix("gitdir:")?.trim()))
}
