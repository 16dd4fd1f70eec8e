//! git: its hooks as rows over the catalog, what they get, and what git gets back.
//!
//! git gives a hook arguments, lines on stdin and variables instead of a JSON document, so its
//! table is of another form than those of the agents. Source: githooks(5) of git 2.47. git itself
//! says what a commit or a push changes ([`GitHook::listings`]); the command line runs it. Of a
//! push, every commit that is new to the other side counts, not only the last: what one commit adds
//! and the next one removes is sent all the same. Of a merge counts what is in none of its parents.
//! Nothing that a repository can be configured with hides a path.

mod contract;
mod row;

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::native;
use super::row::Reply;
use crate::engine::event::catalog;
use crate::engine::names::words;
use crate::engine::outcome::{Cause, Settled, joined};
use crate::engine::run::{Fate, Run};
use Argument::{Flag, MessageFile, Rest, Text};

pub use row::{Argument, Changes, GitError, GitHook, GitInput, Presence, StdinLines};

/// The name of the host, for `--host`.
pub const NAME: &str = "git";

/// Variables of git that are in `raw.environment`. Others may hold credentials.
const SHOWN_VARIABLES: &[&str] = words!(
    "GIT_DIR" "GIT_WORK_TREE" "GIT_INDEX_FILE" "GIT_PREFIX" "GIT_REFLOG_ACTION"
    "GIT_QUARANTINE_PATH" "GIT_PUSH_CERT_STATUS" "GIT_PUSH_CERT_SIGNER"
);

const MOVED: StdinLines = StdinLines {
    key: "refs",
    words: &["oldSha", "newSha", "ref"],
};
const PUSHED: StdinLines = StdinLines {
    key: "refs",
    words: &["localRef", "newSha", "ref", "oldSha"],
};
const REWRITTEN: StdinLines = StdinLines {
    key: "commits",
    words: &["oldSha", "newSha"],
};

const fn hook(name: &'static str, event: &'static str, arguments: &'static [Argument]) -> GitHook {
    GitHook {
        name,
        event,
        arguments,
        lines: None,
        changes: Changes::Unknown,
        presence: Presence::Plain,
        has_head: false,
        operation: None,
    }
}

/// Every hook of git that the catalog has.
pub static GIT_HOOKS: &[GitHook] = &[
    hook("pre-commit", "commit.pre", &[])
        .changes(Changes::Index)
        .with_head(),
    hook(
        "prepare-commit-msg",
        "commit.msg.prepare",
        &[MessageFile, Text("source"), Text("commit")],
    )
    .with_head(),
    hook("commit-msg", "commit.msg", &[MessageFile]).with_head(),
    hook("post-commit", "commit.post", &[]),
    hook("post-rewrite", "commit.rewrite", &[Text("trigger")]).lines(REWRITTEN),
    // git notes the merge only after this.
    hook("pre-merge-commit", "merge.pre", &[])
        .changes(Changes::Index)
        .with_head()
        .within("merge"),
    hook("post-merge", "merge.post", &[Flag("isSquash")]),
    hook("applypatch-msg", "patch.msg", &[MessageFile]),
    hook("pre-applypatch", "patch.pre", &[]).changes(Changes::Index),
    hook("post-applypatch", "patch.post", &[]),
    hook(
        "sendemail-validate",
        "patch.send",
        &[Text("filePath"), Text("headerFile")],
    ),
    hook(
        "pre-rebase",
        "rebase.pre",
        &[Text("upstream"), Text("branch")],
    ),
    hook(
        "post-checkout",
        "checkout.post",
        &[Text("oldSha"), Text("newSha"), Flag("isBranch")],
    ),
    hook(
        "post-index-change",
        "index.post",
        &[Flag("worktreeChanged"), Flag("skipWorktreeChanged")],
    )
    .presence(Presence::Costly),
    hook("pre-auto-gc", "gc.pre", &[]),
    hook("pre-push", "push.pre", &[Text("remote"), Text("url")])
        .lines(PUSHED)
        .changes(Changes::Sent)
        .with_head(),
    hook("push-to-checkout", "push.checkout", &[Text("newSha")]).presence(Presence::Replaces),
    hook("pre-receive", "receive.pre", &[])
        .lines(MOVED)
        .changes(Changes::Received),
    hook("post-receive", "receive.post", &[]).lines(MOVED),
    hook(
        "update",
        "ref.update",
        &[Text("ref"), Text("oldSha"), Text("newSha")],
    )
    .changes(Changes::Received),
    hook("post-update", "ref.update.post", &[Rest("refs")]),
    hook("reference-transaction", "ref.transaction", &[Text("state")])
        .lines(MOVED)
        .presence(Presence::Costly),
];

