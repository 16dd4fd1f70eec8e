//! Where quotes and substitutions end, and what `$'…'` says.
//!
//! Every function is given where the inside begins and returns where the closing character is.
//! All are linear in the length of the text but for nested substitutions, whose depth is bounded.

/// A construct whose end cannot be found; holds its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissingEnd(pub(super) String);

/// How deep substitutions may nest in one word.
const DEEPEST: usize = 24;

pub(super) fn missing_end(text: &str, at: usize) -> MissingEnd {
    let start = text
        .get(..at)
        .and_then(|before| before.rfind('$'))
        .unwrap_or(0);
    MissingEnd(text[start..].chars().take(20).collect())
}

/// What is after a quote, an escape, a substitution or one byte.
pub(super) fn after_unit(text: &str, at: usize, depth: usize) -> Result<usize, MissingEnd> {
    let end = match &text.as_bytes()[at..] {
        [b'\\', ..] => (at + 1).min(text.len() - 1),
        [b'\'', ..] => end_of_single_quotes(text, at + 1)?,
        [b'"', ..] => end_of_double_quotes(text, at + 1, depth)?,
        [b'`', ..] => end_of_escaped(text, at + 1, b'`')?,
        [b'$', b'\'', ..] => end_of_escaped(text, at + 2, b'\'')?,
        [b'$' | b'<' | b'>', b'(', ..] => end_of_parentheses(text, at + 2, depth + 1)?,
        [b'$', b'{', ..] => end_of_braces(text, at + 2, depth + 1)?,
        // The old way to write `$(( ))`.
        [b'$', b'[', ..] => {
            let end = text[at..].find(']').map(|end| at + end);
            end.ok_or_else(|| missing_end(text, at))?
        }
        [b'$', b'$' | b'!' | b'#' | b'?' | b'-' | b'@' | b'*', ..] => at + 1,
        _ => at,
    };
    Ok(end + 1)
}

pub(super) fn end_of_single_quotes(text: &str, start: usize) -> Result<usize, MissingEnd> {
    let end = text[start..].find('\'').map(|at| start + at);
    end.ok_or_else(|| missing_end(text, start))
}

/// The end of backticks or of `$'…'`, where a backslash hides it.
pub(super) fn end_of_escaped(text: &str, start: usize, end: u8) -> Result<usize, MissingEnd> {
    let mut at = start;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            byte if *byte == end => return Ok(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Err(missing_end(text, start))
}

pub(super) fn end_of_double_quotes(
    text: &str,
    start: usize,
    depth: usize,
) -> Result<usize, MissingEnd> {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at),
            b'$' if !matches!(bytes.get(at + 1), Some(b'(' | b'{')) => at += 1,
            // Single quotes are text here.
            b'\\' | b'`' | b'$' => at = after_unit(text, at, depth)?,
            _ => at += 1,
        }
    }
    Err(missing_end(text, start))
}

pub(super) fn end_of_braces(text: &str, start: usize, depth: usize) -> Result<usize, MissingEnd> {
    if depth > DEEPEST {
        return Err(missing_end(text, start));
    }
    let mut at = start;
    while let Some(byte) = text.as_bytes().get(at) {
        if *byte == b'}' {
            return Ok(at);
        }
        at = after_unit(text, at, depth)?;
    }
    Err(missing_end(text, start))
}

/// The `)` of a substitution. Comments, here-documents and parentheses in it are skipped.
pub(super) fn end_of_parentheses(
    text: &str,
    start: usize,
    depth: usize,
) -> Result<usize, MissingEnd> {
    if depth > DEEPEST {
        return Err(missing_end(text, start));
    }
    let bytes = text.as_bytes();
    let mut open = 0_usize;
    let mut at = start;
    let mut is_start_of_word = true;
    let mut begins_command = true;
    let mut cases = 0_usize;
    let mut waiting = Vec::new();
    while let Some(byte) = bytes.get(at) {
        let was_start = is_start_of_word;
        is_start_of_word = BOUNDARIES.contains(byte);
        match byte {
            b')' if open == 0 && cases == 0 => return Ok(at),
            // The end of a pattern.
            b')' if open == 0 => {}
            b')' => open -= 1,
            b'(' => open += 1,
            b'#' if was_start => {
                at = text[at..].find('\n').map_or(text.len(), |line| at + line);
                continue;
            }
            b'<' if text[at..].starts_with("<<<") => at += 2,
            b'<' if text[at..].starts_with("<<") => {
                let (document, after) = HereDocument::read(text, at + 2);
                waiting.push(document);
                at = after;
                continue;
            }
            b'\n' if !waiting.is_empty() => {
                for document in waiting.drain(..) {
                    at = document
                        .after(text, at)
                        .ok_or_else(|| missing_end(text, start))?;
                }
                begins_command = true;
                continue;
            }
            _ => {
                let word = if was_start {
                    first_word(&text[at..])
                } else {
                    ""
                };
                match word {
                    "case" if begins_command => cases += 1,
                    "esac" if begins_command => cases = cases.saturating_sub(1),
                    _ => {}
                }
                if was_start && !is_start_of_word {
                    begins_command &= BEFORE_COMMANDS.contains(&word);
                    begins_command |= cases > 0 && word == "in";
                }
                at = after_unit(text, at, depth)?;
                begins_command |= b";&|\n".contains(byte);
                continue;
            }
        }
        begins_command |= b"()".contains(byte);
        at += 1;
    }
    Err(missing_end(text, start))
}

