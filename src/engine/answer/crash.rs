//! Distinguishes a crash of a hook's program from a decision, by its exit status and by the last
//! words of its interpreter on stderr.
//!
//! It is a crash only if the last words show one in the hook's own file. A hook decides if it runs
//! tests or a linter and passes on what they print. A hook that quotes its event also decides: text
//! that an agent can write into an event is never a crash.

use crate::engine::event::Event;
use crate::engine::event::json::string_text;
use crate::engine::hook::{Handler, Hook, Permit};

const WORDS_BYTES: usize = 500;

/// Statuses that mean a shell had nothing to run.
const NEVER_RAN: [(i32, &str); 2] = [
    (126, "found but not executable"),
    (127, "command not found"),
];

/// The last words of a hook that crashed; `None` if it decided.
pub(crate) fn crash(status: i32, stderr: &str, permit: Permit<'_>) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().map(str::trim_end).collect();
    let end = lines
        .iter()
        .rposition(|line| !line.is_empty())
        .map_or(0, |last| last + 1);
    let lines = &lines[..end];
    let hook = permit.hook;
    let is_quoted = || {
        permit
            .about
            .is_some_and(|event| last_words(status, &quoted(lines, event), hook).is_some())
    };
    let words = last_words(status, lines, hook)
        .filter(|_| !is_quoted())
        .or_else(|| {
            let (_, meaning) = NEVER_RAN.into_iter().find(|(known, _)| *known == status)?;
            let last = lines.last().copied().unwrap_or(meaning);
            Some(format!("{last} (status {status})"))
        })?;
    Some(words[..words.floor_char_boundary(WORDS_BYTES)].to_string())
}

/// The message of an interpreter that stopped in the hook's own file.
fn last_words(status: i32, lines: &[&str], hook: &Hook) -> Option<String> {
    shell(lines, hook)
        .or_else(|| python(lines, hook).filter(|_| status == 1))
        .or_else(|| node(lines, hook))
        .or_else(|| ruby(lines, hook).filter(|_| status == 1))
        .or_else(|| perl(lines, hook).filter(|_| status != 1))
}

/// How many of the last lines are compared with the event. No stack trace has more.
const QUOTED_LINES: usize = 100;

/// The trailing lines that the event contains. If a line only ends with a line of the event, that
/// part of it.
fn quoted<'l>(lines: &[&'l str], event: &Event) -> Vec<&'l str> {
    let texts = texts_of(event);
    let in_event = |line: &'l str| {
        if texts.contains(line) {
            return Some(line);
        }
        let words = line.match_indices(' ').map(|(at, _)| &line[at + 1..]);
        words
            .filter(|end| !end.is_empty())
            .find(|end| texts.contains(&format!("\n{end}\n")))
    };
    let last = lines.iter().rev().take(QUOTED_LINES);
    let mut quoted: Vec<&str> = last.map_while(|line| in_event(line)).collect();
    quoted.reverse();
    quoted
}

/// All texts in an event, on separate lines, without trailing spaces.
fn texts_of(event: &Event) -> String {
    let json = String::from_utf8(event.context().to_json()).unwrap_or_default();
    let mut texts = String::from("\n");
    let mut rest = json.as_str();
    while let Some(start) = rest.find('"') {
        let inner = &rest[start + 1..];
        let is_end = |(at, _): &(usize, &str)| {
            let before = &inner[..*at];
            (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2)
        };
        let end = inner
            .match_indices('"')
            .find(is_end)
            .map_or(inner.len(), |(at, _)| at);
        let text = string_text(&format!("\"{}\"", &inner[..end])).unwrap_or_default();
        for line in text.lines() {
            texts.push_str(line.trim_end());
            texts.push('\n');
        }
        rest = inner.get(end + 1..).unwrap_or_default();
    }
    texts
}

