//! Policy coverage: what cases have shown about hooks, and what they have not.
//!
//! Pure: it turns hooks and their fates into points. A point is something that a case can show and
//! that hookrun can observe with certainty. Everything not counted is listed with a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::config::{Config, Position};
use crate::engine::event::EventSpec;
use crate::engine::hook::{DEFAULT_PRIORITY, Hook};
use crate::engine::outcome::{Decision, Verdict};
use crate::engine::run::{Fate, HookRun, Run, Trace};

#[derive(Debug)]
pub struct PointRow {
    pub name: &'static str,
    pub of: &'static str,
    pub when: &'static str,
    pub why: &'static str,
    /// What a case would need to cover it; `{}` is the hook or the event.
    lacks: &'static str,
    /// A file of cases may declare that a hook never does this.
    may_be_never: bool,
    has: Has,
}

#[derive(Debug)]
enum Has {
    Event,
    /// Whether a hook has the point, and whether one decision shows it.
    Hook(fn(&CoveredHook<'_>) -> bool, fn(&SeenHook<'_>) -> bool),
    Matcher,
}

#[derive(Debug)]
struct CoveredHook<'s> {
    hook: &'s Hook,
    spec: &'s EventSpec,
    fellows: Vec<&'s Hook>,
}

/// A hook's fate in one decision.
struct SeenHook<'s> {
    hook: &'s Hook,
    fate: &'s Fate,
    looks_at_files: bool,
    others: Vec<(&'s Hook, &'s Fate)>,
}

impl SeenHook<'_> {
    fn trace(&self) -> Option<&Trace> {
        if let Fate::Ran(trace) = self.fate {
            Some(trace)
        } else {
            None
        }
    }

    fn answered(&self, is: impl Fn(&Verdict) -> bool) -> bool {
        self.trace()
            .and_then(|trace| trace.ending.verdict())
            .is_some_and(is)
    }

    fn is_seen(&self) -> bool {
        let is_loud = |verdict: &Verdict| {
            let has_text = verdict.output.is_some() || verdict.additional_context.is_some();
            let says = has_text || !verdict.findings.is_empty() || !verdict.update.is_empty();
            says || verdict.decision != Decision::Allow
        };
        self.trace().is_some() && (self.looks_at_files || self.answered(is_loud))
    }

    /// Whether both hooks took part in the decision, so that their order matters.
    fn is_ordered(&self) -> bool {
        let is_in_order = |fate: &Fate| matches!(fate, Fate::Ran(_) | Fate::Unreached);
        let mut others = self.others.iter().filter(|(_, fate)| is_in_order(fate));
        is_in_order(self.fate) && others.any(|(other, _)| other.priority != self.hook.priority)
    }

    fn is_parallel(&self) -> bool {
        let mut others = self
            .others
            .iter()
            .filter(|(_, fate)| matches!(fate, Fate::Ran(_)));
        let runs = self.trace().is_some() && self.hook.parallel;
        runs && others.any(|(other, _)| other.parallel)
    }
}