/// The row of `hookrun check`, with the hooks that git would run before a commit.
pub static CHECK: GitHook = hook("check", "commit.pre", &[])
    .changes(Changes::Index)
    .with_head();

/// The hook that git, or the catalog, calls `name`, in any case.
pub fn find(name: &str) -> Option<&'static GitHook> {
    GIT_HOOKS
        .iter()
        .find(|hook| hook.name.eq_ignore_ascii_case(name) || hook.event.eq_ignore_ascii_case(name))
}

impl GitHook {
    /// Whether a hook can block what git does.
    pub fn is_gate(&self) -> bool {
        catalog::find(self.event).is_none_or(|spec| spec.blocks)
    }

    /// Why git does not commit what hooks stage meanwhile; `None` if it does. In a merge or a patch it
    /// commits the tree that it had before.
    pub fn no_fixes(&self) -> Option<&'static str> {
        let why = "and git takes no fixes here; in a merge, `git commit` completes it with them";
        (self.name != "pre-commit").then_some(why)
    }

    /// The file of the commit message that the hook may edit.
    pub fn message_file<'g>(&self, given: &'g GitInput) -> Option<&'g Path> {
        let place = self
            .arguments
            .iter()
            .position(|one| *one == Argument::MessageFile)?;
        given.arguments.get(place).map(Path::new)
    }

    /// The context of the event, without the changed paths.
    ///
    /// # Errors
    /// When git gave something that is not in its manual.
    pub fn context(&self, given: &GitInput) -> Result<Map<String, Value>, GitError> {
        let mut context = Map::new();
        let mut left = given.arguments.iter();
        for argument in self.arguments {
            let value: Value = match argument {
                Text(_) => left
                    .next()
                    .map(|text| readable(text))
                    .unwrap_or_default()
                    .into(),
                Flag(_) => left.next().is_some_and(|text| text == "1").into(),
                Rest(_) => left.by_ref().map(|text| readable(text)).collect(),
                MessageFile => {
                    let message = given.message.as_deref().unwrap_or_default();
                    let message = String::from_utf8_lossy(message).into_owned();
                    context.insert("message".to_string(), message.into());
                    readable(left.next().ok_or_else(|| self.wrong("no message file"))?).into()
                }
            };
            context.insert(argument.key().to_string(), value);
        }
        let mut raw = self.raw(given);
        let mut odd_stdin = None;
        if let Some(lines) = self.lines {
            let entries = self.read_lines(lines, &given.stdin)?;
            let is_plain = lines.written(&entries).as_bytes() == given.stdin;
            odd_stdin = Some(&*given.stdin).filter(|_| !is_plain);
            context.insert(lines.key.to_string(), entries.into());
        }
        contract::keep_bytes(&mut raw, &given.arguments, odd_stdin);
        let options = push_options(&given.variables);
        if !options.is_empty() {
            context.insert("pushOptions".to_string(), options.into());
        }
        context.insert("cwd".to_string(), given.cwd.to_string_lossy().into());
        context.insert("raw".to_string(), raw.into());
        Ok(context)
    }

    fn read_lines(&self, lines: StdinLines, stdin: &[u8]) -> Result<Vec<Value>, GitError> {
        let mut all = Vec::new();
        for line in stdin
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let mut words: Vec<&[u8]> = line
                .rsplitn(lines.words.len(), |byte| *byte == b' ')
                .collect();
            words.reverse();
            if words.len() != lines.words.len() {
                let line = String::from_utf8_lossy(line);
                return Err(self.wrong(&format!("the line `{line}` on stdin")));
            }
            let pairs = lines.words.iter().zip(words);
            let entry = pairs.map(|(key, word)| {
                (
                    (*key).to_string(),
                    Value::from(String::from_utf8_lossy(word)),
                )
            });
            all.push(Value::Object(entry.collect()));
        }
        Ok(all)
    }

    fn raw(&self, given: &GitInput) -> Map<String, Value> {
        let mut variables = given.variables.clone();
        variables.retain(|(name, _)| SHOWN_VARIABLES.contains(&name.as_str()));
        let arguments: Vec<String> = given.arguments.iter().map(|text| readable(text)).collect();
        Map::from_iter([
            ("hook".to_string(), self.name.into()),
            ("arguments".to_string(), arguments.into()),
            ("environment".to_string(), variables.into_iter().collect()),
        ])
    }

    /// The reply to a run: git reads the exit status and shows stderr. An event that cannot be
    /// blocked goes on in any case. Several blocks have a line that sums them up first.
    pub fn reply(&self, run: &Run) -> Reply {
        let outcome = &run.outcome;
        let blocks = run.event.spec().blocks;
        match &outcome.settled {
            Settled::Refused(refusal) if !refusal.others.is_empty() => {
                let names: Vec<&str> = refusal.hooks().map(String::as_str).collect();
                let ran = run
                    .hooks
                    .iter()
                    .filter(|hook| matches!(hook.fate, Fate::Ran(_)))
                    .count();
                let seconds = run.took.as_secs_f64();
                let summary = format!(" by {}; {ran} hooks, {seconds:.1} s", names.join(", "));
                self.stop(&format!("{summary}\n{}", refusal.reason), blocks)
            }
            Settled::Refused(refusal) => match (&refusal.hook, refusal.cause) {
                (Some(hook), Cause::Policy | Cause::Person) => {
                    self.stop(&format!(" by hook `{hook}`: {}", refusal.reason), blocks)
                }
                (Some(_) | None, Cause::Failure) | (None, Cause::Policy | Cause::Person) => {
                    self.refuse(&refusal.reason, blocks)
                }
            },
            Settled::Asked { questions } => self.refuse(&joined(questions), blocks),
            Settled::Allowed => {
                let mut stderr = String::new();
                for said in &outcome.said {
                    for text in [&said.output, &said.additional_context]
                        .into_iter()
                        .flatten()
                    {
                        stderr.push_str(text.trim_end_matches('\n'));
                        stderr.push('\n');
                    }
                }
                stderr.push_str(&native::notices(outcome));
                Reply {
                    stdout: String::new(),
                    stderr,
                    status: native::ALLOWED,
                }
            }
        }
    }

    /// The reply that blocks for `reason`, or complains where nothing can be blocked.
    pub fn refuse(&self, reason: &str, blocks: bool) -> Reply {
        self.stop(&format!(": {reason}"), blocks)
    }

    fn stop(&self, why: &str, blocks: bool) -> Reply {
        let why = native::shortened(why);
        let (verb, status) = if blocks {
            ("blocked", STOP)
        } else {
            ("complains", GO_ON)
        };
        let stderr = format!("hookrun: {} {verb}{}\n", self.name, why.trim_end());
        Reply {
            stdout: String::new(),
            stderr,
            status,
        }
    }
}

