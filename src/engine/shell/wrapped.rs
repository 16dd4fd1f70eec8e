//! Finds the commands that a simple command runs, from its arguments.

use std::sync::Arc;

use super::line::{Assignment, CommandRedirect, CommandWrapper, SourceWord, found_files};
use super::options::GivenOption;
use super::programs::{self, Alone, Kind, ProgramRow};
use super::word::{UNKNOWN, Word};

#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    /// Nesting depth in commands and texts.
    pub(super) depth: usize,
    pub(super) through: &'p [Arc<CommandWrapper>],
    /// Whether it surely runs in the outermost shell.
    pub(super) is_certain: bool,
    /// Bodies of the here-documents.
    pub(super) documents: &'p [SourceWord],
    pub(super) folder: Option<&'p Arc<str>>,
}

impl Place<'_> {
    pub(super) fn uncertain(self) -> Self {
        Place {
            is_certain: false,
            ..self
        }
    }
}

#[derive(Debug, Default, Clone)]
pub(super) enum Stdin {
    /// The shell's stdin: a terminal, or nothing.
    #[default]
    Inherited,
    File,
    /// A pipe or a descriptor.
    Pipe,
    Text(String),
    /// A list of files with these globs.
    Files(Vec<String>),
}

/// Programs that only filter or sort lines.
const FILTERS: &[&str] = &["grep", "egrep", "head", "sort", "tail", "uniq"];

#[derive(Default)]
pub(super) struct Parts {
    pub(super) words: Vec<Word>,
    pub(super) assigns: Vec<Assignment>,
    pub(super) redirects: Vec<CommandRedirect>,
    pub(super) stdin: Stdin,
}

impl Stdin {
    /// Returns true if the program that would read commands is the command itself: `bash < file`
    /// names a file.
    pub(super) fn is_of_command(&self, runs: &[Inner]) -> bool {
        runs.iter().all(|inner| match inner {
            Inner::Words(_) | Inner::Text(_) | Inner::Unknown => false,
            Inner::Stdin => matches!(self, Stdin::File),
            Inner::WrittenStdin => matches!(self, Stdin::File | Stdin::Inherited),
            Inner::ForeignStdin => matches!(self, Stdin::File | Stdin::Text(_)),
        })
    }
}

