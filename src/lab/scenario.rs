//! Test cases: reads them from TOML, reporting every mistake with its place and fix, and compares
//! results with expectations. Nothing here runs a hook.

mod case;
pub mod coverage;
mod expect;
pub mod keys;
mod placeholders;

use std::collections::HashMap;
use std::path::Path;

use toml::de::DeTable;

pub use crate::config::PlacedValue;
use crate::config::reader::DocumentReader;
use crate::config::tree::{Tree, TreeEntry, TreeValue};
use crate::config::{Position, Problem};
use crate::engine::complaint::Complaint;
use crate::hosts::native;
pub use case::{
    Case, CaseResult, CaseStep, Content, End, Miss, StepInput, StepResult, Suite, SuppliedFile,
    own_failure,
};
pub use expect::misses;
use keys::{CASE_KEYS, REPEAT_KEYS, RepeatDraft, STEP_KEYS, StepDraft, SuiteDraft, TOP_KEYS};
pub use placeholders::{CaseFolders, TOKENS, TokenRow};
use placeholders::{LONGEST_TEXT_BYTES, Placeholders, RowValues, fill, is_name, unknown_tokens};

/// Reads a test case file and reports all mistakes with their places.
pub fn read(text: &str, file: &Path) -> (Suite, Vec<Problem>) {
    let mut reader = CaseReader(DocumentReader::new(text, file));
    let document = reader.0.toml(text, |_| {
        Some("fix it; hookrun-suite(5) describes a test case file".to_string())
    });
    if !reader.0.problems.is_empty() {
        // Entries after a syntax error are guesses.
        return (Suite::default(), reader.0.problems);
    }
    let suite = reader.suite(&document);
    let mut problems = reader.0.problems;
    problems.sort_by_key(|problem| problem.at.map(|at| (at.line, at.column)));
    // Every row repeats its case's mistakes.
    problems.dedup();
    (suite, problems)
}

/// Whether a TOML text has cases, or may have some in spite of syntax errors.
pub fn has_cases(text: &str) -> bool {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut keys = document.get_ref().keys();
    !errors.is_empty() || keys.any(|key| key.get_ref() == "case")
}

struct CaseReader<'r>(DocumentReader<'r>);

