//! Tells crashes from decisions by exit status and interpreter messages on stderr.
//!
//! Only an error in the hook's own file is a crash: a hook that passes on the output of tests or a
//! linter decides. Text from the event never counts, since an agent can write it.

use crate::engine::event::Event;
use crate::engine::event::json::string_text;
use crate::engine::hook::{Handler, Hook, Permit};
use crate::engine::names::words;

const WORDS_BYTES: usize = 500;

/// Exit statuses of a shell that could not start the command.
const NEVER_RAN: [(i32, &str); 2] = [
    (126, "a command was found, but could not be executed"),
    (127, "a command was not found"),
];

/// Returns the message of a crash, or `None` if the hook decided.
pub(crate) fn crash(status: i32, stderr: &str, permit: Permit<'_>) -> Option<String> {
    let lines: Vec<&str> = stderr.trim_end().lines().map(str::trim_end).collect();
    let words = last_words(status, &lines, permit.hook).filter(|_| {
        let quoted = permit.about.map(|event| quoted(&lines, event));
        quoted.is_none_or(|quoted| last_words(status, &quoted, permit.hook).is_none())
    });
    let words = words.or_else(|| {
        let (_, meaning) = NEVER_RAN.iter().find(|(known, _)| *known == status)?;
        let last = lines.last().unwrap_or(meaning);
        Some(format!("{last} (status {status})"))
    })?;
    let words = &words[..words.floor_char_boundary(WORDS_BYTES)];
    if NO_HOOKRUN.iter().any(|missing| words.contains(missing)) {
        return Some(format!("{words}; add the folder of hookrun to PATH"));
    }
    Some(words.to_string())
}

/// How shells report that a hook calls `hookrun`, which is not in PATH.
const NO_HOOKRUN: [&str; 3] = [
    "hookrun: not found",
    "hookrun: command not found",
    "command not found: hookrun",
];

/// Returns the interpreter's error message if it stopped in the hook's file.
fn last_words(status: i32, lines: &[&str], hook: &Hook) -> Option<String> {
    shell(lines, hook)
        .or_else(|| python(lines, hook).filter(|_| status == 1))
        .or_else(|| node(lines, hook))
}

/// Maximum trailing lines compared with the event: more than any stack trace has.
const QUOTED_LINES: usize = 100;

/// Returns the trailing lines that the event contains. Of a line that only ends with a line of the
/// event, returns that part.
fn quoted<'l>(lines: &[&'l str], event: &Event) -> Vec<&'l str> {
    let texts = texts_of(event);
    let mut quoted = Vec::new();
    for line in lines.iter().rev().take(QUOTED_LINES) {
        let mut part = *line;
        if !texts.contains(part) {
            let mut ends = line.match_indices(' ').map(|(at, _)| &line[at + 1..]);
            let end = ends.find(|end| !end.is_empty() && texts.contains(&format!("\n{end}\n")));
            let Some(end) = end else { break };
            part = end;
        }
        quoted.push(part);
    }
    quoted.reverse();
    quoted
}

fn texts_of(event: &Event) -> String {
    let json = String::from_utf8(event.context().to_json()).unwrap_or_default();
    let mut texts = String::from("\n");
    let mut rest = json.as_str();
    while let Some(start) = rest.find('"') {
        let mut end = start + 1;
        let mut is_escaped = false;
        for byte in rest.bytes().skip(end) {
            end += 1;
            if byte == b'"' && !is_escaped {
                break;
            }
            is_escaped = byte == b'\\' && !is_escaped;
        }
        for line in string_text(&rest[start..end]).unwrap_or_default().lines() {
            texts.push_str(line.trim_end());
            texts.push('\n');
        }
        rest = &rest[end..];
    }
    texts
}

/// Returns true for the hook's file and for programs in its command line.
fn is_own(hook: &Hook, path: &str) -> bool {
    let name = base(path);
    match &hook.handler {
        Handler::File(file) => file.file_name().is_some_and(|own| own == name),
        Handler::Words { words, .. } => {
            name == "<string>" || words.iter().any(|word| names_file(word, name))
        }
        Handler::Shell(line) => name == "sh" || name == "<string>" || names_file(line, name),
        Handler::Function(_) | Handler::Rule(_) => false,
    }
}

