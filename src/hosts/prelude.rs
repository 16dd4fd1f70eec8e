//! The words in which the file of a host is written.

pub(super) use std::time::Duration;

pub(super) use super::event::{HostEvent, InnerFacts, StandIn, Wait};
pub(super) use super::facts::{
    HostFailure, HostShell, OtherSettings, always, calls, measured, switched, unseen,
};
pub(super) use super::install::{
    Beside, Distrust, HostForm, Install, Plugin, PluginEvent, TrustQuestion, UserFile, asks,
    reports,
};
pub(super) use super::parts::*;
pub(super) use super::results::ReplySlot::{
    Consent, Context, New, Objection, Output, Question, Refusal,
};
pub(super) use super::results::ReplyValue::{Flag, Plain, Text, Value, Word};
pub(super) use super::results::{
    Act, KeyMeaning, Refuses, ReplyForm, ReplyKey, ReplyRule, form, key, refuse, say,
};
pub(super) use super::row::{
    Discovery, Host, KeySpelling, NOT_OF_SYSTEMS, SignedEvents, Tells, sign, variable,
};
pub(super) use super::settings::files::HostHookKey::{
    About, Action, Arguments, Async, Closed, ClosedFlag, Command, Condition, Enabled, Event,
    Folder, Hooks, Idle, InOrder, Kind, Matcher, Name, OfKind, OwnCommand, Program, Shell, Time,
    Variables, Void,
};
pub(super) use super::settings::files::{
    BY_AGENT, BY_COMMAND, BY_KIND, BY_REASON, BY_SERVER, BY_SOURCE, BY_TOOL, BY_TRIGGER, Comments,
    HostFile, MatcherSubject, Matching, Off, TOOL_EVENTS, TimeoutUnit, Together, setting,
};
pub(super) use super::settings::{ListingShape, SystemFolders};
pub(super) use super::tool::{HostTools, Mcp, ToolSort, tool};
pub(super) use crate::engine::event::{Conduct, Merge, OnFailure, Schedule};
pub(super) use crate::engine::names::words;
