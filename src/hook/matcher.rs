//! Does a hook want this event? Tool, path, command and field matchers; all that are given
//! must match. Pure.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use regex::{Regex, bytes};

use crate::event::{ActionKind, Event};

/// How deep alternatives may be nested in a glob: reading them, and what they become, recurses.
const MAX_GLOB_DEPTH: usize = 50;

/// Which events of its name a hook wants. The default wants all of them.
#[derive(Debug, Clone, Default)]
pub struct Matcher {
    tool: Option<ToolMatch>,
    paths: Vec<PathMatch>,
    command: Option<Regex>,
    fields: Vec<FieldMatch>,
}

/// Why a matcher cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct MatcherError {
    /// What is wrong, in the words of the library that reads the pattern.
    pub problem: String,
}

/// What relative paths are relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The event's working directory, or hookrun's.
    pub cwd: PathBuf,
    /// The project's root.
    pub project: PathBuf,
}

/// The matcher that did not match, and what it was held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// The event carries no tool, or another one.
    Tool { wanted: String, found: Option<String> },
    /// None of the paths match.
    Path { wanted: String, found: Vec<String> },
    /// The action has no command, or another one.
    Command { wanted: String, found: Option<String> },
    /// The field is missing, or says something else.
    Field { field: String, wanted: String, found: Option<String> },
}

#[derive(Debug, Clone)]
struct ToolMatch {
    written: String,
    alternatives: Vec<ToolWord>,
}

#[derive(Debug, Clone)]
enum ToolWord {
    /// Every tool of this sort, whatever a host calls it.
    Class(ActionKind),
    /// This one tool, in any case.
    Name(String),
    /// Tool names of this form.
    Form(Glob),
}

#[derive(Debug, Clone)]
struct PathMatch {
    written: String,
    glob: Glob,
    scope: PathScope,
}

/// A glob that is ready for use. globset's own matcher panics where the expression that it makes
/// is too large.
#[derive(Debug, Clone)]
struct Glob(bytes::Regex);

/// What a path glob is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathScope {
    /// Each component of the path: the glob has no slash.
    Component,
    /// The path relative to the working directory and to the project.
    Relative,
    /// The absolute path.
    Absolute,
}

#[derive(Debug, Clone)]
struct FieldMatch {
    field: String,
    form: Regex,
}

impl Matcher {
    /// Adds a tool matcher: alternatives divided by `|`. A word that names a sort of tool
    /// (`bash`, `Write`, `shell`) means every such tool in every host, compared without regard
    /// to case; `*`, `?` and `[…]` make a glob over the host's own name, also without regard to
    /// case.
    ///
    /// # Errors
    /// When an alternative is empty or its glob is not valid.
    pub fn tool(mut self, written: &str) -> Result<Matcher, MatcherError> {
        let mut alternatives = Vec::new();
        for word in written.split('|').map(str::trim) {
            alternatives.push(tool_word(word)?);
        }
        self.tool = Some(ToolMatch { written: written.to_string(), alternatives });
        Ok(self)
    }

    /// Adds a path glob. Without a slash it is compared with each component of a path below the
    /// project, or of the whole path elsewhere (`.env`, `*.pem`, `node_modules`); with one, with the path relative to the working
    /// directory and to the project; with a leading slash, with the absolute path. `*` stays
    /// within a component, `**` does not; a final slash means everything below.
    ///
    /// # Errors
    /// When the glob is not valid.
    pub fn path(mut self, written: &str) -> Result<Matcher, MatcherError> {
        check_path(written)?;
        let mut pattern = written.trim_start_matches("./").to_string();
        if pattern.len() > 1 && pattern.ends_with('/') {
            pattern.push_str("**");
        }
        let scope = match pattern.find('/') {
            None => PathScope::Component,
            Some(0) => PathScope::Absolute,
            Some(_) => PathScope::Relative,
        };
        let glob = Glob::new(&path_glob(&pattern)?)?;
        self.paths.push(PathMatch { written: written.to_string(), glob, scope });
        Ok(self)
    }

    /// Adds a regular expression for the command line; it need not cover the whole.
    ///
    /// # Errors
    /// When the expression is not valid.
    pub fn command(mut self, written: &str) -> Result<Matcher, MatcherError> {
        self.command = Some(expression(written)?);
        Ok(self)
    }

    /// Adds a regular expression for the field at a dotted path of the context, compared with
    /// strings as they are and with everything else as compact JSON.
    ///
    /// # Errors
    /// When the expression is not valid.
    pub fn field(mut self, field: &str, written: &str) -> Result<Matcher, MatcherError> {
        self.fields.push(FieldMatch { field: field.to_string(), form: expression(written)? });
        Ok(self)
    }

