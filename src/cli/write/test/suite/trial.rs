//! The nouns of a suite that is run: its files, its cases, and the hooks that they test.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{Choice, Config, Position};
use crate::engine::hook::Hook;
use crate::engine::registry::Registry;
use crate::lab::report::problems::CheckedFile;
use crate::lab::scenario::{Case, Content, Never, StepInput, SuppliedFile};
use rustix::fs::OFlags;

/// A file of cases that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CaseFile {
    pub(super) path: PathBuf,
    /// Its folder may hold other things than cases: without any it is skipped.
    pub(super) is_guess: bool,
    /// Why it is reported and not played, though it has cases in it.
    pub(super) misplaced: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct Bench {
    pub(super) choice: Choice,
    pub(super) host: String,
    pub(super) config: Config,
}

#[derive(Debug, Clone)]
pub(super) struct CaseTrial {
    pub(super) file: PathBuf,
    /// The folder that its file is in, without links.
    pub(super) folder: PathBuf,
    pub(super) case: Case,
    pub(super) asks: Vec<Asks>,
}

#[derive(Debug, Clone)]
pub(super) struct Asks {
    pub(super) bench: Arc<Bench>,
    /// All hooks of its event, or those that the step names.
    pub(super) registry: Registry,
    /// The canonical names that the step's event may have.
    pub(super) events: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct LoadedSuite {
    pub(super) trials: Vec<CaseTrial>,
    pub(super) benches: Vec<Arc<Bench>>,
    /// What files say that hooks never do.
    pub(super) never: Vec<(PathBuf, Never)>,
    pub(super) checks: Vec<CheckedFile>,
    /// Files that are not played, each with the reason.
    pub(super) passed_over: Vec<(PathBuf, &'static str)>,
}

impl CaseTrial {
    pub(super) fn hooks(&self) -> Vec<Arc<Hook>> {
        self.asks
            .iter()
            .flat_map(|asks| asks.registry.hooks())
            .collect()
    }

    /// The hooks that its steps are about, by their names.
    pub(super) fn named_hooks(&self) -> Vec<Arc<Hook>> {
        let steps = self.case.steps.iter().zip(&self.asks);
        let naming = steps.filter(|(step, _)| !step.hooks.is_empty());
        naming.flat_map(|(_, asks)| asks.registry.hooks()).collect()
    }
}

/// The files that a case copies or sends, each with the place that names it.
pub(super) fn sources(case: &Case) -> Vec<(&PathBuf, Position)> {
    let laid = case
        .files
        .iter()
        .chain(case.steps.iter().flat_map(|step| &step.files));
    let copied = laid.filter_map(|SuppliedFile { content, path, .. }| match content {
        Content::Copy(source) => Some((source, path.at)),
        Content::Text(_) => None,
    });
    let sent = case.steps.iter().filter_map(|step| match &step.input {
        StepInput::File(path) => Some((&path.value, path.at)),
        StepInput::Nothing | StepInput::Context(_) | StepInput::Json(_) | StepInput::Text(_) => {
            None
        }
    });
    copied.chain(sent).collect()
}

/// Reads a file. It does not wait for a writer of a pipe, and does not read a device.
pub(super) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let no_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let mut file = File::options()
        .read(true)
        .custom_flags(no_waiting)
        .open(file)?;
    if !file.metadata()?.is_file() {
        return Err(not_a_file());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn not_a_file() -> io::Error {
    io::Error::other("it is not a file")
}
