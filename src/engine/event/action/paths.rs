//! Finds paths in a tool's input: in path keys, in patches, and texts that may be paths. Pure.

use std::collections::HashSet;

use super::tool::{ActionKind, FOLDER_KEYS, Key, ToolInput, each_keyed_text};
use crate::engine::event::json::{elements, string_text};
use crate::engine::names::words;

/// Keys of a path or a list of paths, at any depth, ignoring case, `_` and `-`. Two are from
/// Cursor's `EditNotebook` and `Glob`.
const PATH_KEYS: &[&str] = words!(
    "path" "paths" "filepath" "filepaths" "file" "files" "filename" "filenames" "notebookpath"
    "absolutepath" "relativepath" "pathinproject" "dirpath" "directory" "targetfile"
    "targetnotebook" "targetdirectory" "oldpath" "newpath" "source" "destination" "uri"
);

/// Suffixes of other path keys, except in shell tools.
const PATH_ENDINGS: &[&str] = words!("path" "paths" "file" "files" "filename" "dir" "directory");

/// Keys with these suffixes that are not paths.
const NO_PATH_KEYS: &[&str] = &["profile", "profiles", "xpath", "jsonpath"];

/// Path keys of tools that change files, and of unknown tools.
const MOVE_KEYS: &[&str] = &["target", "dest", "dst", "src", "from", "to"];

/// Path keys of reading tools; in a search they are filters (Gemini CLI `read_many_files`).
const READ_KEYS: &[&str] = &["include"];

/// Keys of a search that may select files.
const FILTER_KEYS: &[&str] =
    words!("glob" "globs" "globpattern" "include" "includes" "includepattern");

/// Keys of content, not paths, if another key names a path.
const CONTENT_KEYS: &[&str] = words!(
    "content" "contents" "text" "filetext" "body" "data" "oldstring" "newstring" "oldtext"
    "newtext" "oldstr" "newstr" "newsource" "message" "description" "explanation" "instruction"
    "instructions" "prompt" "query" "pattern" "regex" "search" "replace" "replacement" "find"
    "title" "summary" "comment" "code" "diff" "patch"
);

/// `PATH_MAX`: longer paths cannot be opened.
const LONGEST_PATH_BYTES: usize = 4096;

/// Maximum number of guesses; with more, all path matchers of a gate match.
const MOST_GUESSES: usize = 4096;

/// Paths in path keys, at any depth, and the tool's working directories.
#[derive(Default)]
pub(super) struct NamedPaths {
    pub(super) paths: Vec<String>,
    pub(super) folders: Vec<String>,
}

impl NamedPaths {
    pub(super) fn read(kind: ActionKind, input: &str) -> NamedPaths {
        let more = match kind {
            ActionKind::Read => READ_KEYS,
            ActionKind::Write | ActionKind::Edit | ActionKind::Mcp | ActionKind::Other => MOVE_KEYS,
            ActionKind::Shell | ActionKind::Search | ActionKind::Fetch | ActionKind::Agent => &[],
        };
        let is_local = matches!(
            kind,
            ActionKind::Read | ActionKind::Write | ActionKind::Edit
        );
        let mut named = NamedPaths::default();
        each_keyed_text(input, &mut |key, raw| {
            if key.is_in(FOLDER_KEYS) {
                named.folders.extend(string_text(raw).map(path_of));
            }
            let is_path = is_path_key(kind, key) || key.is_in(more);
            let is_address = kind != ActionKind::Shell && is_file_url(raw);
            if !is_path && (!is_address || key.is_in(CONTENT_KEYS)) {
                return;
            }
            let path = string_text(raw).map(path_of);
            named.paths.extend(
                path.filter(|path| !path.is_empty() && (is_local && is_path || !is_url(path))),
            );
        });
        named
    }
}

/// Texts of a tool's input that may be paths, though no key says so.
#[derive(Debug, Default)]
pub(crate) struct Guesses {
    pub(crate) texts: Vec<String>,
    /// Whether texts were dropped.
    pub(crate) is_cut: bool,
}

impl Guesses {
    /// Collects the guesses in the input of the tool `name`; `named` are its known paths.
    pub(super) fn read(kind: ActionKind, name: &str, input: &str, named: &NamedPaths) -> Guesses {
        let mut guesses = Guesses::default();
        if matches!(
            kind,
            ActionKind::Shell | ActionKind::Fetch | ActionKind::Agent
        ) {
            return guesses;
        }
        let is_named = !named.paths.is_empty();
        let is_search = kind == ActionKind::Search;
        let name = name.to_ascii_lowercase();
        let is_finder = name.contains("glob") || name.contains("find");
        let mut seen: HashSet<String> = HashSet::new();
        each_keyed_text(input, &mut |key, raw| {
            let is_filter = key.is_in(FILTER_KEYS) || is_finder && key.is("pattern");
            let is_content = match is_search {
                true => !is_filter,
                false => key.is_of_command() || is_named && key.is_in(CONTENT_KEYS),
            };
            let is_path = is_path_key(kind, key);
            if is_content && !is_path {
                return;
            }
            let line = string_text(raw)
                .filter(|text| !text.trim().is_empty() && !text.contains(char::is_control));
            let text = line.map(path_of).and_then(short);
            let text = text.filter(|text| !is_named || is_path || may_be_path(text));
            let Some(text) = text.filter(|text| !seen.contains(text)) else {
                return;
            };
            if seen.len() < MOST_GUESSES {
                guesses.texts.push(text.clone());
                seen.insert(text);
            } else {
                guesses.is_cut = true;
            }
        });
        guesses.join(named);
        guesses
    }

