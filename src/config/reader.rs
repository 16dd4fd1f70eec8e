//! Reads documents with positions, so that every mistake is reported with its line.
//!
//! A table's keys are a list of [`KeyRow`]s, each with the function that reads its value.

use std::fs::File;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use toml::de::DeTable;

use super::problem::{LineIndex, PlacedValue, Position, Problem, utf8};
use super::tree::{Tree, TreeEntry, TreeValue};
use super::value::{KeySpec, KeyValue, unknown};
use crate::engine::complaint::{self, Complaint};
use crate::engine::exec::command::{access_cure, world_writable_part};
use crate::engine::names::{parse_duration, parse_size};

#[derive(Debug)]
pub struct KeyRow<T> {
    pub name: &'static str,
    pub takes: KeyValue,
    pub default: &'static str,
    pub about: &'static str,
    pub in_directive: bool,
    pub(crate) set: SetKey<T>,
}

pub(crate) type SetKey<T> = fn(&mut T, &mut Setting<'_, '_>) -> Result<(), Complaint>;

impl<T> KeyRow<T> {
    pub(crate) const fn key(
        name: &'static str,
        takes: KeyValue,
        default: &'static str,
        about: &'static str,
        set: SetKey<T>,
    ) -> KeyRow<T> {
        KeyRow {
            name,
            takes,
            default,
            about,
            in_directive: false,
            set,
        }
    }

    pub(crate) const fn directive(
        name: &'static str,
        takes: KeyValue,
        default: &'static str,
        about: &'static str,
        set: SetKey<T>,
    ) -> KeyRow<T> {
        let mut row = KeyRow::key(name, takes, default, about, set);
        row.in_directive = true;
        row
    }

    pub(super) fn spec(&self) -> KeySpec {
        KeySpec {
            name: self.name,
            takes: self.takes,
            default: self.default,
            about: self.about,
        }
    }
}

impl<T> AsRef<KeyRow<T>> for KeyRow<T> {
    fn as_ref(&self) -> &KeyRow<T> {
        self
    }
}

/// The rows of a table without their functions.
pub(crate) fn specs<T, R: AsRef<KeyRow<T>>>(rows: &[R]) -> Vec<KeySpec> {
    rows.iter().map(|row| row.as_ref().spec()).collect()
}

pub fn names<T, R: AsRef<KeyRow<T>>>(rows: &[R]) -> Vec<&'static str> {
    rows.iter().map(|row| row.as_ref().name).collect()
}

/// Opens a file, and nothing that could keep a reader waiting or never end, such as a pipe.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    Err(if kind.is_dir() {
        Errno::ISDIR.into()
    } else {
        io::Error::other("it is not a regular file")
    })
}

/// Reads a regular file.
pub(crate) fn read_file(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain(file)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reports a world-writable file or folder: others could add hooks or disable them.
pub(super) fn check_writers(path: &Path, problems: &mut Vec<Problem>) {
    if let Some(open) = world_writable_part(path) {
        let cause = if open == path {
            "it is world-writable".to_string()
        } else {
            format!("it links to `{}`, which is world-writable", open.display())
        };
        problems.push(Complaint::with_cure(cause, access_cure(&open)).in_file(path, None));
    }
}

/// Reads a configuration file and adds its problems; an unreadable one gives the default.
pub(crate) fn load<T: Default>(
    file: &Path,
    problems: &mut Vec<Problem>,
    read: impl Fn(&str, &Path) -> (T, Vec<Problem>),
) -> T {
    let text = read_file(file).map_err(|error| {
        let cause = format!("cannot be read: {error}");
        (Complaint::with_cure(cause, "make it a readable file"), None)
    });
    let text = text.and_then(|bytes| {
        let not_utf8 = Complaint::with_cure("is not UTF-8", "save it as UTF-8");
        utf8(bytes).map_err(|at| (not_utf8, Some(at)))
    });
    let (value, found) = match text {
        Ok(text) => read(&text, file),
        Err((complaint, at)) => (T::default(), vec![complaint.in_file(file, at)]),
    };
    check_writers(file, problems);
    problems.extend(found);
    value
}

#[derive(Debug)]
pub(crate) struct DocumentReader<'r> {
    lines: LineIndex<'r>,
    pub(crate) file: &'r Path,
    pub(crate) problems: Vec<Problem>,
    /// Likely corrections of unknown keys, which do not also count as missing.
    pub(crate) meant: Vec<&'static str>,
}

