//! What a person types at a question: keys, a line, and the choice from a list.
//!
//! `console` decodes keys, but waits for ever for one. Each wait here ends with the question.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::time::Duration;

use console::{Key, Term, measure_text_width};

use super::status::cut;
use crate::engine::harmless::plain;
use crate::engine::ui::{Asker, WaitEnd};

/// How long the rest of an escape sequence may take.
const REST: Duration = Duration::from_millis(50);

/// How many characters a line has at most.
const LONGEST: usize = 4096;

/// Lines of the terminal that a list leaves for the question above it.
const OTHER_ROWS: usize = 4;

/// The keys that are pressed while a question is open.
pub(crate) struct Keyboard<'k> {
    terminal: &'k File,
    asker: &'k Asker<'k>,
}

/// What a key did to a line or a list.
enum KeyEffect {
    Changed,
    Finished,
    /// The person leaves without an answer.
    Left,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineInput {
    Line(String),
    /// Escape, or the end of input on an empty line: no answer.
    Left,
    Over,
}

impl<'k> Keyboard<'k> {
    pub(crate) fn new(terminal: &'k File, asker: &'k Asker<'k>) -> Keyboard<'k> {
        Keyboard { terminal, asker }
    }

    /// Reads the line that is typed from the column `start` on, of a terminal with so many
    /// `columns`.
    pub(crate) fn read_line(&self, start: usize, columns: usize) -> LineInput {
        let mut line = EditedLine::default();
        while let Some(key) = self.next() {
            match line.take(&key) {
                KeyEffect::Changed => self.write(&line.drawn(start, columns)),
                KeyEffect::Finished => return LineInput::Line(line.text.into_iter().collect()),
                KeyEffect::Left => return LineInput::Left,
            }
        }
        LineInput::Over
    }

    /// Lets the person choose, and removes the list. Returns the index of the option.
    pub(crate) fn choose(&self, columns: usize, rows: usize, options: &[String]) -> Option<usize> {
        let rows = rows.saturating_sub(OTHER_ROWS);
        let mut list = List {
            options,
            marked: 0,
            first: 0,
            rows: rows.clamp(1, options.len().max(1)),
        };
        self.write(&list.drawn(columns));
        let mut chosen = None;
        while let Some(key) = self.next() {
            match list.take(&key) {
                KeyEffect::Changed => self.write(&(list.back() + &list.drawn(columns))),
                KeyEffect::Finished => {
                    chosen = Some(list.marked);
                    break;
                }
                KeyEffect::Left => break,
            }
        }
        self.write(&format!("{}\x1b[J", list.back()));
        chosen
    }

    /// The next key; `None` when the question is over, or the terminal is gone.
    fn next(&self) -> Option<Key> {
        let key = self.read(Duration::MAX)?;
        let Key::UnknownEscSeq(mut sequence) = key else {
            return Some(key);
        };
        // With the Alt key, or an escape and at once something else.
        if !matches!(sequence.first(), Some('[' | 'O')) {
            return Some(Key::Escape);
        }
        // `console` gives up after its third character.
        while sequence.len() == 1 || !matches!(sequence.last(), Some('@'..='~')) {
            match self.read(REST) {
                Some(Key::Char(c)) => sequence.push(c),
                _ => return Some(Key::Escape),
            }
        }
        Some(match sequence.last() {
            Some('A') => Key::ArrowUp,
            Some('B') => Key::ArrowDown,
            Some('C') => Key::ArrowRight,
            Some('D') => Key::ArrowLeft,
            Some('H') => Key::Home,
            Some('F') => Key::End,
            _ => Key::Unknown,
        })
    }

    fn read(&self, at_most: Duration) -> Option<Key> {
        match self.asker.wait(Some(self.terminal.as_fd()), at_most) {
            WaitEnd::Ready => Term::stderr().read_key().ok(),
            WaitEnd::Over | WaitEnd::Quiet => None,
        }
    }

    fn write(&self, text: &str) {
        let _ = (&*self.terminal).write_all(text.as_bytes());
    }
}

#[derive(Debug, Default)]
struct EditedLine {
    text: Vec<char>,
    at: usize,
}

impl EditedLine {
    #[expect(clippy::wildcard_enum_match_arm, reason = "most keys do nothing")]
    fn take(&mut self, key: &Key) -> KeyEffect {
        let end = self.text.len();
        match key {
            Key::Enter => return KeyEffect::Finished,
            Key::Escape => return KeyEffect::Left,
            Key::Char('\x04') if end == 0 => return KeyEffect::Left,
            Key::Del | Key::Char('\x04') if self.at < end => {
                self.text.remove(self.at);
            }
            Key::Backspace if self.at > 0 => {
                self.at -= 1;
                self.text.remove(self.at);
            }
            Key::ArrowLeft => self.at = self.at.saturating_sub(1),
            Key::ArrowRight => self.at = (self.at + 1).min(end),
            Key::Home => self.at = 0,
            Key::End => self.at = end,
            // Control and U, K and W: what is before the cursor, what is behind it, a word.
            Key::Char('\x15') => self.remove_from(0),
            Key::Char('\x0b') => self.text.truncate(self.at),
            Key::Char('\x17') => {
                let before = &self.text[..self.at];
                let word = before.iter().rposition(|c| !c.is_whitespace());
                let space = before[..word.unwrap_or(0)]
                    .iter()
                    .rposition(|c| c.is_whitespace());
                self.remove_from(space.map_or(0, |space| space + 1));
            }
            Key::Char(c) if !c.is_control() && end < LONGEST => {
                self.text.insert(self.at, *c);
                self.at += 1;
            }
            _ => {}
        }
        KeyEffect::Changed
    }