/// Whether this is the hook's file, or a program in its command line.
fn is_own(hook: &Hook, path: &str) -> bool {
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    let name = base(path);
    let names = |line: &str| {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';');
        line.split(is_end)
            .any(|word| !word.is_empty() && base(word) == name)
    };
    match &hook.handler {
        Handler::File(file) => file.file_name().is_some_and(|own| own == name.as_str()),
        Handler::Words { words, .. } => words.iter().any(|word| names(word)) || name == "<string>",
        Handler::Shell(line) => name == "sh" || names(line) || name == "<string>",
        Handler::Function(_) | Handler::Rule(_) => false,
    }
}

/// The place in the hook's file that a line names, such as `guard.js:3`.
fn place_in(hook: &Hook, line: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '\'' | '"' | '`');
    line.split(is_end).find_map(|word| {
        let mut parts = word.trim_start_matches("file://").split(':');
        let path = parts.next().filter(|path| is_own(hook, path))?;
        let number: String = parts
            .next()?
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        (!number.is_empty()).then(|| place(path, &number))
    })
}

fn place(path: &str, line: &str) -> String {
    format!("{}:{line}", path.rsplit('/').next().unwrap_or(path))
}

/// A shell that stopped: unknown command, syntax error, or unset variable.
fn shell(lines: &[&str], hook: &Hook) -> Option<String> {
    let (last, before) = lines.split_last()?;
    let (path, number, words) = shell_line(last)?;
    // bash quotes the line below a syntax error.
    let words = match words.starts_with('`') {
        true => shell_line(before.last()?)?.2,
        false => words,
    };
    let is_crash = words.ends_with(": not found")
        || words.ends_with(": command not found")
        || words.starts_with("command not found: ")
        || words.to_lowercase().contains("syntax error")
        || words.starts_with("parse error")
        || words.ends_with(": unbound variable")
        || words.ends_with(": parameter not set")
        || words.to_lowercase().contains("bad substitution");
    (is_crash && is_own(hook, path)).then(|| format!("{words} ({})", place(path, number)))
}

/// The file, line and text of a shell's own message: `a.sh: line 3: …` (bash), `a.sh: 3: …` (dash),
/// `a.sh:3: …` (zsh), `a.sh[3]: …` (ksh).
fn shell_line(line: &str) -> Option<(&str, &str, &str)> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let (head, words) = line.split_once(": ")?;
    let zsh = head
        .rsplit_once(':')
        .filter(|(_, number)| is_number(number));
    let ksh = head
        .strip_suffix(']')
        .and_then(|head| head.rsplit_once('['));
    if let Some((path, number)) = zsh.or(ksh.filter(|(_, number)| is_number(number))) {
        return Some((path, number, words));
    }
    let (number, words) = words
        .strip_prefix("line ")
        .unwrap_or(words)
        .split_once(": ")?;
    is_number(number).then_some((head, number, words))
}

/// An uncaught exception of Python: its frames or the place of a syntax error, then one line that
/// names it.
fn python(lines: &[&str], hook: &Hook) -> Option<String> {
    let (last, before) = lines.split_last()?;
    let name = last.split(':').next().unwrap_or_default();
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    if name.is_empty() || !name.chars().all(is_letter) {
        return None;
    }
    let start = before
        .iter()
        .rposition(|line| !line.starts_with(' '))
        .map_or(0, |at| at + 1);
    let mut frames = before[start..].iter().filter_map(|line| python_frame(line));
    let has_head = start > 0 && before[start - 1] == "Traceback (most recent call last):";
    let is_syntax = name.ends_with("Error")
        && before
            .get(start)
            .is_some_and(|line| line.starts_with("  File \""));
    let entry = frames.find(|(path, _)| !path.starts_with("<frozen"))?;
    if !(has_head || is_syntax) || !is_own(hook, entry.0) {
        return None;
    }
    let is_library = |path: &str| path.starts_with('<') || path.contains("/lib/python");
    let (path, number) = frames.rfind(|(path, _)| !is_library(path)).unwrap_or(entry);
    Some(format!("{last} ({})", place(path, number)))
}

