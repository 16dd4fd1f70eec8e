//! Rules over documents: plans, manifests and settings in files of the project.
//!
//! A rule with `documents` reads its files when its event is decided. A path of `where` such as
//! `resources[].change.acl` leads to values; `[]` is each element. The longest path finds matches;
//! every other path (in `except` and in the rule's text) starts from the same elements. An
//! unreadable document is a failure of the rule.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::problem::{LineIndex, utf8};
use super::reader::read_file;
use super::tree::{SyntaxError, Tree, TreeValue, yaml_documents};
use crate::engine::complaint::Complaint;
use crate::engine::hook::matcher::row::{Glob, path_glob};
use crate::engine::hook::matcher::{DocumentMatch, Documents};
use crate::engine::hook::matcher::{expression, shortened};

const MOST_BYTES: u64 = 64 * 1024 * 1024;

const MOST_ENTRIES: usize = 100_000;

const WRITE_IT: &str = "create the file before this event, or fix `documents`";

/// A path into a document, as written and as steps.
#[derive(Debug, Clone)]
pub(super) struct DocumentPath {
    written: String,
    steps: Vec<DocumentStep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum DocumentStep {
    Key(String),
    /// Each element of a list, or each value of a table.
    Each,
}

impl DocumentPath {
    /// Parses keys separated by dots, each optionally with `[]`; `\.` is a dot in a key.
    pub(super) fn read(written: &str) -> Result<DocumentPath, Complaint> {
        let mut steps = Vec::new();
        for part in written.replace("\\.", "\0").split('.') {
            let key = part.trim_end_matches("[]");
            if key.contains(['[', ']']) || part.is_empty() {
                let problem = "write keys separated by dots, such as `spec.items[].name`";
                return Err(Complaint::new(problem));
            }
            if !key.is_empty() {
                steps.push(DocumentStep::Key(key.replace('\0', ".")));
            }
            steps.extend((0..(part.len() - key.len()) / 2).map(|_| DocumentStep::Each));
        }
        Ok(DocumentPath {
            written: written.to_string(),
            steps,
        })
    }

    /// The values of this path, from the elements shared with `other`, which led to `way`.
    fn values(&self, other: &DocumentPath, way: &[DocumentNode<'_>]) -> Vec<String> {
        let pairs = self.steps.iter().zip(&other.steps);
        let shared = pairs.take_while(|(own, other)| own == other).count();
        let mut texts = Vec::new();
        let mut from = way[..=shared].to_vec();
        follow(&mut from, &self.steps[shared..], &mut |way| {
            texts.push(text_of(way));
        });
        texts
    }
}

/// A value along a path, and the step to it.
#[derive(Debug, Clone)]
struct DocumentNode<'t> {
    tree: &'t Tree,
    step: String,
}

/// Calls `found` with the way to each value that the steps lead to.
fn follow<'t>(
    way: &mut Vec<DocumentNode<'t>>,
    steps: &[DocumentStep],
    found: &mut dyn FnMut(&[DocumentNode<'t>]),
) {
    let Some((step, rest)) = steps.split_first() else {
        return found(way);
    };
    let Some(last) = way.last() else {
        return;
    };
    for node in nodes_below(last.tree, step) {
        way.push(node);
        follow(way, rest, found);
        way.pop();
    }
}

fn nodes_below<'t>(tree: &'t Tree, step: &DocumentStep) -> Vec<DocumentNode<'t>> {
    let mut nodes = Vec::new();
    match (&tree.value, step) {
        (TreeValue::Table(entries), _) => {
            for entry in entries {
                // JSON parsers differ on which value of a repeated key counts, so check all.
                let step = match step {
                    DocumentStep::Key(key) if *key != entry.key => continue,
                    DocumentStep::Key(key) => format!(".{key}"),
                    DocumentStep::Each => format!("[{}]", entry.key),
                };
                let tree = &entry.tree;
                nodes.push(DocumentNode { tree, step });
            }
        }
        (TreeValue::List(items), DocumentStep::Each) => {
            for (number, tree) in items.iter().enumerate() {
                let step = format!("[{number}]");
                nodes.push(DocumentNode { tree, step });
            }
        }
        _ => {}
    }
    nodes
}

