//! Reads `[[never]]`: what hooks never do.

use super::values::in_order;
use super::{CaseReader, CaseValue};
use crate::engine::complaint::Complaint;
use crate::lab::scenario::Never;
use crate::lab::scenario::keys::NEVER_KEYS;

impl CaseReader<'_> {
    pub(super) fn nevers(&mut self, value: &CaseValue<'_>) -> Vec<Never> {
        let tables = self.tables("never", value);
        tables.into_iter().filter_map(|table| self.never(table)).collect()
    }

    fn never(&mut self, value: &CaseValue<'_>) -> Option<Never> {
        let start = value.span().start;
        let before = self.problems.len();
        let (mut hook, mut events, mut point, mut why) = (None, Vec::new(), None, None);
        for (key, value) in in_order(value.get_ref().as_table()?) {
            let Some(row) = self.row(NEVER_KEYS, key) else { continue };
            match row.name {
                "hook" => hook = self.text(row, value),
                "event" => events = self.listed(row, value),
                "point" => point = self.one_of(row, value),
                _ => why = self.text(row, value).filter(|why| !why.value.trim().is_empty()),
            }
        }
        let given = [("hook", hook.is_some()), ("point", point.is_some()), ("why", why.is_some())];
        // A value that is wrong is problem enough.
        if self.problems.len() == before {
            for (name, _) in given.into_iter().filter(|(_, is_given)| !is_given) {
                let cure = format!("add `{name} = \"…\"`; a gap is only excused with all of them");
                self.fault(
                    Complaint::with_cure(format!("`[[never]]` has no `{name}`"), cure),
                    start,
                );
            }
        }
        let events = events.into_iter().map(|event| event.value).collect();
        let at = self.at(start);
        Some(Never { hook: hook?.value, events, point: point?.value, why: why?.value, at })
    }
}