#[rustfmt::skip]
pub const POINTS: &[PointRow] = &[
    PointRow { name: "event", of: "an event with hooks", when: "a case runs it", why: "a whole event without cases is more than its hooks",
        lacks: "a case of {}", may_be_never: false, has: Has::Event },
    PointRow { name: "asked", of: "every hook", when: "it ran", why: "no case has tested a hook that never ran",
        lacks: "a case that runs {}", may_be_never: false, has: Has::Hook(|_| true, |seen| seen.trace().is_some()) },
    PointRow { name: "allowed", of: "a hook of an event that can be blocked, if it is no rule", when: "it allowed", why: "a guard that blocks everything blocks the right things too",
        lacks: "a case in which {} allows", may_be_never: true, has: Has::Hook(|one| one.spec.blocks && !one.hook.is_rule(), |seen| seen.answered(|verdict| verdict.decision == Decision::Allow)) },
    PointRow { name: "refused", of: "a hook of an event that can be blocked", when: "it blocked or asked", why: "this is what it is for; a failure proves nothing about its policy",
        lacks: "a case in which {} blocks", may_be_never: true, has: Has::Hook(|one| one.spec.blocks, |seen| seen.answered(|verdict| verdict.decision != Decision::Allow)) },
    PointRow { name: "seen", of: "a hook of an event that cannot be blocked", when: "it printed something, or the case looks at `files`", why: "it decides nothing, so a case can only check what it prints or leaves behind",
        lacks: "a case in which {} prints something, or that expects `files`", may_be_never: true, has: Has::Hook(|one| !one.spec.blocks, |seen| seen.is_seen()) },
    PointRow { name: "match", of: "each key of a matcher (`match.tool`, `match.where.FIELD`)", when: "it kept the hook from running", why: "a match that let it run counts as `asked`",
        lacks: "a case in which `{key}` keeps {} from running", may_be_never: false, has: Has::Matcher },
    PointRow { name: "rewrite", of: "`rewrite`, where the event lists fields for it", when: "the hook rewrote a field", why: "a permission that no case uses may not be needed",
        lacks: "a case in which {} rewrites something", may_be_never: true, has: Has::Hook(|one| one.hook.rewrite && !one.spec.rewrites.is_empty(), |seen| seen.answered(|verdict| !verdict.update.is_empty())) },
    PointRow { name: "on_failure", of: "`on_failure`", when: "the hook failed, in any way", why: "it only matters then",
        lacks: "a case in which {} fails", may_be_never: false, has: Has::Hook(|one| one.hook.on_failure.is_some(), |seen| seen.trace().is_some_and(|trace| trace.ending.failure().is_some())) },
    PointRow { name: "priority", of: "`priority`, where another hook of the event has another one", when: "both were part of one decision", why: "an order shows only where there are two",
        lacks: "a case that runs {} together with a hook of another priority", may_be_never: false, has: Has::Hook(|one| one.hook.priority != DEFAULT_PRIORITY && one.fellows.iter().any(|other| other.priority != one.hook.priority), |seen| seen.is_ordered()) },
    PointRow { name: "parallel", of: "`parallel`, where another hook of the event has it", when: "both ran in one decision", why: "it only matters then",
        lacks: "a case that runs {} together with another parallel hook", may_be_never: false, has: Has::Hook(|one| one.hook.parallel && one.fellows.iter().any(|other| other.parallel), |seen| seen.is_parallel()) },
];

/// Settings of a hook that are not counted, and why.
pub const NOT_COUNTED: &[(&str, &str)] = &[
    (
        "timeout",
        "a case would have to wait for it; `--mutate` tests what it means",
    ),
    (
        "limits",
        "a working hook never reaches them, as with its timeout",
    ),
    (
        "sandbox",
        "hookrun does not see what a hook did not try to touch",
    ),
    ("containment", "it shows only when a hook must be ended"),
    (
        "background",
        "what a hook leaves running is not seen with certainty",
    ),
    ("lives", "no program holds the session of a case"),
    (
        "warm",
        "it changes how a hook starts, and nothing that it does",
    ),
    ("dialect", "every answer uses it: `asked`"),
    (
        "reads",
        "it shows only where a value is too large for the environment",
    ),
    (
        "enabled",
        "a hook that is disabled, or cannot run here, has no points",
    ),
    ("name", "it is no behaviour"),
    ("description", "it is no behaviour"),
    ("event", "it is a separate point"),
    ("command", "running it is `asked`"),
    ("shell", "running it is `asked`"),
    ("deny", "deciding it is `refused`"),
    ("ask", "deciding it is `refused`"),
    ("except", "it is a key of the matcher: `match.except`"),
];

pub(super) fn excusable() -> Vec<&'static str> {
    POINTS
        .iter()
        .filter(|row| row.may_be_never)
        .map(|row| row.name)
        .collect()
}

/// Something that a hook never does, as a file of cases declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Never {
    pub hook: String,
    /// The events; if empty, all events of the hook.
    pub events: Vec<String>,
    pub point: String,
    pub why: String,
    pub at: Position,
}

#[derive(Debug, Clone, Copy)]
pub struct Witness<'w> {
    pub run: &'w Run,
    pub looks_at_files: bool,
}

/// Identifies the same hook in several places: by event, name, file and line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Who {
    pub event: String,
    pub hook: String,
    pub file: PathBuf,
    /// The line of its table.
    pub line: Option<usize>,
}

impl Who {
    pub fn of(hook: &Hook) -> Who {
        let (event, name) = (hook.event.clone(), hook.name.clone());
        Who {
            event,
            hook: name,
            file: hook.source.file.clone(),
            line: hook.source.line,
        }
    }

