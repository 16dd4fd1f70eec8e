//! Policy coverage: the points of hooks that test cases demonstrate. A point is something that
//! hookrun can observe with certainty. Pure functions over hooks and their fates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::Config;
use crate::engine::event::EventSpec;
use crate::engine::hook::{Handler, Hook};
use crate::engine::outcome::{Decision, Verdict};
use crate::engine::run::{Fate, HookRun, Run};

#[derive(Debug)]
pub struct PointRow {
    pub name: &'static str,
    pub of: &'static str,
    pub when: &'static str,
    pub why: &'static str,
    /// The kind of case that covers it; `{}` is the hook.
    lacks: &'static str,
    has: Has,
}

#[derive(Debug)]
enum Has {
    /// Whether a hook has the point, and whether a decision demonstrates it.
    Hook(fn(&Hook, &EventSpec) -> bool, fn(&SeenHook<'_>) -> bool),
    Matcher,
}

struct SeenHook<'s> {
    fate: &'s Fate,
    blocks: bool,
    looks_at_files: bool,
}

impl SeenHook<'_> {
    fn has_run(&self) -> bool {
        matches!(self.fate, Fate::Ran(_))
    }

    fn verdict(&self) -> Option<&Verdict> {
        let Fate::Ran(trace) = self.fate else {
            return None;
        };
        trace.ending.verdict()
    }

    fn has_allowed(&self) -> bool {
        self.verdict()
            .is_some_and(|verdict| verdict.decision == Decision::Allow)
    }

    fn has_failed(&self) -> bool {
        matches!(self.fate, Fate::Ran(trace) if trace.ending.failure().is_some())
    }

    /// Whether it ran and had a checkable effect. At a gate plain text decides nothing.
    fn has_acted(&self) -> bool {
        if self.has_run() && self.looks_at_files {
            return true;
        }
        self.verdict().is_some_and(|verdict| {
            verdict.decision != Decision::Allow
                || verdict.output.is_some() && !self.blocks
                || verdict.additional_context.is_some()
                || !verdict.findings.is_empty()
                || !verdict.update.is_empty()
        })
    }
}

#[rustfmt::skip]
pub const POINTS: &[PointRow] = &[
    PointRow { name: "ran", of: "a hook bound to a gate", when: "it ran", why: "a hook that never ran is untested",
        lacks: "a case that runs {}", has: Has::Hook(|_, spec| spec.blocks, |seen| seen.blocks && seen.has_run()) },
    PointRow { name: "ran", of: "a hook bound to an event that is not a gate", when: "it ran and printed something, or the case checks `files`", why: "it decides nothing, so a case can only check what it prints or leaves behind",
        lacks: "a case in which {} prints something, or that expects `files`", has: Has::Hook(|_, spec| !spec.blocks, |seen| !seen.blocks && seen.has_acted()) },
    PointRow { name: "blocked", of: "a hook bound to a gate, if it is not a rule that asks", when: "it blocked, asked, changed the event, or gave findings or context; or the case checks `files`", why: "this is its purpose; neither text on stdout nor a failure proves anything about its policy",
        lacks: "a case in which {} blocks, or changes the event", has: Has::Hook(|hook, spec| spec.blocks && !is_question(hook), |seen| seen.has_acted()) },
    PointRow { name: "asked", of: "a rule that asks", when: "it asked", why: "this is its purpose",
        lacks: "a case in which {} asks", has: Has::Hook(|hook, spec| spec.blocks && is_question(hook), |seen| seen.has_acted()) },
    PointRow { name: "allowed", of: "a hook bound to a gate, unless it is a rule", when: "it allowed", why: "otherwise, a guard that blocks everything would pass",
        lacks: "a case in which {} allows", has: Has::Hook(|hook, spec| spec.blocks && !hook.is_rule(), |seen| seen.has_allowed()) },
    PointRow { name: "failed", of: "a hook with `on_failure`", when: "it failed, in any way", why: "`on_failure` only matters then",
        lacks: "a case in which {} fails", has: Has::Hook(|hook, _| hook.on_failure.is_some(), |seen| seen.has_failed()) },
    PointRow { name: "matched", of: "each key of a matcher (`matched.tool`, `matched.where.FIELD`)", when: "it kept the hook from running", why: "a match that let it run counts as `ran`",
        lacks: "a case in which `match.{key}` keeps {} from running", has: Has::Matcher },
];

