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
use crate::config::value::KeyValue;
use crate::engine::complaint::Complaint;
use crate::engine::runner::SealedFiles;

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
    /// The files cannot be read.
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
    /// `sha256:…`; empty where the files cannot be read.
    pub digest: String,
    /// What is part of the set, below the folder.
    pub parts: Vec<PathBuf>,
    /// The files that are not as they were when they were last trusted.
    pub changed: Vec<String>,
    /// Why the branch that is followed does not vouch for them.
    pub not_of_branch: Option<String>,
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
        self.stamps_now().is_none()
    }

    /// The stamps now; `None` if the content has changed.
    fn stamps_now(&self) -> Option<Vec<u8>> {
        let now = FileList::of(&self.folder, &self.parts).ok()?;
        let stamps = now.stamps();
        let has_same_content = (stamps == self.stamps && now.believes_stamps())
            || now.read().is_ok_and(|files| files.digest() == self.digest);
        has_same_content.then_some(stamps)
    }

    /// Why nothing is allowed when they have.
    fn complaint(&self) -> String {
        format!(
            "the hooks in {} changed while they ran, so untrusted code may have run",
            self.folder.display()
        )
    }
}

impl SealedFiles for Vec<TrustSeal> {
    fn loaded(&self) -> Vec<u8> {
        self.iter().flat_map(|seal| seal.stamps.clone()).collect()
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
            let now = FileList::of(&seal.folder, &seal.parts).ok();
            match now.and_then(|now| left.strip_prefix(&now.stamps()[..])) {
                Some(rest) => left = rest,
                None => return Some(seal.complaint()),
            }
        }
        None
    }
}

/// File systems write times in steps of up to 10 ms; a change in the step in which the files were
/// read cannot be seen.
const STEP: Duration = Duration::from_millis(20);

/// Looks whether the hooks in `folder`, a canonical path, are trusted, and seals those that are. The
/// configuration was read since `read_since`. With `is_signed` all of its hooks come with sets that
/// trusted signers have signed.
pub(crate) fn judge(
    folder: &Path,
    parts: Vec<PathBuf>,
    is_signed: bool,
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
        not_of_branch: None,
    };
    if policy.paths.iter().any(|path| folder.starts_with(path)) {
        report.state = TrustState::Trusted;
        return (report, None);
    }
    let seal = match look(&mut report, read_since, store) {
        Ok(Some(seal)) => seal,
        // An empty folder in which there never was a hook.
        Ok(None) => {
            report.state = TrustState::Trusted;
            return (report, None);
        }
        Err(error) => {
            report.state = TrustState::Unreadable(Arc::new(error));
            return (report, None);
        }
    };
    let is_pinned = match choice {
        TrustChoice::Required { digests } => digests.contains(&report.digest),
        TrustChoice::Told => false,
    };
    let is_known = store.is_some_and(|store| store.is_trusted(&report.repository, &report.digest));
    if is_pinned || is_known || is_signed {
        report.state = TrustState::Trusted;
        return (report, Some(seal));
    }
    if let Some(store) = store
        && (store.has_records(&report.repository) || store.had_hooks(&report.folder))
    {
        report.state = TrustState::Changed;
        report.changed = report.changes(store).unwrap_or_default();
    }
    (report, None)
}

/// The digest of the files in a list. If it has many, they are read only if their stamps have changed
/// since it was last found.
pub(crate) fn digest_of(
    list: &FileList,
    stamps: &[u8],
    store: Option<&TrustStore>,
) -> Result<String, SetError> {
    let store = store.filter(|_| list.believes_stamps());
    if let Some(known) = store.and_then(|store| store.known_digest(&list.key(), stamps)) {
        return Ok(known);
    }
    let now = SystemTime::now();
    let digest = list.read()?.digest();
    if let Some(store) = store.filter(|_| !list.changed_since(now - STEP)) {
        store.keep_digest(&list.key(), stamps, &digest);
    }
    Ok(digest)
}

/// Finds the digest of a set, and seals its files. `None` where there are none and never were.
fn look(
    report: &mut TrustReport,
    read_since: SystemTime,
    store: Option<&TrustStore>,
) -> Result<Option<TrustSeal>, SetError> {
    let list = FileList::of(&report.folder, &report.parts)?;
    let had_hooks = store.is_some_and(|store| store.had_hooks(&report.folder));
    if !list.has_files() && !had_hooks {
        return Ok(None);
    }
    let stamps = list.stamps();
    let digest = digest_of(&list, &stamps, store)?;
    report.digest.clone_from(&digest);
    Ok(Some(TrustSeal {
        folder: report.folder.clone(),
        parts: report.parts.clone(),
        stamps,
        digest,
        is_recent: list.changed_since(read_since - STEP),
    }))
}

/// How the reason of a block begins that only a person can lift.
const CHANGED: &str = "hooks changed: run `hookrun trust`";
const UNKNOWN: &str = "hooks not trusted: run `hookrun trust`";