    /// As [`Hook::is_called`].
    pub fn is_called(&self, name: &str) -> bool {
        self.hook == name || self.file.file_name().is_some_and(|file| file == name)
    }

    pub fn in_run(run: &Run, hook: &HookRun) -> Who {
        let (event, name) = (run.event.spec().name.to_string(), hook.hook.clone());
        Who {
            event,
            hook: name,
            file: hook.source.file.clone(),
            line: hook.source.line,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointState {
    Covered,
    Missing,
    Never(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// A name of [`POINTS`]; `match.KEY` for a matcher.
    pub name: String,
    pub lacks: String,
    pub state: PointState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveragePart {
    /// The hook; for an event, its first one.
    pub who: Who,
    pub is_event: bool,
    pub points: Vec<Point>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Ordered by event; each event comes before its hooks, which are in plan order.
    pub parts: Vec<CoveragePart>,
    /// Each `[[never]]` that is not true.
    pub untrue: Vec<Excuse>,
}

/// A `[[never]]` that is not true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excuse {
    pub file: PathBuf,
    pub at: Position,
    pub problem: String,
}

/// Measures which points of the hooks in `configs` the decisions of cases have shown. `never`
/// declares what hooks never do, with the file that says so.
pub fn measure(
    configs: &[&Config],
    witnesses: &[Witness<'_>],
    never: &[(PathBuf, Never)],
) -> Coverage {
    let subjects = subjects(configs);
    let hooks: BTreeMap<Who, &Hook> = subjects
        .iter()
        .map(|one| (Who::of(one.hook), one.hook))
        .collect();
    let mut shown = ShownPoints::default();
    for witness in witnesses {
        shown.take(*witness, &hooks);
    }
    let mut coverage = Coverage::default();
    let mut used = BTreeSet::new();
    let untrue = |place: usize, problem| {
        let (file, never) = &never[place];
        Excuse {
            file: file.clone(),
            at: never.at,
            problem,
        }
    };
    for subject in &subjects {
        let who = Who::of(subject.hook);
        if coverage
            .parts
            .last()
            .is_none_or(|part| part.who.event != who.event)
        {
            coverage.parts.push(shown.event(&who));
        }
        let mut part = shown.hook(subject, &who);
        for point in &mut part.points {
            let said = never.iter().enumerate().filter(|(_, (_, never))| {
                let is_of = never.events.is_empty() || never.events.contains(&who.event);
                who.is_called(&never.hook) && never.point == point.name && is_of
            });
            for (place, (_, never)) in said {
                used.insert(place);
                if point.state == PointState::Covered {
                    let what = format!("a case shows `{}` of {}", point.name, who.hook);
                    coverage
                        .untrue
                        .push(untrue(place, format!("{what} ({})", who.event)));
                } else {
                    point.state = PointState::Never(never.why.clone());
                }
            }
        }
        coverage.parts.push(part);
    }
    for (place, (_, never)) in never
        .iter()
        .enumerate()
        .filter(|(place, _)| !used.contains(place))
    {
        let what = format!(
            "no hook `{}` has a point `{}` there",
            never.hook, never.point
        );
        coverage.untrue.push(untrue(place, what));
    }
    coverage
}

/// The hooks that can run, each once, by event and in plan order.
fn subjects<'s>(configs: &[&'s Config]) -> Vec<CoveredHook<'s>> {
    let mut subjects: Vec<CoveredHook<'s>> = Vec::new();
    let mut known = BTreeSet::new();
    for config in configs {
        for hook in config.hooks.iter().filter(|hook| can_run(hook)) {
            let Some(spec) = config.catalog.iter().find(|spec| spec.name == hook.event) else {
                continue;
            };
            let is_fellow = |other: &&Hook| {
                other.event == hook.event && can_run(other) && Who::of(other) != Who::of(hook)
            };
            let fellows = config.hooks.iter().filter(is_fellow).collect();
            if known.insert(Who::of(hook)) {
                subjects.push(CoveredHook {
                    hook,
                    spec,
                    fellows,
                });
            }
        }
    }
    let place = |one: &CoveredHook<'_>| {
        (
            one.hook.event.clone(),
            one.hook.priority,
            one.hook.source.layer,
        )
    };
    subjects.sort_by_key(place);
    subjects
}

pub fn can_run(hook: &Hook) -> bool {
    hook.may_run()
}

#[derive(Debug, Default)]
struct ShownPoints {
    of_hooks: BTreeMap<Who, BTreeSet<String>>,
    events: BTreeSet<String>,
}

impl ShownPoints {
    fn take(&mut self, witness: Witness<'_>, hooks: &BTreeMap<Who, &Hook>) {
        let Witness {
            run,
            looks_at_files,
        } = witness;
        self.events.insert(run.event.spec().name.to_string());
        let known = |one: &HookRun| hooks.get(&Who::in_run(run, one)).copied();
        for one in &run.hooks {
            let Some(hook) = known(one) else { continue };
            let others = run.hooks.iter().filter(|other| !std::ptr::eq(*other, one));
            let others = others
                .filter_map(|other| Some((known(other)?, &other.fate)))
                .collect();
            let seen = SeenHook {
                hook,
                fate: &one.fate,
                looks_at_files,
                others,
            };
            let shown = POINTS.iter().filter_map(|row| match row.has {
                Has::Hook(_, shows) if shows(&seen) => Some(row.name.to_string()),
                Has::Hook(..) | Has::Event | Has::Matcher => None,
            });
            let names = self.of_hooks.entry(Who::in_run(run, one)).or_default();
            names.extend(shown);
            if let Fate::Unwanted(mismatch) = &one.fate {
                names.insert(format!("match.{}", mismatch.key()));
            }
        }
    }

