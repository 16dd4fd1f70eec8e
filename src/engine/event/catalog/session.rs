//! The session: how it begins, moves and ends, and what it reports.
//!
//! Old pi has a single `session` event with ten reasons. It is ten rows here and the alias of
//! none; only pi's dialect can read its `reason`.

use super::keys::*;
use super::{EventRow, GATE, OBSERVER, TRANSFORM, first, last};

pub(super) const ROWS: &[EventRow] = &[
    EventRow {
        name: "session.start",
        summary: "a session begins",
        aliases: &["SessionStart", "session_start", "session-start", "session.created", "onStart"],
        context: &[TURN_INDEX, SESSION_ID, MODEL, SOURCE, CWD, TRANSCRIPT_PATH, PERMISSION_MODE],
        text_teaches: true,
        ..OBSERVER
    },
    EventRow {
        name: "session.end",
        summary: "the session is over",
        aliases: &["SessionEnd", "session_end", "session-end", "session_shutdown", "onComplete"],
        context: &[TURN_INDEX, SESSION_ID, REASON, CWD, TRANSCRIPT_PATH],
        ..OBSERVER
    },
    EventRow {
        name: "session.switch.pre",
        summary: "the user is about to switch to another session",
        aliases: &["session_before_switch"],
        context: &[REASON, TARGET_SESSION, SESSION_ID, CWD],
        ..GATE
    },
    EventRow {
        name: "session.switch",
        summary: "the user has switched to another session",
        aliases: &["session_switch"],
        context: &[REASON, PREVIOUS_SESSION, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "session.branch.pre",
        summary: "the session is about to be branched",
        aliases: &["session_before_branch", "session_before_fork"],
        context: &[TARGET_TURN_INDEX, ENTRY_ID, SKIP_RESTORE, SESSION_ID, CWD],
        rewrites: &[last("skipConversationRestore")],
        ..GATE
    },
    EventRow {
        name: "session.branch",
        summary: "the session has been branched",
        aliases: &["session_branch", "session_fork"],
        context: &[TARGET_TURN_INDEX, ENTRY_ID, PREVIOUS_SESSION, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "session.tree.pre",
        summary: "the user is about to move in the session tree",
        aliases: &["session_before_tree"],
        context: &[ENTRY_ID, SUMMARY, SESSION_ID, CWD],
        rewrites: &[first("summary")],
        ..GATE
    },
    EventRow {
        name: "session.tree",
        summary: "the user has moved in the session tree",
        aliases: &["session_tree"],
        context: &[ENTRY_ID, SUMMARY, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "session.clear.pre",
        summary: "the session is about to be cleared",
        aliases: &["before_reset"],
        context: &[REASON, SESSION_ID, CWD],
        ..GATE
    },
    EventRow {
        name: "session.clear",
        summary: "the session has been cleared",
        aliases: &[],
        context: &[REASON, PREVIOUS_SESSION, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "session.dir",
        summary: "the host looks for the place to keep sessions in",
        aliases: &["session_directory"],
        context: &[SESSION_DIR, CWD],
        rewrites: &[first("sessionDir")],
        ..TRANSFORM
    },
    EventRow {
        name: "notification",
        summary: "the host shows the user a message",
        aliases: &[],
        context: &[MESSAGE_TEXT, KIND, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "todo.reminder",
        summary: "the model is reminded of what is not done",
        aliases: &["todo_reminder"],
        context: &[OPEN_ITEMS, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "rule.trigger",
        summary: "a rule has interrupted the model",
        aliases: &["ttsr_triggered"],
        context: &[RULE, SESSION_ID, CWD],
        ..OBSERVER
    },
    // Claude's and Codex's `StopFailure` ends a turn by an error of the API: more an error
    // than an end.
    EventRow {
        name: "error",
        summary: "the run has failed beyond repair",
        aliases: &["errorOccurred", "error_occurred", "session.error", "StopFailure", "onError"],
        context: &[TURN_INDEX, CODE, MESSAGE_TEXT, SESSION_ID, CWD],
        ..OBSERVER
    },
];
