//! `[log]`: whether decisions are kept, and which of a user's secrets are taken out of them.

use crate::config::problem::Position;
use crate::config::reader::{KeyRow, Setting};
use crate::config::value::KeyValue;
use crate::engine::complaint::Complaint;

/// The keys of `[log]`.
#[rustfmt::skip]
pub const LOG_KEYS: &[KeyRow<LogTable>] = &[
    KeyRow::key("enabled", KeyValue::Flag, "true", "false: no decision is kept; said by the system or the user, not by a project",
        |log, key| key.flag().map(|is_on| log.off = (!is_on).then(|| key.at()))),
    KeyRow::key("redact", KeyValue::Texts, "none", "regular expressions for your own secrets; what the group `keep` matches stays", set_redact),
];

#[derive(Debug, Default)]
pub struct LogTable {
    /// Decisions are not kept, and where that is said.
    pub(crate) off: Option<Position>,
    pub(crate) redact: Vec<String>,
}

fn set_redact(log: &mut LogTable, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for text in key.texts()? {
        let problem = match regex_syntax::Parser::new().parse(&text.value) {
            Err(error) => error.to_string(),
            // It would be found between all letters.
            Ok(hir) if hir.properties().minimum_len() == Some(0) => "it matches nothing".into(),
            Ok(_) => {
                log.redact.push(text.value);
                continue;
            }
        };
        let last = problem.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let cause = format!("`{}` is not a regular expression for secrets: {last}", text.value);
        let cure = "fix it; `'…'` needs no doubled backslashes";
        let complaint = Complaint::with_cure(cause, cure);
        key.reader.problems.push(complaint.in_file(key.reader.file, Some(text.at)));
    }
    Ok(())
}
