//! Settings in a script's leading comments: `# hookrun: timeout=10s tool=bash`.
//!
//! A directive is a comment line whose text begins with `hookrun:`, in any case. A directive below
//! the first line of code is an error, because it has no effect.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::draft::{HookDraft, Pattern};
use super::keys::{HOOK_KEYS, LIMIT_KEYS, MATCH_KEYS, SANDBOX_KEYS, SPEC_KEYS};
use super::problem::Problem;
use super::reader::{DocumentReader, KeyRow, Setting, names};
use super::tree::{Tree, TreeValue};
use super::value::KeyValue;
use crate::engine::complaint::{self, Complaint};
use crate::engine::names::words;
use crate::hosts::signs::{self, WrittenFor};

const MARK: &str = "hookrun:";

/// Comment marks of the languages that hooks are written in.
const COMMENTS: &[&str] = &["#", "//", "--", ";"];

/// The settings of a directive line; `None` for other lines.
fn directive_of(line: &str) -> Option<&str> {
    let (mark, settings) = comment_of(line.trim())?.split_at_checked(MARK.len())?;
    mark.eq_ignore_ascii_case(MARK).then_some(settings)
}

fn comment_of(line: &str) -> Option<&str> {
    let (mark, comment) = COMMENTS
        .iter()
        .find_map(|mark| Some((mark, line.strip_prefix(mark)?)))?;
    Some(comment.trim_start_matches(&mark[..1]).trim_start())
}

#[derive(Default)]
pub(super) struct Head {
    pub(super) problems: Vec<Problem>,
    seen: Vec<(String, usize)>,
    pub(super) written: WrittenFor,
    /// The text; empty for a compiled program.
    pub(super) text: String,
}

/// How many bytes of a script are searched for leading comments.
const HEAD_BYTES: usize = 16 * 1024;

pub(super) fn read(file: &Path, draft: &mut HookDraft) -> io::Result<Head> {
    let head = read_head(file)?;
    if head.iter().take(512).any(|byte| *byte == 0) {
        return Ok(Head::default());
    }
    let is_cut = head.len() > HEAD_BYTES && !head.ends_with(b"\n");
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut directives = DirectiveReader {
        reader: DocumentReader::new(&text, file),
        draft,
        seen: Vec::new(),
    };
    directives.read(&text, is_cut);
    Ok(Head {
        problems: directives.reader.problems,
        seen: directives.seen,
        written: signs::written(&text),
        text,
    })
}

struct DirectiveReader<'r, 'd> {
    reader: DocumentReader<'r>,
    draft: &'d mut HookDraft,
    seen: Vec<(String, usize)>,
}

impl DirectiveReader<'_, '_> {
    fn read(&mut self, head: &str, is_cut: bool) {
        let offset_of = |line: &str| line.as_ptr().addr() - head.as_ptr().addr();
        let mut lines = head.lines().peekable();
        while let Some(line) = lines.next() {
            let text = line.trim();
            let offset = offset_of(line);
            if text.is_empty() || offset == 0 && text.starts_with("#!") {
                continue;
            }
            if comment_of(text).is_none() {
                for late in lines.filter(|line| directive_of(line).is_some()) {
                    let cause =
                        "this directive has no effect, because it is below the first line of code";
                    let cure = "move it above the first line that is not a comment";
                    self.reader.fault(offset_of(late), cause, cure);
                }
                return;
            }
            let Some(directive) = directive_of(line) else {
                continue;
            };
            let start = offset_of(directive) - 1;
            if is_cut && lines.peek().is_none() {
                let cause = "this directive does not end in the first 16 KiB of the file";
                self.reader.fault(start, cause, "move it to the beginning");
            } else {
                self.directive(directive, line, offset, start);
            }
        }
    }