    fn event(&self, first: &Who) -> CoveragePart {
        let rows = POINTS.iter().filter(|row| matches!(row.has, Has::Event));
        let is_shown = self.events.contains(&first.event);
        let point = |row: &PointRow| point(row, None, &first.event, is_shown);
        CoveragePart {
            who: first.clone(),
            is_event: true,
            points: rows.map(point).collect(),
        }
    }

    fn hook(&self, subject: &CoveredHook<'_>, who: &Who) -> CoveragePart {
        let shown = self.of_hooks.get(who);
        let is_shown = |name: &str| shown.is_some_and(|shown| shown.contains(name));
        let mut points = Vec::new();
        for row in POINTS {
            match row.has {
                Has::Event => {}
                Has::Hook(has, _) if has(subject) => {
                    points.push(point(row, None, &who.hook, is_shown(row.name)));
                }
                Has::Hook(..) => {}
                Has::Matcher => points.extend(subject.hook.matcher.keys().iter().map(|key| {
                    point(row, Some(key), &who.hook, is_shown(&format!("match.{key}")))
                })),
            }
        }
        CoveragePart {
            who: who.clone(),
            is_event: false,
            points,
        }
    }
}

fn point(row: &PointRow, key: Option<&String>, of: &str, is_shown: bool) -> Point {
    let name = key.map_or(row.name.to_string(), |key| format!("{}.{key}", row.name));
    let mut lacks = row
        .lacks
        .replace("{key}", key.map_or("", String::as_str))
        .replace("{}", of);
    if row.may_be_never {
        lacks.push_str(", or `[[never]]` where it never does");
    }
    let state = if is_shown {
        PointState::Covered
    } else {
        PointState::Missing
    };
    Point { name, lacks, state }
}

impl Coverage {
    /// The number of covered points, and of points that can be covered.
    pub fn counts(&self) -> (usize, usize) {
        let states = || self.points().map(|(_, point)| &point.state);
        let covered = states()
            .filter(|state| **state == PointState::Covered)
            .count();
        (
            covered,
            covered
                + states()
                    .filter(|state| **state == PointState::Missing)
                    .count(),
        )
    }

    pub fn reaches(&self, percent: u8) -> bool {
        let (covered, all) = self.counts();
        covered * 100 >= all * usize::from(percent)
    }

    /// Tenths of a percent, rounded down, so that only full coverage is 100 %.
    pub fn permille(&self) -> usize {
        let (covered, all) = self.counts();
        (covered * 1000).checked_div(all).unwrap_or(1000)
    }

    pub fn points(&self) -> impl Iterator<Item = (&CoveragePart, &Point)> {
        self.parts
            .iter()
            .flat_map(|part| part.points.iter().map(move |point| (part, point)))
    }

    pub fn missing(&self) -> impl Iterator<Item = (&CoveragePart, &Point)> {
        self.points()
            .filter(|(_, point)| point.state == PointState::Missing)
    }
}
