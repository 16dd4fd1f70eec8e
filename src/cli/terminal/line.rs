//! A line that is typed, with the keys that every line editor has.

use std::io::Write;

use super::keys::{KeyEffect, KeyPress, Keyboard};
use unicode_width::UnicodeWidthStr;

/// In characters.
const LONGEST: usize = 4096;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineInput {
    Line(String),
    /// Escape, or the end of input on an empty line: no answer.
    Left,
    Over,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct EditedLine {
    text: Vec<char>,
    at: usize,
}

/// Reads a line that is typed from the column `start` on, of a terminal with so many `columns`.
pub(crate) fn read(keyboard: &mut Keyboard<'_>, start: usize, columns: usize) -> LineInput {
    let mut line = EditedLine::default();
    let mut terminal = keyboard.terminal;
    loop {
        let Some(key) = keyboard.next() else {
            return LineInput::Over;
        };
        match line.take(key) {
            KeyEffect::Changed => {
                let _ = terminal.write_all(line.drawn(start, columns).as_bytes());
            }
            KeyEffect::Finished => return LineInput::Line(line.text.into_iter().collect()),
            KeyEffect::Left => return LineInput::Left,
        }
    }
}

impl EditedLine {
    fn take(&mut self, key: KeyPress) -> KeyEffect {
        let end = self.text.len();
        match key {
            KeyPress::Enter => return KeyEffect::Finished,
            KeyPress::Escape => return KeyEffect::Left,
            KeyPress::Control('d') if end == 0 => return KeyEffect::Left,
            KeyPress::Char(c) if end < LONGEST => {
                self.text.insert(self.at, c);
                self.at += 1;
            }
            KeyPress::Backspace if self.at > 0 => {
                self.at -= 1;
                self.text.remove(self.at);
            }
            KeyPress::Delete | KeyPress::Control('d') if self.at < end => {
                self.text.remove(self.at);
            }
            KeyPress::Left | KeyPress::Control('b') => self.at = self.at.saturating_sub(1),
            KeyPress::Right | KeyPress::Control('f') => self.at = (self.at + 1).min(end),
            KeyPress::Home | KeyPress::Control('a') => self.at = 0,
            KeyPress::End | KeyPress::Control('e') => self.at = end,
            KeyPress::Control('u') => {
                self.text.drain(..self.at);
                self.at = 0;
            }
            KeyPress::Control('k') => self.text.truncate(self.at),
            KeyPress::Control('w') => {
                let before = &self.text[..self.at];
                let word = before.iter().rposition(|c| !c.is_whitespace()).unwrap_or(0);
                let space = before[..word].iter().rposition(|c| c.is_whitespace());
                let from = space.map_or(0, |space| space + 1);
                self.text.drain(from..self.at);
                self.at = from;
            }
            KeyPress::Char(_) | KeyPress::Control(_) | KeyPress::Backspace | KeyPress::Delete => {}
            KeyPress::Up | KeyPress::Down | KeyPress::Other => {}
        }
        KeyEffect::Changed
    }

    /// Draws as much as there is room for, with the cursor in its place.
    fn drawn(&self, start: usize, columns: usize) -> String {
        let room = columns.saturating_sub(start + 1).max(1);
        let measure = |text: &[char]| text.iter().collect::<String>().width();
        let mut from = 0;
        while from < self.at && measure(&self.text[from..self.at]) > room {
            from += 1;
        }
        let mut to = self.at;
        while to < self.text.len() && measure(&self.text[from..=to]) <= room {
            to += 1;
        }
        let shown: String = self.text[from..to].iter().collect();
        let cursor = start + measure(&self.text[from..self.at]);
        format!("{}{shown}\x1b[K{}", column(start), column(cursor))
    }
}

fn column(column: usize) -> String {
    if column == 0 {
        "\r".to_string()
    } else {
        format!("\r\x1b[{column}C")
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
            assert!(shown.width() <= 7, "{at}: {shown}");
            let cursor: usize = cursor.strip_suffix('C').unwrap().parse().unwrap();
            assert!((2..10).contains(&cursor), "{at}: {cursor}");
        }
    }
}
