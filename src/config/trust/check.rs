//! Decides whether a project folder's hooks may run, by the owner's `[trust]` settings and
//! approvals, and keeps trust when a command of hookrun edits trusted hooks.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::files::{ContentFile, FileList, FileMark, HookFiles, SetError};
use super::parts::find_repository;
use super::store::{SeenFiles, TrustStore, TrustedBy};
use crate::config::problem::{PlacedValue, Position};
use crate::config::reader::KeyRow;
use crate::config::value::KeyValue;
use crate::engine::complaint::Complaint;
use crate::engine::exec::command::{ScriptCopy, SealedFiles, words_of_first_line};
use crate::engine::exec::sandbox::below_home;
use crate::engine::names::words;

/// How untrusted project hooks are handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustChoice {
    /// They do not run, except with these digests (`hookrun run --trust DIGEST`).
    Required { digests: Vec<String> },
    /// They are reported as a warning, for a user at a terminal.
    Reported,
}

#[derive(Debug, Clone)]
pub enum TrustState {
    Trusted,
    /// Nothing of this repository was trusted yet.
    Unknown,
    /// Other content of this repository was trusted.
    Changed,
    Unreadable(Arc<SetError>),
}

/// The trust of one project folder's hooks.
#[derive(Debug, Clone)]
pub struct TrustReport {
    /// The folder with `hookrun.toml` and `hooks.d`.
    pub folder: PathBuf,
    /// The git folder that all worktrees of its repository share.
    pub repository: PathBuf,
    pub state: TrustState,
    /// `sha256:…`; empty if the files cannot be read.
    pub digest: String,
    /// The parts of the hook set, relative to the folder.
    pub parts: Vec<PathBuf>,
    /// Files that differ from the last trusted content.
    pub changed: Vec<String>,
    /// Why the followed branch does not approve them.
    pub not_of_branch: Option<String>,
    /// Content of this repository was trusted before: a guard may be missing.
    had_trust: bool,
}

/// The files of trusted hooks when they were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustSeal {
    folder: PathBuf,
    parts: Vec<PathBuf>,
    /// Folders whose files no event here uses.
    unopened: Vec<PathBuf>,
    seen: SeenFiles,
    /// The scripts that were read.
    scripts: BTreeMap<PathBuf, ContentFile>,
    /// Keeps copies of scripts.
    store: Option<TrustStore>,
    /// Equal stamps mean equal content, at least of unopened files.
    is_settled: bool,
    /// The store knows `seen`.
    is_noted: bool,
    /// A file changed while the configuration was read.
    pub(crate) is_recent: bool,
}

impl TrustSeal {
    /// The files for which `is_read`, if their content and the stamps of all files are the same.
    fn read_again(&self, is_read: impl Fn(&Path) -> bool) -> Option<HookFiles> {
        if !self.is_settled {
            return None;
        }
        self.seen.read_again(&self.folder, &self.parts, is_read)
    }

    /// Whether an event here uses a file.
    fn is_opened(&self, path: &Path) -> bool {
        let is_unopened = self.unopened.iter().any(|folder| path.starts_with(folder));
        !is_unopened || self.parts.iter().any(|part| part == path)
    }

    /// The current stamps; `None` if the content has changed.
    pub(crate) fn stamps_now(&self) -> Option<Vec<u8>> {
        if self.read_again(|path| self.is_opened(path)).is_some() {
            return Some(self.seen.stamps.clone());
        }
        let now = FileList::of(&self.folder, &self.parts).ok()?;
        (now.read().ok()?.digest() == self.seen.digest).then(|| now.stamps())
    }

