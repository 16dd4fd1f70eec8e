//! `[log]`: whether decisions are kept, and which secrets of one's own are taken out of them.

use super::{ManifestReader, ManifestValue, given};
use crate::config::draft::SettingValue;
use crate::config::keys::LOG_KEYS;
use crate::config::problem::Position;
use crate::engine::complaint::Complaint;

/// What a `hookrun.toml` says about the decision log.
#[derive(Debug, Default)]
pub(in crate::config) struct LogTable {
    /// Decisions are not kept, and where that is said.
    pub(in crate::config) off: Option<Position>,
    /// Expressions for secrets.
    pub(in crate::config) redact: Vec<String>,
}

impl ManifestReader<'_> {
    pub(super) fn log(&mut self, value: &ManifestValue<'_>) -> LogTable {
        let mut log = LogTable::default();
        let Some(table) = self.table(value, "`log`") else { return log };
        for (key, value) in table {
            let Some(row) = self.row(LOG_KEYS, key) else { continue };
            let at = value.span().start;
            match (row.name, given(value)) {
                ("enabled", SettingValue::Flag(is_on)) => {
                    log.off = (!is_on).then(|| self.at(at));
                }
                ("redact", SettingValue::Text(text)) => self.expression(text, at, &mut log),
                ("redact", SettingValue::Texts(texts)) => {
                    let places =
                        value.get_ref().as_array().into_iter().flat_map(|list| list.iter());
                    let places: Vec<usize> = places.map(|item| item.span().start).collect();
                    for (text, at) in texts.into_iter().zip(places) {
                        self.expression(text, at, &mut log);
                    }
                }
                (name, given) => {
                    let takes = row.takes.describe();
                    let cause = format!("`{name}` takes {takes}, not {}", given.describe());
                    self.fault(Complaint::with_cure(cause, row.takes.cure(name)), at);
                }
            }
        }
        log
    }

    fn expression(&mut self, text: String, at: usize, log: &mut LogTable) {
        let mut hir = regex_syntax::Parser::new();
        let problem = match hir.parse(&text) {
            Err(error) => error.to_string(),
            // It would be found between all letters.
            Ok(hir) if hir.properties().minimum_len() == Some(0) => "it matches nothing".into(),
            Ok(_) => return log.redact.push(text),
        };
        let last = problem.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let cause = format!("`{text}` is not a regular expression for secrets: {last}");
        self.fault(Complaint::with_cure(cause, "fix it; `'…'` needs no doubled backslashes"), at);
    }
}
