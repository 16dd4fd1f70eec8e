//! Single values of a file of cases, each of the type that its key takes.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{CaseReader, CaseValue};
use crate::config::keys::{KeyRow, KeyValue};
use crate::engine::complaint::Complaint;
use crate::engine::hook::parse_duration;
use crate::engine::spelling;
use crate::lab::scenario::keys::FILE_KEYS;
use crate::lab::scenario::{Content, Laid, Placed};

impl CaseReader<'_> {
    /// Tells that a value is of the wrong type.
    pub(super) fn wrong<T>(&mut self, row: &KeyRow, value: &CaseValue<'_>) -> Option<T> {
        let cause =
            format!("`{}` takes {}, not {}", row.name, row.takes.describe(), kind(value.get_ref()));
        self.fault(Complaint::with_cure(cause, row.takes.cure(row.name)), value.span().start);
        None
    }

    pub(super) fn text(&mut self, row: &KeyRow, value: &CaseValue<'_>) -> Option<Placed<String>> {
        let at = self.at(value.span().start);
        match value.get_ref().as_str() {
            Some(text) => Some(Placed { value: text.to_string(), at }),
            None => self.wrong(row, value),
        }
    }

    /// A string, or a list of them.
    pub(super) fn texts(
        &mut self,
        row: &KeyRow,
        value: &CaseValue<'_>,
    ) -> Option<Vec<Placed<String>>> {
        let DeValue::Array(list) = value.get_ref() else {
            return self.text(row, value).map(|one| vec![one]);
        };
        let mut texts = Vec::new();
        for one in list.iter() {
            if !one.get_ref().is_str() {
                return self.wrong(row, value);
            }
            texts.extend(self.text(row, one));
        }
        Some(texts)
    }

    /// A string that says something.
    pub(super) fn said(
        &mut self,
        row: &KeyRow,
        value: &CaseValue<'_>,
        cure: &str,
    ) -> Option<Placed<String>> {
        let text = self.text(row, value)?;
        if text.value.trim().is_empty() {
            let cause = format!("`{}` is empty", row.name);
            self.fault(Complaint::with_cure(cause, cure), value.span().start);
        }
        Some(text)
    }

    /// Names where none at all would mean every one, so that an empty list says the opposite of what
    /// it looks like.
    pub(super) fn listed(&mut self, row: &KeyRow, value: &CaseValue<'_>) -> Vec<Placed<String>> {
        let texts = self.texts(row, value);
        if texts.as_ref().is_some_and(Vec::is_empty) {
            let cure = format!("name one, or drop it for {}", row.default);
            let cause = format!("`{}` is an empty list", row.name);
            self.fault(Complaint::with_cure(cause, cure), value.span().start);
        }
        texts.unwrap_or_default()
    }

    /// A list of names in one place.
    pub(super) fn names(
        &mut self,
        row: &KeyRow,
        value: &CaseValue<'_>,
    ) -> Option<Placed<Vec<String>>> {
        let texts = self.texts(row, value)?;
        let at = self.at(value.span().start);
        Some(Placed { value: texts.into_iter().map(|one| one.value).collect(), at })
    }

    pub(super) fn paths(&mut self, row: &KeyRow, value: &CaseValue<'_>) -> Vec<Placed<PathBuf>> {
        let texts = self.listed(row, value);
        let path = |text: Placed<String>| Placed { value: text.value.into(), at: text.at };
        texts.into_iter().map(path).collect()
    }

    pub(super) fn number(&mut self, row: &KeyRow, value: &CaseValue<'_>) -> Option<Placed<i64>> {
        let at = self.at(value.span().start);
        match integer(value.get_ref()) {
            Some(number) => Some(Placed { value: number, at }),
            None => self.wrong(row, value),
        }
    }

    /// A whole number that can be this.
    pub(super) fn number_in(
        &mut self,
        row: &KeyRow,
        value: &CaseValue<'_>,
        range: RangeInclusive<i64>,
    ) -> Option<Placed<i64>> {
        let number = self.number(row, value)?;
        if range.contains(&number.value) {
            return Some(number);
        }
        let cause = format!("`{}` cannot be {}", row.name, number.value);
        let cure = match (range.start(), range.end()) {
            (least, &i64::MAX) => format!("write {least} or more"),
            (least, most) => format!("write a number from {least} to {most}"),
        };
        self.fault(Complaint::with_cure(cause, cure), value.span().start);
        None
    }

    pub(super) fn duration(
        &mut self,
        row: &KeyRow,
        value: &CaseValue<'_>,
    ) -> Option<Placed<Duration>> {
        let text = self.text(row, value)?;
        match parse_duration(&text.value) {
            Ok(duration) => Some(Placed { value: duration, at: text.at }),
            Err(problem) => {
                let cause = format!("`{}`: {problem}", row.name);
                self.fault(Complaint { cause, cure: None }, value.span().start);
                None
            }
        }
    }

    /// One of the words that a key takes, in any case of letters.
    pub(super) fn one_of(&mut self, row: &KeyRow, value: &CaseValue<'_>) -> Option<Placed<String>> {
        let text = self.text(row, value)?;
        let KeyValue::OneOf(words) = row.takes else { return Some(text) };
        let words = words();
        if let Some(word) = words.iter().find(|word| word.eq_ignore_ascii_case(&text.value)) {
            return Some(Placed { value: (*word).to_string(), at: text.at });
        }
        let cause = format!("`{}` is not {}", text.value, row.takes.describe());
        let cure = match spelling::nearest(&text.value, words.iter().copied()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("write {}", row.takes.describe()),
        };
        self.fault(Complaint::with_cure(cause, cure), value.span().start);
        None
    }

    pub(super) fn table<'v, 'i>(
        &mut self,
        row: &KeyRow,
        value: &'v CaseValue<'i>,
    ) -> Option<&'v DeTable<'i>> {
        match value.get_ref().as_table() {
            Some(table) => Some(table),
            None => self.wrong(row, value),
        }
    }

    /// A table with something in it: one without looks like an expectation, and is none.
    pub(super) fn filled_table<'v, 'i>(
        &mut self,
        row: &KeyRow,
        value: &'v CaseValue<'i>,
    ) -> Option<&'v DeTable<'i>> {
        let table = self.table(row, value)?;
        if table.is_empty() {
            let cause = format!("`{}` is empty, so it expects nothing", row.name);
            self.fault(
                Complaint::with_cure(cause, "say what it is, or drop it"),
                value.span().start,
            );
        }
        Some(table)
    }

    /// The tables of a list of tables, which has some: what was meant to be in it would be missed by
    /// nobody.
    pub(super) fn tables<'v, 'i>(
        &mut self,
        key: &str,
        value: &'v CaseValue<'i>,
    ) -> Vec<&'v CaseValue<'i>> {
        let start = value.span().start;
        let above = if matches!(key, "case" | "never") { "" } else { "case." };
        let fault = |cause: String| {
            Complaint::with_cure(cause, format!("write `[[{above}{key}]]` with two brackets"))
        };
        let DeValue::Array(list) = value.get_ref() else {
            self.fault(fault(format!("`{key}` is not a list of tables")), start);
            return Vec::new();
        };
        if list.is_empty() {
            let (cause, cure) = match key {
                "with" => ("`with` has no rows".to_string(), "add a row, or drop it".to_string()),
                _ => (
                    format!("`{key}` is an empty list"),
                    format!("write a table `[[{above}{key}]]`, or drop it"),
                ),
            };
            self.fault(Complaint::with_cure(cause, cure), start);
        }
        let mut tables = Vec::new();
        for one in list.iter() {
            if one.get_ref().is_table() {
                tables.push(one);
            } else {
                let cause = format!("`{key}` has something in it that is no table");
                self.fault(fault(cause), one.span().start);
            }
        }
        tables
    }

    /// A variable of the environment.
    pub(super) fn variable(
        &mut self,
        key: &Spanned<Cow<'_, str>>,
        value: &CaseValue<'_>,
    ) -> Option<(String, String)> {
        let name = key.get_ref().to_string();
        let start = key.span().start;
        if name.is_empty() || name.contains(['=', '\0']) {
            let cause = format!("`{name}` cannot be the name of a variable");
            self.fault(Complaint::with_cure(cause, "correct it"), start);
            return None;
        }
        match value.get_ref().as_str().filter(|text| !text.contains('\0')) {
            Some(text) => Some((name, text.to_string())),
            None => {
                let cause = format!("the variable `{name}` is not a string without NUL");
                self.fault(
                    Complaint::with_cure(cause, "write its value in quotes"),
                    value.span().start,
                );
                None
            }
        }
    }

    /// A file that is laid out: its text, or a table about it.
    pub(super) fn laid(
        &mut self,
        key: &Spanned<Cow<'_, str>>,
        value: &CaseValue<'_>,
    ) -> Option<Laid> {
        let path = Placed { value: key.get_ref().to_string(), at: self.at(key.span().start) };
        if let Some(cause) = no_path(&path.value) {
            let cause = format!("`{}` cannot be laid out: {cause}", path.value);
            let cure = "write the path of a file in the case's folder";
            self.fault(Complaint::with_cure(cause, cure), key.span().start);
            return None;
        }
        match (value.get_ref().as_str(), value.get_ref().as_table()) {
            (Some(text), _) => {
                Some(Laid { path, content: Content::Text(text.to_string()), mode: None })
            }
            (None, Some(table)) => self.laid_by(path, table, value.span().start),
            (None, None) => {
                let cause = format!("the file `{}` is neither a text nor a table", path.value);
                let cure = "write its text, or `{ copy = \"…\", mode = \"755\" }`";
                self.fault(Complaint::with_cure(cause, cure), value.span().start);
                None
            }
        }
    }

    fn laid_by(&mut self, path: Placed<String>, table: &DeTable<'_>, start: usize) -> Option<Laid> {
        let (mut text, mut copy, mut mode) = (None, None, None);
        for (key, value) in in_order(table) {
            let Some(row) = self.row(FILE_KEYS, key) else { continue };
            match row.name {
                "text" => text = Some(self.text(row, value)?),
                "copy" => copy = Some(self.text(row, value)?),
                _ => mode = Some(self.mode(row, value)?),
            }
        }
        let content = match (text, copy) {
            (Some(_), Some(copy)) => {
                let cause = format!("the file `{}` has a `text` and a `copy`", path.value);
                let problem = Complaint::with_cure(cause, "keep one of them")
                    .in_file(self.file, Some(copy.at));
                self.problems.push(problem);
                return None;
            }
            (Some(text), None) => Content::Text(text.value),
            (None, Some(copy)) => Content::Copy(copy.value.into()),
            (None, None) if mode.is_some() => Content::Text(String::new()),
            (None, None) => {
                let cause = format!("nothing says what is in the file `{}`", path.value);
                self.fault(Complaint::with_cure(cause, "give it a `text` or a `copy`"), start);
                return None;
            }
        };
        Some(Laid { path, content, mode })
    }

    fn mode(&mut self, row: &KeyRow, value: &CaseValue<'_>) -> Option<u32> {
        let text = self.text(row, value)?;
        let mode = u32::from_str_radix(&text.value, 8).ok().filter(|mode| *mode <= 0o7777);
        if mode.is_none() {
            let cause = format!("`{}` is no permissions", text.value);
            self.fault(
                Complaint::with_cure(cause, "write them in octal: \"755\""),
                value.span().start,
            );
        }
        mode
    }
}

