//! Decides a call once that arrives in the forms of two hosts.
//!
//! Each form starts a separate hookrun, usually at the same time. The first one claims the call,
//! decides, and stores its outcome. The other waits for it and gives the same reply in its own
//! host's words. It takes an outcome over only where that cannot allow what it would block.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::fingerprint::{describe, digest};
use crate::engine::chain::{self, Surroundings};
use crate::engine::event::Event;
use crate::engine::event::action::{TOOLS, ToolClass};
use crate::engine::exec::{Budget, Engine};
use crate::engine::outcome::{Outcome, Settled};
use crate::engine::plan::{Plan, Selection};
use crate::engine::run::{Fate, Run};
use crate::engine::session::{self, FileLock, StoreError, file_name};

/// How long to wait for another run if there is no budget.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an allow counts for the other form of a call. The forms arrive together, so a later one
/// is a reaction to the first, and the world may have changed meanwhile.
const ALLOW_COUNTS_FOR: Duration = Duration::from_secs(10);

/// How many decisions of a session are stored. Calls of one turn that run at once usually have
/// different slots. A call whose slot is taken by another call is decided without it.
const SLOTS: u64 = 64;

/// The longest decision that is stored.
const MOST_BYTES: usize = 256 * 1024;

/// The longest tool input to compare. With a longer one each run decides by itself.
const LONGEST_INPUT_BYTES: usize = 64 * 1024;

/// One call in the form of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormOfCall {
    pub session: String,
    /// The same for every form of this call, and for no other call of the session.
    pub id: String,
    /// The form: the dialect, and its name for the event.
    pub form: String,
}

/// What to do with a call.
#[derive(Debug)]
pub enum CallClaim {
    /// Decide it, then store the outcome through the claim, if there is one.
    Now(Option<ExclusiveClaim>),
    /// Another form of it was already decided.
    Earlier(Box<Run>),
}

/// A call that this run decides. Another run for the same call waits until this is dropped.
#[derive(Debug)]
pub struct ExclusiveClaim {
    locked: FileLock,
    kept: Box<SharedOutcome>,
    /// Knows whether the decision was aborted.
    engine: Box<Engine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SharedOutcome {
    call: String,
    form: String,
    hooks: String,
    told: CallFacts,
    outcome: Outcome,
    /// When it was decided, by a clock that keeps running while the machine sleeps.
    at: SystemTime,
}

/// The facts of a call that hooks see and that forms may report differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CallFacts {
    action: Option<String>,
    tool: Option<String>,
    input: Option<String>,
    cwd: String,
    /// Whether a hook that runs was written for some host, and gets that host's words.
    has_foreign_hooks: bool,
    /// Whether its decision can block.
    is_gate: bool,
}

/// Whether an outcome may be taken over: the same hooks have decided the same call.
///
/// 1. The same form arrives again: no, this is a new question.
/// 2. Other hooks or another action: no, the decision could differ.
/// 3. A block stays a block, and an event that cannot be blocked is done: yes.
/// 4. An allow counts for [`ALLOW_COUNTS_FOR`], and only if hooks see the same input, working
///    directory and tool name. The name may differ for the same kind of tool, unless a hook is
///    written for a host.
fn may_take_over(kept: &SharedOutcome, own: &SharedOutcome, now: SystemTime) -> bool {
    if kept.call != own.call || kept.form == own.form {
        return false;
    }
    if kept.hooks != own.hooks || kept.told.action != own.told.action {
        return false;
    }
    let is_same = kept.told.input == own.told.input && kept.told.cwd == own.told.cwd;
    if !is_same
        && kept
            .outcome
            .rewrites
            .iter()
            .any(|rewrite| rewrite.rejected.is_none())
    {
        return false;
    }
    if matches!(kept.outcome.settled, Settled::Refused(_)) || !own.told.is_gate {
        return true;
    }
    let age = now.duration_since(kept.at);
    let is_fresh = age.is_ok_and(|age| age < ALLOW_COUNTS_FOR);
    let is_same_tool = kept.told.tool == own.told.tool
        || (!own.told.has_foreign_hooks && are_one_sort(&kept.told, &own.told));
    is_fresh && is_same && is_same_tool
}

