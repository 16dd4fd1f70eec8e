//! The environment, working directory, state folder and sandbox rules of a hook.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::mentions::may_look;
use crate::engine::complaint::Complaint;
use crate::engine::event::action::PathChange;
use crate::engine::event::{Action, Event, EventSpec};
use crate::engine::exec::command::{self, Program};
use crate::engine::exec::sandbox::SandboxRules;
use crate::engine::hook::{Background, Handler, Hook, LayerKind, Lives, PathBase, Reads};
use crate::engine::run::TraceContext;
use crate::engine::session;
use crate::engine::ui::{Connection, Server};

/// Maximum bytes of a value in a hook's environment. Linux limits one variable with its name to 128
/// KiB, and usually all of them to 2 MiB.
pub const LONGEST_VARIABLE_BYTES: usize = 120 * 1024;

/// Variables that hookrun adds to a hook's environment: name and content.
#[rustfmt::skip]
pub const VARIABLES: &[(&str, &str)] = &[
    ("HOOKRUN_EVENT", "the event's canonical name"),
    ("HOOKRUN_HOOK", "the hook's name"),
    ("HOOKRUN_HOST", "the host that sent the event: the name of an agent or hook system, or `native`"),
    ("HOOKRUN_SESSION_ID", "the context's `sessionId`"),
    ("HOOKRUN_PROJECT_DIR", "the project's root; for a hook in a nested folder with its own hooks, that folder"),
    ("HOOKRUN_HOOK_DIR", "the folder that contains the script, or that contains the hookrun.toml that names the hook"),
    ("HOOKRUN_TIMEOUT_MS", "the hook's timeout, in milliseconds"),
    ("HOOKRUN_STATE_DIR", "a private folder for each session and hook name"),
    ("HOOKRUN_HAS_UI", "1 if `hookrun hook ui` can ask a person now, else 0"),
    ("HOOKRUN_SOCKET", "the socket for `hookrun hook ui` and `hookrun hook send`, if the host has one"),
    ("HOOKRUN_DEPTH", "the nesting depth of hookrun runs; above 8, `run` blocks"),
    ("HOOKRUN_TOOL_NAME", "the context's `toolName`"),
    ("HOOKRUN_ACTION_KIND", "`action.kind`: shell, read, write, …"),
    ("HOOKRUN_ACTION_COMMAND", "`action.command`"),
    ("HOOKRUN_ACTION_PROGRAMS", "the base names of the programs in `action.commands`, one per line; `?` stands for an unknown program, or for anything else that an uncertain command line may run"),
    ("HOOKRUN_ACTION_PATHS", "`action.paths`, one per line"),
    ("HOOKRUN_ACTION_RESOLVED", "`action.resolved`: the same paths, absolute and with links resolved, one per line"),
    ("HOOKRUN_CHANGES", "the context's `changes` for a commit or push, one per line: git's status letter (`D` for a deleted file, `R` for the old path of a rename), a tab and the path"),
    ("HOOKRUN_PROMPT", "the context's `prompt`"),
    ("HOOKRUN_RUN_ID", "an id shared by the processes of a run"),
    ("TRACEPARENT", "hookrun's W3C trace context; by default one trace for each session"),
    ("HOOKRUN_TRUNCATED", "the names of variables that were left out because their value is longer than 120 KiB, contains a NUL, or is a list with a path that contains a line break"),
];

const OF_ALL_EVENTS: &[&str] = &["HOOKRUN_EVENT", "HOOKRUN_HOST", "HOOKRUN_PROJECT_DIR"];

/// The environment in which hooks run.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// hookrun's working directory.
    pub cwd: PathBuf,
    /// Project root.
    pub project: PathBuf,
    /// `PATH`, for commands without a slash.
    pub search: Option<OsString>,
    /// Home folder, for `~` in sandbox paths.
    pub home: Option<PathBuf>,
    /// Folder in which hooks' state folders are created.
    pub state: PathBuf,
    /// `HOOKRUN_*` variables of this process that hooks do not inherit, because they describe
    /// another event or only look like ours. Settings are not included.
    pub inherited: Vec<String>,
    /// Number of hookrun runs that contain this one.
    pub depth: u32,
    /// Environment of hooks. `None`: hookrun's environment when the first hook started. If set,
    /// hooks start in `cwd`, which may differ from this process's working directory.
    pub variables: Option<Vec<(OsString, OsString)>>,
    /// Mark of this run's processes; must be unique per runner.
    pub run_id: String,
    /// Inherited `TRACEPARENT`.
    pub traceparent: Option<String>,
}

