//! The verdict of one hook, and the outcome of all. [`merge`] combines verdicts.

pub mod merge;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::names::{names, reported};

/// The result of one hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub decision: Decision,
    /// Text to show: the hook's `output`.
    pub output: Option<String>,
    /// Text for the model: the hook's `additionalContext`.
    pub additional_context: Option<String>,
    /// New values for context fields, in the hook's order.
    pub update: Vec<(String, Value)>,
    pub findings: Vec<Finding>,
    /// Row of [`RULES`] that produced this verdict.
    pub rule: ContractRule,
}

impl Verdict {
    /// Creates a verdict with only a decision.
    pub fn new(decision: Decision, rule: ContractRule) -> Verdict {
        Verdict {
            decision,
            output: None,
            additional_context: None,
            update: Vec::new(),
            findings: Vec::new(),
            rule,
        }
    }

    /// Creates a function's verdict that allows.
    pub fn allow() -> Verdict {
        Verdict::new(Decision::Allow, ContractRule::Returned)
    }

    /// Creates a function's verdict that blocks.
    pub fn block(reason: impl Into<String>) -> Verdict {
        let reason = reason.into();
        Verdict::new(Decision::Block { reason }, ContractRule::Returned)
    }

    /// Creates a function's verdict that asks a person.
    pub fn ask(question: impl Into<String>) -> Verdict {
        let question = question.into();
        Verdict::new(Decision::Ask { question }, ContractRule::Returned)
    }

    #[must_use]
    pub fn with_output(mut self, output: impl Into<String>) -> Verdict {
        self.output = Some(output.into());
        self
    }

    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Verdict {
        self.additional_context = Some(context.into());
        self
    }

    /// Rewrites `field` of the context. The event must list it and the hook must be allowed to
    /// rewrite; otherwise the answer is malformed.
    #[must_use]
    pub fn with_update(mut self, field: impl Into<String>, value: Value) -> Verdict {
        self.update.push((field.into(), value));
        self
    }
}

/// A hook's decision about the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// No objection.
    Allow,
    /// A person answers this question.
    Ask { question: String },
    /// The event is blocked for this reason.
    Block { reason: String },
}

impl Decision {
    /// Returns `allow`, `ask` or `block`.
    pub fn word(&self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask { .. } => "ask",
            Decision::Block { .. } => "block",
        }
    }
}

/// A row of [`RULES`].
#[derive(Debug)]
pub struct RuleRow {
    pub rule: ContractRule,
    /// Name in traces and in `--format json`.
    pub name: &'static str,
    pub answer: &'static str,
    pub verdict: &'static str,
}

macro_rules! rules {
    ($($rule:ident $name:literal $answer:literal: $verdict:literal;)+) => {
        /// The rule of the hook contract that produced a verdict.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ContractRule {
            $(#[doc = concat!("The hook ", $answer, ".")] $rule,)+
        }

        /// Kinds of answers: the table in `docs/hooks.md` and `man hookrun-hook`.
        pub const RULES: &[RuleRow] = &[$(RuleRow {
            rule: ContractRule::$rule,
            name: $name,
            answer: $answer,
            verdict: $verdict,
        }),+];
    };
}

rules! {
    Silence "silence" "exits 0 and prints nothing":
        "allow";
    Text "text" "exits 0 and prints text":
        "allow; the text is `output`, or `additionalContext` where the event says so";
    Structured "structured" "exits 0 and prints an answer":
        "allow, and apply any `output`, `additionalContext`, `update` or `findings`";
    Asked "ask" "exits 0 and prints `{\"ask\": \"…?\"}`":
        "a person decides; if nobody can answer, hookrun blocks";
    ContinueFalse "continue-false" "exits 0 and prints `{\"continue\": false}`":
        "block; the reason is `reason`";
    NonZeroExit "non-zero-exit" "exits with a status other than 0":
        "block; the reason is stderr, else the answer's `reason`, else stdout";
    PassingExit "passing-exit"
        "exits with a status that does not block in its dialect":
        "allow; `on_failure = \"block\"` makes it a failure that blocks";
    Translated "translated" "prints a result in its dialect":
        "as in that dialect (`hookrun events --host NAME`)";
    Ruled "rule" "is a rule that matches the event":
        "`deny` blocks, `ask` asks";
    Returned "returned" "is a function in a program that embeds hookrun":
        "its return value: allow, ask or block";
}

impl ContractRule {
    pub fn row(self) -> &'static RuleRow {
        &RULES[self as usize]
    }
}

/// All verdicts, merged in plan order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    pub settled: Settled,
    /// Outputs and contexts, in plan order. Empty after a block.
    pub texts: Vec<HookText>,
    /// All rewrites, applied or not, in plan order.
    pub rewrites: Vec<Rewritten>,
    /// Findings in plan order. A block does not remove them.
    pub findings: Vec<HookFinding>,
    /// Messages that decided nothing.
    pub notices: Vec<Notice>,
}

