//! Files of hooks: passed as arguments, shared by several calls, or rewritten as a text of the
//! event.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};
use serde_json::Value;

use crate::engine::complaint::Complaint;
use crate::engine::event::Event;
use crate::engine::hook::EditedField;
use crate::engine::outcome::merge::failed_words;
use crate::engine::outcome::{Decision, Verdict};
use crate::engine::run::{CapturedStream, Ending, Exit, Trace};

/// Minimum number of files per call when files are divided among processors: starting a program
/// costs more than reading this many.
const FEWEST_TO_SPLIT: usize = 100;

#[derive(Debug, Clone)]
pub(crate) struct HandedFiles {
    pub(crate) folder: PathBuf,
    /// Raw paths, relative to the folder where they are below it.
    pub(crate) paths: Vec<PathBuf>,
}

impl HandedFiles {
    pub(super) fn new(folder: PathBuf, absolute: Vec<PathBuf>) -> HandedFiles {
        let relative = |path: PathBuf| match path.strip_prefix(&folder) {
            Ok(below) => below.to_path_buf(),
            Err(_) => path,
        };
        let paths = absolute.into_iter().map(relative).collect();
        HandedFiles { folder, paths }
    }

    /// Divides the files into calls of at most `most` files (0: one share per processor) and within
    /// the system's argument limit.
    pub(super) fn calls(&self, most: usize) -> Vec<HandedFiles> {
        let most = if most == 0 {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            self.paths.len().div_ceil(processors).max(FEWEST_TO_SPLIT)
        } else {
            most
        };
        let room = argument_room();
        let mut calls: Vec<HandedFiles> = Vec::new();
        let mut used = 0;
        for path in &self.paths {
            // `./`, the NUL and the pointer count too.
            let size = path.as_os_str().len() + 2 + 1 + size_of::<usize>();
            match calls.last_mut() {
                Some(call) if call.paths.len() < most && used + size <= room => {
                    used += size;
                    call.paths.push(path.clone());
                }
                _ => {
                    used = size;
                    calls.push(HandedFiles {
                        folder: self.folder.clone(),
                        paths: vec![path.clone()],
                    });
                }
            }
        }
        calls
    }

    pub(super) fn arguments(&self) -> Vec<OsString> {
        self.paths.iter().map(|path| argument(path)).collect()
    }
}

/// Returns a path as an argument that cannot be taken for an option.
fn argument(path: &Path) -> OsString {
    if path.as_os_str().as_bytes().starts_with(b"-") {
        return Path::new(".").join(path).into_os_string();
    }
    path.as_os_str().to_os_string()
}

/// Returns the bytes of paths allowed in one call: half of the system limit, which is a quarter of
/// the stack limit. The environment gets the other half.
fn argument_room() -> usize {
    const SMALLEST: u64 = 128 * 1024;
    const LARGEST: u64 = if cfg!(target_os = "linux") { 6 } else { 1 } * 1024 * 1024;
    let stack = getrlimit(Resource::Stack).current.unwrap_or(u64::MAX);
    let whole = (stack / 4).clamp(SMALLEST, LARGEST);
    usize::try_from(whole / 2).unwrap_or(usize::MAX)
}

/// Merges the traces of a hook's calls. `fails_closed`: a failure of the hook blocks.
///
/// 1. If any call blocks, the hook blocks, with the reasons of all that do.
/// 2. Otherwise the first failure that blocks counts.
/// 3. Otherwise the hook asks all questions together.
/// 4. Otherwise the first failure counts.
/// 5. Otherwise the hook allows, with the output of all calls.
pub(super) fn together(calls: Vec<Trace>, fails_closed: bool) -> Option<Trace> {
    let verdicts = calls.iter().filter_map(|call| call.ending.verdict());
    let merged = verdicts.cloned().reduce(with_call);
    let mut failures = calls.iter().filter(|call| call.ending.verdict().is_none());
    let first_failure = failures.clone().next();
    let interrupted = failures.find(|call| call.ending.is_interruption());
    let failed = interrupted.or(first_failure);
    let decides = match merged.as_ref().map(|verdict| &verdict.decision) {
        Some(Decision::Block { .. }) => true,
        Some(Decision::Ask { .. }) if failed.is_some() => !fails_closed && interrupted.is_none(),
        Some(Decision::Ask { .. }) => true,
        Some(Decision::Allow) | None => failed.is_none(),
    };
    let noted = failed.filter(|_| decides);
    let note = noted.and_then(|call| call.ending.failure());
    let (ending, exit) = match (merged, failed) {
        (Some(verdict), _) if decides => {
            let exits = calls.iter().filter_map(|call| call.exit);
            let exit = exits.max_by_key(|exit| *exit != Exit::Status(0));
            (Ending::Answered(verdict), exit)
        }
        (_, Some(failed)) => (failed.ending.clone(), failed.exit),
        (_, None) => return None,
    };
    let mut all = calls.into_iter();
    let mut whole = all.next()?;
    for call in all {
        whole.took = whole.took.max(call.took);
        whole.stdout = joined(whole.stdout, call.stdout);
        whole.stderr = joined(whole.stderr, call.stderr);
        whole.has_started |= call.has_started;
        for note in call.notes {
            if !whole.notes.contains(&note) {
                whole.notes.push(note);
            }
        }
    }
    let note = note.map(|failure| format!("one of the hook's calls {}", failed_words(&failure)));
    whole.notes.extend(note);
    Some(Trace {
        ending,
        exit,
        ..whole
    })
}