/// Bytes that end a word.
const BOUNDARIES: &[u8] = b" \t\n;&|()<>";

/// Words after which a command may begin.
pub(super) const BEFORE_COMMANDS: &[&str] = &[
    "then", "do", "else", "elif", "{", "if", "while", "until", "!", "time",
];

fn first_word(text: &str) -> &str {
    let end = text
        .bytes()
        .position(|byte| BOUNDARIES.contains(&byte))
        .unwrap_or(text.len());
    &text[..end]
}

/// A here-document whose body has not begun.
pub(super) struct HereDocument {
    tag: String,
    strips_tabs: bool,
}

impl HereDocument {
    /// Reads what follows `<<`, and tells where that ends.
    pub(super) fn read(text: &str, start: usize) -> (HereDocument, usize) {
        let strips_tabs = text[start..].starts_with('-');
        let start = start + usize::from(strips_tabs);
        let start = text.len() - text[start..].trim_start_matches([' ', '\t']).len();
        let end = text[start..].find([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']);
        let end = end.map_or(text.len(), |end| start + end);
        (
            HereDocument {
                tag: text[start..end].replace(['\'', '"', '\\'], ""),
                strips_tabs,
            },
            end,
        )
    }

    /// Whether its tag is a name, perhaps in quotes, which every shell reads alike.
    pub(super) fn is_plain(&self, written: &str) -> bool {
        let written = written.trim_start_matches(['-', ' ', '\t']);
        let forms = ["", "'", "\""].map(|quote| format!("{quote}{}{quote}", self.tag));
        let is_name = !self.tag.is_empty()
            && self
                .tag
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.+:!%@=/".contains(c));
        is_name
            && (forms.iter().any(|form| form == written) || written == format!("\\{}", self.tag))
    }

    /// The line break at the end of the closing tag; `at` is the one before the body.
    pub(super) fn after(&self, text: &str, mut at: usize) -> Option<usize> {
        loop {
            let line = text.get(at + 1..)?;
            let end = line.find('\n').unwrap_or(line.len());
            let line = &line[..end];
            let bare = if self.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            at += 1 + end;
            if bare == self.tag {
                return Some(at);
            }
            if at >= text.len() {
                return None;
            }
        }
    }
}

/// The text of a substitution between backticks.
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

/// The text of `$'…'`; `None` if it is no text in UTF-8.
pub(super) fn ansi(quoted: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.chars().peekable();
    while let Some(c) = rest.next() {
        let escape = if c == '\\' { rest.next() } else { None };
        let Some(escape) = escape else {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        };
        let mut number = |radix: u32, most: usize, first: u32| {
            let digit = |c: &mut std::iter::Peekable<std::str::Chars<'_>>| {
                let digit = c.peek()?.to_digit(radix)?;
                c.next();
                Some(digit)
            };
            let digits: Vec<u32> = (0..most).map_while(|_| digit(&mut rest)).collect();
            let value = digits
                .iter()
                .fold(first, |value, digit| value.wrapping_mul(radix) | digit);
            (!digits.is_empty()).then_some(value)
        };
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
            '0'..='7' => {
                let first = escape as u32 - '0' as u32;
                bytes.push(u8::try_from(number(8, 2, first).unwrap_or(first) & 0xff).ok()?);
            }
            'c' => bytes.push(u8::try_from(rest.next()?.to_ascii_uppercase()).ok()? & 0x1f),
            'x' | 'u' | 'U' => {
                let most = [('x', 2), ('u', 4), ('U', 8)]
                    .iter()
                    .find(|(name, _)| *name == escape);
                match (number(16, most.map_or(0, |(_, most)| *most), 0), escape) {
                    (None, _) => bytes.extend([b'\\', escape as u8]),
                    (Some(value), 'x') => bytes.push(u8::try_from(value).ok()?),
                    (Some(value), _) => {
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
    // A zero byte ends the text.
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    bytes.truncate(end);
    String::from_utf8(bytes).ok()
}
