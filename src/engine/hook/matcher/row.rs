//! Shared parts of matchers: mismatches, expressions, and globs with limits on nesting
//! and compiled size.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use regex::{Regex, bytes};

use crate::engine::complaint::Complaint;
use crate::engine::event::Event;
use crate::engine::shell::ANY_NAME;

/// A dialect's condition. `Display` shows it as written.
pub trait Condition: fmt::Debug + fmt::Display + Send + Sync {
    /// Decides whether the hook wants `event`. Fails with the mismatch.
    fn decide(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch>;

    fn takes_tool(&self, names: &[&str]) -> bool;

    fn needs_action(&self) -> bool;

    fn needs_paths(&self) -> bool;
}

/// Folders to which relative paths refer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathBase {
    /// The event's working directory, or hookrun's.
    pub cwd: PathBuf,
    pub project: PathBuf,
}

impl PathBase {
    /// Returns a path relative to each folder that contains it.
    pub(super) fn relative<'p>(&self, path: &'p Path) -> impl Iterator<Item = &'p Path> {
        let bases = [&self.cwd, &self.project].into_iter();
        bases.filter_map(|base| path.strip_prefix(base).ok())
    }
}

/// A matcher that did not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Key of `match`: `tool`, `where.FIELD` for a field, `matcher` for a host's matcher.
    pub key: String,
    /// Property of the event that the key tests.
    pub subject: String,
    pub wanted: String,
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

    pub(crate) fn of_host(subject: &str, wanted: &str, found: Vec<String>) -> Mismatch {
        Mismatch::of(OF_HOST, subject, wanted.to_string(), found)
    }
}

/// Key of a host's matcher.
pub(super) const OF_HOST: &str = "matcher";
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
            OF_HOST => write!(f, "its {subject} is `{wanted}`; ")?,
            _ => write!(f, "its `{key}` is `{wanted}`; ")?,
        }
        if found.is_empty() {
            write!(f, "the event has no {subject}")
        } else {
            write!(f, "the event's {subject} is `{}`", found.join("`, `"))
        }
    }
}

/// Checks an expression for `Matcher::command` and `Matcher::field`, except its compiled size.
pub fn check_expression(written: &str) -> Result<(), Complaint> {
    no_backspace(written)?;
    regex_syntax::parse(written)
        .map(drop)
        .map_err(expression_error)
}

pub(crate) fn expression(written: &str) -> Result<Regex, Complaint> {
    no_backspace(written)?;
    Regex::new(written).map_err(expression_error)
}

/// In double quotes of TOML or JSON, `\b` is a backspace, which matches nothing.
pub(super) fn no_backspace(written: &str) -> Result<(), Complaint> {
    if written.contains('\u{8}') {
        let problem = "in double quotes, `\\b` is a backspace; write `\\\\b` for a word boundary";
        return Err(Complaint::new(problem));
    }
    Ok(())
}

/// Truncates a large value for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST_SHOWN_CHARS: usize = 4096;
    match text.char_indices().nth(LONGEST_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

pub(crate) fn expression_error(error: impl fmt::Display) -> Complaint {
    let picture = error.to_string();
    let last = picture.lines().last().unwrap_or_default();
    Complaint::new(last.trim_start_matches("error: "))
}

/// Maximum nesting of braces in a glob: parsing recurses, and so does the regular expression.
pub(super) const MAX_GLOB_DEPTH: usize = 50;

/// A compiled glob. globset's own matcher panics if the regular expression is too large.
#[derive(Debug, Clone)]
pub(crate) struct Glob(bytes::Regex);

impl Glob {
    pub(crate) fn new(glob: &globset::Glob) -> Result<Glob, Complaint> {
        let form = bytes::RegexBuilder::new(glob.regex())
            .dot_matches_new_line(true)
            .build();
        form.map(Glob).map_err(expression_error)
    }

    pub(crate) fn is_match(&self, text: impl AsRef<OsStr>) -> bool {
        self.0.is_match(text.as_ref().as_bytes())
    }
}

pub(super) fn tool_glob(word: &str) -> Result<globset::Glob, Complaint> {
    read_glob(word, GlobBuilder::new(word).case_insensitive(true))
}

pub(crate) fn path_glob(written: &str) -> Result<globset::Glob, Complaint> {
    read_glob(written, GlobBuilder::new(written).literal_separator(true))
}

fn read_glob(written: &str, builder: &mut GlobBuilder<'_>) -> Result<globset::Glob, Complaint> {
    let mut depth = 0_usize;
    for c in written.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_GLOB_DEPTH {
            let problem = format!("it has braces nested more than {MAX_GLOB_DEPTH} levels deep");
            return Err(Complaint::new(problem));
        }
    }
    // As in a shell, `{,x}` is nothing or `x`.
    builder
        .empty_alternates(true)
        .build()
        .map_err(Complaint::of)
}

/// Matches a pattern with `*` (any text), `?` (one character) and `[…]` (one of these).
pub(super) fn has_form(form: &str, text: &str) -> bool {
    if !form.contains(['*', '?', '[']) {
        return form == text;
    }
    let letters: Vec<FormSign<'_>> = text.chars().map(FormSign::One).collect();
    have_a_name_in_common(&signs(form), &letters)
}

/// Returns true if a text with this prefix may match.
pub(super) fn may_have_form(form: &str, start: &str) -> bool {
    let known = form.split(['*', '?', '[']).next().unwrap_or_default();
    let is_open = known.len() < form.len();
    known.starts_with(start) || is_open && start.starts_with(known)
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

#[derive(Clone, Copy)]
enum FormSign<'f> {
    Many,
    Any,
    Class(&'f str),
    One(char),
}

fn signs(form: &str) -> Vec<FormSign<'_>> {
    let mut signs = Vec::new();
    let mut rest = form.chars();
    while let Some(c) = rest.next() {
        let after = rest.as_str();
        let class = after.char_indices().skip(1).find(|(_, c)| *c == ']');
        signs.push(match (c, class) {
            ('*', _) => FormSign::Many,
            ('?', _) => FormSign::Any,
            ('[', Some((end, _))) => {
                rest = after[end + 1..].chars();
                FormSign::Class(&after[..end])
            }
            _ => FormSign::One(c),
        });
    }
    signs
}

/// Returns true if some name matches both a glob and a shell pattern, in which a leading dot must
/// be explicit.
pub(super) fn may_be_both(form: &str, word: &str) -> bool {
    if !word.contains(['*', '?', '[']) {
        return has_form(form, word);
    }
    let is_hidden = form.starts_with('.') && !word.starts_with('.') && !word.starts_with(ANY_NAME);
    !is_hidden && have_a_name_in_common(&signs(form), &signs(word))
}

fn have_a_name_in_common(form: &[FormSign<'_>], word: &[FormSign<'_>]) -> bool {
    // Dynamic programming from the end, one row per element of `form`: do the rests have a common
    // name?
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
                (Some(one), Some(other)) => one.may_be(other) && below[in_word + 1],
                (None, Some(_)) | (Some(_), None) => false,
            };
        }
        below = row;
    }
    below[0]
}

impl FormSign<'_> {
    fn may_be(&self, other: &FormSign<'_>) -> bool {
        match (self, other) {
            (FormSign::One(one), FormSign::One(other)) => one == other,
            (FormSign::Class(members), FormSign::One(c))
            | (FormSign::One(c), FormSign::Class(members)) => is_member(members, *c),
            _ => true,
        }
    }
}
