//! Settings files of hosts (`--settings`): the hooks in them, as a `hookrun.toml` would say them.
//!
//! The shapes and their keys are tables of `hosts`; here is how they are read. A file of no known
//! shape is refused, and so is every unknown key.

mod actions;
mod hooks;
mod program;
mod reader;
mod shape;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::layer::{StandaloneOrigin, StandaloneScript};
use super::manifest::Manifest;
use super::problem::{Position, Problem, Severity};
use super::reader::DocumentReader;
use super::tree::{Tree, TreeEntry, TreeValue, without_comments};
use crate::engine::complaint::Complaint;
use crate::engine::spelling;
use crate::hosts::folders;
use crate::hosts::settings::{BucketShape, ListingShape};
use crate::hosts::{listings, profiles, settings_file, settings_files};
pub(super) use reader::Operator;
use reader::{SettingsReader, described};

/// Reads the text of `file`, and everything that is wrong with it.
pub(super) fn read(text: &str, file: &Path, operator: Operator<'_>) -> (Manifest, Vec<Problem>) {
    let mut reader = SettingsReader {
        reader: DocumentReader::new(text, file),
        operator,
        manifest: Manifest::default(),
        shape: None,
    };
    reader.document(text);
    let mut problems = reader.reader.problems;
    if reader.shape.is_some_and(|shape| operator.is_off(shape)) {
        // Nothing of it runs.
        for problem in &mut problems {
            problem.severity = Severity::Warning;
        }
        reader.manifest.rejected.clear();
    }
    problems.extend(
        reader
            .shape
            .and_then(|shape| switched_off(file, shape, operator)),
    );
    (reader.manifest, problems)
}

fn switched_off(file: &Path, shape: &BucketShape, operator: Operator<'_>) -> Option<Problem> {
    let switch = shape.kill_switch.name;
    let cause = format!("{switch}=1: none of its hooks runs");
    let problem = Complaint::with_cure(cause, format!("unset {switch}")).warning(file, None);
    operator.is_off(shape).then_some(problem)
}

