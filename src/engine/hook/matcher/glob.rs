//! Globs with bounds: on their depth before they are read, on their size when they are compiled.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use globset::GlobBuilder;
use regex::bytes;

use super::row::{MatcherError, expression_error};

/// How deep alternatives may be nested in a glob: reading them, and what they become, recurses.
pub(super) const MAX_GLOB_DEPTH: usize = 50;

/// A compiled glob. globset's own matcher panics if the expression that it makes is too large.
#[derive(Debug, Clone)]
pub(super) struct Glob(bytes::Regex);

impl Glob {
    /// # Errors
    /// When it is too large.
    pub(super) fn new(glob: &globset::Glob) -> Result<Glob, MatcherError> {
        let form = bytes::RegexBuilder::new(glob.regex())
            .dot_matches_new_line(true)
            .build();
        form.map(Glob)
            .map_err(|error| expression_error(&error.to_string()))
    }

    pub(super) fn is_match(&self, text: impl AsRef<OsStr>) -> bool {
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
pub(super) fn path_glob(written: &str) -> Result<globset::Glob, MatcherError> {
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
                return Err(MatcherError { problem });
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    builder.build().map_err(|error| MatcherError {
        problem: error.to_string(),
    })
}

/// Whether `text` has this form: words with `*` (any text), `?` (one character) and `[…]` (one of
/// these characters).
pub(super) fn has_form(form: &str, text: &str) -> bool {
    let (mut form, mut text) = (form, text);
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
    let fits = move |c: char| match class {
        Some((members, _)) => is_member(members, c),
        None => one == '?' || one == c,
    };
    Some((fits, rest))
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