/// The decision about the event, after all hooks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Settled {
    #[default]
    Allowed,
    /// Allowed if a person answers yes to every question.
    Asked { questions: Vec<Question> },
    /// Blocked.
    Blocked(Block),
}

impl Settled {
    /// Returns `allow`, `ask` or `block`.
    pub fn word(&self) -> &'static str {
        match self {
            Settled::Allowed => "allow",
            Settled::Asked { .. } => "ask",
            Settled::Blocked(_) => "block",
        }
    }
}

/// Why the event is blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Block {
    /// The hook that blocked: the first policy, else the first failure. `None` if hookrun blocked,
    /// for example because of an invalid configuration or an exhausted budget.
    pub hook: Option<String>,
    /// The other blocking hooks in plan order, if the event's `stop` runs hooks after a block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Reason for the host, the model and the person.
    pub reason: String,
    pub cause: Cause,
}

/// Placeholder for a hook's name; reasons contain no NUL.
const NAME: &str = "\0";

impl Block {
    /// Merges blocks: each reason is indented below its hook's name.
    pub(crate) fn of_all(blocks: &[Block]) -> Option<Block> {
        let policy = blocks.iter().find(|block| block.cause == Cause::Policy);
        let first = policy.or(blocks.first())?;
        if blocks.len() == 1 {
            return Some(first.clone());
        }
        let mut reason = String::new();
        let mut rest = blocks;
        while let Some(next) = rest.first() {
            // Hooks that share a reason, such as untrusted ones, share an entry.
            let form = next.without_name();
            let same = rest.iter().take_while(|block| block.without_name() == form);
            let (same, others) = rest.split_at(same.count());
            let names: Vec<&str> = same.iter().map(Block::name).collect();
            reason.push_str(&format!("{}:\n", names.join(", ")));
            for line in form.replace(NAME, &names.join("`, `")).trim_end().lines() {
                reason.push_str(&format!("  {line}\n"));
            }
            rest = others;
        }
        let hooks = blocks.iter().filter_map(|block| block.hook.clone());
        let others = hooks.filter(|hook| first.hook.as_ref() != Some(hook));
        Some(Block {
            hook: first.hook.clone(),
            others: others.collect(),
            reason: reason.trim_end().to_string(),
            cause: first.cause,
        })
    }

    fn name(&self) -> &str {
        self.hook.as_deref().unwrap_or("hookrun")
    }

    fn without_name(&self) -> String {
        let name = format!("`{}`", self.name());
        self.reason.replace(&name, &format!("`{NAME}`"))
    }

    pub(crate) fn hooks(&self) -> impl Iterator<Item = &String> {
        self.hook.iter().chain(&self.others)
    }
}

/// Whether a policy blocked or something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// A hook decided.
    Policy,
    /// A hook or hookrun failed, and the event fails closed.
    Failure,
    /// A person said no, or could not answer.
    Person,
}

names! { Cause: Policy "policy", Failure "failure", Person "person" }

/// Text of a hook that did not block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookText {
    pub hook: String,
    pub output: Option<String>,
    pub additional_context: Option<String>,
}

reported! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Question {
        pub hook: String,
        pub question: String,
    }

    /// A finding with its hook.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct HookFinding {
        pub hook: String,
        #[serde(flatten)]
        pub finding: Finding,
    }

    /// A problem in a file, reported by a hook.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Finding {
        /// Path from the hook, usually relative to the project root.
        pub path: String,
        /// Line, from 1; `None` for the whole file.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub line: Option<u64>,
        #[serde(default)]
        pub level: FindingLevel,
        pub message: String,
        /// Rule in the hook's terms, such as `open-port`; the default is a `[word]` at the end of
        /// the message. CI systems filter and dismiss findings by it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rule: Option<String>,
    }

    /// Severity of a finding.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum FindingLevel {
        /// Must be fixed.
        #[default]
        Error,
        /// May be wrong.
        Warning,
        /// Information.
        Notice,
    }

    /// A rewrite of a field, applied or not.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Rewritten {
        pub hook: String,
        pub field: String,
        pub old: Value,
        pub new: Value,
        /// Reason if it was not applied.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rejected: Option<String>,
    }

    /// A message that decided nothing.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Notice {
        pub hook: String,
        pub kind: NoticeKind,
        pub text: String,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub enum NoticeKind {
        /// Block of an event that cannot be blocked.
        Block,
        /// Question about an event that cannot be blocked.
        Question,
        /// Failure that lets the event pass.
        Failure,
        /// Message from hookrun itself; its hook is `hookrun`.
        Own,
    }
}

impl Outcome {
    /// Creates an outcome that blocks because hookrun could not decide.
    pub(crate) fn own_failure(reason: impl Into<String>) -> Outcome {
        Outcome {
            settled: Settled::Blocked(Block {
                hook: None,
                others: Vec::new(),
                reason: reason.into(),
                cause: Cause::Failure,
            }),
            ..Outcome::default()
        }
    }

    /// Adds a notice from hookrun.
    pub(crate) fn add_notice(&mut self, text: impl Into<String>) {
        self.notices.push(Notice {
            hook: "hookrun".to_string(),
            kind: NoticeKind::Own,
            text: text.into(),
        });
    }