    /// What follows the current stamps in `stamps`; `None` unless it begins with them.
    fn strip_stamps<'s>(&self, stamps: &'s [u8]) -> Option<&'s [u8]> {
        if self.read_again(|_| false).is_some() {
            return stamps.strip_prefix(&self.seen.stamps[..]);
        }
        let now = FileList::of(&self.folder, &self.parts).ok()?;
        stamps.strip_prefix(&now.stamps()[..])
    }

    /// A copy of a sealed script. `None` if it must be started by its path.
    fn copy_of_script(&self, script: &Path) -> Option<ScriptCopy> {
        let sealed = self.scripts.get(script.strip_prefix(&self.folder).ok()?)?;
        Some(ScriptCopy {
            interpreter: interpreter_of_contained(&sealed.bytes)?,
            path: self.store.as_ref()?.copy_of(sealed)?,
        })
    }

    fn complaint(&self) -> String {
        format!(
            "the hooks in {} changed while they ran, so untrusted code may have run",
            self.folder.display()
        )
    }
}

/// How shell scripts learn their own path, or read other code, which may do so.
const SHELL_SIGNS: &[&str] = words!(
    "$0" "${0" "${!" "${@:" "${*:" "$$" "$_" "${_" "BASH_" "ZSH_" ".sh." "(%" "/proc" "autoload"
    "/dev/fd" "caller" "eval" "filetrace" "functrace" "pgrep" "pidof" "ps -" "ps a" "source" "trap"
);

/// How Python scripts learn their own path, or read other code.
const PYTHON_SIGNS: &[&str] = words!(
    "__code__" "__file" "__loader__" "__main__." "argv" "co_filename" "eval" "exec" "from sys" "modules"
    ".path[" "/proc" "sys.path"
);

/// Modules that do not depend on the path of the script that imports them.
const PYTHON_MODULES: &[&str] = words!(
    "__future__" "base64" "collections" "contextlib" "copy" "csv" "dataclasses" "datetime" "enum"
    "errno" "fcntl" "fnmatch" "functools" "glob" "hashlib" "hmac" "io" "ipaddress" "itertools" "json"
    "math" "os" "pathlib" "platform" "random" "re" "shlex" "shutil" "signal" "socket" "stat" "string"
    "struct" "subprocess" "sys" "tempfile" "textwrap" "threading" "time" "tomllib" "typing" "urllib"
);

/// The words in the first line of a script that neither uses its path nor reads other code. `None`
/// if it must be started by its path, because its decision may depend on that.
fn interpreter_of_contained(script: &[u8]) -> Option<Vec<OsString>> {
    let text = str::from_utf8(script).ok()?;
    let (program, argument) = words_of_first_line(text.strip_prefix("#!")?);
    let (name, flags) = match argument {
        Some(words) if program.ends_with("/env") => {
            let words = words.trim_start_matches("-S ");
            words.split_once(' ').unwrap_or((words, ""))
        }
        _ => (program.rsplit('/').next()?, argument.unwrap_or_default()),
    };
    // It may be code, or its name.
    if !flags.is_empty() && !flags.starts_with('-') || flags.contains(['c', 'm', ' ']) {
        return None;
    }
    let (signs, reads_others) = match name {
        "sh" | "bash" | "dash" | "ksh" | "zsh" => (SHELL_SIGNS, sources_a_file(text)),
        "python3" => (PYTHON_SIGNS, imports_others(text)),
        _ => return None,
    };
    let is_contained = !reads_others && !signs.iter().any(|sign| text.contains(sign));
    let words = iter::once(program).chain(argument).map(OsString::from);
    is_contained.then(|| words.collect())
}

/// Whether a shell script may have the command `.`, also as `inc=.` or `{.,file}`.
fn sources_a_file(text: &str) -> bool {
    const INSIDE_PATH: &[char] = &['.', '/', '*', '?', ']', '}'];
    text.match_indices('.').any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 1..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || INSIDE_PATH.contains(&c))
            && !after.is_some_and(|c| c.is_alphanumeric() || INSIDE_PATH[..4].contains(&c))
    })
}

