//! git: commits, patches, rebases and pushes, on the client and on the server.
//!
//! A hook that edits the message file in git rewrites `message` here. `changes` are the paths that
//! an event changes; they are its `action`, so that a policy on paths holds for a tool, a commit
//! and a push. Without a row are
//! `proc-receive` and `fsmonitor-watchman`, which talk a protocol of their own instead of
//! answering once, and the four `p4-` hooks of git-p4.

use super::keys::*;
use super::{EventRow, GATE, OBSERVER, chain};

pub(super) const ROWS: &[EventRow] = &[
    EventRow {
        name: "commit.pre",
        summary: "a commit is about to be made",
        aliases: &["pre-commit"],
        context: &[CHANGES, CWD],
        ..GATE
    },
    EventRow {
        name: "commit.msg.prepare",
        summary: "a commit message is about to be edited",
        aliases: &["prepare-commit-msg"],
        context: &[COMMIT_MESSAGE, FILE_PATH, ORIGIN, COMMIT, CWD],
        rewrites: &[chain("message")],
        ..GATE
    },
    EventRow {
        name: "commit.msg",
        summary: "a commit message has been written",
        aliases: &["commit-msg"],
        context: &[COMMIT_MESSAGE, FILE_PATH, CWD],
        rewrites: &[chain("message")],
        ..GATE
    },
    EventRow {
        name: "commit.post",
        summary: "a commit has been made",
        aliases: &["post-commit"],
        context: &[CWD],
        ..OBSERVER
    },
    EventRow {
        name: "commit.rewrite",
        summary: "commits have been replaced by others",
        aliases: &["post-rewrite"],
        context: &[TRIGGER, COMMITS, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "merge.pre",
        summary: "a merge is about to be committed",
        aliases: &["pre-merge-commit"],
        context: &[CHANGES, CWD],
        ..GATE
    },
    EventRow {
        name: "merge.post",
        summary: "a merge is done",
        aliases: &["post-merge"],
        context: &[IS_SQUASH, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "patch.msg",
        summary: "the message of a mailed patch has been read",
        aliases: &["applypatch-msg"],
        context: &[COMMIT_MESSAGE, FILE_PATH, CWD],
        rewrites: &[chain("message")],
        ..GATE
    },
    EventRow {
        name: "patch.pre",
        summary: "a mailed patch is about to be committed",
        aliases: &["pre-applypatch"],
        context: &[CHANGES, CWD],
        ..GATE
    },
    EventRow {
        name: "patch.post",
        summary: "a mailed patch has been committed",
        aliases: &["post-applypatch"],
        context: &[CWD],
        ..OBSERVER
    },
    EventRow {
        name: "patch.send",
        summary: "a patch is about to be mailed",
        aliases: &["sendemail-validate"],
        context: &[FILE_PATH, HEADER_FILE, CWD],
        ..GATE
    },
    EventRow {
        name: "rebase.pre",
        summary: "a branch is about to be rebased",
        aliases: &["pre-rebase"],
        context: &[UPSTREAM, BRANCH, CWD],
        ..GATE
    },
    EventRow {
        name: "checkout.post",
        summary: "a branch or file has been checked out",
        aliases: &["post-checkout"],
        context: &[OLD_SHA, NEW_SHA, IS_BRANCH, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "index.post",
        summary: "the index has been written",
        aliases: &["post-index-change"],
        context: &[WORKTREE_CHANGED, SKIP_WORKTREE_CHANGED, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "gc.pre",
        summary: "garbage is about to be collected",
        aliases: &["pre-auto-gc"],
        context: &[CWD],
        ..GATE
    },
    EventRow {
        name: "push.pre",
        summary: "commits are about to be pushed",
        aliases: &["pre-push"],
        context: &[REMOTE, URL, PUSHED_REFS, CHANGES, CWD],
        ..GATE
    },
    EventRow {
        name: "push.checkout",
        summary: "a push is about to change what is checked out",
        aliases: &["push-to-checkout"],
        context: &[NEW_SHA, CWD],
        ..GATE
    },
    EventRow {
        name: "receive.pre",
        summary: "pushed commits are about to be taken in",
        aliases: &["pre-receive"],
        context: &[REFS, PUSH_OPTIONS, CHANGES, CWD],
        ..GATE
    },
    EventRow {
        name: "receive.post",
        summary: "pushed commits have been taken in",
        aliases: &["post-receive"],
        context: &[REFS, PUSH_OPTIONS, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "ref.update",
        summary: "one reference is about to move by a push",
        aliases: &["update"],
        context: &[REF, OLD_SHA, NEW_SHA, CHANGES, CWD],
        ..GATE
    },
    EventRow {
        name: "ref.update.post",
        summary: "references have moved by a push",
        aliases: &["post-update"],
        context: &[REF_NAMES, CWD],
        ..OBSERVER
    },
    // git listens only while `state` is `preparing` or `prepared`.
    EventRow {
        name: "ref.transaction",
        summary: "references are about to change together",
        aliases: &["reference-transaction"],
        context: &[STATE, REFS, CWD],
        ..GATE
    },
];
