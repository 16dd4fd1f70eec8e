//! What cases say about the hooks as a whole: what none of them has shown, and which mutants none
//! has noticed.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::Position;
use crate::lab::report::human::{BAD, BOLD, DIM, DOUBT, GOOD, label, short};
use crate::lab::report::json::milliseconds;
use crate::lab::report::problems::counted;
use crate::lab::report::{Paths, plain};
use crate::lab::scenario::coverage::{Coverage, CoveragePart, Point, PointState, Who};
use crate::lab::scenario::mutation::Tried;

/// What is known beside the cases; nothing where it was not asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Further<'f> {
    /// What they have shown.
    pub coverage: Option<&'f Covered>,
    /// What they have noticed.
    pub mutation: Option<&'f Mutated>,
}

/// What cases have shown of the hooks.
#[derive(Debug, Clone, Default)]
pub struct Covered {
    /// Everything.
    pub coverage: Coverage,
    /// What none has shown.
    pub gaps: Vec<Gap>,
    /// What is said to be never done, and is not so.
    pub untrue: Vec<Excuse>,
    /// How many percent it must be.
    pub least: Option<u8>,
}

/// A point that no case has shown.
#[derive(Debug, Clone)]
pub struct Gap {
    /// The hook.
    pub who: Who,
    /// Where the point is configured in its file.
    pub line: usize,
    /// The point.
    pub point: Point,
}

/// A `[[never]]` that is not so.
#[derive(Debug, Clone)]
pub struct Excuse {
    /// The file of cases.
    pub file: PathBuf,
    /// Its place.
    pub at: Position,
    /// What is wrong with it.
    pub problem: String,
}

/// What became of mutants.
#[derive(Debug, Clone, Default)]
pub struct Mutated {
    /// Each, by events and hooks.
    pub tried: Vec<Tried>,
    /// How long all took together.
    pub took: Duration,
    /// Why some of them could not be tried.
    pub trouble: Option<String>,
}

/// Something that is in order or not, for formats that list such things.
#[derive(Debug, Clone)]
pub(in crate::lab::report) struct Check {
    /// What it is part of.
    pub(in crate::lab::report) suite: &'static str,
    pub(in crate::lab::report) name: String,
    pub(in crate::lab::report) file: String,
    pub(in crate::lab::report) line: usize,
    /// What is wrong.
    pub(in crate::lab::report) problem: Option<String>,
}

/// What the checks are part of.
const COVERAGE: &str = "policy coverage";
const MUTATION: &str = "mutation";

impl Covered {
    fn is_enough(&self) -> bool {
        self.least.is_none_or(|least| self.coverage.reaches(least)) && self.untrue.is_empty()
    }

    /// How much it is, on one line.
    fn line(&self) -> String {
        let (shown, all) = self.coverage.counts();
        format!("covered {}: {shown} of {}", self.percent(), counted(all, "point"))
    }

    fn percent(&self) -> String {
        let permille = self.coverage.permille();
        format!("{}.{} %", permille / 10, permille % 10)
    }
}

impl Mutated {
    /// How many were noticed.
    fn noticed(&self) -> usize {
        self.tried.iter().filter(|one| one.noticed.is_some()).count()
    }

    fn is_good(&self) -> bool {
        self.noticed() == self.tried.len() && self.trouble.is_none()
    }
}

