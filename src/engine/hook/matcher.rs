//! Matchers for tool, path, command and fields; all of them must match. Pure.

pub mod kind;
mod path;
pub(crate) mod row;
mod runs;
mod tool;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::engine::complaint::Complaint;
use crate::engine::event::{Access, ActionKind, Event};
use crate::engine::names::names;
use crate::engine::shell::{CommandLine, ShellCommand};
use kind::WantedType;
use path::PathQuery;
pub use path::check_path;
pub(crate) use path::{FoundPath, named_path, tidy};
pub use path::{PathMatch, decide_paths};
pub use row::{Condition, Mismatch, PathBase, check_expression};
use row::{EXCEPT, OF_HOST, no_backspace, of_field};
pub(crate) use row::{expression, expression_error, shortened};
pub(crate) use runs::{RunsForm, RunsMatch, written};
pub use tool::check_tool;
use tool::{ToolMatch, ToolWord};

/// Selects the events that a hook runs for. The default matches all.
#[derive(Debug, Clone, Default)]
pub struct Matcher {
    tool: Option<ToolMatch>,
    paths: Vec<PathMatch>,
    not: Vec<PathMatch>,
    types: Vec<WantedType>,
    command: Option<Regex>,
    runs: Vec<RunsForm>,
    fields: Vec<FieldMatch>,
    condition: Option<Arc<dyn Condition>>,
    except: Option<Box<Matcher>>,
    access: Option<Access>,
    pub(crate) doubt: Option<OnDoubt>,
}

/// The meaning of uncertainty at a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDoubt {
    Block,
    Ask,
    /// As if it did not match.
    Allow,
}

names! { OnDoubt: Block "block", Ask "ask", Allow "allow" }

#[derive(Debug, Clone)]
struct FieldMatch {
    field: String,
    form: Regex,
}

impl Matcher {
    /// Adds a tool matcher with alternatives separated by `|`. A kind or known tool (`bash`,
    /// `Write`, `shell`) matches all such tools in all hosts; `*`, `?` and `[…]` make a glob over
    /// the host's name. Ignores case.
    ///
    /// # Errors
    /// If an alternative is empty or its glob is invalid.
    pub fn tool(mut self, written: &str) -> Result<Matcher, Complaint> {
        self.tool = Some(ToolMatch::read(written)?);
        Ok(self)
    }

    /// Adds a path glob. Without a slash (`.env`, `*.pem`, `node_modules`) it matches any component
    /// of a path below the project, or of an absolute path elsewhere; with a slash, the path
    /// relative to the working directory or project; with a leading slash, the absolute path. `*`
    /// stays within a component, `**` does not; a final slash matches everything below.
    ///
    /// # Errors
    /// If the glob is invalid.
    pub fn path(mut self, written: &str) -> Result<Matcher, Complaint> {
        self.paths.push(PathMatch::read(written)?);
        Ok(self)
    }

    /// Excludes paths that match a glob, as in [`Matcher::path`]. Fails if the glob is invalid.
    #[doc(hidden)]
    pub fn not(mut self, written: &str) -> Result<Matcher, Complaint> {
        self.not.push(PathMatch::read(written)?);
        Ok(self)
    }

    /// Adds a file type; any of several suffices. Fails if the type is unknown.
    #[doc(hidden)]
    pub fn file_type(mut self, written: &str) -> Result<Matcher, Complaint> {
        self.types.push(WantedType::read(written)?);
        Ok(self)
    }

    /// Returns the absolute paths of the event's matching files, after a commit or push, or
    /// existing ones of a tool.
    pub(crate) fn files(&self, event: &Event, place: &PathBase) -> Vec<PathBuf> {
        let query = self.path_query(None, event);
        let mut files = event.files(&place.cwd);
        files.retain(|file| query.fits_file(file, place, event));
        files
    }

    pub(crate) fn needs_types(&self) -> bool {
        !self.types.is_empty()
    }

    /// Sets the required access to the paths; the default is any.
    #[must_use]
    pub fn access(mut self, access: Access) -> Matcher {
        self.access = Some(access);
        self
    }

    /// Sets the meaning of uncertainty; the default is a match.
    #[must_use]
    pub fn doubt(mut self, doubt: OnDoubt) -> Matcher {
        self.doubt = Some(doubt);
        self
    }

