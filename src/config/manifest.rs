//! `hookrun.toml`: hooks that are not a file of their own, events of one's own, and the log.
//!
//! The document is walked as a tree with positions, so that every mistake in it is found at
//! once and each names its line.

mod event;
mod log;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::draft::{HookDraft, Pattern, SettingValue};
use super::keys::{
    self, EVENT_KEYS, HOOK_KEYS, KeyRow, KeyValue, LIMIT_KEYS, MATCH_KEYS, SANDBOX_KEYS, TOP_KEYS,
};
use super::loose::Loose;
use super::problem::{LineIndex, Position, Problem};
use super::words;
use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::engine::hook::Handler;
pub(super) use log::LogTable;

/// What a `hookrun.toml` says.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) hooks: Vec<HookTable>,
    /// What could still be read of hooks that have mistakes: it may have more of them.
    pub(super) rejected: Vec<Rejected>,
    pub(super) events: Vec<(EventSpec, Position)>,
    /// The names of events that are declared with a mistake: they are not unknown.
    pub(super) rejected_events: Vec<String>,
    /// Files of hooks that say their events themselves.
    pub(super) loose: Vec<Loose>,
    /// How long hooks of a dialect may run that do not say so themselves.
    pub(super) timeouts: Vec<(&'static str, Duration)>,
    /// What it says about the decision log.
    pub(super) log: LogTable,
}

/// A `[[hook]]` table.
#[derive(Debug)]
pub(super) struct HookTable {
    pub(super) name: String,
    /// The events as written, each with its place.
    pub(super) events: Vec<(String, Position)>,
    pub(super) handler: Handler,
    pub(super) draft: HookDraft,
    pub(super) at: Position,
    /// Relative paths in its command mean the folder of its file. In the settings of a host they
    /// mean what they mean there.
    pub(super) is_anchored: bool,
}

/// A `[[hook]]` table that is no hook.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) events: Vec<(String, Position)>,
    pub(super) draft: HookDraft,
}

type ManifestValue<'i> = Spanned<DeValue<'i>>;

/// Reads the text of `file`, and everything that is wrong with it.
pub(super) fn read(text: &str, file: &Path) -> (Manifest, Vec<Problem>) {
    let mut reader = ManifestReader {
        lines: LineIndex::of(text),
        file,
        problems: Vec::new(),
        first_lines: HashMap::new(),
        rejected_events: Vec::new(),
    };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        let cause = format!("not valid TOML: {}", error.message());
        // What a backslash in double quotes begins is no part of a regular expression.
        let is_escape = error.message().contains("escape");
        let cure = is_escape.then(|| "single quotes keep backslashes: 'rm\\s+-rf'".to_string());
        reader.fault(Complaint { cause, cure }, at);
    }
    let mut manifest = Manifest::default();
    let syntax_errors = reader.problems.len();
    for (key, value) in document.get_ref() {
        let Some(row) = reader.row(TOP_KEYS, key) else { continue };
        match (row.name, value.get_ref()) {
            ("hook", DeValue::Array(tables)) => {
                for table in tables.iter() {
                    match reader.hook(table) {
                        Ok(entry) => manifest.hooks.push(entry),
                        Err(rejected) => {
                            manifest.rejected.extend(rejected.map(|rejected| *rejected))
                        }
                    }
                }
            }
            ("event", DeValue::Table(tables)) => {
                for (name, table) in tables {
                    match dotted(name.get_ref(), table) {
                        Some(meant) => {
                            let cause = format!("`{meant}` in a table's head is two tables");
                            let cure = format!("write `[event.\"{meant}\"]`");
                            reader.fault(Complaint::with_cure(cause, cure), name.span().start);
                            reader.rejected_events.push(meant);
                        }
                        None => manifest.events.extend(reader.event(name, table)),
                    }
                }
            }
            ("log", _) => manifest.log = reader.log(value),
            ("hook", _) => reader.fault(
                Complaint::with_cure(
                    "`hook` is not a list of tables",
                    "write `[[hook]]` with two brackets",
                ),
                value.span().start,
            ),
            _ => reader.fault(
                Complaint::with_cure("`event` is not a table", "write `[event.\"deploy.pre\"]`"),
                value.span().start,
            ),
        }
    }
    if syntax_errors > 0 {
        // What was read after a syntax error is a guess, and so is what is wrong with it.
        reader.problems.truncate(syntax_errors);
        manifest.rejected.clear();
    }
    manifest.rejected_events = reader.rejected_events;
    (manifest, reader.problems)
}

