//! Runs a plan, step by step, and hears the hooks in plan order.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::event::{Event, OnFailure};
use crate::exec::answer::Permit;
use crate::exec::{Budget, Engine, Job, command};
use crate::hook::{Background, Hook, Place};
use crate::outcome::merge::{self, Flow, Merger};
use crate::outcome::{Decision, Rewritten, Verdict};
use crate::plan::{Plan, Planned, Step, Wish};
use crate::run::{Ending, Fate, HookRun, Run, Trace};

/// The longest value that goes into a hook's environment (the system's own limit for one
/// variable is 128 KiB, for all of them together 2 MiB).
pub const LONGEST_VARIABLE_BYTES: usize = 32 * 1024;

/// A row of [`VARIABLES`].
#[derive(Debug)]
pub struct VariableRow {
    /// The name.
    pub name: &'static str,
    /// What it holds.
    pub about: &'static str,
}

/// The variables that a hook finds in its environment beside hookrun's own.
pub const VARIABLES: &[VariableRow] = &[
    VariableRow { name: "HOOKRUN_EVENT", about: "the event's canonical name" },
    VariableRow { name: "HOOKRUN_HOOK", about: "the hook's name" },
    VariableRow { name: "HOOKRUN_HOST", about: "who asks: `native`, or a dialect" },
    VariableRow { name: "HOOKRUN_SESSION_ID", about: "the context's `sessionId`" },
    VariableRow { name: "HOOKRUN_PROJECT_DIR", about: "the project's root" },
    VariableRow { name: "HOOKRUN_TIMEOUT_MS", about: "how long the hook may run" },
    VariableRow {
        name: "HOOKRUN_STATE_DIR",
        about: "a private folder of its own, for each session and hook name",
    },
    VariableRow { name: "HOOKRUN_TOOL_NAME", about: "the context's `toolName`" },
    VariableRow { name: "HOOKRUN_ACTION_KIND", about: "`action.kind`: shell, read, write, …" },
    VariableRow { name: "HOOKRUN_ACTION_COMMAND", about: "`action.command`" },
    VariableRow { name: "HOOKRUN_ACTION_PATHS", about: "`action.paths`, one a line" },
    VariableRow { name: "HOOKRUN_PROMPT", about: "the context's `prompt`" },
    VariableRow {
        name: "HOOKRUN_RUN_ID",
        about: "the mark by which stray processes of a run are found",
    },
    VariableRow {
        name: "HOOKRUN_TRUNCATED",
        about: "names of the variables above that were left out: over 32 KiB, with a NUL, or paths with line breaks",
    },
];

/// Where hooks run.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// hookrun's own working directory.
    pub cwd: PathBuf,
    /// The project's root.
    pub project: PathBuf,
    /// `PATH`, for commands without a slash.
    pub search: Option<OsString>,
    /// Where state folders are made, when a hook is run.
    pub state: PathBuf,
    /// Names of our own variables in hookrun's environment, which tell of another event.
    pub inherited: Vec<String>,
    /// The mark that the processes of this run carry; different for every runner.
    pub run_id: String,
}

impl Surroundings {
    /// What relative paths of this event are relative to.
    pub fn place(&self, event: &Event) -> Place {
        let named = event.context().string("cwd").unwrap_or_default();
        let cwd = if named.is_empty() { self.cwd.clone() } else { self.cwd.join(named) };
        Place { cwd, project: self.project.clone() }
    }
}

/// Runs `plan` for `event`.
///
/// A hook's wish is asked again when an earlier one rewrote the context: a guard sees the
/// command that will run, not the one that was asked for.
pub fn run(
    plan: Plan,
    event: &Event,
    engine: &Engine,
    surroundings: &Surroundings,
    budget: Option<Budget>,
) -> Run {
    let started = Instant::now();
    let spec = event.spec().clone();
    let mut chain = Chain {
        event: event.clone(),
        merger: Merger::new(&spec),
        engine,
        surroundings,
        budget,
        payload: None,
        is_rewritten: false,
        runs: Vec::new(),
        is_settled: false,
    };
    for step in plan.steps {
        chain.step(step);
    }
    let Chain { event, mut merger, runs, .. } = chain;
    let told_to_stop = engine.abort.as_ref().is_some_and(|abort| abort.times_raised() > 0);
    if spec.blocks && told_to_stop {
        merger.refuse("hookrun was told to stop".to_string());
    }
    let outcome = merger.finish();
    Run { event, hooks: runs, outcome, took: started.elapsed() }
}

