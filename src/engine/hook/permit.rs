//! Checks what a hook answers against its event's rules and its author's permissions.

use super::spec::{Handler, NO_REASON, Permit};
use crate::engine::ending::Ending;
use crate::engine::event::{JsonType, Merge};
use crate::engine::outcome::{ContractRule, Decision, Verdict};

impl Permit<'_> {
    /// Checks that a question has words, and that the hook may rewrite what it rewrites.
    pub(crate) fn check(self, verdict: &Verdict) -> Result<(), String> {
        if matches!(&verdict.decision, Decision::Ask { question } if question.trim().is_empty()) {
            return Err("`ask` is empty; write the question".to_string());
        }
        for (field, value) in &verdict.update {
            let Some(rule) = self.spec.rewrite(field) else {
                let rewrites = self.spec.rewrites.iter();
                let fields: Vec<String> = rewrites.map(|one| format!("`{}`", one.field)).collect();
                let fields = if fields.is_empty() {
                    "nothing".to_string()
                } else {
                    fields.join(", ")
                };
                return Err(format!(
                    "`update` names `{field}`; of `{}` hooks may rewrite {fields}",
                    self.spec.name
                ));
            };
            if !self.hook.rewrite {
                let cure = self.cure_for_rewrite();
                return Err(format!("`update` names `{field}`; {cure}"));
            }
            let kind = self.spec.key(field).map_or(JsonType::Any, |key| key.kind);
            if rule.merge != Merge::Append && !kind.fits(value) {
                return Err(format!("`update.{field}` must be a JSON {}", kind.name()));
            }
        }
        Ok(())
    }

    fn cure_for_rewrite(self) -> String {
        let file = self.hook.source.file.display();
        match (&self.hook.handler, self.hook.source.line) {
            (Handler::File(_), _) => format!("add `rewrite` to its `# hookrun:` line ({file})"),
            (_, Some(line)) => format!("add `rewrite = true` to it ({file}:{line})"),
            (_, None) => "add `rewrite = true` to it".to_string(),
        }
    }

    /// The ending of a function that returned this. An empty reason counts as none.
    pub(crate) fn ending_of(self, returned: Result<Verdict, String>) -> Ending {
        let mut verdict = match returned {
            Ok(verdict) => verdict,
            Err(problem) => return Ending::Errored { problem },
        };
        if let Decision::Block { reason } = &mut verdict.decision
            && reason.trim().is_empty()
        {
            *reason = NO_REASON.to_string();
        }
        verdict.rule = ContractRule::Returned;
        match self.check(&verdict) {
            Ok(()) => Ending::Answered(verdict),
            Err(problem) => Ending::Malformed { problem },
        }
    }
}
