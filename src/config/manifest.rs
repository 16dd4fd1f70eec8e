//! `hookrun.toml`: hooks, rules, custom events, shared sets, and the log.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::discover::MANIFEST;
use super::draft::HookDraft;
use super::event_tables::{self, EVENT_TABLE, EventTables};
use super::keys::{HOOK_KEYS, MATCH_KEYS, RULE_KEYS, SPEC_KEYS};
use super::layer::Layer;
use super::problem::{PlacedValue, Position, Problem};
use super::reader::{self, DocumentReader, KeyRow, Setting, specs};
use super::sets::{self, DeclaredSet};
use super::tree::Tree;
use super::trust::{TRUST_KEYS, TrustTable};
use super::value::{KeyValue, split_command, words};
use crate::engine::complaint::Complaint;
use crate::engine::hook::matcher::row::path_glob;
use crate::engine::hook::{FILES, Handler, OnDoubt};
use crate::hosts;

#[derive(Debug, Default)]
pub struct Manifest {
    pub(super) hooks: Vec<HookTable>,
    /// Partly read hooks with a mistake, which may have more of them.
    pub(super) rejected: Vec<HookDraft>,
    pub(super) events: EventTables,
    pub(super) log: LogTable,
    /// The default for rules.
    pub(super) doubt: Option<OnDoubt>,
    pub(super) sets: Vec<DeclaredSet>,
    pub(super) trust: TrustTable,
    /// Modules that warm interpreters import in advance.
    pub(super) warm_imports: Vec<PlacedValue<String>>,
    /// Folders and globs of `members`.
    pub(super) members: Vec<PlacedValue<String>>,
}

#[derive(Debug)]
pub(super) struct HookTable {
    pub(super) draft: HookDraft,
    pub(super) at: Position,
    /// Whether relative paths in its command start from its file's folder; not in hosts' settings.
    pub(super) is_anchored: bool,
}

#[rustfmt::skip]
pub const TOP_KEYS: &[KeyRow<Manifest>] = &[
    KeyRow::key("hook", KeyValue::Tables(|| [specs(HOOK_KEYS), specs(SPEC_KEYS)].concat()), "none", "a hook", set_hooks),
    KeyRow::key("rule", KeyValue::Tables(|| [specs(RULE_KEYS), specs(MATCH_KEYS)].concat()), "none", "a rule: a hook without a program", set_rules),
    KeyRow::key("rules", KeyValue::Table(|| specs(DEFAULT_KEYS)), "none", "defaults for all rules; those in the user and system files also apply to projects",
        |manifest, key| key.take(DEFAULT_KEYS, "", &mut manifest.doubt)),
    KeyRow::key("event", KeyValue::Map(&EVENT_TABLE), "none", "an event that you declare, or `stop` and `timeout` of a built-in one",
        |manifest, key| event_tables::set_events(&mut manifest.events, key)),
    KeyRow::key("log", KeyValue::Table(|| specs(LOG_KEYS)), "none", "the decision log",
        |manifest, key| key.take(LOG_KEYS, "", &mut manifest.log)),
    KeyRow::key("sets", KeyValue::Map(&KeyValue::Table(|| specs(sets::SET_KEYS))), "none", "shared hook sets, by name", set_sets),
    KeyRow::key("project", KeyValue::Table(|| specs(PROJECT_KEYS)), "none", "settings of the project; only in the file in its root",
        |manifest, key| key.take(PROJECT_KEYS, "", manifest)),
    KeyRow::key("trust", KeyValue::Table(|| specs(TRUST_KEYS)), "none", "trust in project hooks; only in the system or user file",
        |manifest, key| {
            manifest.trust.at = Some(key.at());
            key.take(TRUST_KEYS, "", &mut manifest.trust)
        }),
    KeyRow::key("warm_imports", KeyValue::Texts, "none", "Python modules that interpreters for `warm = \"fork\"` import in advance; only in the system or user file",
        |manifest, key| key.texts_as(python_module).map(|modules| manifest.warm_imports = modules)),
];

impl Manifest {
    /// Settings that only the owner of a machine or project may use, not a shared set.
    pub(super) fn own_settings(&self) -> Vec<(&'static str, Position)> {
        let sets = self.sets.iter().map(|set| ("sets", set.at));
        let log = self.log.off.map(|at| ("log.enabled", at));
        let members = self.members.first().map(|one| ("project.members", one.at));
        let of_owner = self.owner_settings();
        sets.chain(log).chain(of_owner).chain(members).collect()
    }

