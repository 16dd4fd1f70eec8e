//! The value of a word as far as it is known without running it: quotes and variables.

use std::collections::HashMap;

use super::line::{ShellWord, SourceWord, TOP_FOLDER, UNKNOWN_PART, WordPiece, WordPieceKind};

/// Placeholder for unknown text, also in text that is parsed again. It is a private-use character,
/// so real text does not contain it; text that does is unknown.
pub(super) const UNKNOWN: char = '\u{10fffd}';

/// Stands for a group of bash's `extglob`, such as `!(a|b)`.
const GROUP: char = '\u{10fff9}';

/// Stands for a group that may match a leading dot: `@(.env|b)`.
const HIDDEN_GROUP: char = '\u{10fff8}';

/// A pattern for names that such a group may match, hidden ones included.
pub(crate) const ANY_NAME: &str = "[!!]*";

const TOP: char = '\u{10fffb}';

/// Value of a variable of which only [`ShellWord::is_plain`] is known.
pub(super) const PLAIN_VALUE: &str = "\u{10fffa}";

/// Begins the value of a variable that stands for the files of a glob.
const FILES_VALUE: char = '\u{10fff7}';

/// Programs that print one word that is not an option, or variables for `eval`.
const PLAIN: &[&str] = &[
    "git branch --show-current",
    "git rev-parse ",
    "git describe",
    "date",
    "hostname",
    "whoami",
    "id -",
    "nproc",
    "uname",
    "ssh-agent",
    "direnv hook ",
    "direnv export ",
    "brew shellenv",
    "pyenv init",
    "rbenv init",
    "mise activate",
    "fnm env",
    "starship init",
    "zoxide init",
    "opam env",
    "conda shell",
    "dircolors",
    "minikube docker-env",
];

/// Variables with conventional values.
pub(super) const USUAL: &[(&str, &str)] = &[
    ("HOME", "~"),
    ("PWD", "."),
    ("TMPDIR", "/tmp"),
    ("EDITOR", "vi"),
    ("VISUAL", "vi"),
    ("PAGER", "less"),
    ("PY", "python"),
    ("PYTHON", "python"),
    ("CC", "cc"),
    ("CXX", "c++"),
    ("CARGO", "cargo"),
    ("MAKE", "make"),
];

pub(super) type Constants = HashMap<String, String>;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Text with [`UNKNOWN`] for unknown parts.
    pub(super) value: String,
    /// Whether unquoted `*`, `?` or `[` may expand it.
    pub(super) is_pattern: bool,
    /// Whether it may become several words, or none.
    pub(super) may_split: bool,
    pub(super) is_plain: bool,
    /// Glob of the paths that it becomes, if it is not text.
    files: Option<String>,
    written: String,
}

impl Word {
    pub(super) fn unknown(written: &str) -> Word {
        Word {
            value: UNKNOWN.to_string(),
            written: written.to_string(),
            may_split: true,
            ..Word::default()
        }
    }

    pub(super) fn assignment(&self) -> Option<(&str, &str)> {
        let (name, value) = self.value.split_once('=')?;
        let is_name = !name.is_empty() && name.chars().all(is_of_name);
        is_name.then_some((name, value))
    }

