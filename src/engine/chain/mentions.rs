//! Checks whether a hook may read variables that its environment cannot hold: its command line, its
//! program or a file that one of these names mentions them.
//!
//! The search follows names into all files of the hook's folder and the project, since scripts read
//! other scripts. Of programs elsewhere it searches only the program. A file too large to search
//! counts as a mention.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use regex::bytes::Regex;

use crate::engine::exec::command::{self, Program};
use crate::engine::hook::{Handler, Hook};

const MOST_FILES: usize = 256;

const LARGEST_FILE_BYTES: u64 = 256 * 1024 * 1024;

/// Suffixes that a reference may omit.
const ENDINGS: &[&str] = &[
    "",
    ".sh",
    ".py",
    ".js",
    ".mjs",
    ".ts",
    ".rb",
    "/__init__.py",
    "/__main__.py",
];

/// Files that programs read without being named.
const READ_UNASKED: &[(&str, &[&str])] = &[
    ("make", &["Makefile", "makefile", "GNUmakefile"]),
    ("just", &["justfile", "Justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("npm npx pnpm yarn bun", &["package.json"]),
    ("deno", &["deno.json"]),
    ("rake", &["Rakefile"]),
    ("composer", &["composer.json"]),
];

const WORD: &str = r"[\w./+~-]+";

const COMMENT: &str = r"(?m)^[ \t]*(?:#|//)[ \t].*$";

/// Ways in which scripts read all variables, or one with a computed name.
const DUMP: &str = r"(?m)\bprintenv\b|/environ\b|\bexport -p|\b(?:declare|typeset) -[px]|\bcompgen -|\$\{!|\b(?:env|set)[ \t]*(?:[|>)]|$)|\benviron\b[ \t]*(?:[),:]|\.(?:items|keys|values|copy)|$)|%ENV\b|\bENV\.\w|\bprocess\.env\b[^.\[]";

/// Returns true if `hook` may read one of these variables. `program` is the program that it starts,
/// `search` the `PATH` for programs named in its text.
pub(super) fn may_look(
    hook: &Hook,
    program: &Program,
    variables: &str,
    project: &Path,
    search: Option<&OsStr>,
) -> bool {
    let names = variables.replace(' ', "|");
    let mentioned = format!("HOOKRUN_(?:ACTION_)?(?:[^A-Z]|$)|{names}");
    let own = hook.source.file.parent().map(Path::to_path_buf);
    let mut mentions = MentionSearch {
        names: expression(&mentioned),
        dump: expression(DUMP),
        comment: expression(COMMENT),
        word: expression(WORD),
        folders: own.into_iter().chain([project.to_path_buf()]).collect(),
        search,
        seen: HashSet::new(),
    };
    let line = match &hook.handler {
        Handler::Words { words, .. } => words.join("\n"),
        Handler::Shell(line) => line.clone(),
        Handler::File(_) | Handler::Function(_) | Handler::Rule(_) => String::new(),
    };
    mentions.in_text(line.as_bytes(), None) || mentions.in_file(&program.path)
}

fn expression(form: &str) -> Regex {
    Regex::new(form).expect("names of variables and constants make a valid expression")
}

struct MentionSearch<'s> {
    names: Regex,
    dump: Regex,
    comment: Regex,
    word: Regex,
    folders: Vec<PathBuf>,
    search: Option<&'s OsStr>,
    seen: HashSet<PathBuf>,
}

impl MentionSearch<'_> {
    fn in_file(&mut self, named: &Path) -> bool {
        let Ok(file) = named.canonicalize() else {
            return false;
        };
        let name = named.file_name().and_then(OsStr::to_str);
        let name = name.unwrap_or_default();
        // The commands of hookrun look at no variable about an action.
        let is_aside = name == "hookrun" || command::is_interpreter(name);
        if is_aside || !self.seen.insert(file.clone()) {
            return false;
        }
        let mut meta = file.metadata().into_iter();
        let is_searchable = meta.any(|meta| meta.is_file() && meta.len() <= LARGEST_FILE_BYTES);
        if !is_searchable || self.seen.len() > MOST_FILES {
            return true;
        }
        let Ok(text) = fs::read(&file) else {
            return true;
        };
        let is_script = !text.iter().take(512).any(|byte| *byte == 0);
        if is_script && self.folders.iter().any(|own| named.starts_with(own)) {
            return self.in_text(&text, named.parent());
        }
        self.names.is_match(&text) || is_script && self.dump.is_match(&text)
    }

    /// Returns true if a text, or a file that it names (in `beside`, a folder or `PATH`), mentions
    /// one.
    fn in_text(&mut self, text: &[u8], beside: Option<&Path>) -> bool {
        let code = self.comment.replace_all(text, b"");
        if self.names.is_match(&code) || self.dump.is_match(&code) {
            return true;
        }
        let words = self.word.find_iter(&code).map(|word| word.as_bytes());
        let words: HashSet<&[u8]> = words.collect();
        let words = words
            .into_iter()
            .filter_map(|word| str::from_utf8(word).ok());
        let files = words.flat_map(|word| self.files_named(word, beside));
        let files: Vec<PathBuf> = files.collect();
        files.iter().any(|file| self.in_file(file))
    }

    fn files_named(&self, word: &str, beside: Option<&Path>) -> Vec<PathBuf> {
        let mut found = Vec::new();
        // After `$(dirname "$0")`, a name begins with a slash.
        let relative = word.trim_start_matches('/');
        let folders = self.folders.iter().map(PathBuf::as_path);
        for folder in beside.into_iter().chain(folders) {
            let named = ENDINGS.iter().map(|ending| format!("{relative}{ending}"));
            let module = [format!("{}.py", relative.replace('.', "/"))];
            let unasked = READ_UNASKED.iter();
            let unasked =
                unasked.filter(|(programs, _)| programs.split(' ').any(|one| one == word));
            let unasked = unasked.flat_map(|(_, files)| files.iter().map(ToString::to_string));
            for name in named.chain(module).chain(unasked) {
                let file = folder.join(name);
                if file.is_file() {
                    found.push(file);
                }
            }
            // `checks/*` refers to the folder's files.
            if relative.ends_with('/')
                && let Ok(entries) = fs::read_dir(folder.join(relative))
            {
                let files = entries.flatten().map(|entry| entry.path());
                found.extend(files.filter(|file| file.is_file()));
            }
        }
        if word.starts_with('/') && Path::new(word).is_file() {
            found.push(PathBuf::from(word));
        } else if !word.contains('/') {
            found.extend(command::find_in_path(word, self.search));
        }
        found
    }
}
