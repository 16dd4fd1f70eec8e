//! Agents' settings files (`--settings`): reads their command hooks like those of a `hookrun.toml`.
//!
//! The formats are rows of `hosts`. The host is given before the path (`HOST:FILE`) or follows from
//! it; a file of an unknown host is an error.

mod hooks;

use std::path::Path;

use super::draft::HookDraft;
use super::env::Environment;
use super::manifest::{HookTable, Manifest};
use super::problem::{Position, Problem, Severity};
use super::reader::DocumentReader;
use super::tree::{Tree, TreeEntry, TreeValue, without_comments};
use crate::engine::complaint::{self, Complaint};
use crate::engine::hook::Hook;
use crate::hosts::rules::WantedEvents;
use crate::hosts::settings::{Comments, HostFile};
use crate::hosts::{HostEvent, settings_file, settings_files};

pub(super) fn read(
    text: &str,
    file: &Path,
    env: &Environment,
    host: Option<&'static str>,
) -> (Manifest, Vec<Problem>) {
    let mut reader = SettingsReader {
        reader: DocumentReader::new(text, file),
        env,
        host,
        manifest: Manifest::default(),
    };
    reader.document(text);
    (reader.manifest, reader.reader.problems)
}

/// Returns the hooks in a settings file of `host` with their filters, for `hookrun import`.
pub(crate) fn hooks_in(
    text: &str,
    file: &Path,
    env: &Environment,
    host: &'static str,
) -> (Vec<(Hook, WantedEvents)>, Vec<Problem>) {
    let (manifest, problems) = read(text, file, env, Some(host));
    let mut hooks = Vec::new();
    for HookTable { draft, .. } in manifest.hooks {
        hooks.extend(draft.wanted.map(|(wanted, _)| (draft.hook, wanted)));
    }
    (hooks, problems)
}

struct SettingsReader<'r> {
    reader: DocumentReader<'r>,
    env: &'r Environment,
    host: Option<&'static str>,
    manifest: Manifest,
}

