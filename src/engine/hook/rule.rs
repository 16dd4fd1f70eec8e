//! Rules: hooks without a program. What a rule says of every event that its matcher takes is
//! written beside the matcher, with placeholders for what the event is about.

use super::matcher::{Matcher, PathBase};
use crate::engine::event::Event;
use crate::engine::outcome::{ContractRule, Decision, Verdict};

/// Placeholders that are no fields of the context.
pub const PLACEHOLDERS: &[&str] = &["command", "program", "path", "tool"];

/// What the rule says of `event`, which its matcher takes.
pub(crate) fn verdict(
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
