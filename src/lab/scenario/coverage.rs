//! Policy coverage: what cases have shown about hooks, and what they have not.
//!
//! Pure: it turns hooks and their fates into points. A point is something that a case can show and
//! that hookrun can observe with certainty.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::config::{Config, Position};
use crate::engine::event::EventSpec;
use crate::engine::hook::{Handler, Hook};
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
    Hook(fn(&Hook, &EventSpec) -> bool, fn(&SeenHook<'_>) -> bool),
    Matcher,
}

/// A hook's fate in one decision.
struct SeenHook<'s> {
    fate: &'s Fate,
    spec: &'s EventSpec,
    looks_at_files: bool,
}

impl SeenHook<'_> {
    fn trace(&self) -> Option<&Trace> {
        if let Fate::Ran(trace) = self.fate {
            Some(trace)
        } else {
            None
        }
    }

    fn verdict(&self) -> Option<&Verdict> {
        self.trace()?.ending.verdict()
    }

    fn allowed(&self) -> bool {
        self.verdict()
            .is_some_and(|verdict| verdict.decision == Decision::Allow)
    }

    fn objected(&self) -> bool {
        self.verdict()
            .is_some_and(|verdict| verdict.decision != Decision::Allow)
    }

    /// Whether it ran and did something that a case can check.
    fn is_visible(&self) -> bool {
        if self.trace().is_some() && self.looks_at_files {
            return true;
        }
        self.verdict().is_some_and(|verdict| {
            verdict.decision != Decision::Allow
                || verdict.output.is_some()
                || verdict.additional_context.is_some()
                || !verdict.findings.is_empty()
                || !verdict.update.is_empty()
        })
    }
}

#[rustfmt::skip]
pub const POINTS: &[PointRow] = &[
    PointRow { name: "ran", of: "an event with hooks", when: "a case runs it", why: "a whole event without cases is more than its hooks",
        lacks: "a case of {}", may_be_never: false, has: Has::Event },
    PointRow { name: "ran", of: "a hook of an event that can be blocked", when: "it ran", why: "no case has tested a hook that never ran",
        lacks: "a case that runs {}", may_be_never: false, has: Has::Hook(|_, spec| spec.blocks, |seen| seen.spec.blocks && seen.trace().is_some()) },
    PointRow { name: "ran", of: "a hook of an event that cannot be blocked", when: "it ran and printed something, or the case looks at `files`", why: "it decides nothing, so a case can only check what it prints or leaves behind",
        lacks: "a case in which {} prints something, or that expects `files`", may_be_never: true, has: Has::Hook(|_, spec| !spec.blocks, |seen| !seen.spec.blocks && seen.is_visible()) },
    PointRow { name: "blocked", of: "a hook of an event that can be blocked, if it is not a rule that asks", when: "it blocked or asked", why: "this is what it is for; a failure proves nothing about its policy",
        lacks: "a case in which {} blocks", may_be_never: true, has: Has::Hook(|hook, spec| spec.blocks && !is_question(hook), |seen| seen.objected()) },
    PointRow { name: "allowed", of: "a hook of an event that can be blocked, if it is not a rule", when: "it allowed", why: "a guard that blocks everything blocks the right things too",
        lacks: "a case in which {} allows", may_be_never: true, has: Has::Hook(|hook, spec| spec.blocks && !hook.is_rule(), |seen| seen.allowed()) },
    PointRow { name: "asked", of: "a rule that asks", when: "it asked", why: "this is what it is for",
        lacks: "a case in which {} asks", may_be_never: true, has: Has::Hook(|hook, spec| spec.blocks && is_question(hook), |seen| seen.objected()) },
    PointRow { name: "failed", of: "a hook with `on_failure`", when: "it failed, in any way", why: "`on_failure` only matters then",
        lacks: "a case in which {} fails", may_be_never: false, has: Has::Hook(|hook, _| hook.on_failure.is_some(), |seen| seen.trace().is_some_and(|trace| trace.ending.failure().is_some())) },
    PointRow { name: "matched", of: "each key of a matcher (`matched.tool`, `matched.where.FIELD`)", when: "it kept the hook from running", why: "a match that let it run counts as `ran`",
        lacks: "a case in which `match.{key}` keeps {} from running", may_be_never: false, has: Has::Matcher },
];

