//! The session: how it begins, moves and ends, and what it reports.
//!
//! Old pi has a single `session` event with ten reasons. It is ten rows here and the alias of
//! none; only pi's dialect can read its `reason`.

use super::keys::*;
use super::row::*;

events! {
    "session.start" OBSERVER "a session begins",
        also ["SessionStart" "session_start" "session-start" "session.created" "onStart"
            "TaskStart" "TaskResume"],
        has [TURN_INDEX SESSION_ID MODEL SOURCE CWD TRANSCRIPT_PATH PERMISSION_MODE],
        teaches true;
    "session.end" OBSERVER "the session is over",
        also ["SessionEnd" "session_end" "session-end" "session_shutdown" "onComplete"],
        has [TURN_INDEX SESSION_ID REASON CWD TRANSCRIPT_PATH];
    "session.switch.pre" GATE "the user is about to switch to another session",
        also ["session_before_switch"],
        has [REASON TARGET_SESSION SESSION_ID CWD];
    "session.switch" OBSERVER "the user has switched to another session",
        also ["session_switch"],
        has [REASON PREVIOUS_SESSION SESSION_ID CWD];
    "session.branch.pre" GATE "the session is about to be branched",
        also ["session_before_branch" "session_before_fork"],
        has [TARGET_TURN_INDEX ENTRY_ID SKIP_RESTORE SESSION_ID CWD],
        rewrites [Last "skipConversationRestore"];
    "session.branch" OBSERVER "the session has been branched",
        also ["session_branch" "session_fork"],
        has [TARGET_TURN_INDEX ENTRY_ID PREVIOUS_SESSION SESSION_ID CWD];
    "session.tree.pre" GATE "the user is about to move in the session tree",
        also ["session_before_tree"],
        has [ENTRY_ID SUMMARY SESSION_ID CWD],
        rewrites [First "summary"];
    "session.tree" OBSERVER "the user has moved in the session tree",
        also ["session_tree"],
        has [ENTRY_ID SUMMARY SESSION_ID CWD];
    "session.clear.pre" GATE "the session is about to be cleared",
        also ["before_reset"],
        has [REASON SESSION_ID CWD];
    "session.clear" OBSERVER "the session has been cleared",
        has [REASON PREVIOUS_SESSION SESSION_ID CWD];
    "session.dir" TRANSFORM "the host looks for the place to keep sessions in",
        also ["session_directory"],
        has [SESSION_DIR CWD],
        rewrites [First "sessionDir"];
    "notification" OBSERVER "the host shows the user a message",
        has [MESSAGE_TEXT KIND SESSION_ID CWD];
    "todo.reminder" OBSERVER "the model is reminded of what is not done",
        also ["todo_reminder"],
        has [OPEN_ITEMS SESSION_ID CWD];
    "rule.trigger" OBSERVER "a rule has interrupted the model",
        also ["ttsr_triggered"],
        has [RULE SESSION_ID CWD];
    // Claude's and Codex's `StopFailure` ends a turn by an error of the API: more an error
    // than an end.
    "error" OBSERVER "the run has failed beyond repair",
        also ["errorOccurred" "error_occurred" "session.error" "StopFailure" "onError"],
        has [TURN_INDEX CODE MESSAGE_TEXT SESSION_ID CWD];
}
