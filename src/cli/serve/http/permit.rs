//! A decision for clients that know only yes and no.

use super::route::HttpDecision;
use crate::cli::serve::question::ClientAnswer;
use crate::engine::outcome::{Cause, Settled, joined};

/// The key under which text for the model goes along with a yes.
pub(super) const GOES_ON: &str = "additionalContext";

pub(super) enum DecisionWords {
    Allowed,
    Denied {
        reason: String,
        /// `policy`, `person` or `failure`.
        cause: &'static str,
        /// The hook that blocked.
        rule: Option<String>,
    },
}

/// What a client is told. An action that hooks have changed is denied where the client would carry it
/// out unchanged; `cure` is what it could do.
pub(super) fn permitted(
    decision: &HttpDecision,
    answer: &ClientAnswer,
    cure: &str,
) -> DecisionWords {
    let denied = |reason: String, cause: Cause, rule: Option<String>| DecisionWords::Denied {
        reason,
        cause: cause.name(),
        rule,
    };
    match &answer.outcome.settled {
        Settled::Refused(refusal) => {
            denied(refusal.reason.clone(), refusal.cause, refusal.hook.clone())
        }
        Settled::Asked { questions } => denied(joined(questions), Cause::Person, None),
        Settled::Allowed => {
            let update = answer.outcome.update();
            if update.is_empty() || decision.takes_changes {
                return DecisionWords::Allowed;
            }
            let fields: Vec<String> = update.keys().map(|field| format!("`{field}`")).collect();
            let fields = fields.join(", ");
            let reason =
                format!("a hook changes {fields}, and this client takes no changes: {cure}");
            denied(reason, Cause::Policy, None)
        }
    }
}
