//! What reads a settings file: its problems so far, and the hooks of it.

use std::path::Path;

use crate::config::draft::HookDraft;
use crate::config::env::Environment;
use crate::config::manifest::{HookTable, Manifest};
use crate::config::problem::{Problem, Severity};
use crate::config::reader::DocumentReader;
use crate::config::tree::{Tree, TreeEntry};
use crate::config::value::unknown;
use crate::engine::complaint::Complaint;
use crate::hosts::settings::BucketShape;

/// What decides about a settings file besides its text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operator<'o> {
    pub(crate) env: &'o Environment,
    /// The host that the person names before the file.
    pub(crate) host: Option<&'static str>,
}

impl Operator<'_> {
    pub(super) fn is_off(self, shape: &BucketShape) -> bool {
        self.env.switch(&shape.kill_switch) == Some("1")
    }

    pub(super) fn allows_commands(self, shape: &BucketShape) -> bool {
        self.env.switch(&shape.commands) == Some("1")
    }
}

pub(super) struct SettingsReader<'r> {
    pub(super) reader: DocumentReader<'r>,
    pub(super) operator: Operator<'r>,
    pub(super) manifest: Manifest,
    pub(super) shape: Option<&'static BucketShape>,
}

impl<'r> SettingsReader<'r> {
    pub(super) fn file(&self) -> &'r Path {
        self.reader.file
    }

    pub(super) fn fault(&mut self, at: usize, cause: impl Into<String>, cure: impl Into<String>) {
        self.reader.fault(at, cause, cure);
    }

    pub(super) fn warning(&mut self, at: usize, cause: impl Into<String>, cure: &str) {
        self.report(Severity::Warning, Complaint::with_cure(cause, cure), at);
    }

    /// A hook that only its own host runs: it is left out, and a warning says so.
    pub(super) fn not_run(&mut self, at: usize, what: &str) {
        let cause = format!("{what} is not run by hookrun, which runs commands only");
        let cure = "make it a command, or leave it to its own host";
        self.warning(at, cause, cure);
    }

    pub(super) fn report(&mut self, severity: Severity, complaint: Complaint, at: usize) {
        let problem = complaint.in_file(self.reader.file, Some(self.reader.at(at)));
        self.reader.problems.push(Problem {
            severity,
            ..problem
        });
    }

    pub(super) fn errors(&self) -> usize {
        let problems = self.reader.problems.iter();
        problems
            .filter(|problem| problem.severity == Severity::Error)
            .count()
    }

    pub(super) fn table<'t>(&mut self, tree: &'t Tree, what: &str) -> Option<Vec<&'t TreeEntry>> {
        let Some(entries) = tree.entries() else {
            let cause = format!("{what} is not an object but {}", described(tree));
            self.fault(tree.offset, cause, "write it in braces: { … }");
            return None;
        };
        let mut kept: Vec<&TreeEntry> = Vec::with_capacity(entries.len());
        for entry in entries {
            if kept.iter().any(|known| known.key == entry.key) {
                let cause = format!("`{}` appears twice", entry.key);
                self.fault(entry.at, cause, "keep one of them");
            } else {
                kept.push(entry);
            }
        }
        Some(kept)
    }

    pub(super) fn text(&mut self, tree: &Tree, key: &str) -> Option<String> {
        if tree.text().is_none() {
            self.wrong(
                tree,
                key,
                "a string",
                &format!("write `\"{key}\": \"text\"`"),
            );
        }
        tree.text().map(str::to_string)
    }

    pub(super) fn wrong(&mut self, tree: &Tree, key: &str, takes: &str, cure: &str) {
        self.fault(
            tree.offset,
            format!("`{key}` takes {takes}, not {}", described(tree)),
            cure,
        );
    }

    pub(super) fn unknown_key(&mut self, entry: &TreeEntry, known: &[&'static str]) {
        self.reader
            .complain(entry.at, unknown(known, &entry.key, None));
    }

    pub(super) fn keep(&mut self, draft: HookDraft, offset: usize) {
        let at = self.reader.at(offset);
        self.manifest.hooks.push(HookTable {
            draft,
            at,
            is_anchored: false,
        });
    }

    pub(super) fn reject(&mut self, event: &str, offset: usize) {
        let draft = HookDraft::of_event(event, self.reader.at(offset));
        self.manifest.rejected.push(draft);
    }
}

/// What a value is, in the words of JSON.
pub(super) fn described(tree: &Tree) -> String {
    if tree.entries().is_some() {
        "an object".to_string()
    } else {
        tree.describe()
    }
}
