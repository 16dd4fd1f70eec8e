//! Allows a stop after hooks have blocked it several times in a row.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::engine::chain::Surroundings;
use crate::engine::event::Context;
use crate::engine::outcome::Settled;
use crate::engine::run::Run;
use crate::engine::session::{self, Store, StoreError, file_name};

/// Time to wait for the lock, which is held for two file operations.
const PATIENCE: Duration = Duration::from_secs(1);

type Counts = BTreeMap<String, u32>;

/// The table's name in messages.
const COUNTS: &str = "counts";

const FILE: &str = "blocks.json";

#[derive(Clone, Copy)]
struct Facts {
    /// `stopHookActive`: the agent continues only because a hook blocked its stop.
    is_kept_going: Option<bool>,
    /// `loopCount`: consecutive blocks.
    loops: u32,
}

enum StopDecision {
    /// The block counts, as this number in a row.
    Block { number: u32 },
    /// The block becomes an allow after this many.
    Allow { after: u32 },
}

/// Decides about a block after `kept` others in a row, by our count.
///
/// 1. If the host says that no hook keeps the agent going, the count restarts.
/// 2. If the host knows of more blocks than we do, its count wins.
/// 3. Below the cap, the block counts.
/// 4. At the cap, it becomes an allow.
fn decide(kept: u32, facts: Facts, cap: u32) -> StopDecision {
    let ours = if facts.is_kept_going == Some(false) {
        0
    } else {
        kept
    };
    let before = ours
        .max(u32::from(facts.is_kept_going == Some(true)))
        .max(facts.loops);
    if before < cap {
        return StopDecision::Block { number: before + 1 };
    }
    StopDecision::Allow { after: before }
}

impl Facts {
    fn of(context: &Context) -> Facts {
        let flag = context.value("stopHookActive").ok().flatten();
        let count = context.value("loopCount").ok().flatten();
        let loops = count.and_then(|count| count.as_u64()).unwrap_or(0);
        Facts {
            is_kept_going: flag.and_then(|flag| flag.as_bool()),
            loops: u32::try_from(loops).unwrap_or(u32::MAX),
        }
    }
}

/// Counts blocks of an event with a limit on consecutive blocks, and allows the event at the limit.
/// An allow resets the count, a question keeps it. Touches no file for other events, or for an
/// allow without a count.
pub(super) fn keep_from_looping(run: &mut Run, surroundings: &Surroundings) {
    let Some(cap) = run.event.spec().conduct.most_blocks else {
        return;
    };
    let context = run.event.context();
    let session = context.string("sessionId").filter(|id| !id.is_empty());
    let root = &surroundings.state;
    let folder = session.map(|id| session::own_folder(&session::folder(root, Some(&id))));
    match &run.outcome.settled {
        Settled::Asked { .. } => {}
        Settled::Allowed => {
            if let Some(Err(error)) = folder.map(|folder| reset(&folder, &counted(run))) {
                tracing::warn!(%error, "cannot reset the count of blocks");
            }
        }
        Settled::Blocked(block) => {
            let reason = block.reason.clone();
            let facts = Facts::of(context);
            // Without a stored count, only the host's report decides.
            let turn = match folder.map(|folder| count(root, &folder, &counted(run), facts, cap)) {
                Some(Ok(turn)) => turn,
                Some(Err(error)) => {
                    tracing::warn!(%error, "a block was not counted");
                    let notice = format!("this block was not counted: {error}");
                    run.outcome = std::mem::take(&mut run.outcome).with_notice(notice);
                    decide(0, facts, cap)
                }
                None => decide(0, facts, cap),
            };
            if let StopDecision::Allow { after } = turn {
                let why = format!(
                    "blocked {after} times in a row; the agent may stop now, so that the session does \
                     not loop; the last reason: {reason}"
                );
                run.outcome.settled = Settled::Allowed;
                run.outcome = std::mem::take(&mut run.outcome).with_notice(why);
            }
        }
    }
}

/// Returns the key of an event and its agent. The main agent has no name.
fn counted(run: &Run) -> String {
    let event = &run.event.spec().name;
    match run
        .event
        .context()
        .string("agentId")
        .filter(|agent| !agent.is_empty())
    {
        Some(agent) => format!("{event} {}", file_name(&agent)),
        None => event.to_string(),
    }
}

/// Resets the count. Touches no file without one.
fn reset(folder: &Path, counted: &str) -> Result<(), StoreError> {
    let store = Store::new(folder, FILE);
    if !store.read_table::<u32>(COUNTS)?.contains_key(counted) {
        return Ok(());
    }
    store.change_table(COUNTS, PATIENCE, |counts: &mut Counts| {
        counts.remove(counted);
    })
}

fn count(
    root: &Path,
    folder: &Path,
    counted: &str,
    facts: Facts,
    cap: u32,
) -> Result<StopDecision, StoreError> {
    session::make_private(root, folder).map_err(|error| StoreError {
        file: folder.to_path_buf(),
        problem: error.to_string(),
    })?;
    let store = Store::new(folder, FILE);
    let mut turn = StopDecision::Block { number: 1 };
    store.change_table(COUNTS, PATIENCE, |counts: &mut Counts| {
        turn = decide(counts.get(counted).copied().unwrap_or(0), facts, cap);
        match turn {
            StopDecision::Block { number } => counts.insert(counted.to_string(), number),
            StopDecision::Allow { .. } => counts.remove(counted),
        };
    })?;
    Ok(turn)
}
