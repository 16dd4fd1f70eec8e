//! Keeps a set of hooks trusted when a command of hookrun writes into it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::check::TrustReport;
use super::files::{FileMark, HookFiles};
use super::store::{TrustStore, TrustedBy};

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
    /// [`TrustChoice`](super::TrustChoice).
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
