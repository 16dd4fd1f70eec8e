//! What one hook said (a verdict) and what all said (an outcome).
//!
//! Pure data and pure rules: no I/O, no clock. How verdicts come together is in [`merge`].

pub mod finding;
pub mod merge;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use finding::{Finding, FindingLevel};

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

    /// A refusal, from a function.
    pub fn block(reason: impl Into<String>) -> Verdict {
        Verdict::new(Decision::Block { reason: reason.into() }, ContractRule::Returned)
    }

    /// A question for a person, from a function.
    pub fn ask(question: impl Into<String>) -> Verdict {
        Verdict::new(Decision::Ask { question: question.into() }, ContractRule::Returned)
    }

    /// Says this text beside.
    #[must_use]
    pub fn with_output(mut self, output: impl Into<String>) -> Verdict {
        self.output = Some(output.into());
        self
    }

    /// Gives the model this text.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Verdict {
        self.additional_context = Some(context.into());
        self
    }

    /// Points at a place in a file.
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
    /// Refused, for this reason.
    Block { reason: String },
}

/// The rule of the hook contract by which an answer became a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContractRule {
    /// Exit 0 and nothing on stdout.
    Silence,
    /// Exit 0 and text on stdout.
    Text,
    /// Exit 0 and a JSON object on stdout that neither refuses nor asks.
    Structured,
    /// Exit 0 and a JSON object with `ask`.
    Asked,
    /// Exit 0 and a JSON object with `continue: false`.
    ContinueFalse,
    /// Exit 0 and a refusal or a question that is no answer by itself.
    RefusalInText,
    /// An exit status other than 0.
    NonZeroExit,
    /// An exit status that lets everything pass in the host that the hook was written for.
    PassingExit,
    /// A JSON object in the words of the dialect that the hook was written for.
    Translated,
    /// What a function of the program around us returned.
    Returned,
}

/// A row of the table of answers.
#[derive(Debug)]
pub struct RuleRow {
    /// The rule.
    pub rule: ContractRule,
    /// Its name in traces and in `--format json`.
    pub name: &'static str,
    /// What the hook does.
    pub answer: &'static str,
    /// What that means.
    pub verdict: &'static str,
}

/// How a hook answers: the table in `docs/hooks.md`, in `man hookrun-hook` and behind every trace.
pub const RULES: &[RuleRow] = &[
    RuleRow {
        rule: ContractRule::Silence,
        name: "silence",
        answer: "exits 0 and prints nothing",
        verdict: "allow, no opinion",
    },
    RuleRow {
        rule: ContractRule::Text,
        name: "text",
        answer: "exits 0 and prints text",
        verdict: "allow; the text is `output`, or `additionalContext` where the event says so",
    },
    RuleRow {
        rule: ContractRule::Structured,
        name: "structured",
        answer: "exits 0 and prints a JSON object",
        verdict: "allow, with `output`, `additionalContext`, `update`, `findings`",
    },
    RuleRow {
        rule: ContractRule::Asked,
        name: "ask",
        answer: "exits 0 and prints `{\"ask\": \"…?\"}`",
        verdict: "a person decides; without one it is blocked",
    },
    RuleRow {
        rule: ContractRule::ContinueFalse,
        name: "continue-false",
        answer: "exits 0 and prints `{\"continue\": false}`",
        verdict: "block; the reason is `reason`",
    },
    RuleRow {
        rule: ContractRule::RefusalInText,
        name: "refusal-in-text",
        answer: "exits 0 and blocks or asks anywhere in its output",
        verdict: "the block or the question still counts",
    },
    RuleRow {
        rule: ContractRule::NonZeroExit,
        name: "non-zero-exit",
        answer: "exits with another status than 0",
        verdict: "block; the reason is stderr, else the JSON's `reason`, else stdout",
    },
    RuleRow {
        rule: ContractRule::PassingExit,
        name: "passing-exit",
        answer: "exits with a status that blocks nothing in the host that it was written for",
        verdict: "allow; `on_failure = \"block\"` makes it a failure that blocks",
    },
    RuleRow {
        rule: ContractRule::Translated,
        name: "translated",
        answer: "prints a result of the dialect that it was written for",
        verdict: "what the table of that dialect says (`hookrun events --dialect NAME`)",
    },
    RuleRow {
        rule: ContractRule::Returned,
        name: "returned",
        answer: "is a function of the program around it, and returns",
        verdict: "what it returned: allow, ask or block",
    },
];