impl Further<'_> {
    /// Whether it is as it was asked for: enough is covered, and no mutant has survived.
    pub fn is_good(&self) -> bool {
        self.coverage.is_none_or(Covered::is_enough) && self.mutation.is_none_or(Mutated::is_good)
    }

    /// What is not as it was asked for, in a few words.
    pub(super) fn complaint(&self) -> Option<&'static str> {
        let coverage = self.coverage.filter(|covered| !covered.is_enough());
        let is_short =
            |covered: &Covered| covered.least.is_some_and(|least| !covered.coverage.reaches(least));
        match self.mutation {
            Some(mutated) if mutated.trouble.is_some() => Some("FAILED (mutants could not run)"),
            Some(mutated) if !mutated.is_good() => Some("FAILED (mutants survived)"),
            Some(_) | None => coverage.map(|covered| match is_short(covered) {
                true => "FAILED (coverage is too low)",
                false => "FAILED (a `[[never]]` is untrue)",
            }),
        }
    }

    /// Every check. Points are only checked where so many must be covered.
    pub(in crate::lab::report) fn checks(&self, paths: &Paths) -> Vec<Check> {
        let mut checks = Vec::new();
        if let Some(covered) = self.coverage {
            let is_short = covered.least.is_some_and(|least| !covered.coverage.reaches(least));
            for gap in covered.gaps.iter().filter(|_| is_short) {
                let what = format!("{} of {}", gap.point.name, of(&gap.who, &gap.point));
                let problem = format!("no case shows it; write {}", plain(&gap.point.lacks));
                let file = plain(&paths.show(&gap.who.file));
                let (name, line) = (plain(&what), gap.line);
                checks.push(Check { suite: COVERAGE, name, file, line, problem: Some(problem) });
            }
            if let (Some(least), Some(first)) = (covered.least, covered.coverage.parts.first())
                && !is_short
            {
                let name = format!("{}; at least {least} %", covered.line());
                let file = plain(&paths.show(&first.who.file));
                checks.push(Check { suite: COVERAGE, name, file, line: 1, problem: None });
            }
            for excuse in &covered.untrue {
                let (name, line) = ("`[[never]]` is so".to_string(), excuse.at.line);
                let file = plain(&paths.show(&excuse.file));
                let problem = Some(plain(&excuse.problem));
                checks.push(Check { suite: COVERAGE, name, file, line, problem });
            }
        }
        for tried in self.mutation.iter().flat_map(|mutated| &mutated.tried) {
            let (who, row) = (&tried.who, tried.row);
            let name = plain(&format!("{} {} ({})", who.hook, row.does, who.event));
            let file = plain(&paths.show(&who.file));
            let problem =
                tried.survived().map(|(what, cure)| plain(&format!("{what}; write {cure}")));
            let line = who.line.unwrap_or(1);
            checks.push(Check { suite: MUTATION, name, file, line, problem });
        }
        checks
    }

    /// How much is covered, for formats whose lines are the cases.
    pub(super) fn covered(&self) -> Option<String> {
        self.coverage.map(Covered::line)
    }

    /// Adds it to the document for programs.
    pub(super) fn add_to(&self, document: &mut Value, paths: &Paths) {
        if let Some(covered) = self.coverage {
            document["coverage"] = coverage_json(covered, paths);
        }
        if let Some(mutated) = self.mutation {
            document["mutation"] = json!({
                "total": mutated.tried.len(),
                "noticed": mutated.noticed(),
                "mutants": mutated.tried.iter().map(|one| tried_json(one, paths)).collect::<Vec<_>>(),
                "trouble": mutated.trouble,
                "tookMs": milliseconds(mutated.took),
            });
        }
    }

    /// For people, in 80 columns.
    pub(super) fn human(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
        if let Some(covered) = self.coverage {
            writeln!(out)?;
            coverage(covered, paths, out)?;
        }
        if let Some(mutated) = self.mutation {
            writeln!(out)?;
            mutation(mutated, paths, out)?;
        }
        Ok(())
    }
}

/// Whose a point is.
fn of(who: &Who, point: &Point) -> String {
    if point.name == "event" { who.event.clone() } else { format!("{} ({})", who.hook, who.event) }
}

fn coverage_json(covered: &Covered, paths: &Paths) -> Value {
    let (shown, all) = covered.coverage.counts();
    let state = |point: &Point| {
        let (state, why) = match &point.state {
            PointState::Covered => ("covered", None),
            PointState::Missing => ("missing", Some(&point.lacks)),
            PointState::Never(why) => ("never", Some(why)),
        };
        json!({ "name": point.name, "state": state, "why": why })
    };
    let part = |part: &CoveragePart| {
        json!({
            "event": part.who.event,
            "hook": (!part.is_event).then_some(&part.who.hook),
            "file": paths.show(&part.who.file),
            "line": part.who.line,
            "points": part.points.iter().map(state).collect::<Vec<_>>(),
        })
    };
    let gap = |gap: &Gap| {
        json!({
            "event": gap.who.event,
            "hook": (gap.point.name != "event").then_some(&gap.who.hook),
            "file": paths.show(&gap.who.file),
            "line": gap.line,
            "point": gap.point.name,
            "lacks": gap.point.lacks,
        })
    };
    let excuse = |one: &Excuse| json!({ "file": paths.show(&one.file), "line": one.at.line, "problem": one.problem });
    json!({
        "ok": covered.is_enough(),
        "percent": covered.coverage.permille() as f64 / 10.0,
        "least": covered.least,
        "covered": shown,
        "total": all,
        "parts": covered.coverage.parts.iter().map(part).collect::<Vec<_>>(),
        "missing": covered.gaps.iter().map(gap).collect::<Vec<_>>(),
        "untrue": covered.untrue.iter().map(excuse).collect::<Vec<_>>(),
    })
}

