//! Reads the environment; no other file does.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::engine::hook::OWN_IMAGE;
use crate::engine::names::words;
use crate::hosts::{dialects, moving_variables, project_variable, project_variables};

const OURS: &str = "HOOKRUN_";

/// Variables that hooks and nested runs inherit from the caller; no other `HOOKRUN_` ones.
#[rustfmt::skip]
const SETTINGS: &[&str] = words!(
    "HOOKRUN_LOG" "HOOKRUN_DECISIONS" "HOOKRUN_RECORD" "HOOKRUN_REPLAY" "HOOKRUN_SKIP" "HOOKRUN_TOKEN"
    "HOOKRUN_ARCHIVE_DIR" "HOOKRUN_AUDIT_FILE" "HOOKRUN_AUDIT_REQUIRED" "HOOKRUN_CHECKPOINT_KEEP"
    "HOOKRUN_CHECKPOINT_RESTORE" "HOOKRUN_COMMITS_ALLOW" "HOOKRUN_COMMITS_LARGE"
    "HOOKRUN_COMMITS_SUBJECT" "HOOKRUN_COMPACT_CHARS" "HOOKRUN_CONTEXT_COMMITS"
    "HOOKRUN_CONTEXT_FILES" "HOOKRUN_FREEZE" "HOOKRUN_HANDOFF_MESSAGE" "HOOKRUN_HIDDEN_TYPES"
    "HOOKRUN_LARGE_FILES" "HOOKRUN_LOCK_ALLOW" "HOOKRUN_LOCK_HOSTS" "HOOKRUN_LOCK_NEW"
    "HOOKRUN_MANIFEST_ALLOW" "HOOKRUN_MANIFEST_REQUIRE"
    "HOOKRUN_PLAN_ALLOW" "HOOKRUN_PLAN_PORTS" "HOOKRUN_PLAN_PROTECT" "HOOKRUN_REDACT_EXTRA"
    "HOOKRUN_REDACT_WITH" "HOOKRUN_SEEN_LOG" "HOOKRUN_TRIGGER_FILE"
);

/// Variables that identify CI jobs: `CI`, and those of systems without it or with log commands.
const CI_SYSTEMS: &[&str] = words!("CI" "GITHUB_ACTIONS" "TF_BUILD" "BUILDKITE" "TEAMCITY_VERSION");