/// Whether a Python script may import a module that is not in [`PYTHON_MODULES`].
fn imports_others(text: &str) -> bool {
    let parts = text.split(['\n', '\r', ';', ':']).map(str::trim_start);
    let mut imports = parts.filter(|part| part.contains("import"));
    imports.any(|part| {
        let (keyword, rest) = part.split_once(' ').unwrap_or_default();
        let most = if keyword == "from" { 1 } else { usize::MAX };
        let names = rest.split(',').map(str::trim_start).take(most);
        let mut modules = names.flat_map(|name| name.split(['.', ' ']).next());
        !matches!(keyword, "from" | "import")
            || part.contains('\\')
            || !modules.all(|module| PYTHON_MODULES.contains(&module))
    })
}

/// Those files that are scripts, by path. A link to one is started by its path.
fn scripts_of(files: HookFiles) -> BTreeMap<PathBuf, ContentFile> {
    let mut scripts = files.files;
    scripts.retain(|file| file.mark.link.is_none() && file.bytes.starts_with(b"#!"));
    let scripts = scripts.into_iter().map(|file| (file.path.clone(), file));
    scripts.collect()
}

impl SealedFiles for Vec<TrustSeal> {
    fn copy_of_script(&self, script: &Path) -> Option<ScriptCopy> {
        self.iter().find_map(|seal| seal.copy_of_script(script))
    }

    fn loaded(&self) -> Vec<u8> {
        let stamps = self.iter().flat_map(|seal| &seal.seen.stamps);
        stamps.copied().collect()
    }

    fn check(&self) -> Result<Vec<u8>, String> {
        let mut stamps = Vec::new();
        for seal in self {
            stamps.extend(seal.stamps_now().ok_or_else(|| seal.complaint())?);
        }
        Ok(stamps)
    }

    fn changed_since(&self, stamps: &[u8]) -> Option<String> {
        let mut left = stamps;
        for seal in self {
            match seal.strip_stamps(left) {
                Some(rest) => left = rest,
                None => return Some(seal.complaint()),
            }
        }
        None
    }
}

/// File systems store times in steps of up to 10 ms, so a change within the step of a read is
/// invisible.
pub(crate) const STEP: Duration = Duration::from_millis(20);

/// How far a file server's clock may be ahead. A later time was set before the clock was set back.
const MOST_SKEW: Duration = Duration::from_secs(60);

/// A project folder's hooks.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProjectFiles {
    /// Canonical.
    pub(crate) folder: PathBuf,
    pub(crate) parts: Vec<PathBuf>,
    /// Folders whose files the event does not use.
    pub(crate) unopened: Vec<PathBuf>,
}

/// Checks a project's hooks, and seals trusted ones. The configuration was read after `read_since`.
pub(crate) fn judge(
    project: ProjectFiles,
    read_since: SystemTime,
    choice: &TrustChoice,
    policy: &TrustPolicy,
    store: Option<&TrustStore>,
) -> (TrustReport, Option<TrustSeal>) {
    let mut report = TrustReport {
        repository: find_repository(&project.folder).identity,
        folder: project.folder,
        state: TrustState::Unknown,
        digest: String::new(),
        parts: project.parts,
        changed: Vec::new(),
        not_of_branch: None,
        had_trust: false,
    };
    let mut listed = policy.paths.iter();
    if listed.any(|path| report.folder.starts_with(path)) {
        report.state = TrustState::Trusted;
        return (report, None);
    }
    let seal = match look(&mut report, project.unopened, read_since, store) {
        Ok(Some(seal)) => seal,
        // An empty folder that never had a hook.
        Ok(None) => {
            report.state = TrustState::Trusted;
            return (report, None);
        }
        Err(error) => {
            report.state = TrustState::Unreadable(Arc::new(error));
            report.had_trust = store.is_some_and(|store| store.had_trust(&report));
            return (report, None);
        }
    };
    let is_pinned = match choice {
        TrustChoice::Required { digests } => digests.contains(&report.digest),
        TrustChoice::Reported => false,
    };
    let is_known = store.is_some_and(|store| store.is_trusted(&report.repository, &report.digest));
    if is_pinned || is_known {
        report.state = TrustState::Trusted;
        if let Some(store) = store
            && seal.is_settled
            && !seal.is_noted
        {
            store.note_seen(&report.folder, &seal.seen);
        }
        return (report, Some(seal));
    }
    if let Some(store) = store
        && store.had_trust(&report)
    {
        report.had_trust = true;
        report.state = TrustState::Changed;
        report.changed = report.changes(store).unwrap_or_default();
    }
    (report, None)
}

