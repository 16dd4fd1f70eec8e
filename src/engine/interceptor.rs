//! Interceptors: code of the embedding program between the model and its tools.
//!
//! They run in the caller's thread, without a timeout. Since they can change a tool call without
//! the model's knowledge, only code can register them. Run `before` first, then the `tool.pre`
//! hooks on the resulting call: guards must see the final call.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use crate::engine::complaint::panic_text;

#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Tool name, as in the host.
    pub tool: String,
    pub input: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// Result for the model.
    pub value: Value,
    pub is_error: bool,
}

/// An interceptor's decision about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallChange {
    Pass,
    /// Replaces the input.
    Rewrite(Value),
    /// Stops the call, for this reason.
    Veto(String),
}

/// An interceptor's decision about a result.
#[derive(Debug, Clone, PartialEq)]
pub enum After {
    Pass,
    /// Replaces the result.
    Rewrite(ToolResult),
}

/// A call after all interceptors.
#[derive(Debug, Clone, PartialEq)]
pub enum InterceptedCall {
    Runs {
        /// The call with all rewrites.
        call: ToolCall,
        /// Interceptors that rewrote its input, in order.
        rewritten_by: Vec<String>,
    },
    Vetoed {
        by: String,
        /// The interceptor's reason, or its panic, which is a veto too.
        reason: String,
    },
}

/// A result after all interceptors.
#[derive(Debug, Clone, PartialEq)]
pub struct InterceptedResult {
    /// The result with all rewrites.
    pub result: ToolResult,
    /// Interceptors that rewrote it, in order.
    pub rewritten_by: Vec<String>,
    /// Messages about interceptors that panicked. They leave the result unchanged.
    pub notices: Vec<String>,
}

/// The interceptors of a program, in order of registration.
///
/// ```
/// use hookrun::interceptor::{CallChange, InterceptedCall, Interceptors, ToolCall};
/// use serde_json::json;
///
/// let mut interceptors = Interceptors::default();
/// interceptors.before("tenant", |call| {
///     let mut input = call.input.clone();
///     input["tenant"] = json!("acme");
///     CallChange::Rewrite(input)
/// });
/// interceptors.before("no-shell", |call| match call.tool.as_str() {
///     "bash" => CallChange::Veto("there is no shell here".into()),
///     _ => CallChange::Pass,
/// });
///
/// let read = ToolCall { tool: "read".into(), input: json!({ "path": "a.txt" }) };
/// let InterceptedCall::Runs { call, .. } = interceptors.run_before(read) else { panic!() };
/// assert_eq!(call.input, json!({ "path": "a.txt", "tenant": "acme" }));
///
/// let bash = ToolCall { tool: "bash".into(), input: json!({}) };
/// assert!(matches!(interceptors.run_before(bash), InterceptedCall::Vetoed { .. }));
/// ```
#[derive(Default)]
pub struct Interceptors {
    before: Vec<(String, Box<BeforeFn>)>,
    after: Vec<(String, Box<AfterFn>)>,
}

type BeforeFn = dyn Fn(&ToolCall) -> CallChange + Send + Sync;
type AfterFn = dyn Fn(&ToolCall, &ToolResult) -> After + Send + Sync;

impl Interceptors {
    /// Adds an interceptor for calls. It sees the rewrites of earlier ones.
    pub fn before(
        &mut self,
        name: &str,
        function: impl Fn(&ToolCall) -> CallChange + Send + Sync + 'static,
    ) {
        self.before.push((name.to_string(), Box::new(function)));
    }

    /// Adds an interceptor for results. It sees the call and the rewrites of earlier ones.
    pub fn after(
        &mut self,
        name: &str,
        function: impl Fn(&ToolCall, &ToolResult) -> After + Send + Sync + 'static,
    ) {
        self.after.push((name.to_string(), Box::new(function)));
    }

    /// Removes all interceptors of this name and returns their number.
    pub fn remove(&mut self, name: &str) -> usize {
        let count = self.before.len() + self.after.len();
        self.before.retain(|(known, _)| known != name);
        self.after.retain(|(known, _)| known != name);
        count - self.before.len() - self.after.len()
    }

    /// Runs the interceptors of a call until the first veto. A panic is a veto: the call that it
    /// might have prevented must not run.
    pub fn run_before(&self, mut call: ToolCall) -> InterceptedCall {
        let mut rewritten_by = Vec::new();
        for (name, function) in &self.before {
            let reason = match catch_unwind(AssertUnwindSafe(|| function(&call))) {
                Ok(CallChange::Pass) => continue,
                Ok(CallChange::Rewrite(input)) => {
                    call.input = input;
                    rewritten_by.push(name.clone());
                    continue;
                }
                Ok(CallChange::Veto(reason)) => reason,
                Err(panic) => format!("{} (fail closed)", failed(name, panic)),
            };
            let by = name.clone();
            return InterceptedCall::Vetoed { by, reason };
        }
        InterceptedCall::Runs { call, rewritten_by }
    }

    /// Runs the interceptors of a result. A panic leaves the result unchanged and adds a notice.
    pub fn run_after(&self, call: &ToolCall, result: ToolResult) -> InterceptedResult {
        let mut finished = InterceptedResult {
            result,
            rewritten_by: Vec::new(),
            notices: Vec::new(),
        };
        for (name, function) in &self.after {
            match catch_unwind(AssertUnwindSafe(|| function(call, &finished.result))) {
                Ok(After::Pass) => {}
                Ok(After::Rewrite(result)) => {
                    finished.result = result;
                    finished.rewritten_by.push(name.clone());
                }
                Err(panic) => finished.notices.push(failed(name, panic)),
            }
        }
        finished
    }
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interceptors").finish_non_exhaustive()
    }
}

fn failed(name: &str, panic: Box<dyn Any + Send>) -> String {
    format!("interceptor `{name}` failed: {}", panic_text(panic))
}