    /// Adds the texts relative to the tool's folders, and removes known paths.
    fn join(&mut self, named: &NamedPaths) {
        let mut joined = Vec::new();
        for folder in &named.folders {
            let texts = self.texts.iter();
            for text in texts.filter(|text| !text.starts_with('/') && *text != folder) {
                if self.texts.len() + joined.len() >= MOST_GUESSES {
                    self.is_cut = true;
                    break;
                }
                joined.push(format!("{}/{text}", folder.trim_end_matches('/')));
            }
        }
        let known: HashSet<&String> = named.paths.iter().collect();
        self.texts.retain(|text| !known.contains(text));
        self.texts.append(&mut joined);
    }

    pub(super) fn likely(mut self) -> Vec<String> {
        self.texts.retain(|text| looks_like_path(text));
        self.texts
    }
}

fn is_path_key(kind: ActionKind, key: &Key) -> bool {
    if key.is_in(PATH_KEYS) {
        return true;
    }
    kind != ActionKind::Shell && key.ends_in(PATH_ENDINGS) && !key.is_in(NO_PATH_KEYS)
}

/// Returns true if a text may be a path although another path is known.
fn may_be_path(text: &str) -> bool {
    !is_url(text) && (!text.contains(char::is_whitespace) || looks_like_path(text))
}

/// Returns true if a text has a slash, begins like a hidden file, or has a file extension.
fn looks_like_path(text: &str) -> bool {
    let ending = text.rsplit_once('.').map_or("", |(_, ending)| ending);
    let has_ending =
        (1..=8).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
    let is_short = text.split_whitespace().count() <= 3;
    let is_like = text.contains(['/', '\\']) || text.starts_with(['.', '~']) || has_ending;
    is_short && is_like && !is_url(text)
}

/// Returns true for URLs that cannot be paths: `https://…` without `..`.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    scheme.len() > 1
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && rest.split('/').all(|part| part != "..")
}

fn short(text: String) -> Option<String> {
    if text.len() <= LONGEST_PATH_BYTES {
        return Some(text);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match parts.last() {
            Some(last) if part == ".." && *last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let root = if text.starts_with('/') { "/" } else { "" };
    Some(format!("{root}{}", parts.join("/"))).filter(|text| text.len() <= LONGEST_PATH_BYTES)
}

fn is_file_url(raw: &str) -> bool {
    const START: &str = "\"file:";
    raw.get(..START.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(START))
}

/// Decodes a `file:` URL: `file:///a%20b?c` is `/a b`.
fn path_of(text: String) -> String {
    let start = text.get(..5);
    let is_address = start.is_some_and(|start| start.eq_ignore_ascii_case("file:"));
    if !is_address || !text[5..].starts_with('/') {
        return text;
    }
    let rest = text[5..].strip_prefix("//").unwrap_or(&text[5..]);
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let mut parts = rest.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2);
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(&part.as_bytes()[2..]);
            }
            None => {
                bytes.push(b'%');
                bytes.extend(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Keys that may hold a patch: Codex CLI's, OpenCode's `patchText`, and unified diffs.
const PATCH_KEYS: &[&str] = &["patch", "input", "command", "patchtext", "diff"];

const FILE_LINES: &[&str] =
    words!("*** Add File: " "*** Update File: " "*** Delete File: " "*** Move to: ");

const GIT_LINES: &[&str] = &["rename from ", "rename to ", "copy from ", "copy to "];

pub(super) fn patched_in_input(input: &ToolInput<'_>) -> Vec<String> {
    let mut texts: Vec<String> = string_text(input.raw).into_iter().collect();
    let entries = input.entries.iter();
    for (_, raw) in entries.filter(|(key, _)| key.is_in(PATCH_KEYS)) {
        match elements(raw) {
            Some(list) => texts.extend(list.iter().filter_map(|text| string_text(text.get()))),
            None => texts.extend(string_text(raw)),
        }
    }
    let mut found = Vec::new();
    for text in &texts {
        for line in text.lines().map(str::trim) {
            let named = FILE_LINES.iter().find_map(|start| line.strip_prefix(start));
            found.extend(named.map(|path| path.trim().to_string()));
        }
        in_diff(text, &mut found);
    }
    found
}

pub(super) fn patched_in_command(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Fast path: most commands have no patch.
    if !command.contains("*** ") && !command.contains("+++ ") && !command.contains("diff --git ") {
        return found;
    }
    // Added and removed lines are content.
    let lines = command.lines().flat_map(|line| line.split("\\n"));
    for line in lines.filter(|line| !line.starts_with(['+', '-'])) {
        let begun = FILE_LINES.iter().find_map(|start| line.split_once(start));
        let Some((_, path)) = begun else { continue };
        found.push(path.trim().to_string());
        // A quote may belong to the shell or to the name.
        if let Some((path, _)) = path.split_once(['\'', '"']) {
            found.push(path.trim().to_string());
        }
    }
    in_diff(command, &mut found);
    found
}

fn in_diff(text: &str, found: &mut Vec<String>) {
    let mut named = Vec::new();
    let mut before = "";
    let mut is_of_git = false;
    for line in text.lines() {
        if let Some(both) = line.strip_prefix("diff --git ") {
            is_of_git = true;
            if let Some((old, new)) = both.rsplit_once(" b/") {
                named.extend([old, new]);
            }
        }
        if let (Some(old), Some(new)) = (before.strip_prefix("--- "), line.strip_prefix("+++ ")) {
            named.extend([old, new]);
        }
        if is_of_git {
            let starts = GIT_LINES.iter();
            named.extend(starts.filter_map(|start| line.strip_prefix(start)));
        }
        before = line;
    }
    for path in named {
        let path = path.split('\t').next().unwrap_or_default().trim();
        let below = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
        let path = below.unwrap_or(path);
        if !path.is_empty() && path != "/dev/null" && !found.iter().any(|known| known == path) {
            found.push(path.to_string());
        }
    }
}
