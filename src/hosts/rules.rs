//! Matchers in a host's settings, read as that host reads them.
//!
//! On a gate an unknown fact counts as a match: running a guard too often is safer.

use regex::Regex;

use super::row::Host;
use super::settings::{MatcherSubject, Matching};
use crate::engine::complaint::Complaint;
use crate::engine::event::Event;
use crate::engine::hook::matcher::{
    PathMatch, RunsForm, decide_paths, expression, expression_error, shortened, written,
};
use crate::engine::hook::{Condition, Mismatch, PathBase};
use crate::engine::shell::{CommandLine, ShellCommand};

/// The filter of a hook in a host's settings, as written.
#[derive(Debug, Clone)]
pub struct WantedEvents {
    pub dialect: &'static Host,
    pub event: &'static str,
    /// The matcher: how to read it, its subject, and its text.
    pub matcher: Option<(Matching, MatcherSubject, String)>,
    /// A further condition, as a permission rule.
    pub condition: Option<String>,
}

#[derive(Debug, Clone)]
pub struct HostMatch {
    dialect: &'static Host,
    event: &'static str,
    names: Option<(Names, MatcherSubject)>,
    condition: Option<PermissionRule>,
}

/// A matcher: a list of names or an expression.
#[derive(Debug, Clone)]
struct Names {
    written: String,
    form: NameForm,
}

#[derive(Debug, Clone)]
enum NameForm {
    List(Vec<String>),
    Expression(Regex),
}

/// A permission rule: `Bash(git *)`.
#[derive(Debug, Clone)]
struct PermissionRule {
    written: String,
    tool: String,
    of: Of,
}

#[derive(Debug, Clone)]
enum Of {
    All,
    /// The form of a command line, or of a command in it.
    Command(CommandForm),
    Path(PathMatch),
    /// A text that the input contains.
    Text(String),
}

impl HostMatch {
    /// Compiles a hook's matcher and condition.
    ///
    /// # Errors
    /// If the matcher is not a valid expression, or the condition not a permission rule.
    pub fn read(wanted: &WantedEvents) -> Result<HostMatch, Complaint> {
        let mut own = HostMatch {
            dialect: wanted.dialect,
            event: wanted.event,
            names: None,
            condition: None,
        };
        if let Some((matching, subject, written)) = &wanted.matcher {
            let names = Names::read(*matching, *subject, written).map_err(|error| {
                let cause =
                    format!("`{written}` is not a valid pattern: {error}; it would never match");
                let cure = "write names separated by `|`, or a regular expression without \
                            look-around";
                Complaint::with_cure(cause, cure)
            })?;
            own.names = names.map(|names| (names, *subject));
        }
        if let Some(written) = &wanted.condition {
            own.condition = Some(PermissionRule::read(written).map_err(|error| {
                let cause = format!("`{written}` is not a permission rule: {error}");
                let cure = "write `Bash(git *)`, `Edit(src/**)` or a tool's name";
                Complaint::with_cure(cause, cure)
            })?);
        }
        Ok(own)
    }

    /// If a host has several events for one moment, each calls only its own hooks.
    fn is_meant(&self, event: &Event) -> Result<(), Mismatch> {
        if event.host() != self.dialect.name {
            return Ok(());
        }
        let key = format!("raw.{}", self.dialect.names_event_by);
        let Some(found) = event.context().text(&key) else {
            return Ok(());
        };
        let rows = self.dialect.events.iter();
        let mut own = rows.filter(|row| row.name == self.event);
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
                MatcherSubject::Command => {
                    let command = event.action().and_then(|action| action.command.clone());
                    command.into_iter().collect()
                }
                MatcherSubject::Fact(key) => event.context().text(key).into_iter().collect(),
            };
            let is_unknown = found.is_empty() && event.spec().blocks;
            let is_of_some_server = *subject == MatcherSubject::Tool
                && may_name_server(&names.written)
                && self.dialect.is_of_unknown_server(event);
            if !is_unknown && !is_of_some_server && !found.iter().any(|name| names.fit(name)) {
                let about = subject.about();
                return Err(Mismatch::of_host(&about, &names.to_string(), found));
            }
        }
        match &self.condition {
            Some(condition) => condition.decide(self.dialect, event, place),
            None => Ok(()),
        }
    }

    /// Whether one of these names fits the matcher; also if it does not match tools.
    fn takes_tool(&self, names: &[&str]) -> bool {
        match &self.names {
            Some((own, MatcherSubject::Tool)) => names.iter().any(|name| own.fit(name)),
            Some((_, MatcherSubject::Command | MatcherSubject::Fact(_))) | None => true,
        }
    }

    fn needs_paths(&self) -> bool {
        let condition = self.condition.as_ref();
        condition.is_some_and(|condition| matches!(condition.of, Of::Path(_)))
    }

    fn needs_action(&self) -> bool {
        match &self.names {
            Some((_, MatcherSubject::Tool | MatcherSubject::Command)) => true,
            Some((_, MatcherSubject::Fact(_))) | None => self.condition.is_some(),
        }
    }
}

