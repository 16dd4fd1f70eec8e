//! Reads what must come back.

use toml::de::{DeTable, DeValue};

use super::values::{in_order, json};
use super::{CaseReader, CaseValue};
use crate::config::keys::KeyRow;
use crate::engine::complaint::Complaint;
use crate::lab::scenario::keys::{EXPECT_KEYS, REPLY_KEYS};
use crate::lab::scenario::{Expect, Left, Placed, Stdout};

impl CaseReader<'_> {
    /// The table `expect`, which stands at `start`.
    pub(super) fn expect(&mut self, table: &DeTable<'_>, start: usize) -> Option<Expect> {
        let before = self.problems.len();
        let at = self.at(start);
        let mut expect = Expect {
            at,
            decision: Placed { value: String::new(), at },
            reason: None,
            by: None,
            asked: None,
            failed: Placed { value: Vec::new(), at },
            output: None,
            context: None,
            notice: None,
            findings: None,
            rewrites: Placed { value: serde_json::json!({}), at },
            status: None,
            stdout: None,
            stderr: None,
            within: None,
            files: Vec::new(),
        };
        let mut has_decision = false;
        for (key, value) in in_order(table) {
            let Some(row) = self.row(EXPECT_KEYS, key) else { continue };
            has_decision |= row.name == "decision";
            self.expected(&mut expect, row, value);
        }
        if !has_decision {
            let cure = "say what comes out: `decision = \"allow\"`";
            self.fault(Complaint::with_cure("`expect` has no `decision`", cure), start);
        }
        self.check_sense(&expect);
        (self.problems.len() == before).then_some(expect)
    }

    fn expected(&mut self, expect: &mut Expect, row: &KeyRow, value: &CaseValue<'_>) {
        match row.name {
            "decision" => {
                if let Some(decision) = self.one_of(row, value) {
                    expect.decision = decision;
                }
            }
            "reason" => expect.reason = self.pattern(row, value),
            "by" => expect.by = self.names(row, value),
            "asked" => expect.asked = self.names(row, value),
            "failed" => {
                if let Some(failed) = self.names(row, value) {
                    expect.failed = failed;
                }
            }
            "output" => expect.output = self.pattern(row, value),
            "context" => expect.context = self.pattern(row, value),
            "notice" => expect.notice = self.pattern(row, value),
            "findings" => expect.findings = self.pattern(row, value),
            "rewrites" => {
                if let Some(value) = self.document(row, value) {
                    expect.rewrites = value;
                }
            }
            "reply" => self.reply(expect, row, value),
            "within" => expect.within = self.duration(row, value),
            _ => self.left(expect, row, value),
        }
    }

    /// What no outcome can be.
    fn check_sense(&mut self, expect: &Expect) {
        if expect.decision.value != "allow" {
            return;
        }
        let reason = expect.reason.as_ref().map(|reason| ("reason", reason.at));
        let by = expect.by.as_ref().map(|by| ("by", by.at));
        for (key, at) in [reason, by].into_iter().flatten() {
            let cause = format!("what is allowed has no `{key}`");
            let fault = Complaint::with_cure(cause, "drop it, or correct the `decision`");
            self.problems.push(fault.in_file(self.file, Some(at)));
        }
    }

    /// A JSON object: a table, or text.
    fn document(
        &mut self,
        row: &KeyRow,
        value: &CaseValue<'_>,
    ) -> Option<Placed<serde_json::Value>> {
        let at = self.at(value.span().start);
        let parsed = match value.get_ref().as_str() {
            Some(text) => serde_json::from_str(text).ok(),
            None => Some(json(value)),
        };
        match parsed.filter(serde_json::Value::is_object) {
            Some(value) => Some(Placed { value, at }),
            None => {
                let cause = format!("`{}` is not a JSON object", row.name);
                let cure = "write a table: `{ toolInput = { command = \"ls\" } }`";
                self.fault(Complaint::with_cure(cause, cure), value.span().start);
                None
            }
        }
    }

    fn reply(&mut self, expect: &mut Expect, row: &KeyRow, value: &CaseValue<'_>) {
        let Some(table) = self.filled_table(row, value) else { return };
        for (key, value) in in_order(table) {
            let Some(row) = self.row(REPLY_KEYS, key) else { continue };
            let at = self.at(value.span().start);
            match (row.name, value.get_ref()) {
                ("status", _) => expect.status = self.number_in(row, value, 0..=255),
                ("stderr", _) => expect.stderr = self.pattern(row, value),
                (_, DeValue::Table(_)) => {
                    expect.stdout = Some(Placed { value: Stdout::Json(json(value)), at });
                }
                (_, DeValue::String(_)) => {
                    let pattern = self.pattern(row, value);
                    let stdout =
                        pattern.map(|text| Placed { value: Stdout::Pattern(text.value), at });
                    expect.stdout = stdout;
                }
                _ => {
                    let _: Option<()> = self.wrong(row, value);
                }
            }
        }
    }

    /// What must have become of files.
    fn left(&mut self, expect: &mut Expect, row: &KeyRow, value: &CaseValue<'_>) {
        let Some(table) = self.filled_table(row, value) else { return };
        for (key, value) in in_order(table) {
            let path = Placed { value: key.get_ref().to_string(), at: self.at(key.span().start) };
            if path.value.is_empty() {
                // It would be the folder itself, which is always there.
                let fault = Complaint::with_cure("the file has no name", "write its path");
                self.fault(fault, key.span().start);
                continue;
            }
            let left = match (value.get_ref().as_str(), value.get_ref().as_bool()) {
                (_, Some(true)) => Some(Left::There),
                (_, Some(false)) => Some(Left::Gone),
                (Some(text), None) => {
                    let start = value.span().start;
                    let is_pattern = self.check_pattern(text, &path.value, start);
                    is_pattern.then(|| Left::Pattern(text.to_string()))
                }
                (None, None) => {
                    let cause = format!("of the file `{}` nothing can be said so", path.value);
                    let cure = "write a regular expression for its text, or true or false";
                    self.fault(Complaint::with_cure(cause, cure), value.span().start);
                    None
                }
            };
            expect.files.extend(left.map(|left| (path, left)));
        }
    }
}
