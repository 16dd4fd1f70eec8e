//! What one hook said (a verdict) and what all said (an outcome).
//!
//! Pure data and pure rules: no I/O, no clock. How verdicts come together is in [`merge`].

pub mod merge;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::names::{names, reported};

/// What one hook said.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Whether the event may go on.
    pub decision: Decision,
    /// Text to show: the hook's `output`.
    pub output: Option<String>,
    /// Text for the model: the hook's `additionalContext`.
    pub additional_context: Option<String>,
    /// New values for context fields, in the order given.
    pub update: Vec<(String, Value)>,
    /// What it found, and where.
    pub findings: Vec<Finding>,
    /// The row of [`RULES`] that made this verdict.
    pub rule: ContractRule,
}

impl Verdict {
    /// A verdict that says `decision` and nothing else.
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

    /// No objection, from a function.
    pub fn allow() -> Verdict {
        Verdict::new(Decision::Allow, ContractRule::Returned)
    }

    /// A block, from a function.
    pub fn block(reason: impl Into<String>) -> Verdict {
        Verdict::new(
            Decision::Block {
                reason: reason.into(),
            },
            ContractRule::Returned,
        )
    }

    /// A question for a person, from a function.
    pub fn ask(question: impl Into<String>) -> Verdict {
        Verdict::new(
            Decision::Ask {
                question: question.into(),
            },
            ContractRule::Returned,
        )
    }

    /// Adds text to show.
    #[must_use]
    pub fn with_output(mut self, output: impl Into<String>) -> Verdict {
        self.output = Some(output.into());
        self
    }

    /// Adds text for the model.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Verdict {
        self.additional_context = Some(context.into());
        self
    }

    /// Adds a place in a file.
    #[must_use]
    pub fn with_finding(mut self, finding: Finding) -> Verdict {
        self.findings.push(finding);
        self
    }

    /// Gives `field` of the context a new value. Only what the event lists, and only if the hook
    /// may rewrite; the answer is malformed otherwise.
    #[must_use]
    pub fn with_update(mut self, field: impl Into<String>, value: Value) -> Verdict {
        self.update.push((field.into(), value));
        self
    }
}

/// Whether the event may go on, as one hook sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// No objection.
    Allow,
    /// A person should be asked this question.
    Ask { question: String },
    /// Blocked, for this reason.
    Block { reason: String },
}

impl Decision {
    /// `allow`, `ask` or `block`.
    pub fn word(&self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask { .. } => "ask",
            Decision::Block { .. } => "block",
        }
    }
}

/// A row of the table of answers.
#[derive(Debug)]
pub struct RuleRow {
    pub rule: ContractRule,
    /// Its name in traces and in `--format json`.
    pub name: &'static str,
    /// What the hook does.
    pub answer: &'static str,
    /// What that means.
    pub verdict: &'static str,
}

/// Makes the rules and their table of one list.
macro_rules! rules {
    ($($rule:ident $name:literal $answer:literal: $verdict:literal;)+) => {
        /// The rule of the hook contract by which an answer became a verdict.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ContractRule {
            $(#[doc = concat!("The hook ", $answer, ".")] $rule,)+
        }

        /// How a hook answers: the table in `docs/hooks.md`, in `man hookrun-hook` and behind every
        /// trace.
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
        "allow, with `output`, `additionalContext`, `update`, `findings`";
    Asked "ask" "exits 0 and prints `{\"ask\": \"…?\"}`":
        "a person decides; without a person it blocks";
    ContinueFalse "continue-false" "exits 0 and prints `{\"continue\": false}`":
        "block; the reason is `reason`";
    NonZeroExit "non-zero-exit" "exits with a status other than 0":
        "block; the reason is stderr, else the answer's `reason`, else stdout";
    PassingExit "passing-exit"
        "exits with a status that does not block in its dialect":
        "allow; `on_failure = \"block\"` makes it a failure that blocks";
    Translated "translated" "prints a result of its dialect":
        "as in that dialect (`hookrun events --host NAME`)";
    Ruled "rule" "is a rule that matches the event":
        "`deny` blocks, `ask` asks";
    Returned "returned" "is a function of an embedding program":
        "its return value: allow, ask or block";
}

impl ContractRule {
    /// The row of this rule: the table is in the order of the rules.
    pub fn row(self) -> &'static RuleRow {
        &RULES[self as usize]
    }
}