/// The exit status that stops git.
const STOP: u8 = 1;

/// The exit status with which git goes on. `git checkout` would otherwise end with the status of
/// its `post-checkout`.
const GO_ON: u8 = 0;

/// The options of `git push --push-option`, in order.
fn push_options(variables: &[(String, String)]) -> Vec<Value> {
    let mut values: HashMap<&str, &str> = HashMap::new();
    for (name, value) in variables {
        values.insert(name, value);
    }
    let count = values.get("GIT_PUSH_OPTION_COUNT");
    let count: usize = count.and_then(|count| count.parse().ok()).unwrap_or(0);
    (0..count)
        .map_while(|n| values.get(&*format!("GIT_PUSH_OPTION_{n}")))
        .map(|option| Value::from(*option))
        .collect()
}

/// Bytes as text; bytes that are not UTF-8 are replaced.
fn readable(text: &OsStr) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

/// Options of every listing, so that neither the configuration nor replaced objects matter.
const EVERY: &[&str] = words!(
    "-z" "--raw" "--no-abbrev" "--find-renames=50%" "-l1000" "--no-relative" "--no-ext-diff"
    "--no-textconv" "--ignore-submodules=none"
);

const LOG: &[&str] = words!(
    "--format=" "-c" "--combined-all-paths" "--root" "--no-show-signature" "--no-notes"
);