fn is_question(hook: &Hook) -> bool {
    matches!(hook.handler, Handler::Rule(Decision::Ask { .. }))
}

#[derive(Debug, Clone, Copy)]
pub struct Witness<'w> {
    pub run: &'w Run,
    pub looks_at_files: bool,
}

/// Identifies a hook across configurations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Who {
    pub event: String,
    pub hook: String,
    pub file: PathBuf,
    /// The line of its table.
    #[serde(skip_serializing_if = "Option::is_none")]
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

    pub fn is_called(&self, name: &str) -> bool {
        self.hook == name || self.file.file_name().is_some_and(|file| file == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Point {
    /// A name in [`POINTS`]; `matched.KEY` for a matcher.
    pub name: String,
    #[serde(skip)]
    pub lacks: String,
    #[serde(rename = "covered")]
    pub is_covered: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoveragePart {
    #[serde(flatten)]
    pub who: Who,
    pub points: Vec<Point>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By event, in plan order.
    pub parts: Vec<CoveragePart>,
}

/// Measures which points of the hooks in `configs` the witnesses cover.
pub fn measure(configs: &[&Config], witnesses: &[Witness<'_>]) -> Coverage {
    let mut shown = ShownPoints::default();
    for witness in witnesses {
        shown.add(*witness);
    }
    let mut parts = Vec::new();
    for (hook, spec) in subjects(configs) {
        parts.push(shown.part(hook, spec));
    }
    Coverage { parts }
}

/// The distinct hooks that can run, by event in plan order.
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
struct ShownPoints(BTreeMap<Who, BTreeSet<String>>);

impl ShownPoints {
    fn add(&mut self, witness: Witness<'_>) {
        for one in &witness.run.hooks {
            let seen = SeenHook {
                fate: &one.fate,
                blocks: witness.run.event.spec().blocks,
                looks_at_files: witness.looks_at_files,
            };
            let names = self.0.entry(Who::in_run(witness.run, one)).or_default();
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

    fn part(&self, hook: &Hook, spec: &EventSpec) -> CoveragePart {
        let who = Who::of(hook);
        let mut points = Vec::new();
        for row in POINTS {
            let lacks = row.lacks.replace("{}", &hook.name);
            match row.has {
                Has::Hook(has, _) if !has(hook, spec) => {}
                Has::Hook(..) => points.push(self.point(&who, row.name.to_string(), lacks)),
                Has::Matcher => {
                    for key in hook.matcher.keys() {
                        let name = format!("{}.{key}", row.name);
                        points.push(self.point(&who, name, lacks.replace("{key}", &key)));
                    }
                }
            }
        }
        CoveragePart { who, points }
    }

    fn point(&self, who: &Who, name: String, lacks: String) -> Point {
        let shown = self.0.get(who);
        Point {
            is_covered: shown.is_some_and(|shown| shown.contains(&name)),
            name,
            lacks,
        }
    }
}

impl Coverage {
    pub fn counts(&self) -> (usize, usize) {
        let points = self.parts.iter().flat_map(|part| &part.points);
        let covered = points.clone().filter(|point| point.is_covered).count();
        (covered, points.count())
    }

    pub fn reaches(&self, percent: u8) -> bool {
        let (covered, all) = self.counts();
        covered * 100 >= all * usize::from(percent)
    }

    /// The coverage in tenths of a percent, rounded down, so that only full coverage is 100%.
    pub fn permille(&self) -> usize {
        let (covered, all) = self.counts();
        (covered * 1000).checked_div(all).unwrap_or(1000)
    }

    pub fn missing(&self) -> impl Iterator<Item = (&CoveragePart, &Point)> {
        let points = self
            .parts
            .iter()
            .flat_map(|part| part.points.iter().map(move |point| (part, point)));
        points.filter(|(_, point)| !point.is_covered)
    }
}