    /// Adds a regular expression for the command line: as written, with continued lines joined, and
    /// for each command in it. `^` and `$` match at line boundaries.
    ///
    /// # Errors
    /// If the expression is invalid.
    pub fn command(mut self, written: &str) -> Result<Matcher, Complaint> {
        no_backspace(written)?;
        let form = RegexBuilder::new(written).multi_line(true).build();
        self.command = Some(form.map_err(expression_error)?);
        Ok(self)
    }

    /// Adds a command pattern: the program's base name, then operands in order, with options
    /// anywhere. `git push --force|-f` matches `sudo git -C x push origin main -fu`. Any of several
    /// patterns suffices. At a gate, an unreadable command line matches.
    ///
    /// # Errors
    /// If it has no program or an empty alternative.
    pub fn runs(mut self, written: &str) -> Result<Matcher, Complaint> {
        self.runs.push(RunsForm::read(written)?);
        Ok(self)
    }

    /// Adds a regular expression for the field at a dotted path of the context: a string's text, or
    /// other values as compact JSON.
    ///
    /// # Errors
    /// If the expression is invalid.
    pub fn field(mut self, field: &str, written: &str) -> Result<Matcher, Complaint> {
        self.fields.push(FieldMatch {
            field: field.to_string(),
            form: expression(written)?,
        });
        Ok(self)
    }

    #[must_use]
    #[doc(hidden)]
    pub fn condition(mut self, condition: impl Condition + 'static) -> Matcher {
        self.condition = Some(Arc::new(condition));
        self
    }

    /// Adds an exception: events that `except` certainly matches are excluded. All commands and
    /// paths of an event must be covered.
    #[must_use]
    #[doc(hidden)]
    pub fn except(mut self, except: Matcher) -> Matcher {
        self.except = Some(Box::new(except));
        self
    }

    /// Returns true if it needs an action, which only tools and changes have.
    #[doc(hidden)]
    pub fn needs_action(&self) -> bool {
        let condition = self.condition.as_ref();
        let of_host = condition.is_some_and(|one| one.needs_action());
        of_host || self.tool.is_some() || self.looks_at_paths() || self.needs_command()
    }

    /// Returns its `match` keys, as in [`Mismatch::key`].
    pub fn keys(&self) -> Vec<String> {
        let all = [
            (self.tool.is_some(), "tool"),
            (!self.paths.is_empty(), "path"),
            (!self.not.is_empty(), "not"),
            (!self.types.is_empty(), "type"),
            // Part of `path`, if there is one.
            (self.access.is_some() && self.paths.is_empty(), "access"),
            (self.command.is_some(), "command"),
            (!self.runs.is_empty(), "runs"),
            (self.condition.is_some(), OF_HOST),
            (self.except.is_some(), EXCEPT),
        ];
        let set = all.iter().filter(|(is_set, _)| *is_set);
        set.map(|(_, key)| key.to_string())
            .chain(self.fields.iter().map(|wanted| of_field(&wanted.field)))
            .collect()
    }

    #[doc(hidden)]
    pub fn tools(&self) -> Option<&str> {
        self.tool.as_ref().map(|tool| tool.written.as_str())
    }

    pub(crate) fn needs_paths(&self) -> bool {
        self.looks_at_paths()
            || self.condition.as_ref().is_some_and(|one| one.needs_paths())
            || self.except.as_ref().is_some_and(|one| one.needs_paths())
    }

    fn looks_at_paths(&self) -> bool {
        !self.paths.is_empty()
            || !self.not.is_empty()
            || !self.types.is_empty()
            || self.access.is_some()
    }

    /// Returns true if it needs a command line, which only tools have.
    #[doc(hidden)]
    pub fn needs_command(&self) -> bool {
        self.command.is_some() || !self.runs.is_empty()
    }

    /// Returns why it hardly ever matches, and an alternative.
    #[doc(hidden)]
    pub fn never_meets(&self) -> Option<(&'static str, &'static str)> {
        let tool = self.tool.as_ref()?;
        let mut words = tool.alternatives.iter();
        let never = self.needs_command()
            && words
                .all(|word| matches!(word, ToolWord::Class(kind) if *kind != ActionKind::Shell));
        never.then_some((
            "matches command lines, but the tools that it matches have none, so it never runs",
            "match the tool `bash`, or remove `command` and `runs`",
        ))
    }

    /// Returns literal tool names: neither kinds nor globs.
    #[doc(hidden)]
    pub fn literal_tools(&self) -> impl Iterator<Item = &str> {
        self.tool
            .iter()
            .flat_map(|tool| &tool.alternatives)
            .filter_map(|word| match word {
                ToolWord::Name(name) => Some(name.as_str()),
                ToolWord::Class(_) | ToolWord::Form(_) => None,
            })
    }