/// How many commits one listing names, so that a push of many references fits.
const NAMED_AT_ONCE: usize = 1000;

impl GitHook {
    /// The arguments of git by which it lists the changed paths of an event with this context, for
    /// [`read_changes`].
    ///
    /// # Errors
    /// When a commit in it is not named by a number.
    pub fn listings(&self, context: &Map<String, Value>) -> Result<Vec<Vec<OsString>>, GitError> {
        if self.changes == Changes::Unknown {
            return Ok(Vec::new());
        }
        if self.changes == Changes::Index {
            return Ok(vec![listing_of_index(None, &[])]);
        }
        let mut new = self.commits(context, "newSha")?;
        new.retain(|commit| !is_nothing(commit));
        new.dedup();
        let mut known: Vec<OsString> = Vec::new();
        match self.changes {
            Changes::Sent => {
                let mut old = self.commits(context, "oldSha")?;
                old.retain(|commit| !is_nothing(commit));
                old.truncate(NAMED_AT_ONCE);
                known.extend(old.into_iter().map(OsString::from));
                let remote = context
                    .get("remote")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                known.push(format!("--remotes={remote}").into());
            }
            Changes::Received => known.push("--all".into()),
            Changes::Unknown | Changes::Index => {}
        }
        let batches = new.chunks(NAMED_AT_ONCE).map(|batch| {
            let mut revisions: Vec<OsString> = batch.iter().map(OsString::from).collect();
            // Commits of the other side may be unknown here; new ones are known.
            revisions.extend(["--ignore-missing", "--not"].map(OsString::from));
            revisions.extend(known.iter().cloned());
            listing("log", LOG, revisions)
        });
        Ok(batches.collect())
    }

    /// The commits under `key`, of the event itself or of each of its references.
    fn commits(&self, context: &Map<String, Value>, key: &str) -> Result<Vec<String>, GitError> {
        let refs = context.get("refs").and_then(Value::as_array);
        let found: Vec<&Value> = match refs {
            Some(refs) => refs.iter().filter_map(|one| one.get(key)).collect(),
            None => context.get(key).into_iter().collect(),
        };
        let mut commits = Vec::with_capacity(found.len());
        for commit in found {
            let text = commit.as_str().unwrap_or_default();
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.wrong(&format!("the commit `{text}`")));
            }
            commits.push(text.to_string());
        }
        Ok(commits)
    }
}

/// The arguments by which git lists what is in the index and not in `tree`, by default the commit that
/// is checked out; below these paths from the top, if there are any.
pub fn listing_of_index(tree: Option<&str>, paths: &[PathBuf]) -> Vec<OsString> {
    let trees = tree.map(OsString::from).into_iter().collect();
    let mut arguments = listing("diff", &["--cached"], trees);
    for path in paths {
        let mut pathspec = OsString::from(":(top,literal)");
        pathspec.push(path);
        arguments.push(pathspec);
    }
    arguments
}

/// The arguments by which git lists what `to` changes since it and `from` had the same commit.
pub fn listing_between(from: &str, to: &str) -> Vec<OsString> {
    listing("diff", &[], vec![format!("{from}...{to}").into()])
}

fn listing(command: &str, options: &[&str], revisions: Vec<OsString>) -> Vec<OsString> {
    let mut arguments = vec![
        OsString::from("--no-replace-objects"),
        OsString::from(command),
    ];
    arguments.extend(EVERY.iter().chain(options).map(OsString::from));
    arguments.extend(revisions);
    arguments.push("--".into());
    arguments
}