struct Chain<'c> {
    event: Event,
    merger: Merger<'c>,
    engine: &'c Engine,
    surroundings: &'c Surroundings,
    budget: Option<Budget>,
    /// The context as the next hook gets it; made anew after a rewrite.
    payload: Option<Arc<Vec<u8>>>,
    is_rewritten: bool,
    runs: Vec<HookRun>,
    is_settled: bool,
}

impl Chain<'_> {
    fn step(&mut self, step: Step) {
        let mut wanted: Vec<Arc<Hook>> = Vec::new();
        let mut places = Vec::new();
        for planned in step.hooks {
            let hook = Arc::clone(&planned.hook);
            let fate = self.first_fate(planned);
            if matches!(fate, Fate::Unreached) && !self.is_settled {
                places.push(self.runs.len());
                wanted.push(Arc::clone(&hook));
            }
            self.runs.push(HookRun::new(&hook, &self.event, fate));
        }
        if wanted.is_empty() {
            return;
        }
        let traces = self.run_together(&wanted);
        for ((hook, trace), place) in wanted.iter().zip(traces).zip(places) {
            self.hear(hook, &trace);
            self.runs[place].fate = Fate::Ran(Box::new(trace));
        }
    }

    /// The fate of a hook before it runs; `Unreached` if its turn has now come.
    fn first_fate(&self, planned: Planned) -> Fate {
        let wish = if self.is_rewritten {
            Wish::of(&planned.hook, &self.event, &self.surroundings.place(&self.event))
        } else {
            planned.wish
        };
        match wish {
            Wish::Disabled => Fate::Disabled,
            Wish::Unwanted(mismatch) => Fate::Unwanted(mismatch),
            Wish::Wanted => Fate::Unreached,
        }
    }

    fn run_together(&mut self, hooks: &[Arc<Hook>]) -> Vec<Trace> {
        let payload = Arc::clone(self.payload.get_or_insert_with(|| {
            let mut json = self.event.context().to_json();
            json.push(b'\n');
            Arc::new(json)
        }));
        let spec = self.event.spec();
        let facts = facts(&self.event, self.surroundings);
        let (cwd, cwd_note) = working_directory(&self.event, self.surroundings);
        let variables: Vec<Vec<(String, String)>> =
            hooks.iter().map(|hook| variables(hook, &facts, self.surroundings)).collect();
        let absent: Vec<Vec<&str>> =
            variables.iter().map(|set| absent(set, &self.surroundings.inherited)).collect();
        let jobs: Vec<Job<'_>> = hooks
            .iter()
            .zip(variables)
            .zip(&absent)
            .map(|((hook, variables), without)| Job {
                hook,
                program: command::resolve(&hook.handler, self.surroundings.search.as_deref()),
                payload: Arc::clone(&payload),
                variables,
                without,
                cwd: cwd.clone(),
                permit: Permit { spec, rewrite: hook.rewrite },
            })
            .collect();
        let blocks = spec.blocks;
        let on_failure = |hook: &Hook| hook.on_failure.unwrap_or(spec.on_failure);
        // A failure ends its neighbours early only if every one of them fails closed: the loop
        // does not know whose failure it sees.
        let all_close = hooks.iter().all(|hook| on_failure(hook) == OnFailure::Block);
        let settles = |trace: &Trace| blocks && refuses(&trace.ending, all_close);
        let mut traces = self.engine.step(&jobs, self.budget, &settles);
        if let Some(note) = cwd_note {
            for trace in &mut traces {
                trace.notes.push(note.clone());
            }
        }
        traces
    }

    fn hear(&mut self, hook: &Hook, trace: &Trace) {
        let Some(heard) = trace.ending.heard() else {
            return;
        };
        // That time is up or that we were told to stop is no failure of the hook's: what its spec
        // says about those does not open the gate.
        let is_ours = matches!(trace.ending, Ending::OutOfBudget { .. } | Ending::Aborted);
        let own = hook.on_failure.unwrap_or(self.event.spec().on_failure);
        let on_failure = if is_ours { OnFailure::Block } else { own };
        if self.merger.hear(&hook.name, on_failure, &heard) == Flow::Ends {
            self.is_settled = true;
            return;
        }
        if let Some(verdict) = trace.ending.verdict() {
            self.rewrite(hook, verdict);
        }
    }

    fn rewrite(&mut self, hook: &Hook, verdict: &Verdict) {
        if matches!(verdict.decision, Decision::Block { .. }) {
            return;
        }
        for (field, value) in &verdict.update {
            let Some(rule) = self.event.spec().rewrite(field) else {
                continue;
            };
            let rule = rule.merge;
            let old = self.event.context().value(field).ok().flatten().unwrap_or(Value::Null);
            let already = self.merger.has_rewritten(field);
            let result = merge::rewrite(rule, &old, value, already).and_then(|new| {
                let applied = self.event.rewrite(field, &new);
                applied.map(|()| new).map_err(|error| error.to_string())
            });
            let (new, rejected) = match result {
                Ok(new) => (new, None),
                Err(why) => (value.clone(), Some(why)),
            };
            if rejected.is_none() {
                self.payload = None;
                self.is_rewritten = true;
            }
            let (hook, field) = (hook.name.clone(), field.clone());
            self.merger.rewritten(Rewritten { hook, field, old, new, rejected });
        }
    }
}