#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The working directory; `/` if unknown.
    pub cwd: PathBuf,
    /// Why the working directory is unknown (removed, or unreadable).
    pub cwd_problem: Option<String>,
    pub search: Option<OsString>,
    pub home: Option<PathBuf>,
    /// The value of `HOME` if it is empty or not an absolute path.
    pub home_problem: Option<String>,
    /// `$XDG_CONFIG_HOME`, by default `$HOME/.config`.
    pub config_home: Option<PathBuf>,
    /// `$XDG_STATE_HOME`, by default `$HOME/.local/state`.
    pub state_home: Option<PathBuf>,
    /// The store of shared sets: `hookrun/sets` in the state home.
    pub set_store: Option<PathBuf>,
    pub system: PathBuf,
    /// `$HOOKRUN_LOG`: the log filter for stderr.
    pub log: Option<String>,
    /// `$HOOKRUN_DECISIONS`: the folder of the decision log, or `off`.
    pub decisions: Option<String>,
    /// `$HOOKRUN_RECORD`: the file that records events.
    pub record: Option<PathBuf>,
    /// `$HOOKRUN_SKIP`: hooks to skip for git events.
    pub skip: Vec<String>,
    /// Whether this is a CI job, whose log may obey commands (see `CI_SYSTEMS`).
    pub is_ci: bool,
    /// `$GITHUB_WORKSPACE`: the base of annotation paths on GitHub.
    pub workspace: Option<PathBuf>,
    /// Users' settings folders of hosts that were moved, by variable.
    pub host_folders: Vec<(&'static str, PathBuf)>,
    /// Projects that hosts name, by variable.
    pub host_projects: Vec<(&'static str, PathBuf)>,
    pub temporary: PathBuf,
    /// Names of hosts' variables, and of ours except settings, which a nested hookrun passes on.
    pub inherited: Vec<String>,
    /// `$TRACEPARENT`: the span of a distributed trace.
    pub traceparent: Option<String>,
    /// `$HOOKRUN_DEPTH`: the number of enclosing runs.
    pub depth: u32,
    pub program: Option<PathBuf>,
    /// A unique mark for the processes of this run.
    pub run_id: String,
    /// The variables for hooks besides ours; `None` for those of this process.
    pub variables: Option<Vec<(OsString, OsString)>>,
}

#[derive(Debug, Clone, Default)]
pub struct Inside {
    pub hook: Option<String>,
    pub session: Option<String>,
    pub state: Option<PathBuf>,
    pub socket: Option<String>,
}

impl Environment {
    /// Reads the environment; values that violate the XDG Base Directory Specification
    /// do not count.
    #[must_use]
    pub fn capture() -> Environment {
        let (cwd, cwd_problem) = match std::env::current_dir() {
            Ok(cwd) => (cwd, None),
            Err(error) => (PathBuf::from("/"), Some(error.to_string())),
        };
        Environment {
            cwd,
            cwd_problem,
            ..Environment::of(&variables_here())
        }
    }

    /// The environment of another process with these variables and working directory.
    #[must_use]
    pub(crate) fn of_client(variables: Vec<(OsString, OsString)>, cwd: PathBuf) -> Environment {
        let named = Environment::of(&variables);
        Environment {
            cwd,
            variables: Some(variables),
            ..named
        }
    }

    fn of(variables: &[(OsString, OsString)]) -> Environment {
        let all = Lookup(variables);
        let home = all.folder("HOME");
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let is_on = |name| all.text(name).is_some_and(|value| value != "false");
        let state_home = all.folder("XDG_STATE_HOME");
        let state_home = state_home.or_else(|| below_home(".local/state"));
        let config_home = all.folder("XDG_CONFIG_HOME");
        let home_problem = all
            .find("HOME")
            .map(|home| home.to_string_lossy().into_owned());
        let depth = all.text("HOOKRUN_DEPTH");
        let depth = depth.and_then(|depth| depth.parse().ok());
        Environment {
            search: all.variable("PATH"),
            config_home: config_home.or_else(|| below_home(".config")),
            set_store: state_home.as_ref().map(|home| home.join("hookrun/sets")),
            state_home,
            system: PathBuf::from("/etc/hookrun"),
            home_problem: home_problem.filter(|_| home.is_none()),
            home,
            log: all.text("HOOKRUN_LOG"),
            decisions: all.text("HOOKRUN_DECISIONS"),
            record: all.variable("HOOKRUN_RECORD").map(PathBuf::from),
            skip: all
                .text("HOOKRUN_SKIP")
                .unwrap_or_default()
                .split(|c: char| c == ',' || c.is_whitespace())
                .filter(|name| !name.is_empty())
                .map(str::to_string)
                .collect(),
            is_ci: CI_SYSTEMS.iter().copied().any(is_on),
            workspace: all.folder("GITHUB_WORKSPACE"),
            host_folders: moving_variables()
                .into_iter()
                .filter_map(|name| Some((name, all.folder(name)?)))
                .collect(),
            host_projects: project_variables()
                .filter_map(|name| Some((name, all.folder(name)?)))
                .collect(),
            temporary: all
                .variable("TMPDIR")
                .map_or_else(|| "/tmp".into(), PathBuf::from),
            inherited: variables
                .iter()
                .filter_map(|(name, _)| name.to_str())
                .filter(|name| is_inherited(name))
                .map(str::to_string)
                .collect(),
            traceparent: all.text("TRACEPARENT"),
            depth: depth.unwrap_or(0),
            program: std::env::current_exe().ok(),
            run_id: run_id(),
            ..Environment::default()
        }
    }

    /// An environment of only these variables, isolated from this process.
    #[must_use]
    pub(crate) fn apart(
        variables: Vec<(OsString, OsString)>,
        cwd: PathBuf,
        state: PathBuf,
    ) -> Environment {
        let named = Environment::of(&variables);
        let mut inherited = named.inherited;
        inherited.retain(|name| name.starts_with(OURS));
        Environment {
            cwd,
            search: named.search,
            config_home: named.config_home,
            state_home: Some(state),
            home: named.home,
            temporary: match named.temporary {
                folder if folder.is_absolute() => folder,
                _ => PathBuf::from("/tmp"),
            },
            inherited,
            run_id: run_id(),
            variables: Some(variables),
            ..Environment::default()
        }
    }

    /// Moves to another folder, where hooks also start.
    #[must_use]
    pub fn moved_to(mut self, cwd: PathBuf) -> Environment {
        self.variables.get_or_insert_with(all_variables);
        Environment { cwd, ..self }
    }

    /// Removes hosts' variables, for clients that are unrelated to this process.
    #[must_use]
    pub(crate) fn without_hosts(mut self) -> Environment {
        self.host_projects.clear();
        self.inherited.retain(|name| !is_of_host(name));
        let variables = self.variables.get_or_insert_with(all_variables);
        variables.retain(|(name, _)| !name.to_str().is_some_and(is_of_host));
        self
    }

    pub(crate) fn projects_of(&self, dialect: &str) -> Vec<PathBuf> {
        let variable = project_variable(dialect);
        let mut projects = self.host_projects.clone();
        projects.retain(|(name, _)| variable == Some(*name));
        projects.into_iter().map(|(_, folder)| folder).collect()
    }

    #[must_use]
    pub(crate) fn inside() -> Inside {
        let variables = variables_here();
        let all = Lookup(&variables);
        Inside {
            hook: all.text("HOOKRUN_HOOK"),
            session: all.text("HOOKRUN_SESSION_ID"),
            state: all.folder("HOOKRUN_STATE_DIR"),
            socket: all.text("HOOKRUN_SOCKET"),
        }
    }

    #[must_use]
    pub(crate) fn all_readable() -> Option<Vec<(String, String)>> {
        all_variables()
            .into_iter()
            .map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The variables whose names begin with `prefix`, with invalid UTF-8 replaced.
    #[must_use]
    pub(crate) fn beginning_with(prefix: &str) -> Vec<(String, String)> {
        let all = all_variables().into_iter().map(|(name, value)| {
            let value = value.to_string_lossy().into_owned();
            (name.to_string_lossy().into_owned(), value)
        });
        all.filter(|(name, _)| name.starts_with(prefix)).collect()
    }

    /// The path that starts this program again, on Linux even if its file was replaced.
    pub(crate) fn image(&self) -> Option<PathBuf> {
        let mut image = self.program.clone()?;
        if cfg!(target_os = "linux") {
            image = PathBuf::from(OWN_IMAGE);
        }
        Some(image)
    }

    /// The decision log's folder; `None` if it is disabled or there is no home folder.
    pub(crate) fn decision_log(&self) -> Option<PathBuf> {
        match self.decisions.as_deref() {
            Some("off") => None,
            Some(folder) => Some(self.cwd.join(folder)),
            None => Some(self.state_home.as_ref()?.join("hookrun").join("log")),
        }
    }

    /// Why the home folder is unknown.
    pub(crate) fn why_no_home(&self) -> String {
        let why = match &self.home_problem {
            Some(given) if given.is_empty() => "empty".to_string(),
            Some(given) => format!("`{given}`, not an absolute path"),
            None => "not set".to_string(),
        };
        format!("the home folder is unknown: HOME is {why}")
    }

    /// The parent of state folders, without a home a private temporary one. Creates nothing.
    pub(crate) fn state_root(&self) -> PathBuf {
        match &self.state_home {
            Some(home) => home.join("hookrun"),
            None => {
                let own = rustix::process::getuid().as_raw();
                self.temporary.join(format!("hookrun-{own}"))
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Lookup<'a>(&'a [(OsString, OsString)]);

impl<'a> Lookup<'a> {
    fn find(self, name: &str) -> Option<&'a OsString> {
        let variable = self.0.iter().rev().find(|(known, _)| known == name);
        variable.map(|(_, value)| value)
    }

    fn variable(self, name: &str) -> Option<OsString> {
        self.find(name).filter(|value| !value.is_empty()).cloned()
    }

    fn text(self, name: &str) -> Option<String> {
        self.variable(name)?.into_string().ok()
    }

    fn folder(self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.variable(name)?);
        path.is_absolute().then_some(path)
    }
}

fn is_inherited(name: &str) -> bool {
    name.starts_with(OURS) && !SETTINGS.contains(&name) || is_of_host(name)
}

fn is_of_host(name: &str) -> bool {
    let mut all = dialects().flat_map(|dialect| dialect.variables);
    all.any(|(variable, _)| *variable == name)
}

fn run_id() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_nanos());
    format!("{}-{now}", std::process::id())
}

/// All variables, copied once, because single lookups scan all of them.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the environment"
)]
fn all_variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// All variables, last first: of two with one name the system uses the first.
fn variables_here() -> Vec<(OsString, OsString)> {
    let mut all = all_variables();
    all.reverse();
    all
}