fn with_call(mut first: Verdict, mut second: Verdict) -> Verdict {
    if strictness(&second.decision) > strictness(&first.decision) {
        std::mem::swap(&mut first, &mut second);
    }
    match (&mut first.decision, second.decision) {
        (Decision::Block { reason: text }, Decision::Block { reason: more })
        | (Decision::Ask { question: text }, Decision::Ask { question: more }) => {
            add_line(text, &more);
        }
        _ => {}
    }
    first.output = both(first.output, second.output);
    first.additional_context = both(first.additional_context, second.additional_context);
    first.findings.extend(second.findings);
    first
}

fn strictness(decision: &Decision) -> u8 {
    match decision {
        Decision::Allow => 0,
        Decision::Ask { .. } => 1,
        Decision::Block { .. } => 2,
    }
}

fn both(text: Option<String>, other: Option<String>) -> Option<String> {
    text.into_iter().chain(other).reduce(|mut text, more| {
        add_line(&mut text, &more);
        text
    })
}

/// Appends a text on new lines, unless both are the same.
fn add_line(text: &mut String, more: &str) {
    if text.trim_end() != more.trim_end() {
        text.truncate(text.trim_end().len());
        text.push('\n');
        text.push_str(more);
    }
}

fn joined(first: CapturedStream, next: CapturedStream) -> CapturedStream {
    let total_bytes = first.total_bytes + next.total_bytes;
    if first.is_cut() || next.is_cut() {
        return CapturedStream {
            tail: next.tail,
            total_bytes,
            ..first
        };
    }
    CapturedStream {
        head: [first.head, first.tail, next.head, next.tail].concat(),
        tail: Vec::new(),
        total_bytes,
    }
}

/// A text of the event that a hook reads and rewrites in a file, such as git's commit message.
///
/// The host's file is used only on a hook's first run, and only while it contains the event's text.
/// In tests, replays, second runs and after a rewrite, the hook gets a copy.
#[derive(Debug)]
pub(crate) struct EditedFile {
    field: EditedField,
    path: PathBuf,
    given: String,
    /// Copies are removed on drop.
    is_copy: bool,
}

impl EditedFile {
    pub(super) fn of_host(field: EditedField, event: &Event, cwd: &Path) -> Option<EditedFile> {
        let given = event.context().string(field.field)?;
        let path = cwd.join(event.context().string(field.path)?);
        let is_same = text_in(&path).is_ok_and(|text| text == given);
        is_same.then_some(EditedFile {
            field,
            path,
            given,
            is_copy: false,
        })
    }

    /// Writes a copy into a new `folder`, under the name of the host's file.
    pub(super) fn copy(
        field: EditedField,
        event: &Event,
        folder: &Path,
    ) -> Result<EditedFile, Complaint> {
        let given = event.context().string(field.field).unwrap_or_default();
        let named = event.context().string(field.path).unwrap_or_default();
        let name = Path::new(&named).file_name();
        let path = folder.join(name.unwrap_or(field.field.as_ref()));
        let file = EditedFile {
            field,
            path,
            given,
            is_copy: true,
        };
        let written = fs::create_dir(folder).and_then(|()| fs::write(&file.path, &file.given));
        written.map_err(|error| {
            let name = field.field;
            let shown = file.path.display();
            Complaint::with_cure(
                format!("the event's `{name}` cannot be written to `{shown}`: {error}"),
                "check the free disk space and the permissions of the folder",
            )
        })?;
        Ok(file)
    }

    /// Puts the file's path into the arguments. The host's file keeps the path that the host
    /// passed, unless the hook runs in another folder.
    pub(super) fn name_in(&self, arguments: &mut Vec<OsString>, has_own_folder: bool) {
        let place = self.field.argument;
        if arguments.len() <= place {
            arguments.resize(place + 1, OsString::new());
        }
        if self.is_copy || has_own_folder || arguments[place].is_empty() {
            arguments[place] = self.path.clone().into_os_string();
        }
    }

    pub(super) fn update(&self) -> Option<(String, Value)> {
        let text = text_in(&self.path).ok()?;
        (text != self.given).then(|| (self.field.field.to_string(), text.into()))
    }
}

impl Drop for EditedFile {
    fn drop(&mut self) {
        if let (true, Some(folder)) = (self.is_copy, self.path.parent()) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Reads a file as a context has it: invalid UTF-8 is replaced.
fn text_in(file: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())
}
