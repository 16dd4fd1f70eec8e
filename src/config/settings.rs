//! Settings files of hosts (`--settings`): the hooks in them, as a `hookrun.toml` would say them.
//!
//! Which shapes there are, and what may stand in each, is in `dialect`'s tables; here is how they
//! are read. A file of no shape that is known is refused, and so is every key that is not known.

mod actions;
mod hooks;
mod json;
mod listing;
mod shape;
mod tree;
mod url;

use std::path::Path;

use super::env::Environment;
use super::manifest::Manifest;
use super::problem::{LineIndex, Problem, Severity};
use crate::dialects::settings::hosts::{self, HOST_FILES, IN_TOML};
use crate::dialects::settings::{BucketShape, LISTINGS, SHAPES};
use crate::engine::complaint::Complaint;
use crate::engine::spelling;
use json::{JsonKind, Node};
use toml::de::DeTable;
use tree::Tree;

/// Around a settings file: what its actions need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operator<'o> {
    /// The environment, with the operator's switches.
    pub(super) env: &'o Environment,
    /// hookrun's own program; `None` for the one in `PATH`.
    pub(super) program: Option<&'o Path>,
    /// The host whose settings it is said to be.
    pub(super) host: Option<&'static str>,
}

/// Reads the text of `file`, and everything that is wrong with it.
pub(super) fn read(text: &str, file: &Path, operator: Operator<'_>) -> (Manifest, Vec<Problem>) {
    let mut reader = SettingsReader {
        lines: LineIndex::of(text),
        file,
        operator,
        problems: Vec::new(),
        manifest: Manifest::default(),
        shape: None,
    };
    reader.document(text);
    let mut problems = reader.problems;
    if reader.shape.is_some_and(|shape| operator.is_off(shape)) {
        // Nothing of it runs, and who has pulled the switch has other worries.
        for problem in &mut problems {
            problem.severity = Severity::Warning;
        }
        reader.manifest.rejected.clear();
    }
    problems.extend(reader.shape.and_then(|shape| switched_off(file, shape, operator)));
    (reader.manifest, problems)
}

/// A kill switch is never silent.
fn switched_off(file: &Path, shape: &BucketShape, operator: Operator<'_>) -> Option<Problem> {
    let switch = shape.kill_switch.name;
    let fault = Complaint::with_cure(
        format!("{switch}=1: none of its hooks runs"),
        format!("unset {switch}"),
    );
    let problem = Problem { severity: Severity::Warning, ..fault.in_file(file, None) };
    operator.is_off(shape).then_some(problem)
}

impl Operator<'_> {
    fn is_off(self, shape: &BucketShape) -> bool {
        self.env.switch(&shape.kill_switch) == Some("1")
    }

    fn allows_commands(self, shape: &BucketShape) -> bool {
        self.env.switch(&shape.commands) == Some("1")
    }

    /// Whether something may be sent to `url`.
    fn may_send_to(self, shape: &BucketShape, url: &str) -> bool {
        let listed = self.env.switch(&shape.destinations).unwrap_or_default();
        let mut prefixes =
            listed.split(',').map(str::trim).filter(|one| !one.is_empty()).peekable();
        prefixes.peek().is_none() || prefixes.any(|prefix| url.starts_with(prefix))
    }
}

struct SettingsReader<'r> {
    lines: LineIndex<'r>,
    file: &'r Path,
    operator: Operator<'r>,
    problems: Vec<Problem>,
    manifest: Manifest,
    /// The shape of the file, once it is known.
    shape: Option<&'static BucketShape>,
}

/// The entries of an object, each with the place of its key.
type PlacedEntries<'t> = Vec<(String, usize, Node<'t>)>;