    /// Reads the settings of one line at `offset`; its directive is at `start`.
    fn directive(&mut self, directive: &str, line: &str, offset: usize, start: usize) {
        let Ok(mut words) = shell_words::split(directive) else {
            let cause = "a quote in this directive is not closed";
            return self.reader.fault(start, cause, "add the closing quote");
        };
        if words.is_empty() {
            let cure = "write settings, for example `timeout=10s`";
            return self.reader.fault(start, "the directive is empty", cure);
        }
        if let Some(complaint) = separated(&words).or_else(|| lost_backslash(directive)) {
            return self.reader.complain(start, complaint);
        }
        // The dialect decides which keys are known.
        words.sort_by_key(|word| !word.starts_with("dialect="));
        for word in words {
            // An unquoted word can differ from the text; then report the whole directive.
            let at = place_of(line, &word).map_or(start, |place| offset + place);
            let name = word.split('=').next().unwrap_or_default().to_string();
            let is_repeated = self.seen.iter().any(|(known, _)| *known == name);
            let key = name.strip_prefix("unless.").unwrap_or(&name);
            if is_repeated && !MAY_REPEAT.contains(&key) {
                let cause = format!("`{name}` is set twice");
                let cure = "keep one; only `path`, `not`, `type`, `runs`, `sandbox.read` and `sandbox.write` may be repeated";
                self.reader.fault(at, cause, cure);
            } else if let Err(complaint) = self.word(&word, at) {
                self.reader.complain(at, complaint);
            }
            let line = self.reader.at(at).line;
            self.seen.push((name, line));
        }
    }

    fn word(&mut self, word: &str, at: usize) -> Result<(), Complaint> {
        let parts = word.split_once('=');
        let name = parts.map_or(word, |(name, _)| name);
        let value = parts.map(|(_, value)| value);
        if let Some(rest) = word.strip_prefix("unless.") {
            let key = rest.split(['=', '.']).next().unwrap_or_default();
            if !names(MATCH_KEYS).contains(&key) {
                return Err(unknown(name));
            }
            std::mem::swap(&mut self.draft.patterns, &mut self.draft.except);
            let taken = self.word(rest, at);
            std::mem::swap(&mut self.draft.patterns, &mut self.draft.except);
            return taken;
        }
        let field = name.strip_prefix("where.");
        if let Some(field) = field.filter(|field| !field.is_empty()) {
            let field = Pattern::Field(field.to_string());
            let at = self.reader.at(at);
            self.draft.pattern(field, needed(name, value)?, at);
            return Ok(());
        }
        let row = rows().find(|(group, row)| name.strip_prefix(group) == Some(row.name));
        let mut spec_keys = SPEC_KEYS.iter().filter(|row| row.in_directive);
        let row = match (row, self.draft.dialect) {
            (Some((_, row)), _) => row,
            (None, Some(dialect)) if dialect.has_specs => spec_keys
                .find(|row| row.name == name)
                .ok_or_else(|| unknown(name))?,
            (None, _) => return Err(unknown(name)),
        };
        let tree = Tree {
            value: value_of(row, name, value)?,
            offset: at,
        };
        let mut key = Setting {
            reader: &mut self.reader,
            name,
            key: row.spec(),
            tree: &tree,
        };
        (row.set)(self.draft, &mut key).map_err(|mut complaint| {
            let in_toml = format!("`{} = ", row.name);
            if let Some(cure) = &mut complaint.cure
                && cure.contains(&in_toml)
            {
                let in_directive = cure.replace(&in_toml, &format!("`{name}="));
                *cure = in_directive.replace('"', "");
            }
            complaint
        })
    }
}

pub fn line_of(file: &Path, setting: &str) -> Option<usize> {
    let head = read(file, &mut HookDraft::default()).ok()?;
    let (_, line) = head.seen.iter().find(|(name, _)| name == setting)?;
    Some(*line)
}

/// The beginning of a file. The buffer is not cleared, so only the pages that are read cost time.
fn read_head(file: &Path) -> io::Result<Vec<u8>> {
    // Without `NONBLOCK`, opening a named pipe would hang.
    let no_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut options = File::options();
    let file = options.read(true).custom_flags(no_waiting).open(file)?;
    // One more byte, to detect a longer file.
    let mut head = Vec::with_capacity(HEAD_BYTES + 1);
    while head.len() <= HEAD_BYTES {
        match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut head)) {
            Ok(0) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(head)
}

/// The byte offset of `part` in `line` as a whole word.
fn place_of(line: &str, part: &str) -> Option<usize> {
    let mut places = line.match_indices(part).map(|(at, _)| at);
    places.find(|at| {
        let after = line[at + part.len()..].chars().next();
        after.is_none_or(|c| c.is_whitespace() || c == '\'' || c == '"')
    })
}

/// Settings that may repeat, because each one adds to the others.
const MAY_REPEAT: &[&str] = words!("path" "not" "type" "runs" "sandbox.read" "sandbox.write");