fn is_question(hook: &Hook) -> bool {
    matches!(hook.handler, Handler::Rule(Decision::Ask { .. }))
}

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
        Who {
            event: hook.event.clone(),
            hook: hook.name.clone(),
            file: hook.source.file.clone(),
            line: hook.source.line,
        }
    }

    pub fn in_run(run: &Run, hook: &HookRun) -> Who {
        Who {
            event: run.event.spec().name.to_string(),
            hook: hook.hook.clone(),
            file: hook.source.file.clone(),
            line: hook.source.line,
        }
    }

    /// As [`Hook::is_called`].
    pub fn is_called(&self, name: &str) -> bool {
        self.hook == name || self.file.file_name().is_some_and(|file| file == name)
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
    /// A name of [`POINTS`]; `matched.KEY` for a matcher.
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
    let known: BTreeSet<Who> = subjects.iter().map(|(hook, _)| Who::of(hook)).collect();
    let mut shown = ShownPoints::default();
    for witness in witnesses {
        shown.take(*witness, &known);
    }
    let mut coverage = Coverage::default();
    let mut used = BTreeSet::new();
    for (hook, spec) in subjects {
        let who = Who::of(hook);
        let last = coverage.parts.last();
        if last.is_none_or(|part| part.who.event != who.event) {
            coverage.parts.push(shown.event(&who));
        }
        let mut part = shown.hook(hook, spec, &who);
        for point in &mut part.points {
            for (number, (file, never)) in never.iter().enumerate() {
                if !never.excuses(&who, point) {
                    continue;
                }
                used.insert(number);
                if point.state == PointState::Covered {
                    let (name, hook, event) = (&point.name, &who.hook, &who.event);
                    let problem = format!("a case shows `{name}` of {hook} ({event})");
                    coverage.untrue.push(Excuse::of(file, never, problem));
                } else {
                    point.state = PointState::Never(never.why.clone());
                }
            }
        }
        coverage.parts.push(part);
    }
    for (number, (file, never)) in never.iter().enumerate() {
        if !used.contains(&number) {
            let problem = format!(
                "no hook `{}` has a point `{}` there",
                never.hook, never.point
            );
            coverage.untrue.push(Excuse::of(file, never, problem));
        }
    }
    coverage
}

impl Never {
    fn excuses(&self, who: &Who, point: &Point) -> bool {
        who.is_called(&self.hook)
            && self.point == point.name
            && (self.events.is_empty() || self.events.contains(&who.event))
    }
}

impl Excuse {
    fn of(file: &Path, never: &Never, problem: String) -> Excuse {
        Excuse {
            file: file.to_path_buf(),
            at: never.at,
            problem,
        }
    }
}

/// The hooks that can run, each once, by event and in plan order.
fn subjects<'s>(configs: &[&'s Config]) -> Vec<(&'s Hook, &'s EventSpec)> {
    let mut subjects = Vec::new();
    let mut known = BTreeSet::new();
    for config in configs {
        for hook in config.hooks.iter().filter(|hook| hook.may_run()) {
            let spec = config.catalog.iter().find(|spec| spec.name == hook.event);
            if let Some(spec) = spec
                && known.insert(Who::of(hook))
            {
                subjects.push((hook, spec));
            }
        }
    }
    subjects.sort_by_key(|(hook, _)| (hook.event.clone(), hook.priority, hook.source.layer));
    subjects
}

#[derive(Debug, Default)]
struct ShownPoints {
    of_hooks: BTreeMap<Who, BTreeSet<String>>,
    events: BTreeSet<String>,
}

impl ShownPoints {
    fn take(&mut self, witness: Witness<'_>, known: &BTreeSet<Who>) {
        let run = witness.run;
        self.events.insert(run.event.spec().name.to_string());
        for one in &run.hooks {
            let who = Who::in_run(run, one);
            if !known.contains(&who) {
                continue;
            }
            let seen = SeenHook {
                fate: &one.fate,
                spec: run.event.spec(),
                looks_at_files: witness.looks_at_files,
            };
            let names = self.of_hooks.entry(who).or_default();
            for row in POINTS {
                if let Has::Hook(_, shows) = row.has
                    && shows(&seen)
                {
                    names.insert(row.name.to_string());
                }
            }
            if let Fate::Unwanted(mismatch) = &one.fate {
                names.insert(format!("matched.{}", mismatch.key));
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

    fn hook(&self, hook: &Hook, spec: &EventSpec, who: &Who) -> CoveragePart {
        let shown = self.of_hooks.get(who);
        let is_shown = |name: &str| shown.is_some_and(|shown| shown.contains(name));
        let mut points = Vec::new();
        for row in POINTS {
            match row.has {
                Has::Event => {}
                Has::Hook(has, _) if has(hook, spec) => {
                    points.push(point(row, None, &who.hook, is_shown(row.name)));
                }
                Has::Hook(..) => {}
                Has::Matcher => {
                    for key in hook.matcher.keys() {
                        let is_shown = is_shown(&format!("matched.{key}"));
                        points.push(point(row, Some(&key), &who.hook, is_shown));
                    }
                }
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
        let mut covered = 0;
        let mut all = 0;
        for (_, point) in self.points() {
            match point.state {
                PointState::Covered => {
                    covered += 1;
                    all += 1;
                }
                PointState::Missing => all += 1,
                PointState::Never(_) => {}
            }
        }
        (covered, all)
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