/// The last value of a way: a text as is, anything else as compact JSON.
fn text_of(way: &[DocumentNode<'_>]) -> String {
    match way.last().map(|node| node.tree) {
        Some(tree) => match tree.text() {
            Some(text) => text.to_string(),
            None => tree.to_json().to_string(),
        },
        None => String::new(),
    }
}

/// A path and the expression that one of its values must match.
#[derive(Debug)]
pub(super) struct DocumentCondition {
    path: DocumentPath,
    form: Regex,
}

impl DocumentCondition {
    pub(super) fn new(path: &str, form: &str) -> Result<DocumentCondition, Complaint> {
        Ok(DocumentCondition {
            path: DocumentPath::read(path)?,
            form: expression(form)?,
        })
    }

    fn holds(&self, path: &DocumentPath, way: &[DocumentNode<'_>]) -> bool {
        let values = self.path.values(path, way);
        values.iter().any(|value| self.form.is_match(value))
    }
}

#[derive(Debug)]
pub(super) struct DocumentRule {
    /// Paths and globs, relative to the project.
    files: Vec<String>,
    wanted: Vec<DocumentCondition>,
    except: Vec<DocumentCondition>,
    named: Vec<DocumentPath>,
}

impl DocumentRule {
    pub(super) fn new(
        files: Vec<String>,
        mut wanted: Vec<DocumentCondition>,
        except: Vec<DocumentCondition>,
        placeholders: &[String],
    ) -> DocumentRule {
        wanted.sort_by_key(|one| std::cmp::Reverse(one.path.steps.len()));
        let named = placeholders.iter().map(|name| DocumentPath::read(name));
        DocumentRule {
            files,
            wanted,
            except,
            named: named.filter_map(Result::ok).collect(),
        }
    }

    fn search(&self, file: &str, root: &Tree, lines: &LineIndex<'_>, all: &mut Vec<DocumentMatch>) {
        let Some((first, others)) = self.wanted.split_first() else {
            return;
        };
        let step = String::new();
        let mut way = vec![DocumentNode { tree: root, step }];
        follow(&mut way, &first.path.steps, &mut |way| {
            let value = text_of(way);
            let is_meant =
                first.form.is_match(&value) && others.iter().all(|one| one.holds(&first.path, way));
            let is_lifted = !self.except.is_empty()
                && self.except.iter().all(|one| one.holds(&first.path, way));
            if !is_meant || is_lifted {
                return;
            }
            let steps: String = way.iter().map(|node| node.step.as_str()).collect();
            let path = steps.trim_start_matches('.').to_string();
            let mut values = Vec::new();
            for named in &self.named {
                let found = named.values(&first.path, way).into_iter().next();
                values.extend(found.map(|value| (named.written.clone(), shortened(&value))));
            }
            values.extend([
                ("file".to_string(), file.to_string()),
                ("path".to_string(), path),
                ("value".to_string(), shortened(&value)),
            ]);
            all.push(DocumentMatch {
                file: file.to_string(),
                line: way.last().map_or(1, |node| lines.line(node.tree.offset)),
                values,
            });
        });
    }
}

impl Documents for DocumentRule {
    fn find(&self, project: &Path) -> Result<Vec<DocumentMatch>, Complaint> {
        let mut all = Vec::new();
        let mut bytes = 0;
        for written in &self.files {
            for file in files_of(written, project)? {
                let shown = file.strip_prefix(project).unwrap_or(&file).display();
                let shown = shown.to_string();
                bytes += file.metadata().map_or(0, |meta| meta.len());
                if bytes > MOST_BYTES {
                    let cause =
                        format!("with `{shown}`, the documents are larger than 64 MiB in total");
                    return Err(Complaint::with_cure(cause, "name fewer in `documents`"));
                }
                let text = read_file(&file).map_err(|error| {
                    let cause = format!("`{shown}` cannot be read: {error}");
                    Complaint::with_cure(cause, WRITE_IT)
                })?;
                let text = utf8(text).map_err(|at| {
                    let cause = format!("`{shown}:{}` is not UTF-8", at.line);
                    Complaint::with_cure(cause, "save it as UTF-8")
                })?;
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                let documents = parse(text, &file).map_err(|error| {
                    let SyntaxError { line, message } = error;
                    let cause = format!("`{shown}:{line}` cannot be read: {message}");
                    Complaint::with_cure(cause, "fix this file, or `documents`")
                })?;
                for document in &documents {
                    self.search(&shown, document, &LineIndex::of(text), &mut all);
                }
            }
        }
        Ok(all)
    }
}

impl fmt::Display for DocumentRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "documents {}", self.files.join(" or "))?;
        for (word, conditions) in [("where", &self.wanted), ("except", &self.except)] {
            for condition in conditions {
                let DocumentCondition { path, form } = condition;
                write!(f, ", {word} {} /{form}/", path.written)?;
            }
        }
        Ok(())
    }
}