/// Whether an ending refuses a gate, where every failure counts as one if `failures_close`.
fn refuses(ending: &Ending, failures_close: bool) -> bool {
    match ending.verdict() {
        Some(verdict) => matches!(verdict.decision, Decision::Block { .. }),
        None => failures_close && ending.failure().is_some(),
    }
}

/// The event's own working directory where it exists and is not hookrun's already; and a note
/// where the event names one that cannot be used.
fn working_directory(
    event: &Event,
    surroundings: &Surroundings,
) -> (Option<PathBuf>, Option<String>) {
    let Some(named) = event.context().string("cwd").filter(|cwd| !cwd.is_empty()) else {
        return (None, None);
    };
    let path = surroundings.cwd.join(&named);
    match path.metadata() {
        Ok(meta) if meta.is_dir() => {
            let own = Path::new(".").metadata().ok();
            let is_own = own.is_some_and(|own| (own.dev(), own.ino()) == (meta.dev(), meta.ino()));
            (if is_own { None } else { Some(path) }, None)
        }
        _ => {
            let own = surroundings.cwd.display();
            (None, Some(format!("its `cwd` {named} is not a folder; it ran in {own}")))
        }
    }
}

/// The variables that are the same for every hook of an event.
fn facts(event: &Event, surroundings: &Surroundings) -> Vec<(&'static str, String)> {
    let context = event.context();
    let mut facts = vec![
        ("HOOKRUN_EVENT", event.spec().name.to_string()),
        ("HOOKRUN_HOST", event.host().to_string()),
        ("HOOKRUN_PROJECT_DIR", surroundings.project.to_string_lossy().into_owned()),
    ];
    let mut fact = |name, value: Option<String>| {
        if let Some(value) = value {
            facts.push((name, value));
        }
    };
    fact("HOOKRUN_SESSION_ID", context.string("sessionId"));
    fact("HOOKRUN_TOOL_NAME", context.string("toolName"));
    fact("HOOKRUN_PROMPT", context.string("prompt"));
    if let Some(action) = event.action() {
        fact("HOOKRUN_ACTION_KIND", Some(action.kind.word().to_string()));
        fact("HOOKRUN_ACTION_COMMAND", action.command.clone());
        if !action.paths.is_empty() {
            // A line break in a path would make two of it; with a NUL the list is left out.
            let is_clear = action.paths.iter().all(|path| !path.contains('\n'));
            fact(
                "HOOKRUN_ACTION_PATHS",
                Some(action.paths.join(if is_clear { "\n" } else { "\0" })),
            );
        }
    }
    facts
}

