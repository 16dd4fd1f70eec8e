//! What is known of a hook of git, what git gives it, and signs in the text of a script that it was
//! written for git itself, which gives a hook arguments and lines on stdin where hookrun gives it JSON.

use std::ffi::OsString;
use std::path::PathBuf;

/// One hook of git.
#[derive(Debug, PartialEq, Eq)]
pub struct GitHook {
    /// What git calls it: the name of its file.
    pub name: &'static str,
    pub event: &'static str,
    pub arguments: &'static [Argument],
    /// What is in a line on its stdin.
    pub lines: Option<StdinLines>,
    /// Which paths change if it lets it happen.
    pub changes: Changes,
    /// When `install` writes it.
    pub presence: Presence,
}

/// What one argument of a hook says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// The text of this key. One that git leaves out is an empty text.
    Text(&'static str),
    /// Whether this key holds: `1` or `0`.
    Flag(&'static str),
    /// The file of the commit message; it becomes `filePath`, its text `message`.
    MessageFile,
    /// All arguments that are left, as a list under this key.
    Rest(&'static str),
}

impl Argument {
    /// The key under which a hook finds it.
    pub fn key(&self) -> &'static str {
        match self {
            Argument::Text(key) | Argument::Flag(key) | Argument::Rest(key) => key,
            Argument::MessageFile => "filePath",
        }
    }
}

/// What the lines on a hook's stdin say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StdinLines {
    /// The key of the list that they become.
    pub key: &'static str,
    /// The keys of the words of a line. Only the first word may have spaces in it (`:/some text`
    /// in a push).
    pub words: &'static [&'static str],
}

/// What the presence of a hook's file means to git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Nothing but that it is run.
    Plain,
    /// It is run so often that it should be there only for a hook that wants it.
    Costly,
    /// git leaves to it what it otherwise does itself.
    Replaces,
}

/// What git gave a hook.
#[derive(Debug, Clone, Default)]
pub struct GitInput {
    pub arguments: Vec<OsString>,
    /// What was on stdin, for hooks that have a row of lines.
    pub stdin: Vec<u8>,
    /// The folder in which git runs the hook.
    pub cwd: PathBuf,
    /// The variables with names that begin with `GIT_`.
    pub variables: Vec<(String, String)>,
    /// The text in the message file, for hooks that have one.
    pub message: Option<Vec<u8>>,
}

/// What git gave is not what its manual describes, so no policy could tell what is about to happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("git gave {hook} something unexpected: {problem}")]
pub struct GitError {
    pub hook: &'static str,
    pub problem: String,
}

/// Where the changed paths of an event are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// Nothing is known of paths.
    Unknown,
    /// What is staged, against the commit that is checked out.
    Index,
    /// The commits that are about to be sent, and that the remote does not have as far as is
    /// known here.
    Sent,
    /// The commits that have arrived and that no reference holds yet.
    Received,
}

impl GitHook {
    pub(super) const fn lines(mut self, lines: StdinLines) -> GitHook {
        self.lines = Some(lines);
        self
    }

    pub(super) const fn changes(mut self, changes: Changes) -> GitHook {
        self.changes = changes;
        self
    }

    pub(super) const fn presence(mut self, presence: Presence) -> GitHook {
        self.presence = presence;
        self
    }

    pub(super) fn wrong(&self, problem: &str) -> GitError {
        GitError {
            hook: self.name,
            problem: problem.to_string(),
        }
    }
}

/// What a script takes as git gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenFromGit {
    /// In the words of the script: `$1`, or that it reads lines.
    pub what: &'static str,
    /// Whether that is a line of stdin, and no argument.
    pub is_line: bool,
    /// The line of the script that has it.
    pub line: usize,
    /// How a hook of hookrun's gets the same.
    pub instead: String,
}

/// Words of other languages than the shell's for the arguments of a program.
const ARGUMENTS: &[&str] = &["sys.argv[1", "sys.argv[-", "process.argv", "ARGV"];

/// Words of other languages for the lines on stdin.
const LINES: &[&str] = &[
    "in sys.stdin",
    "sys.stdin.readline",
    "fileinput.input",
    "STDIN.each",
    "<STDIN>",
];

const READS_JSON: &[&str] = &["hookrun hook field", "jq ", "json.load", "JSON", "_json"];