impl Surroundings {
    pub(crate) fn trace_context(&self, event: &Event) -> TraceContext {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default();
        let unique = format!("{} {}", self.run_id, now.as_nanos());
        let session = event.given().string("sessionId");
        TraceContext::of(self.traceparent.as_deref(), session.as_deref(), &unique)
    }

    /// Creates the private state folder of a hook in a session.
    pub(super) fn state_folder(&self, session: Option<&str>, hook: &str) -> io::Result<PathBuf> {
        let of_session = session::folder(&self.state, session);
        let is_new = !of_session.exists();
        let folder = session::hook_folder(&of_session, hook);
        session::make_private(&self.state, &folder)?;
        if is_new {
            session::remove_old(&self.state);
        }
        Ok(folder)
    }

    /// Returns the folders to which relative paths in this event refer.
    pub fn place(&self, event: &Event) -> PathBase {
        let named = event.given().string("cwd").unwrap_or_default();
        let cwd = if named.is_empty() {
            self.cwd.clone()
        } else {
            self.cwd.join(named)
        };
        PathBase {
            cwd,
            project: self.project.clone(),
        }
    }
}

pub(super) fn working_directory(
    event: &Event,
    surroundings: &Surroundings,
) -> (Option<PathBuf>, Option<String>) {
    let has_own = surroundings.variables.is_some();
    let usual = has_own.then(|| surroundings.cwd.clone());
    let Some(named) = event.context().string("cwd").filter(|cwd| !cwd.is_empty()) else {
        return (usual, None);
    };
    let path = surroundings.cwd.join(&named);
    match path.metadata() {
        Ok(meta) if meta.is_dir() => (Some(path), None),
        _ => {
            let own = surroundings.cwd.display();
            let note = format!(
                "the event's `cwd`, `{named}`, is not an accessible folder; the hook ran in `{own}`"
            );
            (usual, Some(note))
        }
    }
}

