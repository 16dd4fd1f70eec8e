//! Cases that were played cold and warm, and how long their hooks took.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::check::{Check, CheckList, CheckPlace, CheckReport, CheckState};
use super::style::{BAD, DIM, DOUBT, GOOD, counted, cut, label, short};
use crate::engine::harmless::plain;
use crate::engine::run::ColdReason;
use crate::lab::scenario::coverage::Who;
use crate::lab::scenario::warm::Difference;
use crate::log::report::{Paths, VERSION, milliseconds, present};

const DIFFERS: &str = "hookrun test --warm-differs";
const PROFILE: &str = "hookrun test --profile";

/// What a whole suite has shown, cold against warm.
#[derive(Debug, Clone, Default)]
pub struct WarmReport {
    /// Each, in the order of the files and of the cases in them.
    pub cases: Vec<WarmCase>,
    /// For each way in which an interpreter is started: what a script sees of its process.
    pub probes: Vec<ProbeReport>,
    /// Hooks that were not started warm.
    pub cold: BTreeSet<(Who, ColdReason)>,
    pub took: Duration,
}

#[derive(Debug, Clone)]
pub struct WarmCase {
    pub file: PathBuf,
    pub line: usize,
    pub name: String,
    pub end: WarmEnd,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WarmEnd {
    /// All is the same, but for places that differ between two cold starts too.
    Same {
        varies: Vec<String>,
    },
    Differs(Vec<Difference>),
    CouldNot(String),
    Skipped(String),
    /// hookrun was interrupted before.
    NotRun,
}

#[derive(Debug, Clone, Default)]
pub struct ProbeReport {
    /// The interpreter with its options, and the variables of its case.
    pub start: String,
    /// How many things a script looked at.
    pub probes: usize,
    /// In how many ways scripts ended.
    pub endings: usize,
    /// The probes and endings that differ as the documents say.
    pub known: BTreeSet<String>,
    /// What else differs.
    pub differences: Vec<Difference>,
}

impl WarmEnd {
    fn name(&self) -> &'static str {
        match self {
            WarmEnd::Same { .. } => "same",
            WarmEnd::Differs(_) => "differs",
            WarmEnd::CouldNot(_) => "could-not",
            WarmEnd::Skipped(_) => "skipped",
            WarmEnd::NotRun => "not-run",
        }
    }
}

impl WarmReport {
    /// Whether every difference is a documented one.
    pub fn is_same(&self) -> bool {
        self.cases
            .iter()
            .all(|case| !matches!(case.end, WarmEnd::Differs(_)))
            && self
                .probes
                .iter()
                .all(|probes| probes.differences.is_empty())
    }

    /// Whether some cases could not run.
    pub fn is_incomplete(&self) -> bool {
        self.cases
            .iter()
            .any(|case| matches!(case.end, WarmEnd::CouldNot(_) | WarmEnd::NotRun))
    }

    fn totals(&self) -> String {
        let probes = self
            .probes
            .iter()
            .map(|one| one.probes + one.endings)
            .sum::<usize>();
        format!(
            "{} and {}",
            counted(self.cases.len(), "case"),
            counted(probes, "probe")
        )
    }
}

