//! Whether the hooks of a project's folder may run: what the owner of the machine says (`[trust]`),
//! what was trusted, and what a command of hookrun writes into trusted hooks.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::files::{FileList, FileMark, HookFiles, SetError};
use super::parts::find_repository;
use super::store::{TrustStore, TrustedBy};
use crate::config::problem::{PlacedValue, Position};
use crate::config::reader::{KeyRow, Setting};
use crate::config::value::{KeyValue, words};
use crate::engine::complaint::Complaint;

/// What is done about hooks of a project that are not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustChoice {
    /// They do not run: a host asks. The caller vouches for those with these digests
    /// (`hookrun run --trust DIGEST`).
    Required { digests: Vec<String> },
    /// They are reported as a warning: a person looks at them.
    Told,
}

/// Why the hooks of a folder do or do not run.
#[derive(Debug, Clone)]
pub enum TrustState {
    Trusted,
    /// Nobody has trusted this content, nor any other of its repository.
    Unknown,
    /// Something else of its repository was trusted: a guard may be gone.
    Changed,
    /// A person has said that they never run.
    Never,
    /// The files cannot be looked at.
    Unreadable(Arc<SetError>),
}

/// The hooks of one folder of a project, and whether they are trusted.
#[derive(Debug, Clone)]
pub struct TrustReport {
    /// The folder that holds `hookrun.toml` and `hooks.d`.
    pub folder: PathBuf,
    /// The folder that all work trees of its repository share.
    pub repository: PathBuf,
    pub state: TrustState,
    /// `sha256:…`; empty where the files cannot be looked at.
    pub digest: String,
    /// What is part of the set, below the folder.
    pub parts: Vec<PathBuf>,
    /// The files that are not as they were when a person last trusted them.
    pub changed: Vec<String>,
    /// Events pass that its hooks would decide.
    pub skips: bool,
}

/// The files of trusted hooks as they were when they were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustSeal {
    folder: PathBuf,
    parts: Vec<PathBuf>,
    stamps: Vec<u8>,
    digest: String,
    /// Something was changed while the configuration was read.
    pub(crate) is_recent: bool,
}

impl TrustSeal {
    /// Whether the content of the files has changed.
    pub(crate) fn is_broken(&self) -> bool {
        let Ok(now) = FileList::of(&self.folder, &self.parts) else {
            return true;
        };
        let has_same_content = || now.read().is_ok_and(|files| files.digest() == self.digest);
        now.stamps() != self.stamps && !has_same_content()
    }

    /// Why nothing is allowed when they have.
    pub(crate) fn complaint(&self) -> String {
        format!(
            "the hooks in {} have changed while they were used, and what ran may not be what was \
             trusted",
            self.folder.display()
        )
    }
}

/// File systems write times in steps of up to 10 ms; a change in the step in which the files were
/// read cannot be seen.
const STEP: Duration = Duration::from_millis(20);

/// Looks whether the hooks in `folder`, a canonical path, are trusted, and seals those that are. The
/// configuration was read since `read_since`.
pub(crate) fn judge(
    folder: &Path,
    parts: Vec<PathBuf>,
    read_since: SystemTime,
    choice: &TrustChoice,
    policy: &TrustPolicy,
    store: Option<&TrustStore>,
) -> (TrustReport, Option<TrustSeal>) {
    let mut report = TrustReport {
        folder: folder.to_path_buf(),
        repository: find_repository(folder).identity,
        state: TrustState::Unknown,
        digest: String::new(),
        parts,
        changed: Vec::new(),
        skips: false,
    };
    if store.is_some_and(|store| store.is_never(&report.repository)) {
        report.state = TrustState::Never;
        return (report, None);
    }
    if policy
        .paths
        .iter()
        .any(|path| report.folder.starts_with(path))
    {
        report.state = TrustState::Trusted;
        return (report, None);
    }
    match look(&report, read_since, store) {
        Err(error) => {
            report.state = TrustState::Unreadable(Arc::new(error));
            (report, None)
        }
        Ok((digest, files, seal)) => {
            report.digest = digest;
            let is_kept = |store: &TrustStore| store.is_trusted(&report.repository, &report.digest);
            let is_pinned = match choice {
                TrustChoice::Required { digests } => digests.contains(&report.digest),
                TrustChoice::Told => false,
            };
            if !is_pinned && !store.is_some_and(is_kept) {
                let had_others = |store: &TrustStore| {
                    store.has_records(&report.repository) || store.had_hooks(&report.folder)
                };
                if store.is_some_and(had_others) {
                    report.state = TrustState::Changed;
                    let files = files.or_else(|| report.read().ok());
                    let changed = store
                        .zip(files)
                        .and_then(|(store, files)| changed_files(&report, &files, store));
                    report.changed = changed.unwrap_or_default();
                }
                return (report, None);
            }
            report.state = TrustState::Trusted;
            (report, Some(seal))
        }
    }
}