pub(crate) type EventVariables = Vec<(&'static str, String)>;

/// Returns the variables that describe an event, the same for all its hooks.
pub(crate) fn event_variables(
    event: &Event,
    surroundings: &Surroundings,
    trace: &TraceContext,
) -> Arc<EventVariables> {
    let context = event.context();
    let project = surroundings.project.to_string_lossy().into_owned();
    let mut facts = vec![
        ("HOOKRUN_EVENT", event.spec().name.to_string()),
        ("HOOKRUN_HOST", event.host().to_string()),
        ("HOOKRUN_PROJECT_DIR", project),
        ("TRACEPARENT", trace.traceparent()),
    ];
    for (name, key) in [
        ("HOOKRUN_SESSION_ID", "sessionId"),
        ("HOOKRUN_TOOL_NAME", "toolName"),
        ("HOOKRUN_PROMPT", "prompt"),
    ] {
        facts.extend(context.string(key).map(|value| (name, value)));
    }
    let changes = event.changes().iter();
    let changes: Vec<String> = changes
        .map(|PathChange { status, path, .. }| format!("{status}\t{path}"))
        .collect();
    facts.extend(list("HOOKRUN_CHANGES", &changes));
    let Some(action) = event.action() else {
        return Arc::new(facts);
    };
    facts.push(("HOOKRUN_ACTION_KIND", action.kind.word().to_string()));
    if let Some(command) = &action.command {
        let fits = command.len() <= LONGEST_VARIABLE_BYTES;
        let value = if fits { command.as_str() } else { LEFT_OUT };
        facts.push(("HOOKRUN_ACTION_COMMAND", value.to_string()));
    }
    facts.extend(list("HOOKRUN_ACTION_PROGRAMS", &programs(action)));
    facts.extend(list("HOOKRUN_ACTION_PATHS", &action.paths));
    if event.links().is_none_or(|links| links.is_whole) {
        facts.extend(list("HOOKRUN_ACTION_RESOLVED", &action.resolved));
    } else {
        facts.push(("HOOKRUN_ACTION_RESOLVED", LEFT_OUT.to_string()));
    }
    Arc::new(facts)
}

/// Marks a value that [`variables`] omits.
const LEFT_OUT: &str = "\0";

/// Joins texts into a variable, one per line. Omits the value if a text contains a line break.
fn list(name: &'static str, texts: &[String]) -> Option<(&'static str, String)> {
    if texts.iter().any(|text| text.contains('\n')) {
        return Some((name, LEFT_OUT.to_string()));
    }
    (!texts.is_empty()).then(|| (name, texts.join("\n")))
}

fn fits(value: &str) -> bool {
    value.len() <= LONGEST_VARIABLE_BYTES && !value.contains('\0')
}

/// Returns the base names of the action's programs; `?` if unknown.
fn programs(action: &Action) -> Vec<String> {
    let names = action.line.commands.iter().map(|command| command.name());
    let doubt = action.line.doubt.iter().map(|_| None);
    let names = names.chain(doubt);
    names.map(|name| name.unwrap_or("?").to_string()).collect()
}

pub(super) fn variables<'h>(
    hook: &'h Hook,
    event: &Event,
    mark: &str,
    shared: &EventVariables,
    surroundings: &Surroundings,
) -> Vec<(&'h str, String)> {
    let timeout = hook.timeout(event.spec());
    let depth = surroundings.depth.saturating_add(1);
    let mut variables = vec![
        ("HOOKRUN_HOOK", hook.name.clone()),
        ("HOOKRUN_DEPTH", depth.to_string()),
    ];
    if timeout < Duration::MAX && hook.lives == Lives::Event {
        variables.push(("HOOKRUN_TIMEOUT_MS", timeout.as_millis().to_string()));
    }
    if hook.background == Background::Kill {
        variables.push(("HOOKRUN_RUN_ID", mark.to_string()));
    }
    let folder = hook.source.file.parent();
    if let Some(folder) = folder.filter(|folder| folder.is_absolute()) {
        let folder = folder.to_string_lossy().into_owned();
        variables.push(("HOOKRUN_HOOK_DIR", folder));
    }
    // Python's cache beside a module would change trusted content.
    if hook.source.layer == LayerKind::Project {
        variables.push(("PYTHONDONTWRITEBYTECODE", "1".to_string()));
    }
    let root = hook.root.as_deref().map(Path::to_string_lossy);
    let mut left_out = Vec::new();
    for (name, value) in shared {
        // A session-lived hook reads event data from its stdin lines.
        if hook.stays_up() && !OF_ALL_EVENTS.contains(name) {
            continue;
        }
        // Variables that describe the pending action have no size limit.
        let is_about_action = name.starts_with("HOOKRUN_ACTION_")
            || matches!(*name, "HOOKRUN_CHANGES" | "HOOKRUN_PROMPT");
        if is_about_action && (hook.reads == Some(Reads::Nothing) || hook.takes_files()) {
            continue;
        }
        let value = match &root {
            Some(root) if *name == "HOOKRUN_PROJECT_DIR" => root.as_ref(),
            _ => value.as_str(),
        };
        if fits(value) {
            variables.push((*name, value.to_string()));
        } else {
            left_out.push(*name);
        }
    }
    if !left_out.is_empty() {
        variables.push(("HOOKRUN_TRUNCATED", left_out.join(" ")));
    }
    if hook.stays_up() {
        return variables;
    }
    let session = event.given().string("sessionId");
    match surroundings.state_folder(session.as_deref(), &hook.name) {
        Ok(folder) => {
            let folder = folder.into_os_string().into_string();
            variables.extend(folder.map(|folder| ("HOOKRUN_STATE_DIR", folder)));
        }
        Err(error) => tracing::warn!(hook = hook.name, %error, "no state folder"),
    }
    variables
}