struct ManifestReader<'r> {
    lines: LineIndex<'r>,
    file: &'r Path,
    problems: Vec<Problem>,
    /// Where each hook name stands first.
    first_lines: HashMap<String, usize>,
    /// Events that are declared with a mistake.
    rejected_events: Vec<String>,
}

impl ManifestReader<'_> {
    fn at(&self, offset: usize) -> Position {
        self.lines.position(offset)
    }

    fn fault(&mut self, fault: Complaint, offset: usize) {
        let problem = fault.in_file(self.file, Some(self.at(offset)));
        self.problems.push(problem);
    }

    /// The row of a key; an unknown key is a problem.
    fn row<'t>(&mut self, rows: &'t [KeyRow], key: &Spanned<Cow<'_, str>>) -> Option<&'t KeyRow> {
        let name = key.get_ref().as_ref();
        let found = rows.iter().find(|row| row.name == name);
        if found.is_none() {
            self.fault(keys::unknown(rows, name, group_of(name)), key.span().start);
        }
        found
    }

    fn table<'v, 'i>(
        &mut self,
        value: &'v ManifestValue<'i>,
        what: &str,
    ) -> Option<&'v DeTable<'i>> {
        let found = value.get_ref().as_table();
        if found.is_none() {
            let cause = format!("{what} is not a table");
            let key = what.trim_matches('`');
            let cure = what.starts_with('`').then(|| KeyValue::Table.cure(key));
            self.fault(Complaint { cause, cure }, value.span().start);
        }
        found
    }

    fn hook(&mut self, value: &ManifestValue<'_>) -> Result<HookTable, Option<Box<Rejected>>> {
        let span = value.span();
        let before = self.problems.len();
        let mut parts = HookParts::default();
        let mut names_events = false;
        for (key, value) in self.table(value, "a hook").ok_or(None)? {
            let Some(row) = self.row(HOOK_KEYS, key) else { continue };
            names_events |= row.name == "event";
            if let Err(fault) = self.hook_key(&mut parts, row, value) {
                self.fault(fault, value.span().start);
            }
        }
        let name = self.needed(parts.name.take(), "name", &span);
        let command = self.needed(parts.command.take(), "command", &span);
        if !names_events {
            let cure = "write `event = \"tool.pre\"`; `hookrun events` lists them";
            self.fault(Complaint::with_cure("the hook has no `event`", cure), span.start);
        }
        if let Some((name, offset)) = &name {
            self.check_name(name, *offset);
        }
        let handler = command.and_then(|(command, offset)| {
            let handler = self.handler(&command, parts.shell);
            handler.map_err(|fault| self.fault(fault, offset)).ok()
        });
        let at = self.at(span.start);
        let HookParts { events, draft, .. } = parts;
        for problem in &mut self.problems[before..] {
            problem.events = events.iter().map(|(name, _)| name.clone()).collect();
        }
        match (name, handler) {
            (Some((name, _)), Some(handler)) if self.problems.len() == before => {
                Ok(HookTable { name, events, handler, draft, at, is_anchored: true })
            }
            _ => Err(Some(Box::new(Rejected { events, draft }))),
        }
    }

    /// A hook's name: not empty, one line, and not used before in this file.
    fn check_name(&mut self, name: &str, offset: usize) {
        if name.trim().is_empty() || name.contains(|c: char| c.is_control()) {
            let cause = "a hook's name must be text on one line";
            self.fault(Complaint::with_cure(cause, "give it a short name"), offset);
        }
        let line = self.at(offset).line;
        if let Some(first) = self.first_lines.insert(name.to_string(), line) {
            let cause = format!("two hooks are called `{name}`; the first is at line {first}");
            self.fault(Complaint::with_cure(cause, "give one of them another name"), offset);
        }
    }

    fn needed<T>(&mut self, part: Option<T>, key: &str, span: &Range<usize>) -> Option<T> {
        if part.is_none() {
            let fault = Complaint::with_cure(
                format!("the hook has no `{key}`"),
                format!("add `{key} = …`"),
            );
            self.fault(fault, span.start);
        }
        part
    }

    fn handler(&self, command: &str, is_shell: bool) -> Result<Handler, Complaint> {
        if is_shell {
            if command.trim().is_empty() {
                return Err(Complaint::with_cure(
                    "the command is empty",
                    "write the command line to run",
                ));
            }
            return Ok(Handler::Shell(command.to_string()));
        }
        let base = self.file.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        words::split(command).map(|words| Handler::Words { words, base })
    }

    fn hook_key(
        &mut self,
        parts: &mut HookParts,
        row: &KeyRow,
        value: &ManifestValue<'_>,
    ) -> Result<(), Complaint> {
        let start = value.span().start;
        if row.name == "match" {
            let Some(table) = self.table(value, "`match`") else { return Ok(()) };
            for (key, value) in table {
                self.match_key(&mut parts.draft, key, value);
            }
            return Ok(());
        }
        if row.name == "limits" || row.name == "sandbox" {
            return self.bounds(parts, row.name, value);
        }
        match (row.name, given(value)) {
            ("name", SettingValue::Text(text)) => parts.name = Some((text, start)),
            ("command", SettingValue::Text(text)) => parts.command = Some((text, start)),
            ("shell", SettingValue::Flag(flag)) => parts.shell = flag,
            ("event", SettingValue::Text(text)) => parts.events.push((text, self.at(start))),
            ("event", SettingValue::Texts(texts)) if texts.is_empty() => {
                return Err(Complaint::with_cure(
                    "`event` is an empty list",
                    "name at least one event",
                ));
            }
            ("event", SettingValue::Texts(texts)) => {
                let at = self.at(start);
                parts.events.extend(texts.into_iter().map(|text| (text, at)));
            }
            (key, given) => parts.draft.set(key, row.takes, given)?,
        }
        Ok(())
    }

    /// Takes the table `limits` or `sandbox`; `sandbox = true` is one with its defaults.
    fn bounds(
        &mut self,
        parts: &mut HookParts,
        name: &str,
        value: &ManifestValue<'_>,
    ) -> Result<(), Complaint> {
        let bounds = &mut parts.draft.bounds;
        if let ("sandbox", DeValue::Boolean(on)) = (name, value.get_ref()) {
            bounds.switch_sandbox(*on);
            return Ok(());
        }
        let Some(table) = self.table(value, &format!("`{name}`")) else { return Ok(()) };
        if name == "sandbox" {
            bounds.switch_sandbox(true);
        }
        let rows = if name == "sandbox" { SANDBOX_KEYS } else { LIMIT_KEYS };
        for (key, value) in table {
            let Some(row) = self.row(rows, key) else { continue };
            let taken = match name {
                "sandbox" => bounds.sandbox(row.name, row.takes, given(value)),
                _ => bounds.limit(row.name, row.takes, given(value)),
            };
            if let Err(fault) = taken {
                self.fault(fault, value.span().start);
            }
        }
        Ok(())
    }

    fn match_key(
        &mut self,
        draft: &mut HookDraft,
        key: &Spanned<Cow<'_, str>>,
        value: &ManifestValue<'_>,
    ) {
        let Some(row) = self.row(MATCH_KEYS, key) else { return };
        let at = Some(self.at(value.span().start));
        match (row.name, given(value)) {
            (name @ ("tool" | "path"), SettingValue::Texts(texts)) if texts.is_empty() => {
                let cause = format!("`{name}` is an empty list");
                let fault =
                    Complaint::with_cure(cause, "name at least one, or drop it: then any matches");
                self.fault(fault, value.span().start);
            }
            ("tool", SettingValue::Text(text)) => draft.pattern(Pattern::Tool, text, at),
            ("tool", SettingValue::Texts(texts)) => {
                draft.pattern(Pattern::Tool, texts.join("|"), at)
            }
            ("command", SettingValue::Text(text)) => draft.pattern(Pattern::Command, text, at),
            ("path", SettingValue::Text(text)) => draft.pattern(Pattern::Path, text, at),
            ("path", SettingValue::Texts(texts)) => {
                for text in texts {
                    draft.pattern(Pattern::Path, text, at);
                }
            }
            ("where", _) => self.fields(draft, "", value),
            (name, given) => {
                let cause =
                    format!("`{name}` takes {}, not {}", row.takes.describe(), given.describe());
                self.fault(Complaint::with_cure(cause, row.takes.cure(name)), value.span().start);
            }
        }
    }

    /// Takes the fields of `where`; a table in it is a path: `toolInput = { url = "…" }`, which
    /// TOML also writes `toolInput.url = "…"`.
    fn fields(&mut self, draft: &mut HookDraft, above: &str, value: &ManifestValue<'_>) {
        let Some(table) = self.table(value, "`where`") else { return };
        if table.is_empty() {
            let cause = "a table in `match` is empty";
            let fault = Complaint::with_cure(cause, "name a field and an expression, or drop it");
            self.fault(fault, value.span().start);
        }
        for (field, value) in table {
            let at = self.at(value.span().start);
            let path = format!("{above}{}", field.get_ref());
            if value.get_ref().is_table() {
                self.fields(draft, &format!("{path}."), value);
                continue;
            }
            let given = given(value);
            if let SettingValue::Text(text) = given {
                draft.pattern(Pattern::Field(path), text, Some(at));
            } else {
                let cause = format!("`where.{path}` takes a string, not {}", given.describe());
                let fault = Complaint::with_cure(cause, "write a regular expression");
                self.fault(fault, value.span().start);
            }
        }
    }
}

