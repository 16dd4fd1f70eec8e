//! A list of which one line is chosen.

use std::io::Write;

use crate::engine::harmless::plain;

use super::keys::{KeyEffect, KeyPress, Keyboard};
use super::status::cut;

/// Lines of the terminal that the list leaves for the question above it.
const OTHER_ROWS: usize = 4;

#[derive(Debug)]
struct List<'l> {
    options: &'l [String],
    marked: usize,
    first: usize,
    rows: usize,
}

/// Lets the person choose, and removes the list. The index of the option.
pub(crate) fn choose(
    keyboard: &mut Keyboard<'_>,
    columns: usize,
    rows: usize,
    options: &[String],
) -> Option<usize> {
    let mut terminal = keyboard.terminal;
    let mut write = |text: &str| {
        let _ = terminal.write_all(text.as_bytes());
    };
    let rows = rows
        .saturating_sub(OTHER_ROWS)
        .clamp(1, options.len().max(1));
    let mut list = List {
        options,
        marked: 0,
        first: 0,
        rows,
    };
    write(&list.drawn(columns));
    let chosen = loop {
        let Some(key) = keyboard.next() else {
            break None;
        };
        match list.take(key) {
            KeyEffect::Changed => write(&format!("{}{}", list.back(), list.drawn(columns))),
            KeyEffect::Finished => break Some(list.marked),
            KeyEffect::Left => break None,
        }
    };
    write(&format!("{}\x1b[J", list.back()));
    chosen
}

impl List<'_> {
    fn take(&mut self, key: KeyPress) -> KeyEffect {
        let last = self.options.len().saturating_sub(1);
        match key {
            KeyPress::Enter => return KeyEffect::Finished,
            KeyPress::Escape | KeyPress::Control('d') => return KeyEffect::Left,
            KeyPress::Up | KeyPress::Char('k') | KeyPress::Control('p') => {
                self.marked = self.marked.checked_sub(1).unwrap_or(last);
            }
            KeyPress::Down | KeyPress::Char('j') | KeyPress::Control('n') => {
                self.marked = if self.marked == last {
                    0
                } else {
                    self.marked + 1
                };
            }
            KeyPress::Home => self.marked = 0,
            KeyPress::End => self.marked = last,
            KeyPress::Char(digit @ '1'..='9') => {
                let place = digit as usize - '1' as usize;
                if place <= last {
                    self.marked = place;
                    // If it may be the first of two digits, it only moves there.
                    if last < 9 {
                        return KeyEffect::Finished;
                    }
                }
            }
            KeyPress::Char(_)
            | KeyPress::Control(_)
            | KeyPress::Left
            | KeyPress::Right
            | KeyPress::Backspace => {}
            KeyPress::Delete | KeyPress::Other => {}
        }
        let lowest = (self.marked + 1).saturating_sub(self.rows);
        self.first = self.first.clamp(lowest, self.marked);
        KeyEffect::Changed
    }

    /// Draws the lines that are shown, and leaves the cursor below them.
    fn drawn(&self, columns: usize) -> String {
        let mut drawn = String::new();
        let shown = self
            .options
            .iter()
            .enumerate()
            .skip(self.first)
            .take(self.rows);
        for (place, option) in shown {
            let mark = if place == self.marked { '>' } else { ' ' };
            let line = format!("{mark} {}. {}", place + 1, plain(option));
            drawn.push_str(&format!(
                "\x1b[2K{}\n",
                cut(&line, columns.saturating_sub(1))
            ));
        }
        drawn
    }

    /// Moves the cursor back to the first line.
    fn back(&self) -> String {
        format!("\r\x1b[{}A", self.rows.min(self.options.len()).max(1))
    }
}
