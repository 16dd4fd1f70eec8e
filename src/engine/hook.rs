//! Hooks: construction, rules, and checks of verdicts.
//!
//! Embedding programs create hooks from a command, a script or a function. A rule is a hook without
//! a program.

pub mod contract;
mod function;
pub mod limits;
pub mod matcher;
mod spec;
mod staged;

use std::path::PathBuf;

use crate::engine::ending::Ending;
use crate::engine::event::{Event, JsonType, Merge};
use crate::engine::outcome::{ContractRule, Decision, Verdict};

pub use crate::engine::names::{DEFAULT_TIMEOUT, duration_text, parse_duration};
pub(crate) use contract::NO_REASON;
pub use function::{AsyncFunction, Function, FunctionReturn, IntoVerdict};
pub use limits::{Containment, Limits, Sandbox};
pub use matcher::{Condition, Matcher, Mismatch, OnDoubt, PathBase};
pub use spec::{
    Background, Convention, DEFAULT_PRIORITY, EditedField, EventPart, FILES, Fixes, Handler, Hook,
    HookSource, HostCall, LayerKind, Lives, OWN_IMAGE, Permit, Printed, Reads, Sees, Warm,
};
pub(crate) use staged::{ChangeVerdict, Departure, StagedFolder, StagedText};

impl Hook {
    /// Creates a hook that runs a program directly, without a shell. A program with a slash is
    /// relative to this process's working directory; otherwise it is looked up in `PATH`.
    ///
    /// ```
    /// use hookrun::Hook;
    ///
    /// let lint = Hook::command("lint", "tool.post", ["python3", "lint.py"]);
    /// let early = Hook { priority: 10, ..lint };
    /// assert_eq!(early.name, "lint");
    /// ```
    pub fn command<W: Into<String>>(
        name: &str,
        event: &str,
        words: impl IntoIterator<Item = W>,
    ) -> Hook {
        let words = words.into_iter().map(Into::into).collect();
        // Without a working directory, the path stays relative and the start fails with a message.
        let base = std::path::absolute(".").unwrap_or_default();
        Hook::new(name, event, Handler::Words { words, base })
    }

    /// Creates a hook that runs a `/bin/sh -c` command line.
    pub fn shell(name: &str, event: &str, line: &str) -> Hook {
        Hook::new(name, event, Handler::Shell(line.to_string()))
    }

    /// Creates a hook from an executable file with a `#!` line, as in `hooks.d`. Its name is the
    /// file name.
    pub fn script(event: &str, file: impl Into<PathBuf>) -> Hook {
        let file = file.into();
        let name = file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Hook::new(&name.unwrap_or_default(), event, Handler::File(file))
    }

    /// Creates a hook from a function, with default settings: the event's timeout (5 s for most)
    /// and `on_failure`, no rewriting.
    ///
    /// The function runs in a hookrun thread. It returns a [`Verdict`](crate::Verdict), `()` for no
    /// opinion, or a `Result` of these; an error is a failure of the hook. A panic is caught (if
    /// panics unwind) and is a failure too; the program's panic hook sees it first. Threads cannot
    /// be killed: a function still running at its timeout has failed, and its thread runs on until
    /// it returns. While [`MOST_FUNCTIONS`] functions are running, calling another one fails.
    ///
    /// ```
    /// use hookrun::Hook;
    /// use hookrun::Verdict;
    ///
    /// let hook = Hook::function("no-prod", "tool.pre", |event| {
    ///     let action = event.action();
    ///     match action.and_then(|action| action.paths.iter().find(|path| path.starts_with("/srv"))) {
    ///         Some(path) => Verdict::block(format!("{path} is production")),
    ///         None => Verdict::allow(),
    ///     }
    /// });
    /// assert_eq!(hook.name, "no-prod");
    /// ```
    ///
    /// [`MOST_FUNCTIONS`]: crate::engine::exec::MOST_FUNCTIONS
    pub fn function<V: IntoVerdict>(
        name: &str,
        event: &str,
        call: impl Fn(&Event) -> V + Send + Sync + 'static,
    ) -> Hook {
        Hook::new(name, event, Handler::Function(Function::new(call)))
    }

