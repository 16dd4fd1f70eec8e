//! git: its hooks as rows over the catalog, what they get, and what git gets back.
//!
//! git gives a hook arguments, lines on stdin and variables instead of a JSON document, so its
//! table is of another form than those of the agents. Source: githooks(5) of git 2.47. git itself
//! says what a commit or a push changes ([`GitHook::listings`]); the command line runs it.

mod changes;
mod contract;
mod row;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::native;
use super::row::Reply;
use crate::engine::event::catalog;
use crate::engine::names::words;
use crate::engine::outcome::{Cause, Outcome, Settled, joined};
use Argument::{Flag, MessageFile, Rest, Text};

pub use changes::read_changes;
pub use contract::TakenFromGit;
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
    let (changes, presence) = (Changes::Unknown, Presence::Plain);
    GitHook {
        name,
        event,
        arguments,
        lines: None,
        changes,
        presence,
    }
}

/// Every hook of git that the catalog has.
pub static GIT_HOOKS: &[GitHook] = &[
    hook("pre-commit", "commit.pre", &[]).changes(Changes::Index),
    hook(
        "prepare-commit-msg",
        "commit.msg.prepare",
        &[MessageFile, Text("source"), Text("commit")],
    ),
    hook("commit-msg", "commit.msg", &[MessageFile]),
    hook("post-commit", "commit.post", &[]),
    hook("post-rewrite", "commit.rewrite", &[Text("trigger")]).lines(REWRITTEN),
    hook("pre-merge-commit", "merge.pre", &[]).changes(Changes::Index),
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
        .changes(Changes::Sent),
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
        if let Some(lines) = self.lines {
            context.insert(
                lines.key.to_string(),
                self.read_lines(lines, &given.stdin)?.into(),
            );
        }
        let options = push_options(&given.variables);
        if !options.is_empty() {
            context.insert("pushOptions".to_string(), options.into());
        }
        context.insert("cwd".to_string(), given.cwd.to_string_lossy().into());
        context.insert("raw".to_string(), self.raw(given));
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

    fn raw(&self, given: &GitInput) -> Value {
        let shown = |(name, _): &&(String, String)| SHOWN_VARIABLES.contains(&name.as_str());
        let variables = given.variables.iter().filter(shown).cloned();
        let arguments: Vec<String> = given.arguments.iter().map(|text| readable(text)).collect();
        json!({
            "hook": self.name,
            "arguments": arguments,
            "environment": variables.collect::<Value>(),
        })
    }

    /// The reply to an outcome: git reads the exit status and shows stderr. An event that cannot
    /// be blocked goes on in any case.
    pub fn reply(&self, outcome: &Outcome, blocks: bool) -> Reply {
        match &outcome.settled {
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
    let value = |name: &str| {
        variables
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, v)| v)
    };
    let count = value("GIT_PUSH_OPTION_COUNT").and_then(|count| count.parse::<usize>().ok());
    let options = (0..count.unwrap_or(0)).map_while(|n| value(&format!("GIT_PUSH_OPTION_{n}")));
    options.map(|option| Value::from(option.as_str())).collect()
}

/// Bytes as text; what is not UTF-8 is replaced.
fn readable(text: &OsStr) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}