/// What all hooks said, merged in plan order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether the event may go on.
    pub settled: Settled,
    /// Outputs and contexts, in plan order. Empty after a block.
    pub said: Vec<HookText>,
    /// Every rewrite, applied or not, in plan order.
    pub rewrites: Vec<Rewritten>,
    /// What hooks found, and where, in plan order; kept after a block too.
    pub findings: Vec<HookFinding>,
    /// What was said or went wrong without deciding anything.
    pub notices: Vec<Notice>,
}

/// Whether the event may go on, after all hooks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Settled {
    /// It goes on.
    #[default]
    Allowed,
    /// It goes on if a person says yes to every question.
    Asked { questions: Vec<Question> },
    /// It does not happen.
    Refused(Refusal),
}

impl Settled {
    /// `allow`, `ask` or `block`.
    pub fn word(&self) -> &'static str {
        match self {
            Settled::Allowed => "allow",
            Settled::Asked { .. } => "ask",
            Settled::Refused(_) => "block",
        }
    }
}

/// Why the event does not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// The hook that blocked; `None` when hookrun itself did (a broken configuration, a budget that
    /// is used up). Of several the first whose policy blocked.
    pub hook: Option<String>,
    /// The others that blocked, in plan order: where the event's `stop` lets hooks run after a block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// The reason, for the host, the model and the person.
    pub reason: String,
    /// Whether a policy was applied or something failed.
    pub cause: Cause,
}

/// Stands for a name; no reason has a NUL.
const NAME: &str = "\0";

impl Refusal {
    /// The one refusal that several make: the reason has each hook's own below its name.
    pub(crate) fn of_all(blocks: &[Refusal]) -> Option<Refusal> {
        let policy = blocks.iter().find(|block| block.cause == Cause::Policy);
        let first = policy.or(blocks.first())?;
        if blocks.len() == 1 {
            return Some(first.clone());
        }
        let mut reason = String::new();
        let mut rest = blocks;
        while let Some(next) = rest.first() {
            // Hooks that are not trusted, for example, block for one reason: it is said once.
            let form = next.without_name();
            let same = rest.iter().take_while(|block| block.without_name() == form);
            let (same, others) = rest.split_at(same.count());
            let names: Vec<&str> = same.iter().map(Refusal::name).collect();
            reason.push_str(&format!("{}:\n", names.join(", ")));
            for line in form.replace(NAME, &names.join("`, `")).trim_end().lines() {
                reason.push_str(&format!("  {line}\n"));
            }
            rest = others;
        }
        let hooks = blocks.iter().filter_map(|block| block.hook.clone());
        Some(Refusal {
            hook: first.hook.clone(),
            others: hooks
                .filter(|hook| first.hook.as_ref() != Some(hook))
                .collect(),
            reason: reason.trim_end().to_string(),
            cause: first.cause,
        })
    }

    fn name(&self) -> &str {
        self.hook.as_deref().unwrap_or("hookrun")
    }

    /// The reason with [`NAME`] for the hook's own name in backticks.
    fn without_name(&self) -> String {
        self.reason
            .replace(&format!("`{}`", self.name()), &format!("`{NAME}`"))
    }

    /// The hooks that blocked.
    pub(crate) fn hooks(&self) -> impl Iterator<Item = &String> {
        self.hook.iter().chain(&self.others)
    }
}

