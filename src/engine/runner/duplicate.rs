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
use crate::engine::session::{self, FileLock, Store, StoreError, file_name};

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
    if !is_same && kept.outcome.rewrites.iter().any(|rewrite| rewrite.rejected.is_none()) {
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
        std::iter::once(&sort.word).chain(sort.names).any(|known| known.eq_ignore_ascii_case(name))
    };
    TOOLS.iter().any(|sort| is_of(sort, one) && is_of(sort, two))
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
    let claimed = ExclusiveClaim { locked, kept: Box::new(own) };
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
    session::make_private(root, &folder)
        .map_err(|error| StoreError { file: folder.clone(), problem: error.to_string() })?;
    let name = file_name(&call.id);
    let store = Store::new(&folder, format!("decided-{:02}.json", slot(&call.id)));
    let is_for_this = |lock: &File| {
        let mut noted = vec![0; 256];
        let length = lock.read_at(&mut noted, 0).unwrap_or(0);
        let noted = noted.get(..length).unwrap_or_default();
        // A process that has just taken the lock has written nothing yet.
        (noted.is_empty() || noted == name.as_bytes()) && waits()
    };
    let Some(locked) = store.lock_while(is_for_this)? else { return Ok(None) };
    locked.note(&name)?;
    Ok(Some(locked))
}

fn slot(call: &str) -> u64 {
    let sum = session::checksum(call.as_bytes());
    (sum ^ (sum >> 32)) % SLOTS
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
    let input = context.value("toolInput").ok().flatten().map(|input| input.to_string());
    let action = event.action().map(|action| action.to_json());
    // A command or a hook's variables may contain a secret.
    let kept = |text: Option<String>| text.as_deref().map(digest);
    let mut wanted = plan.hooks().filter(|planned| planned.selection == Selection::Wanted);
    Some(SharedOutcome {
        call: call.id.clone(),
        form: call.form.clone(),
        hooks: digest(&hooks),
        told: CallFacts {
            action: kept(action),
            tool: context.string("toolName"),
            input: kept(input),
            cwd: surroundings.place(event).cwd.to_string_lossy().into_owned(),
            has_foreign_hooks: wanted.any(|planned| planned.hook.convention.is_some()),
            is_gate: event.spec().blocks,
        },
        outcome: Outcome::default(),
        at: SystemTime::UNIX_EPOCH,
    })
}

