//! Settings files of hosts: what they may hold. `config` reads the files by it, `install` writes them.

use std::time::Duration;

use super::event::HostEvent;

/// The events of tools in hosts of Claude Code's family.
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

/// What Claude Code compares matchers with.
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
    /// Where such files are: folders, and paths of files that are this host's whatever else is in
    /// their folders.
    pub places: &'static [&'static str],
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
    /// Whether the host reads a file that begins with a byte order mark .
    pub takes_mark: bool,
    /// The value of `version` at the top, as JSON, where there is one.
    pub version: Option<&'static str>,
    /// The command has to name the event: the context does not.
    pub names_event: bool,
    /// Keys below `hooks` that are no events.
    pub beside: &'static [&'static str],
    pub hook: &'static [HookKey],
    /// The value of [`HostHookKey::Closed`] with which a failure blocks, as JSON.
    pub closed: &'static str,
    /// The shell that runs the command of a hook; `None` where the documents do not say.
    pub shell: Option<&'static str>,
    /// The variables in which hooks of a plugin, `FOLDER/hooks/hooks.json`, find its folder.
    pub of_plugin: &'static [&'static str],
    /// In what it counts times: 1 for seconds, 1000 for milliseconds.
    pub per_second: u32,
    pub matching: Matching,
    /// What a matcher is compared with, and in which events, divided by blanks; it is ignored in all others.
    pub subjects: &'static [(MatcherSubject, &'static str)],
    /// The hooks of an event run at once, unless a group says `sequential`.
    pub runs_at_once: bool,
    /// The switches that all hooks are off.
    pub off: &'static [Off],
    /// Lists of hooks that are off, by what names them or by their commands.
    pub disabled: &'static [&'static [&'static str]],
}

impl HostFile {
    /// No groups, seconds, and no switch: what most hosts have. Tables begin with it.
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
            setting("type", HostHookKey::Kind),
            setting("command", HostHookKey::Command),
            setting("timeout", HostHookKey::Time),
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

    /// Groups as Claude Code had them first.
    pub(super) const FAMILY: HostFile = HostFile {
        is_grouped: true,
        runs_at_once: true,
        ..HostFile::PLAIN
    };

    /// Whether the host reads comments in it.
    pub fn has_comments(&self) -> bool {
        self.comments == Comments::Read
    }

    /// The shell that hookrun takes.
    pub fn shell(&self) -> &'static str {
        self.shell.unwrap_or("sh")
    }

    /// The same, in words.
    pub fn shell_words(&self) -> String {
        match self.shell {
            Some(shell) => format!("`{shell} -c`"),
            None => format!("not stated; `{} -c` is assumed", self.shell()),
        }
    }

    /// How long a hook of this event may run that does not say it, nor its host.
    pub fn usual_time(row: &HostEvent) -> Duration {
        let wait = row.wait.filter(|wait| wait.is_known);
        wait.map_or(Duration::from_secs(60), |wait| wait.usual)
    }

    /// The unit of its times, in a word.
    pub fn time_unit(&self) -> &'static str {
        if self.per_second == 1 {
            "seconds"
        } else {
            "milliseconds"
        }
    }

    /// The first key of a hook with this meaning, which is the one that is written.
    pub fn key(&self, says: HostHookKey) -> Option<&'static str> {
        let row = self.hook.iter().find(|key| key.says == says)?;
        Some(row.name)
    }

    /// The key of a hook that names its event, where all hooks are in one list below `hooks`.
    pub fn event_key(&self) -> Option<&'static str> {
        self.key(HostHookKey::Event)
    }

    /// The key of the table, inside a hook, that says what the hook runs.
    pub fn action_key(&self) -> Option<&'static str> {
        self.key(HostHookKey::Action)
    }

    /// Whether hooks of this event are in groups.
    pub fn groups(&self, event: &str) -> bool {
        self.is_grouped && !self.ungrouped.contains(&event)
    }

    /// What a matcher is compared with in this event, if in anything.
    pub fn subject(&self, event: &str) -> Option<MatcherSubject> {
        let mut subjects = self.subjects.iter();
        let (subject, _) = subjects.find(|(_, events)| events.split(' ').any(|it| it == event))?;
        Some(*subject)
    }
}

/// A key by which a file says that none of its hooks runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Off {
    pub path: &'static [&'static str],
    pub value: bool,
}

/// The switch of Claude Code, which others took over.
pub(super) const DISABLE_ALL: &[Off] = &[Off {
    path: &["disableAllHooks"],
    value: true,
}];

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
    /// What sort of hook it is: hookrun runs a `command`.
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
    /// Whether a failure blocks.
    Closed,
    Shell,
    Variables,
    Folder,
    Name,
    About,
    /// What another system runs.
    Idle,
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
    /// What is no expression is compared as it is, and so are other facts than tools; else that is a
    /// mistake.
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

/// What a matcher is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherSubject {
    /// The name of the tool, as the hook's own host calls it.
    Tool,
    Command,
    /// This fact, by our key.
    Fact(&'static str),
}
