//! JSON as its grammar says (RFC 8259), read without the library: what invariants compare with.
//!
//! Unlike serde_json it takes any depth, any number and any surrogate, and sees every key.

use std::ops::Range;

/// An object, entry by entry as it is written.
pub(crate) struct Object<'t> {
    /// Decoded keys, and values as text.
    pub(crate) entries: Vec<(String, &'t str)>,
    /// Where it ends.
    pub(crate) end: usize,
    /// How deep arrays and objects are nested in it, itself included.
    pub(crate) depth: usize,
    /// Whether its keys are text: none has a lone surrogate.
    pub(crate) has_whole_keys: bool,
}

impl<'t> Object<'t> {
    /// The values of a key, as text.
    pub(crate) fn all<'o>(&'o self, key: &'o str) -> impl Iterator<Item = &'t str> + 'o {
        self.entries
            .iter()
            .filter(move |(name, _)| name == key)
            .map(|(_, raw)| *raw)
    }

    /// The value of a key; of one that appears twice, the last.
    pub(crate) fn last(&self, key: &str) -> Option<&'t str> {
        self.all(key).last()
    }

    /// The string under a key.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.last(key)
            .filter(|raw| raw.starts_with('"'))
            .map(string_text)
    }

    /// Whether a key appears twice.
    pub(crate) fn repeats(&self) -> bool {
        let mut keys: Vec<&str> = self.entries.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// The text as one object with nothing but white space around it.
pub(crate) fn object(text: &str) -> Option<Object<'_>> {
    let start = text.len() - text.trim_start_matches(is_space).len();
    let found = object_at(&text[start..])?;
    let rest = &text[start + found.end..];
    rest.trim_matches(is_space).is_empty().then_some(found)
}

/// The object that the text begins with.
pub(crate) fn object_at(text: &str) -> Option<Object<'_>> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        at: 0,
        depth: 0,
    };
    reader.take(b'{')?;
    let mut entries = Vec::new();
    let mut has_whole_keys = true;
    reader.space();
    if reader.take(b'}').is_none() {
        loop {
            let key = reader.key()?;
            reader.space();
            let start = reader.at;
            reader.value()?;
            has_whole_keys &= is_whole(&text[key.clone()]);
            entries.push((string_text(&text[key]), &text[start..reader.at]));
            reader.space();
            if reader.take(b'}').is_some() {
                break;
            }
            reader.take(b',')?;
        }
    }
    Some(Object {
        entries,
        end: reader.at,
        depth: reader.depth + 1,
        has_whole_keys,
    })
}

/// The text of a JSON string; a lone surrogate becomes U+FFFD.
pub(crate) fn string_text(raw: &str) -> String {
    String::from_utf16_lossy(&units(raw))
}

/// Whether a JSON string is text: it has no lone surrogate, of which each reader makes something
/// else.
pub(crate) fn is_whole(raw: &str) -> bool {
    String::from_utf16(&units(raw)).is_ok()
}

fn units(raw: &str) -> Vec<u16> {
    let inner = raw
        .strip_prefix('"')
        .and_then(|raw| raw.strip_suffix('"'))
        .unwrap_or(raw);
    let mut units = Vec::new();
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match rest.next() {
            Some('b') => 8,
            Some('f') => 12,
            Some('n') => 10,
            Some('r') => 13,
            Some('t') => 9,
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                u16::from_str_radix(&digits, 16).unwrap_or(0xfffd)
            }
            other => other.map_or(0xfffd, |c| u16::try_from(u32::from(c)).unwrap_or(0xfffd)),
        });
    }
    units
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    /// The deepest nesting of values so far.
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| is_space(char::from(byte))) {
            self.at += 1;
        }
    }

    /// A key with its colon; where its string stands.
    fn key(&mut self) -> Option<Range<usize>> {
        self.space();
        let start = self.at;
        self.string()?;
        let end = self.at;
        self.space();
        self.take(b':')?;
        Some(start..end)
    }

    fn value(&mut self) -> Option<()> {
        let mut open = Vec::new();
        loop {
            self.space();
            match self.peek()? {
                kind @ (b'{' | b'[') => {
                    self.at += 1;
                    self.depth = self.depth.max(open.len() + 1);
                    self.space();
                    let end = if kind == b'{' { b'}' } else { b']' };
                    if self.take(end).is_none() {
                        open.push(kind);
                        if kind == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                _ => self.word()?,
            }
            loop {
                let Some(&kind) = open.last() else {
                    return Some(());
                };
                self.space();
                let end = if kind == b'{' { b'}' } else { b']' };
                if self.take(end).is_some() {
                    open.pop();
                    continue;
                }
                self.take(b',')?;
                if kind == b'{' {
                    self.key()?;
                }
                break;
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                b'\\' => {
                    let escape = self.peek()?;
                    self.at += 1;
                    match escape {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                        b'u' => {
                            let digits = self.bytes.get(self.at..self.at + 4)?;
                            digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                            self.at += 4;
                        }
                        _ => return None,
                    }
                }
                0..0x20 => return None,
                _ => {}
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.take(b'-');
        if self.take(b'0').is_none() {
            self.digits()?;
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if self.take(b'e').or_else(|| self.take(b'E')).is_some() {
            let _ = self.take(b'+').or_else(|| self.take(b'-'));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn word(&mut self) -> Option<()> {
        let rest = &self.bytes[self.at..];
        let words = [&b"true"[..], b"false", b"null"];
        let word = words.iter().find(|word| rest.starts_with(word))?;
        self.at += word.len();
        Some(())
    }
}
