//! Keys, out of the bytes that a terminal sends for them.

use std::fs::File;
use std::os::fd::AsFd;
use std::time::Duration;

use crate::engine::ui::{Asker, WaitEnd};

/// How long the rest of a key may take: after this, an escape is the key of that name.
const REST: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyPress {
    Char(char),
    Enter,
    Escape,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    Backspace,
    Delete,
    Control(char),
    Other,
}

/// What a key did to a line or a list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum KeyEffect {
    Changed,
    Finished,
    /// No answer.
    Left,
}

/// The keys that are pressed while a question is open.
pub(crate) struct Keyboard<'k> {
    pub(crate) terminal: &'k File,
    asker: &'k Asker<'k>,
    bytes: Vec<u8>,
}

impl<'k> Keyboard<'k> {
    pub(crate) fn new(terminal: &'k File, asker: &'k Asker<'k>) -> Keyboard<'k> {
        Keyboard {
            terminal,
            asker,
            bytes: Vec::new(),
        }
    }

    /// The next key; `None` when the question is over.
    pub(crate) fn next(&mut self) -> Option<KeyPress> {
        loop {
            if let Some((key, used)) = decode(&self.bytes, false) {
                self.bytes.drain(..used);
                return Some(key);
            }
            let at_most = if self.bytes.is_empty() {
                Duration::MAX
            } else {
                REST
            };
            match self.asker.wait(Some(self.terminal.as_fd()), at_most) {
                WaitEnd::Over => return None,
                WaitEnd::Quiet => {
                    let (key, used) = decode(&self.bytes, true)?;
                    self.bytes.drain(..used);
                    return Some(key);
                }
                WaitEnd::Ready => {
                    let mut buffer = [0; 256];
                    let count = rustix::io::read(self.terminal, &mut buffer).ok()?;
                    // A terminal that is gone.
                    if count == 0 {
                        return None;
                    }
                    self.bytes.extend_from_slice(&buffer[..count]);
                }
            }
        }
    }
}

/// The first key and how many bytes it takes; `None` if more bytes may belong to it and
/// `is_all` does not say that none will come.
fn decode(bytes: &[u8], is_all: bool) -> Option<(KeyPress, usize)> {
    let first = *bytes.first()?;
    let key = match first {
        b'\r' | b'\n' => KeyPress::Enter,
        0x1b => return escape(bytes, is_all),
        0x08 | 0x7f => KeyPress::Backspace,
        0x01..=0x1a => KeyPress::Control(char::from(first - 1 + b'a')),
        0x00..=0x1f => KeyPress::Other,
        0x20..=0x7e => KeyPress::Char(char::from(first)),
        0x80..=0xff => return character(bytes, is_all),
    };
    Some((key, 1))
}

fn character(bytes: &[u8], is_all: bool) -> Option<(KeyPress, usize)> {
    let bytes = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) if error.error_len().is_none() && !is_all => return None,
        Err(_) => return Some((KeyPress::Other, 1)),
    };
    let c = valid.chars().next()?;
    Some((KeyPress::Char(c), c.len_utf8()))
}

fn escape(bytes: &[u8], is_all: bool) -> Option<(KeyPress, usize)> {
    let (Some(second), rest) = (bytes.get(1), bytes.get(2..).unwrap_or_default()) else {
        return is_all.then_some((KeyPress::Escape, 1));
    };
    if !matches!(second, b'[' | b'O') {
        // With the Alt key, or an escape and at once something else.
        return Some((KeyPress::Escape, 1));
    }
    let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return is_all.then_some((KeyPress::Escape, bytes.len()));
    };
    let key = match (&rest[..end], rest[end]) {
        (_, b'A') => KeyPress::Up,
        (_, b'B') => KeyPress::Down,
        (_, b'C') => KeyPress::Right,
        (_, b'D') => KeyPress::Left,
        (_, b'H') | (b"1" | b"7", b'~') => KeyPress::Home,
        (_, b'F') | (b"4" | b"8", b'~') => KeyPress::End,
        (b"3", b'~') => KeyPress::Delete,
        _ => KeyPress::Other,
    };
    Some((key, end + 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_key_waits_for_its_rest() {
        for half in [&b"\x1b"[..], b"\x1b[", b"\x1b[3", b"\xe6\x97"] {
            assert_eq!(decode(half, false), None, "{half:?}");
            assert!(decode(half, true).is_some(), "{half:?}");
        }
        assert_eq!(decode(b"\xff", false), Some((KeyPress::Other, 1)));
    }
}
