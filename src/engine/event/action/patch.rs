//! The files that patches name: those of Codex CLI (`apply_patch`) and unified diffs. Pure.

use super::input::ToolInput;
use crate::engine::event::json::{elements, string_text};

/// Keys of a tool input that can hold the text of a patch: Codex CLI's, OpenCode's `patchText`,
/// and those of tools that take a unified diff.
const PATCH_KEYS: &[&str] = &["patch", "input", "command", "patchtext", "diff"];

/// The lines of a patch of Codex's that name a file.
const FILE_LINES: &[&str] = &[
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// The lines of a diff of git's that name a file.
const GIT_LINES: &[&str] = &["rename from ", "rename to ", "copy from ", "copy to "];

/// The files that the patches in this input touch.
pub(super) fn in_input(input: &ToolInput<'_>) -> Vec<String> {
    let mut texts: Vec<String> = string_text(input.raw).into_iter().collect();
    for (_, raw) in input
        .entries
        .iter()
        .filter(|(key, _)| key.is_in(PATCH_KEYS))
    {
        match elements(raw) {
            Some(list) => texts.extend(list.iter().filter_map(|text| string_text(text.get()))),
            None => texts.extend(string_text(raw)),
        }
    }
    let mut found = Vec::new();
    for text in &texts {
        for line in text.lines() {
            let named = FILE_LINES
                .iter()
                .find_map(|start| line.trim().strip_prefix(start));
            found.extend(named.map(|path| path.trim().to_string()));
        }
        in_diff(text, &mut found);
    }
    found
}

/// The files that a patch inside a shell command touches, however it is quoted.
pub(super) fn in_command(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Looking for patches would cost every other command time.
    if !command.contains("*** ") && !command.contains("+++ ") && !command.contains("diff --git ") {
        return found;
    }
    // Added and removed lines are content.
    let lines = command.lines().flat_map(|line| line.split("\\n"));
    for line in lines.filter(|line| !line.starts_with(['+', '-'])) {
        let begun = FILE_LINES.iter().find_map(|start| line.split_once(start));
        let Some((_, path)) = begun else { continue };
        found.push(path.trim().to_string());
        // A quote may be the shell's, or a part of the name.
        if let Some((path, _)) = path.split_once(['\'', '"']) {
            found.push(path.trim().to_string());
        }
    }
    in_diff(command, &mut found);
    found
}

/// Adds the files that a unified diff touches.
fn in_diff(text: &str, found: &mut Vec<String>) {
    let mut add = |path: &str| {
        let path = path.split('\t').next().unwrap_or_default().trim();
        let path = path
            .strip_prefix("a/")
            .or_else(|| path.strip_prefix("b/"))
            .unwrap_or(path);
        if !path.is_empty() && path != "/dev/null" && !found.iter().any(|known| known == path) {
            found.push(path.to_string());
        }
    };
    let mut before = "";
    let mut is_of_git = false;
    for line in text.lines() {
        if let Some(both) = line.strip_prefix("diff --git ") {
            is_of_git = true;
            if let Some((old, new)) = both.rsplit_once(" b/") {
                add(old);
                add(new);
            }
        }
        if let (Some(old), Some(new)) = (before.strip_prefix("--- "), line.strip_prefix("+++ ")) {
            add(old);
            add(new);
        }
        if is_of_git {
            GIT_LINES
                .iter()
                .filter_map(|start| line.strip_prefix(start))
                .for_each(&mut add);
        }
        before = line;
    }
}
