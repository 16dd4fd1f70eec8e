//! Ends what hooks have left running.

use rustix::process::Pid;

use crate::engine::exec::engine::Engine;
use crate::engine::exec::job::Job;
use crate::engine::lock::locked;
use crate::engine::run::Trace;

impl Engine {
    pub(super) fn sweep(&self, jobs: &[Job<'_>], traces: &mut [Trace], groups: &[Pid]) {
        let Some(subreaper) = &self.subreaper else {
            return;
        };
        // While other threads run hooks, a sweep ends only what surely belongs to none of them. The
        // last of them does a full sweep.
        let alone = self.shared.steps.try_write();
        let mark = if alone.is_ok() {
            None
        } else {
            self.mark.as_deref()
        };
        if alone.is_err() && mark.is_none() {
            return;
        }
        let keeper = locked(&self.shared.kept).as_ref().map(|keeper| keeper.pid);
        let swept = subreaper.sweep(&locked(&self.shared.spared), mark, keeper, groups);
        for left in swept.left {
            let named = |job: &Job<'_>| left.hook.as_deref() == Some(job.hook.name.as_str());
            let place = jobs.iter().position(named).unwrap_or(0);
            if let Some(trace) = traces.get_mut(place) {
                trace
                    .notes
                    .push(format!("it left {} running; killed", left.words));
            }
        }
        if let (false, Some(trace)) = (swept.is_clean, traces.first_mut()) {
            trace
                .notes
                .push("not all that left its process group could be ended".to_string());
        }
    }
}
