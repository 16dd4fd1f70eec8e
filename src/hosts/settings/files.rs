//! What is known of the settings file of one host: nouns only.

use std::time::Duration;

use crate::hosts::event::HostEvent;
use crate::hosts::facts::HostShell;

/// The events of tools in most hosts of Claude Code's family.
pub(crate) const TOOL_EVENTS: &str = "PreToolUse PostToolUse";

pub(crate) const BY_TOOL: MatcherSubject = MatcherSubject::Tool;
pub(crate) const BY_COMMAND: MatcherSubject = MatcherSubject::Command;
pub(crate) const BY_SERVER: MatcherSubject = MatcherSubject::Fact("mcpServer");
pub(crate) const BY_SOURCE: MatcherSubject = MatcherSubject::Fact("source");
pub(crate) const BY_REASON: MatcherSubject = MatcherSubject::Fact("reason");
pub(crate) const BY_TRIGGER: MatcherSubject = MatcherSubject::Fact("trigger");
pub(crate) const BY_AGENT: MatcherSubject = MatcherSubject::Fact("agentType");
pub(crate) const BY_KIND: MatcherSubject = MatcherSubject::Fact("kind");

/// Whether a host reads comments in its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comments {
    /// Comments, but no trailing commas.
    Read,
    Refused,
    /// Its documents do not say.
    Unknown,
}

/// The settings file of an agent host: `hooks`, by event.
#[derive(Debug)]
pub struct HostFile {
    /// The name of its dialect, and the prefix that says so of a file: `claude:FILE`.
    pub dialect: &'static str,
    /// What people call such a file.
    pub name: &'static str,
    /// The folders of such files.
    pub folders: &'static [&'static str],
    /// How the paths end of files that are its own, whatever else their folders have.
    pub named: &'static [&'static str],
    /// Hooks are in groups that have a matcher: `[{"matcher": …, "hooks": [{…}]}]`; else by
    /// themselves: `[{…}]`.
    pub is_grouped: bool,
    /// Events whose hooks are by themselves in a file that has groups elsewhere.
    pub ungrouped: &'static [&'static str],
    /// Hooks are in sets that have a name at the top: `{"NAME": {"EVENT": […]}}`; else all are below
    /// `hooks`.
    pub has_sets: bool,
    /// The file is TOML.
    pub is_toml: bool,
    pub comments: Comments,
    /// Whether the host reads a file that begins with a byte order mark, as far as is known.
    pub takes_mark: bool,
    /// The value of `version` at the top, as JSON, where there is one.
    pub version: Option<&'static str>,
    /// A TOML file is of this host if neither its user nor its folder tells.
    pub owns_toml: bool,
    /// The command has to name the event: the context does not.
    pub names_event: bool,
    /// Keys below `hooks` that are no events.
    pub beside: &'static [&'static str],
    /// Events with names that begin with a capital come in other words.
    pub has_other_words: bool,
    /// The keys of a group; empty where there are none.
    pub group: &'static [HookKey],
    pub hook: &'static [HookKey],
    /// The shell that runs the command of a hook.
    pub shell: HostShell,
    /// The variables in which hooks of a plugin, `FOLDER/hooks/hooks.json`, find its folder.
    pub of_plugin: &'static [&'static str],
    /// The kinds of hooks; the first is a command, and is the default.
    pub kinds: &'static [&'static str],
    pub time: TimeoutUnit,
    /// How long a hook may run where neither it nor its event says so.
    pub usual: Duration,
    pub matching: Matching,
    /// What a matcher is compared with, and in which events, divided by blanks; it is ignored in all others.
    pub subjects: &'static [(MatcherSubject, &'static str)],
    pub together: Together,
    /// The switch that all hooks are off.
    pub off: Option<Off>,
    /// Lists of hooks that are off, by what names them or by their commands.
    pub disabled: &'static [&'static [&'static str]],
}

impl HostFile {
    /// No groups, seconds, and no switch: what most hosts have. Tables begin with it.
    pub const PLAIN: HostFile = HostFile {
        dialect: "",
        name: "",
        folders: &[],
        named: &[],
        is_grouped: false,
        ungrouped: &[],
        has_sets: false,
        is_toml: false,
        comments: Comments::Unknown,
        takes_mark: true,
        version: None,
        owns_toml: false,
        names_event: false,
        beside: &[],
        has_other_words: false,
        group: &[],
        hook: &[],
        shell: HostShell::Unstated,
        of_plugin: &[],
        kinds: &[],
        time: TimeoutUnit::SECONDS,
        usual: Duration::from_secs(60),
        matching: Matching::SEARCHED,
        subjects: &[],
        together: Together::InOrder,
        off: None,
        disabled: &[],
    };

    /// Groups and hooks as Claude Code had them first.
    pub(crate) const FAMILY: HostFile = HostFile {
        is_grouped: true,
        group: &[
            setting("matcher", HostHookKey::Matcher),
            setting("hooks", HostHookKey::Hooks),
        ],
        hook: &[
            setting("type", HostHookKey::Kind),
            setting("command", HostHookKey::Command),
            setting("timeout", HostHookKey::Time),
        ],
        kinds: &["command"],
        subjects: &[(BY_TOOL, TOOL_EVENTS)],
        together: Together::AtOnce,
        ..HostFile::PLAIN
    };