    /// Settings that work only in the system's and the user's file.
    pub(super) fn owner_settings(&self) -> impl Iterator<Item = (&'static str, Position)> {
        let trust = self.trust.at.map(|at| ("trust", at));
        let module = self.warm_imports.first();
        let imports = module.map(|one| ("warm_imports", one.at));
        trust.into_iter().chain(imports)
    }
}

/// The files of a layer with their content.
pub(super) type LayerFiles = Vec<(PathBuf, Manifest)>;

#[derive(Debug)]
pub(super) struct LoadedLayer {
    pub(super) layer: Layer,
    pub(super) files: LayerFiles,
}

/// Reads the files of a layer, and adds their problems to `problems`.
pub(super) fn read_files(files: &[PathBuf], problems: &mut Vec<Problem>) -> LayerFiles {
    let files = files.iter();
    files
        .map(|file| (file.clone(), reader::load(file, problems, read)))
        .collect()
}

pub(super) fn read(text: &str, file: &Path) -> (Manifest, Vec<Problem>) {
    let mut reader = DocumentReader::new(text, file);
    let document = reader.toml(text, |message| {
        // An escape in double quotes is probably part of a regular expression.
        let is_escape = message.contains("escape");
        is_escape.then(|| "single quotes keep backslashes: 'rm\\s+-rf'".to_string())
    });
    let syntax_errors = reader.problems.len();
    let mut manifest = Manifest::default();
    let entries = document.entries().unwrap_or_default();
    reader.take(entries, TOP_KEYS, "", &mut manifest);
    if syntax_errors > 0 {
        // Entries after a syntax error are guesses, and so are their problems.
        reader.problems.truncate(syntax_errors);
        manifest.rejected.clear();
    }
    (manifest, reader.problems)
}

/// The first error in the text of a `hookrun.toml` before it is written.
pub(crate) fn problem_in(text: &str) -> Option<String> {
    let (_, problems) = read(text, Path::new(MANIFEST));
    let error = problems.into_iter().find(Problem::is_error);
    error.map(|error| error.cause)
}

/// Reads a rule file in the folder of `event`.
pub(super) fn read_rules(text: &str, file: &Path, event: &str) -> (Manifest, Vec<Problem>) {
    let (mut manifest, mut problems) = read(text, file);
    let mut hooks = manifest.hooks.iter();
    if !hooks.all(|table| table.draft.rule.is_some())
        || !manifest.events.declared.is_empty()
        || !manifest.events.settings.is_empty()
        || !manifest.sets.is_empty()
    {
        let cause = "a TOML file in an event's folder may contain only rules";
        let complaint = Complaint::with_cure(cause, "move the rest to `hookrun.toml`");
        problems.push(complaint.in_file(file, None));
    }
    let read = manifest.hooks.iter_mut().map(|table| &mut table.draft);
    for draft in read.chain(&mut manifest.rejected) {
        let first = draft.events().first().cloned();
        if let Some((named, at)) = first.as_ref().filter(|_| draft.names_event) {
            let cause = format!("the folder names the event, but a rule in it names `{named}`");
            problems.push(Complaint::with_cure(cause, "remove `event`").in_file(file, Some(*at)));
        }
        let at = first.map_or(Position::of_line(1), |(_, at)| at);
        draft.events = Some(vec![(event.to_string(), at)]);
    }
    (manifest, problems)
}

fn set_hooks(manifest: &mut Manifest, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let rows: Vec<&KeyRow<HookDraft>> = HOOK_KEYS.iter().collect();
    set_tables(manifest, key, &rows, finish)
}

fn set_rules(manifest: &mut Manifest, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let rows: Vec<&KeyRow<HookDraft>> = RULE_KEYS.iter().chain(MATCH_KEYS).collect();
    set_tables(manifest, key, &rows, finish_rule)
}