    pub(super) fn literal(text: &str) -> Word {
        Word {
            value: text.to_string(),
            written: text.to_string(),
            ..Word::default()
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        (!self.value.contains([UNKNOWN, TOP])).then_some(&self.value)
    }

    /// Returns the value of a variable that gets this word; `None` if unknown.
    pub(super) fn as_constant(&self) -> Option<String> {
        let text = self.text()?;
        if self.is_pattern {
            return Some(format!("{FILES_VALUE}{text}"));
        }
        Some(text.to_string())
    }

    /// Returns true for `<(…)` and descriptors.
    pub(super) fn is_stream(&self) -> bool {
        const STREAMS: &[&str] = &["/dev/stdin", "/dev/fd/", "/proc/self/fd/"];
        self.written.starts_with("<(")
            || STREAMS.iter().any(|stream| self.value.starts_with(stream))
    }

    /// Replaces `part` by unknown text, as `xargs` does for `{}`.
    pub(super) fn with_unknown(&self, part: &str) -> Word {
        Word {
            value: self.value.replace(part, &UNKNOWN.to_string()),
            ..self.clone()
        }
    }

    /// Creates a word for an unknown path of this glob.
    pub(super) fn with_files(&self, files: &str) -> Word {
        Word {
            files: Some(files.to_string()),
            is_plain: !files.starts_with('-'),
            may_split: false,
            ..self.clone()
        }
    }

    /// Replaces the input of `xargs` by these files.
    pub(super) fn or_files(&self, files: &[String]) -> Vec<Word> {
        let is_read = self.value.chars().eq([UNKNOWN]) && !self.written.contains(['$', '`']);
        if is_read {
            files.iter().map(|file| self.with_files(file)).collect()
        } else {
            vec![self.clone()]
        }
    }

    pub(super) fn shown(&self) -> String {
        self.written.replace(UNKNOWN, "…")
    }

    pub(super) fn into_word(self) -> ShellWord {
        let text = self.text().map(str::to_string);
        let parts = self.value.replace(UNKNOWN, &UNKNOWN_PART.to_string());
        let parts = self.files.clone().or(Some(parts.replace(TOP, TOP_FOLDER)));
        ShellWord {
            parts: parts.filter(|_| text.is_none()),
            text,
            written: self.shown(),
            is_pattern: self.is_pattern,
            is_plain: self.is_plain,
        }
    }
}

/// Removes the quotes of a word, and replaces variables by their values.
pub(super) fn evaluate(source: &SourceWord, constants: Option<&Constants>) -> Word {
    let mut reader = WordReader {
        word: Word::default(),
        constants,
        // A lone `[` is the command, and `[` without `]` is text.
        has_bracket: source.iter().any(|piece| piece.written.contains(']')),
        before: None,
        open_groups: 0,
    };
    for piece in source {
        reader.piece(piece);
        reader.word.written.push_str(&piece.written);
    }
    if reader.word.value.contains([GROUP, HIDDEN_GROUP]) {
        reader.word.value = without_groups(&reader.word.value);
    }
    reader.word
}

/// A pattern that matches what its groups match. At the start of a name, one may match nothing, or a
/// dot, which `*` does not.
fn without_groups(value: &str) -> String {
    let names = value.split('/').map(|name| {
        let rest = name.trim_start_matches([GROUP, HIDDEN_GROUP]);
        let is_hidden = rest.len() < name.len() && rest.starts_with('.');
        if is_hidden || name.starts_with(HIDDEN_GROUP) {
            ANY_NAME.to_string()
        } else {
            name.replace([GROUP, HIDDEN_GROUP], "*")
        }
    });
    names.collect::<Vec<_>>().join("/")
}

struct WordReader<'w> {
    word: Word,
    constants: Option<&'w Constants>,
    has_bracket: bool,
    /// The unquoted character before.
    before: Option<char>,
    /// Parentheses of a group such as `!(a|b)` that are still open.
    open_groups: usize,
}

impl WordReader<'_> {
    fn unknown(&mut self, is_quoted: bool) {
        self.word.value.push(UNKNOWN);
        self.word.may_split |= !is_quoted;
    }

    fn piece(&mut self, piece: &WordPiece) {
        if piece.unquoted().is_none() {
            self.before = None;
            if self.open_groups > 0 {
                self.may_be_hidden();
                return;
            }
        }
        match &piece.kind {
            WordPieceKind::Text(text) if piece.is_quoted => self.word.value.push_str(text),
            WordPieceKind::Text(text) => self.unquoted(text),
            WordPieceKind::Commands { text, .. } => self.output(text.trim(), piece.is_quoted),
            WordPieceKind::Expansion { text, .. } => {
                let usual = text.strip_prefix("TMPDIR:-");
                if text.chars().all(is_of_name) {
                    self.variable(text, piece.is_quoted);
                } else if let Some(folder) = usual.filter(|folder| folder.starts_with('/')) {
                    self.word.value.push_str(folder);
                } else {
                    // `"$@"` is any number of words.
                    self.unknown(piece.is_quoted && !text.contains('@'));
                }
            }
        }
    }

    /// The group that is open may match a leading dot.
    fn may_be_hidden(&mut self) {
        self.word.value = self.word.value.trim_end_matches(GROUP).to_string();
        self.word.value.push(HIDDEN_GROUP);
    }

    fn unquoted(&mut self, mut text: &str) {
        let prefix = text.split('/').next().unwrap_or_default();
        if self.word.value.is_empty() && prefix.len() > 1 && prefix.starts_with('~') {
            // `~+` is the working directory, `~-` the one before it, `~NAME` a user's.
            text = &text[prefix.len()..];
            self.word
                .value
                .push(if prefix == "~+" { '.' } else { UNKNOWN });
        }
        for c in text.chars() {
            let before = self.before.replace(c);
            if self.open_groups > 0 {
                if c == '.' && matches!(before, Some('(' | '|')) {
                    self.may_be_hidden();
                }
                self.open_groups += usize::from(c == '(');
                self.open_groups -= usize::from(c == ')');
                continue;
            }
            if c == '(' && before.is_some_and(|c| "@!?+*".contains(c)) {
                self.word.is_pattern = true;
                self.word.value.pop();
                self.word.value.push(GROUP);
                self.open_groups = 1;
                continue;
            }
            self.word.is_pattern |= matches!(c, '*' | '?') || c == '[' && self.has_bracket;
            self.word.may_split |= c == UNKNOWN;
            self.word.value.push(c);
        }
    }

    fn output(&mut self, commands: &str, is_quoted: bool) {
        let is_simple = !commands.contains([';', '|', '&', '\n', '<', '>', '$', '`']);
        match commands {
            "pwd" => self.word.value.push('.'),
            "git rev-parse --show-toplevel" => self.word.value.push(TOP),
            _ if is_simple && let Some(file) = new_file(commands) => {
                self.word.value.push_str(&file);
            }
            _ => {
                let is_first = self.word.value.is_empty();
                let is_plain = PLAIN.iter().any(|start| commands.starts_with(start));
                self.word.is_plain |= is_first && is_simple && is_plain;
                self.unknown(is_quoted);
            }
        }
    }

    fn variable(&mut self, name: &str, is_quoted: bool) {
        let value = self.constants.and_then(|known| known.get(name));
        match value.map(String::as_str) {
            Some(PLAIN_VALUE) => {
                self.word.is_plain |= self.word.value.is_empty();
                self.unknown(is_quoted);
            }
            Some(value) if value.starts_with(FILES_VALUE) => {
                self.word.is_pattern = true;
                self.word.value.push_str(&value[FILES_VALUE.len_utf8()..]);
            }
            Some(value) if is_quoted || !may_split(value) => self.word.value.push_str(value),
            Some(_) | None => self.unknown(is_quoted),
        }
    }
}

