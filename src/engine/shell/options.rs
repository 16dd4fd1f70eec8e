//! Divides a program's arguments into options, values and operands.

use super::line::ShellWord;
use super::programs::{self, ProgramRow, Style, UNKNOWN_PROGRAM};

/// An option. A word with several letters has several.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenOption<'c> {
    pub(crate) name: &'c str,
    /// Rest of its word: its value, or more letters.
    pub(crate) rest: Option<&'c str>,
    /// Marks from the table, if it lists the option.
    pub(super) marks: Option<&'static str>,
}

impl<'c> GivenOption<'c> {
    fn has(&self, marks: &[char]) -> bool {
        self.marks.is_some_and(|known| known.contains(marks))
    }

    pub(super) fn joined(&self) -> Option<&'c str> {
        let has_value = self.has(&[':', '?', '$', '%', '@', '+', '&', '/']);
        self.rest
            .filter(|_| has_value || self.name.starts_with('-'))
    }

    /// Returns the number of following words that are its values.
    pub(super) fn words_taken(&self) -> usize {
        let marks = self.marks.unwrap_or_default();
        let is_one = self.has(&['>', '$', '%', '@', '+', '&', '/']);
        let wanted = marks.matches(':').count() + usize::from(is_one);
        let is_inside = self.joined().is_some() || marks.contains('?');
        wanted.saturating_sub(usize::from(is_inside))
    }
}

impl ProgramRow {
    pub(super) fn options_in<'c>(&self, word: &'c str) -> Vec<GivenOption<'c>> {
        if self.style == Style::OneDash || word.starts_with("--") {
            return vec![match word.split_once('=') {
                Some((name, value)) => self.given(name, Some(value)),
                None => self.given(word, None),
            }];
        }
        let letters = &word[1..];
        if letters.bytes().all(|byte| byte.is_ascii_digit()) && self.marks("#").is_some() {
            return vec![GivenOption {
                marks: Some(""),
                ..self.given(letters, None)
            }];
        }
        let mut options = Vec::new();
        for (at, letter) in letters.char_indices() {
            let (name, rest) = letters[at..].split_at(letter.len_utf8());
            let option = self.given(name, Some(rest).filter(|rest| !rest.is_empty()));
            options.push(option);
            if letter == '=' || option.joined().is_some() {
                break;
            }
        }
        options
    }

    fn given<'c>(&self, name: &'c str, rest: Option<&'c str>) -> GivenOption<'c> {
        let marks = self.marks(name);
        GivenOption { name, rest, marks }
    }
}

#[derive(Debug)]
pub(crate) struct OptionWord<'c> {
    pub(crate) row: &'static ProgramRow,
    pub(crate) text: &'c str,
    pub(crate) is_open: bool,
    pub(crate) options: Vec<GivenOption<'c>>,
    pub(crate) next: Option<&'c ShellWord>,
}

impl OptionWord<'_> {
    /// Returns true if unknown text after it may be a value.
    pub(crate) fn ends_in_value(&self) -> bool {
        self.options.last().is_some_and(|option| {
            option.joined().is_some() || option.words_taken() > 0 || option.has(&['?'])
        })
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenOperand<'c> {
    pub(crate) word: &'c ShellWord,
    /// It may be the value of the preceding option.
    pub(crate) may_be_value: bool,
    /// Name in rules of a command with several names.
    pub(crate) usual_name: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct GivenWords<'c> {
    /// Row of the program, or of its subcommand: `git rm`.
    pub(crate) row: &'static ProgramRow,
    pub(crate) words: Vec<OptionWord<'c>>,
    pub(crate) operands: Vec<GivenOperand<'c>>,
    /// Whether the first operand is a subcommand with a row.
    pub(crate) has_command: bool,
    /// Number of operands before `--`.
    pub(crate) before_dashes: Option<usize>,
}

impl<'c> GivenWords<'c> {
    /// Divides the arguments of the program `name`. An unknown word is an operand, unless it begins
    /// like an option. If the table lists only some options of the program, an option may take the
    /// next operand as its value.
    pub(crate) fn read(name: &str, args: &'c [ShellWord]) -> GivenWords<'c> {
        let row = programs::find(name).filter(|row| row.lists_values);
        GivenWords::read_as(name, row.unwrap_or(UNKNOWN_PROGRAM), args)
    }

    /// Like [`GivenWords::read`], by this row.
    pub(crate) fn read_as(
        name: &str,
        row: &'static ProgramRow,
        args: &'c [ShellWord],
    ) -> GivenWords<'c> {
        let mut all = GivenWords {
            row,
            words: Vec::new(),
            operands: Vec::new(),
            has_command: false,
            before_dashes: None,
        };
        let mut at = 0;
        let mut may_be_value = false;
        while let Some(word) = args.get(at) {
            at += 1;
            let text = word.beginning();
            let is_open = word.known().is_none();
            if all.before_dashes.is_none() && text == "--" && !is_open {
                all.before_dashes = Some(all.operands.len());
                may_be_value = false;
                continue;
            }
            if all.before_dashes.is_some() || text.len() < 2 || !text.starts_with('-') {
                let known = word.known().filter(|_| all.operands.len() < 2);
                all.operands.push(GivenOperand {
                    word,
                    may_be_value: std::mem::take(&mut may_be_value),
                    usual_name: known.and_then(|text| programs::usual_name(name, text)),
                });
                all.enter(name, word);
                continue;
            }
            let row = all.row;
            let options = row.options_in(text);
            let next = args.get(at);
            let wanted: usize = options.iter().map(GivenOption::words_taken).sum();
            let may_take = !row.lists_values || options.iter().any(|option| option.has(&['|']));
            let taken = if is_open { 0 } else { wanted };
            may_be_value = taken == 0 && !text.contains('=') && (may_take || is_open && wanted > 0);
            at += taken;
            all.words.push(OptionWord {
                row,
                text,
                is_open,
                options,
                next,
            });
        }
        all
    }

    /// Switches to the row of a subcommand, or of the inner command of a wrapper.
    fn enter(&mut self, name: &str, word: &ShellWord) {
        let is_assignment = self.row.assigns && word.beginning().contains('=');
        if self.before_dashes.is_some() || is_assignment {
            return;
        }
        if self.row.is_wrapper() && self.operands.len() > self.row.operands {
            self.row = UNKNOWN_PROGRAM;
        } else if self.operands.len() == 1
            && let Some(row) = word.known().and_then(|word| self.row.command(name, word))
        {
            self.row = row;
            self.has_command = true;
        }
    }

    pub(crate) fn has(&self, mark: char) -> bool {
        self.words
            .iter()
            .flat_map(|word| &word.options)
            .any(|option| option.has(&[mark]))
    }

    pub(crate) fn values(&self, mark: char) -> impl Iterator<Item = &'c str> {
        let words = self.words.iter().filter(|word| !word.is_open);
        words.flat_map(move |word| {
            let options = word.options.iter().filter(move |one| one.has(&[mark]));
            options.filter_map(|one| one.joined().or_else(|| word.next?.text.as_deref()))
        })
    }
}