/// Checks that a hook's environment is complete. At a gate, fails with the omitted variables if the
/// hook may read one: its spec says so, or its text mentions it. Hooks of dialects that send the
/// event read stdin.
pub(super) fn whole(
    hook: &Hook,
    spec: &EventSpec,
    variables: &[(&str, String)],
    program: Program,
    surroundings: &Surroundings,
) -> Result<Program, Complaint> {
    let mut named = variables.iter();
    let left_out = named.find(|(name, _)| *name == "HOOKRUN_TRUNCATED");
    let convention = hook.convention.as_ref();
    let reads_own_event = convention.is_some_and(|convention| convention.sends_event());
    let Some((_, names)) = left_out.filter(|_| spec.blocks && !reads_own_event) else {
        return Ok(program);
    };
    let may_look = match hook.reads {
        _ if hook.takes_files() => false,
        Some(Reads::Environment) => true,
        Some(Reads::Stdin | Reads::Nothing) => false,
        None => {
            let project = hook.root.as_deref().unwrap_or(&surroundings.project);
            let search = surroundings.search.as_deref();
            may_look(hook, &program, names, project, search)
        }
    };
    if !may_look {
        return Ok(program);
    }
    let names = names.replace(' ', ", ");
    let problem = format!(
        "its environment cannot hold {names}: a value is too long, or contains a NUL or a line break"
    );
    let cure = if matches!(hook.handler, Handler::File(_)) {
        "read the event on stdin, and add `# hookrun: reads=stdin`; if the hook does not use the \
         event, add `# hookrun: reads=none`"
    } else {
        "read the event on stdin, and set `reads = \"stdin\"`; if the hook does not use the event, \
         set `reads = \"none\"`"
    };
    Err(Complaint::with_cure(problem, cure))
}

/// Returns the variables from the hook's spec and dialect. If the dialect's host sends the event,
/// inherited values stay.
pub(super) fn variables_of_host<'h>(
    hook: &'h Hook,
    event: &Event,
    surroundings: &Surroundings,
) -> Vec<(&'h str, String)> {
    let project = surroundings.project.to_string_lossy();
    let mut all: Vec<(&'h str, String)> = Vec::new();
    if let Some(convention) = &hook.convention {
        all.extend(convention.variables(event, &project));
        let sends_event = event.host() == convention.system();
        let inherited = &surroundings.inherited;
        all.retain(|(name, value)| {
            fits(value) && !(sends_event && inherited.iter().any(|set| set == name))
        });
    }
    for (name, value) in &hook.variables {
        all.retain(|(known, _)| known != name);
        all.push((name, value.clone()));
    }
    all
}

pub(super) fn ways_to_ask(
    connection: Option<&Connection>,
    server: Option<&Server>,
) -> Vec<(&'static str, String)> {
    let has_ui = connection.is_some() && server.is_some_and(|server| server.ui.is_some());
    let can_ask = if has_ui { "1" } else { "0" };
    let mut ways = vec![("HOOKRUN_HAS_UI", can_ask.to_string())];
    ways.extend(connection.map(|connection| ("HOOKRUN_SOCKET", connection.address())));
    ways
}

/// Returns the inherited `HOOKRUN_*` variables to remove from a hook's environment.
pub(super) fn absent<'a>(variables: &[(&str, String)], inherited: &'a [String]) -> Vec<&'a str> {
    let ours = inherited.iter().map(String::as_str);
    let ours = ours.filter(|name| name.starts_with("HOOKRUN_"));
    ours.filter(|name| variables.iter().all(|(set, _)| set != name))
        .collect()
}

/// Returns the sandbox rules of a hook. Beyond its spec, it may read its program and interpreter,
/// and write its state folder and the session's shared folder.
pub(super) fn sandbox(
    hook: &Hook,
    program: &Result<Program, Complaint>,
    variables: &[(&str, String)],
    surroundings: &Surroundings,
) -> (Option<SandboxRules>, Vec<String>) {
    let (Some(sandbox), Ok(program)) = (&hook.sandbox, program) else {
        return (None, Vec::new());
    };
    let home = surroundings.home.as_deref();
    let root = hook.root.as_deref().unwrap_or(&surroundings.project);
    let (mut rules, notes) = SandboxRules::find(sandbox, root, home);
    let interpreter = command::interpreter_of(&program.path);
    let mut lines = interpreter.iter();
    let interpreter = lines.find_map(|line| line.split_whitespace().next());
    if let Some(read) = &mut rules.read {
        read.push(program.path.clone());
        read.extend(interpreter.map(PathBuf::from));
    }
    rules.sockets |= variables.iter().any(|(name, _)| *name == "HOOKRUN_SOCKET");
    let mut named = variables.iter();
    let state = named.find(|(name, _)| *name == "HOOKRUN_STATE_DIR");
    if let Some(own) = state.map(|(_, folder)| PathBuf::from(folder)) {
        let shared = own.parent().map(session::shared_folder);
        let root = &surroundings.state;
        let shared = shared.filter(|folder| session::make_private(root, folder).is_ok());
        rules.write.extend(shared);
        rules.write.push(own);
    }
    (Some(rules), notes)
}
