//! A list of which one line is chosen.

use crate::cli::terminal::status::cut;
use crate::engine::harmless::plain;

use super::Terminal;
use super::keys::{KeyPress, Keyboard};

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
enum ListKeyEffect {
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
            ListKeyEffect::Moved => {
                terminal.write(&format!("{}{}", list.back(), list.drawn(columns)))
            }
            ListKeyEffect::Chose => break Some(list.marked),
            ListKeyEffect::Left => break None,
        }
    };
    terminal.write(&format!("{}\x1b[J", list.back()));
    chosen
}

impl List<'_> {
    fn take(&mut self, key: KeyPress) -> ListKeyEffect {
        let last = self.options.len().saturating_sub(1);
        match key {
            KeyPress::Enter => return ListKeyEffect::Chose,
            KeyPress::Escape | KeyPress::Control('d') => return ListKeyEffect::Left,
            KeyPress::Up | KeyPress::Char('k') | KeyPress::Control('p') => {
                self.marked = self.marked.checked_sub(1).unwrap_or(last);
            }
            KeyPress::Down | KeyPress::Char('j') | KeyPress::Control('n') => {
                self.marked = if self.marked == last { 0 } else { self.marked + 1 };
            }
            KeyPress::Home => self.marked = 0,
            KeyPress::End => self.marked = last,
            KeyPress::Char(digit @ '1'..='9') => {
                let place = digit as usize - '1' as usize;
                if place <= last {
                    self.marked = place;
                    // Where two digits may be meant, one only moves there.
                    if last < 9 {
                        return ListKeyEffect::Chose;
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
        ListKeyEffect::Moved
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
            (KeyPress::Down, 1),
            (KeyPress::Char('j'), 2),
            (KeyPress::Up, 1),
            (KeyPress::Char('k'), 0),
            (KeyPress::Up, 3),
            (KeyPress::Down, 0),
            (KeyPress::End, 3),
            (KeyPress::Home, 0),
            (KeyPress::Char('9'), 0),
        ] {
            assert_eq!((list.take(key), list.marked), (ListKeyEffect::Moved, marked), "{key:?}");
        }
        assert_eq!((list.take(KeyPress::Char('3')), list.marked), (ListKeyEffect::Chose, 2));
        assert_eq!(list.take(KeyPress::Enter), ListKeyEffect::Chose);
        assert_eq!(list.take(KeyPress::Escape), ListKeyEffect::Left);
    }

    #[test]
    fn a_long_list_shows_the_part_with_the_mark() {
        let options = options(12);
        let mut list = list(&options);
        assert_eq!(list.take(KeyPress::Char('5')), ListKeyEffect::Moved);
        assert_eq!((list.marked, list.first), (4, 2));
        let drawn = list.drawn(8);
        assert_eq!(drawn, "\x1b[2K  3. o…\n\x1b[2K  4. o…\n\x1b[2K> 5. o…\n");
        assert_eq!(list.back(), "\r\x1b[3A");
        list.take(KeyPress::Home);
        assert_eq!(list.first, 0);
    }
}
