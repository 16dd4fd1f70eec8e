//! Where does a JSON document end? Answered while its bytes are still arriving.
//!
//! Hosts do not always close a hook's stdin, so hookrun reads until one document is complete.
//! The scanner only finds the end; whether the document is valid JSON is the parser's business.

/// The deepest nesting of arrays and objects that is read; deeper documents are rejected.
/// The limit of serde_json, so that no part of hookrun recurses further.
pub const MAX_DEPTH: usize = 128;

/// What is known after the bytes seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameState {
    /// No document has begun: nothing but white space so far.
    Empty,
    /// A document has begun and is not complete.
    Open,
    /// One object or array is complete; it ends before this offset.
    Complete { end: usize },
    /// These bytes cannot become an acceptable document.
    Hopeless(Hopeless),
}

/// Why the bytes cannot become an acceptable document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hopeless {
    /// The first byte that is not white space opens neither an object nor an array.
    NotJson,
    /// Nested deeper than [`MAX_DEPTH`].
    TooDeep,
}

/// Finds the end of the first JSON object or array in a growing buffer.
#[derive(Debug, Default, Clone)]
pub struct Scanner {
    scanned: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    done: Option<FrameState>,
}

impl Scanner {
    /// Looks at the part of `buffer` that is new since the last call. A UTF-8 byte order mark
    /// before the document is skipped.
    pub fn scan(&mut self, buffer: &[u8]) -> FrameState {
        if let Some(done) = self.done {
            return done;
        }
        while self.scanned < buffer.len() {
            let step = if self.in_string {
                self.string(buffer)
            } else {
                self.structure(buffer)
            };
            if let Some(done) = step {
                self.done = Some(done);
                return done;
            }
        }
        if self.depth > 0 {
            FrameState::Open
        } else {
            FrameState::Empty
        }
    }

    /// Skips to the end of a string, or of what has arrived of it.
    fn string(&mut self, buffer: &[u8]) -> Option<FrameState> {
        for &byte in &buffer[self.scanned..] {
            self.scanned += 1;
            if self.escaped {
                self.escaped = false;
            } else if byte == b'\\' {
                self.escaped = true;
            } else if byte == b'"' {
                self.in_string = false;
                return None;
            }
        }
        None
    }

    /// Takes one byte outside strings.
    fn structure(&mut self, buffer: &[u8]) -> Option<FrameState> {
        let byte = buffer[self.scanned];
        self.scanned += 1;
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Some(FrameState::Hopeless(Hopeless::TooDeep));
                }
            }
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    return Some(FrameState::Complete { end: self.scanned });
                }
            }
            b'"' if self.depth > 0 => self.in_string = true,
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if self.depth > 0 => {}
            0xEF | 0xBB | 0xBF if self.scanned <= 3 => {}
            _ => return Some(FrameState::Hopeless(Hopeless::NotJson)),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_wherever_the_bytes_are_cut() {
        let document = br#"  {"a":"}\"]{","b":[1,{"c":"\\"}]}  trailing"#;
        for cut in 0..document.len() {
            let mut scanner = Scanner::default();
            scanner.scan(&document[..cut]);
            assert_eq!(
                scanner.scan(document),
                FrameState::Complete { end: 34 },
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn every_beginning_is_understood() {
        let deep = "[".repeat(MAX_DEPTH);
        for (text, framed) in [
            ("yes", FrameState::Hopeless(Hopeless::NotJson)),
            ("}", FrameState::Hopeless(Hopeless::NotJson)),
            ("\n ", FrameState::Empty),
            ("{\"a\":\"}", FrameState::Open),
            ("\u{feff}{}", FrameState::Complete { end: 5 }),
            (deep.as_str(), FrameState::Open),
            (&format!("{deep}["), FrameState::Hopeless(Hopeless::TooDeep)),
        ] {
            assert_eq!(Scanner::default().scan(text.as_bytes()), framed, "{text}");
        }
    }
}