/// The most files that a reason names.
const NAMED_FILES: usize = 8;

/// Whether a complaint is that hooks are not trusted.
pub(crate) fn is_about_trust(complaint: &str) -> bool {
    complaint.starts_with(CHANGED) || complaint.starts_with(UNKNOWN)
}

impl TrustReport {
    /// Reads the files.
    ///
    /// # Errors
    /// When one cannot be read, or there are too many.
    pub fn read(&self) -> Result<HookFiles, SetError> {
        FileList::of(&self.folder, &self.parts)?.read()
    }

    /// The files that differ from what was trusted last.
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

    /// Whether something else of the repository was trusted before.
    pub(crate) fn has_changed(&self) -> bool {
        matches!(self.state, TrustState::Changed)
    }

    /// What to do, and why the hooks do not run; `None` if they do.
    pub(crate) fn why_untrusted(&self) -> Option<String> {
        let folder = self.folder.display();
        let mut why = match &self.state {
            TrustState::Trusted => return None,
            TrustState::Unknown => format!("{UNKNOWN} at a terminal (hooks of {folder})"),
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
                format!("{UNKNOWN} when this is fixed: {error} (hooks of {folder})")
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
    KeyRow::key("paths", KeyValue::Texts, "none", "folders whose projects are trusted; anyone who can write there decides what runs as you", set_paths),
    KeyRow::key("signers", KeyValue::Text, "none", "a file of SSH keys, as `gpg.ssh.allowedSignersFile`: shared sets signed by one of them run without a question", set_signers),
];

/// What a file says about trust.
#[derive(Debug, Default)]
pub struct TrustTable {
    /// Where it says so.
    pub(crate) at: Option<Position>,
    paths: Vec<PlacedValue<String>>,
    signers: Option<String>,
}

/// What the system's and the user's files together say about trust. A project's may not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrustPolicy {
    /// Folders whose hooks are trusted as they are.
    pub(crate) paths: Vec<PathBuf>,
    /// Files of keys whose owners sign sets that run without a question.
    pub(crate) signers: Vec<PathBuf>,
}

fn set_paths(table: &mut TrustTable, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for path in key.texts()? {
        match check_absolute(&path.value) {
            Ok(()) => table.paths.push(path),
            Err(complaint) => {
                let problem = complaint.in_file(key.reader.file, Some(path.at));
                key.reader.problems.push(problem);
            }
        }
    }
    Ok(())
}

fn set_signers(table: &mut TrustTable, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let path = key.text()?;
    check_absolute(path)?;
    table.signers = Some(path.to_string());
    Ok(())
}

fn check_absolute(path: &str) -> Result<(), Complaint> {
    if path.starts_with('/') || path.starts_with("~/") || path == "~" {
        return Ok(());
    }
    let cause = format!("`{path}` is not an absolute path");
    Err(Complaint::with_cure(cause, "begin it with `/` or `~/`"))
}

impl TrustPolicy {
    /// Adds what the file of a further layer says.
    pub(crate) fn add(&mut self, table: &TrustTable, home: Option<&Path>) {
        for PlacedValue { value, .. } in &table.paths {
            if let Some(whole) = below_home(value, home) {
                self.paths.push(whole.canonicalize().unwrap_or(whole));
            }
        }
        let signers = table.signers.as_ref();
        self.signers
            .extend(signers.and_then(|file| below_home(file, home)));
    }

    /// Whether one of the signers has signed the set whose files have this digest, as far as that
    /// was verified on this machine with the keys that the files have now.
    pub(crate) fn vouches(&self, tree: &str, store: Option<&TrustStore>) -> bool {
        let mut files = self.signers.iter();
        store.is_some_and(|store| files.any(|signers| store.is_signed(tree, signers)))
    }
}

/// A path in which `~` is the home folder; `None` without one.
fn below_home(path: &str, home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix('~') {
        Some(rest) => Some(home?.join(rest.trim_start_matches('/'))),
        None => Some(PathBuf::from(path)),
    }
}

/// Which hooks were trusted before a command wrote some.
///
/// What is trusted after it is what was trusted before it, and the files that it wrote: anything
/// else that has changed meanwhile is shown to a person. Hooks where there were none are trusted if
/// all of them were written by the command.
#[derive(Debug)]
pub struct KeptTrust {
    /// The files of each folder; `None` for one that was not trusted.
    before: Vec<(PathBuf, Option<BTreeSet<FileMark>>)>,
}

impl KeptTrust {
    /// Notes what is trusted. `reports` are those of a configuration that was loaded with
    /// [`TrustChoice`].
    #[must_use]
    pub fn before(reports: &[TrustReport]) -> KeptTrust {
        let mut before = Vec::new();
        for report in reports {
            let files = if report.is_trusted() {
                report.read().ok()
            } else {
                None
            };
            let marks = files.map(|set| set.files.into_iter().map(|file| file.mark).collect());
            before.push((report.folder.clone(), marks));
        }
        KeptTrust { before }
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