impl SettingsReader<'_> {
    fn document(&mut self, text: &str) {
        let path = self.reader.file;
        let document = if self.is_toml() {
            let document = self.reader.toml(text, |_| None);
            self.reader.problems.is_empty().then_some(document)
        } else {
            self.json(text)
        };
        let Some(document) = document else { return };
        if self.table(&document, "the file").is_none() {
            return;
        }
        let Some(file) = self.owner(document.at(&["hooks"]).unwrap_or(&document)) else {
            let cause = "the path of this file does not show which agent reads it";
            let path = path.display();
            let cure = format!("name the host: `--settings HOST:{path}`");
            return self.fault(document.offset, cause, cure);
        };
        if file.has_sets {
            for set in document.entries().unwrap_or_default() {
                self.hooks_of(file, &document, &set.tree);
            }
            return;
        }
        // Devin's `hooks.v1.json` has events at the top.
        let at_top = Some(&document).filter(|document| file.has_events(document));
        match document.at(&["hooks"]).or(at_top) {
            Some(section) => self.hooks_of(file, &document, section),
            None => self.no_hooks(&document),
        }
    }

    /// Reports a file without `hooks`; a similar key is an error, which blocks gates.
    fn no_hooks(&mut self, document: &Tree) {
        for entry in document.entries().unwrap_or_default() {
            if complaint::nearest(&entry.key, ["hooks"]).is_some() {
                let cause = format!("unknown key `{}`", entry.key);
                return self.fault(entry.at, cause, "did you mean `hooks`?");
            }
        }
        let cause = "this file has no `hooks`, so nothing in it runs";
        self.warning(document.offset, cause, "add `hooks`");
    }

    /// Parses the document, with comments only if its host reads them.
    fn json(&mut self, text: &str) -> Option<Tree> {
        let error = match Tree::of_json(text) {
            Ok(document) => return Some(document),
            Err(error) => error,
        };
        let plain = without_comments(text).and_then(|plain| Tree::of_json(&plain).ok());
        let owner = plain.as_ref().and_then(|document| self.owner(document));
        if owner.is_some_and(|file| file.comments == Comments::Read) {
            return plain;
        }
        let at = Position {
            line: error.line().max(1),
            column: error.column().max(1),
        };
        let text = error.to_string();
        let text = text.split(" at line ").next().unwrap_or_default();
        let no_hooks = Tree {
            value: TreeValue::Table(Vec::new()),
            offset: 0,
        };
        let host_file = self.owner(&no_hooks);
        let cure = if host_file.is_some_and(|file| file.comments == Comments::Read) {
            "fix the syntax; comments are allowed in this file, trailing commas are not"
        } else {
            "fix the syntax; this file cannot have comments or trailing commas"
        };
        let complaint = Complaint::with_cure(format!("not valid JSON: {text}"), cure);
        let problem = complaint.in_file(self.reader.file, Some(at));
        self.reader.problems.push(problem);
        None
    }

    /// The host: the named one, else the one with the longest place in the path.
    fn owner(&self, section: &Tree) -> Option<&'static HostFile> {
        if let Some(host) = self.host {
            return settings_file(host);
        }
        let path = self.reader.file;
        let lengths = settings_files().map(|file| file.length_in(path));
        let longest = lengths.max().filter(|longest| *longest > 0)?;
        let mut owners = settings_files().filter(|file| file.length_in(path) == longest);
        let first = owners.clone().next();
        owners.find(|file| file.has_events(section)).or(first)
    }

    fn fault(&mut self, at: usize, cause: impl Into<String>, cure: impl Into<String>) {
        self.reader.fault(at, cause, cure);
    }

    fn warning(&mut self, at: usize, cause: impl Into<String>, cure: &str) {
        self.report(Severity::Warning, Complaint::with_cure(cause, cure), at);
    }

    fn report(&mut self, severity: Severity, complaint: Complaint, at: usize) {
        let problem = complaint.problem(severity, self.reader.file, Some(self.reader.at(at)));
        self.reader.problems.push(problem);
    }

    fn errors(&self) -> usize {
        let problems = self.reader.problems.iter();
        problems.filter(|problem| problem.is_error()).count()
    }

    fn table<'t>(&mut self, tree: &'t Tree, what: &str) -> Option<Vec<&'t TreeEntry>> {
        let Some(entries) = tree.entries() else {
            let (kind, cure) = self.by_syntax(
                ("a table", "write it as a table"),
                ("an object", "write it in braces: { … }"),
            );
            let cause = format!("{what} must be {kind}, not {}", self.described(tree));
            self.fault(tree.offset, cause, cure);
            return None;
        };
        let mut unique: Vec<&TreeEntry> = Vec::with_capacity(entries.len());
        for entry in entries {
            if unique.iter().any(|known| known.key == entry.key) {
                let cause = format!("`{}` appears twice", entry.key);
                self.fault(entry.at, cause, "keep one of them");
            } else {
                unique.push(entry);
            }
        }
        Some(unique)
    }

    fn text(&mut self, tree: &Tree, key: &str) -> Option<String> {
        if tree.text().is_none() {
            let cure = format!("write `{}`", self.entry(key, "\"text\""));
            self.wrong(tree, key, "a string", &cure);
        }
        tree.text().map(str::to_string)
    }

    /// A key and its value in the syntax of the file.
    fn entry(&self, key: &str, value: &str) -> String {
        self.by_syntax(format!("{key} = {value}"), format!("\"{key}\": {value}"))
    }

    fn by_syntax<T>(&self, toml: T, json: T) -> T {
        if self.is_toml() { toml } else { json }
    }

    fn is_toml(&self) -> bool {
        let ending = self.reader.file.extension();
        ending.is_some_and(|ending| ending == "toml")
    }

    fn wrong(&mut self, tree: &Tree, key: &str, takes: &str, cure: &str) {
        let cause = format!("`{key}` takes {takes}, not {}", self.described(tree));
        self.fault(tree.offset, cause, cure);
    }

    fn described(&self, tree: &Tree) -> String {
        match tree.entries() {
            Some(_) => self.by_syntax("a table", "an object").to_string(),
            None => tree.describe(),
        }
    }

    fn reject(&mut self, event: &str, offset: usize) {
        let draft = HookDraft::of_event(event, self.reader.at(offset));
        self.manifest.rejected.push(draft);
    }
}

impl HostFile {
    /// The length of the longest place that `path` contains, in parts; 0 without any.
    fn length_in(&self, path: &Path) -> usize {
        let parts: Vec<_> = path.iter().collect();
        let places = self.places.iter().map(Path::new);
        let lengths = places.filter_map(|place| {
            let place: Vec<_> = place.iter().collect();
            let is_there = parts.windows(place.len()).any(|window| *window == place);
            is_there.then_some(place.len())
        });
        lengths.max().unwrap_or(0)
    }

    fn row(&'static self, event: &str) -> Option<&'static HostEvent> {
        self.host().events.iter().find(|row| row.name == event)
    }

    fn has_events(&'static self, section: &Tree) -> bool {
        let entries = section.entries().unwrap_or_default();
        entries.iter().any(|entry| self.row(&entry.key).is_some())
    }
}
