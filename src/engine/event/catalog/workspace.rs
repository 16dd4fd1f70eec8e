//! The workspace: what is set up, loaded and changed around the agent.

use super::keys::*;
use super::{EventRow, GATE, OBSERVER, TRANSFORM, append, first};

pub(super) const ROWS: &[EventRow] = &[
    EventRow {
        name: "setup",
        summary: "the workspace is being set up or cleaned",
        aliases: &[],
        context: &[TRIGGER, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "resources.discover",
        summary: "the host looks for skills, prompts and plugins",
        aliases: &["resources_discover", "workspaceOpen"],
        context: &[REASON, RESOURCES, SESSION_ID, CWD],
        rewrites: &[append("resources")],
        ..TRANSFORM
    },
    EventRow {
        name: "instructions.load",
        summary: "a file of instructions has been loaded",
        aliases: &["InstructionsLoaded"],
        context: &[FILE_PATH, MEMORY_TYPE, REASON, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "config.change",
        summary: "a changed setting is about to take effect",
        aliases: &["ConfigChange"],
        context: &[ORIGIN, FILE_PATH, SESSION_ID, CWD],
        ..GATE
    },
    EventRow {
        name: "cwd.change",
        summary: "the working directory has changed",
        aliases: &["CwdChanged"],
        context: &[OLD_CWD, NEW_CWD, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "dir.add",
        summary: "a directory has been added to the workspace",
        aliases: &["DirectoryAdded"],
        context: &[DIRECTORY, ORIGIN, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "file.change",
        summary: "a watched file has changed",
        aliases: &["FileChanged", "file_changed", "file.edited"],
        context: &[FILE_PATH, CHANGE, SESSION_ID, CWD],
        ..OBSERVER
    },
    // A hook may make the worktree in its own way and say where it is.
    EventRow {
        name: "worktree.create",
        summary: "a worktree is about to be made",
        aliases: &["WorktreeCreate"],
        context: &[NAME, OWN_WORKTREE, SESSION_ID, CWD],
        rewrites: &[first("worktreePath")],
        ..GATE
    },
    EventRow {
        name: "worktree.remove",
        summary: "a worktree is being removed",
        aliases: &["WorktreeRemove"],
        context: &[WORKTREE_PATH, SESSION_ID, CWD],
        ..OBSERVER
    },
];