    /// Whether it looks at an action, which only tool events have.
    pub fn needs_action(&self) -> bool {
        self.tool.is_some() || !self.paths.is_empty() || self.command.is_some()
    }

    /// The words of the tool matcher that name no sort of tool and are no glob.
    pub fn literal_tools(&self) -> impl Iterator<Item = &str> {
        self.tool.iter().flat_map(|tool| &tool.alternatives).filter_map(|word| match word {
            ToolWord::Name(name) => Some(name.as_str()),
            ToolWord::Class(_) | ToolWord::Form(_) => None,
        })
    }

    /// Whether the hook wants `event`.
    ///
    /// # Errors
    /// The first matcher that does not match.
    pub fn decide(&self, event: &Event, place: &Place) -> Result<(), Mismatch> {
        if let Some(tool) = &self.tool {
            tool.decide(event)?;
        }
        if !self.paths.is_empty() {
            decide_paths(&self.paths, event, place)?;
        }
        if let Some(form) = &self.command {
            let command = event.action().and_then(|action| action.command.clone());
            if !command.as_deref().is_some_and(|text| form.is_match(text)) {
                return Err(Mismatch::Command { wanted: form.to_string(), found: command });
            }
        }
        for wanted in &self.fields {
            let text = event.context().text(&wanted.field);
            if !text.as_deref().is_some_and(|text| wanted.form.is_match(text)) {
                return Err(Mismatch::Field {
                    field: wanted.field.clone(),
                    wanted: wanted.form.to_string(),
                    found: text,
                });
            }
        }
        Ok(())
    }
}

impl ToolMatch {
    fn decide(&self, event: &Event) -> Result<(), Mismatch> {
        let name = event.context().string("toolName");
        let kind = event.action().map(|action| action.kind);
        let fits = self.alternatives.iter().any(|word| match word {
            ToolWord::Class(class) => kind == Some(*class) || class_fits_unknown(*class, event),
            ToolWord::Name(known) => name.as_deref().is_some_and(|n| n.eq_ignore_ascii_case(known)),
            ToolWord::Form(form) => name.as_deref().is_some_and(|name| form.is_match(name)),
        });
        if fits {
            return Ok(());
        }
        let found = name.or_else(|| kind.map(|kind| kind.word().to_string()));
        Err(Mismatch::Tool { wanted: self.written.clone(), found })
    }
}

/// Whether [`Matcher::tool`] would take `written`.
///
/// # Errors
/// As it.
pub fn check_tool(written: &str) -> Result<(), MatcherError> {
    written.split('|').map(str::trim).try_for_each(check_tool_word)
}

/// Whether a tool can be called that, or like that: mistakes would never match.
fn check_tool_word(word: &str) -> Result<(), MatcherError> {
    let problem = |problem: &str| Err(MatcherError { problem: problem.to_string() });
    if word.is_empty() {
        return problem("an alternative is empty");
    }
    if word.starts_with('.')
        || word.contains(|c: char| c.is_whitespace() || "^$(){}+,\\".contains(c))
    {
        return problem("no tool is called that; it is neither a list nor a regular expression");
    }
    tool_glob(word).map(drop)
}

/// Whether [`Matcher::path`] would take `written`.
///
/// # Errors
/// As it.
pub fn check_path(written: &str) -> Result<(), MatcherError> {
    let problem = |problem: &str| Err(MatcherError { problem: problem.to_string() });
    match written {
        "" => return problem("it is empty"),
        _ if written.trim() != written => return problem("spaces stand around it"),
        _ if written.starts_with('~') => {
            return problem("`~` is not expanded; write the whole path");
        }
        _ if written.starts_with('!') => return problem("a glob cannot be turned round"),
        _ if matches!(written.trim_start_matches("./"), "" | ".") => {
            return problem("it matches nothing");
        }
        _ if written
            .trim_start_matches("./")
            .split('/')
            .any(|part| part == ".." || part == ".") =>
        {
            return problem("paths are compared without `.` and `..`");
        }
        _ if written.contains("//") => return problem("two slashes stand together"),
        _ if written.contains('|') => {
            return problem("alternatives are written {a,b}, or as a list");
        }
        _ => {}
    }
    path_glob(written).map(drop)
}

/// Whether [`Matcher::command`] and [`Matcher::field`] would take `written`, except for its
/// size: whether an expression becomes too large shows only when it is made ready.
///
/// # Errors
/// As they.
pub fn check_expression(written: &str) -> Result<(), MatcherError> {
    regex_syntax::parse(written).map(drop).map_err(|error| expression_error(&error.to_string()))
}

fn tool_glob(word: &str) -> Result<globset::Glob, MatcherError> {
    read_glob(word, GlobBuilder::new(word).case_insensitive(true))
}