/// A row of [`RESULT_KEYS`].
#[derive(Debug)]
pub struct ResultKey {
    /// The key.
    pub name: &'static str,
    /// Its JSON type.
    pub kind: &'static str,
    /// What it says.
    pub about: &'static str,
}

/// The keys of a structured result.
pub const RESULT_KEYS: &[ResultKey] = &[
    ResultKey { name: "continue", kind: "boolean", about: "false blocks the event" },
    ResultKey { name: "reason", kind: "string", about: "why, for the person and the model" },
    ResultKey { name: "ask", kind: "string", about: "a question for a person to decide" },
    ResultKey { name: "output", kind: "string", about: "text to show" },
    ResultKey { name: "additionalContext", kind: "string", about: "text for the model" },
    ResultKey { name: "update", kind: "object", about: "new values for context fields" },
    ResultKey {
        name: "findings",
        kind: "array",
        about: "places in files: `path`, `line`, `level` (error, warning, notice), `message`",
    },
];

impl ContractRule {
    /// The row of this rule.
    pub fn row(self) -> &'static RuleRow {
        RULES.iter().find(|row| row.rule == self).expect("every rule has a row: tested below")
    }
}

/// What all hooks said, merged in plan order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether the event may go on.
    pub settled: Settled,
    /// Outputs and contexts, in plan order. Empty after a refusal.
    pub said: Vec<HookText>,
    /// Every rewrite, applied or not, in plan order.
    pub rewrites: Vec<Rewritten>,
    /// What hooks found, and where, in plan order; kept after a refusal too.
    pub findings: Vec<HookFinding>,
    /// What was said or went wrong without deciding anything.
    pub notices: Vec<Notice>,
}

/// Whether the event may go on, after all hooks were heard.
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

/// A question for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The hook that asks.
    pub hook: String,
    /// What it asks.
    pub question: String,
}

/// Why the event does not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// The hook that refused; `None` when hookrun itself did (a broken configuration, a
    /// budget that is used up).
    pub hook: Option<String>,
    /// The reason, for the host, the model and the person.
    pub reason: String,
    /// Whether a policy was applied or something failed.
    pub cause: Cause,
}

/// Whether a policy was applied or something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// A hook decided.
    Policy,
    /// A hook, or hookrun, could not decide, and the event fails closed.
    Failure,
    /// A person was asked and did not say yes, or nobody could be asked.
    Person,
}

/// A text from a hook that did not refuse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookText {
    /// The hook.
    pub hook: String,
    /// Its `output`, if any.
    pub output: Option<String>,
    /// Its `additionalContext`, if any.
    pub additional_context: Option<String>,
}

/// What a hook found, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookFinding {
    /// The hook.
    pub hook: String,
    /// What it found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A field that a hook rewrote, or tried to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewritten {
    /// The hook.
    pub hook: String,
    /// The context field.
    pub field: String,
    /// The value before.
    pub old: Value,
    /// The value after.
    pub new: Value,
    /// `None` if it was applied, else why it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
}

/// Something said that decided nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The hook.
    pub hook: String,
    /// The sort of notice.
    pub kind: NoticeKind,
    /// What was said.
    pub text: String,
}

/// The sort of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NoticeKind {
    /// A refusal of an event that cannot be refused.
    Refusal,
    /// A question about an event that cannot be refused.
    Question,
    /// A failure that lets the event go on.
    Failure,
    /// What hookrun itself decided, or could not do; its hook is `hookrun`.
    Own,
}

