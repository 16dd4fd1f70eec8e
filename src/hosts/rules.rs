//! The matchers of hooks in a host's settings, read as that host reads them.
//!
//! Where an event can be blocked, an unknown fact counts as a match: a guard had better run once
//! too often.

mod command;

use regex::Regex;

use super::row::Host;
use super::settings::{MatcherSubject, Matching};
use crate::engine::event::Event;
use crate::engine::hook::matcher::{MatcherError, PathMatch, decide_paths, expression, shortened};
use crate::engine::hook::{Condition, Mismatch, PathBase};
use command::CommandForm;

/// What a hook in a host's settings says about the events that it wants.
#[derive(Debug, Clone)]
pub struct WantedEvents {
    /// The host.
    pub dialect: &'static Host,
    /// The host's name for the event.
    pub event: &'static str,
    /// The matcher: how it is read, what it is compared with, and what is written.
    pub matcher: Option<(Matching, MatcherSubject, String)>,
    /// A further condition, in the words of permission rules.
    pub condition: Option<String>,
}

/// The same, ready for use.
#[derive(Debug, Clone)]
pub struct HostMatch {
    dialect: &'static Host,
    event: &'static str,
    names: Option<(Names, MatcherSubject)>,
    condition: Option<PermissionRule>,
}

/// What a matcher takes: one of these words, or what has the form.
#[derive(Debug, Clone)]
struct Names {
    written: String,
    words: Vec<String>,
    form: Option<Regex>,
}

/// A permission rule: `Bash(git *)`.
#[derive(Debug, Clone)]
struct PermissionRule {
    written: String,
    tool: String,
    of: Of,
}

/// What a permission rule says of a tool.
#[derive(Debug, Clone)]
enum Of {
    All,
    /// A command line, or one of those in it, has this form.
    Command(CommandForm),
    Path(PathMatch),
    /// The input has this in it.
    Text(String),
}

impl HostMatch {
    /// Reads what a hook in a host's settings says, as that host reads it.
    ///
    /// # Errors
    /// When its matcher is no regular expression, or its condition no permission rule.
    pub fn read(wanted: &WantedEvents) -> Result<HostMatch, MatcherError> {
        let names = match &wanted.matcher {
            Some((matching, subject, written)) => {
                Names::read(*matching, *subject, written)?.map(|names| (names, *subject))
            }
            None => None,
        };
        let condition = wanted
            .condition
            .as_deref()
            .map(PermissionRule::read)
            .transpose()?;
        Ok(HostMatch {
            dialect: wanted.dialect,
            event: wanted.event,
            names,
            condition,
        })
    }

    /// A host with several events for one moment calls each hook by its own.
    fn is_meant(&self, event: &Event) -> Result<(), Mismatch> {
        if event.host() != self.dialect.name {
            return Ok(());
        }
        let Some(found) = event
            .context()
            .text(&format!("raw.{}", self.dialect.names_event_by))
        else {
            return Ok(());
        };
        let mut own = self
            .dialect
            .events
            .iter()
            .filter(|row| row.name == self.event);
        if own.any(|row| row.is_called(&found)) {
            return Ok(());
        }
        Err(Mismatch::of_host("event", self.event, vec![found]))
    }
}

impl Condition for HostMatch {
    fn decide(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch> {
        self.is_meant(event)?;
        if let Some((names, subject)) = &self.names {
            let found = match subject {
                MatcherSubject::Tool => self.dialect.tool_names(event),
                MatcherSubject::Command => event
                    .action()
                    .and_then(|action| action.command.clone())
                    .into_iter()
                    .collect(),
                MatcherSubject::Fact(key) => event.context().text(key).into_iter().collect(),
            };
            let is_untold = found.is_empty() && event.spec().blocks;
            let is_of_some_server = *subject == MatcherSubject::Tool
                && may_name_server(&names.written)
                && self.dialect.is_of_unknown_server(event);
            if !is_untold && !is_of_some_server && !found.iter().any(|name| names.fit(name)) {
                return Err(Mismatch::of_host(
                    &subject.about(),
                    &names.to_string(),
                    found,
                ));
            }
        }
        match &self.condition {
            Some(condition) => condition.decide(self.dialect, event, place),
            None => Ok(()),
        }
    }

    /// Whether its matcher, if it is compared with tools, takes one of these names.
    fn takes_tool(&self, names: &[&str]) -> bool {
        match &self.names {
            Some((form, MatcherSubject::Tool)) => names.iter().any(|name| form.fit(name)),
            Some((_, MatcherSubject::Command | MatcherSubject::Fact(_))) | None => true,
        }
    }

    fn needs_paths(&self) -> bool {
        self.condition
            .as_ref()
            .is_some_and(|condition| matches!(condition.of, Of::Path(_)))
    }

    fn needs_action(&self) -> bool {
        let of_tool =
            |(_, subject): &(Names, MatcherSubject)| !matches!(subject, MatcherSubject::Fact(_));
        self.condition.is_some() || self.names.as_ref().is_some_and(of_tool)
    }
}

impl std::fmt::Display for HostMatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if let Some((names, subject)) = &self.names {
            parts.push(format!("{} {names}", subject.about()));
        }
        parts.extend(
            self.condition
                .iter()
                .map(|condition| format!("if {}", condition.written)),
        );
        if parts.is_empty() {
            f.write_str(self.event)
        } else {
            f.write_str(&parts.join(", "))
        }
    }
}

