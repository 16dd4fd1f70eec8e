//! The format of hosts' settings files, which `config` reads and `install` writes; and the other data
//! for `install` and `doctor`: the places of files, manual steps, and the reaction if hookrun fails.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::event::HostEvent;

/// Tool events in hosts of Claude Code's family.
const TOOL_EVENTS: &str =
    "PreToolUse PostToolUse PostToolUseFailure PermissionRequest PermissionDenied";

pub(super) const BY_TOOL: MatcherSubject = MatcherSubject::Tool;
pub(super) const BY_COMMAND: MatcherSubject = MatcherSubject::Command;
pub(super) const BY_CODE: MatcherSubject = MatcherSubject::Fact("code");
const BY_SERVER: MatcherSubject = MatcherSubject::Fact("mcpServer");
pub(super) const BY_SOURCE: MatcherSubject = MatcherSubject::Fact("source");
pub(super) const BY_REASON: MatcherSubject = MatcherSubject::Fact("reason");
pub(super) const BY_TRIGGER: MatcherSubject = MatcherSubject::Fact("trigger");
pub(super) const BY_AGENT: MatcherSubject = MatcherSubject::Fact("agentType");
pub(super) const BY_KIND: MatcherSubject = MatcherSubject::Fact("kind");

/// The subjects of Claude Code's matchers, by event.
pub(super) const SUBJECTS: &[(MatcherSubject, &str)] = &[
    (BY_TOOL, TOOL_EVENTS),
    (BY_SOURCE, "SessionStart ConfigChange"),
    (BY_REASON, "SessionEnd InstructionsLoaded"),
    (BY_TRIGGER, "Setup PreCompact PostCompact"),
    (BY_KIND, "Notification"),
    (BY_AGENT, "SubagentStart SubagentStop"),
    (BY_CODE, "StopFailure"),
    (BY_SERVER, "Elicitation ElicitationResult"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comments {
    /// Comments, without trailing commas.
    Read,
    Forbidden,
    Unknown,
}

/// A settings file with `hooks` by event.
#[derive(Debug)]
pub struct HostFile {
    /// Folders of such files, and paths of files that belong only to this host.
    pub places: &'static [&'static str],
    /// Hooks are in groups with a matcher, `[{"matcher": …, "hooks": [{…}]}]`, not a plain list.
    pub is_grouped: bool,
    /// Events with a plain list in a grouped file.
    pub ungrouped: &'static [&'static str],
    /// Hooks are in named sets at the top, `{"NAME": {"EVENT": […]}}`; otherwise below `hooks`.
    pub has_sets: bool,
    pub is_toml: bool,
    pub comments: Comments,
    pub takes_mark: bool,
    /// The required top-level `version`, as JSON.
    pub version: Option<&'static str>,
    /// The command must name the event, because the context does not.
    pub names_event: bool,
    /// Keys below `hooks` that are not events.
    pub beside: &'static [&'static str],
    /// The keys of a hook, and what they say.
    pub hook: &'static [(&'static str, HostHookKey)],
    /// The value of [`HostHookKey::Closed`] that makes a failure block, as JSON.
    pub closed: &'static str,
    /// The shell that runs commands; `None` if undocumented.
    pub shell: Option<&'static str>,
    /// Variables with the folder of a plugin, for hooks in `FOLDER/hooks/hooks.json`.
    pub of_plugin: &'static [&'static str],
    /// The unit of timeouts: 1 for seconds, 1000 for milliseconds.
    pub per_second: u32,
    pub matching: Matching,
    /// Matcher subjects with their events, separated by spaces; other events ignore matchers.
    pub subjects: &'static [(MatcherSubject, &'static str)],
    /// Hooks of an event run in parallel unless a group sets `sequential`.
    pub runs_at_once: bool,
    /// Switches, and the value that disables all hooks.
    pub off: &'static [(&'static [&'static str], bool)],
    /// Paths of lists of disabled hooks, by name or command.
    pub disabled: &'static [&'static [&'static str]],
}

impl HostFile {
    /// A plain list, seconds, no switches; the base of tables.
    pub const PLAIN: HostFile = HostFile {
        places: &[],
        is_grouped: false,
        ungrouped: &[],
        has_sets: false,
        is_toml: false,
        comments: Comments::Unknown,
        takes_mark: true,
        version: None,
        names_event: false,
        beside: &[],
        hook: &[
            ("type", HostHookKey::Kind),
            ("command", HostHookKey::Command),
            ("timeout", HostHookKey::Time),
        ],
        closed: "true",
        shell: None,
        of_plugin: &[],
        per_second: 1,
        matching: Matching::SEARCHED,
        subjects: &[(BY_TOOL, TOOL_EVENTS)],
        runs_at_once: false,
        off: &[],
        disabled: &[],
    };

    /// Groups, as introduced by Claude Code.
    pub(super) const FAMILY: HostFile = HostFile {
        is_grouped: true,
        runs_at_once: true,
        ..HostFile::PLAIN
    };

    pub fn shell(&self) -> &'static str {
        self.shell.unwrap_or("sh")
    }

    /// The first key with this meaning, which is the one to write.
    pub fn key(&self, says: HostHookKey) -> Option<&'static str> {
        let (name, _) = self.hook.iter().find(|(_, said)| *said == says)?;
        Some(name)
    }

    /// The hook's key for its event, if all hooks are in one list below `hooks`.
    pub fn event_key(&self) -> Option<&'static str> {
        self.key(HostHookKey::Event)
    }

    pub fn action_key(&self) -> Option<&'static str> {
        self.key(HostHookKey::Action)
    }

    pub fn groups(&self, event: &str) -> bool {
        self.is_grouped && !self.ungrouped.contains(&event)
    }

    pub fn subject(&self, event: &str) -> Option<MatcherSubject> {
        let mut subjects = self.subjects.iter();
        let (subject, _) = subjects.find(|(_, events)| events.split(' ').any(|it| it == event))?;
        Some(*subject)
    }
}