impl std::fmt::Display for HostMatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if let Some((names, subject)) = &self.names {
            parts.push(format!("{} {names}", subject.about()));
        }
        let conditions = self.condition.iter();
        parts.extend(conditions.map(|condition| format!("if {}", condition.written)));
        if parts.is_empty() {
            return f.write_str(self.event);
        }
        f.write_str(&parts.join(", "))
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
    /// Returns `None` if everything matches.
    fn read(
        matching: Matching,
        subject: MatcherSubject,
        written: &str,
    ) -> Result<Option<Names>, Complaint> {
        if matches!(written, "" | "*") {
            return Ok(None);
        }
        let is_list = matching.list.is_some_and(|marks| {
            let mut letters = written.chars();
            letters.all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
        });
        let is_about_fact = matches!(subject, MatcherSubject::Fact(_));
        let form = if is_list {
            let names = written.split(matching.divides).map(str::trim);
            let names = names.filter(|name| !name.is_empty());
            NameForm::List(names.map(str::to_string).collect())
        } else if matching.is_plain && (is_about_fact || expression(written).is_err()) {
            NameForm::List(vec![written.to_string()])
        } else if matching.is_anchored {
            NameForm::Expression(expression(&format!("^(?:{written})$"))?)
        } else {
            NameForm::Expression(expression(written)?)
        };
        Ok(Some(Names {
            written: written.to_string(),
            form,
        }))
    }

    fn fit(&self, found: &str) -> bool {
        match &self.form {
            NameForm::List(names) => names.iter().any(|name| name == found),
            NameForm::Expression(form) => form.is_match(found),
        }
    }
}

/// Whether a matcher may name an MCP tool; `Ba.*` may not, although a server could match.
fn may_name_server(written: &str) -> bool {
    written.contains("mcp") || written.trim_start_matches('^').starts_with(".*")
}

impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.form {
            NameForm::List(_) => f.write_str(&self.written),
            NameForm::Expression(_) => write!(f, "/{}/", self.written),
        }
    }
}

impl PermissionRule {
    fn read(written: &str) -> Result<PermissionRule, Complaint> {
        let (tool, inner) = match written.trim().split_once('(') {
            None => (written.trim(), None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(inner) => (tool.trim(), Some(inner.trim())),
                None => return Err(Complaint::new("its parenthesis is not closed")),
            },
        };
        let mut letters = tool.chars();
        let is_name = letters.all(|c| c.is_ascii_alphanumeric() || "_-*".contains(c));
        if tool.is_empty() || !is_name {
            return Err(Complaint::new("it does not begin with the name of a tool"));
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
        let is_called = names.iter().any(|name| match self.tool.split_once('*') {
            Some((start, _)) => name.starts_with(start),
            None => *name == self.tool,
        });
        let may_be_called = may_name_server(&self.tool) && dialect.is_of_unknown_server(event);
        if !is_called && !may_be_called {
            return self.mismatch(names);
        }
        let action = event.action();
        match &self.of {
            Of::All => Ok(()),
            // The affected paths are unknown.
            Of::Path(_) if action.is_none_or(|action| action.paths.is_empty()) => Ok(()),
            Of::Path(form) => decide_paths(std::slice::from_ref(form), event, place),
            Of::Command(form) => {
                let Some(action) = action else { return Ok(()) };
                match action.command.as_deref() {
                    Some(command) if !form.fits(command, &action.line, event.spec().blocks) => {
                        self.mismatch(vec![shortened(command)])
                    }
                    Some(_) | None => Ok(()),
                }
            }
            Of::Text(text) => match event.context().text("toolInput") {
                Some(input) if !input.contains(text) => self.mismatch(vec![input]),
                Some(_) | None => Ok(()),
            },
        }
    }

    fn mismatch(&self, found: Vec<String>) -> Result<(), Mismatch> {
        Err(Mismatch::of_host("if", &self.written, found))
    }
}

impl Of {
    fn read(tool: &str, inner: &str) -> Result<Of, Complaint> {
        match tool {
            "Bash" | "PowerShell" => CommandForm::read(inner).map(Of::Command),
            "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "Glob" | "Grep" => {
                // The home folder is unknown here, so only the relative path counts.
                let path = match inner.strip_prefix("~/") {
                    Some(below) => format!("**/{below}"),
                    // A single slash is the project's root, two are that of the file system.
                    None => inner.strip_prefix('/').unwrap_or(inner).to_string(),
                };
                PathMatch::read(&path).map(Of::Path)
            }
            "WebFetch" => {
                let text = inner.trim_start_matches("domain:").replace('*', "");
                Ok(Of::Text(text))
            }
            _ => {
                let problem = format!("the part in parentheses has no meaning for `{tool}`");
                Err(Complaint::new(problem))
            }
        }
    }
}