/// Computes the digest of a set and seals its files. `None` for a folder that never had hooks.
fn look(
    report: &mut TrustReport,
    unopened: Vec<PathBuf>,
    read_since: SystemTime,
    store: Option<&TrustStore>,
) -> Result<Option<TrustSeal>, SetError> {
    let seen = store.and_then(|store| store.seen(&report.folder));
    let mut seal = TrustSeal {
        folder: report.folder.clone(),
        parts: report.parts.clone(),
        unopened,
        is_settled: seen.is_some(),
        is_noted: true,
        is_recent: false,
        seen: seen.unwrap_or_default(),
        scripts: BTreeMap::new(),
        store: store.cloned(),
    };
    if let Some(files) = seal.read_again(|path| seal.is_opened(path)) {
        seal.scripts = scripts_of(files);
    } else {
        let list = FileList::of(&report.folder, &report.parts)?;
        let had_hooks = store.is_some_and(|store| store.had_hooks(&report.folder));
        if !list.has_files() && !had_hooks {
            return Ok(None);
        }
        let files = list.read()?;
        seal.seen = SeenFiles::of(&files, list.stamps());
        seal.scripts = scripts_of(files);
        seal.is_settled = list.is_settled(read_since);
        seal.is_noted = false;
        seal.is_recent = list.changed_within(read_since - STEP, read_since + MOST_SKEW);
    }
    report.digest.clone_from(&seal.seen.digest);
    Ok(Some(seal))
}

/// The beginning of a block that only `hookrun trust` lifts.
const CHANGED: &str = "hooks changed: run `hookrun trust`";
const UNKNOWN: &str = "hooks not trusted: run `hookrun trust`";

/// The most files that a reason names.
const NAMED_FILES: usize = 8;

/// Whether a complaint is about untrusted hooks.
pub(crate) fn is_about_trust(complaint: &str) -> bool {
    complaint.starts_with(CHANGED) || complaint.starts_with(UNKNOWN)
}

impl TrustStore {
    fn had_trust(&self, report: &TrustReport) -> bool {
        self.has_records(&report.repository) || self.had_hooks(&report.folder)
    }
}

impl TrustReport {
    /// Reads the files.
    ///
    /// # Errors
    /// If one cannot be read, or there are too many.
    pub fn read(&self) -> Result<HookFiles, SetError> {
        FileList::of(&self.folder, &self.parts)?.read()
    }

    /// The files that differ from the last trusted content.
    fn changes(&self, store: &TrustStore) -> Option<Vec<String>> {
        let files = self.read().ok()?;
        let Some(before) = store.latest(&self.repository, &self.folder, &files) else {
            let all = files.files.into_iter();
            return Some(all.map(|file| file.mark.path).collect());
        };
        let changed = before.changed(&files).into_iter();
        Some(changed.map(str::to_string).collect())
    }

    pub fn is_trusted(&self) -> bool {
        matches!(self.state, TrustState::Trusted)
    }

    /// Whether a guard that was trusted may be missing, so that every gate must close.
    pub(crate) fn may_lack_guards(&self) -> bool {
        self.had_trust && !self.is_trusted()
    }

