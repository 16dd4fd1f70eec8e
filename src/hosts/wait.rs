//! How long hosts wait for a hook, and how long hookrun may take for its answer.
//!
//! A host that has waited long enough lets the tool run, so hookrun has to block before that.
//! The numbers are in the rows of the hosts: what was measured, else what their documents say.

use std::time::Duration;

use super::row::{Binding, Host, Wait};

/// What hookrun keeps of a host's time: its own start on a loaded machine (the host's time runs
/// before hookrun does), and what comes after the budget. Hooks get 200 ms to end by themselves,
/// their output is waited for 100 ms, what cannot be killed is given up after 1 s; and where
/// the system itself hangs, the watchdog looks twice.
pub const MARGIN: Duration = Duration::from_secs(5);

/// How long after the end of a budget a watchdog has the last word at the latest.
pub const LATEST: Duration = Duration::from_millis(750);

impl Wait {
    /// How long hookrun may take where the host waits for `limit`: all of it but for [`MARGIN`],
    /// at least a half.
    pub fn budget(limit: Duration) -> Duration {
        limit - MARGIN.min(limit / 2)
    }

    /// When a watchdog has to answer at the latest, after the start, where the budget is `budget`:
    /// when three quarters of what [`Wait::budget`] has kept are gone, and [`LATEST`] at most.
    pub fn last_word(budget: Duration) -> Duration {
        budget.saturating_add((budget * 3 / 4).min(LATEST))
    }
}

impl Binding {
    /// How long hookrun may take to decide this event, if the host is known to wait for so long
    /// only: what to give to `Runner::handle_within`, from the host's question on.
    pub fn budget(self) -> Option<Duration> {
        self.row.wait.map(|wait| Wait::budget(wait.usual))
    }
}

impl Host {
    /// The budget of the gate for which there is the least time: of an event that is not known
    /// yet.
    pub fn shortest_budget(&'static self) -> Option<Duration> {
        let gates = self.events.iter().filter(|row| row.blocks);
        gates
            .filter_map(|row| Binding { dialect: self, row }.budget())
            .min()
    }
}
