//! git's hooks as rows over the catalog: their input, their events, and the reply to git.
//!
//! Its hooks get arguments, stdin lines and variables, not JSON. Source: githooks(5) of git 2.47. A
//! push checks every commit new to the remote, because a file that one commit adds and the next
//! removes is sent too; a merge checks paths that differ from all parents. No configuration of the
//! repository hides a path.

mod contract;

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::native;
use super::row::Reply;
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog;
use crate::engine::names::{hex, words};
use crate::engine::outcome::{Cause, Settled, joined};
use crate::engine::run::{Fate, Run};
use Argument::{Flag, MessageFile, Rest, Text};

pub use contract::{Argument, Changes, GitHook, GitInput, NAME, Presence, StdinLines};

/// Variables of git in `raw.environment`. Others may hold credentials.
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
    // git records the merge only after this hook.
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

/// The row of `hookrun check`, which runs the hooks of a commit.
pub static CHECK: GitHook = hook("check", "commit.pre", &[])
    .changes(Changes::Index)
    .with_head();

/// Finds a hook by git's or the catalog's name, ignoring case.
pub fn find(name: &str) -> Option<&'static GitHook> {
    GIT_HOOKS
        .iter()
        .find(|hook| hook.name.eq_ignore_ascii_case(name) || hook.event.eq_ignore_ascii_case(name))
}

impl GitHook {
    pub fn is_gate(&self) -> bool {
        catalog::find(self.event).is_none_or(|spec| spec.blocks)
    }

