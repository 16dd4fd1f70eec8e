//! Which host's event a context is, by its keys alone: for calls that name neither event nor host.
//!
//! A row is certain by what is there, and never by what is missing: a context that has lost a key
//! may fit no row, but never another's. It is recognised when the rows of exactly one dialect fit.
//! The environment is not used, because a host inside another inherits it.
//!
//! Sources: what Claude Code, Codex CLI, Gemini CLI, pi and oh-my-pi sent, and the hooks
//! references of Cursor and of Copilot CLI.

use super::{DIALECTS, Host, SYSTEMS, find, native};
use crate::engine::event::{Context, catalog};
use crate::engine::names::words;

/// What shows that a context is a dialect's.
#[derive(Debug)]
pub struct Sign {
    /// The name of the dialect, or `native`.
    pub dialect: &'static str,
    /// What the event's name must be.
    pub named: SignedEvents,
    pub has: &'static [&'static str],
    pub lacks: &'static [&'static str],
}

/// What the name of an event says about its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedEvents {
    /// It is one of the dialect's, and of no other's.
    Alone,
    /// It is one of the dialect's.
    Known,
    /// It is one of the dialect's, and none of this other one's.
    KnownNotIn(&'static str),
    /// It is one of the dialect's, or not known yet.
    KnownOrNew,
    /// It is one of ours: of the catalog, or made up with a dot in it.
    Ours,
    /// No name is there.
    Nowhere,
}

const fn sign(
    dialect: &'static str,
    named: SignedEvents,
    has: &'static [&'static str],
    lacks: &'static [&'static str],
) -> Sign {
    Sign {
        dialect,
        named,
        has,
        lacks,
    }
}

/// Keys that are in no context of Claude Code, which has a `turn_id` in one event.
const NOT_CLAUDES: &[&str] = &[
    "timestamp",
    "sessionId",
    "conversation_id",
    "cursor_version",
];

const NOT_CODEXS: &[&str] = &[
    "prompt_id",
    "timestamp",
    "sessionId",
    "conversation_id",
    "cursor_version",
];

const NOT_GEMINIS: &[&str] = words!(
    "prompt_id" "turn_id" "model" "permission_mode" "initial_prompt" "stop_reason" "type"
    "sessionId" "conversation_id" "cursor_version"
);

const NOT_CURSORS: &[&str] = &["prompt_id", "turn_id", "timestamp", "sessionId"];

/// VS Code writes much of the same, with a `transcript_path` and a `tool_use_id`.
const NOT_COPILOTS: &[&str] = words!(
    "transcript_path" "tool_use_id" "type" "prompt_id" "turn_id" "model" "permission_mode"
    "conversation_id" "cursor_version"
);

/// Keys that are in no context of a hook system, nor in ours.
const OF_HOSTS: &[&str] = &["hook_event_name", "session_id", "conversation_id"];

/// Every sign. Systems without a row were never seen sending an event of their own.
pub const SIGNS: &[Sign] = &[
    sign(
        native::NAME,
        SignedEvents::Ours,
        &[],
        &[
            "hook_event_name",
            "type",
            "session_id",
            "conversation_id",
            "transcript_path",
        ],
    ),
    sign("pi", SignedEvents::Alone, &[], OF_HOSTS),
    sign("omp", SignedEvents::Alone, &[], OF_HOSTS),
    sign(
        "claude",
        SignedEvents::KnownOrNew,
        &["session_id", "prompt_id"],
        &[
            "turn_id",
            "timestamp",
            "sessionId",
            "conversation_id",
            "cursor_version",
        ],
    ),
    sign("claude", SignedEvents::Alone, &["session_id"], NOT_CLAUDES),
    sign(
        "codex",
        SignedEvents::KnownOrNew,
        &["session_id", "turn_id", "model"],
        NOT_CODEXS,
    ),
    // Claude Code sends its model when a session starts, and no permission mode then.
    sign(
        "codex",
        SignedEvents::Known,
        &["session_id", "model", "permission_mode"],
        NOT_CODEXS,
    ),
    sign("codex", SignedEvents::Alone, &["session_id"], NOT_CODEXS),
    // Copilot CLI sends neither a transcript nor a time with the events of the same names, and Qwen
    // Code sends both.
    sign(
        "gemini",
        SignedEvents::KnownNotIn("qwen"),
        &["session_id", "transcript_path", "timestamp"],
        NOT_GEMINIS,
    ),
    sign("gemini", SignedEvents::Alone, &["session_id"], NOT_GEMINIS),
    sign(
        "cursor",
        SignedEvents::KnownOrNew,
        &["conversation_id", "cursor_version"],
        NOT_CURSORS,
    ),
    sign(
        "cursor",
        SignedEvents::Alone,
        &["conversation_id"],
        NOT_CURSORS,
    ),
    sign(
        "copilot",
        SignedEvents::Nowhere,
        &["sessionId", "timestamp", "cwd"],
        // Grok Build sends the others too.
        &["event", "type", "hookEventName"],
    ),
    sign(
        "copilot",
        SignedEvents::Known,
        &["sessionId", "timestamp", "cwd"],
        NOT_COPILOTS_OWN,
    ),
    // Registered under PascalCase names. A context of Gemini CLI that has lost its transcript
    // looks the same but for the name.
    sign(
        "copilot",
        SignedEvents::KnownNotIn("gemini"),
        &["session_id", "timestamp"],
        NOT_COPILOTS,
    ),
    sign(
        "copilot",
        SignedEvents::KnownNotIn("gemini"),
        &["session_id", "timestamp", "stop_reason"],
        &[
            "type",
            "prompt_id",
            "turn_id",
            "model",
            "permission_mode",
            "conversation_id",
        ],
    ),
    sign(
        "windsurf",
        SignedEvents::KnownOrNew,
        &["agent_action_name", "trajectory_id"],
        &["event"],
    ),
    sign(
        "agy",
        SignedEvents::Nowhere,
        &["conversationId", "workspacePaths"],
        &["event"],
    ),
    sign(
        "cline",
        SignedEvents::KnownOrNew,
        &["clineVersion", "taskId"],
        &[],
    ),
    sign(
        "kimi",
        SignedEvents::KnownOrNew,
        &["session_id", "client_type"],
        &[],
    ),
    sign(
        "grok",
        SignedEvents::Known,
        &["hookEventName", "sessionId"],
        OF_HOSTS,
    ),
];