impl CheckReport for WarmReport {
    fn human(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
        for case in &self.cases {
            let (style, words) = match &case.end {
                WarmEnd::Same { .. } => (GOOD, "same"),
                WarmEnd::Differs(_) => (BAD, "DIFFERS"),
                WarmEnd::CouldNot(_) => (BAD, "ERROR"),
                WarmEnd::Skipped(_) | WarmEnd::NotRun => (DOUBT, case.end.name()),
            };
            let place = plain(&paths.show_line(&case.file, Some(case.line)));
            writeln!(
                out,
                "{style}{words:<7}{style:#} {}  {DIM}{place}{DIM:#}",
                plain(&case.name)
            )?;
            match &case.end {
                WarmEnd::Differs(differences) => sides(differences, out)?,
                WarmEnd::CouldNot(why) | WarmEnd::Skipped(why) => label(out, "why", &plain(why))?,
                WarmEnd::Same { varies } if !varies.is_empty() => {
                    let places = plain(&varies.join(", "));
                    label(
                        out,
                        "varies",
                        &format!("from one cold start to the next: {places}"),
                    )?;
                }
                WarmEnd::Same { .. } | WarmEnd::NotRun => {}
            }
        }
        for probes in &self.probes {
            let is_same = probes.differences.is_empty();
            let (style, words) = if is_same {
                (GOOD, "same")
            } else {
                (BAD, "DIFFERS")
            };
            let (start, known) = (plain(&probes.start), probes.known.len());
            let counts = format!("{} probes, {} endings", probes.probes, probes.endings);
            writeln!(
                out,
                "{style}{words:<7}{style:#} {start}: {counts}; {known} differ as listed"
            )?;
            sides(&probes.differences, out)?;
        }
        for (who, reason) in &self.cold {
            let (name, hook) = (reason.name(), plain(&who.hook));
            writeln!(
                out,
                "{DOUBT}cold{DOUBT:#}    {hook} ({name}): {}",
                reason.about()
            )?;
        }
        let (style, words) = match (self.is_same(), self.is_incomplete()) {
            (false, _) => (BAD, "DIFFERS"),
            (true, true) => (BAD, "ERROR"),
            (true, false) => (GOOD, "same"),
        };
        let took = short(milliseconds(self.took));
        writeln!(
            out,
            "\n{style}{words}{style:#}: {} in {took}",
            self.totals()
        )
    }

    fn json(&self, paths: &Paths) -> Value {
        let case = |case: &WarmCase| {
            let mut value = json!({
                "file": paths.show(&case.file),
                "line": case.line,
                "name": case.name,
                "result": case.end.name(),
            });
            match &case.end {
                WarmEnd::Same { varies } => value["varies"] = json!(varies),
                WarmEnd::Differs(found) => value["differences"] = listed(found),
                WarmEnd::CouldNot(why) | WarmEnd::Skipped(why) => value["why"] = json!(why),
                WarmEnd::NotRun => {}
            }
            value
        };
        let probes = |one: &ProbeReport| {
            json!({
                "start": one.start,
                "probes": one.probes,
                "endings": one.endings,
                "known": one.known,
                "differences": listed(&one.differences),
            })
        };
        let cold = |(who, reason): &(Who, ColdReason)| {
            json!({
                "hook": who.hook,
                "event": who.event,
                "file": paths.show(&who.file),
                "reason": reason.name(),
                "about": reason.about(),
            })
        };
        json!({
            "version": VERSION,
            "suite": DIFFERS,
            "ok": self.is_same() && !self.is_incomplete(),
            "cases": self.cases.iter().map(case).collect::<Vec<_>>(),
            "probes": self.probes.iter().map(probes).collect::<Vec<_>>(),
            "cold": self.cold.iter().map(cold).collect::<Vec<_>>(),
            "tookMs": milliseconds(self.took),
        })
    }

    fn checks(&self, paths: &Paths) -> CheckList {
        let of_cases = self.cases.iter().map(|case| {
            let file = plain(&paths.show(&case.file));
            let place = CheckPlace {
                file: file.clone(),
                line: case.line,
            };
            let (state, details) = match &case.end {
                WarmEnd::Same { .. } => (CheckState::Passed, String::new()),
                WarmEnd::Differs(found) => (CheckState::Failed, words_of(found)),
                WarmEnd::CouldNot(why) => (CheckState::Error, plain(why)),
                WarmEnd::Skipped(why) => (CheckState::Skipped(plain(why)), String::new()),
                WarmEnd::NotRun => (CheckState::Skipped("not run".to_string()), String::new()),
            };
            check(file, plain(&case.name), Some(place), state, details)
        });
        let of_probes = self.probes.iter().map(|one| {
            let state = CheckState::failed_if(!one.differences.is_empty());
            let details = words_of(&one.differences);
            check(
                "probes".to_string(),
                plain(&one.start),
                None,
                state,
                details,
            )
        });
        CheckList {
            name: DIFFERS.to_string(),
            checks: of_cases.chain(of_probes).collect(),
            took: Some(self.took),
            totals: vec![self.totals()],
            is_stopped: self.cases.iter().any(|case| case.end == WarmEnd::NotRun),
        }
    }
}

