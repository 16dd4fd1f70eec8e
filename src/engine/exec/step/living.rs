//! Runs a hook that lives as long as its session.

use std::sync::atomic::Ordering;

use super::RunningStep;
use crate::engine::exec::engine::Engine;
use crate::engine::exec::job::Job;
use crate::engine::exec::tree::{self, SparedHooks};
use crate::engine::lock::locked;
use crate::engine::run::Trace;

impl Engine {
    /// Runs a hook that lives as long as its session, until it ends or its lines say so. Does not
    /// end what has left its process group; [`Engine::end_strays`] does.
    ///
    /// Meanwhile sweeps of other decisions spare what carries the mark of this engine. They look at
    /// children of the main thread only, so call this from another one.
    pub(crate) fn live(&self, job: &Job<'_>) -> Trace {
        let jobs = std::slice::from_ref(job);
        let (traces, _) = RunningStep::new(self, jobs, None, &|_| false).run();
        let trace = traces.into_iter().next();
        trace.unwrap_or_else(|| Trace::not_run(self.aborted()))
    }

    /// Ends what hooks with this mark, or with one that begins with it and a dot, have left running.
    /// Call it while none of them runs.
    pub(crate) fn end_strays(&self, mark: &str) {
        let Some(subreaper) = &self.subreaper else {
            return tree::end_marked(mark);
        };
        let keeper = locked(&self.shared.kept).as_ref().map(|keeper| keeper.pid);
        subreaper.sweep(&SparedHooks::default(), Some(mark), keeper, &[]);
    }

    /// A mark that begins with `base`, for a holder of sessions.
    pub(crate) fn new_mark(&self, base: &str) -> String {
        format!(
            "{base}.s{}",
            self.shared.marks_made.fetch_add(1, Ordering::Relaxed)
        )
    }

    /// Lets sweeps spare hooks whose marks begin with this one and a dot, or no longer.
    pub(crate) fn spare_sessions(&self, mark: &str, is_spared: bool) {
        let marks = &mut locked(&self.shared.spared).marks;
        match is_spared {
            true => marks.push(mark.to_string()),
            false => marks.retain(|known| known != mark),
        }
    }
}