fn path_glob(written: &str) -> Result<globset::Glob, MatcherError> {
    read_glob(written, GlobBuilder::new(written).literal_separator(true))
}

fn read_glob(written: &str, builder: &GlobBuilder<'_>) -> Result<globset::Glob, MatcherError> {
    let mut depth = 0_usize;
    for c in written.chars() {
        match c {
            '{' if depth == MAX_GLOB_DEPTH => {
                let problem = format!("it has braces deeper than {MAX_GLOB_DEPTH} levels");
                return Err(MatcherError { problem });
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    builder.build().map_err(|error| MatcherError { problem: error.to_string() })
}

/// A tool that nobody knows counts as a shell when it is given a command line.
fn class_fits_unknown(class: ActionKind, event: &Event) -> bool {
    let unknown = |kind: ActionKind| matches!(kind, ActionKind::Other | ActionKind::Mcp);
    class == ActionKind::Shell
        && event.action().is_some_and(|action| unknown(action.kind) && action.command.is_some())
}

fn tool_word(word: &str) -> Result<ToolWord, MatcherError> {
    check_tool_word(word)?;
    if word.contains(['*', '?', '[']) {
        return Ok(ToolWord::Form(Glob::new(&tool_glob(word)?)?));
    }
    if let Some(kind) = ActionKind::from_word(word) {
        return Ok(ToolWord::Class(kind));
    }
    let kind = ActionKind::of_tool(word);
    let is_own = matches!(kind, ActionKind::Other | ActionKind::Mcp);
    Ok(if is_own { ToolWord::Name(word.to_string()) } else { ToolWord::Class(kind) })
}

impl Glob {
    /// # Errors
    /// When it is too large.
    fn new(glob: &globset::Glob) -> Result<Glob, MatcherError> {
        let form = bytes::RegexBuilder::new(glob.regex()).dot_matches_new_line(true).build();
        form.map(Glob).map_err(|error| expression_error(&error.to_string()))
    }

    fn is_match(&self, text: impl AsRef<OsStr>) -> bool {
        self.0.is_match(text.as_ref().as_bytes())
    }
}

fn expression(written: &str) -> Result<Regex, MatcherError> {
    Regex::new(written).map_err(|error| expression_error(&error.to_string()))
}

/// The last line of the library's picture of the mistake.
fn expression_error(picture: &str) -> MatcherError {
    let problem = picture.lines().last().unwrap_or_default().trim_start_matches("error: ");
    MatcherError { problem: problem.to_string() }
}

fn decide_paths(wanted: &[PathMatch], event: &Event, place: &Place) -> Result<(), Mismatch> {
    let found = event.action().map(|action| action.paths.clone()).unwrap_or_default();
    for path in &found {
        let absolute = tidy(&place.cwd.join(path));
        if wanted.iter().any(|one| one.fits(&absolute, place)) {
            return Ok(());
        }
    }
    let written: Vec<&str> = wanted.iter().map(|one| one.written.as_str()).collect();
    Err(Mismatch::Path { wanted: written.join(", "), found })
}

impl PathMatch {
    fn fits(&self, absolute: &Path, place: &Place) -> bool {
        match self.scope {
            PathScope::Component => {
                // What stands above the project is not the tool's choice.
                let inside = [&place.project, &place.cwd]
                    .iter()
                    .find_map(|base| absolute.strip_prefix(base).ok())
                    .unwrap_or(absolute);
                inside.components().any(|part| self.glob.is_match(part.as_os_str()))
            }
            PathScope::Absolute => self.glob.is_match(absolute),
            PathScope::Relative => [&place.cwd, &place.project]
                .iter()
                .filter_map(|base| absolute.strip_prefix(base).ok())
                .any(|relative| self.glob.is_match(relative)),
        }
    }
}

/// A path without `.` and `..`, so that `src/../.env` cannot hide from a glob. Links are not
/// followed: matching does no I/O.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => tidy.push(part),
        }
    }
    tidy
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(tool) = &self.tool {
            parts.push(format!("tool {}", tool.written));
        }
        for path in &self.paths {
            parts.push(format!("path {}", path.written));
        }
        if let Some(command) = &self.command {
            parts.push(format!("command /{command}/"));
        }
        for field in &self.fields {
            parts.push(format!("{} /{}/", field.field, field.form));
        }
        if parts.is_empty() { f.write_str("every event") } else { f.write_str(&parts.join(", ")) }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_none = |found: &Option<String>| match found {
            Some(text) => format!("is `{text}`"),
            None => "has none".to_string(),
        };
        match self {
            Mismatch::Tool { wanted, found } => {
                write!(f, "it wants tool `{wanted}`; this event {}", or_none(found))
            }
            Mismatch::Path { wanted, found } if found.is_empty() => {
                write!(f, "it wants path `{wanted}`; this event names none")
            }
            Mismatch::Path { wanted, found } => {
                write!(f, "it wants path `{wanted}`; this event names `{}`", found.join("`, `"))
            }
            Mismatch::Command { wanted, found } => {
                write!(f, "it wants command /{wanted}/; this event's {}", or_none(found))
            }
            Mismatch::Field { field, wanted, found } => {
                write!(f, "it wants `{field}` /{wanted}/; this event's {}", or_none(found))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Context, catalog::Catalog};

    fn event(context: &str) -> Event {
        let spec = Catalog::default().find("tool.pre").unwrap();
        Event::new(spec, "native", Context::parse(context).unwrap()).unwrap()
    }

    fn wants(matcher: &Matcher, context: &str) -> bool {
        let place = Place { cwd: "/repo/sub".into(), project: "/repo".into() };
        matcher.decide(&event(context), &place).is_ok()
    }

    #[test]
    fn a_tool_word_means_that_sort_of_tool_in_every_host() {
        let matcher = Matcher::default().tool("bash|Write").unwrap();
        for name in ["Bash", "run_shell_command", "Shell", "write_file", "create"] {
            assert!(wants(&matcher, &format!(r#"{{"toolName":"{name}"}}"#)), "{name}");
        }
        assert!(!wants(&matcher, r#"{"toolName":"Read"}"#));
        assert!(!wants(&matcher, "{}"));
    }

    #[test]
    fn a_tool_of_its_own_is_matched_by_name_or_glob() {
        let matcher = Matcher::default().tool("deploy|mcp__git*").unwrap();
        assert!(wants(&matcher, r#"{"toolName":"Deploy"}"#));
        assert!(wants(&matcher, r#"{"toolName":"mcp__github__push"}"#));
        assert!(wants(&matcher, r#"{"toolName":"MCP__GitHub__push"}"#));
        assert!(!wants(&matcher, r#"{"toolName":"mcp__slack__post"}"#));
    }

    #[test]
    fn a_path_cannot_hide_from_a_glob() {
        let write =
            |path: &str| format!(r#"{{"toolName":"write","toolInput":{{"path":"{path}"}}}}"#);
        let env = Matcher::default().path(".env").unwrap();
        for path in [".env", "src/../.env", "/repo/.env", "./a/../../.env", "deep/.env/x"] {
            assert!(wants(&env, &write(path)), "{path}");
        }
        assert!(!wants(&env, &write(".env.example")));
        let repo = Matcher::default().path("repo").unwrap();
        assert!(!wants(&repo, &write("/repo/a")) && wants(&repo, &write("/other/repo/a")));
        let source = Matcher::default().path("src/**").unwrap();
        assert!(wants(&source, &write("/repo/src/a/b.rs")));
        assert!(wants(&source, &write("src/a.rs")));
        assert!(!wants(&source, &write("src/../lib/a.rs")));
        assert!(wants(&Matcher::default().path("/etc/").unwrap(), &write("/etc/a/b")));
    }

    #[test]
    fn a_glob_for_nothing_is_an_error() {
        for nothing in ["", ".", "./", "././", "./."] {
            assert!(Matcher::default().path(nothing).is_err(), "{nothing}");
        }
    }

    #[test]
    fn a_glob_that_is_too_large_is_an_error() {
        let nested = |depth: usize| format!("{}a,b{}", "{".repeat(depth), "}".repeat(depth));
        assert!(Matcher::default().path(&nested(MAX_GLOB_DEPTH)).is_ok());
        for depth in [MAX_GLOB_DEPTH + 1, 300, 100_000] {
            assert!(check_path(&nested(depth)).is_err() && check_tool(&nested(depth)).is_err());
            let error = Matcher::default().path(&nested(depth)).unwrap_err();
            assert_eq!(error.problem, "it has braces deeper than 50 levels");
        }
        let error = Matcher::default().path(&"?".repeat(300_000)).unwrap_err();
        assert!(error.problem.contains("size limit"), "{error}");
    }

    #[test]
    fn a_command_and_fields_are_searched() {
        let matcher =
            Matcher::default().command("rm .*-rf").unwrap().field("turnIndex", "^3$").unwrap();
        let context = |turn: u8| {
            format!(
                r#"{{"toolName":"Bash","turnIndex":{turn},"toolInput":{{"command":"sudo rm -rf /"}}}}"#
            )
        };
        assert!(wants(&matcher, &context(3)));
        assert!(!wants(&matcher, &context(4)));
        assert!(Matcher::default().command("(").is_err());
    }
}
