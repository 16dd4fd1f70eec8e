//! The nouns of matchers: what relative paths are relative to, why an event does not match, and
//! globs with bounds: on their depth before they are read, on their size when they are compiled.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use globset::GlobBuilder;
use regex::bytes;

use crate::engine::event::Event;

/// A condition of another system, read as that system reads it. Its text is what was written.
pub trait Condition: fmt::Debug + fmt::Display + Send + Sync {
    /// Whether the hook wants `event`.
    ///
    /// # Errors
    /// What it wants, and what the event is.
    fn decide(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch>;

    /// Whether it would take a tool with one of these names.
    fn takes_tool(&self, names: &[&str]) -> bool;

    /// Whether it looks at an action.
    fn needs_action(&self) -> bool;

    /// Whether it looks at paths.
    fn needs_paths(&self) -> bool;
}

/// Why a matcher cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct MatcherError {
    /// What is wrong, in the words of the library that reads the pattern.
    pub problem: String,
}

/// A matcher cannot be used because of this.
pub(super) fn wrong(problem: &str) -> MatcherError {
    MatcherError {
        problem: problem.to_string(),
    }
}

/// What relative paths are relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathBase {
    /// The event's working directory, or hookrun's.
    pub cwd: PathBuf,
    pub project: PathBuf,
}

/// The matcher that did not match, and what it was compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The key of `match`: `tool`, `where.FIELD` for a field, `matcher` for one of a host's own.
    pub key: String,
    /// What the key looks at.
    pub subject: String,
    pub wanted: String,
    /// What the event has of that.
    pub found: Vec<String>,
}

impl Mismatch {
    pub(super) fn of(
        key: &str,
        subject: &str,
        wanted: String,
        found: impl IntoIterator<Item = String>,
    ) -> Mismatch {
        Mismatch {
            key: key.to_string(),
            subject: subject.to_string(),
            wanted,
            found: found.into_iter().collect(),
        }
    }

    /// Of a matcher that is a host's own.
    pub(crate) fn of_host(subject: &str, wanted: &str, found: Vec<String>) -> Mismatch {
        Mismatch::of(OF_HOST, subject, wanted.to_string(), found)
    }
}

/// The key of a host's own matcher.
pub(super) const OF_HOST: &str = "matcher";
/// The key of exceptions.
pub(super) const EXCEPT: &str = "except";

pub(super) fn of_field(field: &str) -> String {
    format!("where.{field}")
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch {
            key,
            subject,
            wanted,
            found,
        } = self;
        match key.as_str() {
            EXCEPT => return write!(f, "its exception matches the event: {wanted}"),
            OF_HOST => write!(f, "it matches {subject} `{wanted}`; ")?,
            _ => write!(f, "it matches {key} `{wanted}`; ")?,
        }
        if found.is_empty() {
            write!(f, "the event has no {subject}")
        } else {
            write!(f, "the event's {subject} is `{}`", found.join("`, `"))
        }
    }
}

/// The last line of the library's drawing of the mistake.
pub(crate) fn expression_error(picture: &str) -> MatcherError {
    let last = picture.lines().last().unwrap_or_default();
    wrong(last.trim_start_matches("error: "))
}

/// How deep alternatives may be nested in a glob: reading them, and what they become, recurses.
pub(super) const MAX_GLOB_DEPTH: usize = 50;

/// A compiled glob. globset's own matcher panics if the expression that it makes is too large.
#[derive(Debug, Clone)]
pub(crate) struct Glob(bytes::Regex);

impl Glob {
    /// # Errors
    /// When it is too large.
    pub(crate) fn new(glob: &globset::Glob) -> Result<Glob, MatcherError> {
        let form = bytes::RegexBuilder::new(glob.regex())
            .dot_matches_new_line(true)
            .build();
        form.map(Glob)
            .map_err(|error| expression_error(&error.to_string()))
    }

    pub(crate) fn is_match(&self, text: impl AsRef<OsStr>) -> bool {
        self.0.is_match(text.as_ref().as_bytes())
    }
}

/// Reads a glob for tool names.
pub(super) fn tool_glob(word: &str) -> Result<globset::Glob, MatcherError> {
    read_glob(
        word,
        GlobBuilder::new(word)
            .case_insensitive(true)
            .empty_alternates(true),
    )
}

/// Reads a glob for paths. As in a shell `{,x}` is nothing or `x`.
pub(crate) fn path_glob(written: &str) -> Result<globset::Glob, MatcherError> {
    read_glob(
        written,
        GlobBuilder::new(written)
            .literal_separator(true)
            .empty_alternates(true),
    )
}