/// The file and line in `  File "a.py", line 2, in <module>`.
fn python_frame(line: &str) -> Option<(&str, &str)> {
    let (path, rest) = line.strip_prefix("  File \"")?.split_once("\", line ")?;
    Some((path, rest.split(',').next().unwrap_or(rest)))
}

/// An uncaught exception of Node: a stack, then Node's version (older versions print none).
fn node(lines: &[&str], hook: &Hook) -> Option<String> {
    let last = lines.last()?;
    let is_frame = |line: &str| line.trim_start().starts_with("at ") && line.contains(':');
    let is_end = last.starts_with("Node.js v") || is_frame(last);
    let first_frame = lines.iter().position(|line| is_frame(line))?;
    let place = lines
        .iter()
        .find_map(|line| place_in(hook, line))
        .filter(|_| is_end);
    let words = lines[..first_frame]
        .iter()
        .rposition(|line| line.is_empty())
        .map_or(0, |at| at + 1);
    let is_own = || {
        lines
            .iter()
            .any(|line| line.split('/').any(|part| is_own(hook, part)))
    };
    match place {
        Some(place) => Some(format!("{} ({place})", lines[words])),
        None if is_end && is_own() => Some(lines[words].to_string()),
        None => None,
    }
}

/// An uncaught exception of Ruby: `a.rb:3:in 'x': words (Class)`, followed only by its stack; or a
/// syntax error.
fn ruby(lines: &[&str], hook: &Hook) -> Option<String> {
    let is_raised = |line: &&str| line.contains(":in ") && line.ends_with(')');
    let is_syntax = |line: &&str| line.contains("syntax error") || line.ends_with("(SyntaxError)");
    let first = lines
        .iter()
        .position(|line| is_raised(line) || is_syntax(line))?;
    let (words, below) = lines[first..].split_first()?;
    if is_syntax(words) {
        let (place, words) = words.split_once(": ")?;
        let place = place_in(hook, place)?;
        return Some(format!("{words} ({place})"));
    }
    let is_from = |(at, line): (usize, &&str)| {
        let is_underlined = below
            .get(at + 1)
            .is_some_and(|next| next.trim() == "^" || next.contains("^^"));
        line.is_empty()
            || line.starts_with(['\t', ' ', '^'])
            || line.starts_with("Did you mean?")
            || is_underlined
    };
    // A message on several lines has its class in the first, and any words below it.
    let ends_in_stack = below.last().is_some_and(|line| line.starts_with("\tfrom "));
    if !ends_in_stack && !below.iter().enumerate().all(is_from) {
        return None;
    }
    let place = lines[first..]
        .iter()
        .rev()
        .find_map(|line| place_in(hook, line))?;
    let (_, said) = words.split_once(":in ")?.1.split_once(": ")?;
    let (said, class) = said.trim_end_matches(')').rsplit_once(" (")?;
    let is_class = class.starts_with(|c: char| c.is_ascii_uppercase()) && !class.contains(' ');
    is_class.then(|| format!("{class}: {said} ({place})"))
}

/// Perl's `die` with the place that Perl adds, or a compile error. `die "words\n"`, which has no
/// place, is a decision.
fn perl(lines: &[&str], hook: &Hook) -> Option<String> {
    let (last, before) = lines.split_last()?;
    let compiled = last.strip_prefix("Execution of ").and_then(|rest| {
        rest.strip_suffix(" aborted due to compilation errors.")
            .filter(|path| is_own(hook, path))
    });
    let words = match compiled.is_some() || last.starts_with("BEGIN failed--compilation aborted") {
        true => before.first()?,
        false => last,
    };
    let (said, rest) = words.rsplit_once(" at ")?;
    let (path, number) = rest.split_once(" line ")?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    let is_end = number[digits.len()..].starts_with(['.', ',']) || compiled.is_some();
    (is_end && !digits.is_empty() && is_own(hook, path))
        .then(|| format!("{said} ({})", place(path, &digits)))
}