/// The files of a set that differ from what was trusted last.
fn changed_files(
    report: &TrustReport,
    files: &HookFiles,
    store: &TrustStore,
) -> Option<Vec<String>> {
    let before = store.latest(&report.repository, &report.folder, files)?;
    Some(
        before
            .changed(files)
            .into_iter()
            .map(str::to_string)
            .collect(),
    )
}

/// The digest of the files in a list, which are read only if their stamps have changed since it was
/// last found; then they come with it.
pub(crate) fn digest_of(
    list: &FileList,
    stamps: &[u8],
    store: Option<&TrustStore>,
) -> Result<(String, Option<HookFiles>), SetError> {
    if let Some(known) = store.and_then(|store| store.known_digest(&list.key(), stamps)) {
        return Ok((known, None));
    }
    let now = SystemTime::now();
    let files = list.read()?;
    let digest = files.digest();
    if let Some(store) = store.filter(|_| !list.changed_since(now - STEP)) {
        store.keep_digest(&list.key(), stamps, &digest);
    }
    Ok((digest, Some(files)))
}

/// The digest of a set, its files if they had to be read, and the seal of them.
fn look(
    report: &TrustReport,
    read_since: SystemTime,
    store: Option<&TrustStore>,
) -> Result<(String, Option<HookFiles>, TrustSeal), SetError> {
    let list = FileList::of(&report.folder, &report.parts)?;
    let stamps = list.stamps();
    let (digest, files) = digest_of(&list, &stamps, store)?;
    let is_recent = list.changed_since(read_since - STEP);
    let seal = TrustSeal {
        folder: report.folder.clone(),
        parts: report.parts.clone(),
        stamps,
        digest: digest.clone(),
        is_recent,
    };
    Ok((digest, files, seal))
}

impl TrustReport {
    /// Reads the files.
    ///
    /// # Errors
    /// When one cannot be read, or there are too many.
    pub fn read(&self) -> Result<HookFiles, SetError> {
        FileList::of(&self.folder, &self.parts)?.read()
    }

    pub fn is_trusted(&self) -> bool {
        matches!(self.state, TrustState::Trusted)
    }

    /// Whether something else of the repository was trusted before.
    pub(crate) fn has_changed(&self) -> bool {
        matches!(self.state, TrustState::Changed)
    }

    /// Whether a person has said that these hooks never run.
    pub fn is_never(&self) -> bool {
        matches!(self.state, TrustState::Never)
    }

    /// The first file that has changed, and how many more.
    fn named_changes(&self) -> String {
        match self.changed.as_slice() {
            [] => String::new(),
            [file] => format!(" ({file})"),
            [file, more @ ..] => format!(" ({file} and {} more)", more.len()),
        }
    }

    /// Why the hooks do not run, and what to do; `None` if they do.
    pub(crate) fn complaint(&self) -> Option<(String, String)> {
        let folder = self.folder.display();
        match &self.state {
            TrustState::Trusted => None,
            TrustState::Unknown => Some((
                format!("the hooks in {folder} are not trusted"),
                "run `hookrun trust` at a terminal: it shows what they are, and asks".to_string(),
            )),
            TrustState::Changed if self.parts.is_empty() => Some((
                format!("the hooks in {folder} were trusted, and are gone"),
                "put them back, or tell `hookrun trust` that there are none".to_string(),
            )),
            TrustState::Changed => Some((
                format!(
                    "the hooks in {folder} have changed since a person trusted them{}",
                    self.named_changes()
                ),
                "run `hookrun trust` at a terminal: it shows what has changed, and asks"
                    .to_string(),
            )),
            TrustState::Never => Some((
                format!("the hooks of {} never run here", self.repository.display()),
                "`hookrun trust` asks again".to_string(),
            )),
            TrustState::Unreadable(error) => Some((
                format!("cannot tell whether the hooks in {folder} are trusted: {error}"),
                "mend that, then run `hookrun trust`".to_string(),
            )),
        }
    }
}

/// What happens to events that hooks without trust would decide.
const UNTRUSTED: &[(bool, &str)] = &[(false, "block"), (true, "skip")];

