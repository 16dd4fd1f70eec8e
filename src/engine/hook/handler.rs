//! Handlers that are not programs: functions of the embedding program, and rules, whose answer is
//! written beside the matcher. Whatever a hook answers is checked here against its event's rules.

use std::fmt;
use std::sync::Arc;

use super::matcher::{Matcher, PathBase};
use super::spec::{Handler, NO_REASON, Permit};
use crate::engine::ending::Ending;
use crate::engine::event::{Event, JsonType, Merge};
use crate::engine::outcome::{ContractRule, Decision, Verdict};

/// What a function said, or why it failed.
pub type FunctionReturn = Result<Verdict, String>;

type Future = std::pin::Pin<Box<dyn std::future::Future<Output = FunctionReturn> + Send>>;

/// A function that is a hook. Clones are the same function.
#[derive(Clone)]
pub struct Function {
    form: FunctionKind,
}

#[derive(Clone)]
enum FunctionKind {
    Blocking(Arc<dyn Fn(&Event) -> FunctionReturn + Send + Sync>),
    Async(Arc<dyn Fn(Event) -> Future + Send + Sync>),
}

/// What a function that is a hook may return.
pub trait IntoVerdict {
    /// The verdict, or why there is none: a failure of the hook.
    ///
    /// # Errors
    /// The words for the failure.
    fn into_verdict(self) -> FunctionReturn;
}

impl IntoVerdict for Verdict {
    fn into_verdict(self) -> FunctionReturn {
        Ok(self)
    }
}

/// No opinion.
impl IntoVerdict for () {
    fn into_verdict(self) -> FunctionReturn {
        Ok(Verdict::allow())
    }
}

/// An error is a failure of the hook, not a block: what it means is `on_failure`.
impl<V: IntoVerdict, E: fmt::Display> IntoVerdict for Result<V, E> {
    fn into_verdict(self) -> FunctionReturn {
        self.map_err(|error| error.to_string())?.into_verdict()
    }
}

impl Function {
    /// The function `call`.
    pub fn new<V: IntoVerdict>(call: impl Fn(&Event) -> V + Send + Sync + 'static) -> Function {
        Function {
            form: FunctionKind::Blocking(Arc::new(move |event| call(event).into_verdict())),
        }
    }

    /// The async function `call`.
    pub fn new_async<F>(call: impl Fn(Event) -> F + Send + Sync + 'static) -> Function
    where
        F: std::future::Future<Output: IntoVerdict> + Send + 'static,
    {
        let call = move |event| -> Future {
            let future = call(event);
            Box::pin(async move { future.await.into_verdict() })
        };
        Function {
            form: FunctionKind::Async(Arc::new(call)),
        }
    }

    /// Calls a blocking function; of an async one it returns the future.
    pub(crate) fn call(&self, event: &Event) -> CallStart {
        match &self.form {
            FunctionKind::Blocking(call) => CallStart::Returned(call(event)),
            FunctionKind::Async(call) => CallStart::Promised(call(event.clone())),
        }
    }

    /// Whether it is an async function.
    pub fn is_async(&self) -> bool {
        matches!(self.form, FunctionKind::Async(_))
    }
}

/// What came of a call.
pub(crate) enum CallStart {
    Returned(FunctionReturn),
    Promised(Future),
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.form {
            FunctionKind::Blocking(_) => "Function",
            FunctionKind::Async(_) => "Function (async)",
        })
    }
}

/// Two are equal if they are clones of each other.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        match (&self.form, &other.form) {
            (FunctionKind::Blocking(own), FunctionKind::Blocking(other)) => Arc::ptr_eq(own, other),
            (FunctionKind::Async(own), FunctionKind::Async(other)) => Arc::ptr_eq(own, other),
            (FunctionKind::Blocking(_), FunctionKind::Async(_))
            | (FunctionKind::Async(_), FunctionKind::Blocking(_)) => false,
        }
    }
}

impl Eq for Function {}

/// Placeholders that are no fields of the context.
pub const PLACEHOLDERS: &[&str] = &["command", "program", "path", "tool"];

/// What the rule says of `event`, which its matcher takes.
pub(crate) fn verdict_of_rule(
    decision: &Decision,
    matcher: &Matcher,
    event: &Event,
    place: &PathBase,
) -> Verdict {
    let met = matcher.find_command(event, place);
    let fill = |text: &str| {
        let said = filled(text, |name| match name {
            "command" => {
                let whole = || event.action()?.command.clone();
                met.as_ref()
                    .and_then(|met| met.command.clone())
                    .or_else(whole)
            }
            "program" => {
                let command = met.as_ref()?.command.as_ref()?;
                command.split_whitespace().next().map(str::to_string)
            }
            "path" => matcher.find_path(event, place),
            "tool" => event.context().text("toolName"),
            field => event.context().text(field),
        });
        match met.as_ref().and_then(|met| met.doubt.as_ref()) {
            Some(doubt) => format!("cannot tell {doubt}; write it out. The rule: {said}"),
            None => said,
        }
    };
    let decision = match decision {
        Decision::Block { reason } => Decision::Block {
            reason: fill(reason),
        },
        Decision::Ask { question } => Decision::Ask {
            question: fill(question),
        },
        Decision::Allow => Decision::Allow,
    };
    Verdict::new(decision, ContractRule::Ruled)
}

/// The names of the placeholders in a text, in their order.
///
/// # Errors
/// What is between braces and is no name.
pub fn placeholders(text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    filled(text, |name| {
        names.push(name.to_string());
        None
    });
    match names.iter().find(|name| !is_name(name)) {
        Some(wrong) => Err(wrong.clone()),
        None => Ok(names),
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || "_-".contains(c))
    };
    name.split('.').all(is_part)
}

/// A text with its placeholders filled; `{{` and `}}` are braces.
fn filled(text: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        done.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            done.push_str(brace);
            rest = after;
            continue;
        }
        match rest.split_once('}').filter(|_| brace == "{") {
            Some((name, after)) => {
                done.push_str(&value(name).unwrap_or_else(|| format!("{{{name}}}")));
                rest = after;
            }
            None => done.push_str(brace),
        }
    }
    done.push_str(rest);
    done
}

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