/// The variables of one hook.
fn variables(
    hook: &Hook,
    facts: &[(&'static str, String)],
    surroundings: &Surroundings,
) -> Vec<(String, String)> {
    let mut variables = vec![
        ("HOOKRUN_HOOK".to_string(), hook.name.clone()),
        ("HOOKRUN_TIMEOUT_MS".to_string(), hook.limits.timeout.as_millis().to_string()),
    ];
    if hook.background == Background::Kill {
        variables.push(("HOOKRUN_RUN_ID".to_string(), surroundings.run_id.clone()));
    }
    let mut left_out = Vec::new();
    for (name, value) in facts {
        if value.len() > LONGEST_VARIABLE_BYTES || value.contains('\0') {
            left_out.push(*name);
        } else {
            variables.push(((*name).to_string(), value.clone()));
        }
    }
    if !left_out.is_empty() {
        variables.push(("HOOKRUN_TRUNCATED".to_string(), left_out.join(" ")));
    }
    let session = facts.iter().find(|(name, _)| *name == "HOOKRUN_SESSION_ID");
    let session = session.map_or("no-session", |(_, id)| id.as_str());
    if let Some(folder) = state_folder(&surroundings.state, session, &hook.name) {
        variables.push(("HOOKRUN_STATE_DIR".to_string(), folder));
    }
    variables
}

/// Our variables that hookrun's own environment has and this hook does not get: when a hook runs
/// hookrun, they tell of another event.
fn absent<'a>(variables: &[(String, String)], inherited: &'a [String]) -> Vec<&'a str> {
    let is_set = |name: &&str| variables.iter().any(|(set, _)| set == name);
    let is_ours = |name: &&str| VARIABLES.iter().any(|row| row.name == *name);
    inherited.iter().map(String::as_str).filter(|name| is_ours(name) && !is_set(name)).collect()
}

/// Makes the state folder of a session and hook, for its owner only. `None` where that cannot be
/// done: a hook that needs no state still runs.
fn state_folder(root: &Path, session: &str, hook: &str) -> Option<String> {
    let folder = root.join("sessions").join(file_name(session)).join(file_name(hook));
    let make = |recursive: bool| DirBuilder::new().mode(0o700).recursive(recursive).create(&folder);
    match make(false) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(_) => {
            if let Err(error) = make(true) {
                tracing::warn!(folder = %folder.display(), %error, "no state folder");
                return None;
            }
        }
    }
    // Somebody else may have been here first, or may come: neither folder may be open to others.
    let own = rustix::process::getuid().as_raw();
    let root_is_own = root
        .symlink_metadata()
        .is_ok_and(|meta| meta.uid() == own && (meta.is_symlink() || meta.mode() & 0o022 == 0));
    let folder_is_private = folder
        .symlink_metadata()
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == own && meta.mode() & 0o077 == 0);
    if !root_is_own || !folder_is_private {
        tracing::warn!(folder = %folder.display(), "the state folder is open to others; not used");
        return None;
    }
    folder.into_os_string().into_string().ok()
}

/// A name for a file that is different for every text: letters, digits, `-`, `_` and inner dots
/// stay, every other byte becomes `%` and two digits.
fn file_name(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if at > 0 => name.push('.'),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name.is_empty() {
        name.push('%');
    }
    // A file name has at most 255 bytes.
    if name.len() > 200 {
        let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        name.truncate(180);
        name.push_str(&format!("%%{sum:016x}"));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn no_session_id_escapes_its_folder() {
        assert_eq!(file_name("10-guard.sh"), "10-guard.sh");
        assert_eq!(file_name("../../etc"), "%2E.%2F..%2Fetc");
        assert_eq!(file_name(".."), "%2E.");
        assert_eq!(file_name(""), "%");
        assert!(file_name(&"x".repeat(1000)).len() < 255);
        assert_ne!(file_name(&"x".repeat(1000)), file_name(&"x".repeat(1001)));
    }
}
