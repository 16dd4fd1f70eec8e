//! git: commits, patches, rebases and pushes, on the client and on the server.
//!
//! A hook that edits the message file in git rewrites `message` here. `changes` are the paths that
//! an event changes; they are its `action`, so that a policy on paths holds for a tool, a commit
//! and a push. Without a row are `proc-receive` and `fsmonitor-watchman`, which have their own
//! protocols instead of one answer, and the four `p4-` hooks of git-p4.

use super::keys::*;
use super::row::*;

events! {
    "commit.pre" GATE "a commit is about to be made",
        also ["pre-commit"],
        has [CHANGES CWD];
    "commit.msg.prepare" GATE "a commit message is about to be edited",
        also ["prepare-commit-msg"],
        has [COMMIT_MESSAGE FILE_PATH ORIGIN COMMIT CWD],
        rewrites [Chain "message"];
    "commit.msg" GATE "a commit message has been written",
        also ["commit-msg"],
        has [COMMIT_MESSAGE FILE_PATH CWD],
        rewrites [Chain "message"];
    "commit.post" OBSERVER "a commit has been made",
        also ["post-commit"],
        has [CWD];
    "commit.rewrite" OBSERVER "commits have been replaced by others",
        also ["post-rewrite"],
        has [TRIGGER COMMITS CWD];
    "merge.pre" GATE "a merge is about to be committed",
        also ["pre-merge-commit"],
        has [CHANGES CWD];
    "merge.post" OBSERVER "a merge is done",
        also ["post-merge"],
        has [IS_SQUASH CWD];
    "patch.msg" GATE "the message of a mailed patch has been read",
        also ["applypatch-msg"],
        has [COMMIT_MESSAGE FILE_PATH CWD],
        rewrites [Chain "message"];
    "patch.pre" GATE "a mailed patch is about to be committed",
        also ["pre-applypatch"],
        has [CHANGES CWD];
    "patch.post" OBSERVER "a mailed patch has been committed",
        also ["post-applypatch"],
        has [CWD];
    "patch.send" GATE "a patch is about to be mailed",
        also ["sendemail-validate"],
        has [FILE_PATH HEADER_FILE CWD];
    "rebase.pre" GATE "a branch is about to be rebased",
        also ["pre-rebase"],
        has [UPSTREAM BRANCH CWD];
    "checkout.post" OBSERVER "a branch or file has been checked out",
        also ["post-checkout"],
        has [OLD_SHA NEW_SHA IS_BRANCH CWD];
    "index.post" OBSERVER "the index has been written",
        also ["post-index-change"],
        has [WORKTREE_CHANGED SKIP_WORKTREE_CHANGED CWD];
    "gc.pre" GATE "garbage is about to be collected",
        also ["pre-auto-gc"],
        has [CWD];
    "push.pre" GATE "commits are about to be pushed",
        also ["pre-push"],
        has [REMOTE URL PUSHED_REFS CHANGES CWD];
    "push.checkout" GATE "a push is about to change what is checked out",
        also ["push-to-checkout"],
        has [NEW_SHA CWD];
    "receive.pre" GATE "pushed commits are about to be taken in",
        also ["pre-receive"],
        has [REFS PUSH_OPTIONS CHANGES CWD];
    "receive.post" OBSERVER "pushed commits have been taken in",
        also ["post-receive"],
        has [REFS PUSH_OPTIONS CWD];
    "ref.update" GATE "one reference is about to move by a push",
        also ["update"],
        has [REF OLD_SHA NEW_SHA CHANGES CWD];
    "ref.update.post" OBSERVER "references have moved by a push",
        also ["post-update"],
        has [REF_NAMES CWD];
    // git listens only while `state` is `preparing` or `prepared`.
    "ref.transaction" GATE "references are about to change together",
        also ["reference-transaction"],
        has [STATE REFS CWD];
}
