//! The nouns: what a command text would run.

use std::collections::HashSet;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// What a command text would run, as far as that can be told without running it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct CommandLine {
    /// Every simple command, wherever it is, with wrappers taken off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<ShellCommand>,
    /// Why it may run something else too; `None` if `commands` is all.
    #[serde(rename = "uncertain", skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl CommandLine {
    /// The programs that commands are run through, each once, as commands of all their words.
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

/// One simple command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    /// Its program.
    pub program: ShellWord,
    /// The words after it. One that is not known may become any number of words.
    pub args: Vec<ShellWord>,
    /// The programs that it is run through, the outermost first.
    pub through: Vec<Arc<CommandWrapper>>,
    /// Variables that are set for it.
    pub assigns: Vec<Assignment>,
    /// Files that it reads or writes.
    pub redirects: Vec<CommandRedirect>,
    /// The folder that it surely runs in, by a `cd` just before it.
    pub(crate) folder: Option<Arc<str>>,
}

/// A program that runs another one: `sudo -u root` of `sudo -u root rm x`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CommandWrapper {
    /// Its base name.
    pub name: String,
    /// All the words after it, those of the inner command too.
    pub args: Vec<ShellWord>,
}

/// A word, its quotes taken off.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ShellWord {
    /// What the program is given; `None` if unknown before it runs.
    pub text: Option<String>,
    /// The word in the text of the command.
    pub written: String,
    /// Unquoted `*`, `?` or `[` in it may make other words of it.
    pub is_pattern: bool,
    /// Of a word without text, what is known: it has [`UNKNOWN_PART`] and [`TOP_FOLDER`] in it.
    pub(crate) parts: Option<String>,
    /// It is the output of a program that writes no options: a branch, a date, a version.
    pub(crate) is_plain: bool,
}

/// What stands in [`ShellWord::parts`] for what only a run knows.
pub(crate) const UNKNOWN_PART: char = '…';
/// The folder of git's work tree, as commands name it.
pub(crate) const TOP_FOLDER: &str = "$(git rev-parse --show-toplevel)";

impl ShellWord {
    /// Its text, if a program is surely given just that.
    pub fn known(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| !self.is_pattern)
    }

    /// The text with which it surely begins; all of it, if that is known.
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

    /// Its text, or else the word as it is written, without the quotes around it.
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

/// A file that a command reads or writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandRedirect {
    /// `<`, `>`, `>>`, `<>`, `>|`, `<&`, `>&`, `&>` or `&>>`.
    pub operator: &'static str,
    pub target: ShellWord,
}

impl ShellCommand {
    /// The base name of its program; `None` if unknown before it runs.
    pub fn name(&self) -> Option<&str> {
        let program = self.program.known()?;
        Some(program.rsplit('/').next().unwrap_or(program))
    }

    /// The folder in which the next command is, if this one succeeds and is `cd FOLDER`.
    pub(super) fn entered_folder(&self) -> Option<&str> {
        let is_cd = self.name() == Some("cd") && self.through.is_empty();
        match self.args.as_slice() {
            [folder] if is_cd => folder.known().filter(|folder| !matches!(*folder, "" | "-")),
            _ => None,
        }
    }
}

/// The forms of the paths that `find` finds, told from the words after it. None if it may start
/// in a folder that only a run knows.
pub(crate) fn found_files(words: &[Option<&str>]) -> Vec<String> {
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
    let form = |folder: &&str| -> Vec<String> {
        let folder = folder.trim_end_matches('/');
        names
            .iter()
            .map(|name| format!("{folder}/**/{name}"))
            .collect()
    };
    folders.iter().flat_map(form).collect()
}

/// The name that one alternative of `find` asks for before it does anything.
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

/// As `action.commands` has it.
impl Serialize for ShellCommand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_map(None)?;
        json.serialize_entry("program", &self.program)?;
        json.serialize_entry("args", &self.args)?;
        if self.name() == Some("find") {
            let words: Vec<Option<&str>> =
                self.args.iter().map(|word| word.text.as_deref()).collect();
            json.serialize_entry("found", &found_files(&words))?;
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
        // The keys that have a word which is not known, or which may become other words.
        let mut unknown = Vec::new();
        if self.program.known().is_none() {
            unknown.push("program");
        }
        if self.args.iter().any(|word| word.known().is_none()) {
            unknown.push("args");
        }
        if self.assigns.iter().any(|one| one.value.is_none()) {
            unknown.push("assigns");
        }
        if self
            .redirects
            .iter()
            .any(|one| one.target.known().is_none())
        {
            unknown.push("redirects");
        }
        if !unknown.is_empty() {
            json.serialize_entry("unknown", &unknown)?;
        }
        json.end()
    }
}

/// Its text as the program is given it, or the form of the files that it stands for.
impl Serialize for ShellWord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let files = self.parts.as_ref().filter(|_| self.is_plain);
        let files = files.filter(|files| !files.contains(UNKNOWN_PART));
        self.text.as_ref().or(files).serialize(serializer)
    }
}