impl SettingsReader<'_> {
    fn fault(&mut self, fault: Complaint, offset: usize) {
        let at = self.lines.position(offset);
        self.problems.push(fault.in_file(self.file, Some(at)));
    }

    fn warning(&mut self, fault: Complaint, offset: usize) {
        self.fault(fault, offset);
        if let Some(last) = self.problems.last_mut() {
            last.severity = Severity::Warning;
        }
    }

    fn note(&mut self, fault: Complaint, offset: usize) {
        self.fault(fault, offset);
        if let Some(last) = self.problems.last_mut() {
            last.severity = Severity::Note;
        }
    }

    fn document(&mut self, text: &str) {
        if self.file.extension().is_some_and(|ending| ending == "toml") {
            return self.toml(text);
        }
        let plain = tree::without_comments(text);
        let document = match (Node::of(text), plain.as_deref().map(Node::of)) {
            (Ok(document), _) => document,
            (Err(_), Some(Ok(document))) if self.is_hosts(document, plain.as_deref()) => return,
            (Err(error), _) => return self.no_json(&error),
        };
        let Some(entries) = self.table(document, "the file") else { return };
        let listing = match self.operator.host {
            None => SettingsReader::listing_of(&entries),
            Some(host) => LISTINGS.iter().find(|listing| listing.dialect == host),
        };
        if let Some(listing) = listing {
            return self.listing(listing, &entries);
        }
        let is_profile = |host| SHAPES.iter().any(|shape| shape.dialect == host);
        if !self.operator.host.is_some_and(is_profile) && self.is_hosts(document, None) {
            return;
        }
        self.profile(document, &entries);
    }

    fn no_json(&mut self, error: &serde_json::Error) {
        let at = super::Position { line: error.line().max(1), column: error.column().max(1) };
        let cure = "correct it; comments and trailing commas are no JSON";
        let fault = Complaint::with_cure(format!("not valid JSON: {}", said(error)), cure);
        self.problems.push(fault.in_file(self.file, Some(at)));
    }

    fn toml(&mut self, text: &str) {
        let (document, errors) = DeTable::parse_recoverable(text);
        let has_errors = !errors.is_empty();
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            let fault = Complaint::new(format!("not valid TOML: {}", error.message()));
            self.fault(fault, at);
        }
        if has_errors {
            return;
        }
        // Of all hosts one has settings in TOML.
        let host = self.operator.host.or(IN_TOML);
        let tree = Tree::of_toml(&document);
        match (host.and_then(hosts::of), tree.at(&["hooks"])) {
            (Some(host), Some(section)) if section.entries().is_some() => {
                self.hooks_of(host, &tree, section);
            }
            (_, Some(section)) => {
                let cause = format!("`hooks` takes a table, not {}", section.describe());
                self.fault(
                    Complaint::with_cure(cause, "write `[[hooks.PreToolUse]]`"),
                    section.offset,
                );
            }
            _ => self.no_hooks_in_toml(&tree),
        }
    }

    /// A file without the section of hooks; what is nearly that is a slip, and so is a file of our
    /// own, which is no host's.
    fn no_hooks_in_toml(&mut self, tree: &Tree) {
        let entries = tree.entries().unwrap_or_default();
        let slip = entries.iter().find(|entry| spelling::nearest(&entry.key, ["hooks"]).is_some());
        let is_ours = self.file.file_name().is_some_and(|name| name == "hookrun.toml");
        let cause = slip.map_or_else(
            || "it is no settings file of a host".to_string(),
            |slip| format!("unknown key `{}`", slip.key),
        );
        let at = slip.map_or(0, |slip| slip.at);
        match (is_ours, slip) {
            (true, _) => {
                let cure = "a hookrun.toml is read with `--hooks` and its folder";
                self.fault(Complaint::with_cure(cause, cure), at);
            }
            (false, Some(_)) => {
                self.fault(Complaint::with_cure(cause, "did you mean `hooks`?"), at)
            }
            (false, None) => self.nothing_of_hooks(0),
        }
    }

    /// Reads the settings of an agent host, if the document is one; with comments only where the
    /// host reads them too.
    fn is_hosts(&mut self, document: Node<'_>, plain: Option<&str>) -> bool {
        let tree = Tree::of_json(document);
        let said = self.operator.host.and_then(hosts::of);
        let Some(section) = tree.at(&["hooks"]).filter(|section| section.entries().is_some())
        else {
            return false;
        };
        let host = match said.map_or_else(|| shape::of(section, self.file), shape::FileShape::Host)
        {
            shape::FileShape::Host(host) => host,
            shape::FileShape::Unknown => return false,
            shape::FileShape::Doubtful(fault) => {
                self.fault(fault, section.offset);
                return true;
            }
        };
        if plain.is_some() && !host.has_comments {
            return false;
        }
        self.hooks_of(host, &tree, section);
        true
    }

    fn nothing_of_hooks(&mut self, at: usize) {
        let cause = "it has no `hooks`, so nothing of it runs";
        let cure = format!("settings that are known: {}", known_shapes());
        self.warning(Complaint::with_cure(cause, cure), at);
    }

    /// Reads a file of buckets of actions.
    fn profile(&mut self, document: Node<'_>, entries: &PlacedEntries<'_>) {
        let found = SHAPES.iter().find_map(|shape| {
            let (_, _, section) = entries.iter().find(|(key, _, _)| key == shape.section)?;
            Some((shape, *section))
        });
        let Some((shape, section)) = found else {
            let sections = SHAPES.iter().map(|shape| shape.section);
            let slip = entries.iter().find_map(|(key, at, _)| {
                Some((key, *at, spelling::nearest(key, sections.clone())?))
            });
            return match slip {
                Some((key, at, meant)) => {
                    let cause = format!("unknown key `{key}`");
                    self.fault(Complaint::with_cure(cause, format!("did you mean `{meant}`?")), at);
                }
                None => self.nothing_of_hooks(document.offset),
            };
        };
        let Some(buckets) = self.table(section, &format!("`{}`", shape.section)) else { return };
        let Some(shape) = self.shape_of(&buckets, section) else { return };
        self.shape = Some(shape);
        let owner = self.owner(shape, entries);
        self.buckets(shape, &owner, buckets);
    }

    /// The shape that knows most of these keys.
    fn shape_of(
        &mut self,
        buckets: &PlacedEntries<'_>,
        section: Node<'_>,
    ) -> Option<&'static BucketShape> {
        let known_by = |shape: &BucketShape| {
            let is_known = |key: &str| shape.buckets.iter().any(|bucket| bucket.key == key);
            buckets.iter().filter(|(key, _, _)| is_known(key)).count()
        };
        // Of equals, the first.
        let best = SHAPES.iter().rev().max_by_key(|shape| known_by(shape))?;
        let keys = best.buckets.iter().map(|bucket| bucket.key);
        let is_like = |key: &str| spelling::nearest(key, keys.clone()).is_some();
        let is_recognised = known_by(best) > 0 || buckets.iter().any(|(key, _, _)| is_like(key));
        if buckets.is_empty() || is_recognised {
            return Some(best);
        }
        let (key, at, _) = buckets.first()?;
        let cause = format!("no known settings have a key `{key}`");
        let shapes = SHAPES.iter().map(|shape| {
            let keys: Vec<&str> = shape.buckets.iter().map(|bucket| bucket.key).collect();
            format!("{} with {}", shape.name, keys.join(", "))
        });
        let hosts = HOST_FILES.iter().map(|host| format!("{} with its events", host.name));
        let all = shapes.chain(hosts).collect::<Vec<_>>();
        let cure = format!("known are: {}", all.join("; "));
        self.fault(Complaint::with_cure(cause, cure), (*at).max(section.offset));
        None
    }

    /// What the file is the settings of: its own word for it, else the name of its folder.
    fn owner(&mut self, shape: &BucketShape, entries: &PlacedEntries<'_>) -> String {
        let folder = self.file.parent().and_then(Path::file_name);
        let by_default =
            folder.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        match entries.iter().find(|(key, _, _)| key == shape.owner) {
            None => by_default,
            Some((_, _, value)) => match value.kind() {
                JsonKind::Text(name) if !name.contains('\0') => name,
                JsonKind::Text(_) | JsonKind::List(_) | JsonKind::Table(_) | JsonKind::Other(_) => {
                    let cause =
                        format!("`{}` takes a string, not {}", shape.owner, value.describe());
                    self.fault(
                        Complaint::with_cure(
                            cause,
                            format!("write `\"{}\": \"text\"`", shape.owner),
                        ),
                        value.offset,
                    );
                    by_default
                }
            },
        }
    }

    /// The entries of an object. A key that appears twice is a problem.
    fn table<'t>(&mut self, node: Node<'t>, what: &str) -> Option<PlacedEntries<'t>> {
        let JsonKind::Table(entries) = node.kind() else {
            let cause = format!("{what} is not an object but {}", node.describe());
            self.fault(Complaint::with_cure(cause, "write it in braces: { … }"), node.offset);
            return None;
        };
        let mut kept: PlacedEntries<'t> = Vec::with_capacity(entries.len());
        for (key, at, value) in entries {
            if kept.iter().any(|(known, _, _)| *known == key) {
                self.fault(
                    Complaint::with_cure(format!("`{key}` appears twice"), "keep one of them"),
                    at,
                );
            } else {
                kept.push((key, at, value));
            }
        }
        Some(kept)
    }

    fn unknown_key<'k>(
        &mut self,
        key: &str,
        at: usize,
        known: impl Iterator<Item = &'k str> + Clone,
    ) {
        let cure = match spelling::nearest(key, known.clone()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("known here: {}", known.collect::<Vec<_>>().join(", ")),
        };
        self.fault(Complaint::with_cure(format!("unknown key `{key}`"), cure), at);
    }
}

/// What people call the settings that can be read.
fn known_shapes() -> String {
    let shapes = SHAPES.iter().map(|shape| shape.name);
    let listings = LISTINGS.iter().map(|listing| listing.name);
    let hosts = HOST_FILES.iter().map(|host| host.name);
    shapes.chain(listings).chain(hosts).collect::<Vec<_>>().join(", ")
}

/// What is wrong, without the place, which the problem has already.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_string()
}