    /// Why files that hooks stage do not get into the commit; `None` if they do. In a merge or a
    /// patch git commits the tree it had before.
    pub fn no_fixes(&self) -> Option<&'static str> {
        let why = "and git does not include fixes here; fix the files, or finish a merge with `git commit`";
        (self.name != "pre-commit").then_some(why)
    }

    pub fn message_file<'g>(&self, given: &'g GitInput) -> Option<&'g Path> {
        let mut arguments = self.arguments.iter();
        let place = arguments.position(|one| *one == MessageFile)?;
        given.arguments.get(place).map(Path::new)
    }

    /// The event's context, without the changed paths.
    ///
    /// # Errors
    /// If the input from git contradicts its manual.
    pub fn context(&self, given: &GitInput) -> Result<Map<String, Value>, Complaint> {
        let mut context = Map::new();
        let mut left = given.arguments.iter();
        for argument in self.arguments {
            let value: Value = match argument {
                Text(_) => left
                    .next()
                    .map_or_else(String::new, |it| readable(it))
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

    fn read_lines(&self, lines: StdinLines, stdin: &[u8]) -> Result<Vec<Value>, Complaint> {
        let mut all = Vec::new();
        let written = stdin.split(|byte| *byte == b'\n');
        for line in written.filter(|line| !line.is_empty()) {
            let words = line.rsplitn(lines.words.len(), |byte| *byte == b' ');
            let mut words: Vec<&[u8]> = words.collect();
            words.reverse();
            if words.len() != lines.words.len() {
                let line = String::from_utf8_lossy(line);
                return Err(self.wrong(&format!("the line `{line}` on stdin")));
            }
            let pairs = lines.words.iter().zip(words);
            let entry = pairs.map(|(key, word)| {
                let word = String::from_utf8_lossy(word);
                (key.to_string(), Value::from(word))
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

    /// The reply to a run: an exit status, and stderr with a summary line before several blocks.
    pub fn reply(&self, run: &Run) -> Reply {
        let outcome = &run.outcome;
        let blocks = run.event.spec().blocks;
        match &outcome.settled {
            Settled::Blocked(block) if !block.others.is_empty() => {
                let names: Vec<&str> = block.hooks().map(String::as_str).collect();
                let hooks = run.hooks.iter();
                let ran = hooks.filter(|hook| matches!(hook.fate, Fate::Ran(_)));
                let ran = ran.count();
                let seconds = run.took.as_secs_f64();
                let summary = format!(" by {}; {ran} hooks, {seconds:.1} s", names.join(", "));
                self.stop(&format!("{summary}\n{}", block.reason), blocks)
            }
            Settled::Blocked(block) => match (&block.hook, block.cause) {
                (Some(hook), Cause::Policy | Cause::Person) => {
                    self.stop(&format!(" by hook `{hook}`: {}", block.reason), blocks)
                }
                _ => self.block(&block.reason, blocks),
            },
            Settled::Asked { questions } => self.block(&joined(questions), blocks),
            Settled::Allowed => {
                let mut stderr = String::new();
                for from_hook in &outcome.texts {
                    let texts = from_hook.output.iter();
                    for text in texts.chain(&from_hook.additional_context) {
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

    pub fn block(&self, reason: &str, blocks: bool) -> Reply {
        self.stop(&format!(": {reason}"), blocks)
    }

    fn stop(&self, why: &str, blocks: bool) -> Reply {
        let why = native::shortened(why);
        let verb = if blocks { "blocked" } else { "failed" };
        Reply {
            stdout: String::new(),
            stderr: format!("hookrun: {} {verb}{}\n", self.name, why.trim_end()),
            status: if blocks { STOP } else { GO_ON },
        }
    }
}

const STOP: u8 = 1;

/// The exit status to continue. `git checkout` returns the status of its `post-checkout`.
const GO_ON: u8 = 0;

fn push_options(variables: &[(String, String)]) -> Vec<Value> {
    let pairs = variables.iter().map(|(name, value)| (&**name, &**value));
    let values: HashMap<&str, &str> = pairs.collect();
    let count = values.get("GIT_PUSH_OPTION_COUNT");
    let count: usize = count.and_then(|count| count.parse().ok()).unwrap_or(0);
    let options = (0..count).map_while(|n| values.get(&*format!("GIT_PUSH_OPTION_{n}")));
    options.map(|option| Value::from(*option)).collect()
}

fn readable(text: &OsStr) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

/// Options of every listing, independent of configuration and replaced objects.
const EVERY: &[&str] = words!(
    "-z" "--raw" "--no-abbrev" "--find-renames=50%" "-l1000" "--no-relative" "--no-ext-diff"
    "--no-textconv" "--ignore-submodules=none"
);

const LOG: &[&str] = words!(
    "--format=" "-c" "--combined-all-paths" "--root" "--no-show-signature" "--no-notes"
);

/// Commits named in one listing, so that the arguments of a large push fit.
const NAMED_AT_ONCE: usize = 1000;

impl GitHook {
    /// The git arguments that list the changed paths of an event, for [`read_changes`].
    ///
    /// # Errors
    /// If the context names a commit by something other than its hash.
    pub fn listings(&self, context: &Map<String, Value>) -> Result<Vec<Vec<OsString>>, Complaint> {
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
                let remote = context.get("remote").and_then(Value::as_str);
                known.push(format!("--remotes={}", remote.unwrap_or_default()).into());
            }
            Changes::Received => known.push("--all".into()),
            Changes::Unknown | Changes::Index => {}
        }
        let batches = new.chunks(NAMED_AT_ONCE).map(|batch| {
            let mut revisions: Vec<OsString> = batch.iter().map(OsString::from).collect();
            // Commits of the other side may be missing here; new ones exist.
            revisions.extend(["--ignore-missing", "--not"].map(OsString::from));
            revisions.extend(known.iter().cloned());
            listing("log", LOG, revisions)
        });
        Ok(batches.collect())
    }

    /// The commits under `key`, of the event or of each of its refs.
    fn commits(&self, context: &Map<String, Value>, key: &str) -> Result<Vec<String>, Complaint> {
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

/// The git arguments that list index entries that differ from `tree`, by default `HEAD`; limited to
/// `paths` if there are any.
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

/// The git arguments that list the changes of `to` since its merge base with `from`.
pub fn listing_between(from: &str, to: &str) -> Vec<OsString> {
    listing("diff", &[], vec![format!("{from}...{to}").into()])
}

fn listing(command: &str, options: &[&str], revisions: Vec<OsString>) -> Vec<OsString> {
    let mut words = vec!["--no-replace-objects", command];
    words.extend(EVERY.iter().chain(options));
    let mut arguments: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    arguments.extend(revisions);
    arguments.push("--".into());
    arguments
}

/// Whether a hash is all zeros, git's sign for no commit.
fn is_nothing(commit: &str) -> bool {
    commit.bytes().all(|byte| byte == b'0')
}

/// Reads the changes from listings: each path once, with the newest commit's change, and once more
/// if that deletes what another new commit adds, because that content is sent too. A rename gives
/// `R` for the old path, whose content is not deleted, and `A` for the new one. A path that is not
/// UTF-8 has its bytes as hexadecimal digits; anything but a regular file has its mode.
///
/// # Errors
/// If the output does not have this format; the error quotes it.
pub fn read_changes(outputs: &[Vec<u8>]) -> Result<Vec<Value>, String> {
    let mut list = ChangeList {
        seen: HashMap::new(),
        changes: Vec::new(),
    };
    for output in outputs {
        // An extra NUL separates commits.
        let parts = output.split(|byte| *byte == 0);
        let mut parts = parts.filter(|part| !part.is_empty());
        while let Some(described) = parts.next() {
            // `:100644 100755 SHA SHA M`; a merge has one more colon, mode and hash for each
            // parent.
            let parents = described.iter().take_while(|byte| **byte == b':').count();
            let words: Vec<&[u8]> = described[parents..].split(|byte| *byte == b' ').collect();
            let mode = words.get(parents).copied().unwrap_or_default();
            let status = words.get(2 * (parents + 1)).copied().unwrap_or_default();
            // A merge has a letter for each parent; a rename has a similarity score.
            let is_likeness = |byte: &u8| !byte.is_ascii_uppercase();
            let length = status.iter().position(is_likeness).unwrap_or(status.len());
            let (letters, likeness) = status.split_at(length);
            let is_status = length > 0 && likeness.iter().all(u8::is_ascii_digit);
            let has_others = is_status && (matches!(letters, b"R" | b"C") || length > 1);
            let others = parts.by_ref().take(if has_others { length } else { 0 });
            let others: Vec<&[u8]> = others.collect();
            let path = parts.next().filter(|_| is_status).ok_or_else(|| {
                let described = String::from_utf8_lossy(described);
                format!("git's list of changes is incomplete after `{described}`")
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

/// git's mode for a missing file.
const NO_FILE: &[u8] = b"000000";

const PLAIN_FILE: &[u8] = b"100644";

struct ChangeList<'o> {
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
        change.insert("pathHex".to_string(), hex(path).into());
    }
    Value::Object(change)
}