/// Whether a policy was applied or something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// A hook decided.
    Policy,
    /// A hook, or hookrun, could not decide, and the event fails closed.
    Failure,
    /// A person did not say yes, or no person could answer.
    Person,
}

names! { Cause: Policy "policy", Failure "failure", Person "person" }

/// A text from a hook that did not block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookText {
    pub hook: String,
    pub output: Option<String>,
    pub additional_context: Option<String>,
}

reported! {
    /// A question for a person.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Question {
        pub hook: String,
        pub question: String,
    }

    /// What a hook found, and where.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct HookFinding {
        pub hook: String,
        #[serde(flatten)]
        pub finding: Finding,
    }

    /// Something that a hook found in a file.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Finding {
        /// The file, as the hook names it: usually from the project's root.
        pub path: String,
        /// The line, from 1; `None` for the file as a whole.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub line: Option<u64>,
        /// How bad it is.
        #[serde(default)]
        pub level: FindingLevel,
        /// What it is.
        pub message: String,
        /// The rule of the hook that it breaks, a word such as `open-port`; without it, a `[word]`
        /// at the end of the message. CI systems filter and dismiss findings by it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rule: Option<String>,
    }

    /// How bad a finding is.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum FindingLevel {
        /// It must be mended.
        #[default]
        Error,
        /// It may be wrong.
        Warning,
        /// It is worth knowing.
        Notice,
    }

    /// A field that a hook rewrote, or tried to.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Rewritten {
        pub hook: String,
        pub field: String,
        pub old: Value,
        pub new: Value,
        /// `None` if it was applied, else why it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rejected: Option<String>,
    }

    /// Something said that decided nothing.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Notice {
        pub hook: String,
        pub kind: NoticeKind,
        pub text: String,
    }

    /// The sort of a notice.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub enum NoticeKind {
        /// A block of an event that cannot be blocked.
        Refusal,
        /// A question about an event that cannot be blocked.
        Question,
        /// A failure that lets the event go on.
        Failure,
        /// What hookrun itself decided, or could not do; its hook is `hookrun`.
        Own,
    }
}

impl Outcome {
    /// An outcome that blocks because hookrun itself could not decide.
    pub(crate) fn own_failure(reason: impl Into<String>) -> Outcome {
        Outcome {
            settled: Settled::Refused(Refusal {
                hook: None,
                others: Vec::new(),
                reason: reason.into(),
                cause: Cause::Failure,
            }),
            ..Outcome::default()
        }
    }

    /// Lets a blocked event go on: `why` becomes a notice.
    #[must_use]
    pub(crate) fn let_go(mut self, why: impl Into<String>) -> Outcome {
        self.settled = Settled::Allowed;
        self.with_notice(why)
    }

    /// The outcome with a notice of hookrun's own.
    #[must_use]
    pub(crate) fn with_notice(mut self, text: impl Into<String>) -> Outcome {
        self.notices.push(Notice {
            hook: "hookrun".to_string(),
            kind: NoticeKind::Own,
            text: text.into(),
        });
        self
    }

    /// Whether the event goes on without asking anybody.
    pub fn is_allowed(&self) -> bool {
        self.settled == Settled::Allowed
    }