/// Whether two names are known to mean the same kind of tool.
fn are_one_sort(one: &CallFacts, two: &CallFacts) -> bool {
    let is_of = |sort: &ToolClass, told: &CallFacts| {
        let name = told.tool.as_deref().unwrap_or_default();
        std::iter::once(&sort.word)
            .chain(sort.names)
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    TOOLS
        .iter()
        .any(|sort| is_of(sort, one) && is_of(sort, two))
}

/// Claims a call that may also arrive in another form, or waits within the budget for the outcome
/// of that form and takes it over. If no hook wants the event, or a hook is a function of this
/// program, it claims nothing and touches no file. In any doubt, and where nothing can be stored,
/// this run decides the call.
pub(super) fn claim(
    event: &Event,
    call: &FormOfCall,
    plan: &Plan,
    engine: &Engine,
    surroundings: &Surroundings,
    budget: Option<Budget>,
) -> CallClaim {
    let started = Instant::now();
    let Some(own) = shared_outcome(event, call, plan, surroundings) else {
        return CallClaim::Now(None);
    };
    let until = budget.map_or_else(|| started + PATIENCE, |budget| budget.until);
    let waits = || {
        let left = until.saturating_duration_since(Instant::now());
        engine.expect_within(left);
        !left.is_zero() && !engine.is_aborted()
    };
    let locked = match lock_slot(&surroundings.state, call, waits) {
        Ok(Some(locked)) => locked,
        Ok(None) => return CallClaim::Now(None),
        Err(error) => {
            tracing::warn!(%error, "a call is decided without a look at other runs");
            return CallClaim::Now(None);
        }
    };
    let claimed = ExclusiveClaim {
        locked,
        kept: Box::new(own),
        engine: Box::new(engine.clone()),
    };
    let kept = claimed.locked.read().ok();
    let kept = kept.and_then(|bytes| serde_json::from_slice::<SharedOutcome>(&bytes).ok());
    match kept.filter(|kept| may_take_over(kept, &claimed.kept, SystemTime::now())) {
        Some(kept) => {
            // It was meant for one other form; a form that arrives now is a new question.
            claimed.keep(b"");
            CallClaim::Earlier(Box::new(taken_over(event, plan, kept, started)))
        }
        None => CallClaim::Now(Some(claimed)),
    }
}

/// Locks the slot of a call in the folder of its session. While another process holds it, `waits`
/// says whether to keep waiting. `None` if not, or if the slot belongs to another call.
fn lock_slot(
    root: &Path,
    call: &FormOfCall,
    mut waits: impl FnMut() -> bool,
) -> Result<Option<FileLock>, StoreError> {
    let folder = session::own_folder(&session::folder(root, Some(&call.session)));
    let name = file_name(&call.id);
    let sum = session::checksum(call.id.as_bytes());
    let slot = (sum ^ (sum >> 32)) % SLOTS;
    let store = session::private_store(root, &folder, format!("decided-{slot:02}.json"))?;
    let is_for_this = |lock: &File| {
        let mut noted = vec![0; 256];
        let length = lock.read_at(&mut noted, 0).unwrap_or(0);
        let noted = noted.get(..length).unwrap_or_default();
        // A process that has just taken the lock has written nothing yet.
        (noted.is_empty() || noted == name.as_bytes()) && waits()
    };
    let Some(locked) = store.lock_while(is_for_this)? else {
        return Ok(None);
    };
    locked.note(&name)?;
    Ok(Some(locked))
}

/// What this run would store, before its decision; `None` if that cannot be compared.
fn shared_outcome(
    event: &Event,
    call: &FormOfCall,
    plan: &Plan,
    surroundings: &Surroundings,
) -> Option<SharedOutcome> {
    let context = event.context();
    let input = context.raw("toolInput");
    let is_long = input.is_some_and(|input| input.len() > LONGEST_INPUT_BYTES);
    if plan.is_idle() || is_long {
        return None;
    }
    let mut hooks = format!("{}\n", event.spec().blocks);
    for planned in plan.hooks() {
        describe(&mut hooks, planned, event)?;
    }
    let input = context
        .value("toolInput")
        .ok()
        .flatten()
        .map(|input| input.to_string());
    let action = event.action().map(|action| action.to_json());
    // A command or a hook's variables may contain a secret.
    let kept = |text: Option<String>| text.as_deref().map(digest);
    let mut wanted = plan
        .hooks()
        .filter(|planned| planned.selection == Selection::Wanted);
    Some(SharedOutcome {
        call: call.id.clone(),
        form: call.form.clone(),
        hooks: digest(&hooks),
        told: CallFacts {
            action: kept(action),
            tool: context.string("toolName"),
            input: kept(input),
            cwd: surroundings.place(event).cwd.to_string_lossy().into_owned(),
            has_foreign_hooks: wanted.any(|planned| planned.hook.is_foreign()),
            is_gate: event.spec().blocks,
        },
        outcome: Outcome::default(),
        at: SystemTime::UNIX_EPOCH,
    })
}

impl ExclusiveClaim {
    /// Stores the decision for another run of the same call. Not after an abort, which is no matter
    /// of the other run.
    pub fn tell(mut self, run: &Run) {
        if self.engine.is_aborted() {
            return;
        }
        self.kept.outcome = run.outcome.clone();
        self.kept.at = SystemTime::now();
        let kept = serde_json::to_vec(&self.kept).unwrap_or_default();
        self.keep(if kept.len() > MOST_BYTES { b"" } else { &kept });
    }

    fn keep(&self, decision: &[u8]) {
        if let Err(error) = self.locked.replace(decision) {
            tracing::warn!(%error, "what was decided is not kept");
        }
    }
}

impl Drop for ExclusiveClaim {
    fn drop(&mut self) {
        if let Err(error) = self.locked.note("") {
            tracing::warn!(%error, "a slot stays marked");
        }
    }
}

/// The run for a call that another run has decided.
fn taken_over(event: &Event, plan: &Plan, kept: SharedOutcome, started: Instant) -> Run {
    let why = format!("it already ran for this call, as `{}`", kept.form);
    Run {
        event: event.clone(),
        hooks: chain::runs_of(plan, event, &Fate::Idle(why)),
        outcome: kept.outcome,
        took: started.elapsed(),
        trace: None,
        earlier: Some(kept.form),
    }
}
