//! The keys of a file that a case lays out.

use std::path::PathBuf;

use super::case::{Content, Laid};
use crate::config::Placed;
use crate::config::reader::{DocumentReader, KeyRow, Setting};
use crate::config::tree::TreeEntry;
use crate::config::value::KeyValue;
use crate::engine::complaint::Complaint;

/// The keys of a file that is laid out, if it is not just its text.
#[rustfmt::skip]
pub const FILE_KEYS: &[KeyRow<FileDraft>] = &[
    KeyRow::key("text", KeyValue::Text, "empty", "what is in it",
        |file, key| key.text().map(|text| file.text = Some(text.to_string()))),
    KeyRow::key("copy", KeyValue::Text, "none", "the file that it is a copy of, relative to the file of cases",
        |file, key| key.text().map(|path| file.copy = Some(key.placed(path.into())))),
    KeyRow::key("mode", KeyValue::Text, "\"644\"", "its permissions, in octal", set_mode),
];

#[derive(Debug, Default)]
pub struct FileDraft {
    text: Option<String>,
    copy: Option<Placed<PathBuf>>,
    mode: Option<u32>,
}

fn set_mode(file: &mut FileDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let text = key.text()?;
    file.mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o7777);
    match file.mode {
        Some(_) => Ok(()),
        None => {
            let cause = format!("`{text}` is no permissions");
            Err(Complaint::with_cure(cause, "write them in octal: \"755\""))
        }
    }
}

/// A file that is laid out: its text, or a table about it. `None` if it has a mistake.
pub(super) fn read(reader: &mut DocumentReader<'_>, entry: &TreeEntry) -> Option<Laid> {
    let (name, tree) = (&entry.key, &entry.tree);
    if let Some(cause) = no_path(name) {
        let cause = format!("`{name}` cannot be laid out: {cause}");
        reader.fault(entry.at, cause, "write the path of a file in the case's folder");
        return None;
    }
    let path = Placed { value: name.clone(), at: reader.at(entry.at) };
    if let Some(text) = tree.text() {
        return Some(Laid { path, content: Content::Text(text.to_string()), mode: None });
    }
    let Some(table) = tree.entries() else {
        let cause = format!("the file `{name}` is neither a text nor a table");
        let cure = "write its text, or `{ copy = \"…\", mode = \"755\" }`";
        reader.fault(tree.offset, cause, cure);
        return None;
    };
    let before = reader.problems.len();
    let mut file = FileDraft::default();
    reader.take(table, FILE_KEYS, "", &mut file);
    if reader.problems.len() > before {
        return None;
    }
    let content = match (file.text, file.copy) {
        (Some(_), Some(copy)) => {
            let cause = format!("the file `{name}` has a `text` and a `copy`");
            let complaint = Complaint::with_cure(cause, "keep one of them");
            reader.problems.push(complaint.in_file(reader.file, Some(copy.at)));
            return None;
        }
        (Some(text), None) => Content::Text(text),
        (None, Some(copy)) => Content::Copy(copy.value),
        (None, None) if file.mode.is_some() => Content::Text(String::new()),
        (None, None) => {
            let cause = format!("nothing says what is in the file `{name}`");
            reader.fault(tree.offset, cause, "give it a `text` or a `copy`");
            return None;
        }
    };
    Some(Laid { path, content, mode: file.mode })
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