fn names_file(line: &str, name: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';'))
        .any(|word| !word.is_empty() && base(word) == name)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Matches a shell error: unknown command, syntax error or unset variable.
fn shell(lines: &[&str], hook: &Hook) -> Option<String> {
    let (last, before) = lines.split_last()?;
    let (path, number, mut words) = shell_line(last)?;
    // bash quotes the line below a syntax error.
    if words.starts_with('`') {
        words = shell_line(before.last()?)?.2;
    }
    let lower = words.to_lowercase();
    let is_crash = SHELL_ENDS.iter().any(|end| words.ends_with(end))
        || SHELL_WORDS.iter().any(|known| lower.contains(known));
    (is_crash && is_own(hook, path)).then(|| format!("{words} ({}:{number})", base(path)))
}

const SHELL_ENDS: &[&str] =
    words!(": not found" ": command not found" ": unbound variable" ": parameter not set");
const SHELL_WORDS: &[&str] =
    words!("syntax error" "bad substitution" "parse error" "command not found: ");

/// Splits a shell message into file, line and text: `a.sh: line 3: …` (bash), `a.sh: 3: …` (dash),
/// `a.sh:3: …` (zsh), `a.sh[3]: …` (ksh).
fn shell_line(line: &str) -> Option<(&str, &str, &str)> {
    let (head, words) = line.split_once(": ")?;
    let zsh = head.rsplit_once(':');
    let ksh = head.strip_suffix(']');
    let ksh = ksh.and_then(|head| head.rsplit_once('['));
    for (path, number) in [zsh, ksh].into_iter().flatten() {
        if is_number(number) {
            return Some((path, number, words));
        }
    }
    let words = words.strip_prefix("line ").unwrap_or(words);
    let (number, words) = words.split_once(": ")?;
    is_number(number).then_some((head, number, words))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

/// Matches an uncaught Python exception: frames or a syntax error's location, then its name.
fn python(lines: &[&str], hook: &Hook) -> Option<String> {
    let (last, before) = lines.split_last()?;
    let name = last.split(':').next().unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let start = before.iter().rposition(|line| !line.starts_with(' '));
    let start = start.map_or(0, |at| at + 1);
    let has_head = start > 0 && before[start - 1] == "Traceback (most recent call last):";
    let place = before.get(start);
    let begins_with_place = place.is_some_and(|line| line.starts_with("  File \""));
    let is_uncaught = has_head || (name.ends_with("Error") && begins_with_place);
    if !is_uncaught {
        return None;
    }
    let mut frames = before[start..].iter().filter_map(|line| python_frame(line));
    let entry = frames.find(|(path, _)| !path.starts_with("<frozen"))?;
    if !is_own(hook, entry.0) {
        return None;
    }
    let own = frames.rfind(|(path, _)| is_own(hook, path));
    let (path, number) = own.unwrap_or(entry);
    Some(format!("{last} ({}:{number})", base(path)))
}

/// Parses `  File "a.py", line 2, in <module>`.
fn python_frame(line: &str) -> Option<(&str, &str)> {
    let (path, rest) = line.strip_prefix("  File \"")?.split_once("\", line ")?;
    Some((path, rest.split(',').next().unwrap_or(rest)))
}

fn node(lines: &[&str], hook: &Hook) -> Option<String> {
    if !lines.last()?.starts_with("Node.js v") {
        return None;
    }
    let place = lines.iter().find_map(|line| place_in(hook, line))?;
    let is_frame = |line: &&str| line.trim_start().starts_with("at ");
    let before = &lines[..lines.iter().position(is_frame)?];
    let blank = before.iter().rposition(|line| line.is_empty());
    let words = lines[blank.map_or(0, |at| at + 1)];
    Some(format!("{words} ({place})"))
}

fn place_in(hook: &Hook, line: &str) -> Option<String> {
    for word in line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '\'' | '"' | '`'))
    {
        let mut parts = word.trim_start_matches("file://").split(':');
        let path = parts.next().unwrap_or_default();
        let number = parts.next().unwrap_or_default();
        if is_number(number) && is_own(hook, path) {
            return Some(format!("{}:{number}", base(path)));
        }
    }
    None
}