impl SettingsReader<'_> {
    fn document(&mut self, text: &str) {
        if self
            .file()
            .extension()
            .is_some_and(|ending| ending == "toml")
        {
            return self.toml(text);
        }
        let plain = without_comments(text);
        let document = match (Tree::of_json(text), plain.as_deref().map(Tree::of_json)) {
            (Ok(document), _) => document,
            // With comments only if the host reads them too.
            (Err(_), Some(Ok(document))) if self.is_hosts(&document, true) => return,
            (Err(error), _) => return self.no_json(&error),
        };
        let Some(entries) = self.table(&document, "the file") else {
            return;
        };
        let said = self
            .operator
            .host
            .and_then(settings_file)
            .filter(|host| host.event_key().is_some());
        let of_folder = || shape::with_list(false, self.file());
        let list = document
            .at(&["hooks"])
            .filter(|section| section.items().is_some());
        if let Some((host, section)) = said.or_else(of_folder).zip(list) {
            return self.hooks_of(host, &document, section);
        }
        let listing = match self.operator.host {
            None => listing_of(&entries),
            Some(host) => listings().find(|listing| listing.dialect == host),
        };
        if let Some(listing) = listing {
            return self.listing(listing, &entries);
        }
        let is_profile = |host| profiles().any(|shape| shape.dialect == host);
        if !self.operator.host.is_some_and(is_profile) && self.is_hosts(&document, false) {
            return;
        }
        self.profile(&document, &entries);
    }

    fn no_json(&mut self, error: &serde_json::Error) {
        let at = Position {
            line: error.line().max(1),
            column: error.column().max(1),
        };
        // The place is in the problem already.
        let text = error.to_string();
        let cause = format!(
            "not valid JSON: {}",
            text.split(" at line ").next().unwrap_or(&text)
        );
        let cure = "correct it; comments and trailing commas are no JSON";
        let problem = Complaint::with_cure(cause, cure).in_file(self.file(), Some(at));
        self.reader.problems.push(problem);
    }

    fn toml(&mut self, text: &str) {
        let tree = self.reader.toml(text, |_| None);
        if !self.reader.problems.is_empty() {
            return;
        }
        let section = tree.at(&["hooks"]);
        let is_list = section.is_some_and(|section| section.items().is_some());
        let host = self.operator.host.and_then(settings_file);
        let host = host.or_else(|| {
            if is_list {
                shape::with_list(true, self.file())
            } else {
                settings_files().find(|file| file.owns_toml)
            }
        });
        match (host, section) {
            (Some(host), Some(section))
                if is_list == host.event_key().is_some()
                    && (is_list || section.entries().is_some()) =>
            {
                self.hooks_of(host, &tree, section);
            }
            (_, Some(section)) => {
                self.wrong(section, "hooks", "a table", "write `[[hooks.PreToolUse]]`");
            }
            _ => self.no_hooks_in_toml(&tree),
        }
    }

    /// A file without the section of hooks; what is nearly that is a slip, and so is a file of our
    /// own, which is no host's.
    fn no_hooks_in_toml(&mut self, tree: &Tree) {
        let entries = tree.entries().unwrap_or_default();
        let slip = entries
            .iter()
            .find(|entry| spelling::nearest(&entry.key, ["hooks"]).is_some());
        let is_ours = self
            .file()
            .file_name()
            .is_some_and(|name| name == "hookrun.toml");
        let cause = slip.map_or_else(
            || "it is no settings file of a host".to_string(),
            |slip| format!("unknown key `{}`", slip.key),
        );
        let at = slip.map_or(0, |slip| slip.at);
        match (is_ours, slip) {
            (true, _) => {
                let cure = "a hookrun.toml is read with `--hooks` and its folder";
                self.fault(at, cause, cure);
            }
            (false, Some(_)) => self.fault(at, cause, "did you mean `hooks`?"),
            (false, None) => self.nothing_of_hooks(0),
        }
    }

    fn is_hosts(&mut self, document: &Tree, has_comments: bool) -> bool {
        let said = self.operator.host.and_then(settings_file);
        let said = said.or_else(|| shape::named(self.file()));
        if let Some(host) =
            said.filter(|host| host.has_sets && (!has_comments || host.has_comments()))
        {
            for set in document.entries().unwrap_or_default() {
                self.hooks_of(host, document, &set.tree);
            }
            return true;
        }
        // In Devin's `hooks.v1.json` the events are at the top.
        let below = document.at(&["hooks"]);
        let section = below.unwrap_or(document);
        if section.entries().is_none() {
            return false;
        }
        let host = match said.map_or_else(|| shape::of(section, self.file()), |host| Ok(Some(host)))
        {
            Ok(host) => host.filter(|host| below.is_some() || shape::has_events(host, section)),
            Err(complaint) => {
                self.reader.complain(section.offset, complaint);
                return true;
            }
        };
        let Some(host) = host.filter(|host| !has_comments || host.has_comments()) else {
            return false;
        };
        self.hooks_of(host, document, section);
        true
    }

    fn nothing_of_hooks(&mut self, at: usize) {
        let cause = "it has no `hooks`, so nothing of it runs";
        let cure = format!("settings that are known: {}", known_shapes());
        self.warning(at, cause, &cure);
    }

    fn profile(&mut self, document: &Tree, entries: &[&TreeEntry]) {
        let found = profiles().find_map(|shape| {
            let entry = entries.iter().find(|entry| entry.key == shape.section)?;
            Some((shape, &entry.tree))
        });
        let Some((shape, section)) = found else {
            let sections = profiles().map(|shape| shape.section);
            let slip = entries
                .iter()
                .find_map(|entry| Some((entry, spelling::nearest(&entry.key, sections.clone())?)));
            return match slip {
                Some((entry, meant)) => {
                    let cause = format!("unknown key `{}`", entry.key);
                    self.fault(entry.at, cause, format!("did you mean `{meant}`?"));
                }
                None => self.nothing_of_hooks(document.offset),
            };
        };
        let Some(buckets) = self.table(section, &format!("`{}`", shape.section)) else {
            return;
        };
        let Some(shape) = self.shape_of(&buckets, section) else {
            return;
        };
        self.shape = Some(shape);
        self.buckets(shape, &buckets);
    }

    fn shape_of(&mut self, buckets: &[&TreeEntry], section: &Tree) -> Option<&'static BucketShape> {
        let known_by = |shape: &BucketShape| {
            let is_known = |key: &str| shape.buckets.iter().any(|bucket| bucket.key == key);
            buckets.iter().filter(|entry| is_known(&entry.key)).count()
        };
        // Of equals, the first.
        let best = profiles().rev().max_by_key(|shape| known_by(shape))?;
        let keys = best.buckets.iter().map(|bucket| bucket.key);
        let is_like = |entry: &&TreeEntry| spelling::nearest(&entry.key, keys.clone()).is_some();
        if buckets.is_empty() || known_by(best) > 0 || buckets.iter().any(is_like) {
            return Some(best);
        }
        let entry = buckets.first()?;
        let cause = format!("no known settings have a key `{}`", entry.key);
        let shapes = profiles().map(|shape| {
            let keys: Vec<&str> = shape.buckets.iter().map(|bucket| bucket.key).collect();
            format!("{} with {}", shape.name, keys.join(", "))
        });
        let hosts = settings_files().map(|host| format!("{} with its events", host.name));
        let cure = format!(
            "known are: {}",
            shapes.chain(hosts).collect::<Vec<_>>().join("; ")
        );
        self.fault(entry.at.max(section.offset), cause, cure);
        None
    }
}