    fn remove_from(&mut self, from: usize) {
        self.text.drain(from..self.at);
        self.at = from;
    }

    /// Draws as much as there is room for, with the cursor in its place.
    fn drawn(&self, start: usize, columns: usize) -> String {
        let room = columns.saturating_sub(start + 1).max(1);
        let mut from = 0;
        while from < self.at && width(&self.text[from..self.at]) > room {
            from += 1;
        }
        let mut to = self.at;
        while to < self.text.len() && width(&self.text[from..=to]) <= room {
            to += 1;
        }
        let shown: String = self.text[from..to].iter().collect();
        let cursor = start + width(&self.text[from..self.at]);
        format!("{}{shown}\x1b[K{}", column(start), column(cursor))
    }
}

fn width(text: &[char]) -> usize {
    measure_text_width(&text.iter().collect::<String>())
}

fn column(column: usize) -> String {
    if column == 0 {
        "\r".to_string()
    } else {
        format!("\r\x1b[{column}C")
    }
}

#[derive(Debug)]
struct List<'l> {
    options: &'l [String],
    marked: usize,
    first: usize,
    rows: usize,
}

impl List<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "most keys do nothing")]
    fn take(&mut self, key: &Key) -> KeyEffect {
        let last = self.options.len().saturating_sub(1);
        match key {
            Key::Enter => return KeyEffect::Finished,
            Key::Escape | Key::Char('\x04') => return KeyEffect::Left,
            Key::ArrowUp | Key::Char('k') => {
                self.marked = self.marked.checked_sub(1).unwrap_or(last);
            }
            Key::ArrowDown | Key::Char('j') => {
                self.marked = if self.marked == last {
                    0
                } else {
                    self.marked + 1
                };
            }
            Key::Home => self.marked = 0,
            Key::End => self.marked = last,
            Key::Char(digit @ '1'..='9') => {
                let place = *digit as usize - '1' as usize;
                if place <= last {
                    self.marked = place;
                    // If it may be the first of two digits, it only moves there.
                    if last < 9 {
                        return KeyEffect::Finished;
                    }
                }
            }
            _ => {}
        }
        let lowest = (self.marked + 1).saturating_sub(self.rows);
        self.first = self.first.clamp(lowest, self.marked);
        KeyEffect::Changed
    }

    /// Draws the lines that are shown, and leaves the cursor below them.
    fn drawn(&self, columns: usize) -> String {
        let mut drawn = String::new();
        let shown = self.options.iter().enumerate().skip(self.first);
        for (place, option) in shown.take(self.rows) {
            let mark = if place == self.marked { '>' } else { ' ' };
            let line = format!("{mark} {}. {}", place + 1, plain(option));
            let line = cut(&line, columns.saturating_sub(1));
            drawn.push_str(&format!("\x1b[2K{line}\n"));
        }
        drawn
    }

    /// Moves the cursor back to the first line.
    fn back(&self) -> String {
        format!("\r\x1b[{}A", self.rows.min(self.options.len()).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_runs_over_the_edge() {
        let text: Vec<char> = "日本語abcdef".chars().collect();
        for at in 0..=text.len() {
            let drawn = EditedLine {
                text: text.clone(),
                at,
            }
            .drawn(2, 10);
            let shown = drawn.strip_prefix("\r\x1b[2C").unwrap();
            let (shown, cursor) = shown.split_once("\x1b[K\r\x1b[").unwrap();
            assert!(measure_text_width(shown) <= 7, "{at}: {shown}");
            let cursor: usize = cursor.strip_suffix('C').unwrap().parse().unwrap();
            assert!((2..10).contains(&cursor), "{at}: {cursor}");
        }
    }
}
