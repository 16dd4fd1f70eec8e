//! A line that is typed, with the keys that every line editor has.

use std::io::Write;

use crate::cli::terminal::status::width;

use super::keys::{KeyPress, Keyboard};

/// How long a line may get, in characters.
const LONGEST: usize = 4096;

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineInput {
    /// A line, perhaps an empty one.
    Line(String),
    /// Escape, or the end of input on an empty line: no answer.
    Left,
    /// The question was over first.
    Over,
}

/// A line and the place in it where the next character goes.
#[derive(Debug, Default, PartialEq, Eq)]
struct EditedLine {
    text: Vec<char>,
    at: usize,
}

/// What a key did to a line.
#[derive(Debug, PartialEq, Eq)]
enum LineKeyEffect {
    Changed,
    Finished,
    Left,
}

/// Reads a line that is typed from the column `start` on, of a terminal with so many `columns`.
pub(crate) fn read(keyboard: &mut Keyboard<'_>, start: usize, columns: usize) -> LineInput {
    let mut line = EditedLine::default();
    let mut terminal = keyboard.terminal;
    loop {
        let Some(key) = keyboard.next() else { return LineInput::Over };
        match line.take(key) {
            LineKeyEffect::Changed => {
                let _ = terminal.write_all(line.drawn(start, columns).as_bytes());
            }
            LineKeyEffect::Finished => return LineInput::Line(line.text.into_iter().collect()),
            LineKeyEffect::Left => return LineInput::Left,
        }
    }
}

impl EditedLine {
    fn take(&mut self, key: KeyPress) -> LineKeyEffect {
        let end = self.text.len();
        match key {
            KeyPress::Enter => return LineKeyEffect::Finished,
            KeyPress::Escape => return LineKeyEffect::Left,
            KeyPress::Control('d') if end == 0 => return LineKeyEffect::Left,
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
        LineKeyEffect::Changed
    }
    /// What draws it: as much of it as there is room for, with the cursor in its place.
    fn drawn(&self, start: usize, columns: usize) -> String {
        let room = columns.saturating_sub(start + 1).max(1);
        let measure = |text: &[char]| width(&text.iter().collect::<String>());
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

/// What moves the cursor to a column of its line.
fn column(column: usize) -> String {
    if column == 0 { "\r".to_string() } else { format!("\r\x1b[{column}C") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[KeyPress]) -> (String, usize) {
        let mut line = EditedLine::default();
        for key in keys {
            assert_eq!(line.take(*key), LineKeyEffect::Changed, "{key:?}");
        }
        (line.text.into_iter().collect(), line.at)
    }

    fn with(text: &str, more: &[KeyPress]) -> (String, usize) {
        let keys: Vec<KeyPress> =
            text.chars().map(KeyPress::Char).chain(more.iter().copied()).collect();
        typed(&keys)
    }

    #[test]
    fn a_line_is_edited_as_everywhere() {
        assert_eq!(with("ab", &[KeyPress::Left, KeyPress::Char('é')]), ("aéb".to_string(), 2));
        assert_eq!(
            with("abc", &[KeyPress::Home, KeyPress::Delete, KeyPress::Right]),
            ("bc".to_string(), 1)
        );
        assert_eq!(with("abc", &[KeyPress::Backspace, KeyPress::Backspace]), ("a".to_string(), 1));
        assert_eq!(with("a bc ", &[KeyPress::Control('w')]), ("a ".to_string(), 2));
        assert_eq!(with("abc", &[KeyPress::Left, KeyPress::Control('u')]), ("c".to_string(), 0));
        assert_eq!(
            with("abc", &[KeyPress::Home, KeyPress::Control('k'), KeyPress::Backspace]),
            (String::new(), 0)
        );
    }

    #[test]
    fn an_answer_is_finished_or_refused() {
        let mut line = EditedLine::default();
        assert_eq!(line.take(KeyPress::Control('d')), LineKeyEffect::Left);
        assert_eq!(line.take(KeyPress::Escape), LineKeyEffect::Left);
        assert_eq!(line.take(KeyPress::Enter), LineKeyEffect::Finished);
        line.take(KeyPress::Char('x'));
        assert_eq!(line.take(KeyPress::Control('d')), LineKeyEffect::Changed);
    }

    #[test]
    fn a_line_never_runs_over_the_edge() {
        let text: Vec<char> = "日本語abcdef".chars().collect();
        for at in 0..=text.len() {
            let drawn = EditedLine { text: text.clone(), at }.drawn(2, 10);
            let shown = drawn.strip_prefix("\r\x1b[2C").unwrap();
            let (shown, cursor) = shown.split_once("\x1b[K\r\x1b[").unwrap();
            assert!(width(shown) <= 7, "{at}: {shown}");
            let cursor: usize = cursor.strip_suffix('C').unwrap().parse().unwrap();
            assert!((2..10).contains(&cursor), "{at}: {cursor}");
        }
    }
}