/// The name of the event that `[event.deploy.pre]` means, which is a table in a table.
fn dotted(name: &str, table: &ManifestValue<'_>) -> Option<String> {
    let all = table.get_ref().as_table()?;
    let is_key = |key: &str| EVENT_KEYS.iter().any(|row| row.name == key);
    let (inner, inside) =
        all.iter().find(|(key, inside)| !is_key(key.get_ref()) && inside.get_ref().is_table())?;
    let meant = format!("{name}.{}", inner.get_ref());
    Some(dotted(&meant, inside).unwrap_or(meant))
}

/// The keys of a hook that are not settings.
#[derive(Default)]
struct HookParts {
    name: Option<(String, usize)>,
    command: Option<(String, usize)>,
    shell: bool,
    events: Vec<(String, Position)>,
    draft: HookDraft,
}

/// The table of a hook in which a key belongs.
fn group_of(name: &str) -> Option<&'static str> {
    let has = |rows: &[KeyRow]| rows.iter().any(|row| row.name == name);
    match () {
        () if has(MATCH_KEYS) => Some("match"),
        () if has(LIMIT_KEYS) => Some("limits"),
        () if has(SANDBOX_KEYS) => Some("sandbox"),
        () => None,
    }
}

/// A TOML value as settings take it.
fn given(value: &ManifestValue<'_>) -> SettingValue {
    match value.get_ref() {
        DeValue::String(text) => SettingValue::Text(text.to_string()),
        DeValue::Boolean(flag) => SettingValue::Flag(*flag),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            match i64::from_str_radix(&digits, number.radix()) {
                Ok(number) => SettingValue::Number(number),
                Err(_) => SettingValue::Other("number that is too large"),
            }
        }
        DeValue::Array(list) => {
            let texts: Option<Vec<String>> =
                list.iter().map(|item| item.get_ref().as_str().map(str::to_string)).collect();
            texts.map_or(
                SettingValue::Other("list of something else than strings"),
                SettingValue::Texts,
            )
        }
        DeValue::Float(_) => SettingValue::Other("fraction"),
        DeValue::Datetime(_) => SettingValue::Other("date"),
        DeValue::Table(_) => SettingValue::Other("table"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let (_, problems) = read(text, Path::new("hookrun.toml"));
        problems.iter().map(|problem| format!("{} {}", problem.place(), problem.cause)).collect()
    }

    #[test]
    fn a_full_manifest_is_read() {
        let text = r#"
[[hook]]
name = "policy"
event = ["tool.pre", "PreToolUse"]
command = "./check.sh --strict"
timeout = "10s"
match = { tool = ["bash", "write"], path = ["src/**", ".env"], command = 'rm\s', where = { "a.b" = "^x", c.d = "y" } }
priority = -3
parallel = true
on_failure = "allow"
background = "detach"
rewrite = true
dialect = "native"
enabled = false

[event."deploy.pre"]
summary = "a deployment is about to start"
context = { service = "string" }
rewrites = { service = "last" }
"#;
        assert_eq!(problems(text), Vec::<String>::new());
        let (manifest, _) = read(text, Path::new("hookrun.toml"));
        assert_eq!(manifest.hooks[0].events.len(), 2);
        assert_eq!(manifest.hooks[0].at.line, 2);
        assert_eq!(
            manifest.hooks[0].draft.matcher().unwrap().to_string(),
            "tool bash|write, path src/**, path .env, command /rm\\s/, a.b /^x/, c.d /y/"
        );
        let event = &manifest.events[0].0;
        assert!(event.blocks && event.on_failure == crate::engine::event::OnFailure::Block);
        assert_eq!(event.sample(), r#"{"event":"deploy.pre","service":"text"}"#);
    }

    #[test]
    fn every_mistake_is_found_at_once() {
        let text = r#"
[[hook]]
name = "a"
event = "tool.pre"
command = "x | y"
timout = "10s"

[[hook]]
name = "b"
event = "tool.pre"
command = "x"
timeout = 10
match = { tol = "bash", where = { a = 1 } }

[[hook]]
event = []
priority = "high"

[event."tool.pre"]
summary = "mine"

[event."bad name"]
summary = "x"
context = { a = "strng" }

[hooks]
"#;
        let found = problems(text);
        let mut wanted = [
            "hookrun.toml:6:1 unknown key `timout`",
            "hookrun.toml:5:11 `|` in a command needs a shell",
            "hookrun.toml:12:11 `timeout` takes a duration like \"10s\", not 10",
            "hookrun.toml:13:11 unknown key `tol`",
            "hookrun.toml:13:39 `where.a` takes a string, not 1",
            "hookrun.toml:16:9 `event` is an empty list",
            "hookrun.toml:17:12 `priority` takes a whole number, not \"high\"",
            "hookrun.toml:15:1 the hook has no `name`",
            "hookrun.toml:15:1 the hook has no `command`",
            "hookrun.toml:24:17 `context.a` takes a JSON type",
            "hookrun.toml:19:8 `tool.pre` is already an event: a tool is about to run",
            "hookrun.toml:22:8 `bad name` cannot be the name of an event",
            "hookrun.toml:26:2 unknown key `hooks`",
        ];
        let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_file_that_is_not_toml_says_where() {
        let found = problems("[[hook]\nname = \n");
        assert!(!found.is_empty() && found[0].starts_with("hookrun.toml:1:"), "{found:?}");
    }
}
