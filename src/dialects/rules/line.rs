//! A command line as permission rules see it: each command in it, and whether that is all.
//!
//! This is no shell. It divides where any shell would, and says where it cannot tell what runs.

use std::iter::Peekable;
use std::str::Chars;

/// The commands of a line.
#[derive(Debug, Default)]
pub(super) struct ShellLine {
    /// Each of them, with and without what is before it.
    pub(super) commands: Vec<SimpleCommand>,
    /// It may run something else too.
    pub(super) is_in_doubt: bool,
}

/// A command, its words as the shell has them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub(super) text: String,
    /// How much of the text is known before the line runs, where that is not all.
    pub(super) known: Option<usize>,
}

/// Words of the shell before a command.
const KEYWORDS: &[&str] = &[
    "!", "do", "done", "elif", "else", "esac", "fi", "if", "then", "time", "until", "while", "{",
    "}",
];

/// Words of the shell that no command follows.
const HEADS: &[&str] = &["[", "[[", "case", "for", "select"];

/// What runs other commands in special ways.
const RUNNERS: &str = ". alias ash bash builtin busybox chroot chrt cmd command coproc csh dash doas entr env \
    eval exec fish flock function ionice ksh nice nohup nsenter parallel powershell pwsh \
    run0 runuser script setarch setpriv setsid sh source ssh stdbuf strace su sudo \
    systemd-run taskset tcsh timeout toybox trap unshare watch xargs zsh";

/// Options of `find` and its like by which it runs others.
const RUNNING_OPTIONS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec"];

/// In a longer command nothing looks for options before the command's own words.
const MOST_WORDS: usize = 64;

impl ShellLine {
    /// Reads a command line.
    pub(super) fn read(text: &str) -> ShellLine {
        let mut reader = ShellReader::default();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match reader.quote {
                Some(quote) => reader.read_quoted(quote, c, &mut rest),
                None => reader.read_plain(c, &mut rest),
            }
        }
        reader.line.is_in_doubt |= reader.quote.is_some();
        reader.end();
        reader.line
    }
}

/// What has been read of a line so far.
#[derive(Default)]
struct ShellReader {
    line: ShellLine,
    /// The words of this command, and the word that is not at its end yet.
    words: Vec<ShellWord>,
    word: Option<ShellWord>,
    quote: Option<char>,
    is_in_backticks: bool,
    /// The next word is where a stream leads.
    is_file_next: bool,
}

#[derive(Debug, Clone, Default)]
struct ShellWord {
    text: String,
    /// Something in it is quoted: it is no word of the shell's own.
    is_quoted: bool,
    /// Where something is in it that is known only when the line runs.
    known: Option<usize>,
}

