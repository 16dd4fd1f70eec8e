//! The workspace: what is set up, loaded and changed around the agent.

use super::keys::*;
use super::row::*;

events! {
    "setup" OBSERVER "the workspace is being set up or cleaned",
        has [TRIGGER SESSION_ID CWD];
    "resources.discover" TRANSFORM "the host looks for skills, prompts and plugins",
        also ["resources_discover" "workspaceOpen"],
        has [REASON RESOURCES SESSION_ID CWD],
        rewrites [Append "resources"];
    "instructions.load" OBSERVER "a file of instructions has been loaded",
        also ["InstructionsLoaded"],
        has [FILE_PATH MEMORY_TYPE REASON SESSION_ID CWD];
    "config.change" GATE "a changed setting is about to take effect",
        also ["ConfigChange"],
        has [ORIGIN FILE_PATH SESSION_ID CWD];
    "cwd.change" OBSERVER "the working directory has changed",
        also ["CwdChanged"],
        has [OLD_CWD NEW_CWD SESSION_ID CWD];
    "dir.add" OBSERVER "a directory has been added to the workspace",
        also ["DirectoryAdded"],
        has [DIRECTORY ORIGIN SESSION_ID CWD];
    "file.change" OBSERVER "a watched file has changed",
        also ["FileChanged" "file_changed" "file.edited"],
        has [FILE_PATH CHANGE SESSION_ID CWD];
    // A hook may make the worktree in its own way and say where it is.
    "worktree.create" GATE "a worktree is about to be made",
        also ["WorktreeCreate"],
        has [NAME OWN_WORKTREE SESSION_ID CWD],
        rewrites [First "worktreePath"];
    "worktree.remove" OBSERVER "a worktree is being removed",
        also ["WorktreeRemove"],
        has [WORKTREE_PATH SESSION_ID CWD];
}