impl Parts {
    /// Returns the known output of `echo`, `printf` and `cat`.
    pub(super) fn printed(&self) -> Option<String> {
        if self
            .words
            .iter()
            .any(|word| word.is_pattern || word.may_split)
        {
            return None;
        }
        let texts: Vec<&str> = self.words.iter().map(|word| word.value.as_str()).collect();
        match texts.as_slice() {
            ["echo", "-n" | "-e" | "-E", text @ ..] | ["echo", text @ ..] => {
                Some(text.join(" ")).filter(|text| !text.contains('\\'))
            }
            ["printf", "%s" | "%s\\n" | "%s\n", text] => Some(text.to_string()),
            ["printf", text] => Some(text.to_string()).filter(|text| !text.contains(['%', '\\'])),
            ["cat"] | ["cat", "-"] => match &self.stdin {
                Stdin::Text(text) => Some(text.clone()),
                Stdin::Inherited | Stdin::File | Stdin::Pipe | Stdin::Files(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the stdin of the next program in the pipeline.
    pub(super) fn output(&self) -> Stdin {
        if let Some(text) = self.printed() {
            return Stdin::Text(text);
        }
        let Some((program, words)) = self.words.split_first() else {
            return Stdin::Pipe;
        };
        let files = match (program.value.as_str(), &self.stdin) {
            ("find", _) => found_files(words.iter().map(Word::text)),
            ("ls", _) => {
                let named = words.iter().filter(|word| !word.value.starts_with('-'));
                let all: Option<Vec<String>> = named
                    .map(|word| Some(word.text().filter(|_| word.is_pattern)?.to_string()))
                    .collect();
                all.unwrap_or_default()
            }
            (name, Stdin::Files(files)) if FILTERS.contains(&name) => files.clone(),
            _ => Vec::new(),
        };
        if files.is_empty() {
            Stdin::Pipe
        } else {
            Stdin::Files(files)
        }
    }
}

pub(super) struct InnerCommands {
    pub(super) name: String,
    pub(super) assigns: Vec<Assignment>,
    pub(super) runs: Vec<Inner>,
    /// Whether the program also acts itself, like `find`.
    pub(super) is_command: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inner {
    Words(Vec<Word>),
    Text(String),
    /// A shell reads its stdin.
    Stdin,
    /// A shell reads its stdin, if it is redirected.
    WrittenStdin,
    /// Another language's interpreter reads its stdin.
    ForeignStdin,
    /// Unknown: a descriptor, or another command's output.
    Unknown,
}

/// A program whose inner command is unclear; holds the words in doubt.
pub(super) struct InDoubt(pub(super) String);

pub(super) fn read(words: &[Word]) -> Result<Option<InnerCommands>, InDoubt> {
    let program = words
        .first()
        .filter(|word| !word.is_pattern)
        .and_then(Word::text);
    let name = program.map_or("", |program| program.rsplit('/').next().unwrap_or(program));
    if let Some(word) = words.iter().skip(1).find(|word| may_evaluate(name, word)) {
        return Err(InDoubt(format!("{name} {}", word.shown())));
    }
    let Some(program_row) = programs::find(name) else {
        return Ok(None);
    };
    let (row, at) = command_row(program_row, name, words);
    let is_eval_of_plain = name == "eval" && words[1..].iter().all(|word| word.is_plain);
    let is_command = matches!(row.kind, Kind::After(_) | Kind::Git | Kind::Trap)
        || !std::ptr::eq(row, program_row);
    let mut assigns = Vec::new();
    let mut runs = match row.kind {
        Kind::After(options) => commands_after(options, words, name)?,
        Kind::AfterDashes => match words.iter().position(|word| word.value == "--") {
            Some(dashes) => vec![Inner::Words(words[dashes + 1..].to_vec())],
            None => return Ok(None),
        },
        Kind::Alias => {
            let mut words = words.iter().map(|word| word.value.as_str());
            let is_path = |word: &str| word.starts_with('-') && word.contains('p');
            match words.find(|word| word.contains('=') || name == "hash" && is_path(word)) {
                Some(word) => return Err(InDoubt(format!("{name} {word}"))),
                None => return Ok(None),
            }
        }
        Kind::Interpreter => program_of_interpreter(row, &words[at..]),
        Kind::Git => Vec::new(),
        Kind::Itself => return Ok(None),
        Kind::Text if is_eval_of_plain => return Ok(None),
        Kind::Words
        | Kind::Text
        | Kind::WordsAndMore
        | Kind::Parallel
        | Kind::Shell
        | Kind::Login
        | Kind::Trap
        | Kind::Texts
        | Kind::Source => {
            let mut reader = WrapperReader {
                row,
                name,
                words: words.to_vec(),
                at,
                assigns: Vec::new(),
                texts: Vec::new(),
                marks: Vec::new(),
                runs_nothing: false,
                starts_shell: false,
                is_swapped: false,
            };
            reader.read()?;
            assigns = std::mem::take(&mut reader.assigns);
            reader.runs()?
        }
    };
    if program_row.kind == Kind::Git {
        runs.extend(aliases(words));
    }
    let wrapped = InnerCommands {
        name: name.to_string(),
        assigns,
        runs,
        is_command,
    };
    Ok(Some(wrapped).filter(|wrapped| !wrapped.runs.is_empty()))
}

/// Returns true if bash runs commands in an array index in this word: `let 'a[$(rm x)]=1'`.
fn may_evaluate(program: &str, word: &Word) -> bool {
    const NAMING: &[&str] = &[
        "declare", "local", "read", "readonly", "test", "typeset", "unset", "[",
    ];
    let text = match program {
        "let" => word.value.as_str(),
        _ if NAMING.contains(&program) => word.value.split('=').next().unwrap_or_default(),
        _ => return false,
    };
    let index = text.split_once('[').map_or("", |(_, index)| index);
    index.contains("$(") || index.contains('`')
}

/// Returns the row of a subcommand and the index of its arguments: `docker-compose-exec` for
/// `docker compose exec`. Falls back to the program's row.
fn command_row(
    program: &'static ProgramRow,
    name: &str,
    words: &[Word],
) -> (&'static ProgramRow, usize) {
    let (mut row, mut name, mut at) = (program, name.to_string(), 1);
    loop {
        let mut next = at;
        while let Some(text) = words.get(next).and_then(Word::text) {
            if text.len() < 2 || !text.starts_with('-') {
                break;
            }
            let options = row.options_in(text);
            next += 1 + options.iter().map(GivenOption::words_taken).sum::<usize>();
        }
        let command = words.get(next).filter(|word| !word.is_pattern);
        let Some(command) = command.and_then(Word::text) else {
            break;
        };
        let Some(inner) = row.command(&name, command) else {
            break;
        };
        name = format!("{name}-{command}");
        row = inner;
        at = next + 1;
    }
    // Rows with file operands only run no commands.
    if row.kind == Kind::Itself && program.kind != Kind::Itself {
        return (program, 1);
    }
    (row, at)
}

struct WrapperReader<'r> {
    row: &'r ProgramRow,
    name: &'r str,
    words: Vec<Word>,
    at: usize,
    assigns: Vec<Assignment>,
    texts: Vec<String>,
    /// Placeholders for unknown parts.
    marks: Vec<String>,
    runs_nothing: bool,
    starts_shell: bool,
    /// Operands are text instead of words, or vice versa.
    is_swapped: bool,
}

impl WrapperReader<'_> {
    fn doubt(&self) -> InDoubt {
        let shown = self.words.get(self.at).map_or("", |word| &word.value);
        InDoubt(
            format!("{} {shown}", self.name)
                .trim_end()
                .replace(UNKNOWN, "…"),
        )
    }

    /// Reads up to the command. Options may surround the operands before it, as in `ssh`, `su` and
    /// `flock`.
    fn read(&mut self) -> Result<(), InDoubt> {
        let mut is_open = true;
        let mut operands = 0;
        while let Some(word) = self.words.get(self.at) {
            let text = word.text().unwrap_or_default();
            // `runuser -u USER` has no operand before the command.
            let is_swapped = self.row.kind == Kind::Login && self.is_swapped;
            let wants_operand = operands < self.row.operands && !is_swapped;
            if is_open && text == "--" {
                is_open = false;
            } else if is_open && text == "-" && self.row.marks("-").is_some() {
                // Short for `--login` or `--ignore-environment`.
            } else if is_open && self.is_option(text) {
                let text = text.to_string();
                let first = self.at;
                self.at += 1;
                for option in self.row.options_in(&text) {
                    self.take(&option, first)?;
                }
                continue;
            } else if let Some((name, value)) = word.assignment().filter(|_| self.row.assigns) {
                let value = (!value.contains(UNKNOWN)).then(|| value.to_string());
                let name = name.to_string();
                self.assigns.push(Assignment { name, value });
            } else if self.row.kind == Kind::Texts {
                // An option may follow.
            } else if word.may_split && wants_operand {
                return Err(self.doubt());
            } else if wants_operand {
                operands += 1;
            } else {
                break;
            }
            self.at += 1;
        }
        Ok(())
    }

    fn is_option(&self, text: &str) -> bool {
        let sign = text.chars().next();
        text.len() > 1 && (sign == Some('-') || sign == Some('+') && self.row.kind == Kind::Shell)
    }

    /// Applies an option. `first` is the index of its word.
    fn take(&mut self, option: &GivenOption<'_>, first: usize) -> Result<(), InDoubt> {
        let after = std::mem::replace(&mut self.at, first);
        let marks = match option.marks {
            None if self.row.kind == Kind::Texts => "",
            marks => marks.ok_or_else(|| self.doubt())?,
        };
        let taken = option.words_taken();
        let values = self.words.get(after..after + taken).unwrap_or_default();
        if values.iter().any(|word| word.may_split) {
            return Err(self.doubt());
        }
        let value = option
            .joined()
            .or(values.first().map(|word| word.value.as_str()));
        let value = value.map(str::to_string);
        self.runs_nothing |= marks.contains('!');
        self.starts_shell |= marks.contains('~');
        self.is_swapped |= marks.contains('=');
        self.at = (after + taken).min(self.words.len());
        match value {
            Some(value) if marks.contains('$') => self.texts.push(value),
            Some(value) if marks.contains('@') => self.marks.push(value),
            Some(value) if marks.contains('%') => {
                let split = shell_words::split(&value).map_err(|_| self.doubt())?;
                // `env` expands `${NAME}` to an unknown value.
                let words = split.iter().map(|text| match text.contains("${") {
                    true => Word::unknown(text),
                    false => Word::literal(text),
                });
                self.words.splice(first..self.at, words);
                self.at = first;
            }
            _ => {}
        }
        Ok(())
    }

    fn runs(mut self) -> Result<Vec<Inner>, InDoubt> {
        if self.runs_nothing {
            return Ok(Vec::new());
        }
        if !self.texts.is_empty() {
            return Ok(self.texts.into_iter().map(Inner::Text).collect());
        }
        let kind = self.row.kind;
        let rest = self.words.split_off(self.at.min(self.words.len()));
        if kind == Kind::Parallel {
            return Ok(runs_of_parallel(&rest, &self.marks));
        }
        let Some(first) = rest.first() else {
            return Ok(self.runs_alone().into_iter().collect());
        };
        let inner = match (kind, self.is_swapped) {
            (Kind::Shell, _) => self.runs_of_shell(first, rest.len())?,
            (Kind::Login, false) => Some(Inner::Unknown),
            (Kind::Trap, _) if rest.len() > 1 && !matches!(first.value.as_str(), "" | "-") => {
                Some(Inner::Text(first.value.clone()))
            }
            (Kind::Trap | Kind::Texts, _) => None,
            (Kind::Source, _) => stream(first),
            (Kind::WordsAndMore, _) => Some(Inner::Words(with_more(&rest, &self.marks))),
            (Kind::Text, false) | (Kind::Words, true) => Some(Inner::Text(joined(&rest))),
            _ => Some(Inner::Words(rest)),
        };
        Ok(inner.into_iter().collect())
    }

    fn runs_alone(&self) -> Option<Inner> {
        match (self.row.kind, self.is_swapped) {
            (Kind::Trap | Kind::Texts | Kind::Source | Kind::WordsAndMore, _)
            | (Kind::Shell, true) => None,
            (Kind::Shell, false) | (Kind::Login, false) => Some(Inner::Stdin),
            _ if self.starts_shell => Some(Inner::Stdin),
            _ => match self.row.alone {
                Alone::Shell => Some(Inner::Stdin),
                Alone::RemoteShell => Some(Inner::WrittenStdin),
                Alone::Command => None,
            },
        }
    }

    /// Returns the inner command of a shell with this many words after its options.
    fn runs_of_shell(&self, first: &Word, words: usize) -> Result<Option<Inner>, InDoubt> {
        if self.is_swapped {
            return Ok(Some(Inner::Text(first.value.clone())));
        }
        if self.starts_shell {
            return Ok(Some(Inner::Stdin));
        }
        let inner = stream(first);
        // It may be `-c`.
        if inner.is_none() && first.text().is_none() && (first.may_split || words > 1) {
            return Err(InDoubt(format!("{} {}", self.name, first.shown())));
        }
        Ok(inner)
    }
}

fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.value.as_str()).collect();
    texts.join(" ")
}

/// Adds the input of `xargs`, in place of a mark or at the end.
fn with_more(words: &[Word], marks: &[String]) -> Vec<Word> {
    let mut all = words.to_vec();
    for mark in marks.iter().map(String::as_str).chain(["{}"]) {
        all.iter_mut()
            .for_each(|word| *word = word.with_unknown(mark));
    }
    all.push(Word::unknown("…"));
    all
}

fn runs_of_parallel(rest: &[Word], marks: &[String]) -> Vec<Inner> {
    let is_end = |word: &Word| word.value.starts_with(":::");
    let end = rest.iter().position(is_end).unwrap_or(rest.len());
    let (words, values) = rest.split_at(end);
    if !words.is_empty() {
        return vec![Inner::Text(joined(&with_more(words, marks)))];
    }
    match values.split_first() {
        Some((mark, texts)) if mark.value == ":::" && !texts.iter().any(is_end) => texts
            .iter()
            .map(|word| Inner::Text(word.value.clone()))
            .collect(),
        _ => vec![Inner::Unknown],
    }
}

fn stream(word: &Word) -> Option<Inner> {
    const STDIN: &[&str] = &["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    let stdin = STDIN.contains(&word.value.as_str()).then_some(Inner::Stdin);
    word.is_stream().then(|| stdin.unwrap_or(Inner::Unknown))
}

/// Handles an interpreter whose options name no program.
fn program_of_interpreter(row: &ProgramRow, words: &[Word]) -> Vec<Inner> {
    let first = words
        .iter()
        .find(|word| match word.value.strip_prefix('-') {
            Some("") | None => true,
            Some(rest) => {
                let is_long = rest.starts_with('-');
                let marks = row.marks(if is_long { &word.value } else { rest });
                marks.is_none_or(|marks| marks.contains(':'))
            }
        });
    match first.filter(|word| word.value != "-").map(stream) {
        None | Some(Some(Inner::Stdin)) => vec![Inner::ForeignStdin],
        Some(other) => other.into_iter().collect(),
    }
}

/// Returns the commands of `find … -exec COMMAND ;`.
fn commands_after(options: &[&str], words: &[Word], name: &str) -> Result<Vec<Inner>, InDoubt> {
    let is_find = options.contains(&"-exec");
    let is_fd = options.contains(&"-X");
    let files = if is_find {
        found_files(words[1..].iter().map(Word::text))
    } else if is_fd {
        searched_files(&words[1..])
    } else {
        Vec::new()
    };
    let mut runs = Vec::new();
    let mut rest = words[1..].iter().peekable();
    while let Some(word) = rest.next() {
        let (option, joined) = word
            .value
            .split_once('=')
            .map_or((word.value.as_str(), None), |(o, v)| (o, Some(v)));
        if is_fd && (option.starts_with("-x") || option.starts_with("-X")) && option.len() > 2 {
            return Err(InDoubt(format!("{name} {option}")));
        }
        if !options.contains(&option) {
            continue;
        }
        let mut inner: Vec<Word> = joined.map(Word::literal).into_iter().collect();
        let mut is_place = false;
        let mut has_place = false;
        for word in rest.by_ref() {
            // `+` ends the command only after `{}`.
            if word.value == ";" || word.value == "+" && is_place {
                break;
            }
            is_place = word.value == "{}";
            has_place |= is_place;
            let places = ["{}", "{/}", "{//}", "{.}", "{/.}"].iter();
            let unknown = places.fold(word.clone(), |word, place| word.with_unknown(place));
            if is_place && !files.is_empty() {
                inner.extend(files.iter().map(|file| unknown.with_files(file)));
            } else {
                inner.push(unknown);
            }
        }
        let last = Word::unknown("…");
        if is_fd && !has_place && !files.is_empty() {
            inner.extend(files.iter().map(|file| last.with_files(file)));
        } else if is_fd && !has_place {
            inner.push(last);
        }
        runs.push(Inner::Words(inner));
    }
    Ok(runs)
}

/// Returns globs for the paths that `fd` may find. Empty if an option or a word is unknown.
fn searched_files(words: &[Word]) -> Vec<String> {
    let mut name = "*".to_string();
    let mut operands = Vec::new();
    let mut rest = words.iter().map(Word::text);
    while let Some(word) = rest.next() {
        match word {
            None => return Vec::new(),
            Some("-x" | "-X" | "--exec" | "--exec-batch") => break,
            Some("-e" | "--extension") => match rest.next().flatten() {
                Some(ending) => name = format!("*.{ending}"),
                None => return Vec::new(),
            },
            Some("-t" | "--type") => {
                rest.next();
            }
            Some("-H" | "-I" | "--hidden" | "--no-ignore" | "-g" | "-0") => {}
            Some(word) if word.starts_with('-') => return Vec::new(),
            Some(word) => operands.push(word.trim_end_matches('/')),
        }
    }
    // The first is an expression for names.
    let folders = operands.get(1..).filter(|folders| !folders.is_empty());
    let folders = folders.unwrap_or(&["."]).iter();
    folders
        .map(|folder| format!("{folder}/**/{name}"))
        .collect()
}

fn aliases(words: &[Word]) -> Vec<Inner> {
    let values = words
        .windows(2)
        .filter(|pair| pair[0].value == "-c")
        .map(|pair| &pair[1].value);
    let is_alias = |key: &&str| key.eq_ignore_ascii_case("alias.");
    let texts = values.filter_map(|value| {
        value.get(..6).filter(is_alias)?;
        value[6..].split_once('=')
    });
    let inner = texts.map(|(_, text)| match text.strip_prefix('!') {
        Some(text) => text.to_string(),
        None => format!("git {text}"),
    });
    inner.map(Inner::Text).collect()
}
