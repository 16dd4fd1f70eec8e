//! The report that a new one replaces: its summary is in its data.

use serde_json::Value;

const BEGIN: &str = "<script type=\"application/json\" id=\"data\"";
const END: &str = "</script>";

/// What an earlier page says in figures.
#[derive(Debug)]
pub struct EarlierReport {
    summary: Value,
    before: Value,
}

/// The text is no page of `hookrun report`.
#[derive(Debug)]
pub struct NotAReport;

impl EarlierReport {
    /// # Errors
    /// When `page` is not one of ours.
    pub fn read(page: &str) -> Result<EarlierReport, NotAReport> {
        let read = || {
            let (_, from) = page.split_once(BEGIN)?;
            let (data, _) = from.split_once('>')?.1.split_once(END)?;
            let mut data: Value = serde_json::from_str(data).ok()?;
            data.get("hookrunReport")?.as_u64()?;
            Some(EarlierReport {
                summary: data["summary"].take(),
                before: data["before"].take(),
            })
        };
        read().ok_or(NotAReport)
    }

    /// What to compare `summary` with: the earlier report, or, if that is about the same decisions,
    /// the one before it. So a report that is made twice is the same.
    pub(super) fn before(self, summary: &Value) -> Option<Value> {
        let before = if self.summary == *summary {
            self.before
        } else {
            self.summary
        };
        Some(before).filter(Value::is_object)
    }
}