impl<'r> DocumentReader<'r> {
    pub(crate) fn new(text: &'r str, file: &'r Path) -> DocumentReader<'r> {
        DocumentReader {
            lines: LineIndex::of(text),
            file,
            problems: Vec::new(),
            meant: Vec::new(),
        }
    }

    pub(crate) fn at(&self, offset: usize) -> Position {
        self.lines.position(offset)
    }

    /// Whether a key is missing, without an unknown one that probably means it.
    pub(super) fn lacks(&self, table: &Tree, key: &str) -> bool {
        table.at(&[key]).is_none() && !self.meant.contains(&key)
    }

    pub(crate) fn fault(&mut self, at: usize, cause: impl Into<String>, cure: impl Into<String>) {
        self.complain(at, Complaint::with_cure(cause, cure));
    }

    pub(crate) fn complain(&mut self, offset: usize, complaint: Complaint) {
        let problem = complaint.in_file(self.file, Some(self.at(offset)));
        self.problems.push(problem);
    }

    /// Parses TOML, with errors as much as possible; only the first error is reported.
    pub(crate) fn toml(&mut self, text: &str, cure: fn(&str) -> Option<String>) -> Tree {
        let (document, errors) = DeTable::parse_recoverable(text);
        let offset_of = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
        if let Some(first) = errors.iter().min_by_key(|error| offset_of(error)) {
            let at = offset_of(first);
            let cause = format!("not valid TOML: {}", first.message());
            let cure = cure(first.message());
            self.complain(at, Complaint { cause, cure });
        }
        Tree::of_toml(&document)
    }

    /// Reads a table's entries by its rows; `above` is the prefix of keys in messages.
    pub(crate) fn take<T, R: AsRef<KeyRow<T>>>(
        &mut self,
        table: &[TreeEntry],
        rows: &[R],
        above: &str,
        target: &mut T,
    ) {
        let rows: Vec<&KeyRow<T>> = rows.iter().map(AsRef::as_ref).collect();
        for TreeEntry { key, at, tree } in table {
            let Some(row) = rows.iter().find(|row| row.name == *key) else {
                let mut groups = rows.iter();
                let group = groups.find(|row| row.takes.keys().contains(&key.as_str()));
                let known: Vec<&str> = rows.iter().map(|row| row.name).collect();
                let nearest = complaint::nearest(key, known.iter().copied());
                self.meant.extend(nearest);
                self.complain(*at, unknown(&known, key, group.map(|row| row.name)));
                continue;
            };
            let name = format!("{above}{key}");
            let mut setting = Setting {
                reader: &mut *self,
                name: &name,
                key: row.spec(),
                tree,
            };
            if let Err(complaint) = (row.set)(target, &mut setting) {
                self.complain(tree.offset, complaint);
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Setting<'s, 'r> {
    pub(crate) reader: &'s mut DocumentReader<'r>,
    /// The name for messages: `limits.memory`.
    pub(crate) name: &'s str,
    pub(crate) key: KeySpec,
    pub(crate) tree: &'s Tree,
}

impl<'s> Setting<'s, '_> {
    pub(crate) fn at(&self) -> Position {
        self.reader.at(self.tree.offset)
    }

    pub(crate) fn placed<V>(&self, value: V) -> PlacedValue<V> {
        let at = self.at();
        PlacedValue { value, at }
    }

    pub(crate) fn wrong(&self) -> Complaint {
        self.wrong_with(self.tree)
    }

    /// The error for a value of a list, or for the value itself.
    fn wrong_with(&self, tree: &Tree) -> Complaint {
        let name = self.name;
        let described = tree.describe();
        let is_plain = matches!(tree.value, TreeValue::Number(_) | TreeValue::Flag(_));
        let written = tree.text().or(is_plain.then_some(described.as_str()));
        let takes = self.key.takes;
        let cause = format!("`{name}` takes {}, not {described}", takes.describe());
        Complaint::with_cure(cause, takes.cure(name, written.unwrap_or_default()))
    }

    pub(crate) fn text(&self) -> Result<&'s str, Complaint> {
        self.tree.text().ok_or_else(|| self.wrong())
    }

    pub(crate) fn texts(&self) -> Result<Vec<PlacedValue<String>>, Complaint> {
        let items = self.tree.items().unwrap_or(std::slice::from_ref(self.tree));
        let mut texts = Vec::new();
        for item in items {
            let text = item.text().ok_or_else(|| self.wrong_with(item))?;
            let value = text.to_string();
            let at = self.reader.at(item.offset);
            texts.push(PlacedValue { value, at });
        }
        Ok(texts)
    }

    /// A string or a non-empty list; an empty one would mean the opposite of what it seems to.
    pub(crate) fn some_texts(&self, cure: &str) -> Result<Vec<PlacedValue<String>>, Complaint> {
        let texts = self.texts()?;
        if texts.is_empty() {
            let cause = format!("`{}` is an empty list", self.name);
            return Err(Complaint::with_cure(cause, cure));
        }
        Ok(texts)
    }

    /// Returns what `read` makes of the texts; its complaints are problems in their places.
    pub(crate) fn texts_as<T>(
        &mut self,
        read: impl Fn(&str) -> Result<T, Complaint>,
    ) -> Result<Vec<PlacedValue<T>>, Complaint> {
        let mut values = Vec::new();
        for PlacedValue { value, at } in self.texts()? {
            match read(&value) {
                Ok(value) => values.push(PlacedValue { value, at }),
                Err(complaint) => {
                    let problem = complaint.in_file(self.reader.file, Some(at));
                    self.reader.problems.push(problem);
                }
            }
        }
        Ok(values)
    }

    pub(crate) fn flag(&self) -> Result<bool, Complaint> {
        self.tree.flag().ok_or_else(|| self.wrong())
    }

    pub(crate) fn number(&self) -> Result<i64, Complaint> {
        if let TreeValue::Number(number) = self.tree.value {
            Ok(number)
        } else {
            Err(self.wrong())
        }
    }

    pub(crate) fn number_in(&self, range: RangeInclusive<i64>) -> Result<i64, Complaint> {
        let number = self.number()?;
        if range.contains(&number) {
            return Ok(number);
        }
        let cure = match (range.start(), range.end()) {
            (least, &i64::MAX) => format!("write {least} or more"),
            (least, most) => format!("write a number from {least} to {most}"),
        };
        let cause = format!("`{}` cannot be {number}", self.name);
        Err(Complaint::with_cure(cause, cure))
    }

    /// A word that the key accepts, ignoring case.
    pub(crate) fn word(&self) -> Result<PlacedValue<String>, Complaint> {
        let text = self.text()?;
        let KeyValue::OneOf(words) = self.key.takes else {
            return Ok(self.placed(text.to_string()));
        };
        let mut words = words().into_iter();
        let word = words.find(|word| word.eq_ignore_ascii_case(text));
        let word = word.ok_or_else(|| self.wrong())?;
        Ok(self.placed(word.to_string()))
    }

    pub(crate) fn duration(&self) -> Result<Duration, Complaint> {
        parse_duration(self.text()?).map_err(|problem| self.about(&problem))
    }

    pub(crate) fn size(&self) -> Result<u64, Complaint> {
        parse_size(self.text()?).map_err(|problem| self.about(&problem))
    }

    pub(crate) fn one_of<V: Copy>(&self, table: &[(V, &str)]) -> Result<V, Complaint> {
        let mut table = table.iter();
        let found = table.find(|(_, name)| self.tree.text() == Some(name));
        found.map(|(value, _)| *value).ok_or_else(|| self.wrong())
    }

    pub(crate) fn table(&self) -> Result<&'s [TreeEntry], Complaint> {
        self.tree.entries().ok_or_else(|| self.wrong())
    }

    /// Reads a nested table; `above` is the prefix of keys in messages.
    pub(crate) fn take<T, R: AsRef<KeyRow<T>>>(
        &mut self,
        rows: &[R],
        above: &str,
        target: &mut T,
    ) -> Result<(), Complaint> {
        let table = self.table()?;
        self.reader.take(table, rows, above, target);
        Ok(())
    }

    pub(crate) fn about(&self, problem: &str) -> Complaint {
        Complaint::new(format!("`{}`: {problem}", self.name))
    }
}
