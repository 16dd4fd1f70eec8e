//! The words of directives, and what is nearly a directive. Pure.

use crate::config::draft::HookDraft;
use crate::config::keys::{HOOK_KEYS, LIMIT_KEYS, MATCH_KEYS, SANDBOX_KEYS};
use crate::config::reader::{KeyRow, names};
use crate::config::value::{KeyValue, meant};
use crate::engine::complaint::Complaint;
use crate::engine::spelling;

pub(super) const NAME: &str = "hookrun";

/// How lines of comment begin, in the languages that hooks are written in.
const COMMENTS: &[&str] = &["#", "//", "--", ";"];

/// How docstrings and block comments begin, which hold no directives, and the mark to write instead.
const OTHER_COMMENTS: &[(&str, &str)] = &[
    ("/*", "//"),
    ("*", "//"),
    ("\"\"\"", "#"),
    ("'''", "#"),
    (NAME, "#"),
];

pub(super) fn comment_of(line: &str) -> Option<&str> {
    let (mark, comment) = COMMENTS
        .iter()
        .find_map(|mark| Some((mark, line.strip_prefix(mark)?)))?;
    Some(comment.trim_start_matches(&mark[..1]).trim_start())
}

/// What may be around a directive that is misspelt or in another sort of comment.
const BRACKETS: &[(&str, &str)] = &[
    ("/*", "*/"),
    ("\"\"\"", "\"\"\""),
    ("-*-", "-*-"),
    ("[[", "]]"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("“", "”"),
];

/// What begins with `hookrun`, in whatever spelling, and goes on with settings.
struct NearDirective<'l> {
    /// Everything before the settings, such as `@hook-run:`.
    beginning: &'l str,
    settings: &'l str,
    has_exact_name: bool,
    has_only_settings: bool,
}

impl NearDirective<'_> {
    /// The directive that was meant. What closes a bracket or a comment is no part of it.
    fn written(&self, mark: &str) -> String {
        let is_open = |(open, _): &&(&str, &str)| self.beginning.contains(open);
        let settings = BRACKETS
            .iter()
            .filter(is_open)
            .fold(self.settings, |rest, (_, close)| {
                rest.trim_end().strip_suffix(close).unwrap_or(rest)
            });
        format!("`{mark} {NAME}: {}`", with_equals(settings.trim_end()))
    }
}

/// Settings whose names end in `=`, where they end in a colon.
fn with_equals(settings: &str) -> String {
    let mut rest = settings;
    let mut written = String::with_capacity(settings.len());
    while let Some((before, after)) = rest.split_once(':') {
        let name = before
            .rsplit(char::is_whitespace)
            .next()
            .unwrap_or_default();
        let is_name = !name.is_empty() && names_setting(name) && !name.contains('=');
        written.push_str(before);
        written.push(if is_name { '=' } else { ':' });
        rest = if is_name { after.trim_start() } else { after };
    }
    written + rest
}

/// `text` is a directive, or would be one but for the spelling of its beginning, if after any signs
/// it begins with
/// - `hookrun` and a colon, in any letters, and the name of a setting, or
/// - a word like `hookrun`, and nothing but settings follows.
fn near_directive(text: &str) -> Option<NearDirective<'_>> {
    let is_sign = |c: char| !c.is_alphanumeric();
    let inner = text.trim_start_matches(is_sign);
    // Nearly every line ends here.
    if !inner.starts_with(['h', 'H']) || !inner.contains(['=', ':', '：']) {
        return None;
    }
    let name_end = name_end(inner)?;
    let settings = inner[name_end..].trim_start_matches(is_sign);
    let (name, signs) = inner[..inner.len() - settings.len()].split_at(name_end);
    // A path, or the name of a file.
    if matches!(signs, "." | "/") {
        return None;
    }
    let has_exact_name = name.eq_ignore_ascii_case(NAME) && signs.contains([':', '：']);
    let has_only_settings = !settings.is_empty() && is_only_settings(settings);
    let is_near = has_only_settings || has_exact_name && names_setting(settings);
    let beginning = text[..text.len() - settings.len()].trim_end();
    is_near.then_some(NearDirective {
        beginning,
        settings,
        has_exact_name,
        has_only_settings,
    })
}

/// Where the word like `hookrun` ends with which `text` begins: `Hook-runner`, `hookrn`, `hook run`.
fn name_end(text: &str) -> Option<usize> {
    const LONGEST: usize = "hook-runner".len();
    let end = |text: &str| text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'));
    let first = end(text)?;
    if first <= LONGEST && spelling::nearest(&text[..first], [NAME, "hookrunner"]).is_some() {
        return Some(first);
    }
    let second = first + 1 + end(text[first..].strip_prefix(' ')?)?;
    let is_name = || {
        spelling::plain(&text[..second])
            .replace(' ', "")
            .starts_with(NAME)
    };
    (second <= LONGEST && is_name()).then_some(second)
}