/// The files that a path or glob matches, sorted; at least one.
fn files_of(written: &str, project: &Path) -> Result<Vec<PathBuf>, Complaint> {
    const SIGNS: [char; 4] = ['*', '?', '[', '{'];
    let mut parts = written.split('/');
    let Some(first) = parts.position(|part| part.contains(SIGNS)) else {
        return Ok(vec![project.join(written)]);
    };
    let compiled = path_glob(written).and_then(|glob| Glob::new(&glob));
    let glob = compiled.map_err(|error| {
        let cause = format!("`{written}` is not a glob: {error}");
        Complaint::with_cure(cause, "fix `documents`")
    })?;
    let parts: Vec<&str> = written.split('/').take(first).collect();
    let mut folders = vec![project.join(parts.join("/"))];
    let mut files = Vec::new();
    let mut entries = 0;
    while let Some(folder) = folders.pop() {
        let inside = match fs::read_dir(&folder) {
            Ok(inside) => inside,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                let cause = format!("`{}` cannot be read: {error}", folder.display());
                return Err(Complaint::with_cure(cause, "make it readable"));
            }
        };
        for entry in inside.flatten() {
            entries += 1;
            if entries > MOST_ENTRIES {
                let cause = format!("`{written}` would visit more than {MOST_ENTRIES} files");
                return Err(Complaint::with_cure(cause, "begin the glob with a folder"));
            }
            let path = entry.path();
            // A link to a folder could form a cycle.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name() != ".git" {
                    folders.push(path);
                }
                continue;
            }
            let below = path.strip_prefix(project).unwrap_or(&path);
            if glob.is_match(below) {
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        let cause = format!("no file matches `{written}`");
        return Err(Complaint::with_cure(cause, WRITE_IT));
    }
    files.sort();
    Ok(files)
}

/// Parses a document by its file's extension.
fn parse(text: &str, file: &Path) -> Result<Vec<Tree>, SyntaxError> {
    let ending = file.extension().unwrap_or_default().to_string_lossy();
    match ending.to_ascii_lowercase().as_str() {
        "json" => match Tree::of_json(text) {
            Ok(tree) => Ok(vec![tree]),
            Err(error) => Err(SyntaxError {
                line: error.line().max(1),
                message: error.to_string(),
            }),
        },
        "yaml" | "yml" => yaml_documents(text),
        "toml" => Tree::parse_toml(text).map(|tree| vec![tree]),
        _ => Err(SyntaxError {
            line: 1,
            message: "its name must end with `.json`, `.yaml`, `.yml` or `.toml`".to_string(),
        }),
    }
}
