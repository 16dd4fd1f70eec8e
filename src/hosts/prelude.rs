//! The words in which the file of a host is written.

pub(super) use std::time::Duration;

pub(super) use super::event::{HostEvent, InnerFacts, StandIn, Wait, asks, reports};
pub(super) use super::facts::{HostFailure, HostShell, OtherSettings, always, measured, switched};
pub(super) use super::install::{
    Beside, Distrust, HostForm, Install, Plugin, TrustQuestion, UserFile,
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
pub(super) use super::settings::HostHookKey::{
    About, Action, Arguments, Async, Closed, Command, Condition, Enabled, Event, Folder, Idle,
    Kind, Matcher, Name, OwnCommand, Program, Shell, Time, Variables,
};
pub(super) use super::settings::{
    BY_AGENT, BY_CODE, BY_COMMAND, BY_KIND, BY_REASON, BY_SOURCE, BY_TOOL, BY_TRIGGER, Comments,
    DISABLE_ALL, HostFile, MatcherSubject, Matching, Off, SUBJECTS, SystemFolders, setting,
};
pub(super) use super::tool::{HostTools, Mcp, ToolSort, tool};
pub(super) use crate::engine::event::{Conduct, Merge, OnFailure, Schedule};
pub(super) use crate::engine::names::words;