impl ExclusiveClaim {
    /// Stores the decision for another run of the same call.
    pub fn tell(mut self, run: &Run) {
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
        earlier: Some(kept.form),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::outcome::{Cause, Refusal, Rewritten};
    use serde_json::Value;

    fn kept(form: &str, tool: &str) -> SharedOutcome {
        SharedOutcome {
            call: "tool.pre 1".into(),
            form: form.into(),
            hooks: "guard".into(),
            told: CallFacts {
                action: Some("{\"kind\":\"shell\",\"command\":\"ls\"}".into()),
                tool: Some(tool.into()),
                input: Some("{\"command\":\"ls\"}".into()),
                cwd: "/there".into(),
                has_foreign_hooks: false,
                is_gate: true,
            },
            outcome: Outcome::default(),
            at: SystemTime::UNIX_EPOCH,
        }
    }

    /// Whether `kept` is taken over for `own` after `seconds`.
    fn is_taken_after(seconds: u64, kept: &SharedOutcome, own: &SharedOutcome) -> bool {
        may_take_over(kept, own, kept.at + Duration::from_secs(seconds))
    }

    fn is_taken(kept: &SharedOutcome, own: &SharedOutcome) -> bool {
        is_taken_after(0, kept, own)
    }

    fn refused(mut kept: SharedOutcome) -> SharedOutcome {
        let refusal = Refusal { hook: None, reason: "no".into(), cause: Cause::Policy };
        kept.outcome.settled = Settled::Refused(refusal);
        kept
    }

    #[test]
    fn what_hooks_are_told_alike_is_decided_once() {
        let (first, second) = (kept("a", "Shell"), kept("b", "Bash"));
        assert!(is_taken(&first, &second));
        assert!(is_taken(&refused(first), &second));
    }

    #[test]
    fn an_allow_counts_for_seconds_and_a_refusal_for_good() {
        let (mut first, second) = (kept("a", "Shell"), kept("b", "Bash"));
        assert!(is_taken_after(9, &first, &second) && !is_taken_after(10, &first, &second));
        // Its clock was ahead of ours.
        first.at += Duration::from_secs(3600);
        assert!(!may_take_over(&first, &second, SystemTime::UNIX_EPOCH));
        assert!(is_taken_after(100_000, &refused(first), &second));
    }

    #[test]
    fn the_same_form_another_call_other_hooks_and_another_action_are_decided_anew() {
        let (first, second) = (refused(kept("a", "Shell")), kept("b", "Bash"));
        let differs = |change: fn(&mut SharedOutcome)| {
            let mut second = second.clone();
            change(&mut second);
            !is_taken(&first, &second)
        };
        assert!(differs(|own| own.form = "a".into()));
        assert!(differs(|own| own.call = "tool.pre 2".into()));
        assert!(differs(|own| own.hooks.push_str(" and another")));
        assert!(differs(|own| own.told.action = None));
    }

    #[test]
    fn an_allow_is_not_taken_over_where_hooks_are_told_something_else() {
        let (first, second) = (kept("a", "Shell"), kept("b", "Bash"));
        let differs = |change: fn(&mut CallFacts)| {
            let mut second = second.clone();
            change(&mut second.told);
            assert!(is_taken(&refused(first.clone()), &second), "{second:?}");
            !is_taken(&first, &second)
        };
        assert!(differs(|told| told.input = Some("{}".into())));
        assert!(differs(|told| told.cwd = "/elsewhere".into()));
        assert!(differs(|told| told.tool = Some("Write".into())));
        assert!(differs(|told| told.tool = Some("Unknown".into())));
        assert!(differs(|told| told.has_foreign_hooks = true));
    }

    #[test]
    fn what_cannot_be_refused_is_done_once_but_a_rewrite_needs_the_same_input() {
        let (mut first, mut second) = (kept("a", "Shell"), kept("b", "Bash"));
        second.told.is_gate = false;
        second.told.input = None;
        assert!(is_taken(&first, &second));
        first.outcome.rewrites.push(Rewritten {
            hook: "guard".into(),
            field: "result".into(),
            old: Value::Null,
            new: Value::from("clean"),
            rejected: None,
        });
        assert!(!is_taken(&first, &second));
    }

    fn form(id: &str) -> FormOfCall {
        FormOfCall { session: "s".into(), id: id.into(), form: "a".into() }
    }

    #[test]
    fn a_run_waits_for_the_same_call_and_for_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let claim = |id: &str, waits: fn() -> bool| {
            let locked = lock_slot(folder.path(), &form(id), waits).unwrap();
            locked.map(|locked| ExclusiveClaim { locked, kept: Box::new(kept("a", "Shell")) })
        };
        let names: Vec<String> = (0..SLOTS * 2).map(|number| format!("call {number}")).collect();
        let pairs = names.iter().flat_map(|one| names.iter().map(move |two| (one, two)));
        let (one, two) = pairs.into_iter().find(|(a, b)| a != b && slot(a) == slot(b)).unwrap();
        let first = claim(one, || true).unwrap();
        assert!(claim(two, || panic!("it waits")).is_none());
        assert!(claim(one, || false).is_none());
        first.keep(b"no");
        drop(first);
        let second = claim(one, || panic!("it waits")).unwrap();
        assert_eq!(second.locked.read().unwrap(), b"no");
    }

    #[test]
    fn no_more_files_are_kept_than_there_are_slots() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..SLOTS * 8 {
            let call = form(&format!("call {number}"));
            lock_slot(folder.path(), &call, || true).unwrap().unwrap().replace(b"yes").unwrap();
        }
        let own = session::own_folder(&session::folder(folder.path(), Some("s")));
        let files = std::fs::read_dir(own).unwrap().count();
        assert!(files as u64 <= 2 * SLOTS, "{files}");
    }
}
