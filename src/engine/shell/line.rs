//! The data of a parsed command line: its syntax tree, and the commands read from it.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The commands of a command line, as far as they are known without running it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct CommandLine {
    /// All simple commands, also nested ones, without their wrappers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<ShellCommand>,
    /// Why it may run something else too; `None` if `commands` is complete.
    #[serde(rename = "uncertain", skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl CommandLine {
    /// Returns the wrappers of all commands, each once, as commands with all their arguments.
    pub fn wrappers(&self) -> Vec<ShellCommand> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for wrapper in self.commands.iter().flat_map(|command| &command.through) {
            if seen.insert(Arc::as_ptr(wrapper)) {
                all.push(ShellCommand {
                    program: ShellWord {
                        text: Some(wrapper.name.clone()),
                        written: wrapper.name.clone(),
                        ..ShellWord::default()
                    },
                    args: wrapper.args.clone(),
                    ..ShellCommand::default()
                });
            }
        }
        all
    }
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    pub program: ShellWord,
    /// Arguments. An unknown one may expand to any number of words.
    pub args: Vec<ShellWord>,
    /// Wrappers, outermost first.
    pub through: Vec<Arc<CommandWrapper>>,
    /// Variables set for this command.
    pub assigns: Vec<Assignment>,
    pub redirects: Vec<CommandRedirect>,
    /// The working directory, if a `cd` just before it determines it.
    pub(crate) folder: Option<Arc<str>>,
}

/// A program that runs another one: `sudo -u root` in `sudo -u root rm x`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CommandWrapper {
    pub name: String,
    /// All arguments, including the inner command.
    pub args: Vec<ShellWord>,
}

/// A word without its quotes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ShellWord {
    /// Argument of the program; `None` if unknown before it runs.
    pub text: Option<String>,
    /// Source text.
    pub written: String,
    /// Whether unquoted `*`, `?` or `[` may expand it.
    pub is_pattern: bool,
    /// Known parts of a word without text, with [`UNKNOWN_PART`] and [`TOP_FOLDER`].
    pub(crate) parts: Option<String>,
    /// Output of a program that prints no options: a branch, a date, a version.
    pub(crate) is_plain: bool,
}

/// Placeholder in [`ShellWord::parts`] for unknown text.
pub(crate) const UNKNOWN_PART: char = '…';
pub(crate) const TOP_FOLDER: &str = "$(git rev-parse --show-toplevel)";

impl ShellWord {
    /// Returns the text if the program gets exactly that.
    pub fn known(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| !self.is_pattern)
    }

    /// Returns the known beginning of the text, or all of it.
    pub(crate) fn beginning(&self) -> &str {
        if let Some(text) = self.known() {
            return text;
        }
        let bare = self.written.strip_prefix('"').unwrap_or(&self.written);
        let end = bare
            .find(|c: char| "$`\\'\"*?[<>({~…".contains(c))
            .unwrap_or(bare.len());
        &bare[..end]
    }

    /// Returns the text, else the source without surrounding quotes.
    pub fn shown(&self) -> &str {
        let bare = self
            .written
            .strip_prefix('"')
            .map(|word| word.trim_end_matches('"'));
        self.text.as_deref().or(bare).unwrap_or(&self.written)
    }
}

/// `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub value: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandRedirect {
    /// `<`, `>`, `>>`, `<>`, `>|`, `<&`, `>&`, `&>` or `&>>`.
    pub operator: &'static str,
    pub target: ShellWord,
}

impl ShellCommand {
    /// Returns the program's base name; `None` if unknown before it runs.
    pub fn name(&self) -> Option<&str> {
        let program = self.program.known()?;
        Some(program.rsplit('/').next().unwrap_or(program))
    }

    /// Returns the folder of the next command, if this is a successful `cd FOLDER`.
    pub(super) fn entered_folder(&self) -> Option<&str> {
        let is_cd = self.name() == Some("cd") && self.through.is_empty();
        match self.args.as_slice() {
            [folder] if is_cd => folder.known().filter(|folder| !matches!(*folder, "" | "-")),
            _ => None,
        }
    }
}

/// Returns globs for the paths that `find` may find. Empty if it may start in an unknown folder.
pub(crate) fn found_files<'w>(words: impl Iterator<Item = Option<&'w str>>) -> Vec<String> {
    let words: Vec<Option<&str>> = words.collect();
    let is_test = |word: &Option<&str>| word.is_some_and(|word| word.starts_with(['-', '(', '!']));
    let links = words
        .iter()
        .take_while(|word| matches!(word, Some("-H" | "-L" | "-P")));
    let words = &words[links.count()..];
    let first = words.iter().position(is_test).unwrap_or(words.len());
    let (folders, tests) = words.split_at(first);
    let names: Option<Vec<&str>> = tests
        .split(|word| matches!(word, Some("-o" | "-or")))
        .map(found_name)
        .collect();
    let names = names.unwrap_or_else(|| vec!["*"]);
    let folders: Option<Vec<&str>> = folders.iter().copied().collect();
    let mut folders = folders.unwrap_or_default();
    if first == 0 {
        folders.push(".");
    }
    let mut found = Vec::new();
    for folder in folders.iter().map(|folder| folder.trim_end_matches('/')) {
        found.extend(names.iter().map(|name| format!("{folder}/**/{name}")));
    }
    found
}

/// Returns the `-name` that one alternative of `find` requires before any action.
fn found_name<'w>(tests: &[Option<&'w str>]) -> Option<&'w str> {
    const ACTS: &[&str] = &[
        "-exec", "-ok", "-print", "-delete", "-fprint", "-fls", "-ls", ",",
    ];
    let mut rest = tests.iter().copied();
    while let Some(word) = rest.next() {
        match word? {
            "!" | "-not" if rest.next()? == Some("(") => return None,
            "-name" => return rest.next()?,
            word if ACTS.iter().any(|act| word.starts_with(act)) => return None,
            _ => {}
        }
    }
    None
}

