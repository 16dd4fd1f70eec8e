//! A list of which one line is chosen.

use crate::engine::harmless::plain;
use crate::engine::ui::status::cut;

use super::Terminal;
use super::keys::{Key, Keyboard};

/// Lines of the terminal that the list leaves to what stands above it.
const OTHER_ROWS: usize = 4;

/// A list, the line that is marked, and the part that is shown.
#[derive(Debug)]
struct List<'l> {
    options: &'l [String],
    marked: usize,
    first: usize,
    rows: usize,
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
enum Did {
    Moved,
    Chose,
    Left,
}

/// Lets the person choose; the place of what they chose. The list is gone afterwards.
pub(crate) fn choose(
    terminal: &Terminal,
    keyboard: &mut Keyboard<'_>,
    options: &[String],
) -> Option<usize> {
    let (columns, rows) = terminal.size();
    let rows = rows.saturating_sub(OTHER_ROWS).clamp(1, options.len().max(1));
    let mut list = List { options, marked: 0, first: 0, rows };
    terminal.write(&list.drawn(columns));
    let chosen = loop {
        let Some(key) = keyboard.next() else { break None };
        match list.take(key) {
            Did::Moved => terminal.write(&format!("{}{}", list.back(), list.drawn(columns))),
            Did::Chose => break Some(list.marked),
            Did::Left => break None,
        }
    };
    terminal.write(&format!("{}\x1b[J", list.back()));
    chosen
}

impl List<'_> {
    fn take(&mut self, key: Key) -> Did {
        let last = self.options.len().saturating_sub(1);
        match key {
            Key::Enter => return Did::Chose,
            Key::Escape | Key::Control('d') => return Did::Left,
            Key::Up | Key::Char('k') | Key::Control('p') => {
                self.marked = self.marked.checked_sub(1).unwrap_or(last);
            }
            Key::Down | Key::Char('j') | Key::Control('n') => {
                self.marked = if self.marked == last { 0 } else { self.marked + 1 };
            }
            Key::Home => self.marked = 0,
            Key::End => self.marked = last,
            Key::Char(digit @ '1'..='9') => {
                let place = digit as usize - '1' as usize;
                if place <= last {
                    self.marked = place;
                    // Where two digits may be meant, one only moves there.
                    if last < 9 {
                        return Did::Chose;
                    }
                }
            }
            Key::Char(_) | Key::Control(_) | Key::Left | Key::Right | Key::Backspace => {}
            Key::Delete | Key::Other => {}
        }
        let lowest = (self.marked + 1).saturating_sub(self.rows);
        self.first = self.first.clamp(lowest, self.marked);
        Did::Moved
    }

    /// What draws the lines that are shown; the cursor is then below them.
    fn drawn(&self, columns: usize) -> String {
        let mut drawn = String::new();
        let shown = self.options.iter().enumerate().skip(self.first).take(self.rows);
        for (place, option) in shown {
            let mark = if place == self.marked { '>' } else { ' ' };
            let line = format!("{mark} {}. {}", place + 1, plain(option));
            drawn.push_str(&format!("\x1b[2K{}\n", cut(&line, columns.saturating_sub(1))));
        }
        drawn
    }

    /// What moves the cursor back to the first line.
    fn back(&self) -> String {
        format!("\r\x1b[{}A", self.rows.min(self.options.len()).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(options: &[String]) -> List<'_> {
        List { options, marked: 0, first: 0, rows: 3 }
    }

    fn options(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("option {number}")).collect()
    }

    #[test]
    fn keys_move_the_mark_around_the_list() {
        let options = options(4);
        let mut list = list(&options);
        for (key, marked) in [
            (Key::Down, 1),
            (Key::Char('j'), 2),
            (Key::Up, 1),
            (Key::Char('k'), 0),
            (Key::Up, 3),
            (Key::Down, 0),
            (Key::End, 3),
            (Key::Home, 0),
            (Key::Char('9'), 0),
        ] {
            assert_eq!((list.take(key), list.marked), (Did::Moved, marked), "{key:?}");
        }
        assert_eq!((list.take(Key::Char('3')), list.marked), (Did::Chose, 2));
        assert_eq!(list.take(Key::Enter), Did::Chose);
        assert_eq!(list.take(Key::Escape), Did::Left);
    }

    #[test]
    fn a_long_list_shows_the_part_with_the_mark() {
        let options = options(12);
        let mut list = list(&options);
        assert_eq!(list.take(Key::Char('5')), Did::Moved);
        assert_eq!((list.marked, list.first), (4, 2));
        let drawn = list.drawn(8);
        assert_eq!(drawn, "\x1b[2K  3. o…\n\x1b[2K  4. o…\n\x1b[2K> 5. o…\n");
        assert_eq!(list.back(), "\r\x1b[3A");
        list.take(Key::Home);
        assert_eq!(list.first, 0);
    }
}
