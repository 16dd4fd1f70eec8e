//! Interceptors: code of the embedding program between the model and one tool.
//!
//! They run in the caller's thread, without a timeout. Unlike hooks they may change what a tool does
//! without telling the model, so only code can register them; no configuration file can. Let
//! `before` run first, then run the hooks of `tool.pre` for the call that it made: a guard must see
//! what will run.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool's name, as the host has it.
    pub tool: String,
    /// What it is called with.
    pub input: Value,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What the model gets.
    pub value: Value,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// What an interceptor makes of a call before it runs.
#[derive(Debug, Clone, PartialEq)]
pub enum CallChange {
    Pass,
    /// It gets this input.
    Rewrite(Value),
    /// It does not run, for this reason.
    Veto(String),
}

/// What an interceptor makes of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum After {
    Pass,
    /// It becomes this.
    Rewrite(ToolResult),
}

/// What all interceptors made of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum InterceptedCall {
    Runs {
        /// The call, as the last of them left it.
        call: ToolCall,
        /// The names of those that rewrote its input, in order.
        rewritten_by: Vec<String>,
    },
    Vetoed {
        by: String,
        /// Why: its own reason; or that it panicked, which vetoes as well.
        reason: String,
    },
}

/// What all interceptors made of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct InterceptedResult {
    /// The result, as the last of them left it.
    pub result: ToolResult,
    /// The names of those that rewrote it, in order.
    pub rewritten_by: Vec<String>,
    /// Which of them panicked, in words. The result went on as it was before them.
    pub notices: Vec<String>,
}

/// The tools of an interceptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSet {
    All,
    /// The tool of exactly this name.
    Named(String),
}

impl ToolSet {
    fn has(&self, tool: &str) -> bool {
        match self {
            ToolSet::All => true,
            ToolSet::Named(name) => name == tool,
        }
    }
}

impl From<&str> for ToolSet {
    fn from(name: &str) -> ToolSet {
        ToolSet::Named(name.to_string())
    }
}

/// The interceptors of a program, in the order in which they were registered.
///
/// ```
/// use hookrun::interceptor::{CallChange, InterceptedCall, Interceptors, ToolCall, ToolSet};
/// use serde_json::json;
///
/// let mut interceptors = Interceptors::default();
/// interceptors.before("tenant", ToolSet::All, |call| {
///     let mut input = call.input.clone();
///     input["tenant"] = json!("acme");
///     CallChange::Rewrite(input)
/// });
/// interceptors.before("no-shell", "bash", |_| CallChange::Veto("there is no shell here".into()));
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
    before: Vec<Interceptor<BeforeFn>>,
    after: Vec<Interceptor<AfterFn>>,
}

type BeforeFn = dyn Fn(&ToolCall) -> CallChange + Send + Sync;
type AfterFn = dyn Fn(&ToolCall, &ToolResult) -> After + Send + Sync;

struct Interceptor<F: ?Sized> {
    name: String,
    tools: ToolSet,
    function: Box<F>,
}

impl Interceptors {
    /// Adds one that sees calls before they run, as the earlier ones left them.
    pub fn before(
        &mut self,
        name: &str,
        tools: impl Into<ToolSet>,
        function: impl Fn(&ToolCall) -> CallChange + Send + Sync + 'static,
    ) {
        self.before.push(Interceptor {
            name: name.to_string(),
            tools: tools.into(),
            function: Box::new(function),
        });
    }

    /// Adds one that sees results, as the earlier ones left them, and the calls they belong to.
    pub fn after(
        &mut self,
        name: &str,
        tools: impl Into<ToolSet>,
        function: impl Fn(&ToolCall, &ToolResult) -> After + Send + Sync + 'static,
    ) {
        self.after.push(Interceptor {
            name: name.to_string(),
            tools: tools.into(),
            function: Box::new(function),
        });
    }

    /// Takes out every interceptor of this name, and returns how many there were.
    pub fn remove(&mut self, name: &str) -> usize {
        let count = self.before.len() + self.after.len();
        self.before.retain(|one| one.name != name);
        self.after.retain(|one| one.name != name);
        count - self.before.len() - self.after.len()
    }

    /// The call as the interceptors leave it. The first veto ends it. A panic is a veto: what it would
    /// have prevented must not run.
    pub fn run_before(&self, mut call: ToolCall) -> InterceptedCall {
        let mut rewritten_by = Vec::new();
        for one in self.before.iter().filter(|one| one.tools.has(&call.tool)) {
            let reason = match catch_unwind(AssertUnwindSafe(|| (one.function)(&call))) {
                Ok(CallChange::Pass) => continue,
                Ok(CallChange::Rewrite(input)) => {
                    call.input = input;
                    rewritten_by.push(one.name.clone());
                    continue;
                }
                Ok(CallChange::Veto(reason)) => reason,
                Err(panic) => format!("{} (fail closed)", failed(&one.name, panic)),
            };
            let by = one.name.clone();
            return InterceptedCall::Vetoed { by, reason };
        }
        InterceptedCall::Runs { call, rewritten_by }
    }

    /// The result as the interceptors leave it. A panic changes nothing: the tool has run, and its
    /// result goes on, with a notice.
    pub fn run_after(&self, call: &ToolCall, result: ToolResult) -> InterceptedResult {
        let mut finished = InterceptedResult {
            result,
            rewritten_by: Vec::new(),
            notices: Vec::new(),
        };
        for one in self.after.iter().filter(|one| one.tools.has(&call.tool)) {
            match catch_unwind(AssertUnwindSafe(|| (one.function)(call, &finished.result))) {
                Ok(After::Pass) => {}
                Ok(After::Rewrite(result)) => {
                    finished.result = result;
                    finished.rewritten_by.push(one.name.clone());
                }
                Err(panic) => finished.notices.push(failed(&one.name, panic)),
            }
        }
        finished
    }
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before: Vec<&str> = self.before.iter().map(|one| one.name.as_str()).collect();
        let after: Vec<&str> = self.after.iter().map(|one| one.name.as_str()).collect();
        f.debug_struct("Interceptors")
            .field("before", &before)
            .field("after", &after)
            .finish()
    }
}

/// The words for an interceptor that panicked.
fn failed(name: &str, panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // Its drop may panic as well.
    std::mem::forget(panic);
    match text {
        Some(text) => format!("interceptor `{name}` failed: panicked: {text}"),
        None => format!("interceptor `{name}` failed: panicked"),
    }
}
