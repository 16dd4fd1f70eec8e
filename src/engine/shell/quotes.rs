//! Here-documents, and quotes with escapes: `$'…'` and backticks.

use std::iter::Peekable;
use std::str::Chars;

pub(super) struct HereDocument {
    tag: String,
    strips_tabs: bool,
    /// Place among the documents of the text.
    pub(super) index: usize,
}

impl HereDocument {
    /// Parses the tag after `<<`, and returns its end.
    pub(super) fn read(text: &str, start: usize, index: usize) -> (HereDocument, usize) {
        let strips_tabs = text[start..].starts_with('-');
        let rest = text[start + usize::from(strips_tabs)..].trim_start_matches([' ', '\t']);
        let end = rest.find([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']);
        let end = end.unwrap_or(rest.len());
        let document = HereDocument {
            tag: rest[..end].to_string(),
            strips_tabs,
            index,
        };
        (document, text.len() - rest.len() + end)
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.tag.contains(['\'', '"', '\\'])
    }

    /// Returns true if the tag is a name, optionally quoted, which all shells read alike.
    pub(super) fn is_plain(&self) -> bool {
        let name = self.name();
        let forms = ["{}", "'{}'", "\"{}\"", "\\{}"].map(|form| form.replace("{}", &name));
        !name.is_empty()
            && forms.contains(&self.tag)
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.+:!%@=/".contains(c))
    }

    fn name(&self) -> String {
        self.tag.replace(['\'', '"', '\\'], "")
    }

    /// Returns the body from `start`, and the end of the closing tag's line. Fails without that
    /// line, and if a line before the tag is continued: shells differ in whether it is still one.
    pub(super) fn body(&self, text: &str, start: usize) -> Option<(String, usize)> {
        let name = self.name();
        let mut body = String::new();
        let mut at = start;
        let mut is_continued = false;
        for line in text.get(start..)?.split_inclusive('\n') {
            at += line.len();
            let line = if self.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            let bare = line.trim_end_matches('\n');
            if bare == name && !is_continued {
                return Some((body, at));
            }
            let before = bare.trim_end_matches('\\');
            is_continued = !self.is_quoted() && (bare.len() - before.len()) % 2 == 1;
            if bare == name || is_continued && name.starts_with(before) {
                return None;
            }
            body.push_str(line);
        }
        None
    }
}

/// Removes the escapes of a backtick substitution.
pub(super) fn without_backtick_escapes(text: &str, in_quotes: bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let escaped =
            rest.next_if(|next| c == '\\' && ("`$\\".contains(*next) || in_quotes && *next == '"'));
        plain.push(escaped.unwrap_or(c));
    }
    plain
}

/// Decodes `$'…'`; `None` if it is not UTF-8.
pub(super) fn ansi(quoted: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.chars().peekable();
    while let Some(c) = rest.next() {
        let escape = rest.peek().copied().filter(|_| c == '\\');
        let Some(escape) = escape else {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        };
        if escape.is_digit(8) {
            let value = number(&mut rest, 8, 3)?;
            bytes.push(u8::try_from(value & 0xff).ok()?);
            continue;
        }
        rest.next();
        match escape {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '\\' | '\'' | '"' | '?' => bytes.push(escape as u8),
            'c' => bytes.push(u8::try_from(rest.next()?.to_ascii_uppercase()).ok()? & 0x1f),
            'x' | 'u' | 'U' => {
                let most = match escape {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                match number(&mut rest, 16, most) {
                    None => bytes.extend([b'\\', escape as u8]),
                    Some(value) if escape == 'x' => bytes.push(u8::try_from(value).ok()?),
                    Some(value) => {
                        let c = char::from_u32(value)?;
                        bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                    }
                }
            }
            other => {
                bytes.push(b'\\');
                bytes.extend(other.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }
    let before_nul = bytes.split(|byte| *byte == 0).next()?;
    String::from_utf8(before_nul.to_vec()).ok()
}

/// Parses up to `most` digits; `None` without any.
fn number(rest: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> Option<u32> {
    let digits = std::iter::from_fn(|| rest.next_if(|c| c.is_digit(radix)));
    u32::from_str_radix(&digits.take(most).collect::<String>(), radix).ok()
}