/// Returns the path that a `mktemp` command creates.
fn new_file(commands: &str) -> Option<String> {
    let mut words = commands.split_whitespace();
    if words.next() != Some("mktemp") {
        return None;
    }
    let mut name = None;
    let mut is_in_tmp = false;
    for word in words {
        match word {
            "-d" | "-q" | "-u" | "--directory" | "-dq" => {}
            "-t" | "-dt" | "--tmpdir" => is_in_tmp = true,
            _ if word.starts_with('-') || name.is_some() => return None,
            _ => name = Some(word.trim_matches(['"', '\''])),
        }
    }
    match name {
        Some(name) if !is_in_tmp => Some(name.to_string()),
        _ => Some("/tmp/tmp.XXXXXXXXXX".to_string()),
    }
}

/// Returns true if an unquoted value may be split or expanded.
fn may_split(value: &str) -> bool {
    value.is_empty() || value.contains([' ', '\t', '\n', '*', '?', '[', '(', '\\'])
}

/// Commands that may change a variable without naming it, or change how it expands.
const CHANGERS: &str = "IFS declare eval export getopts local mapfile printf read readarray readonly shopt \
    source typeset unset set";
/// Prefixes of variables that the shell sets.
const OWN: &str = "BASH COMP DIRSTACK EPOCH EUID FUNCNAME GROUPS HIST IFS LINENO MAPFILE OLDPWD OPT PATH \
    PPID PWD RANDOM READLINE REPLY SECONDS SHELLOPTS SRANDOM UID _";

/// Returns true if a text assigns `name` only once. Any other bare occurrence counts as a change.
pub(super) fn is_constant(text: &str, name: &str) -> bool {
    is_changed_only(text, name, 1)
}

/// Returns true if only loops over words assign `name`.
pub(super) fn is_of_loops(text: &str, name: &str) -> bool {
    is_changed_only(text, name, text.matches(&format!("for {name} in ")).count())
}

fn is_changed_only(text: &str, name: &str, times: usize) -> bool {
    if OWN.split(' ').any(|own| name.starts_with(own)) || text.starts_with(". ") {
        return false;
    }
    // `.env.local` has no command.
    let mut names = text.split(|c| !is_of_name(c) && !matches!(c, '.' | '/' | '-'));
    if names.any(|word| CHANGERS.split(' ').any(|changer| changer == word)) {
        return false;
    }
    // `. file` may change variables.
    let mut dots = [" . ", ";. ", "&. ", "|. ", "\n. "].iter();
    changes(text, name) == times && !dots.any(|dot| text.contains(dot))
}

/// Counts occurrences of a variable's name other than `$NAME`.
pub(super) fn changes(text: &str, name: &str) -> usize {
    let named = text.match_indices(name).filter(|(at, _)| {
        let before = &text[..*at];
        let after = &text[at + name.len()..];
        // Or an option: `rm -f "$f"`.
        let is_read = before.ends_with(['$', '-']) || before.ends_with("${");
        !is_read && !before.ends_with(is_of_name) && !after.starts_with(is_of_name)
    });
    named.count()
}

pub(super) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
