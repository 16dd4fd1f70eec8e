//! Patches as Codex writes them (`apply_patch`), and single writes and edits as such patches.

use serde_json::{Map, Value};

use crate::hosts::tool::ToolSort;

/// What is being read of one file.
struct FilePatch<'p> {
    sort: ToolSort,
    path: &'p str,
    moved: Option<&'p str>,
    old: Vec<&'p str>,
    new: Vec<&'p str>,
}

/// What a patch does to each file, as a write or an edit of it; a file that moves is edited under
/// both names.
pub(super) fn read(patch: &str) -> Vec<(ToolSort, Map<String, Value>)> {
    let mut changes: Vec<FilePatch<'_>> = Vec::new();
    for line in patch.lines() {
        let begins = [
            ("*** Add File: ", ToolSort::Write),
            ("*** Update File: ", ToolSort::Edit),
            ("*** Delete File: ", ToolSort::Edit),
        ];
        let begun = begins
            .iter()
            .find_map(|(start, sort)| Some((*sort, line.trim().strip_prefix(start)?.trim())));
        if let Some((sort, path)) = begun {
            changes.push(FilePatch {
                sort,
                path,
                moved: None,
                old: Vec::new(),
                new: Vec::new(),
            });
            continue;
        }
        let Some(change) = changes.last_mut() else {
            continue;
        };
        if let Some(path) = line.trim().strip_prefix("*** Move to: ") {
            change.moved = Some(path.trim());
        } else if let Some(added) = line.strip_prefix('+') {
            change.new.push(added);
        } else if let Some(removed) = line.strip_prefix('-') {
            change.old.push(removed);
        } else if let Some(kept) = line.strip_prefix(' ') {
            change.old.push(kept);
            change.new.push(kept);
        }
    }
    changes.iter().flat_map(FilePatch::told).collect()
}

impl FilePatch<'_> {
    fn told(&self) -> Vec<(ToolSort, Map<String, Value>)> {
        let under = |path: &str| {
            let mut input = Map::new();
            let mut put = |key: &str, text: String| input.insert(key.to_string(), text.into());
            put("file_path", path.to_string());
            if self.sort == ToolSort::Write {
                put("content", self.new.join("\n"));
            } else {
                put("old_string", self.old.join("\n"));
                put("new_string", self.new.join("\n"));
            }
            (self.sort, input)
        };
        std::iter::once(self.path)
            .chain(self.moved)
            .map(under)
            .collect()
    }
}

/// A write or an edit as a patch.
pub(super) fn write(sort: ToolSort, input: &Map<String, Value>) -> String {
    let text = |of: &Map<String, Value>, key: &str| {
        of.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_string()
    };
    let lines = |mark: char, text: &str| -> String {
        text.lines().map(|line| format!("{mark}{line}\n")).collect()
    };
    let hunk = |edit: &Map<String, Value>| {
        let (old, new) = (text(edit, "old_string"), text(edit, "new_string"));
        format!("@@\n{}{}", lines('-', &old), lines('+', &new))
    };
    let path = text(input, "file_path");
    let body = match (sort, input.get("edits")) {
        (ToolSort::Write, _) => {
            format!(
                "*** Add File: {path}\n{}",
                lines('+', &text(input, "content"))
            )
        }
        (_, Some(Value::Array(edits))) => {
            let hunks: String = edits
                .iter()
                .filter_map(Value::as_object)
                .map(hunk)
                .collect();
            format!("*** Update File: {path}\n{hunks}")
        }
        _ => format!("*** Update File: {path}\n{}", hunk(input)),
    };
    format!("*** Begin Patch\n{body}*** End Patch")
}