impl MatcherSubject {
    fn about(self) -> String {
        match self {
            MatcherSubject::Tool => "tool".to_string(),
            MatcherSubject::Command => "command".to_string(),
            MatcherSubject::Fact(key) => format!("`{key}`"),
        }
    }
}

impl Names {
    /// `None` where everything fits.
    fn read(
        matching: Matching,
        subject: MatcherSubject,
        written: &str,
    ) -> Result<Option<Names>, MatcherError> {
        if matches!(written, "" | "*") {
            return Ok(None);
        }
        let names = |words: Vec<&str>, form| {
            let words = words.into_iter().map(str::to_string).collect();
            Ok(Some(Names {
                written: written.to_string(),
                words,
                form,
            }))
        };
        let is_plain = |allowed: &str| {
            written
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || allowed.contains(c))
        };
        if matching.list.is_some_and(is_plain) {
            let words = written.split(matching.divides).map(str::trim);
            return names(words.filter(|one| !one.is_empty()).collect(), None);
        }
        if matching.is_plain && matches!(subject, MatcherSubject::Fact(_)) {
            return names(vec![written], None);
        }
        let form = match matching.is_anchored {
            true => expression(&format!("^(?:{written})$")),
            false => expression(written),
        };
        match form {
            Ok(form) => names(Vec::new(), Some(form)),
            Err(_) if matching.is_plain => names(vec![written], None),
            Err(error) => Err(error),
        }
    }

    fn fit(&self, found: &str) -> bool {
        self.words.iter().any(|word| word == found)
            || self.form.as_ref().is_some_and(|form| form.is_match(found))
    }
}

/// Whether a matcher may be meant for a tool of an MCP server: `Ba.*` is not, though a server could be
/// called so.
fn may_name_server(written: &str) -> bool {
    written.contains("mcp") || written.trim_start_matches('^').starts_with(".*")
}

impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.form {
            None => f.write_str(&self.written),
            Some(_) => write!(f, "/{}/", self.written),
        }
    }
}

impl PermissionRule {
    fn read(written: &str) -> Result<PermissionRule, MatcherError> {
        let problem = |text: &str| {
            Err(MatcherError {
                problem: text.to_string(),
            })
        };
        let (tool, inner) = match written.trim().split_once('(') {
            None => (written.trim(), None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(inner) => (tool.trim(), Some(inner.trim())),
                None => return problem("its parenthesis is not closed"),
            },
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-*".contains(c);
        if tool.is_empty() || !tool.chars().all(is_name) {
            return problem("it does not begin with the name of a tool");
        }
        let of = match inner {
            None | Some("" | "*") => Of::All,
            Some(inner) => Of::read(tool, inner)?,
        };
        Ok(PermissionRule {
            written: written.to_string(),
            tool: tool.to_string(),
            of,
        })
    }

    fn decide(&self, dialect: &Host, event: &Event, place: &PathBase) -> Result<(), Mismatch> {
        let names = dialect.tool_names(event);
        let mismatch = |found| Err(Mismatch::of_host("if", &self.written, found));
        let is_called = |name: &String| match self.tool.split_once('*') {
            Some((start, _)) => name.starts_with(start),
            None => *name == self.tool,
        };
        let may_be_called = may_name_server(&self.tool) && dialect.is_of_unknown_server(event);
        if !names.iter().any(is_called) && !may_be_called {
            return mismatch(names);
        }
        let action = event.action();
        match &self.of {
            Of::All => Ok(()),
            Of::Path(form) => match action.is_none_or(|action| action.paths.is_empty()) {
                // What it touches is unknown.
                true => Ok(()),
                false => decide_paths(std::slice::from_ref(form), event, place),
            },
            Of::Command(form) => {
                let Some((action, command)) =
                    action.and_then(|action| Some((action, action.command.as_deref()?)))
                else {
                    return Ok(());
                };
                let is_meant = form.fits(command, &action.line, event.spec().blocks);
                if is_meant {
                    Ok(())
                } else {
                    mismatch(vec![shortened(command)])
                }
            }
            Of::Text(text) => match event.context().text("toolInput") {
                Some(input) if !input.contains(text) => mismatch(vec![input]),
                Some(_) | None => Ok(()),
            },
        }
    }
}

impl Of {
    fn read(tool: &str, inner: &str) -> Result<Of, MatcherError> {
        match tool {
            "Bash" | "PowerShell" => CommandForm::read(inner).map(Of::Command),
            "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "Glob" | "Grep" => {
                // Below the home folder: where that is is unknown here, so the last part counts.
                let path = match inner.strip_prefix("~/") {
                    Some(below) => format!("**/{below}"),
                    None => match inner.strip_prefix("//") {
                        Some(below) => format!("/{below}"),
                        // A single slash is the project's root.
                        None => inner.strip_prefix('/').unwrap_or(inner).to_string(),
                    },
                };
                PathMatch::read(&path).map(Of::Path)
            }
            "WebFetch" => Ok(Of::Text(
                inner.trim_start_matches("domain:").replace('*', ""),
            )),
            _ => {
                let problem = format!("the part in parentheses means nothing for `{tool}`");
                Err(MatcherError { problem })
            }
        }
    }
}
