//! Reads a file of cases: everything that is wrong with it at once, each with its place.

mod expect;
mod never;
mod steps;
mod values;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use regex::Regex;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fill::{unknown_tokens, without_tokens};
use super::keys::{CASE_KEYS, DEFAULT_KEYS, REPEAT_KEYS, TOP_KEYS};
use super::rows::{self, LONGEST_TEXT_BYTES, Placeholders, RowValues};
use super::{Case, Placed, Suite};
use crate::config::keys::{self, KeyRow};
use crate::config::problem::LineIndex;
use crate::config::{Position, Problem};
use crate::engine::complaint::Complaint;
use steps::{StepKeys, TableDefaults};
use values::in_order;

type CaseValue<'i> = Spanned<DeValue<'i>>;

/// Reads the text of `file`, and everything that is wrong with it.
pub fn read(text: &str, file: &Path) -> (Suite, Vec<Problem>) {
    let mut reader = CaseReader { lines: LineIndex::of(text), file, problems: Vec::new() };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        let cause = format!("not valid TOML: {}", error.message());
        let cure = "correct it; `hookrun man hookrun-suite` describes a file of cases";
        reader.fault(Complaint::with_cure(cause, cure), at);
    }
    if !reader.problems.is_empty() {
        // What was read after a syntax error is a guess.
        return (Suite::default(), reader.problems);
    }
    let suite = reader.suite(document.get_ref());
    let mut problems = reader.problems;
    problems.sort_by_key(|problem| problem.at.map(|at| (at.line, at.column)));
    // Every row of a case has the mistakes of the case.
    problems.dedup();
    (suite, problems)
}

/// Whether a text of TOML has cases in it, or may have.
pub fn has_cases(text: &str) -> bool {
    let (document, errors) = DeTable::parse_recoverable(text);
    !errors.is_empty() || document.get_ref().iter().any(|(key, _)| key.get_ref() == "case")
}

struct CaseReader<'r> {
    lines: LineIndex<'r>,
    file: &'r Path,
    problems: Vec<Problem>,
}

