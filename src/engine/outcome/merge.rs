//! Merges verdicts into an outcome. Pure: only the plan order counts, not the order in which hooks
//! end.

use serde_json::Value;

use super::{
    Block, Cause, Decision, HookFinding, HookText, Notice, NoticeKind, Outcome, Question,
    Rewritten, Settled, Verdict,
};
use crate::engine::event::{EventSpec, Merge, OnFailure, Stop};

/// Prefix of crash messages, which get no `failed:`.
pub const CRASHED: &str = "crashed: ";

/// Prefix of the messages of hooks that did not start, which get no `failed:` either.
pub const NEVER_RAN: &str = "never ran: ";

/// A failure's message for use after its subject: `failed: …`, `crashed: …` or `never ran: …`.
pub(crate) fn failed_words(failure: &str) -> String {
    if failure.starts_with(CRASHED) || failure.starts_with(NEVER_RAN) {
        failure.to_string()
    } else {
        format!("failed: {failure}")
    }
}

const BLOCKED: &str = "the event was blocked";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    GoesOn,
    /// Blocked: only hooks of the same group still count.
    EndsGroup,
    /// Blocked: no later hook counts.
    Ends,
}

/// Merges hooks in plan order.
///
/// 1. A block of a gate blocks it and voids texts and rewrites. [`Stop`] says whether later hooks
///    count; the reason includes every block.
/// 2. A failure blocks if `on_failure` says so; otherwise it is a notice.
/// 3. A block of or question about an event that cannot be blocked is a notice.
/// 4. Otherwise any question asks.
/// 5. A dialect's [`Conduct`](crate::engine::event::Conduct) takes precedence over these rules.
/// 6. Otherwise the event is allowed, with outputs, contexts and rewrites in plan order.
#[derive(Debug)]
pub struct Merger<'s> {
    spec: &'s EventSpec,
    outcome: Outcome,
    blocks: Vec<Block>,
}