impl CaseReader<'_> {
    fn fault(&mut self, offset: usize, cause: impl Into<String>, cure: impl Into<String>) {
        self.0.fault(offset, cause, cure);
    }

    fn suite(&mut self, document: &Tree) -> Suite {
        let mut draft = SuiteDraft::default();
        let entries = document.entries().unwrap_or_default();
        self.0.take(entries, TOP_KEYS, "", &mut draft);
        let mut suite = draft.suite;
        let mut defaults = draft.defaults;
        defaults.meant = std::mem::take(&mut self.0.meant);
        if document.at(&["case"]).is_none() && !defaults.meant.contains(&"case") {
            let cure = "write a table `[[case]]` for each case";
            self.fault(0, "this file contains no test case", cure);
        }
        for case in self.tables(document, "case") {
            self.cases(case, &defaults, &mut suite.cases);
        }
        self.check_names(&suite.cases);
        suite
    }

    /// The tables in a list. An empty list is a mistake, because it tests nothing.
    fn tables<'t>(&mut self, above: &'t Tree, key: &str) -> Vec<&'t Tree> {
        let Some(tree) = above.at(&[key]) else {
            return Vec::new();
        };
        let items = tree.items().unwrap_or_default();
        let tables: Vec<&Tree> = items
            .iter()
            .filter(|item| item.entries().is_some())
            .collect();
        if tables.is_empty() || tables.len() < items.len() {
            let prefix = if key == "case" { "" } else { "case." };
            let cause = format!("`{key}` must be a non-empty list of tables");
            let cure = format!("write each table as `[[{prefix}{key}]]`, or remove `{key}`");
            self.fault(tree.offset, cause, cure);
        }
        tables
    }

    fn check_names(&mut self, cases: &[Case]) {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for case in cases {
            if let Some(line) = first.get(case.name.as_str()) {
                let name = &case.name;
                let cause = format!("two cases are named `{name}`; the first is at line {line}");
                let cure = "give one of them another name; if it has rows, put a placeholder into the name";
                let complaint = Complaint::with_cure(cause, cure);
                let problem = complaint.in_file(self.0.file, Some(case.at));
                self.0.problems.push(problem);
            } else {
                first.insert(&case.name, case.at.line);
            }
        }
    }

    /// Reads a `[[case]]`; with rows, one case for each row.
    fn cases(&mut self, tree: &Tree, defaults: &StepDraft, cases: &mut Vec<Case>) {
        self.check_words(tree);
        if tree.at(&["with"]).is_none() {
            cases.extend(self.case(tree, self.0.at(tree.offset), defaults));
            return;
        }
        let mut template = tree.clone();
        if let TreeValue::Table(entries) = &mut template.value {
            entries.retain(|entry| entry.key != "with");
        }
        let written_name = template.at(&["name"]).and_then(Tree::text);
        let rows = self.tables(tree, "with");
        for (number, row) in (1..).zip(&rows) {
            let Some(values) = self.values(row) else {
                continue;
            };
            let mut placeholders = Placeholders::default();
            let filled = fill(&template, &values, &mut placeholders);
            self.check_placeholders(row, &placeholders);
            let Some(mut case) = self.case(&filled, self.0.at(row.offset), defaults) else {
                continue;
            };
            if rows.len() > 1 && filled.at(&["name"]).and_then(Tree::text) == written_name {
                case.name = format!("{} (row {number})", case.name);
            }
            cases.push(case);
        }
    }

    fn check_placeholders(&mut self, row: &Tree, placeholders: &Placeholders) {
        for (name, offset) in &placeholders.missing {
            let line = self.0.at(row.offset).line;
            let cause = format!("the row at line {line} has no value for `{{{name}}}`");
            let cure =
                format!("add `{name} = …` to the row; for literal braces, write `{{{{{name}}}}}`");
            self.fault(*offset, cause, cure);
        }
        for TreeEntry { key: name, at, .. } in row.entries().unwrap_or_default() {
            if is_name(name) && !placeholders.used.contains(name) {
                let cause = format!("the value `{name}` is not used in the case");
                let cure = format!("write `{{{name}}}` where it belongs, or remove it");
                self.fault(*at, cause, cure);
            }
        }
    }

    fn values(&mut self, row: &Tree) -> Option<RowValues> {
        let mut values = RowValues::new();
        for entry in row.entries()? {
            let name = &entry.key;
            if !is_name(name) {
                let cause = format!("`{name}` cannot be the name of a value");
                let cure = "use lowercase letters, digits and `_`, beginning with a letter";
                self.fault(entry.at, cause, cure);
                continue;
            }
            let tree = if entry.tree.at(&["times"]).is_some() {
                self.repeated(&entry.tree)?
            } else {
                entry.tree.clone()
            };
            values.push((name.clone(), tree));
        }
        Some(values)
    }

    /// Reads a repeated text: `{ text = "x", times = 40000 }`.
    fn repeated(&mut self, tree: &Tree) -> Option<Tree> {
        let before = self.0.problems.len();
        let mut draft = RepeatDraft::default();
        self.0.take(tree.entries()?, REPEAT_KEYS, "", &mut draft);
        if self.0.problems.len() > before {
            return None;
        }
        let text = draft.text?;
        let times = usize::try_from(draft.times?).unwrap_or(usize::MAX);
        if text.len().saturating_mul(times) > LONGEST_TEXT_BYTES {
            let cause = "the text would be longer than 64 MiB";
            self.fault(tree.offset, cause, "repeat it less often");
            return None;
        }
        Some(Tree {
            value: TreeValue::Text(text.repeat(times)),
            offset: tree.offset,
        })
    }

    /// Reads one case at the place that reports show.
    fn case(&mut self, tree: &Tree, at: Position, defaults: &StepDraft) -> Option<Case> {
        let before = self.0.problems.len();
        let mut draft = defaults.clone();
        self.0.take(tree.entries()?, CASE_KEYS, "", &mut draft);
        draft.meant.append(&mut self.0.meant);
        let name = draft.name.take();
        let has_name = name.as_ref().is_some_and(|name| !name.trim().is_empty());
        if !has_name && !draft.meant.contains(&"name") {
            let cure = "add `name = \"…\"`, a sentence that says what the case proves";
            self.fault(tree.offset, "the case has no `name`", cure);
        }
        let mut case = Case {
            name: String::new(),
            at,
            skip: draft.skip.take(),
            env: std::mem::take(&mut draft.env),
            files: std::mem::take(&mut draft.files),
            setup: std::mem::take(&mut draft.setup),
            steps: Vec::new(),
        };
        if tree.at(&["step"]).is_none() {
            case.steps.extend(self.step(draft, None, tree.offset));
        } else {
            if draft.expect.is_some() || !draft.inputs.is_empty() {
                let key = draft.inputs.first().map_or("expect", |(key, ..)| *key);
                let cause = format!("a case with steps cannot have its own `{key}`");
                let cure = format!("move `{key}` into a `[[case.step]]`");
                self.fault(tree.offset, cause, cure);
            }
            for (number, table) in (1..).zip(self.tables(tree, "step")) {
                let mut own = StepDraft {
                    inputs: Vec::new(),
                    expect: None,
                    ..draft.clone()
                };
                let entries = table.entries().unwrap_or_default();
                self.0.take(entries, STEP_KEYS, "", &mut own);
                own.meant.append(&mut self.0.meant);
                case.steps
                    .extend(self.step(own, Some(number), table.offset));
            }
        }
        case.name = one_line(&name?);
        (self.0.problems.len() == before).then_some(case)
    }

    fn step(&mut self, draft: StepDraft, number: Option<usize>, offset: usize) -> Option<CaseStep> {
        let what = if number.is_some() { "step" } else { "case" };
        if draft.event.is_none() && !draft.meant.contains(&"event") {
            let cure = "add `event = \"tool.pre\"`; `hookrun events` lists the events";
            self.fault(offset, format!("the {what} has no `event`"), cure);
        }
        if draft.expect.is_none() && !draft.meant.contains(&"expect") {
            let cure = "add `expect = { decision = \"block\" }`";
            self.fault(offset, format!("the {what} has no `expect`"), cure);
        }
        if let [(first, ..), (second, _, offset), ..] = draft.inputs.as_slice() {
            let cause = format!("`{first}` and `{second}` both set the input");
            self.fault(*offset, cause, "keep one of them");
        }
        let input = draft.inputs.into_iter().next();
        Some(CaseStep {
            number,
            event: draft.event?,
            host: draft.host.unwrap_or_else(|| native::NAME.to_string()),
            hooks: draft.hooks,
            input: input.map_or(StepInput::Nothing, |(_, input, _)| input),
            files: draft.files,
            setup: draft.setup,
            expect: draft.expect??,
        })
    }

    /// Reports unknown folder tokens, and numbers that JSON does not have.
    fn check_words(&mut self, tree: &Tree) {
        match &tree.value {
            TreeValue::Text(text) => {
                for token in unknown_tokens(text) {
                    let known: Vec<&str> = TOKENS.iter().map(|row| row.name).collect();
                    let cause = format!("`{token}` is not a known placeholder");
                    let cure = format!("the placeholders are {}", known.join(", "));
                    self.fault(tree.offset, cause, cure);
                }
            }
            TreeValue::List(items) => items.iter().for_each(|item| self.check_words(item)),
            TreeValue::Table(entries) => entries
                .iter()
                .for_each(|entry| self.check_words(&entry.tree)),
            TreeValue::Fraction(_) | TreeValue::Other(_) if tree.to_json().is_null() => {
                let cause = "this number is not finite, or does not fit in 64 bits";
                let cure = "use a finite 64-bit number, or write the context as JSON in a string";
                self.fault(tree.offset, cause, cure);
            }
            TreeValue::Number(_)
            | TreeValue::Fraction(_)
            | TreeValue::Flag(_)
            | TreeValue::Date(_)
            | TreeValue::Other(_) => {}
        }
    }
}

fn one_line(name: &str) -> String {
    const LONGEST: usize = 120;
    let line: String = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST).chain(['…']).collect()
}