fn check(
    suite: String,
    name: String,
    place: Option<CheckPlace>,
    state: CheckState,
    details: String,
) -> Check {
    let message = details.lines().next().unwrap_or_default().to_string();
    Check {
        suite,
        name,
        place,
        state,
        message,
        details,
        ..Check::default()
    }
}

/// What a side shows; a missing value is `nothing`.
fn shown(side: Option<&String>) -> String {
    side.map_or("nothing".to_string(), |text| cut(&plain(text)))
}

fn sides(differences: &[Difference], out: &mut dyn Write) -> io::Result<()> {
    for one in differences {
        label(out, "differs", &plain(&one.place))?;
        label(out, "cold", &shown(one.cold.as_ref()))?;
        label(out, "warm", &shown(one.warm.as_ref()))?;
    }
    Ok(())
}

fn words_of(differences: &[Difference]) -> String {
    let line = |one: &Difference| {
        let (cold, warm) = (shown(one.cold.as_ref()), shown(one.warm.as_ref()));
        format!("{}: cold {cold}, warm {warm}", plain(&one.place))
    };
    differences.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn listed(differences: &[Difference]) -> Value {
    let one = |one: &Difference| {
        present(json!({ "place": one.place, "cold": one.cold, "warm": one.warm }))
    };
    differences.iter().map(one).collect()
}

/// How long the hooks of a suite take.
#[derive(Debug, Clone, Default)]
pub struct ProfileReport {
    /// Those that ran, the longest first.
    pub hooks: Vec<HookProfile>,
    pub took: Duration,
}

#[derive(Debug, Clone)]
pub struct HookProfile {
    pub who: Who,
    /// How often it ran cold.
    pub runs: usize,
    /// The median time of a cold run.
    pub cold: Duration,
    /// What 99 of 100 cold runs did not exceed.
    pub p99: Duration,
    /// How long it may run; `None` if there is no end.
    pub timeout: Option<Duration>,
    /// The median when it started warm, or why it never did; `None` if it may not.
    pub warm: Option<Result<Duration, ColdReason>>,
}

impl HookProfile {
    fn gain(&self) -> Option<Duration> {
        Some(self.cold.saturating_sub(self.warm?.ok()?))
    }

    /// How much of its timeout the p99 is.
    fn share(&self) -> Option<f64> {
        self.timeout
            .map(|timeout| self.p99.as_secs_f64() / timeout.as_secs_f64())
    }

    fn name(&self) -> String {
        plain(&format!("{} ({})", self.who.hook, self.who.event))
    }

    fn times(&self) -> String {
        let [cold, p99] = [self.cold, self.p99].map(|time| short(milliseconds(time)));
        let share = self.share().map_or("no timeout".to_string(), |share| {
            format!("{:.1} % of its timeout", share * 100.0)
        });
        format!("{cold:>9}  p99 {p99:>9}  {share}")
    }

    fn start(&self) -> Option<String> {
        match (self.warm?, self.gain()) {
            (Ok(warm), Some(gain)) => {
                let (warm, gain) = (short(milliseconds(warm)), short(milliseconds(gain)));
                Some(format!("{warm} with `warm = \"fork\"`, {gain} less"))
            }
            (Err(reason), _) => Some(format!("cannot start warm ({})", reason.name())),
            (Ok(_), None) => None,
        }
    }
}

/// How wide the bar of the longest p99 is.
const BAR_COLUMNS: u128 = 24;

/// A bar for a part of the longest: the median in full blocks, what is more up to the p99 in light
/// ones. In whole numbers: as floating-point numbers, `24 × p99 / p99` is more than 24 for one time
/// in fourteen.
fn bar(median: Duration, p99: Duration, longest: Duration) -> String {
    let columns = |time: Duration| {
        let columns = (BAR_COLUMNS * time.as_nanos()).div_ceil(longest.as_nanos().max(1));
        usize::try_from(columns).unwrap_or_default()
    };
    let (median, p99) = (columns(median), columns(p99));
    "█".repeat(median) + &"░".repeat(p99.saturating_sub(median))
}

impl CheckReport for ProfileReport {
    fn human(&self, _: &Paths, out: &mut dyn Write) -> io::Result<()> {
        let longest = self
            .hooks
            .iter()
            .map(|one| one.p99)
            .max()
            .unwrap_or_default();
        let widest = self
            .hooks
            .iter()
            .map(|one| one.name().chars().count())
            .max()
            .unwrap_or(0);
        for one in &self.hooks {
            let is_late = one.share().is_some_and(|share| share > 0.5);
            let style = if is_late { DOUBT } else { GOOD };
            writeln!(out, "{:<widest$}  {}", one.name(), one.times())?;
            let bar = bar(one.cold, one.p99, longest);
            let start = one
                .start()
                .map(|start| format!("  {start}"))
                .unwrap_or_default();
            writeln!(out, "  {style}{bar}{style:#}{start}")?;
        }
        let gain: Duration = self.hooks.iter().filter_map(HookProfile::gain).sum();
        let (all, gain) = (counted(self.hooks.len(), "hook"), short(milliseconds(gain)));
        writeln!(
            out,
            "\n{all}; `warm = \"fork\"` saves {gain} if each runs once"
        )
    }

    fn json(&self, paths: &Paths) -> Value {
        let ms = |time: Option<Duration>| time.map(milliseconds);
        let hook = |one: &HookProfile| {
            present(json!({
                "hook": one.who.hook,
                "event": one.who.event,
                "file": paths.show(&one.who.file),
                "runs": one.runs,
                "coldMs": milliseconds(one.cold),
                "p99Ms": milliseconds(one.p99),
                "timeoutMs": ms(one.timeout),
                "warmMs": ms(one.warm.and_then(Result::ok)),
                "gainMs": ms(one.gain()),
                "reason": one.warm.and_then(Result::err).map(ColdReason::name),
            }))
        };
        json!({
            "version": VERSION,
            "suite": PROFILE,
            "hooks": self.hooks.iter().map(hook).collect::<Vec<_>>(),
            "tookMs": milliseconds(self.took),
        })
    }

    fn checks(&self, paths: &Paths) -> CheckList {
        let of_hook = |one: &HookProfile| {
            let file = plain(&paths.show(&one.who.file));
            let place = CheckPlace {
                file: file.clone(),
                line: one.who.line.unwrap_or(1),
            };
            let times: Vec<String> = [Some(one.times()), one.start()]
                .into_iter()
                .flatten()
                .collect();
            let details = times.join("; ");
            check(
                file,
                plain(&one.who.hook),
                Some(place),
                CheckState::Passed,
                details,
            )
        };
        let checks = self.hooks.iter().map(of_hook).collect();
        let took = Some(self.took);
        CheckList {
            name: PROFILE.to_string(),
            checks,
            took,
            ..CheckList::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_of_the_longest_is_as_wide_as_any() {
        // 24 × 14,956 ns / 14,956 ns is 24.000000000000004 in floating-point seconds.
        for nanoseconds in [1, 14_956, 26_920, 52_700_000] {
            let longest = Duration::from_nanos(nanoseconds);
            assert_eq!(
                bar(longest / 2, longest, longest).chars().count(),
                24,
                "{nanoseconds}"
            );
            assert_eq!(
                bar(longest, longest, longest),
                "█".repeat(24),
                "{nanoseconds}"
            );
        }
        assert_eq!(bar(Duration::ZERO, Duration::ZERO, Duration::ZERO), "");
    }
}
