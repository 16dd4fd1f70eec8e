//! Finds a program in the table by its name.

use super::programs::{Kind, PROGRAMS, ProgramRow};

/// Each name of the table, in order. Numbers instead of references: nothing here has to be adjusted
/// when hookrun starts.
static NAMES: [ProgramName; COUNT] = names_in_order();

const COUNT: usize = {
    let (mut count, mut row) = (0, 0);
    while row < PROGRAMS.len() {
        count += 1;
        let mut at = 0;
        while at < PROGRAMS[row].names.len() {
            count += (PROGRAMS[row].names.as_bytes()[at] == b' ') as usize;
            at += 1;
        }
        row += 1;
    }
    count
};

/// Where a name stands in the table.
#[derive(Debug, Clone, Copy)]
struct ProgramName {
    row: usize,
    start: usize,
    end: usize,
}

impl ProgramName {
    const fn text(self) -> &'static str {
        PROGRAMS[self.row]
            .names
            .split_at(self.end)
            .0
            .split_at(self.start)
            .1
    }

    const fn is_before(self, other: ProgramName) -> bool {
        let (one, other) = (self.text().as_bytes(), other.text().as_bytes());
        let mut at = 0;
        while at < one.len() && at < other.len() && one[at] == other[at] {
            at += 1;
        }
        at < other.len() && (at == one.len() || one[at] < other[at])
    }
}

const fn names_in_order() -> [ProgramName; COUNT] {
    let mut sorted = [ProgramName {
        row: 0,
        start: 0,
        end: 0,
    }; COUNT];
    let (mut count, mut row) = (0, 0);
    while row < PROGRAMS.len() {
        let names = PROGRAMS[row].names.as_bytes();
        let (mut start, mut end) = (0, 0);
        while end <= names.len() {
            if end == names.len() || names[end] == b' ' {
                let name = ProgramName { row, start, end };
                let mut place = count;
                while place > 0 && name.is_before(sorted[place - 1]) {
                    sorted[place] = sorted[place - 1];
                    place -= 1;
                }
                sorted[place] = name;
                count += 1;
                start = end + 1;
            }
            end += 1;
        }
        row += 1;
    }
    sorted
}

fn named(name: impl Iterator<Item = u8> + Clone) -> Option<&'static ProgramRow> {
    let found = NAMES.binary_search_by(|known| known.text().bytes().cmp(name.clone()));
    found.ok().map(|at| &PROGRAMS[NAMES[at].row])
}

/// The row of a program, by its base name; `python3.12` is `python`.
pub(crate) fn find(name: &str) -> Option<&'static ProgramRow> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let interpreter = || named(bare.bytes()).filter(|row| row.kind == Kind::Interpreter);
    named(name.bytes()).or_else(interpreter)
}

impl ProgramRow {
    /// The row of one of its commands: of `git` and `rm` that of `git-rm`.
    pub(super) fn command(&self, name: &str, command: &str) -> Option<&'static ProgramRow> {
        let has_commands = matches!(self.kind, Kind::Itself | Kind::Git);
        let whole = name.bytes().chain(*b"-").chain(command.bytes());
        has_commands.then(|| named(whole)).flatten()
    }
}