/// Reads a list of tables; `finish` checks each for missing keys.
fn set_tables(
    manifest: &mut Manifest,
    key: &mut Setting<'_, '_>,
    rows: &[&KeyRow<HookDraft>],
    finish: fn(&mut HookDraft, &mut DocumentReader<'_>, &Tree),
) -> Result<(), Complaint> {
    let word = key.name;
    let Some(tables) = key.tree.items() else {
        let cause = format!("`{word}` is not a list of tables");
        let cure = format!("write `[[{word}]]` with two brackets");
        return Err(Complaint::with_cure(cause, cure));
    };
    let mut first_lines = HashMap::new();
    for table in tables {
        let Some(entries) = table.entries() else {
            let cure = format!("write it as `[[{word}]]`");
            key.reader
                .fault(table.offset, format!("this {word} is not a table"), cure);
            continue;
        };
        let before = key.reader.problems.len();
        let mut draft = HookDraft::default();
        key.reader.meant.clear();
        let dialect = table.at(&["dialect"]).and_then(Tree::text);
        draft.dialect = dialect.and_then(hosts::find).filter(|host| host.has_specs);
        let has_specs = draft.dialect.is_some();
        let mut rows = rows.to_vec();
        if has_specs {
            rows.extend(SPEC_KEYS);
        }
        key.reader.take(entries, &rows, "", &mut draft);
        finish(&mut draft, key.reader, table);
        if let Some((name, offset)) = &draft.name {
            let first = first_lines.insert(name.clone(), key.reader.at(*offset).line);
            check_name(name, *offset, key.reader, first.filter(|_| !has_specs));
        }
        let problems = &mut key.reader.problems[before..];
        for problem in problems.iter_mut() {
            let events = draft.events().iter();
            problem.events = events.map(|(name, _)| name.clone()).collect();
        }
        if problems.is_empty() {
            manifest.hooks.push(HookTable {
                draft,
                at: key.reader.at(table.offset),
                is_anchored: true,
            });
        } else {
            manifest.rejected.push(draft);
        }
    }
    Ok(())
}

/// Checks a rule for missing keys, and sets its default event `tool.pre` and name.
fn finish_rule(draft: &mut HookDraft, reader: &mut DocumentReader<'_>, table: &Tree) {
    let at = reader.at(table.offset);
    let says_nothing = ["deny", "ask"].iter().all(|key| reader.lacks(table, key));
    let mut conditions = MATCH_KEYS.iter().map(|row| row.name).chain(["except"]);
    let is_for_all = conditions.all(|key| reader.lacks(table, key));
    match &draft.rule {
        Some(decision) => draft.hook.handler = Handler::Rule(decision.clone()),
        None if says_nothing => {
            let cure = "add `deny = \"why, and what to do instead\"`, or `ask`";
            reader.fault(table.offset, "the rule has neither `deny` nor `ask`", cure);
        }
        None => {}
    }
    if is_for_all {
        let cure = "add `runs`, `command`, `path`, `tool`, `where` or `except`";
        reader.fault(table.offset, "the rule would match every event", cure);
    }
    draft.names_event = draft.events.is_some();
    draft
        .events
        .get_or_insert_with(|| vec![("tool.pre".to_string(), at)]);
    let file = reader.file.file_name().unwrap_or_default();
    draft.hook.name = match &draft.name {
        Some((name, _)) => name.clone(),
        None => format!("{}:{}", file.display(), at.line),
    };
}

/// Checks a hook for missing keys and builds its handler.
fn finish(draft: &mut HookDraft, reader: &mut DocumentReader<'_>, table: &Tree) {
    let event_cure = "write `event = \"tool.pre\"`; `hookrun events` lists all events";
    for (key, cure) in [
        ("name", "add `name = …`"),
        ("command", "add `command = …`"),
        ("event", event_cure),
    ] {
        if reader.lacks(table, key) {
            reader.fault(table.offset, format!("the hook has no `{key}`"), cure);
        }
    }
    if let Some((name, _)) = &draft.name {
        draft.hook.name.clone_from(name);
    }
    let Some((command, offset)) = &draft.command else {
        return;
    };
    match handler_of(command, draft.is_shell, reader.file) {
        Ok(handler) => draft.hook.handler = handler,
        Err(complaint) => reader.complain(*offset, complaint),
    }
}

fn handler_of(command: &str, is_shell: bool, file: &Path) -> Result<Handler, Complaint> {
    if !is_shell {
        let base = file.parent().unwrap_or(file).to_path_buf();
        return split_command(command).map(|words| Handler::Words { words, base });
    }
    if command.trim().is_empty() {
        let cure = "write the command line to run";
        return Err(Complaint::with_cure("the command is empty", cure));
    }
    if command.contains(FILES) {
        let cause = format!("a shell command cannot contain `{FILES}`");
        let cure = "write `\"$@\"` and set `files = true`";
        return Err(Complaint::with_cure(cause, cure));
    }
    Ok(Handler::Shell(command.to_string()))
}

fn check_name(
    name: &str,
    offset: usize,
    reader: &mut DocumentReader<'_>,
    first_line: Option<usize>,
) {
    if name.trim().is_empty() || name.contains(|c: char| c.is_control()) {
        let cause = "a hook's name must be text on one line";
        reader.fault(offset, cause, "give it a short name");
    }
    if let Some(first) = first_line {
        let cause = format!("two hooks are named `{name}`; the first is at line {first}");
        reader.fault(offset, cause, "give one of them another name");
    }
}

#[rustfmt::skip]
pub(super) const DEFAULT_KEYS: &[KeyRow<Option<OnDoubt>>] = &[
    KeyRow::key("doubt", KeyValue::OneOf(|| words(OnDoubt::NAMES)), "each rule's own decision", "the default `doubt` for rules that do not set their own",
        |doubt, key| key.one_of(OnDoubt::NAMES).map(|word| *doubt = Some(word))),
];

#[rustfmt::skip]
pub const PROJECT_KEYS: &[KeyRow<Manifest>] = &[
    KeyRow::key("members", KeyValue::Texts, "none", "folders with their own hooks, or globs such as `services/*`; for git events these hooks get the changes in their folder",
        |manifest, key| key.texts_as(member).map(|members| manifest.members = members)),
];

fn member(text: &str) -> Result<String, Complaint> {
    let name = text.trim_end_matches('/');
    let mut parts = name.split('/');
    if parts.all(|part| !matches!(part, "" | "." | ".." | "**")) && path_glob(name).is_ok() {
        return Ok(name.to_string());
    }
    let cause = format!("`members` cannot contain `{text}`");
    let cure = "write folders or globs without `.`, `..` and `**`: `web`, `services/*`, `libs/*/*`";
    Err(Complaint::with_cure(cause, cure))
}

#[rustfmt::skip]
pub const LOG_KEYS: &[KeyRow<LogTable>] = &[
    KeyRow::key("enabled", KeyValue::Flag, "true", "false: log no decisions; only in the system or user file",
        |log, key| key.flag().map(|is_on| log.off = (!is_on).then(|| key.at()))),
    KeyRow::key("redact", KeyValue::Texts, "none", "regular expressions for your secrets; text in a group named `keep` is not replaced; a project's expressions apply only if its hooks are trusted",
        |log, key| key.texts_as(secret_expression).map(|texts| log.redact.extend(texts.into_iter().map(|text| text.value)))),
];

#[derive(Debug, Default)]
pub struct LogTable {
    pub(crate) off: Option<Position>,
    pub(crate) redact: Vec<String>,
}

fn secret_expression(text: &str) -> Result<String, Complaint> {
    let problem = match regex_syntax::Parser::new().parse(text) {
        Err(error) => error.to_string(),
        // It would match between all characters.
        Ok(hir) if hir.properties().minimum_len() == Some(0) => {
            "it can match the empty string".into()
        }
        Ok(_) => return Ok(text.to_string()),
    };
    let last = problem.lines().last().unwrap_or_default();
    let last = last.trim_start_matches("error: ");
    let cause = format!("`{text}` cannot be used to find secrets: {last}");
    let cure = "fix the expression; in single quotes, backslashes need not be doubled";
    Err(Complaint::with_cure(cause, cure))
}

fn python_module(text: &str) -> Result<String, Complaint> {
    let is_module = text.split('.').all(|part| {
        let is_word = part.chars().all(|c| c == '_' || c.is_alphanumeric());
        is_word && part.starts_with(|c: char| !c.is_numeric())
    });
    if is_module {
        return Ok(text.to_string());
    }
    let cause = format!("`{text}` is not the name of a Python module");
    let cure = "write the name that scripts import: `numpy` or `numpy.linalg`";
    Err(Complaint::with_cure(cause, cure))
}

fn set_sets(manifest: &mut Manifest, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for entry in key.table()? {
        manifest.sets.extend(sets::read(key.reader, entry));
    }
    Ok(())
}