    /// The instruction, and why the hooks do not run; `None` if they are trusted.
    pub(crate) fn why_untrusted(&self) -> Option<String> {
        let folder = self.folder.display();
        let mut why = match &self.state {
            TrustState::Trusted => return None,
            TrustState::Unknown => format!("{UNKNOWN} at a terminal (hooks of {folder})"),
            TrustState::Changed if self.changed.is_empty() => {
                format!("{CHANGED} at a terminal (hooks of {folder})")
            }
            TrustState::Changed => {
                let named = self.changed.len().min(NAMED_FILES);
                let files = self.changed[..named].join(", ");
                let more = match self.changed.len() - named {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("{CHANGED} at a terminal (changed in {folder}: {files}{more})")
            }
            TrustState::Unreadable(error) => {
                format!("{UNKNOWN} after fixing this: {error} (hooks of {folder})")
            }
        };
        if let Some(not_of_branch) = &self.not_of_branch {
            why.push_str(&format!("; {not_of_branch}"));
        }
        Some(why)
    }
}

#[rustfmt::skip]
pub const TRUST_KEYS: &[KeyRow<TrustTable>] = &[
    KeyRow::key("paths", KeyValue::Texts, "none", "folders whose projects are trusted; anyone with write access there can run code as you",
        |table, key| key.texts_as(absolute).map(|paths| table.paths = paths)),
];

#[derive(Debug, Default)]
pub struct TrustTable {
    pub(crate) at: Option<Position>,
    paths: Vec<PlacedValue<String>>,
}

/// The trust settings of system and user; a project has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrustPolicy {
    /// Folders whose hooks are always trusted.
    pub(crate) paths: Vec<PathBuf>,
}

fn absolute(path: &str) -> Result<String, Complaint> {
    if path.starts_with('/') || path.starts_with("~/") || path == "~" {
        return Ok(path.to_string());
    }
    let cause = format!("`{path}` is not an absolute path");
    Err(Complaint::with_cure(cause, "begin it with `/` or `~/`"))
}

impl TrustPolicy {
    /// Adds the settings of another file.
    pub(crate) fn add(&mut self, table: &TrustTable, home: Option<&Path>) {
        for PlacedValue { value, .. } in &table.paths {
            if let Some(whole) = below_home(value, home) {
                self.paths.push(whole.canonicalize().unwrap_or(whole));
            }
        }
    }
}

/// The trust before a command writes hooks.
///
/// Afterwards previously trusted files and files written by the command are trusted; any other
/// change needs approval. In a folder without hooks before, all of them must be written by the
/// command.
#[derive(Debug)]
pub struct KeptTrust {
    /// The files by folder; `None` for an untrusted one.
    before: Vec<(PathBuf, Option<BTreeSet<FileMark>>)>,
}

impl KeptTrust {
    /// Records the trusted files. `reports` are from a configuration loaded with [`TrustChoice`].
    #[must_use]
    pub fn before(reports: &[TrustReport]) -> KeptTrust {
        let mut before = Vec::new();
        for report in reports {
            let set = report.read().ok().filter(|_| report.is_trusted());
            let marks = set.map(|set| set.files.into_iter().map(|file| file.mark).collect());
            before.push((report.folder.clone(), marks));
        }
        KeptTrust { before }
    }

    /// Trusts changed files if they are in `written`. `reports` are from the new configuration.
    ///
    /// # Errors
    /// If the approval cannot be stored, so the user must approve.
    pub fn after(
        &self,
        reports: &[TrustReport],
        written: &[PathBuf],
        store: Option<&TrustStore>,
    ) -> io::Result<()> {
        let Some(store) = store else { return Ok(()) };
        let written: Vec<PathBuf> = written
            .iter()
            .filter_map(|file| file.canonicalize().ok())
            .collect();
        for report in reports.iter().filter(|report| !report.is_trusted()) {
            let Ok(set) = report.read() else { continue };
            let nothing = BTreeSet::new();
            let before = match self.before.iter().find(|(at, _)| *at == report.folder) {
                Some((_, Some(marks))) => marks,
                Some((_, None)) => continue,
                None => &nothing,
            };
            let is_ours = set.files.iter().all(|file| {
                let path = report.folder.join(&file.path);
                before.contains(&file.mark)
                    || path
                        .canonicalize()
                        .is_ok_and(|path| written.contains(&path))
            });
            let has_all = before
                .iter()
                .all(|mark| set.files.iter().any(|file| file.mark.path == mark.path));
            if is_ours && has_all {
                store.trust(&report.repository, &report.folder, &set, TrustedBy::Command)?;
            }
        }
        Ok(())
    }
}
