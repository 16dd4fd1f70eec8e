//! Whether the hooks of a project's folder may run.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::files::{FileList, HookFiles, SetError};
use super::named;
use super::policy::TrustPolicy;
use super::repository;
use super::store::TrustStore;
use crate::config::layer::{HIDDEN, Layer};
use crate::config::sets::hookset::HOOKSET;
use crate::config::sets::lock::LOCK;
use crate::engine::hook::Handler;

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

/// The parts of the hook set of a layer in `folder`: its files, those that `handlers` name, the lock
/// file of its shared sets, and what it says as a set itself; of a shared set that `folder`
/// declares, the files of the folder that it names. Each handler comes with the file that
/// configures it.
pub(crate) fn parts<'h>(
    layer: &Layer,
    folder: &Path,
    handlers: impl Iterator<Item = (&'h Path, &'h Handler)>,
) -> Vec<PathBuf> {
    let root = LazyCell::new(|| repository::find(folder).root);
    let mut parts = BTreeSet::new();
    if layer.declared_in.is_none() {
        let below = |path: &PathBuf| {
            path.strip_prefix(&layer.folder)
                .unwrap_or(path)
                .to_path_buf()
        };
        let loose = layer.loose.iter().map(|loose| &loose.path);
        parts.extend(
            layer
                .manifests
                .iter()
                .chain(&layer.drop_ins)
                .chain(loose)
                .map(below),
        );
        // What pins shared sets, what hooks of a set may touch, and all of the hidden folder.
        let beside = [LOCK, HOOKSET, HIDDEN].map(PathBuf::from);
        let is_there = |file: &PathBuf| folder.join(file).symlink_metadata().is_ok();
        parts.extend(beside.into_iter().filter(is_there));
    }
    for (file, handler) in handlers {
        let base = file.parent().unwrap_or(folder);
        let base = base
            .strip_prefix(&layer.folder)
            .map_or(base.to_path_buf(), |below| {
                if layer.declared_in.is_none() {
                    folder.join(below)
                } else {
                    base.to_path_buf()
                }
            });
        parts.extend(named::files_named(handler, &base, folder, &root));
    }
    parts.into_iter().collect()
}

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
    let (folder, repository) = (folder.to_path_buf(), repository::find(folder).identity);
    let (state, digest) = (TrustState::Unknown, String::new());
    let changed = Vec::new();
    let mut report = TrustReport {
        folder,
        repository,
        state,
        digest,
        parts,
        changed,
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
    let (folder, parts) = (report.folder.clone(), report.parts.clone());
    Ok((
        digest.clone(),
        files,
        TrustSeal {
            folder,
            parts,
            stamps,
            digest,
            is_recent,
        },
    ))
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
