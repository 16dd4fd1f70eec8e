//! Lets a stop through after hooks have blocked it several times in a row.

use crate::engine::chain::Surroundings;
use crate::engine::event::Context;
use crate::engine::outcome::Settled;
use crate::engine::run::Run;
use crate::engine::session::refusals::{CountedEvent, Refusals};
use crate::engine::session::{self, StoreError};

/// What the host reports about earlier blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Facts {
    /// `stopHookActive`: whether the agent works only because a hook blocked its stop.
    is_kept_going: Option<bool>,
    /// `loopCount`: how many times in a row that happened.
    loops: u32,
}

/// What to do with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopDecision {
    /// It counts, as this number in the row.
    Stands { number: u32 },
    /// It becomes an allow, because this many came before it.
    LetGo { after: u32 },
}

/// What to do with a block after `kept` others in a row, by our own count.
///
/// 1. If the host says that no hook keeps the agent going, the count restarts.
/// 2. If the host knows of more blocks than we do, its count wins.
/// 3. Under the cap the block counts.
/// 4. At the cap it becomes an allow.
fn decide(kept: u32, facts: Facts, cap: u32) -> StopDecision {
    let ours = if facts.is_kept_going == Some(false) { 0 } else { kept };
    let at_least = u32::from(facts.is_kept_going == Some(true));
    let before = ours.max(at_least).max(facts.loops);
    if before < cap {
        return StopDecision::Stands { number: before + 1 };
    }
    StopDecision::LetGo { after: before }
}

impl Facts {
    fn of(context: &Context) -> Facts {
        let fact = |key: &str| context.value(key).ok().flatten();
        let loops = fact("loopCount").and_then(|count| count.as_u64()).unwrap_or(0);
        Facts {
            is_kept_going: fact("stopHookActive").and_then(|flag| flag.as_bool()),
            loops: u32::try_from(loops).unwrap_or(u32::MAX),
        }
    }
}

/// Counts a block of an event with a limit on blocks in a row, and lets the event pass at the
/// limit. An allow ends the row; a question does not change it. No file is touched for other
/// events, nor for an allowed event that was not blocked before.
pub(super) fn keep_from_looping(run: &mut Run, surroundings: &Surroundings) {
    let Some(cap) = run.event.spec().conduct.most_refusals else { return };
    let context = run.event.context();
    let session = context.string("sessionId").filter(|id| !id.is_empty());
    let counts = session.map(|id| {
        let agent = context.string("agentId");
        let counted = CountedEvent::of(&run.event.spec().name, agent.as_deref());
        (session::folder(&surroundings.state, Some(&id)), counted)
    });
    match &run.outcome.settled {
        Settled::Asked { .. } => {}
        Settled::Allowed => {
            let Some((session, counted)) = counts else { return };
            if let Err(error) = Refusals::in_folder(&session::own_folder(&session)).reset(&counted)
            {
                tracing::warn!(%error, "the count of blocks stays");
            }
        }
        Settled::Refused(_) => {
            let facts = Facts::of(context);
            let counted = counts.map(|(session, counted)| {
                let folder = session::own_folder(&session);
                count(&folder, &surroundings.state, &counted, facts, cap)
            });
            settle(run, counted, facts, cap);
        }
    }
}

/// Counts a block, and returns what to do with it.
fn count(
    folder: &std::path::Path,
    root: &std::path::Path,
    counted: &CountedEvent,
    facts: Facts,
    cap: u32,
) -> Result<StopDecision, StoreError> {
    session::make_private(root, folder)
        .map_err(|error| StoreError { file: folder.to_path_buf(), problem: error.to_string() })?;
    let mut turn = StopDecision::Stands { number: 1 };
    Refusals::in_folder(folder).change(counted, |kept| {
        turn = decide(kept, facts, cap);
        match turn {
            StopDecision::Stands { number } => number,
            StopDecision::LetGo { .. } => 0,
        }
    })?;
    Ok(turn)
}

/// Without a session, or where nothing can be counted, only the host's report decides.
fn settle(
    run: &mut Run,
    counted: Option<Result<StopDecision, StoreError>>,
    facts: Facts,
    cap: u32,
) {
    let mut outcome = std::mem::take(&mut run.outcome);
    let turn = match counted {
        Some(Ok(turn)) => turn,
        Some(Err(error)) => {
            tracing::warn!(%error, "a block was not counted");
            outcome = outcome.with_notice(format!("this block was not counted: {error}"));
            decide(0, facts, cap)
        }
        None => decide(0, facts, cap),
    };
    run.outcome = match (turn, outcome.refusal()) {
        (StopDecision::LetGo { after }, Some(refusal)) => {
            let why = format!(
                "blocked {after} times in a row: it stops now, so that the session does not loop; \
                 the last reason: {}",
                refusal.reason
            );
            outcome.let_go(why)
        }
        (StopDecision::Stands { .. } | StopDecision::LetGo { .. }, _) => outcome,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Facts = Facts { is_kept_going: None, loops: 0 };
    const FIRST: Facts = Facts { is_kept_going: Some(false), loops: 0 };
    const AGAIN: Facts = Facts { is_kept_going: Some(true), loops: 0 };

    #[test]
    fn refusals_stand_until_the_cap_is_reached() {
        assert_eq!(decide(0, NOTHING, 8), StopDecision::Stands { number: 1 });
        assert_eq!(decide(7, NOTHING, 8), StopDecision::Stands { number: 8 });
        assert_eq!(decide(8, NOTHING, 8), StopDecision::LetGo { after: 8 });
        assert_eq!(decide(7, AGAIN, 8), StopDecision::Stands { number: 8 });
        assert_eq!(decide(9, AGAIN, 8), StopDecision::LetGo { after: 9 });
        assert_eq!(decide(u32::MAX, AGAIN, 8), StopDecision::LetGo { after: u32::MAX });
    }

    #[test]
    fn a_host_that_says_so_begins_a_new_row() {
        assert_eq!(decide(8, FIRST, 8), StopDecision::Stands { number: 1 });
        assert_eq!(decide(0, AGAIN, 8), StopDecision::Stands { number: 2 });
        assert_eq!(decide(0, AGAIN, 1), StopDecision::LetGo { after: 1 });
    }

    #[test]
    fn a_host_that_has_counted_more_is_right() {
        let loops = |loops| Facts { loops, ..NOTHING };
        assert_eq!(decide(1, loops(4), 5), StopDecision::Stands { number: 5 });
        assert_eq!(decide(1, loops(5), 5), StopDecision::LetGo { after: 5 });
        assert_eq!(decide(5, loops(0), 5), StopDecision::LetGo { after: 5 });
        assert_eq!(decide(0, Facts { loops: 6, ..FIRST }, 5), StopDecision::LetGo { after: 6 });
    }
}
