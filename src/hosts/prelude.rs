//! Types and constants that the hosts' tables share.

pub(super) use std::time::Duration;

pub(super) use super::event::{HostEvent, StandIn, Wait, asks, reports};
use super::results::ReplySlot;
pub(super) use super::results::ReplySlot::{
    Block, Consent, Context, New, Objection, Output, Question,
};
pub(super) use super::results::ReplyValue::{self, Flag, Plain, Text, Value, Word};
pub(super) use super::results::{
    Act, BlockStatus, KeyMeaning, ReplyForm, ReplyKey, ReplyRule, block, form, key, say,
};
pub(super) use super::row::{Host, KeySpelling, NOT_OF_SYSTEMS, SignedEvents, VariableValue, sign};
pub(super) use super::settings::HostHookKey::{
    About, Action, Arguments, Async, Closed, Command, Condition, Enabled, Event, Folder, Idle,
    Kind, Matcher, Name, OwnCommand, Program, Shell, Time, Variables,
};
pub(super) use super::settings::{
    BY_AGENT, BY_CODE, BY_COMMAND, BY_KIND, BY_REASON, BY_SOURCE, BY_TOOL, BY_TRIGGER, Comments,
    DISABLE_ALL, Distrust, FailsClosed, HostFile, HostForm, Install, MatcherSubject, Matching,
    Plugin, SUBJECTS, TrustQuestion, TypedKey, UserFile, moved, typed,
};
pub(super) use super::tool::{Mcp, ToolSort, tool};
pub(super) use crate::engine::event::{Conduct, Merge, OnFailure, Schedule};
pub(super) use crate::engine::names::words;

/// The replies of a gate that takes only a block.
pub(super) const BLOCKS: &[ReplySlot] = &[ReplySlot::Block];

/// The host's event name; some hosts ignore replies without it.
pub(super) const NAMED: (&str, ReplyValue) = ("hookSpecificOutput.hookEventName", ReplyValue::Name);

/// A block as JSON, for hosts that read it.
pub(super) const BLOCK: &[(&str, ReplyValue)] = &[("decision", Word("block")), ("reason", Text)];

/// A block by exit status 2 and the reason on stderr; stdout cannot override it.
pub(super) const BLOCK_RULE: ReplyRule = block(&[]);

pub(super) const TEACH: ReplyRule = say(
    Context,
    &[NAMED, ("hookSpecificOutput.additionalContext", Text)],
);

pub(super) const SHOW: ReplyRule = say(Output, &[("systemMessage", Text)]);

pub(super) const REASON: ReplyKey = key("reason", KeyMeaning::Reason);

pub(super) const ADDED: ReplyKey = key("hookSpecificOutput.additionalContext", KeyMeaning::Context);

/// Ends the whole run in the host; hookrun blocks the event.
const HALT: ReplyKey = key("continue", KeyMeaning::Block(false));

const STOP_REASON: ReplyKey = key("stopReason", KeyMeaning::Reason);

const MESSAGE: ReplyKey = key("systemMessage", KeyMeaning::Output);

pub(super) const DECISION: ReplyKey = key(
    "decision",
    KeyMeaning::Action(&[
        ("block", Act::Block),
        ("deny", Act::Block),
        ("ask", Act::Ask),
        ("approve", Act::Allow),
        ("allow", Act::Allow),
    ]),
);

pub(super) const READS: &[ReplyKey] = &[HALT, STOP_REASON, DECISION, REASON, MESSAGE];

pub(super) const READS_ADDED: &[ReplyKey] = &[HALT, STOP_REASON, DECISION, REASON, ADDED, MESSAGE];

/// A tool's new input; several hooks rewrite it one after another.
pub(super) const TOOL_INPUT: KeyMeaning = KeyMeaning::Field("toolInput", Merge::Chain);

pub(super) const RESULT: KeyMeaning = KeyMeaning::Field("result", Merge::Chain);

pub(super) const PERMISSION: KeyMeaning = KeyMeaning::Action(&[
    ("deny", Act::Block),
    ("ask", Act::Ask),
    ("allow", Act::Allow),
]);

pub(super) const YES_OR_NO: KeyMeaning =
    KeyMeaning::Action(&[("deny", Act::Block), ("allow", Act::Allow)]);

/// Observed, without a reply.
pub(super) static SILENT: ReplyForm = form(&[], &[], &[]);

pub(super) const PATH: &[(&str, &str)] = &[("file_path", "path")];

pub(super) const STR_EDIT: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("old_string", "old_str"),
    ("new_string", "new_str"),
];

/// Claude Code and Codex CLI wait 600 s for most events.
pub(super) const WAITS_LONG: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(600));