impl ShellReader {
    fn read_quoted(&mut self, quote: char, c: char, rest: &mut Peekable<Chars<'_>>) {
        match c {
            c if c == quote => self.quote = None,
            c if quote == '\'' => self.word().text.push(c),
            '`' | '$' if c == '`' || rest.peek() == Some(&'(') => {
                // Where the quoted text goes on after it is not looked for.
                self.line.is_in_doubt = true;
                self.open();
                self.quote = None;
                self.end();
            }
            '$' => self.open(),
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some(next) => {
                    if !"$`\"\\".contains(next) {
                        self.word().text.push(c);
                    }
                    self.word().text.push(next);
                }
            },
            c => self.word().text.push(c),
        }
    }

    fn read_plain(&mut self, c: char, rest: &mut Peekable<Chars<'_>>) {
        let next = rest.peek().copied();
        let next_is = |any: &str| next.is_some_and(|next| any.contains(next));
        match c {
            '\'' | '"' => {
                self.word().is_quoted = true;
                self.quote = Some(c);
            }
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some(next) => {
                    self.word().is_quoted = true;
                    self.word().text.push(next);
                }
            },
            '`' => {
                if !self.is_in_backticks {
                    self.open();
                }
                self.is_in_backticks = !self.is_in_backticks;
                self.end();
            }
            '$' => {
                self.open();
                // A text in escapes can be anything.
                self.line.is_in_doubt |= next_is("'\"");
            }
            '*' | '?' => self.open_with(c),
            '[' if self.word.is_some()
                || !next.is_none_or(|next| next.is_whitespace() || next == '[') =>
            {
                self.open_with(c);
            }
            '{' if self.word.is_some() || !next.is_none_or(char::is_whitespace) => {
                self.open_with(c)
            }
            '#' if self.word.is_none() => while rest.next_if(|c| *c != '\n').is_some() {},
            '>' | '<' => {
                // Of `2>` the number is no word.
                self.word.take_if(|word| word.text.chars().all(|c| c.is_ascii_digit()));
                self.end_word();
                // The text that follows looks like commands.
                self.line.is_in_doubt |= c == '<' && next_is("<");
                self.is_file_next = true;
                while rest.next_if(|c| "<>&|".contains(*c)).is_some() {}
            }
            '&' if next_is(">") => self.end_word(),
            '&' | '|' | ';' | '\n' | '(' | ')' => self.end(),
            c if c.is_whitespace() => self.end_word(),
            c => self.word().text.push(c),
        }
    }

    fn word(&mut self) -> &mut ShellWord {
        self.word.get_or_insert_default()
    }

    fn open(&mut self) {
        let word = self.word();
        word.known.get_or_insert(word.text.len());
    }

    fn open_with(&mut self, c: char) {
        self.open();
        self.word().text.push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.is_file_next) {
            return;
        }
        self.words.push(word);
    }

    /// The end of a command.
    fn end(&mut self) {
        self.end_word();
        self.is_file_next = false;
        let all = std::mem::take(&mut self.words);
        let mut words = all.as_slice();
        self.keep(words.iter());
        while let Some((first, after)) = words.split_first() {
            let is_keyword = !first.is_quoted && KEYWORDS.contains(&first.text.as_str());
            if !is_keyword && !is_variable(&first.text) {
                break;
            }
            words = after;
            self.keep(words.iter());
        }
        let Some((first, rest)) = words.split_first() else { return };
        if HEADS.contains(&first.text.as_str()) {
            return;
        }
        let name = first.text.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        let runs = |word: &ShellWord| RUNNING_OPTIONS.contains(&word.text.as_str());
        let is_find = matches!(name, "find" | "fd" | "fdfind");
        self.line.is_in_doubt |= RUNNERS.split(' ').any(|runner| runner == name)
            // An option of `time`.
            || name.starts_with('-')
            || is_find && rest.iter().any(runs);
        self.keep_without_options(first, rest);
    }

    /// Keeps the words of a command without the options before them: `git -C . push`.
    fn keep_without_options(&mut self, first: &ShellWord, rest: &[ShellWord]) {
        if !rest.first().is_some_and(|word| word.text.starts_with('-')) {
            return;
        }
        if rest.len() > MOST_WORDS {
            self.line.is_in_doubt = true;
            return;
        }
        for start in 1..rest.len() {
            self.keep(std::iter::once(first).chain(&rest[start..]));
        }
    }

    /// Keeps a command as it is, and without the folder of its program.
    fn keep<'a>(&mut self, words: impl Iterator<Item = &'a ShellWord>) {
        let mut text = String::new();
        let mut known = None;
        for (number, word) in words.enumerate() {
            if number > 0 {
                text.push(' ');
            }
            known = known.or(word.known.map(|known| text.len() + known));
            text.push_str(&word.text);
        }
        let program = text.split(' ').next().unwrap_or_default();
        if let Some(folder) = program.rfind('/').filter(|at| known.is_none_or(|known| *at < known))
        {
            let known = known.map(|known| known - folder - 1);
            self.line.commands.push(SimpleCommand { text: text[folder + 1..].to_string(), known });
        }
        if !text.is_empty() || known.is_some() {
            self.line.commands.push(SimpleCommand { text, known });
        }
    }
}

/// Whether a word gives a variable its value: `A=1`.
pub(super) fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
