//! The environment, read here and nowhere else.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::engine::hook::OWN_IMAGE;
use crate::engine::names::words;
use crate::hosts::{dialects, moving_variables, project_variable, project_variables};

/// How the names of our own variables begin.
const OURS: &str = "HOOKRUN_";

/// What a caller says by our variables to hookrun, to the hooks that it ships, and to a
/// hookrun that a hook starts. A hook gets no others of the caller's: it would take them for ours.
#[rustfmt::skip]
const SETTINGS: &[&str] = words!(
    "HOOKRUN_LOG" "HOOKRUN_DECISIONS" "HOOKRUN_RECORD" "HOOKRUN_REPLAY" "HOOKRUN_SKIP" "HOOKRUN_TOKEN"
    "HOOKRUN_ARCHIVE_DIR" "HOOKRUN_AUDIT_FILE" "HOOKRUN_AUDIT_REQUIRED" "HOOKRUN_CHECKPOINT_KEEP"
    "HOOKRUN_CHECKPOINT_RESTORE" "HOOKRUN_COMMITS_ALLOW" "HOOKRUN_COMMITS_LARGE"
    "HOOKRUN_COMMITS_SUBJECT" "HOOKRUN_COMPACT_CHARS" "HOOKRUN_CONTEXT_COMMITS"
    "HOOKRUN_CONTEXT_FILES" "HOOKRUN_FREEZE" "HOOKRUN_HANDOFF_MESSAGE" "HOOKRUN_HIDDEN_TYPES"
    "HOOKRUN_LOCK_ALLOW" "HOOKRUN_LOCK_HOSTS" "HOOKRUN_LOCK_NEW" "HOOKRUN_MANIFEST_ALLOW" "HOOKRUN_MANIFEST_REQUIRE"
    "HOOKRUN_PLAN_ALLOW" "HOOKRUN_PLAN_PORTS" "HOOKRUN_PLAN_PROTECT" "HOOKRUN_REDACT_EXTRA"
    "HOOKRUN_REDACT_WITH" "HOOKRUN_SEEN_LOG" "HOOKRUN_TRIGGER_FILE"
);

/// The variables that are set in the jobs of CI systems: of most, and of those that do not set
/// `CI`, or whose log obeys its own commands.
const CI_SYSTEMS: &[&str] = &[
    "CI",
    "GITHUB_ACTIONS",
    "TF_BUILD",
    "BUILDKITE",
    "TEAMCITY_VERSION",
];