fn read_glob(written: &str, builder: &GlobBuilder<'_>) -> Result<globset::Glob, MatcherError> {
    let mut depth = 0_usize;
    for c in written.chars() {
        match c {
            '{' if depth == MAX_GLOB_DEPTH => {
                let problem = format!("it has braces deeper than {MAX_GLOB_DEPTH} levels");
                return Err(wrong(&problem));
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    builder.build().map_err(|error| wrong(&error.to_string()))
}

/// Whether `text` has this form: words with `*` (any text), `?` (one character) and `[…]` (one of
/// these characters).
pub(super) fn has_form(mut form: &str, mut text: &str) -> bool {
    // What is left after the last `*`, and the text that it was tried on.
    let mut last: Option<(&str, &str)> = None;
    loop {
        if let Some(rest) = form.strip_prefix('*') {
            last = Some((rest, text));
            form = rest;
            continue;
        }
        let after = first(form).and_then(|(fits, rest)| {
            let c = text.chars().next()?;
            fits(c).then(|| (rest, &text[c.len_utf8()..]))
        });
        match after {
            Some((rest_of_form, rest)) => (form, text) = (rest_of_form, rest),
            None if form.is_empty() && text.is_empty() => return true,
            None => {
                let Some((rest, tried)) = last else {
                    return false;
                };
                let Some(c) = tried.chars().next() else {
                    return false;
                };
                let tried = &tried[c.len_utf8()..];
                last = Some((rest, tried));
                (form, text) = (rest, tried);
            }
        }
    }
}

/// Whether a text that begins like this may have the form.
pub(super) fn may_have_form(form: &str, start: &str) -> bool {
    let known = form.split(['*', '?', '[']).next().unwrap_or_default();
    let is_open = known.len() < form.len();
    known.starts_with(start) || is_open && start.starts_with(known)
}

/// The first character of a form that does not begin with `*`, as a test, and what is after it.
fn first(form: &str) -> Option<(impl Fn(char) -> bool, &str)> {
    let one = form.chars().next()?;
    let class = form.strip_prefix('[').and_then(|rest| {
        let end = rest.char_indices().skip(1).find(|(_, c)| *c == ']')?.0;
        Some((&rest[..end], &rest[end + 1..]))
    });
    let rest = class.map_or(&form[one.len_utf8()..], |(_, rest)| rest);
    Some((
        move |c| match class {
            Some((members, _)) => is_member(members, c),
            None => one == '?' || one == c,
        },
        rest,
    ))
}

fn is_member(members: &str, c: char) -> bool {
    let negated = members.strip_prefix(['!', '^']);
    let listed: Vec<char> = negated.unwrap_or(members).chars().collect();
    let mut at = 0;
    let mut is_listed = false;
    while at < listed.len() {
        let is_range = listed.get(at + 1) == Some(&'-') && at + 2 < listed.len();
        let last = if is_range { listed[at + 2] } else { listed[at] };
        is_listed |= (listed[at]..=last).contains(&c);
        at += if is_range { 3 } else { 1 };
    }
    is_listed != negated.is_some()
}

/// A sign of a form: any text, any character, or one.
#[derive(Clone, Copy, PartialEq)]
enum FormSign {
    Many,
    Any,
    One(char),
}

fn signs(form: &str) -> Vec<FormSign> {
    let mut signs = Vec::new();
    let mut rest = form.chars();
    while let Some(c) = rest.next() {
        signs.push(match c {
            '*' => FormSign::Many,
            '?' => FormSign::Any,
            '[' if rest.as_str().contains(']') => {
                let _ = rest.find(|c| *c == ']');
                FormSign::Any
            }
            c => FormSign::One(c),
        });
    }
    signs
}

/// Whether some name has both the form of a glob and that of a word in a shell, where a leading dot
/// must be written.
pub(super) fn may_be_both(form: &str, word: &str) -> bool {
    if !word.contains(['*', '?', '[']) {
        return has_form(form, word);
    }
    if form.starts_with('.') && !word.starts_with('.') {
        return false;
    }
    let form = signs(form);
    let word = signs(word);
    // Whether the rests from each place on have a name in common, for one place in `form` after the
    // other, the last first.
    let mut below: Vec<bool> = vec![false; word.len() + 1];
    for at in (0..=form.len()).rev() {
        let mut row = vec![false; word.len() + 1];
        for in_word in (0..=word.len()).rev() {
            row[in_word] = match (form.get(at), word.get(in_word)) {
                (None, None) => true,
                (Some(FormSign::Many), _) => {
                    below[in_word] || in_word < word.len() && row[in_word + 1]
                }
                (one, Some(FormSign::Many)) => row[in_word + 1] || one.is_some() && below[in_word],
                (Some(one), Some(other)) => {
                    let is_same = *one == FormSign::Any || *other == FormSign::Any || one == other;
                    is_same && below[in_word + 1]
                }
                (None, Some(_)) | (Some(_), None) => false,
            };
        }
        below = row;
    }
    below[0]
}