    /// Whether it is allowed and no hook said anything.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_allowed()
            && self.said.is_empty()
            && self.findings.is_empty()
            && self.notices.is_empty()
    }

    /// The refusal, if there is one. `None` is no permission: a question may be open. Before an
    /// action, call [`Run::permit`](crate::engine::run::Run::permit).
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.settled {
            Settled::Refused(refusal) => Some(refusal),
            Settled::Allowed | Settled::Asked { .. } => None,
        }
    }

    /// The reason of the refusal, or the questions.
    pub fn reason(&self) -> Option<String> {
        match &self.settled {
            Settled::Allowed => None,
            Settled::Asked { questions } => Some(joined(questions)),
            Settled::Refused(refusal) => Some(refusal.reason.clone()),
        }
    }

    /// All outputs in plan order, each on its own lines.
    pub fn output(&self) -> Option<String> {
        join(
            self.said.iter().filter_map(|said| said.output.as_deref()),
            "\n",
        )
    }

    /// All contexts in plan order, with an empty line between them.
    pub fn additional_context(&self) -> Option<String> {
        join(
            self.said
                .iter()
                .filter_map(|said| said.additional_context.as_deref()),
            "\n\n",
        )
    }

    /// The rewritten fields, each with its last value.
    pub fn update(&self) -> serde_json::Map<String, Value> {
        let mut update = serde_json::Map::new();
        for rewrite in self
            .rewrites
            .iter()
            .filter(|rewrite| rewrite.rejected.is_none())
        {
            update.insert(rewrite.field.clone(), rewrite.new.clone());
        }
        update
    }

    /// The outcome after a person answered: every question with yes, or not.
    #[must_use]
    pub fn answered(mut self, yes: bool, why_not: &str) -> Outcome {
        let Settled::Asked { questions } = &self.settled else {
            return self;
        };
        if yes {
            self.settled = Settled::Allowed;
            return self;
        }
        let asked = joined(questions);
        let refusal = Refusal {
            hook: questions.first().map(|first| first.hook.clone()),
            others: Vec::new(),
            reason: if why_not.is_empty() {
                asked
            } else {
                format!("{asked} ({why_not})")
            },
            cause: Cause::Person,
        };
        self.settled = Settled::Refused(refusal);
        self.said.clear();
        self.void_rewrites("the event was blocked");
        self
    }

    /// Takes back every rewrite: a blocked event leaves nothing changed.
    fn void_rewrites(&mut self, why: &str) {
        for rewrite in self
            .rewrites
            .iter_mut()
            .filter(|rewrite| rewrite.rejected.is_none())
        {
            rewrite.rejected = Some(why.to_string());
        }
    }
}

/// All questions, one on each line.
pub fn joined(questions: &[Question]) -> String {
    let texts: Vec<&str> = questions.iter().map(|one| one.question.as_str()).collect();
    texts.join("\n")
}

fn join<'a>(texts: impl Iterator<Item = &'a str>, between: &str) -> Option<String> {
    let texts: Vec<&str> = texts.collect();
    if texts.is_empty() {
        None
    } else {
        Some(texts.join(between))
    }
}

// The words of GitHub's annotations, the usual one first.
names! { FindingLevel: Error "error", Warning "warning", Notice "notice" }

impl Finding {
    /// Reads the finding at this place in a list. Unknown keys are ignored, with a note for each.
    pub(crate) fn read(
        at: usize,
        mut value: Value,
        notes: &mut Vec<String>,
    ) -> Result<Finding, String> {
        if let Value::Object(entries) = &mut value {
            entries.retain(|_, value| !value.is_null());
            for key in entries.keys() {
                let note = format!("the key `findings.*.{key}` is not known and was ignored");
                if !KEYS.contains(&key.as_str()) && !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        let finding: Result<Finding, _> = serde_json::from_value(value);
        let finding = finding.map_err(|error| format!("`findings.{at}`: {error}"))?;
        let is_blank = finding.path.trim().is_empty() || finding.message.trim().is_empty();
        if is_blank || finding.line == Some(0) {
            let problem = "`path` and `message` must not be blank, lines count from 1";
            return Err(format!("`findings.{at}`: {problem}"));
        }
        if finding.rule.as_deref().is_some_and(|rule| !is_rule(rule)) {
            let problem = "`rule` must be a word of letters, digits, `-`, `_` and `.`";
            return Err(format!("`findings.{at}`: {problem}"));
        }
        Ok(finding)
    }

    /// Its rule: the key, else the `[word]` at the end of the message.
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

/// Whether a note for the author of a hook is about what its findings say.
pub fn is_about(note: &str) -> bool {
    note.contains("`findings.")
}