    /// Returns true if the event is allowed without a question.
    pub fn is_allowed(&self) -> bool {
        self.settled == Settled::Allowed
    }

    /// Returns the block, if any. `None` does not mean permission: a question may be open. Before
    /// an action, call [`Run::permit`](crate::engine::run::Run::permit).
    pub fn block(&self) -> Option<&Block> {
        match &self.settled {
            Settled::Blocked(block) => Some(block),
            Settled::Allowed | Settled::Asked { .. } => None,
        }
    }

    /// Returns the reason for the block, or the questions.
    pub fn reason(&self) -> Option<String> {
        match &self.settled {
            Settled::Allowed => None,
            Settled::Asked { questions } => Some(joined(questions)),
            Settled::Blocked(block) => Some(block.reason.clone()),
        }
    }

    /// Returns all outputs in plan order, on separate lines.
    pub fn output(&self) -> Option<String> {
        let texts = self.texts.iter().filter_map(|text| text.output.as_deref());
        join(texts, "\n")
    }

    /// Returns all contexts in plan order, separated by empty lines.
    pub fn additional_context(&self) -> Option<String> {
        let texts = self.texts.iter();
        let contexts = texts.filter_map(|text| text.additional_context.as_deref());
        join(contexts, "\n\n")
    }

    /// Returns the rewritten fields with their last values.
    pub fn update(&self) -> serde_json::Map<String, Value> {
        let applied = self.rewrites.iter().filter(|one| one.rejected.is_none());
        let entries = applied.map(|one| (one.field.clone(), one.new.clone()));
        entries.collect()
    }

    /// Applies a person's answer: yes to every question, or a block.
    #[must_use]
    pub fn answered(mut self, yes: bool, why_not: &str) -> Outcome {
        let Settled::Asked { questions } = &self.settled else {
            return self;
        };
        if yes {
            self.settled = Settled::Allowed;
            return self;
        }
        let mut reason = joined(questions);
        if !why_not.is_empty() {
            reason.push_str(&format!(" ({why_not})"));
        }
        self.settled = Settled::Blocked(Block {
            hook: questions.first().map(|first| first.hook.clone()),
            others: Vec::new(),
            reason,
            cause: Cause::Person,
        });
        self.texts.clear();
        self.void_rewrites("the event was blocked");
        self
    }

    /// Rejects all rewrites: a blocked event changes nothing.
    fn void_rewrites(&mut self, why: &str) {
        for rewrite in &mut self.rewrites {
            rewrite.rejected.get_or_insert_with(|| why.to_string());
        }
    }
}

pub fn joined(questions: &[Question]) -> String {
    let texts: Vec<&str> = questions.iter().map(|one| one.question.as_str()).collect();
    texts.join("\n")
}

fn join<'a>(texts: impl Iterator<Item = &'a str>, between: &str) -> Option<String> {
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join(between))
}

// GitHub's annotation levels, the default first.
names! { FindingLevel: Error "error", Warning "warning", Notice "notice" }

impl Finding {
    /// Reads a finding of an answer's list. Ignores unknown keys, with a note for each.
    pub(crate) fn read(
        at: usize,
        mut value: Value,
        notes: &mut Vec<String>,
    ) -> Result<Finding, String> {
        if let Value::Object(entries) = &mut value {
            entries.retain(|_, value| !value.is_null());
            for key in entries.keys() {
                let note = format!("ignored the unknown key `findings.*.{key}`");
                if !KEYS.contains(&key.as_str()) && !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        let finding: Result<Finding, _> = serde_json::from_value(value);
        let finding = finding.map_err(|error| format!("`findings.{at}`: {error}"))?;
        if finding.path.trim().is_empty() || finding.message.trim().is_empty() {
            let problem = "`path` and `message` must not be blank";
            return Err(format!("`findings.{at}`: {problem}"));
        }
        if finding.line == Some(0) {
            let problem = "`line` is 0, but lines are numbered from 1";
            return Err(format!("`findings.{at}`: {problem}"));
        }
        if finding.rule.as_deref().is_some_and(|rule| !is_rule(rule)) {
            let problem = "`rule` must be a word of letters, digits, `-`, `_` and `.`";
            return Err(format!("`findings.{at}`: {problem}"));
        }
        Ok(finding)
    }

    /// Returns its rule: the key, else the `[word]` at the end of the message.
    #[doc(hidden)]
    pub fn rule(&self) -> Option<&str> {
        if self.rule.is_some() {
            return self.rule.as_deref();
        }
        let (_, tag) = self.message.strip_suffix(']')?.rsplit_once('[')?;
        is_rule(tag).then_some(tag)
    }
}

fn is_rule(word: &str) -> bool {
    const LONGEST_BYTES: usize = 64;
    let mut bytes = word.bytes();
    (1..=LONGEST_BYTES).contains(&word.len())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

const KEYS: &[&str] = &["path", "line", "level", "message", "rule"];

pub fn is_about(note: &str) -> bool {
    note.contains("`findings.")
}