    /// Whether the host reads comments in it.
    pub fn has_comments(&self) -> bool {
        self.comments == Comments::Read
    }

    /// How long a hook of this event may run that does not say it.
    pub fn usual_time(&self, row: &HostEvent) -> Duration {
        row.wait
            .filter(|wait| wait.is_known)
            .map_or(self.usual, |wait| wait.usual)
    }

    /// The key of a hook that names its event, where all hooks are in one list below `hooks`.
    pub fn event_key(&self) -> Option<&'static str> {
        self.hook
            .iter()
            .find(|key| key.says == HostHookKey::Event)
            .map(|key| key.name)
    }

    /// The key of the table, inside a hook, that says what the hook runs.
    pub fn action_key(&self) -> Option<&'static str> {
        self.hook
            .iter()
            .find(|key| key.says == HostHookKey::Action)
            .map(|key| key.name)
    }

    /// Whether hooks of this event are in groups.
    pub fn groups(&self, event: &str) -> bool {
        self.is_grouped && !self.ungrouped.contains(&event)
    }

    /// What a matcher is compared with in this event, if in anything.
    pub fn subject(&self, event: &str) -> Option<MatcherSubject> {
        let (subject, _) = self
            .subjects
            .iter()
            .find(|(_, events)| events.split(' ').any(|one| one == event))?;
        Some(*subject)
    }
}

/// A key by which a file says that none of its hooks runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Off {
    pub path: &'static [&'static str],
    pub value: bool,
}

#[derive(Debug)]
pub struct HookKey {
    pub name: &'static str,
    pub says: HostHookKey,
}

/// A row of a table.
pub const fn setting(name: &'static str, says: HostHookKey) -> HookKey {
    HookKey { name, says }
}

/// What a key of a hook says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostHookKey {
    /// Its event: all hooks are in one list.
    Event,
    /// An object with further keys: what it runs.
    Action,
    /// It does not run if this is false.
    Enabled,
    /// Which events of that name.
    Matcher,
    Hooks,
    Kind,
    /// A command line for the shell; with [`HostHookKey::Arguments`], a program.
    Command,
    /// The command line on this system, where it is another than elsewhere.
    OwnCommand,
    /// A program, started without a shell.
    Program,
    /// The arguments of the program, which is then started without a shell.
    Arguments,
    Time,
    /// A further condition, in the words of permission rules.
    Condition,
    /// It is started, and nothing waits for it.
    Async,
    /// The hooks of the event run one after another.
    InOrder,
    /// A failure blocks if it is this word.
    Closed(&'static str),
    /// A failure blocks if it is true.
    ClosedFlag,
    Shell,
    Variables,
    Folder,
    Name,
    About,
    /// What another system runs.
    Idle,
    /// What its host alone can keep: this has no effect, and hookrun warns.
    Void(&'static str),
    /// What a kind of hook needs that runs only in its host.
    OfKind,
}

/// How long hooks may run.
#[derive(Debug)]
pub struct TimeoutUnit {
    /// 1 for seconds, 1000 for milliseconds.
    pub per_second: u64,
    /// A number below was hardly meant in this unit.
    pub least: f64,
    /// A number above was hardly meant in this unit.
    pub most: f64,
}

impl TimeoutUnit {
    pub const SECONDS: TimeoutUnit = TimeoutUnit {
        per_second: 1,
        least: 0.0,
        most: 3600.0,
    };

    pub const MILLIS: TimeoutUnit = TimeoutUnit {
        per_second: 1000,
        least: 1000.0,
        most: f64::INFINITY,
    };

    pub fn unit(&self) -> &'static str {
        if self.per_second == 1 {
            "seconds"
        } else {
            "milliseconds"
        }
    }
}

/// How a matcher is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matching {
    /// What consists of letters, digits and these characters is a list of whole names; `None`
    /// where everything is a regular expression.
    pub list: Option<&'static str>,
    /// What divides the names of the list.
    pub divides: &'static [char],
    /// An expression has to cover the whole.
    pub is_anchored: bool,
    /// What is no expression is compared as it is; else it is a mistake.
    pub falls_back: bool,
    /// Other facts than tools are compared as they are.
    pub is_plain: bool,
}

impl Matching {
    /// A regular expression that matches anywhere.
    pub const SEARCHED: Matching = Matching {
        list: None,
        divides: &[],
        is_anchored: false,
        falls_back: false,
        is_plain: false,
    };
}

/// What a matcher is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherSubject {
    /// The name of the tool, as the hook's own host calls it.
    Tool,
    Command,
    /// This fact, by our key.
    Fact(&'static str),
}

/// How the hooks of one event are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    AtOnce,
    /// All at once, unless one says that they run one after another.
    AtOnceUnlessSaid,
    InOrder,
}