    /// Creates a hook from an async function. As [`Hook::function`], but its future runs as a task
    /// of the tokio runtime of [`Runner::handle_async`] or [`Runner::runtime`], and is dropped at
    /// its timeout.
    ///
    /// [`Runner::handle_async`]: crate::engine::runner::Runner::handle_async
    /// [`Runner::runtime`]: crate::engine::runner::Runner::runtime
    #[cfg(feature = "tokio")]
    pub fn async_function<F>(
        name: &str,
        event: &str,
        call: impl Fn(Event) -> F + Send + Sync + 'static,
    ) -> Hook
    where
        F: std::future::Future<Output: IntoVerdict> + Send + 'static,
    {
        Hook::new(name, event, Handler::Function(Function::new_async(call)))
    }
}

/// Placeholders that are not context fields.
pub const PLACEHOLDERS: &[&str] = &["command", "program", "path", "tool"];

/// Applies a rule to an `event` that its matcher accepts. In case of doubt, the text says what is
/// unknown.
pub(crate) fn verdict_of_rule(
    decision: &Decision,
    matcher: &Matcher,
    event: &Event,
    place: &PathBase,
) -> Verdict {
    let command = matcher.find_command(event, place);
    let path = matcher.find_path(event, place);
    let doubt = match (&command, &path) {
        (Some(command), _) if command.doubt.is_some() => command.doubt.as_ref(),
        (_, Some(path)) if matcher.needs_paths() => path.doubt.as_ref(),
        _ => None,
    };
    if let Some(doubt) = doubt {
        let has_command = event
            .action()
            .is_some_and(|action| action.command.is_some());
        let cure = if has_command {
            "write the command without variables, or as shorter commands"
        } else {
            "name fewer paths in one call"
        };
        let text = format!("{doubt}\ninstead: {cure}");
        let asks = matches!(decision, Decision::Ask { .. });
        let decision = match matcher.doubt {
            Some(OnDoubt::Allow) => Decision::Allow,
            Some(OnDoubt::Ask) => Decision::Ask { question: text },
            None if asks => Decision::Ask { question: text },
            Some(OnDoubt::Block) | None => Decision::Block { reason: text },
        };
        return Verdict::new(decision, ContractRule::Ruled);
    }
    let fill = |text: &str| {
        filled(text, |name| match name {
            "command" => {
                let found = command.as_ref().and_then(|found| found.command.clone());
                found.or_else(|| event.action()?.command.clone())
            }
            "program" => command.as_ref()?.program.clone(),
            "path" => path.as_ref().map(|found| found.path.clone()),
            "tool" => event.context().text("toolName"),
            field => event.context().text(field),
        })
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

/// Returns the names of placeholders in order. Fails with a placeholder that is not a name.
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
    name.split('.').all(|part| {
        // `[]`: each element of an array.
        let part = part.trim_end_matches("[]");
        let mut chars = part.chars();
        !part.is_empty() && chars.all(|c| c.is_alphanumeric() || "_-".contains(c))
    })
}

/// Fills placeholders; `{{` and `}}` are literal braces.
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
    /// Checks that a question has text and that the rewrites are allowed.
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
                    "`update` names `{field}`; for `{}`, hooks may rewrite {fields}",
                    self.spec.name
                ));
            };
            if !self.hook.rewrite {
                let cure = self.cure_for_rewrite();
                return Err(format!(
                    "`update` names `{field}`, but the hook does not declare `rewrite`; {cure}"
                ));
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
            (Handler::File(_), _) => format!("add `rewrite` to the `# hookrun:` line of {file}"),
            (_, Some(line)) => format!("add `rewrite = true` to the hook ({file}:{line})"),
            (_, None) => "add `rewrite = true` to the hook".to_string(),
        }
    }

    /// Returns the ending of a function. An empty reason counts as missing.
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