/// Whether a commit's number means that there is none.
fn is_nothing(commit: &str) -> bool {
    commit.bytes().all(|byte| byte == b'0')
}

/// The changes in the output of listings: each path once, with what the newest commit does to it,
/// and once more if that deletes what another new commit brings, for it is sent as well. Of a
/// rename the old path has `R` and what it becomes, for its content is not deleted, and the new one
/// `A`. A path that is not UTF-8 also has its bytes in hexadecimal digits; one that is no plain file
/// has its mode.
///
/// # Errors
/// When the output is not of that form; the error names what cannot be read.
pub fn read_changes(outputs: &[Vec<u8>]) -> Result<Vec<Value>, String> {
    let mut list = ChangeList {
        seen: HashMap::new(),
        changes: Vec::new(),
    };
    for output in outputs {
        // Commits are divided by one more NUL.
        let mut parts = output
            .split(|byte| *byte == 0)
            .filter(|part| !part.is_empty());
        while let Some(described) = parts.next() {
            // `:100644 100755 SHA SHA M`: a merge has one more colon, mode and number for each
            // parent. The last mode is what the path becomes.
            let parents = described.iter().take_while(|byte| **byte == b':').count();
            let words: Vec<&[u8]> = described[parents..].split(|byte| *byte == b' ').collect();
            let mode = words.get(parents).copied().unwrap_or_default();
            let status = words.get(2 * (parents + 1)).copied().unwrap_or_default();
            // A merge has a letter for each of its parents, a rename a degree of likeness.
            let length = status
                .iter()
                .take_while(|byte| byte.is_ascii_uppercase())
                .count();
            let (letters, likeness) = status.split_at(length);
            let is_status = length > 0 && likeness.iter().all(u8::is_ascii_digit);
            let others = if matches!(letters, b"R" | b"C") || length > 1 {
                length
            } else {
                0
            };
            let others: Vec<&[u8]> = parts
                .by_ref()
                .take(if is_status { others } else { 0 })
                .collect();
            let path = parts.next().filter(|_| is_status).ok_or_else(|| {
                format!(
                    "git's list of changes breaks off at `{}`",
                    String::from_utf8_lossy(described)
                )
            })?;
            for (letter, old) in letters.iter().zip(others) {
                if *letter == b'R' && old != path {
                    list.add(old, NO_FILE, "R", Some(path));
                }
            }
            let is_deleted = letters.iter().all(|letter| *letter == b'D');
            let letters = String::from_utf8_lossy(letters).replace(['R', 'C'], "A");
            list.add(path, mode, if is_deleted { "D" } else { &letters }, None);
        }
    }
    Ok(list.changes)
}

/// git's mode of a path that nothing is at.
const NO_FILE: &[u8] = b"000000";

const PLAIN_FILE: &[u8] = b"100644";

struct ChangeList<'o> {
    /// Whether all commits so far delete a path.
    seen: HashMap<&'o [u8], bool>,
    changes: Vec<Value>,
}

impl<'o> ChangeList<'o> {
    fn add(&mut self, path: &'o [u8], mode: &[u8], status: &str, to: Option<&[u8]>) {
        let is_deleted = status == "D";
        let is_new = match self.seen.get_mut(path) {
            Some(was_deleted) => {
                std::mem::replace(was_deleted, *was_deleted && is_deleted) && !is_deleted
            }
            None => self.seen.insert(path, is_deleted).is_none(),
        };
        if is_new {
            self.changes.push(change(path, mode, status, to));
        }
    }
}

fn change(path: &[u8], mode: &[u8], status: &str, to: Option<&[u8]>) -> Value {
    let mut change = Map::new();
    change.insert("path".to_string(), String::from_utf8_lossy(path).into());
    change.insert("status".to_string(), status.into());
    if mode != PLAIN_FILE && mode != NO_FILE {
        change.insert("mode".to_string(), String::from_utf8_lossy(mode).into());
    }
    if let Some(to) = to {
        change.insert("to".to_string(), String::from_utf8_lossy(to).into());
    }
    if std::str::from_utf8(path).is_err() {
        change.insert("pathHex".to_string(), contract::hex(path).into());
    }
    Value::Object(change)
}