impl Outcome {
    /// An outcome that refuses because hookrun itself could not decide.
    pub fn own_failure(reason: impl Into<String>) -> Outcome {
        Outcome {
            settled: Settled::Refused(Refusal {
                hook: None,
                reason: reason.into(),
                cause: Cause::Failure,
            }),
            ..Outcome::default()
        }
    }

    /// The event goes on although it was refused: `why` is a notice.
    #[must_use]
    pub fn let_go(mut self, why: impl Into<String>) -> Outcome {
        self.settled = Settled::Allowed;
        self.with_notice(why)
    }

    /// The outcome with a notice of hookrun's own.
    #[must_use]
    pub fn with_notice(mut self, text: impl Into<String>) -> Outcome {
        let (hook, text) = ("hookrun".to_string(), text.into());
        self.notices.push(Notice { hook, kind: NoticeKind::Own, text });
        self
    }

    /// Whether the event goes on without asking anybody.
    pub fn is_allowed(&self) -> bool {
        self.settled == Settled::Allowed
    }

    /// Whether it is allowed and nothing was said beside.
    pub fn is_silent(&self) -> bool {
        self.is_allowed()
            && self.said.is_empty()
            && self.findings.is_empty()
            && self.notices.is_empty()
    }

    /// The refusal, if there is one. `None` is no permission: a person may have to be asked. Before
    /// an action, ask [`Run::permit`](crate::engine::run::Run::permit).
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.settled {
            Settled::Refused(refusal) => Some(refusal),
            Settled::Allowed | Settled::Asked { .. } => None,
        }
    }

    /// All outputs in plan order, one after another on lines of their own.
    pub fn output(&self) -> Option<String> {
        join(self.said.iter().filter_map(|said| said.output.as_deref()), "\n")
    }

    /// All contexts in plan order, with an empty line between them.
    pub fn additional_context(&self) -> Option<String> {
        join(self.said.iter().filter_map(|said| said.additional_context.as_deref()), "\n\n")
    }

    /// The fields that stand rewritten, each with its last value.
    pub fn update(&self) -> serde_json::Map<String, Value> {
        let mut update = serde_json::Map::new();
        for rewrite in self.rewrites.iter().filter(|rewrite| rewrite.rejected.is_none()) {
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
            reason: if why_not.is_empty() { asked } else { format!("{asked} ({why_not})") },
            cause: Cause::Person,
        };
        self.settled = Settled::Refused(refusal);
        self.said.clear();
        self.void_rewrites("the event was blocked");
        self
    }

    /// Takes back every rewrite: a refused event leaves nothing changed.
    fn void_rewrites(&mut self, why: &str) {
        for rewrite in self.rewrites.iter_mut().filter(|rewrite| rewrite.rejected.is_none()) {
            rewrite.rejected = Some(why.to_string());
        }
    }
}

/// All questions, one a line.
pub fn joined(questions: &[Question]) -> String {
    let texts: Vec<&str> = questions.iter().map(|one| one.question.as_str()).collect();
    texts.join("\n")
}

fn join<'a>(texts: impl Iterator<Item = &'a str>, between: &str) -> Option<String> {
    let texts: Vec<&str> = texts.collect();
    if texts.is_empty() { None } else { Some(texts.join(between)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_one_row() {
        let all = [
            ContractRule::Silence,
            ContractRule::Text,
            ContractRule::Structured,
            ContractRule::Asked,
            ContractRule::ContinueFalse,
            ContractRule::RefusalInText,
            ContractRule::NonZeroExit,
            ContractRule::PassingExit,
            ContractRule::Translated,
            ContractRule::Returned,
        ];
        for rule in all {
            assert_eq!(RULES.iter().filter(|row| row.rule == rule).count(), 1, "{rule:?}");
        }
        assert_eq!(RULES.len(), all.len());
    }
}