fn known_shapes() -> String {
    let shapes = profiles().map(|shape| shape.name);
    let listings = listings().map(|listing| listing.name);
    let hosts = settings_files().map(|host| host.name);
    shapes
        .chain(listings)
        .chain(hosts)
        .collect::<Vec<_>>()
        .join(", ")
}

fn listing_of(entries: &[&TreeEntry]) -> Option<&'static ListingShape> {
    listings().find(|listing| {
        entries.iter().any(|entry| {
            entry.key == listing.timeout
                || entry.key == listing.section && entry.tree.items().is_some()
        })
    })
}

impl SettingsReader<'_> {
    fn listing(&mut self, listing: &'static ListingShape, entries: &[&TreeEntry]) {
        if !entries.iter().any(|entry| entry.key == listing.section) {
            self.nothing_of_hooks(0);
        }
        for entry in entries {
            if entry.key == listing.section {
                self.listed(listing, &entry.tree);
            } else if entry.key == listing.timeout {
                self.timeout(listing, &entry.tree);
            }
        }
    }

    fn listed(&mut self, listing: &'static ListingShape, tree: &Tree) {
        let Some(items) = tree.items() else {
            let cure = "write [ \"~/hooks/gate.sh\" ]";
            return self.wrong(tree, listing.section, "a list of paths", cure);
        };
        for item in items {
            let Some(written) = item.text() else {
                let cause = format!("a path must be a string, not {}", described(item));
                self.fault(item.offset, cause, "write `\"~/hooks/gate.sh\"`");
                continue;
            };
            let path = self.path(written);
            if path.is_file() {
                let host = folders::of(listing.dialect);
                self.manifest.loose.push(StandaloneScript {
                    path,
                    host,
                    origin: StandaloneOrigin::Listed,
                });
            } else {
                let what = if path.is_dir() {
                    "is a folder, not a file"
                } else {
                    "is not there"
                };
                let cause = format!("the hook `{written}` {what}");
                self.fault(item.offset, cause, "correct the path, or drop it");
            }
        }
    }

    /// A path as it was written: `~` is the home folder, and others begin where hookrun runs.
    fn path(&self, written: &str) -> PathBuf {
        let env = self.operator.env;
        match (written.strip_prefix("~/"), &env.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => env.cwd.join(written),
        }
    }

    fn timeout(&mut self, listing: &'static ListingShape, tree: &Tree) {
        let millis = if let TreeValue::Number(millis) = tree.value {
            millis
        } else {
            0
        };
        if millis > 0 {
            let timeout = Duration::from_millis(millis.unsigned_abs());
            return self.manifest.timeouts.push((listing.dialect, timeout));
        }
        let takes = "milliseconds, at least 1";
        let cure = "write 30000 for 30 s";
        self.wrong(tree, listing.timeout, takes, cure);
    }
}
