//! What stands between a command's words and stdout: whatever a hook, an event or a file name put
//! into them, no control character, invisible character or CI command comes out.
//!
//! Reports make each text plain as they write it, so that it keeps its place on the line. Here the
//! rest is held for all of them, by what their format takes for harmless.

use std::io::{self, Write};

use crate::engine::harmless;
use crate::lab::report::CheckFormat;

use crate::cli::streams;

/// What a command writes on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputShape {
    /// For people, in our own colours.
    People,
    /// Lines of text: TAP, XML, a diff.
    Lines,
    /// JSON documents.
    Json,
    /// Workflow commands of our own, with escaped data.
    Annotations,
    /// Values, for a program: nothing is changed.
    Values,
    /// Values on a terminal.
    SeenValues,
}

impl From<CheckFormat> for OutputShape {
    fn from(format: CheckFormat) -> OutputShape {
        match format {
            CheckFormat::Human => OutputShape::People,
            CheckFormat::Json => OutputShape::Json,
            CheckFormat::Github => OutputShape::Annotations,
            CheckFormat::Junit | CheckFormat::Tap => OutputShape::Lines,
        }
    }
}

/// A writer that keeps a line until it is whole, and gives it on harmless.
pub(crate) struct Sink<W: Write> {
    to: W,
    shape: OutputShape,
    line: Vec<u8>,
}

impl<W: Write> Sink<W> {
    pub(crate) fn new(to: W, shape: OutputShape) -> Sink<W> {
        Sink { to, shape, line: Vec::new() }
    }

    fn give_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(bytes);
        let made = match self.shape {
            OutputShape::People => return self.to.write_all(styled(&text).as_bytes()),
            OutputShape::Lines => streams::lines(&text),
            OutputShape::Json => harmless::json(&text),
            OutputShape::Annotations | OutputShape::SeenValues => harmless::visible(&text),
            OutputShape::Values => return self.to.write_all(bytes),
        };
        self.to.write_all(made.as_bytes())
    }
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(&bytes[..=last]);
                self.line.extend_from_slice(&bytes[last + 1..]);
                self.give_on(&whole)?;
            }
            None => self.line.extend_from_slice(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        if !rest.is_empty() {
            self.give_on(&rest)?;
        }
        self.to.flush()
    }
}

/// Text with our own colours kept, and everything between them harmless.
pub(crate) fn styled(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, length)) = style(rest) {
        made.push_str(&streams::lines(&rest[..at]));
        made.push_str(&rest[at..at + length]);
        rest = &rest[at + length..];
    }
    made.push_str(&streams::lines(rest));
    made
}

/// Where the first colour of ours stands, and how long it is.
fn style(text: &str) -> Option<(usize, usize)> {
    text.match_indices("\u{1b}[").find_map(|(at, _)| {
        let (number, _) = text[at + 2..].split_once('m')?;
        let is_ours = matches!(number, "0" | "1" | "2" | "4" | "31" | "32" | "33" | "34" | "36");
        is_ours.then_some((at, number.len() + 3))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(shape: OutputShape, pieces: &[&str]) -> String {
        let mut sink = Sink::new(Vec::new(), shape);
        for piece in pieces {
            sink.write_all(piece.as_bytes()).unwrap();
        }
        sink.flush().unwrap();
        String::from_utf8(sink.to).unwrap()
    }

    #[test]
    fn only_our_own_colours_come_through() {
        let text = "\u{1b}[1m\u{1b}[31mBLOCK\u{1b}[0m a\u{1b}[8mb\u{1b}[2Jc\u{9b}5n\n";
        assert_eq!(
            written(OutputShape::People, &[text]),
            "\u{1b}[1m\u{1b}[31mBLOCK\u{1b}[0m a\\u{1b}[8mb\\u{1b}[2Jc\\u{9b}5n\n"
        );
        assert_eq!(written(OutputShape::Lines, &["\u{1b}[1ma"]), "\\u{1b}[1ma");
    }

    #[test]
    fn a_command_is_none_though_it_is_written_in_pieces() {
        for shape in [OutputShape::People, OutputShape::Lines] {
            assert_eq!(written(shape, &["a\n ", ":", ":error::x", "\nb"]), "a\n : :error::x\nb");
            assert_eq!(written(shape, &["a #", "#[x]\n"]), "a ## [x]\n");
        }
        assert_eq!(
            written(OutputShape::Annotations, &["::error::a\u{1b}\n"]),
            "::error::a\\u{1b}\n"
        );
        assert_eq!(
            written(OutputShape::Json, &["{\"a\":\"##", "[x]\"}\n"]),
            "{\"a\":\"#\\u0023[x]\"}\n"
        );
        assert_eq!(written(OutputShape::Values, &["::a\u{1b}"]), "::a\u{1b}");
    }
}