#[rustfmt::skip]
pub const TRUST_KEYS: &[KeyRow<TrustTable>] = &[
    KeyRow::key("paths", KeyValue::Texts, "none", "folders in which the hooks of every project run unasked; anyone who can write there decides what runs as you", set_paths),
    KeyRow::key("on_untrusted", KeyValue::OneOf(|| words(UNTRUSTED)), "\"block\"", "what happens to events that a project's hooks would decide and must not: `skip` lets them pass",
        |table, key| key.one_of(UNTRUSTED).map(|skips| table.skips = Some(skips))),
];

/// What a file says about trust.
#[derive(Debug, Default)]
pub struct TrustTable {
    /// Where it says so.
    pub(crate) at: Option<Position>,
    paths: Vec<PlacedValue<String>>,
    skips: Option<bool>,
}

/// What the system's and the user's files together say about trust. A project's may not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrustPolicy {
    /// Folders whose hooks are trusted as they are.
    pub(crate) paths: Vec<PathBuf>,
    /// Events pass that hooks without trust would decide; otherwise they are blocked.
    pub(crate) skips: Option<bool>,
}

fn set_paths(table: &mut TrustTable, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for path in key.texts()? {
        if path.value.starts_with('/') || path.value.starts_with("~/") || path.value == "~" {
            table.paths.push(path);
            continue;
        }
        let cause = format!("`{}` is not an absolute path", path.value);
        let complaint = Complaint::with_cure(cause, "begin it with `/` or `~/`");
        key.reader
            .problems
            .push(complaint.in_file(key.reader.file, Some(path.at)));
    }
    Ok(())
}

impl TrustPolicy {
    /// Adds what the file of a further layer says. What the system says about events goes before.
    pub(crate) fn add(&mut self, table: &TrustTable, home: Option<&Path>) {
        self.skips = self.skips.or(table.skips);
        for PlacedValue { value, .. } in &table.paths {
            let below_home = value
                .strip_prefix('~')
                .map(|rest| rest.trim_start_matches('/'));
            let whole = match (below_home, home) {
                (Some(rest), Some(home)) => home.join(rest),
                (Some(_), None) => continue,
                (None, _) => PathBuf::from(value),
            };
            self.paths.push(whole.canonicalize().unwrap_or(whole));
        }
    }
}

/// Which hooks were trusted before a command wrote some.
///
/// What is trusted after it is what was trusted before it, and the files that it wrote: anything
/// else that has changed meanwhile is shown to a person. Hooks where there were none are trusted if
/// all of them were written by the command.
#[derive(Debug)]
pub struct KeptTrust {
    before: Vec<TrustedSet>,
}

#[derive(Debug)]
struct TrustedSet {
    folder: PathBuf,
    marks: BTreeSet<FileMark>,
}

impl KeptTrust {
    /// Notes what is trusted. `reports` are those of a configuration that was loaded with
    /// [`TrustChoice`].
    #[must_use]
    pub fn before(reports: &[TrustReport]) -> KeptTrust {
        let set = |report: &TrustReport| {
            let set = if report.is_trusted() {
                report.read().ok()
            } else {
                None
            };
            TrustedSet {
                folder: report.folder.clone(),
                marks: marks(set.unwrap_or_default()),
            }
        };
        KeptTrust {
            before: reports.iter().map(set).collect(),
        }
    }

    /// Trusts what has changed since, if it is in `written`. `reports` are those of the new
    /// configuration.
    ///
    /// # Errors
    /// When it cannot be noted: then a person is asked.
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
        for report in reports
            .iter()
            .filter(|report| !report.is_trusted() && !report.is_never())
        {
            let Ok(set) = report.read() else { continue };
            let before = self.before.iter().find(|set| set.folder == report.folder);
            let is_known = |mark: &FileMark| before.is_some_and(|set| set.marks.contains(mark));
            let is_ours = |file: &Path| {
                report
                    .folder
                    .join(file)
                    .canonicalize()
                    .is_ok_and(|file| written.contains(&file))
            };
            // A set that was there and was not trusted has no marks.
            let was_empty = before.is_none();
            let was_trusted = before.is_some_and(|set| !set.marks.is_empty());
            let is_all_ours = set
                .files
                .iter()
                .all(|file| is_known(&file.mark) || is_ours(&file.path));
            let is_there = |mark: &FileMark| set.files.iter().any(|it| it.mark.path == mark.path);
            let lost = before.is_some_and(|set| !set.marks.iter().all(is_there));
            if is_all_ours && !lost && (was_empty || was_trusted) {
                store.trust(&report.repository, &report.folder, &set, TrustedBy::Command)?;
            }
        }
        Ok(())
    }
}

fn marks(set: HookFiles) -> BTreeSet<FileMark> {
    set.files.into_iter().map(|file| file.mark).collect()
}