/// Reports a comma or semicolon after a value, which would belong to it: `path=*.env, tool=bash`.
fn separated(words: &[String]) -> Option<Complaint> {
    for word in words {
        let Some((name, _)) = word.split_once('=') else {
            continue;
        };
        let key = name.strip_prefix("unless.").unwrap_or(name);
        let is_of_field = key.starts_with("where.");
        let takes_text = is_of_field || matches!(key, "command" | "description");
        if !takes_text && word.ends_with([',', ';']) {
            let cause = format!("the `,` or `;` at the end of `{word}` would be part of the value");
            let setting = word.trim_end_matches([',', ';']);
            let cure = format!("spaces separate settings: write `{setting}`");
            return Some(Complaint::with_cure(cause, cure));
        }
    }
    None
}

/// Reports a backslash outside quotes, which is removed as in a shell: `command=git\s+push`.
fn lost_backslash(directive: &str) -> Option<Complaint> {
    let mut quote = None;
    let mut start = 0;
    let mut characters = directive.char_indices();
    while let Some((at, c)) = characters.next() {
        match quote {
            Some(open) if c == open => quote = None,
            Some('"') if c == '\\' => drop(characters.next()),
            Some(_) => {}
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if c.is_whitespace() => start = at + 1,
            None if c == '\\' => {
                let (_, next) = characters.next()?;
                if !next.is_whitespace() && !matches!(next, '\\' | '\'' | '"') {
                    let word = directive[start..].split_whitespace().next()?;
                    let (name, value) = word.split_once('=')?;
                    let cause = format!(
                        "the `\\` in `{word}` would be removed, because it is not in quotes"
                    );
                    let cure = format!("quote it: `{name}='{value}'`");
                    return Some(Complaint::with_cure(cause, cure));
                }
            }
            None => {}
        }
    }
    None
}

/// The rows of all settings, each with the beginning of its name.
fn rows() -> impl Iterator<Item = (&'static str, &'static KeyRow<HookDraft>)> {
    let groups = [
        ("", HOOK_KEYS),
        ("", MATCH_KEYS),
        ("limits.", LIMIT_KEYS),
        ("sandbox.", SANDBOX_KEYS),
    ];
    groups.into_iter().flat_map(|(group, rows)| {
        let rows = rows.iter().filter(|row| row.in_directive);
        rows.map(move |row| (group, row))
    })
}

fn unknown(name: &str) -> Complaint {
    let names = rows().map(|(group, row)| format!("{group}{}", row.name));
    let known: Vec<String> = names.collect();
    let ending = format!(".{name}");
    let in_group = known.iter().find(|known| known.ends_with(&ending));
    let unless = name.strip_prefix("unless.");
    let nearest = complaint::nearest(unless.unwrap_or(name), known.iter().map(String::as_str));
    let cure = match (nearest, in_group) {
        (Some(nearest), _) if unless.is_some() => format!("did you mean `unless.{nearest}`?"),
        (Some(nearest), _) => format!("did you mean `{nearest}`?"),
        (None, Some(known)) => format!("write `{known}=…`"),
        (None, None) if name == "event" => {
            "remove `event`; the hook's folder in hooks.d names the event".into()
        }
        (None, None) => format!(
            "quote a value with spaces; the keys of a directive are {}, where.FIELD and unless.KEY",
            known.join(", ").replace(", where", "")
        ),
    };
    Complaint::with_cure(format!("unknown setting `{name}`"), cure)
}

fn needed<'v>(name: &str, value: Option<&'v str>) -> Result<&'v str, Complaint> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| {
        let cause = format!("`{name}` has no value");
        Complaint::with_cure(cause, format!("write `{name}=…`"))
    })
}

/// The value of a setting: `rewrite` alone is `rewrite=true`.
fn value_of(
    row: &KeyRow<HookDraft>,
    name: &str,
    value: Option<&str>,
) -> Result<TreeValue, Complaint> {
    let is_switch = matches!(row.takes, KeyValue::Flag | KeyValue::Either(_));
    if is_switch && matches!(value, None | Some("true" | "false")) {
        return Ok(TreeValue::Flag(value != Some("false")));
    }
    let value = needed(name, value)?;
    match value.parse() {
        Ok(number) if matches!(row.takes, KeyValue::Number) => Ok(TreeValue::Number(number)),
        Ok(_) | Err(_) => Ok(TreeValue::Text(value.to_string())),
    }
}
