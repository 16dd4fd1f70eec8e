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

const FILE: &str = "blocks.json";

/// Returns how many blocks in a row came before this one, of which `kept` is our count.
///
/// 1. If the host says that no hook keeps the agent going, our count restarts.
/// 2. If the host knows of more blocks than we do, its count wins.
fn blocks_before(kept: u32, context: &Context) -> u32 {
    let loops = context.text("loopCount");
    let loops = loops.and_then(|count| count.parse().ok()).unwrap_or(0);
    match context.raw("stopHookActive") {
        Some("false") => loops,
        Some("true") => kept.max(1).max(loops),
        _ => kept.max(loops),
    }
}

/// Counts blocks of an event with a limit on consecutive blocks, and allows the event at the limit.
/// An allow resets the count, a question keeps it. Touches no file for other events, or for an
/// allow without a count.
pub(super) fn keep_from_looping(run: &mut Run, surroundings: &Surroundings) {
    let Some(most) = run.event.spec().conduct.most_blocks else {
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
            // Without a stored count, only the host's report decides.
            let mut before = blocks_before(0, context);
            match folder.map(|folder| count(root, &folder, run, most)) {
                Some(Ok(counted)) => before = counted,
                Some(Err(error)) => {
                    tracing::warn!(%error, "a block was not counted");
                    let notice = format!(
                        "this block does not count towards the limit of {most} in a row: {error}"
                    );
                    run.outcome.add_notice(notice);
                }
                None => {}
            }
            if before >= most {
                run.outcome.settled = Settled::Allowed;
                run.outcome.add_notice(format!(
                    "blocked {before} times in a row; the agent may stop now, so that the session does \
                     not loop; the last reason: {reason}"
                ));
            }
        }
    }
}

/// Returns the key of an event and its agent. The main agent has no name.
fn counted(run: &Run) -> String {
    let event = &run.event.spec().name;
    let agent = run.event.context().string("agentId");
    match agent.filter(|agent| !agent.is_empty()) {
        Some(agent) => format!("{event} {}", file_name(&agent)),
        None => event.to_string(),
    }
}

/// Resets the count. Touches no file without one.
fn reset(folder: &Path, counted: &str) -> Result<(), StoreError> {
    let store = Store::new(folder, FILE);
    if !store.read_table::<u32>()?.contains_key(counted) {
        return Ok(());
    }
    store.change_table(PATIENCE, |counts: &mut Counts| {
        counts.remove(counted);
    })
}

/// Counts a block, unless it is one too many. Returns the number of blocks before it.
fn count(root: &Path, folder: &Path, run: &Run, most: u32) -> Result<u32, StoreError> {
    session::make_private(root, folder).map_err(|error| StoreError {
        file: folder.to_path_buf(),
        problem: error.to_string(),
    })?;
    let key = counted(run);
    let mut before = 0;
    Store::new(folder, FILE).change_table(PATIENCE, |counts: &mut Counts| {
        let kept = counts.remove(&key).unwrap_or(0);
        before = blocks_before(kept, run.event.context());
        if before < most {
            counts.insert(key, before + 1);
        }
    })?;
    Ok(before)
}