fn tried_json(tried: &Tried, paths: &Paths) -> Value {
    let mut value = json!({
        "mutant": tried.row.name,
        "event": tried.who.event,
        "hook": tried.who.hook,
        "file": paths.show(&tried.who.file),
        "line": tried.who.line,
        "cases": tried.cases,
        "noticedBy": tried.noticed,
    });
    if let Some((_, cure)) = tried.survived() {
        value["lacks"] = cure.into();
    }
    value
}

/// The widest that a column of names may be.
const EVENT_COLUMNS: usize = 18;
const HOOK_COLUMNS: usize = 28;

fn coverage(covered: &Covered, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let style = if covered.gaps.is_empty() && covered.is_enough() {
        GOOD
    } else if covered.is_enough() {
        DOUBT
    } else {
        BAD
    };
    let least = match covered.least {
        Some(least) if !covered.coverage.reaches(least) => format!("; it must be {least} %"),
        Some(_) | None => String::new(),
    };
    let line = covered.line();
    let line = line.strip_prefix("covered").unwrap_or(&line);
    writeln!(out, "{style}covered{style:#}{line}{least}")?;
    let row = |event: &str, hook: &str, points: &str, missing: &str| {
        let (event, hook) = (cell(event, EVENT_COLUMNS), cell(hook, HOOK_COLUMNS));
        format!("{event} {hook} {points:>6}  {missing}").trim_end().to_string()
    };
    writeln!(out, "        {DIM}{}{DIM:#}", row("event", "hook", "points", "missing"))?;
    for part in &covered.coverage.parts {
        let count =
            |is: fn(&PointState) -> bool| part.points.iter().filter(|one| is(&one.state)).count();
        let shown = count(|state| *state == PointState::Covered);
        let missing = part.points.iter().filter(|one| one.state == PointState::Missing);
        let missing = missing.map(|one| one.name.as_str()).collect::<Vec<_>>().join(" ");
        let points = format!("{shown}/{}", shown + count(|state| *state == PointState::Missing));
        let (event, hook) = if part.is_event {
            (part.who.event.as_str(), "")
        } else {
            ("", part.who.hook.as_str())
        };
        writeln!(out, "        {}", row(event, hook, &points, &plain(&missing)))?;
    }
    for gap in &covered.gaps {
        let place = format!("{}:{}", plain(&paths.show(&gap.who.file)), gap.line);
        let what = plain(&format!("{} ({})", gap.point.name, gap.who.event));
        writeln!(out, "\n{DOUBT}missing{DOUBT:#} {BOLD}{what}{BOLD:#}: {place}")?;
        label(out, "write", &plain(&gap.point.lacks))?;
    }
    excuses(covered, paths, out)
}

/// What no case can show, with the reasons, and what is said of that in vain.
fn excuses(covered: &Covered, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    for (part, point) in covered.coverage.points() {
        let PointState::Never(why) = &point.state else { continue };
        if std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        let what = plain(&format!("{} of {}", point.name, of(&part.who, point)));
        writeln!(out, "{DIM}never{DIM:#}   {what}")?;
        label(out, "why", &plain(why))?;
    }
    for excuse in &covered.untrue {
        let place = format!("{}:{}", plain(&paths.show(&excuse.file)), excuse.at.line);
        writeln!(out, "\n{BAD}untrue{BAD:#}  {BOLD}`[[never]]`{BOLD:#}: {place}")?;
        label(out, "why", &plain(&excuse.problem))?;
    }
    Ok(())
}

fn mutation(mutated: &Mutated, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let style = if mutated.is_good() { GOOD } else { BAD };
    writeln!(
        out,
        "{style}killed{style:#} {} of {} in {}",
        mutated.noticed(),
        counted(mutated.tried.len(), "mutant"),
        short(milliseconds(mutated.took))
    )?;
    if let Some(trouble) = &mutated.trouble {
        label(out, "trouble", &plain(trouble))?;
    }
    for tried in &mutated.tried {
        let Some((what, cure)) = tried.survived() else { continue };
        let line = tried.who.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = format!("{}{line}", plain(&paths.show(&tried.who.file)));
        writeln!(out, "\n{BAD}SURVIVED{BAD:#} {BOLD}{}{BOLD:#}", plain(&what))?;
        label(out, "hook", &place)?;
        label(out, "write", &plain(&cure))?;
    }
    Ok(())
}

/// A name in a column: filled up, or cut.
fn cell(name: &str, columns: usize) -> String {
    let name = plain(name);
    if name.chars().count() <= columns {
        return format!("{name:<columns$}");
    }
    name.chars().take(columns - 1).chain(['…']).collect()
}