/// What hookrun takes from its environment.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The working directory; `/` where it is not known.
    pub cwd: PathBuf,
    /// Why the working directory is not known: it was removed, or must not be read.
    pub cwd_problem: Option<String>,
    /// `PATH`.
    pub search: Option<OsString>,
    pub home: Option<PathBuf>,
    /// The value of `HOME` if it names no folder: nothing, or a path that is not absolute.
    pub home_problem: Option<String>,
    /// `$XDG_CONFIG_HOME`, or `$HOME/.config`.
    pub config_home: Option<PathBuf>,
    /// `$XDG_STATE_HOME`, or `$HOME/.local/state`.
    pub state_home: Option<PathBuf>,
    /// Where the files of shared sets are kept: `hookrun/sets` below the state home.
    pub set_store: Option<PathBuf>,
    /// The folder of the system layer.
    pub system: PathBuf,
    /// `$HOOKRUN_LOG`: what is logged to stderr.
    pub log: Option<String>,
    /// `$HOOKRUN_DECISIONS`: the folder of the decision log, or `off`.
    pub decisions: Option<String>,
    /// `$HOOKRUN_RECORD`: the file to which events are recorded.
    pub record: Option<PathBuf>,
    /// `$HOOKRUN_SKIP`: the hooks that do not run at git's events.
    pub skip: Vec<String>,
    /// Whether it is a job of a CI system, whose log obeys commands: by the variables of
    /// `CI_SYSTEMS`.
    pub is_ci: bool,
    /// `$BUILDKITE`: whether it is Buildkite, in whose log lines begin groups.
    pub is_buildkite: bool,
    /// `$GITHUB_WORKSPACE`: the folder from which GitHub takes the paths of annotations.
    pub workspace: Option<PathBuf>,
    /// Whether the terminal shows more than ASCII, by its locale.
    pub is_utf8: bool,
    /// Where hosts have a user's settings, by the variables of those that are moved.
    pub host_folders: Vec<(&'static str, PathBuf)>,
    /// The projects that hosts name, by the variables that are set.
    pub host_projects: Vec<(&'static str, PathBuf)>,
    /// The system's folder for temporary files.
    pub temporary: PathBuf,
    /// `$VISUAL`, or `$EDITOR`: the program with which a person edits a text.
    pub editor: Option<String>,
    /// Our variables that it holds and that are no settings, which a hook that runs
    /// hookrun passes on, and of those of hosts.
    pub inherited: Vec<String>,
    /// `$TRACEPARENT`: the span of a distributed trace that this run is part of.
    pub traceparent: Option<String>,
    /// `$HOOKRUN_DEPTH`: how many runs of hookrun this one is inside of.
    pub depth: u32,
    /// The name of this program's own file.
    pub program: Option<PathBuf>,
    /// A mark for the processes of this run: different for every process and moment.
    pub run_id: String,
    /// All variables that hooks get, besides ours; `None` for those of this process.
    pub variables: Option<Vec<(OsString, OsString)>>,
}

/// What hookrun passes to a hook in its environment.
#[derive(Debug, Clone, Default)]
pub struct Inside {
    /// The hook's name.
    pub hook: Option<String>,
    /// The session, if the event named one.
    pub session: Option<String>,
    /// The hook's state folder.
    pub state: Option<PathBuf>,
    /// Where requests to the host go.
    pub socket: Option<String>,
    /// Whether a person can answer its questions.
    pub has_ui: bool,
}

impl Environment {
    /// The environment of this process. Variables that are empty or not absolute where they
    /// must be (XDG Base Directory Specification) count as not set.
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

    /// The same for another process, which has these variables and works in `cwd`.
    #[must_use]
    pub(crate) fn of_client(variables: Vec<(OsString, OsString)>, cwd: PathBuf) -> Environment {
        let named = Environment::of(&variables);
        Environment {
            cwd,
            variables: Some(variables),
            ..named
        }
    }

    /// What these variables say; of two with one name the last.
    fn of(variables: &[(OsString, OsString)]) -> Environment {
        let names = variables
            .iter()
            .filter_map(|(name, _)| name.to_str().map(str::to_string));
        Environment::read(Lookup(variables), names.collect())
    }

    fn read(all: Lookup<'_>, names: Vec<String>) -> Environment {
        let home = all.folder("HOME");
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let is_on = |name| all.text(name).is_some_and(|value| value != "false");
        let state_home = all
            .folder("XDG_STATE_HOME")
            .or_else(|| below_home(".local/state"));
        Environment {
            search: all.variable("PATH"),
            config_home: all
                .folder("XDG_CONFIG_HOME")
                .or_else(|| below_home(".config")),
            set_store: state_home.as_ref().map(|home| home.join("hookrun/sets")),
            state_home,
            system: PathBuf::from("/etc/hookrun"),
            home_problem: match &home {
                Some(_) => None,
                None => all.unusable("HOME"),
            },
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
            is_buildkite: is_on("BUILDKITE"),
            workspace: all.folder("GITHUB_WORKSPACE"),
            is_utf8: all.is_utf8(),
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
            editor: all.text("VISUAL").or_else(|| all.text("EDITOR")),
            inherited: inherited(names),
            traceparent: all.text("TRACEPARENT"),
            depth: all
                .text("HOOKRUN_DEPTH")
                .and_then(|depth| depth.parse().ok())
                .unwrap_or(0),
            program: std::env::current_exe().ok(),
            run_id: run_id(),
            ..Environment::default()
        }
    }

    /// An environment of these variables and no others, in `cwd`, for hooks that are to see
    /// nothing of this process. Its state home is `state`.
    #[must_use]
    pub(crate) fn apart(
        variables: Vec<(OsString, OsString)>,
        cwd: PathBuf,
        state: PathBuf,
    ) -> Environment {
        let Environment {
            search,
            config_home,
            home,
            temporary,
            inherited,
            ..
        } = Environment::of(&variables);
        let temporary = Some(temporary).filter(|path| path.is_absolute());
        Environment {
            cwd,
            search,
            config_home,
            state_home: Some(state),
            home,
            temporary: temporary.unwrap_or_else(|| PathBuf::from("/tmp")),
            inherited: inherited
                .into_iter()
                .filter(|name| name.starts_with(OURS))
                .collect(),
            run_id: run_id(),
            variables: Some(variables),
            ..Environment::default()
        }
    }

    /// The same in another folder of this machine. Hooks start there, too.
    #[must_use]
    pub fn moved_to(mut self, cwd: PathBuf) -> Environment {
        self.variables.get_or_insert_with(all_variables);
        Environment { cwd, ..self }
    }

    /// The same for clients that this process has not started and that have not started it: what
    /// hosts have told it is not about them, and their hooks do not get it.
    #[must_use]
    pub(crate) fn without_hosts(mut self) -> Environment {
        self.host_projects.clear();
        self.inherited.retain(|name| !is_of_host(name));
        let all = self.variables.take().unwrap_or_else(all_variables);
        let mut kept = all;
        kept.retain(|(name, _)| !name.to_str().is_some_and(is_of_host));
        self.variables = Some(kept);
        self
    }

    /// The projects that a host of this dialect names by its variables.
    pub(crate) fn projects_of(&self, dialect: &str) -> Vec<PathBuf> {
        let variable = project_variable(dialect);
        let of_host = self
            .host_projects
            .iter()
            .filter(|(name, _)| variable == Some(*name));
        of_host.map(|(_, folder)| folder.clone()).collect()
    }

    /// What hookrun has passed to the hook that started this process, if one did.
    #[must_use]
    pub(crate) fn inside() -> Inside {
        let variables = variables_here();
        let all = Lookup(&variables);
        Inside {
            hook: all.text("HOOKRUN_HOOK"),
            session: all.text("HOOKRUN_SESSION_ID"),
            state: all.folder("HOOKRUN_STATE_DIR"),
            socket: all.text("HOOKRUN_SOCKET"),
            has_ui: all.text("HOOKRUN_HAS_UI").as_deref() == Some("1"),
        }
    }

    /// All variables; `None` if one of them is not UTF-8.
    #[must_use]
    pub(crate) fn all_readable() -> Option<Vec<(String, String)>> {
        all_variables()
            .into_iter()
            .map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The variables whose names begin with `prefix`; what is not UTF-8 is replaced.
    #[must_use]
    pub(crate) fn beginning_with(prefix: &str) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        for (name, value) in all_variables() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with(prefix) {
                variables.push((name, value.to_string_lossy().into_owned()));
            }
        }
        variables
    }

    /// What this program starts when it starts itself: on Linux the image that is running, even if
    /// its file was replaced.
    pub(crate) fn image(&self) -> Option<PathBuf> {
        let own = self.program.as_ref()?;
        Some(if cfg!(target_os = "linux") {
            PathBuf::from(OWN_IMAGE)
        } else {
            own.clone()
        })
    }

    /// The folder of the decision log. `None` where it is disabled, or there is no home to
    /// keep it in.
    pub(crate) fn decision_log(&self) -> Option<PathBuf> {
        match self.decisions.as_deref() {
            Some("off") => None,
            Some(folder) => Some(self.cwd.join(folder)),
            None => self
                .state_home
                .as_ref()
                .map(|home| home.join("hookrun").join("log")),
        }
    }

    /// Why there is no home folder, where there is none.
    pub(crate) fn why_no_home(&self) -> String {
        match &self.home_problem {
            Some(given) if given.is_empty() => "there is no home folder: HOME is empty".to_string(),
            Some(given) => {
                format!("there is no home folder: HOME is `{given}`, which is not an absolute path")
            }
            None => "there is no home folder: HOME is not set".to_string(),
        }
    }

    /// Where state folders are made: below the state home, or in a private folder of the
    /// system's temporary one where there is no home. Nothing is made yet.
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

/// The variables of a process, by name; of two with one name the last.
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
        self.variable(name)
            .and_then(|value| value.into_string().ok())
    }

    fn folder(self, name: &str) -> Option<PathBuf> {
        self.variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }

    /// What a variable says that counts as not set.
    fn unusable(self, name: &str) -> Option<String> {
        self.find(name)
            .map(|value| value.to_string_lossy().into_owned())
    }

    fn is_utf8(self) -> bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"];
        let locale = names
            .into_iter()
            .find_map(|name| self.text(name))
            .unwrap_or_default();
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    }
}

fn inherited(names: Vec<String>) -> Vec<String> {
    let is_ours = |name: &str| name.starts_with(OURS) && !SETTINGS.contains(&name);
    names
        .into_iter()
        .filter(|name| is_ours(name) || is_of_host(name))
        .collect()
}

/// Whether a host tells its hooks something by the variable `name`.
fn is_of_host(name: &str) -> bool {
    let mut all = dialects().flat_map(|dialect| dialect.variables);
    all.any(|variable| variable.name == name)
}

fn run_id() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!(
        "{}-{}",
        std::process::id(),
        now.map_or(0, |since| since.as_nanos())
    )
}

/// All variables, copied once: the system goes through all of them for each name, and a run wants
/// fifty.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the environment"
)]
fn all_variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// All variables, the last first: of two with one name the system takes the first.
fn variables_here() -> Vec<(OsString, OsString)> {
    let mut all = all_variables();
    all.reverse();
    all
}
