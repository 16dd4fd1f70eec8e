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