impl GitHook {
    /// What a script takes of this hook's arguments and lines. A folder with our own name for the
    /// event says that its hooks get JSON, which may be read by lines.
    pub fn taken_by(&self, text: &str, folder: &str) -> Option<TakenFromGit> {
        if READS_JSON.iter().any(|word| text.contains(word)) {
            return None;
        }
        let is_shell = text.lines().next().is_none_or(|first| {
            !first.starts_with("#!") || first.split_whitespace().any(|word| word.ends_with("sh"))
        });
        let mut arguments = self.arguments.iter().map(Argument::key).peekable();
        if arguments.peek().is_some() {
            let found = if is_shell {
                parameter(text)
            } else {
                word_of(ARGUMENTS, text)
            };
            if let Some((what, line)) = found {
                let place = what.strip_prefix('$').and_then(|digit| digit.parse().ok());
                let key = arguments.nth(place.unwrap_or(1_usize).saturating_sub(1));
                let key = key.unwrap_or("raw.arguments");
                let instead = format!("`hookrun hook field {key}`");
                return Some(TakenFromGit {
                    what,
                    is_line: false,
                    line,
                    instead,
                });
            }
        }
        let lines = self
            .lines
            .filter(|_| folder.eq_ignore_ascii_case(self.name))?;
        let (what, line) = if is_shell {
            read(text)
        } else {
            word_of(LINES, text)
        }?;
        let words: Vec<String> = lines.words.iter().map(|word| format!(".{word}")).collect();
        let words = words.join(", ");
        let key = lines.key;
        let instead = format!("`jq -r '.{key}[] | [{words}] | join(\" \")' | {what} …`");
        Some(TakenFromGit {
            what,
            is_line: true,
            line,
            instead,
        })
    }
}

/// The first of these words in the code of a script, and its line.
fn word_of(words: &[&'static str], text: &str) -> Option<(&'static str, usize)> {
    let code = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !is_comment(line));
    code.into_iter().find_map(|(number, line)| {
        let word = words.iter().find(|word| line.contains(**word))?;
        Some((*word, number))
    })
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with(['#', '/'])
}

/// The lines of a shell script outside its functions, which have other parameters.
fn outside_functions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end: Option<String> = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        if let Some(brace) = &end {
            if line.starts_with(brace.as_str()) {
                end = None;
            }
            return false;
        }
        let code = line.trim();
        let is_head = code.starts_with("function ")
            || code.split_once("()").is_some_and(|(before, _)| {
                let name = before.trim_end();
                !name.is_empty() && !name.contains([' ', '$', '"', '\'', '='])
            });
        if is_head && !code.ends_with('}') {
            let indent = &line[..line.len() - line.trim_start().len()];
            end = Some(format!("{indent}}}"));
        }
        !is_head
    })
}

/// The names of a shell's parameters, each plain and in braces.
const PARAMETERS: &[&str] = &["$1", "$2", "$3", "$@", "$*", "$#"];

/// The first parameter of the script that its shell would put in, and its line: not one in single
/// quotes, as awk has.
fn parameter(text: &str) -> Option<(&'static str, usize)> {
    let mut open: Vec<char> = Vec::new();
    for (number, line) in outside_functions(text) {
        let mut chars = line.char_indices();
        let mut before = ' ';
        while let Some((at, c)) = chars.next() {
            match (open.last(), c) {
                (Some('\''), '\'') | (Some('"'), '"') | (Some('('), ')') => drop(open.pop()),
                (Some('\''), _) => {}
                (_, '\\') => drop(chars.next()),
                (Some('"'), '\'') => {}
                (_, '\'' | '"') => open.push(c),
                (inside, '#') if inside != Some(&'"') && before.is_whitespace() => break,
                (_, '$') => {
                    let rest = line[at + 1..].trim_start_matches('{');
                    if line[at + 1..].starts_with('(') {
                        chars.next();
                        open.push('(');
                    } else if let Some(name) =
                        PARAMETERS.iter().find(|name| rest.starts_with(&name[1..]))
                    {
                        return Some((name, number));
                    }
                }
                _ => {}
            }
            before = c;
        }
    }
    None
}

/// The first `read` in a shell script that takes a line of the script's own stdin.
fn read(text: &str) -> Option<(&'static str, usize)> {
    let mut ends = text
        .lines()
        .filter(|line| line.trim_start().starts_with("done"));
    if ends.any(|line| line.contains('<')) {
        return None;
    }
    let mut is_piped = false;
    for (number, line) in outside_functions(text) {
        let was_piped = std::mem::replace(&mut is_piped, line.trim_end().ends_with(['|', '\\']));
        let may_read = !was_piped && !is_comment(line) && !line.contains('<');
        let before = line
            .split_once("read ")
            .map(|(before, _)| before)
            .filter(|_| may_read);
        let Some(before) = before.filter(|before| !before.trim_end().ends_with('|')) else {
            continue;
        };
        let (piped, command) = before.rsplit_once('|').unwrap_or(("", before));
        let is_own = piped.is_empty() || piped.trim() == "cat";
        let mut words = command.split_whitespace();
        let is_word = before.is_empty() || before.ends_with([' ', '\t']);
        let leads = words.all(|word| {
            matches!(word, "while" | "until" | "if" | "!" | "'" | "\"") || word.contains('=')
        });
        if is_own && is_word && leads {
            let is_loop = before.contains("while");
            return Some((if is_loop { "while read" } else { "read" }, number));
        }
    }
    None
}
