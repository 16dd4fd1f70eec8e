//! A file of another tool, and what was found in it. Nouns only.

use std::path::Path;

use crate::config::reader::read_file;
use crate::config::tree::Tree;
use crate::config::{Environment, relative};
use crate::engine::complaint::Complaint;
use crate::lab::report::{Paths, plain};
use saphyr::{LoadableYamlNode, Yaml};
use serde_json::Value;
use toml::de::DeTable;

use crate::cli::exit::Result;
use crate::cli::host::install::files::read_value;
use crate::cli::write::files::toml_text;

/// Aliases of aliases can fill any memory; this many make a file at most 1500 times as large.
const MOST_ALIASES: usize = 20;

pub(super) struct ImportSource<'a> {
    pub(super) tool: &'static str,
    pub(super) file: &'a Path,
    pub(super) paths: &'a Paths,
    pub(super) env: &'a Environment,
}

/// The hooks that become entries, and what does not, with the reason.
#[derive(Default)]
pub(super) struct SourceHooks {
    pub(super) hooks: Vec<FoundHook>,
    pub(super) left: Vec<(String, String)>,
}

/// A hook of another tool, as an entry of hookrun.toml.
pub(super) struct FoundHook {
    /// The file, and the place in it.
    pub(super) from: String,
    pub(super) name: String,
    pub(super) event: String,
    /// Further keys, with their values in TOML.
    pub(super) keys: Vec<(&'static str, String)>,
}

impl ImportSource<'_> {
    pub(super) fn shown(&self) -> String {
        self.paths.show(self.file)
    }

    /// What the file holds: JSON, TOML or YAML.
    pub(super) fn value(&self) -> Result<Value> {
        let cannot = |error: String| {
            Complaint::with_cure(format!("`{}`: {error}", self.shown()), "correct it")
        };
        let text = self.text()?;
        let ending = self.file.extension().unwrap_or_default();
        if ending == "toml" {
            let table = DeTable::parse(&text).map_err(|error| cannot(error.message().into()))?;
            return Ok(Tree::of_toml(&table).to_json());
        }
        if ending != "yml" && ending != "yaml" {
            return read_value(self.file).ok_or_else(|| cannot("is no JSON".to_string()));
        }
        let is_alias = |word: &&str| word.len() > 1 && word.starts_with('*');
        if text.split_whitespace().filter(is_alias).count() > MOST_ALIASES {
            return Err(cannot(format!("has more than {MOST_ALIASES} aliases")));
        }
        let documents = Yaml::load_from_str(&text);
        let documents = documents.map_err(|error| cannot(error.to_string()))?;
        Ok(documents.first().map(json_of).unwrap_or_default())
    }

    pub(super) fn text(&self) -> Result<String> {
        let cannot = |error| Complaint::new(format!("cannot read `{}`: {error}", self.shown()));
        let bytes = read_file(self.file).map_err(|error| cannot(error.to_string()))?;
        String::from_utf8(bytes).map_err(|_| cannot("it is not UTF-8".to_string()))
    }
}

fn json_of(yaml: &Yaml<'_>) -> Value {
    if let Some(entries) = yaml.as_mapping() {
        let text = |key: &Yaml<'_>| key.as_str().unwrap_or_default().to_string();
        return entries
            .iter()
            .map(|(key, value)| (text(key), json_of(value)))
            .collect();
    }
    if let Some(items) = yaml.as_sequence() {
        return items.iter().map(json_of).collect();
    }
    let number = yaml.as_integer().map(Value::from);
    let scalar = yaml
        .as_bool()
        .map(Value::from)
        .or(number)
        .or(yaml.as_floating_point().map(Value::from));
    scalar.unwrap_or_else(|| yaml.as_str().map(Value::from).unwrap_or_default())
}

/// A command line whose relative programs and scripts are those of the project, wherever the agent
/// works.
pub(super) fn anchored(line: &str) -> std::result::Result<String, String> {
    const MOST_WORDS: usize = 20;
    let mut line = line.to_string();
    for _ in 0..MOST_WORDS {
        let Some(word) = relative::adrift(&line) else {
            return Ok(line);
        };
        let path = word.trim_start_matches("./");
        let Some((at, before)) =
            find_word(&line, &word).filter(|(_, before)| *before != Some('\''))
        else {
            break;
        };
        let anchored = match before {
            Some('"') => format!("$HOOKRUN_PROJECT_DIR/{path}"),
            _ => format!("\"$HOOKRUN_PROJECT_DIR\"/{path}"),
        };
        line.replace_range(at..at + word.len(), &anchored);
    }
    Err("it names files relative to the folder that it runs in".to_string())
}

/// Where a word begins in a line, and not a part of another, and the character before it.
fn find_word(line: &str, word: &str) -> Option<(usize, Option<char>)> {
    let is_inside = |c: char| c.is_alphanumeric() || "/._-$}~".contains(c);
    let all = line
        .match_indices(word)
        .map(|(at, _)| (at, line[..at].chars().next_back()));
    let mut words = all.filter(|(_, before)| !before.is_some_and(is_inside));
    words.next()
}

impl SourceHooks {
    pub(super) fn add(&mut self, other: SourceHooks) {
        self.hooks.extend(other.hooks);
        self.left.extend(other.left);
    }

    /// The items of a list. Anything else in its place is named: hooks may be in it.
    pub(super) fn list<'v>(&mut self, place: &str, value: &'v Value) -> &'v [Value] {
        value.as_array().unwrap_or_else(|| {
            self.left
                .push((place.to_string(), "it is no list".to_string()));
            const { &Vec::new() }
        })
    }

    /// Takes a hook, or the reason why there is none.
    pub(super) fn take(&mut self, from: String, found: std::result::Result<FoundHook, String>) {
        match found {
            Ok(hook) => self.hooks.push(FoundHook { from, ..hook }),
            Err(why) => self.left.push((from, why)),
        }
    }
}

impl FoundHook {
    /// An entry whose name is made of the tool and of what it runs.
    pub(super) fn new(tool: &str, what: &str, event: &str, command: &str) -> FoundHook {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let plain: String = what
            .chars()
            .map(|c| if is_plain(c) { c } else { '-' })
            .collect();
        FoundHook {
            from: String::new(),
            name: format!("{tool}-{}", plain.trim_matches('-')),
            event: event.to_string(),
            keys: vec![("command", toml_text(command))],
        }
    }

    pub(super) fn with(mut self, key: &'static str, value: impl Into<String>) -> FoundHook {
        self.keys.push((key, value.into()));
        self
    }

    pub(super) fn to_toml(&self) -> String {
        let (from, name, event) = (
            plain(&self.from),
            toml_text(&self.name),
            toml_text(&self.event),
        );
        let mut text = format!("# From {from}\n[[hook]]\nname = {name}\nevent = {event}\n");
        for (key, value) in &self.keys {
            text.push_str(&format!("{key} = {value}\n"));
        }
        text
    }
}
