//! Reads what is asked, and with what: the keys that cases, steps and defaults share.

use std::path::PathBuf;

use super::values::{in_order, json};
use super::{CaseReader, CaseValue};
use crate::config::keys::KeyRow;
use crate::engine::complaint::Complaint;
use crate::lab::scenario::keys::STEP_KEYS;
use crate::lab::scenario::{CaseStep, Expect, Laid, Placed, StepInput};

/// What a case or a step has from the tables around it.
#[derive(Debug, Clone, Default)]
pub(super) struct TableDefaults {
    pub(super) event: Option<Placed<String>>,
    pub(super) host: Option<Placed<String>>,
    pub(super) hooks: Vec<Placed<String>>,
    pub(super) env: Vec<(String, String)>,
    pub(super) files: Vec<Laid>,
    pub(super) setup: Vec<Placed<String>>,
}

/// The keys that a step alone has.
#[derive(Debug, Default)]
pub(super) struct StepKeys {
    /// What comes on stdin, with the key that says it.
    pub(super) inputs: Vec<(&'static str, StepInput, usize)>,
    pub(super) expect: Option<Expect>,
    pub(super) has_expect: bool,
}

impl CaseReader<'_> {
    pub(super) fn steps(
        &mut self,
        tables: &[&CaseValue<'_>],
        given: &TableDefaults,
    ) -> Vec<CaseStep> {
        let mut steps = Vec::new();
        for (number, value) in (1..).zip(tables) {
            let Some(table) = value.get_ref().as_table() else { continue };
            let (mut given, mut own) = (given.clone(), StepKeys::default());
            for (key, value) in in_order(table) {
                if let Some(row) = self.row(STEP_KEYS, key) {
                    self.own(&mut given, &mut own, row, value);
                }
            }
            steps.extend(self.step(given, own, Some(number), value.span().start));
        }
        steps
    }

    /// A step of what its tables say.
    pub(super) fn step(
        &mut self,
        given: TableDefaults,
        own: StepKeys,
        number: Option<usize>,
        start: usize,
    ) -> Option<CaseStep> {
        let what = if number.is_some() { "step" } else { "case" };
        if given.event.is_none() {
            let cure = "add `event = \"tool.pre\"`; `hookrun events` lists them";
            self.fault(Complaint::with_cure(format!("the {what} has no `event`"), cure), start);
        }
        if !own.has_expect {
            let cure = "add `expect = { decision = \"block\" }`";
            self.fault(Complaint::with_cure(format!("the {what} expects nothing"), cure), start);
        }
        if let [(first, ..), (second, _, offset), ..] = own.inputs.as_slice() {
            let cause = format!("`{first}` and `{second}` both say what is sent");
            self.fault(Complaint::with_cure(cause, "keep one of them"), *offset);
        }
        let native = Placed { value: "native".to_string(), at: self.at(start) };
        Some(CaseStep {
            number,
            event: given.event?,
            host: given.host.unwrap_or(native),
            hooks: given.hooks,
            input: own.inputs.into_iter().next().map_or(StepInput::Nothing, |(_, input, _)| input),
            files: given.files,
            setup: given.setup,
            expect: own.expect?,
        })
    }

    /// Takes a key that steps and cases have.
    pub(super) fn own(
        &mut self,
        given: &mut TableDefaults,
        own: &mut StepKeys,
        row: &KeyRow,
        value: &CaseValue<'_>,
    ) {
        let offset = value.span().start;
        let input = match row.name {
            "expect" => {
                own.has_expect = true;
                own.expect = self.table(row, value).and_then(|table| self.expect(table, offset));
                return;
            }
            "context" => self.context(row, value).map(|input| ("context", input)),
            "context_file" => {
                let path = self.text(row, value);
                path.map(|text| Placed { value: PathBuf::from(text.value), at: text.at })
                    .map(|path| ("context_file", StepInput::File(path)))
            }
            "stdin" => self.text(row, value).map(|text| ("stdin", StepInput::Text(text.value))),
            _ => return self.given(given, row, value),
        };
        own.inputs.extend(input.map(|(name, input)| (name, input, offset)));
    }

    /// A context: a table, or the JSON document itself, whose every byte is kept.
    fn context(&mut self, row: &KeyRow, value: &CaseValue<'_>) -> Option<StepInput> {
        let at = self.at(value.span().start);
        match value.get_ref().as_str() {
            None if value.get_ref().is_table() => {
                Some(StepInput::Context(Placed { value: json(value), at }))
            }
            None => self.wrong(row, value),
            Some(text) => {
                match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) {
                    Ok(_) => return Some(StepInput::Json(Placed { value: text.to_string(), at })),
                    Err(error) => {
                        let cause = format!("`context` is not a JSON object: {error}");
                        let cure = "correct it; to send other text, use `stdin`";
                        self.fault(Complaint::with_cure(cause, cure), value.span().start);
                    }
                }
                None
            }
        }
    }

    /// Takes a key that defaults, cases and steps have.
    pub(super) fn given(&mut self, given: &mut TableDefaults, row: &KeyRow, value: &CaseValue<'_>) {
        match row.name {
            "event" => given.event = self.text(row, value),
            "host" => given.host = self.one_of(row, value),
            "hook" => given.hooks = self.listed(row, value),
            "env" => {
                let Some(table) = self.table(row, value) else { return };
                for (key, value) in in_order(table) {
                    let Some(variable) = self.variable(key, value) else { continue };
                    given.env.retain(|(name, _)| *name != variable.0);
                    given.env.push(variable);
                }
            }
            "files" => {
                let Some(table) = self.table(row, value) else { return };
                for (key, value) in in_order(table) {
                    given.files.extend(self.laid(key, value));
                }
            }
            _ => given.setup.extend(self.text(row, value)),
        }
    }
}