impl<'s> Merger<'s> {
    pub fn new(spec: &'s EventSpec) -> Merger<'s> {
        Merger {
            spec,
            outcome: Outcome::default(),
            blocks: Vec::new(),
        }
    }

    /// Adds the next hook in plan order. `on_failure` is the hook's or the event's.
    ///
    /// `result` is its verdict, or its failure message, such as `timed out after 5s`.
    pub fn add(
        &mut self,
        hook: &str,
        on_failure: OnFailure,
        result: Result<&Verdict, &str>,
    ) -> Flow {
        if self.is_blocked() && self.spec.conduct.stop == Stop::First {
            return Flow::Ends;
        }
        match result {
            Ok(verdict) => self.verdict(hook, verdict),
            Err(words) => self.failure(hook, on_failure, words),
        }
    }

    /// Blocks for a reason of hookrun, unless the event is blocked already.
    pub fn block(&mut self, reason: String) {
        if !self.is_blocked() {
            self.settle(None, reason, Cause::Failure);
        }
    }

    pub fn is_blocked(&self) -> bool {
        !self.blocks.is_empty()
    }

    pub fn rewritten(&mut self, rewritten: Rewritten) {
        let Rewritten { hook, field, .. } = &rewritten;
        if let Some(why) = &rewritten.rejected
            && let Some(rule) = self.spec.rewrite(field)
            && rule.merge == Merge::SameRole
        {
            let text = format!("cannot change `{field}`: {why}");
            self.notice(&hook.clone(), NoticeKind::Failure, text);
        }
        self.outcome.rewrites.push(rewritten);
        if self.is_blocked() {
            self.outcome.void_rewrites(BLOCKED);
        }
    }

    /// Returns true if a rewrite of `field` was applied.
    pub fn has_rewritten(&self, field: &str) -> bool {
        let mut rewrites = self.outcome.rewrites.iter();
        rewrites.any(|done| done.field == field && done.rejected.is_none())
    }

    /// Voids earlier rewrites because a later hook's result wins.
    pub fn start_over(&mut self) {
        self.outcome.void_rewrites("a later hook's result wins");
    }

    pub fn is_asking(&self) -> bool {
        matches!(self.outcome.settled, Settled::Asked { .. })
    }

    pub fn finish(self) -> Outcome {
        self.outcome
    }

    fn failure(&mut self, hook: &str, on_failure: OnFailure, words: &str) -> Flow {
        let words = failed_words(words);
        if self.spec.blocks && on_failure == OnFailure::Block {
            let reason = format!("hook `{hook}` {words} (fail closed)");
            return self.settle(Some(hook), reason, Cause::Failure);
        }
        if on_failure == OnFailure::Block && self.spec.conduct.block_ends {
            self.notice(hook, NoticeKind::Block, words);
            return Flow::Ends;
        }
        let consequence = if self.spec.blocks { " (fail open)" } else { "" };
        self.notice(hook, NoticeKind::Failure, format!("{words}{consequence}"));
        Flow::GoesOn
    }

    fn verdict(&mut self, hook: &str, verdict: &Verdict) -> Flow {
        for finding in &verdict.findings {
            self.outcome.findings.push(HookFinding {
                hook: hook.to_string(),
                finding: finding.clone(),
            });
        }
        match &verdict.decision {
            Decision::Block { reason } if self.spec.blocks => {
                return self.settle(Some(hook), reason.clone(), Cause::Policy);
            }
            Decision::Block { reason } => {
                self.notice(hook, NoticeKind::Block, reason.clone());
                let ends = self.spec.conduct.block_ends;
                return if ends { Flow::Ends } else { Flow::GoesOn };
            }
            Decision::Ask { question } if self.spec.blocks => self.ask(hook, question),
            Decision::Ask { question } => {
                self.notice(hook, NoticeKind::Question, question.clone());
            }
            Decision::Allow => {}
        }
        let counts = !self.is_blocked() || self.spec.conduct.keeps_texts;
        if counts && (verdict.output.is_some() || verdict.additional_context.is_some()) {
            self.outcome.texts.push(HookText {
                hook: hook.to_string(),
                output: verdict.output.clone(),
                additional_context: verdict.additional_context.clone(),
            });
        }
        Flow::GoesOn
    }

    fn ask(&mut self, hook: &str, question: &str) {
        if self.is_asking() && self.spec.conduct.first_question {
            return self.notice(hook, NoticeKind::Question, question.to_string());
        }
        let question = Question {
            hook: hook.to_string(),
            question: question.to_string(),
        };
        match &mut self.outcome.settled {
            Settled::Asked { questions } => questions.push(question),
            Settled::Allowed => {
                let questions = vec![question];
                self.outcome.settled = Settled::Asked { questions };
            }
            Settled::Blocked(_) => {}
        }
    }

    fn settle(&mut self, hook: Option<&str>, reason: String, cause: Cause) -> Flow {
        self.blocks.push(Block {
            hook: hook.map(str::to_string),
            others: Vec::new(),
            reason,
            cause,
        });
        if let Some(block) = Block::of_all(&self.blocks) {
            self.outcome.settled = Settled::Blocked(block);
        }
        if !self.spec.conduct.keeps_texts {
            self.outcome.texts.clear();
        }
        self.outcome.void_rewrites(BLOCKED);
        match self.spec.conduct.stop {
            Stop::First => Flow::Ends,
            Stop::Group => Flow::EndsGroup,
            Stop::Never => Flow::GoesOn,
        }
    }

    fn notice(&mut self, hook: &str, kind: NoticeKind, text: String) {
        self.outcome.notices.push(Notice {
            hook: hook.to_string(),
            kind,
            text,
        });
    }
}

/// Applies one rewrite by the field's merge rule, or returns why it is rejected. `already`: an
/// earlier hook rewrote the field.
pub fn rewrite(rule: Merge, old: &Value, new: &Value, already: bool) -> Result<Value, String> {
    match rule {
        Merge::Last | Merge::Chain => Ok(new.clone()),
        Merge::First if already => Err("an earlier hook's value wins".to_string()),
        Merge::Claim if *old == Value::Bool(true) => {
            Err("the event is already claimed".to_string())
        }
        Merge::First | Merge::Claim => Ok(new.clone()),
        Merge::Append => {
            let own = old.as_array().cloned();
            let own = own.or(old.is_null().then(Vec::new));
            let problem = "the field is not a list, so nothing can be appended";
            let mut list = own.ok_or(problem)?;
            if let Value::Array(more) = new {
                list.extend(more.iter().cloned());
            } else {
                list.push(new.clone());
            }
            Ok(Value::Array(list))
        }
        Merge::SameRole if old.get("role") == new.get("role") => Ok(new.clone()),
        Merge::SameRole => {
            let role = old.get("role").unwrap_or(&Value::Null);
            Err(format!("its role must stay {role}"))
        }
    }
}