/// The command form of a permission rule: `git *`. Running a guard too often is safer.
#[derive(Debug, Clone)]
struct CommandForm {
    form: Regex,
    /// For a form with shell operators: it matches anywhere in a line.
    within: Option<Regex>,
    /// The same form by words, with global options allowed in between.
    runs: Option<RunsForm>,
}

impl CommandForm {
    /// `*` is any text; a final ` *` or `:*` also matches nothing.
    fn read(rule: &str) -> Result<CommandForm, Complaint> {
        let start = rule.strip_suffix(":*").or_else(|| rule.strip_suffix(" *"));
        let end = if start.is_some() { r"(?:\s.*)?" } else { "" };
        let start = start.unwrap_or(rule);
        let parts: Vec<String> = start.split('*').map(regex::escape).collect();
        let parts = parts.join(".*");
        let is_of_line = rule.contains(['&', '|', ';', '<', '>', '\n']);
        let within = is_of_line.then(|| expression_of(&format!("(?s){parts}")));
        Ok(CommandForm {
            form: expression_of(&format!("(?s)^{parts}{end}$"))?,
            within: within.transpose()?,
            runs: words_of(start).filter(|_| !is_of_line),
        })
    }

    /// Whether a command line, or a command in it, has this form; on a gate, whether it may have.
    fn fits(&self, text: &str, line: &CommandLine, is_gate: bool) -> bool {
        if self.form.is_match(text.trim()) {
            return true;
        }
        let is_within = self.within.as_ref().is_some_and(|form| form.is_match(text));
        if is_gate && (line.doubt.is_some() || is_within) {
            return true;
        }
        let wrappers = line.wrappers();
        let mut commands = line.commands.iter().chain(&wrappers);
        let runs = self.runs.as_ref();
        commands.any(|one| self.fits_command(one))
            || runs.is_some_and(|runs| runs.find(line, is_gate, &|_| false).is_some())
    }

    /// Whether a command has this form as written or unquoted, with or without its assignments.
    fn fits_command(&self, command: &ShellCommand) -> bool {
        let words = std::iter::once(&command.program).chain(&command.args);
        let unquoted: Vec<&str> = words.map(|word| word.shown()).collect();
        let mut given = String::new();
        for one in &command.assigns {
            let value = one.value.as_deref().unwrap_or_default();
            given.push_str(&format!("{}={value} ", one.name));
        }
        let texts = [written(command), unquoted.join(" ")];
        let mut texts = texts.iter();
        texts.any(|text| self.form.is_match(text) || self.form.is_match(&format!("{given}{text}")))
    }
}

/// The words of a form; `*` as a word matches any number of words.
fn words_of(start: &str) -> Option<RunsForm> {
    let mut words: Vec<&str> = start.split_whitespace().collect();
    for word in words.iter_mut().skip(1) {
        if *word == "*" {
            *word = "**";
        }
    }
    RunsForm::read(&words.join(" ")).ok()
}

fn expression_of(form: &str) -> Result<Regex, Complaint> {
    Regex::new(form).map_err(expression_error)
}