const NOT_COPILOTS_OWN: &[&str] = &["session_id", "conversation_id", "type", "event"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecognisedEvent {
    pub dialect: &'static str,
    pub event: String,
}

/// Why the host of a context is not certain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// No row fits, and no name either.
    #[error("no event is named, and the context does not show which event of which host it is")]
    Nobodys,
    /// It names an event that these have, and nothing shows whose it is.
    #[error("`{event}` may be an event of {}: the context does not show which", listed(.of))]
    Several {
        event: String,
        of: Vec<&'static str>,
    },
    /// No host has such an event, and nothing shows whose it is.
    #[error("no known host has an event `{event}`, and the context does not show whose it is")]
    Strange { event: String },
    /// The host is certain, and does not say which event it is.
    #[error("the context is one of {dialect}, which does not name its event")]
    Unnamed { dialect: &'static str },
}

fn listed(of: &[&str]) -> String {
    match of {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        one => one.concat(),
    }
}

/// Recognises which host's event a context is.
///
/// # Errors
/// When that is not certain.
pub fn recognise(context: &Context) -> Result<RecognisedEvent, Doubt> {
    let fitting = SIGNS
        .iter()
        .filter(|sign| sign.fits(context))
        .map(|sign| sign.dialect);
    let mut fitting: Vec<&'static str> = fitting.collect();
    // The rows of a dialect are next to each other.
    fitting.dedup();
    match fitting.as_slice() {
        [one] => match name_in(context, one) {
            Some(event) => Ok(RecognisedEvent {
                dialect: one,
                event,
            }),
            None => Err(Doubt::Unnamed { dialect: one }),
        },
        several => Err(doubt(context, several)),
    }
}

/// What a context may be where no row fits, or those of several.
fn doubt(context: &Context, fitting: &[&'static str]) -> Doubt {
    let hosts = DIALECTS
        .iter()
        .filter(|one| !SYSTEMS.iter().any(|system| system.name == one.name));
    let in_order = hosts.chain(SYSTEMS).map(|dialect| dialect.name);
    let mut named = None;
    let mut of = Vec::new();
    for dialect in in_order.chain([native::NAME]) {
        let Some(event) = name_in(context, dialect) else {
            continue;
        };
        if fitting.contains(&dialect) || is_known(dialect, &event) {
            of.push(dialect);
        }
        named.get_or_insert(event);
    }
    match named {
        Some(event) if of.is_empty() => Doubt::Strange { event },
        Some(event) => Doubt::Several { event, of },
        None => Doubt::Nobodys,
    }
}

fn name_in(context: &Context, dialect: &str) -> Option<String> {
    let key = find(dialect).map_or(native::NAMES_EVENT_BY, |dialect| dialect.names_event_by);
    context.string(key).filter(|name| !name.is_empty())
}

fn is_known(dialect: &str, event: &str) -> bool {
    match find(dialect) {
        Some(dialect) => has_event(dialect, event),
        None => catalog::EVENTS.iter().any(|spec| spec.name == event),
    }
}

fn has_event(dialect: &Host, event: &str) -> bool {
    dialect.events.iter().any(|row| row.is_called(event))
}

fn is_anothers(dialect: &str, event: &str) -> bool {
    DIALECTS
        .iter()
        .any(|other| other.name != dialect && has_event(other, event))
}

impl Sign {
    fn fits(&self, context: &Context) -> bool {
        let is_there = |key: &&str| context.raw(key).is_some();
        if !self.has.iter().all(is_there) || self.lacks.iter().any(is_there) {
            return false;
        }
        let Some(event) = name_in(context, self.dialect) else {
            let key = find(self.dialect).map_or("", |dialect| dialect.names_event_by);
            return self.named == SignedEvents::Nowhere && context.raw(key).is_none();
        };
        let is_known = is_known(self.dialect, &event);
        match self.named {
            SignedEvents::Alone => is_known && !is_anothers(self.dialect, &event),
            SignedEvents::Known => is_known,
            SignedEvents::KnownNotIn(other) => {
                is_known && !find(other).is_some_and(|other| has_event(other, &event))
            }
            SignedEvents::KnownOrNew => is_known || !is_anothers(self.dialect, &event),
            SignedEvents::Ours => {
                is_known || event.contains('.') && !is_anothers(self.dialect, &event)
            }
            SignedEvents::Nowhere => false,
        }
    }
}

/// Words in the text of a script that show for which host it was written: keys of a host's events
/// and results that hookrun does not have.
const WORDS: &[(&str, &str)] = &[
    ("hook_event_name", "claude"),
    ("tool_input", "claude"),
    ("tool_name", "claude"),
    ("tool_response", "claude"),
    ("hookSpecificOutput", "claude"),
    ("permissionDecision", "claude"),
    ("stop_hook_active", "claude"),
    ("transcript_path", "claude"),
    ("llm_request", "gemini"),
    ("llm_response", "gemini"),
    ("conversation_id", "cursor"),
    ("generation_id", "cursor"),
    ("workspace_roots", "cursor"),
    ("toolArgs", "copilot"),
];

const OWN_WORDS: &[&str] = &["toolInput", "HOOKRUN_"];

/// For which host a script was written, by the words in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenFor {
    /// The first word of a host, its line, and the host's dialect.
    pub foreign: Option<(&'static str, usize, &'static str)>,
    pub is_ours: bool,
}

/// What a script exits with: status 1, and what may block otherwise.
const EXITS_WITH_ONE: &[&str] = &["exit 1", "exit(1)"];
const BLOCKS_OTHERWISE: &[&str] = &["exit 2", "exit(2)", "exit $", "exit \"$", "ecision"];

/// The first line in which a script exits with status 1, if nothing else in it may block.
pub fn exits_with_one(text: &str) -> Option<usize> {
    let is_code = |line: &str| !line.trim_start().starts_with(['#', ';']);
    let has = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    let code = || (1..).zip(text.lines()).filter(|(_, line)| is_code(line));
    if code().any(|(_, line)| has(line, BLOCKS_OTHERWISE)) {
        return None;
    }
    code()
        .find(|(_, line)| has(line, EXITS_WITH_ONE))
        .map(|(number, _)| number)
}

/// Looks for words that show for which host a script was written. Comments do not count.
pub fn written(text: &str) -> WrittenFor {
    let mut found = WrittenFor::default();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with(['#', ';']) || line.trim_start().starts_with("//") {
            continue;
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for word in line.split(|c| !is_part(c)).filter(|word| word.len() >= 7) {
            found.is_ours |= OWN_WORDS.iter().any(|own| word.starts_with(own));
            let row = WORDS.iter().find(|(foreign, _)| *foreign == word);
            let foreign = row.map(|(word, dialect)| (*word, number, *dialect));
            found.foreign = found.foreign.or(foreign);
        }
    }
    found
}

/// The dialects after whose events a folder is named, written letter by letter; none for a name of
/// ours. Of those whose hooks are written alike the first.
pub fn named_after(folder: &str) -> Vec<&'static Host> {
    if catalog::EVENTS
        .iter()
        .any(|spec| spec.name.eq_ignore_ascii_case(folder))
    {
        return Vec::new();
    }
    let is_named = |dialect: &&Host| {
        let mut rows = dialect.events.iter();
        rows.any(|row| row.name == folder || row.aliases.contains(&folder))
    };
    let all: Vec<&'static Host> = DIALECTS.iter().copied().filter(is_named).collect();
    let has = |name: &str| all.iter().any(|dialect| dialect.name == name);
    let is_like = |dialect: &&&'static Host| dialect.like.is_some_and(has);
    all.iter()
        .filter(|dialect| !is_like(dialect))
        .copied()
        .collect()
}