impl CaseReader<'_> {
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
            self.fault(keys::unknown(rows, name, group_of(name, rows)), key.span().start);
        }
        found
    }

    fn suite(&mut self, document: &DeTable<'_>) -> Suite {
        let mut suite = Suite::default();
        let mut defaults = TableDefaults::default();
        let mut cases: Option<Vec<&CaseValue<'_>>> = None;
        for (key, value) in in_order(document) {
            let Some(row) = self.row(TOP_KEYS, key) else { continue };
            match row.name {
                "hooks" => suite.hooks = self.paths(row, value),
                "settings" => suite.settings = self.paths(row, value),
                "never" => suite.never = self.nevers(value),
                "defaults" => {
                    let Some(table) = self.table(row, value) else { continue };
                    for (key, value) in in_order(table) {
                        let Some(row) = self.row(DEFAULT_KEYS, key) else { continue };
                        self.given(&mut defaults, row, value);
                    }
                }
                _ => cases = Some(self.tables("case", value)),
            }
        }
        if cases.is_none() {
            let cure = "write a table `[[case]]` for each of its cases";
            self.fault(Complaint::with_cure("there is no case in it", cure), 0);
        }
        for case in cases.unwrap_or_default() {
            self.cases(case, &defaults, &mut suite.cases);
        }
        self.check_names(&suite.cases);
        suite
    }

    /// Two cases of one name could not be told apart.
    fn check_names(&mut self, cases: &[Case]) {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for case in cases {
            if let Some(line) = first.get(case.name.as_str()) {
                let cause =
                    format!("two cases are called `{}`; the first is at line {line}", case.name);
                let cure = "give one of them another name; with rows, a placeholder in it";
                let problem = Complaint::with_cure(cause, cure).in_file(self.file, Some(case.at));
                self.problems.push(problem);
            } else {
                first.insert(&case.name, case.at.line);
            }
        }
    }

    /// Reads a `[[case]]`: with rows, a case for each of them.
    fn cases(&mut self, value: &CaseValue<'_>, defaults: &TableDefaults, cases: &mut Vec<Case>) {
        let Some(table) = value.get_ref().as_table() else { return };
        let start = value.span().start;
        self.check_words(value);
        let rows = in_order(table).into_iter().find(|(key, _)| key.get_ref() == "with");
        let Some((_, rows)) = rows else {
            cases.extend(self.case(table, start, self.at(start), defaults));
            return;
        };
        let own = table.iter().filter(|(key, _)| key.get_ref() != "with");
        let plain: DeTable<'_> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        let rows = self.tables("with", rows);
        let is_one = rows.len() == 1;
        for (number, row) in (1..).zip(rows) {
            let Some((filled, is_named, unfilled)) = self.filled(&plain, row) else { continue };
            let at = self.at(row.span().start);
            let before = self.problems.len();
            let case = self.case(&filled, start, at, defaults);
            // What is wrong where a value is missing is only that.
            let news = self.problems.split_off(before);
            let is_own = |problem: &Problem| !problem.at.is_some_and(|at| unfilled.contains(&at));
            self.problems.extend(news.into_iter().filter(is_own));
            cases.extend(case.map(|mut case| {
                if !is_named && !is_one {
                    case.name = format!("{} (row {number})", case.name);
                }
                case
            }));
        }
    }

    /// The table of a case with the values of `row`, whether its name has one of them, and the
    /// places where a value is missing.
    fn filled<'i>(
        &mut self,
        table: &DeTable<'i>,
        row: &CaseValue<'i>,
    ) -> Option<(DeTable<'i>, bool, Vec<Position>)> {
        let values = self.values(row)?;
        let mut found = Placeholders::default();
        let filled = rows::fill(table, &values, &mut found);
        for (name, offset) in &found.missing {
            let line = self.at(row.span().start).line;
            let cause = format!("the row at line {line} has no value for `{{{name}}}`");
            let cure =
                format!("add `{name} = …` to it; for the text itself write `{{{{{name}}}}}`");
            self.fault(Complaint::with_cure(cause, cure), *offset);
        }
        for (name, offset) in &found.unwritable {
            let cause = format!("`{name}` is a list or a table, which cannot be part of a text");
            self.fault(
                Complaint::with_cure(cause, format!("make the whole string `{{{name}}}`")),
                *offset,
            );
        }
        for (key, _) in in_order(row.get_ref().as_table()?) {
            if rows::is_name(key.get_ref()) && !found.used.contains(key.get_ref().as_ref()) {
                let name = key.get_ref();
                let cause = format!("nothing in the case uses the value `{name}`");
                let cure = format!("write `{{{name}}}` where it belongs, or drop it");
                self.fault(Complaint::with_cure(cause, cure), key.span().start);
            }
        }
        let name = |table: &DeTable<'i>| {
            let found = table.iter().find(|(key, _)| key.get_ref() == "name");
            found.and_then(|(_, value)| value.get_ref().as_str().map(str::to_string))
        };
        let is_named = name(table) != name(&filled);
        let unfilled = found.missing.iter().map(|(_, offset)| self.at(*offset)).collect();
        Some((filled, is_named, unfilled))
    }

    /// The values of a row.
    fn values<'i>(&mut self, row: &CaseValue<'i>) -> Option<RowValues<'i>> {
        let mut values = RowValues::new();
        for (key, value) in in_order(row.get_ref().as_table()?) {
            let name = key.get_ref();
            if !rows::is_name(name) {
                let cause = format!("`{name}` cannot be the name of a value");
                let cure = "use lower case letters, digits and `_`";
                self.fault(Complaint::with_cure(cause, cure), key.span().start);
                continue;
            }
            let repeat = value.get_ref().as_table().filter(|table| is_repeat(table));
            let value = match repeat {
                Some(table) => self.repeated(table, value)?,
                None => value.get_ref().clone(),
            };
            values.push((name.to_string(), value));
        }
        Some(values)
    }

    /// A text many times over: `{ text = "x", times = 40000 }`.
    fn repeated<'i>(&mut self, table: &DeTable<'i>, whole: &CaseValue<'i>) -> Option<DeValue<'i>> {
        let (mut text, mut times) = (None, None);
        for (key, value) in in_order(table) {
            let row = self.row(REPEAT_KEYS, key)?;
            match row.name {
                "text" => text = self.text(row, value),
                _ => times = self.number_in(row, value, 0..=i64::MAX),
            }
        }
        let (text, times) = (text?, usize::try_from(times?.value).unwrap_or(usize::MAX));
        let length = text.value.len().checked_mul(times);
        if length.is_none_or(|length| length > LONGEST_TEXT_BYTES) {
            let cause = "the text would be longer than 64 MiB";
            self.fault(Complaint::with_cure(cause, "repeat it less often"), whole.span().start);
            return None;
        }
        Some(DeValue::String(Cow::Owned(text.value.repeat(times))))
    }

    /// Reads one case: `start` is where its table stands, `at` what it is told by.
    fn case(
        &mut self,
        table: &DeTable<'_>,
        start: usize,
        at: Position,
        defaults: &TableDefaults,
    ) -> Option<Case> {
        let before = self.problems.len();
        let mut given = defaults.clone();
        let (mut name, mut skip, mut own) = (None, None, StepKeys::default());
        let mut steps: Option<Vec<&CaseValue<'_>>> = None;
        for (key, value) in in_order(table) {
            let Some(row) = self.row(CASE_KEYS, key) else { continue };
            match row.name {
                "name" => name = self.text(row, value).or(name),
                "skip" => skip = self.said(row, value, "say why it is not run, or drop it"),
                "step" => steps = Some(self.tables("step", value)),
                _ => self.own(&mut given, &mut own, row, value),
            }
        }
        if name.as_ref().is_none_or(|name| name.value.trim().is_empty()) {
            let cure = "add `name = \"…\"`, the sentence that it proves";
            self.fault(Complaint::with_cure("the case has no `name`", cure), start);
        }
        let (env, files, setup) =
            (given.env.clone(), given.files.split_off(0), given.setup.split_off(0));
        let steps = match steps {
            None => self.step(given, own, None, start).into_iter().collect(),
            Some(tables) => {
                if own.has_expect || !own.inputs.is_empty() {
                    let cause = "a case with steps expects and sends nothing itself";
                    self.fault(
                        Complaint::with_cure(cause, "move it into a `[[case.step]]`"),
                        start,
                    );
                }
                self.steps(&tables, &given)
            }
        };
        let name = one_line(&name?.value);
        let is_whole = self.problems.len() == before;
        let skip = skip.map(|skip| skip.value);
        is_whole.then_some(Case { name, at, skip, env, files, setup, steps })
    }

    /// Values that mean nothing: words that look like a folder's and are none, and numbers that JSON
    /// does not have.
    fn check_words(&mut self, value: &CaseValue<'_>) {
        match value.get_ref() {
            DeValue::String(text) => {
                for token in unknown_tokens(text) {
                    let known: Vec<&str> = super::TOKENS.iter().map(|row| row.name).collect();
                    let cause = format!("`{token}` is no known placeholder");
                    let cure = format!("there are {}", known.join(", "));
                    self.fault(Complaint::with_cure(cause, cure), value.span().start);
                }
            }
            DeValue::Array(list) => list.iter().for_each(|one| self.check_words(one)),
            DeValue::Table(table) => table.iter().for_each(|(_, one)| self.check_words(one)),
            DeValue::Integer(_) | DeValue::Float(_) if values::json(value).is_null() => {
                let cause = "there is no such number in JSON";
                let cure = "correct it; a larger one can be in a context that is JSON in a string";
                self.fault(Complaint::with_cure(cause, cure), value.span().start);
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {}
        }
    }

    /// A regular expression, which it must be.
    fn pattern(&mut self, row: &KeyRow, value: &CaseValue<'_>) -> Option<Placed<String>> {
        let text = self.text(row, value)?;
        self.check_pattern(&text.value, row.name, value.span().start).then_some(text)
    }

    fn check_pattern(&mut self, text: &str, name: &str, offset: usize) -> bool {
        if !unknown_tokens(text).is_empty() {
            // They are problem enough.
            return false;
        }
        let Err(error) = Regex::new(&without_tokens(text)) else { return true };
        let said = error.to_string();
        let said = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let cause = format!("`{name}` is not a regular expression: {said}");
        self.fault(
            Complaint::with_cure(cause, "correct it; `\\` makes a character mean itself"),
            offset,
        );
        false
    }
}

/// The table of a case in which a key belongs that does not stand in `rows`.
fn group_of(name: &str, rows: &[KeyRow]) -> Option<&'static str> {
    let has = |rows: &[KeyRow]| rows.iter().any(|row| row.name == name);
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    match () {
        () if names.contains("expect") && has(super::keys::EXPECT_KEYS) => Some("expect"),
        () if names.contains("reply") && has(super::keys::REPLY_KEYS) => Some("reply"),
        () => None,
    }
}

fn is_repeat(table: &DeTable<'_>) -> bool {
    table.iter().any(|(key, _)| key.get_ref() == "times")
}

/// A name on one line, as long as it can be read.
fn one_line(name: &str) -> String {
    const LONGEST: usize = 120;
    let line: String = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST).chain(['…']).collect()
}
