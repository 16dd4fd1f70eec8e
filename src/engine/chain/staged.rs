//! Runs a hook in the folder with the staged content, and judges its changes there.

use std::path::PathBuf;

use super::files::HandedFiles;
use super::surroundings::Surroundings;
use crate::engine::complaint::Complaint;
use crate::engine::event::Event;
use crate::engine::exec::{Engine, Job};
use crate::engine::hook::{ChangeVerdict, Departure, Hook, StagedFolder};
use crate::engine::outcome::{ContractRule, Decision, Verdict};
use crate::engine::run::{Ending, Trace};

#[derive(Debug, Clone, Default)]
pub(super) struct StagedPlace {
    usual: PathBuf,
    files: Vec<PathBuf>,
    folder: Option<Result<StagedFolder, Complaint>>,
}

impl StagedPlace {
    pub(super) fn find(
        engine: &Engine,
        hook: &Hook,
        event: &Event,
        surroundings: &Surroundings,
    ) -> StagedPlace {
        let staged = engine.staged.as_ref();
        let staged = staged.filter(|_| hook.handler.is_program());
        if staged.is_none() && !hook.takes_files() {
            return StagedPlace::default();
        }
        let place = surroundings.place(event);
        let files = hook.files_of(event, &place);
        let usual = hook.folder.clone().unwrap_or(place.cwd);
        let folder = staged.and_then(|staged| staged.enter(hook, &files, &usual).transpose());
        StagedPlace {
            usual,
            files,
            folder,
        }
    }

    pub(super) fn handed(&self, hook: &Hook) -> Option<HandedFiles> {
        if !hook.takes_files() {
            return None;
        }
        let Some(Ok(folder)) = &self.folder else {
            return Some(HandedFiles::new(self.usual.clone(), self.files.clone()));
        };
        let files = self.files.iter().map(|file| folder.find(file)).collect();
        Some(HandedFiles::new(folder.cwd.clone(), files))
    }

    pub(super) fn adapt<'j>(&'j self, mut job: Job<'j>) -> Job<'j> {
        match &self.folder {
            None => {}
            Some(Ok(folder)) => {
                job.cwd = Some(folder.cwd.clone());
                for (name, value) in &folder.variables {
                    job.variables.retain(|(known, _)| known != name);
                    job.variables.push((name, value.clone()));
                }
                if let Some(rules) = &mut job.sandbox {
                    let read = rules.read.iter_mut();
                    read.for_each(|paths| paths.push(folder.top.clone()));
                    if job.hook.fixes.is_some() {
                        rules.write.push(folder.top.clone());
                    }
                }
            }
            Some(Err(error)) => job.runs = Err(error.clone()),
        }
        job
    }

    /// Ends the hook's use of the staged content. `blocked` is the departure of a hook that blocks.
    /// Returns true if the hook must run again.
    pub(super) fn leave(
        &self,
        engine: &Engine,
        hook: &Hook,
        trace: &mut Trace,
        blocked: Departure,
    ) -> bool {
        let (Some(staged), Some(Ok(_))) = (&engine.staged, &self.folder) else {
            return false;
        };
        let decision = trace.ending.verdict().map(|verdict| &verdict.decision);
        let departure = match decision {
            Some(Decision::Allow | Decision::Ask { .. }) => Departure::Content,
            Some(Decision::Block { .. }) => blocked,
            None => Departure::Failed,
        };
        match staged.leave(hook, &self.files, departure) {
            Ok(verdict) if verdict.runs_again => return true,
            Ok(ChangeVerdict { forbidden, .. }) => {
                let Some(why) = forbidden else {
                    return false;
                };
                let reason = match decision {
                    Some(Decision::Block { reason }) => format!("{}\n{why}", reason.trim_end()),
                    Some(Decision::Allow | Decision::Ask { .. }) | None => why,
                };
                let decision = Decision::Block { reason };
                trace.ending = Ending::Answered(Verdict::new(decision, ContractRule::NonZeroExit));
            }
            Err(error) => {
                let problem = error.to_string();
                trace.ending = Ending::Errored { problem };
            }
        }
        false
    }
}