/// Claude Code's switch, which other hosts adopted.
pub(super) const DISABLE_ALL: &[(&[&str], bool)] = &[(&["disableAllHooks"], true)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostHookKey {
    /// The event, if all hooks are in one list.
    Event,
    /// An object with the command's keys.
    Action,
    /// `false` disables the hook.
    Enabled,
    Matcher,
    /// The kind of hook; hookrun runs `command`.
    Kind,
    /// A shell command line or, with [`HostHookKey::Arguments`], a program.
    Command,
    /// The command line for this operating system.
    OwnCommand,
    /// A program to start without a shell.
    Program,
    /// Arguments of a program to start without a shell.
    Arguments,
    Time,
    Condition,
    /// Start the hook without waiting for it.
    Async,
    Closed,
    Shell,
    Variables,
    Folder,
    Name,
    About,
    /// A command for another operating system.
    Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matching {
    /// The characters, with letters and digits, of a list of exact names; `None` without lists.
    pub list: Option<&'static str>,
    /// The separators of the list.
    pub divides: &'static [char],
    /// An expression must match the whole name.
    pub is_anchored: bool,
    /// Compare an invalid expression, or a subject other than tools, literally.
    pub is_plain: bool,
}

impl Matching {
    /// A regular expression that matches anywhere.
    pub const SEARCHED: Matching = Matching {
        list: None,
        divides: &[],
        is_anchored: false,
        is_plain: false,
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherSubject {
    /// The tool's name in the hook's own host.
    Tool,
    Command,
    Fact(&'static str),
}

#[derive(Debug)]
pub struct Install {
    /// The project's settings file, relative to its root; empty if the host reads none.
    pub project: &'static str,
    /// The name of the personal settings file beside it.
    pub local: Option<&'static str>,
    pub user: UserFile,
    pub form: HostForm,
    /// Events to leave out, mostly because another one covers them: both would run hooks twice.
    pub but: &'static [&'static str],
    /// Limits beyond those of its events.
    pub cannot: &'static [&'static str],
    /// Manual steps for the user.
    pub must: &'static [&'static str],
    /// Finds files and hooks that the user has not approved in the host.
    pub distrust: Option<fn(&TrustQuestion<'_>) -> Vec<Distrust>>,
    pub beside: &'static [&'static str],
    /// Keys for which the host drops the whole file if a value has another type.
    pub typed: &'static [TypedKey],
}

impl Install {
    /// A host without an installation; the base of tables.
    pub const NONE: Install = Install {
        project: "",
        local: None,
        user: UserFile::Home(""),
        form: HostForm::Nothing,
        but: &[],
        cannot: &[],
        must: &[],
        distrust: None,
        beside: &[],
        typed: &[],
    };

    pub(super) const SETTINGS: Install = Install {
        form: HostForm::Settings,
        ..Install::NONE
    };
}

/// A key of a host's settings, as a JSON pointer, and its required type.
#[derive(Debug, Clone, Copy)]
pub struct TypedKey {
    pub pointer: &'static str,
    pub what: &'static str,
    pub is_valid: fn(&Value) -> bool,
}

pub(super) const fn typed(
    pointer: &'static str,
    what: &'static str,
    is_valid: fn(&Value) -> bool,
) -> TypedKey {
    TypedKey {
        pointer,
        what,
        is_valid,
    }
}

#[derive(Debug, Clone, Copy)]
pub enum UserFile {
    Home(&'static str),
    /// In the variable's folder, by default the usual one in the home folder.
    Moved {
        variable: &'static str,
        usual: &'static str,
        file: &'static str,
    },
    Config(&'static str),
}

pub(super) const fn moved(
    variable: &'static str,
    usual: &'static str,
    file: &'static str,
) -> UserFile {
    UserFile::Moved {
        variable,
        usual,
        file,
    }
}

/// How hookrun connects to a host.
#[derive(Debug, Clone, Copy)]
pub enum HostForm {
    Nothing,
    Settings,
    Plugin(Plugin),
    /// A script for each event, named after it; the text is a template.
    Scripts(&'static str),
}

/// A program in the host that sends events to hookrun and applies its decision.
#[derive(Debug, Clone, Copy)]
pub struct Plugin {
    pub events: &'static [HostEvent],
    pub text: &'static str,
}

/// An installation, for hosts that run only approved hooks.
#[derive(Clone, Copy)]
pub struct TrustQuestion<'a> {
    pub file: &'a Path,
    pub settings: &'a Value,
    pub project: Option<&'a Path>,
    pub user: &'a Path,
    pub is_own: &'a dyn Fn(&str) -> bool,
    /// Reads a JSON or TOML file; `null` if it is unreadable.
    pub read: fn(&Path) -> Value,
}

impl std::fmt::Debug for TrustQuestion<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TrustQuestion")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// A missing approval: the host does not run hookrun.
#[derive(Debug)]
pub struct Distrust {
    pub file: PathBuf,
    pub cause: String,
    pub cure: &'static str,
}

/// When a host blocks a tool because hookrun failed, with the switches that `install` sets.
/// Otherwise the tool runs, unless the command exits with status 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailsClosed {
    Never,
    /// If hookrun cannot start or is killed.
    OnCrash,
    /// Also if its output is invalid or it hangs.
    Always,
}