/// Whether `text` has settings and flags and no other word. A value may go on after a comma, a `|`
/// or, in what takes an expression, a blank.
fn is_only_settings(text: &str) -> bool {
    const JOINTS: [char; 4] = ['=', ':', '|', ','];
    let mut glued = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !glued.is_empty() && !glued.ends_with(JOINTS) && !word.starts_with(JOINTS) {
            glued.push(' ');
        }
        glued.push_str(word);
    }
    let words = shell_words::split(&glued)
        .unwrap_or_else(|_| glued.split_whitespace().map(str::to_string).collect());
    let mut takes_blanks = false;
    words.iter().all(|word| {
        let is_setting = match word.split_once(['=', ':']) {
            Some((name, _)) => is_nearly_setting(name),
            None => is_flag(word),
        };
        // What follows `description:` is prose.
        let expression = word
            .split_once('=')
            .filter(|(name, _)| takes_expression(name));
        takes_blanks = if is_setting {
            expression.is_some()
        } else {
            takes_blanks
        };
        is_setting || takes_blanks || !word.contains(char::is_alphanumeric)
    })
}

fn is_flag(name: &str) -> bool {
    let takes_none = |row: &KeyRow<HookDraft>| matches!(row.takes, KeyValue::Flag);
    let is_of_sandbox = |key: &str| {
        SANDBOX_KEYS
            .iter()
            .any(|row| row.name == key && takes_none(row))
    };
    name == "sandbox"
        || find(name).is_some_and(takes_none)
        || name.strip_prefix("sandbox.").is_some_and(is_of_sandbox)
}

/// The directive that a comment is or might have been, and the mark of the comment. One that is
/// commented out (`# # hookrun: …`) is meant to have no effect.
fn near_in_comment(line: &str) -> Option<(NearDirective<'_>, &'static str)> {
    let comment = comment_of(line)?;
    let near = near_directive(comment)?;
    let mark = COMMENTS.iter().find(|mark| line.starts_with(**mark))?;
    (!comment.starts_with(mark)).then_some((near, mark))
}

/// A directive whose beginning is misspelt, which has no effect.
pub(super) fn misspelt(line: &str) -> Option<Complaint> {
    let (near, mark) = near_in_comment(line)?;
    let cause = format!("`{}` begins no directive", near.beginning);
    Some(Complaint::with_cure(
        cause,
        format!("write {}", near.written(mark)),
    ))
}

/// A directive below the leading comments or in another sort of comment, which has no effect.
pub(super) fn late(line: &str) -> Option<Complaint> {
    let line = line.trim();
    if let Some((near, mark)) = near_in_comment(line) {
        let cause = "this directive is below the first code, so hookrun does not read it";
        let cure = format!(
            "move {} above the first line that is no comment",
            near.written(mark)
        );
        return Some(Complaint::with_cure(cause, cure));
    }
    let (_, mark) = OTHER_COMMENTS
        .iter()
        .find(|(start, _)| line.starts_with(start))?;
    let near = near_directive(line)?;
    if !near.has_exact_name || !near.has_only_settings {
        return None;
    }
    let cause = "hookrun reads no directive in text of this sort";
    let cure = format!("write {} above the first line of code", near.written(mark));
    Some(Complaint::with_cure(cause, cure))
}

pub(super) fn names_setting(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let name = first.split(['=', ':']).next().unwrap_or_default();
    let group = name.split('.').next().unwrap_or_default();
    find(name).is_some() || matches!(group, "limits" | "sandbox" | "where" | "event")
}

pub(super) fn takes_expression(name: &str) -> bool {
    matches!(name, "command" | "runs" | "description") || name.starts_with("where.")
}

/// Whether `name` is a setting, or a word that was probably meant as one.
fn is_nearly_setting(name: &str) -> bool {
    names_setting(name) || probably_meant(name).is_some()
}

pub(super) fn find(name: &str) -> Option<&'static KeyRow<HookDraft>> {
    let rows = HOOK_KEYS.iter().chain(MATCH_KEYS);
    rows.filter(|row| row.in_directive)
        .find(|row| row.name == name)
}

pub(super) fn known_settings() -> Vec<&'static str> {
    let rows = HOOK_KEYS.iter().chain(MATCH_KEYS);
    rows.filter(|row| row.in_directive)
        .map(|row| row.name)
        .collect()
}

/// The cure for a word that is no setting, if it is clear what was meant.
pub(super) fn probably_meant(name: &str) -> Option<String> {
    match meant(&known_settings(), name) {
        Some(nearest) => Some(format!("did you mean `{nearest}`?")),
        None if names(LIMIT_KEYS).contains(&name) => Some(format!("write `limits.{name}=…`")),
        None if names(SANDBOX_KEYS).contains(&name) => Some(format!("write `sandbox.{name}=…`")),
        None if name == "event" => Some("the folder names the event: hooks.d/<event>/".to_string()),
        None => None,
    }
}