/// Why no file of a case can have this path, if none can.
fn no_path(path: &str) -> Option<&'static str> {
    let is_folder = |end: &str| matches!(end, "" | "." | "{case.folder}" | "{case.home}");
    match path {
        "" => Some("it has no name"),
        _ if path.contains('\0') => Some("there is a NUL in it"),
        _ if path.split('/').any(|part| part == "..") => {
            Some("it is outside of the case's folders")
        }
        _ if path.starts_with('/') || path.starts_with("{suite.folder}") => {
            Some("it is outside of the case's folders")
        }
        _ if path.rsplit('/').next().is_some_and(is_folder) => Some("it is a folder"),
        _ => None,
    }
}

/// The entries of a table in the order of the file.
pub(super) fn in_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t Spanned<Cow<'i, str>>, &'t CaseValue<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// A value as JSON; a date is its text.
pub(super) fn json(value: &CaseValue<'_>) -> serde_json::Value {
    match value.get_ref() {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(_) => integer(value.get_ref()).into(),
        DeValue::Float(number) => number.as_str().replace('_', "").parse::<f64>().ok().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(date) => date.to_string().into(),
        DeValue::Array(list) => list.iter().map(json).collect(),
        DeValue::Table(table) => {
            let entries = in_order(table).into_iter();
            entries.map(|(key, value)| (key.get_ref().to_string(), json(value))).collect()
        }
    }
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
}

/// What a value is, for messages.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "such a list",
        DeValue::Table(_) => "a table",
    }
}