    #[doc(hidden)]
    pub fn takes_tool(&self, names: &[&str]) -> bool {
        let own = self.tool.as_ref();
        let of_host = self.condition.as_ref();
        own.is_none_or(|tool| names.iter().any(|name| tool.takes_name(name)))
            && of_host.is_none_or(|condition| condition.takes_tool(names))
    }

    /// Decides whether the hook wants `event`.
    ///
    /// # Errors
    /// Returns the first mismatch.
    pub fn decide(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch> {
        self.decide_alone(event, place)?;
        match &self.except {
            Some(except) if self.is_lifted(except, event, place) => {
                Err(Mismatch::of(EXCEPT, "exception", except.to_string(), None))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn decide_alone(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch> {
        if let Some(tool) = &self.tool {
            tool.decide(event)?;
        }
        if !self.runs.is_empty() && self.find(event, None).is_none() {
            let found = event.action().and_then(|action| action.command.as_deref());
            let wanted: Vec<&str> = self.runs.iter().map(|form| form.written.as_str()).collect();
            let found = found.map(shortened);
            let wanted = wanted.join("` or `");
            return Err(Mismatch::of("runs", "command", wanted, found));
        }
        if self.looks_at_paths() {
            self.path_query(None, event).decide(event, place)?;
        }
        if let Some(form) = &self.command {
            let command = event.action().and_then(|action| action.command.as_deref());
            let line = event.action().map(|action| &action.line);
            let mut simple = line.iter().flat_map(|line| &line.commands);
            let is_meant = command.is_some_and(|text| fits_command(form, text))
                || simple
                    .any(|one| form.is_match(&written(one)) || form.is_match(&runs::whole(one)));
            if !is_meant && !may_run(form, event) {
                let found = command.map(shortened);
                return Err(Mismatch::of("command", "command", form.to_string(), found));
            }
        }
        if let Some(condition) = &self.condition {
            condition.decide(event, place)?;
        }
        self.fields
            .iter()
            .try_for_each(|wanted| wanted.decide(event))
    }
}

impl Matcher {
    /// Returns the command that `runs` matches, preferably with certainty. At a gate, also a
    /// possible match, or text of an unknown key that the tool may run.
    pub(crate) fn find_command(&self, event: &Event, place: &PathBase) -> Option<RunsMatch> {
        let except = self.except.as_deref().filter(|except| {
            except.needs_command() && except.lifts_tool_and_paths(self, event, place)
        });
        self.find(event, except)
    }

    /// Returns the path that a glob matches, or the first path without globs.
    pub(crate) fn find_path(&self, event: &Event, place: &PathBase) -> Option<FoundPath> {
        self.path_query(self.except.as_deref(), event)
            .find(event, place)
    }

    /// Builds the path query. If the matcher is about commands, only their paths count.
    fn path_query<'m>(&'m self, except: Option<&'m Matcher>, event: &Event) -> PathQuery<'m> {
        let of_except = except.filter(|except| except.needs_command() && except.paths.is_empty());
        let is_meant = |one: &ShellCommand| {
            (self.runs.is_empty() || self.runs.iter().any(|form| form.may_meet(one)))
                && !of_except.is_some_and(|except| except.takes_command(one))
        };
        let is_about_all = self.runs.is_empty() && of_except.is_none();
        let commands = event.action().filter(|_| !is_about_all).map(|action| {
            let all = action.line.commands.iter().enumerate();
            let meant = all.filter(|(_, one)| is_meant(one));
            meant.map(|(number, _)| number).collect()
        });
        PathQuery {
            wanted: &self.paths,
            except: except.map_or(&[], |except| &except.paths),
            not: &self.not,
            types: &self.types,
            access: self.access,
            commands,
            is_sure: self.doubt == Some(OnDoubt::Allow),
        }
    }

    fn find(&self, event: &Event, except: Option<&Matcher>) -> Option<RunsMatch> {
        let action = event.action()?;
        let is_gate = event.spec().blocks && self.doubt != Some(OnDoubt::Allow);
        let found = self.find_in(&action.line, is_gate, except);
        found.or_else(|| {
            let mut guesses = event.guessed_commands().iter();
            guesses.find_map(|guess| self.find_in(&guess.line, false, except))
        })
    }

    fn find_in(
        &self,
        line: &CommandLine,
        in_doubt: bool,
        except: Option<&Matcher>,
    ) -> Option<RunsMatch> {
        let is_left_out =
            |one: &ShellCommand| except.is_some_and(|except| except.takes_command(one));
        let forms = self.runs.iter();
        let found = forms.filter_map(|form| form.find(line, in_doubt, &is_left_out));
        found.min_by_key(|found| found.doubt.is_some())
    }

    /// Returns true if `except` covers everything that this matcher accepts in `event`.
    fn is_lifted(&self, except: &Matcher, event: &Event, place: &PathBase) -> bool {
        if !except.lifts_tool_and_paths(self, event, place) {
            return false;
        }
        match event.action().map(|action| &action.line) {
            _ if !except.needs_command() => true,
            // Each path belongs to an excepted command.
            Some(line) if self.looks_at_paths() && except.paths.is_empty() => {
                let query = self.path_query(Some(except), event);
                line.doubt.is_none() && query.find(event, place).is_none()
            }
            Some(_) if !self.runs.is_empty() => self.find(event, Some(except)).is_none(),
            Some(line) => {
                let mut commands = line.commands.iter();
                line.doubt.is_none()
                    && !line.commands.is_empty()
                    && commands.all(|command| except.takes_command(command))
            }
            None => false,
        }
    }

    /// Returns true if this exception covers `own`, apart from commands.
    fn lifts_tool_and_paths(&self, own: &Matcher, event: &Event, place: &PathBase) -> bool {
        let mut fields = self.fields.iter();
        if self.tool.iter().any(|tool| tool.decide(event).is_err())
            || fields.any(|wanted| wanted.decide(event).is_err())
        {
            return false;
        }
        if self.paths.is_empty() {
            return true;
        }
        let has_paths = event
            .action()
            .is_some_and(|action| !action.paths.is_empty() || !action.effects.is_empty());
        let query = own.path_query(Some(self), event);
        has_paths && query.find(event, place).is_none()
    }

    /// Returns true if this exception certainly matches a command.
    fn takes_command(&self, command: &ShellCommand) -> bool {
        let form = self.command.as_ref();
        (self.runs.is_empty() || self.runs.iter().any(|form| form.meets(command)))
            && form.is_none_or(|form| form.is_match(&written(command)))
    }
}

impl FieldMatch {
    fn decide(&self, event: &Event) -> Result<(), Mismatch> {
        let text = event.context().text(&self.field);
        if text.as_deref().is_some_and(|text| self.form.is_match(text)) {
            return Ok(());
        }
        let found = text.as_deref().map(shortened);
        let key = of_field(&self.field);
        let wanted = self.form.to_string();
        Err(Mismatch::of(&key, "value at that path", wanted, found))
    }
}

/// Matches a command line as written, or with continued lines joined.
fn fits_command(form: &Regex, text: &str) -> bool {
    form.is_match(text) || text.contains("\\\n") && form.is_match(&text.replace("\\\n", ""))
}

/// Returns true if a gate's shell may run matching text of an unknown key.
fn may_run(form: &Regex, event: &Event) -> bool {
    let mut others = event.guessed_commands().iter();
    others.any(|other| fits_command(form, &other.text))
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(tool) = &self.tool {
            parts.push(format!("tool {}", tool.written));
        }
        if !self.paths.is_empty() {
            parts.push(format!("path {}", path::written(&self.paths, " or ")));
        }
        if !self.not.is_empty() {
            parts.push(format!("not {}", path::written(&self.not, " or ")));
        }
        if !self.types.is_empty() {
            parts.push(format!("type {}", path::named(&self.types, " or ")));
        }
        if let Some(access) = self.access {
            parts.push(format!("access {}", access.name()));
        }
        if let Some(command) = &self.command {
            parts.push(format!("command /{command}/"));
        }
        if !self.runs.is_empty() {
            let forms: Vec<&str> = self.runs.iter().map(|form| &*form.written).collect();
            parts.push(format!("runs {}", forms.join(" or ")));
        }
        for field in &self.fields {
            parts.push(format!("{} /{}/", field.field, field.form));
        }
        parts.extend(self.condition.iter().map(ToString::to_string));
        parts.extend(self.except.iter().map(|except| format!("except {except}")));
        if parts.is_empty() {
            return f.write_str("every event");
        }
        f.write_str(&parts.join(", "))
    }
}