/// Serialized as in `action.commands`.
impl Serialize for ShellCommand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_map(None)?;
        json.serialize_entry("program", &self.program)?;
        json.serialize_entry("args", &self.args)?;
        if self.name() == Some("find") {
            let words = self.args.iter().map(|word| word.text.as_deref());
            json.serialize_entry("found", &found_files(words))?;
        }
        if !self.through.is_empty() {
            let names = self.through.iter().map(|wrapper| &wrapper.name);
            json.serialize_entry("through", &names.collect::<Vec<_>>())?;
        }
        if !self.assigns.is_empty() {
            let assigns = self.assigns.iter();
            let assigns: Map<String, Value> = assigns
                .map(|one| (one.name.clone(), one.value.clone().into()))
                .collect();
            json.serialize_entry("assigns", &assigns)?;
        }
        if !self.redirects.is_empty() {
            json.serialize_entry("redirects", &self.redirects)?;
        }
        // Keys with words that are unknown or may expand.
        let is_unknown = |word: &ShellWord| word.known().is_none();
        let mut assigns = self.assigns.iter();
        let mut redirects = self.redirects.iter();
        let keys = [
            (is_unknown(&self.program), "program"),
            (self.args.iter().any(is_unknown), "args"),
            (assigns.any(|one| one.value.is_none()), "assigns"),
            (redirects.any(|one| is_unknown(&one.target)), "redirects"),
        ];
        let unknown = keys.iter().filter(|(is_unknown, _)| *is_unknown);
        let unknown: Vec<&str> = unknown.map(|(_, key)| *key).collect();
        if !unknown.is_empty() {
            json.serialize_entry("unknown", &unknown)?;
            let words = std::iter::once(&self.program).chain(&self.args);
            let written: Vec<&str> = words.map(|word| word.written.as_str()).collect();
            json.serialize_entry("written", &written.join(" "))?;
        }
        json.end()
    }
}

/// The text, or the glob of the files that it may be.
impl Serialize for ShellWord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let files = self.parts.as_ref().filter(|_| self.is_plain);
        let files = files.filter(|files| !files.contains(UNKNOWN_PART));
        self.text.as_ref().or(files).serialize(serializer)
    }
}

/// Commands separated by `;`, `&` and line ends.
pub(super) type CommandList = Vec<AndOrList>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(super) struct AndOrList {
    pub(super) pipelines: Vec<Pipeline>,
    pub(super) is_background: bool,
}

#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<CommandNode>,
    /// Whether it follows `||`.
    pub(super) is_alternative: bool,
}

#[derive(Debug)]
pub(super) enum CommandNode {
    Simple(Vec<CommandPart>),
    Compound {
        /// Whether it always runs, in the same shell: `{ a; }`.
        is_group: bool,
        parts: Vec<CompoundPart>,
        redirects: Vec<SourceRedirect>,
    },
}

#[derive(Debug)]
pub(super) enum CommandPart {
    Word(SourceWord),
    Assignment(SourceAssignment),
    Redirect(SourceRedirect),
}

/// A part of a compound command, in the order of the text.
#[derive(Debug)]
pub(super) enum CompoundPart {
    List(CommandList),
    /// A word, arithmetic, or the inside of `[[ ]]`.
    Word(SourceWord),
    /// A loop over words: its variable, the words, the body.
    Loop(String, Vec<SourceWord>, CommandList),
    /// A command with a pipe as its stdin.
    Coprocess(Box<CommandNode>),
}

#[derive(Debug)]
pub(super) struct SourceAssignment {
    pub(super) name: String,
    /// The index, and words that are not its whole value: those of an array, or one that `+=` adds.
    pub(super) besides: SourceWord,
    pub(super) value: Option<SourceWord>,
    pub(super) written: String,
}

#[derive(Debug)]
pub(super) struct SourceRedirect {
    pub(super) operator: &'static str,
    /// Whether it sets file descriptor 0, if it reads.
    pub(super) is_stdin: bool,
    pub(super) target: RedirectTarget,
}

#[derive(Debug)]
pub(super) enum RedirectTarget {
    Word(SourceWord),
    /// Index in [`Syntax::documents`].
    Document(usize),
}

/// A word with its quotes.
pub(super) type SourceWord = Vec<WordPiece>;

#[derive(Debug, Clone)]
pub(super) struct WordPiece {
    pub(super) kind: WordPieceKind,
    pub(super) is_quoted: bool,
    pub(super) written: String,
}

impl WordPiece {
    pub(super) fn text(text: String, is_quoted: bool) -> WordPiece {
        WordPiece {
            written: text.clone(),
            kind: WordPieceKind::Text(text),
            is_quoted,
        }
    }

    pub(super) fn unquoted(&self) -> Option<&str> {
        if let (WordPieceKind::Text(text), false) = (&self.kind, self.is_quoted) {
            return Some(text);
        }
        None
    }
}

#[derive(Debug, Clone)]
pub(super) enum WordPieceKind {
    Text(String),
    /// `$(…)`, backticks or `<(…)`.
    Commands {
        text: String,
        list: Rc<CommandList>,
    },
    /// `$name`, `${…}`, `$((…))`: the inside of the braces or the name, and what may run for it.
    /// Also `$'…'` that is not UTF-8.
    Expansion {
        text: String,
        inner: SourceWord,
    },
}

#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) list: CommandList,
    /// Bodies of the here-documents.
    pub(super) documents: Vec<SourceWord>,
    pub(super) tokens_left: usize,
}
