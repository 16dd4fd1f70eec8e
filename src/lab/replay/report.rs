//! What a replay has found, in every format that CI systems read. Findings are written as they
//! come; only what is shown is bounded, and all is counted.

mod human;
mod junit;

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::compare::ComparedOutcome;
use super::finding::{OutcomeChange, ReplayFinding};
use super::partition::Partition;
use super::totals::{ReplayEnd, Totals};
use crate::lab::report::github::annotation;
use crate::lab::report::plain;

/// The version of the form of `--format json`.
pub const VERSION: u64 = 1;

/// What a report begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// [`VERSION`].
    pub hookrun_replay: u64,
    /// The recordings, in the order in which they were named.
    pub inputs: Vec<String>,
    /// The part that was decided, `3/8`; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The folder of the other set of hooks, where two are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The folders that hooks were taken from, where they are named, and the settings files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// Those of the system, the user and the project as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discover: bool,
    /// The hooks whose decisions may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_change: Vec<String>,
    /// Other words are changes too.
    pub strict: bool,
    /// Events that were not kept whole count as decided.
    pub allow_undecided: bool,
}

/// What a report ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    pub totals: Totals,
    /// `same`, `changed` or `incomplete`.
    pub ended: String,
}

/// Writes a report, finding by finding.
pub trait Report {
    /// Before the first finding.
    ///
    /// # Errors
    /// When the writer fails.
    fn begin(&mut self, header: &Header, out: &mut dyn Write) -> io::Result<()>;

    /// A finding.
    ///
    /// # Errors
    /// When the writer fails.
    fn finding(&mut self, finding: &ReplayFinding, out: &mut dyn Write) -> io::Result<()>;

    /// After the last one.
    ///
    /// # Errors
    /// When the writer fails.
    fn end(&mut self, totals: &Totals, ended: ReplayEnd, out: &mut dyn Write) -> io::Result<()>;

    /// In place of the end, when there will be none. A form that says by itself that its end is
    /// missing needs nothing.
    ///
    /// # Errors
    /// When the writer fails.
    fn cut_short(&mut self, _why: &str, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// A format: its name, and what writes it, showing at most so many findings.
pub type ReplayFormat = (&'static str, fn(u64) -> Box<dyn Report>);

/// The formats of `hookrun replay`.
pub const FORMATS: &[ReplayFormat] = &[
    ("human", |most| Box::new(human::Human::showing(most))),
    ("json", |_| Box::new(Json)),
    ("junit", |most| Box::new(junit::Junit::showing(most))),
    ("tap", |most| Box::new(Tap { shown: FindingLimit::at_most(most) })),
    ("github", |most| Box::new(Github { shown: FindingLimit::at_most(most), header: None })),
];

impl Header {
    /// Of a replay of these recordings.
    pub fn new(inputs: Vec<String>, partition: Partition) -> Header {
        let partition = (partition != Partition::WHOLE).then(|| partition.to_string());
        Header {
            hookrun_replay: VERSION,
            inputs,
            partition,
            against: None,
            hooks: Vec::new(),
            settings: Vec::new(),
            discover: false,
            allow_change: Vec::new(),
            strict: false,
            allow_undecided: false,
        }
    }
}

impl ReplayEnd {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ReplayEnd::Same => "same",
            ReplayEnd::Changed => "changed",
            ReplayEnd::Incomplete => "incomplete",
        }
    }
}

/// How many findings are shown, and how many are not.
#[derive(Debug)]
struct FindingLimit {
    most: u64,
    shown: u64,
    left_out: u64,
}

impl FindingLimit {
    fn at_most(most: u64) -> FindingLimit {
        FindingLimit { most, shown: 0, left_out: 0 }
    }

    /// Whether one more is shown.
    fn one_more(&mut self) -> bool {
        let has_room = self.shown < self.most;
        if has_room {
            self.shown += 1;
        } else {
            self.left_out += 1;
        }
        has_room
    }

    /// What is said of those that are not shown.
    fn rest(&self) -> Option<String> {
        let findings = if self.left_out == 1 { "finding" } else { "findings" };
        let rest = format!("and {} more {findings}; --most shows more of them", self.left_out);
        (self.left_out > 0).then_some(rest)
    }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// What happened to an event, in words: `was allowed, is refused by guard.sh`.
fn turn(change: &OutcomeChange) -> String {
    let (was, is) = (outcome(&change.was), outcome(&change.is));
    if change.was.decision == change.is.decision && change.was.cause == change.is.cause {
        let what = change.differs.join(", ");
        return format!("{is} as before; what differs: {what}");
    }
    format!("was {was}, is {is}")
}

fn outcome(said: &ComparedOutcome) -> String {
    let word = match said.decision.as_ref() {
        "allow" => "allowed",
        "ask" => "asked",
        _ => "blocked",
    };
    let how = if said.cause.as_deref() == Some("failure") { " for a failure" } else { "" };
    let by = said.hook.as_deref().map(|hook| format!(" by {}", plain(hook))).unwrap_or_default();
    format!("{word}{how}{by}")
}

/// The finding on one line, without its place.
fn line(finding: &ReplayFinding) -> String {
    match finding {
        ReplayFinding::Changed(change) => {
            let expected = if change.expected { " (expected)" } else { "" };
            let reason = change.is.reason.as_ref().or(change.was.reason.as_ref());
            let reason = reason.and_then(|reason| reason.lines().next());
            let reason = reason.map(|reason| format!(": {}", plain(reason))).unwrap_or_default();
            format!("{} {}{expected}{reason}", plain(&change.event), turn(change))
        }
        ReplayFinding::Undecided(undecided) => {
            format!(
                "{} cannot be decided again: {}",
                plain(&undecided.event),
                plain(&undecided.why)
            )
        }
        ReplayFinding::Unreadable(unreadable) => plain(&unreadable.problem),
    }
}

/// Whether the finding alone keeps a replay from ending well.
fn is_failure(finding: &ReplayFinding) -> bool {
    !matches!(finding, ReplayFinding::Changed(change) if change.expected)
}

/// A sentence about all.
fn summary(totals: &Totals) -> String {
    let mut text = format!(
        "{}: {} as recorded, {} changed",
        counted(totals.events, "event"),
        totals.same,
        totals.changed
    );
    if totals.expected > 0 {
        text.push_str(&format!(" ({} of them expected)", totals.expected));
    }
    if totals.undecided > 0 {
        text.push_str(&format!(", {} not decided", totals.undecided));
    }
    if totals.unreadable > 0 {
        text.push_str(&format!(", {} not readable", totals.unreadable));
    }
    text
}

/// Lines of JSON: a header, every finding, the totals.
struct Json;

impl Report for Json {
    fn begin(&mut self, header: &Header, out: &mut dyn Write) -> io::Result<()> {
        json_line(header, out)
    }

    fn finding(&mut self, finding: &ReplayFinding, out: &mut dyn Write) -> io::Result<()> {
        json_line(finding, out)
    }

    fn end(&mut self, totals: &Totals, ended: ReplayEnd, out: &mut dyn Write) -> io::Result<()> {
        json_line(&Footer { totals: totals.clone(), ended: ended.name().to_string() }, out)
    }
}

fn json_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// Test Anything Protocol, version 13: a test for every finding, and one for all that is the same.
struct Tap {
    shown: FindingLimit,
}

impl Report for Tap {
    fn begin(&mut self, _: &Header, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "TAP version 13")
    }

    fn finding(&mut self, finding: &ReplayFinding, out: &mut dyn Write) -> io::Result<()> {
        if !self.shown.one_more() {
            return Ok(());
        }
        let mark = if is_failure(finding) { "not ok" } else { "ok" };
        let text = format!("{} {}", plain(&finding.place().text()), line(finding));
        writeln!(out, "{mark} {} - {}", self.shown.shown, text.replace('#', "\\#"))
    }

    fn end(&mut self, totals: &Totals, ended: ReplayEnd, out: &mut dyn Write) -> io::Result<()> {
        let number = self.shown.shown + 1;
        let mark = if ended == ReplayEnd::Same { "ok" } else { "not ok" };
        writeln!(out, "{mark} {number} - {}", summary(totals))?;
        if let Some(rest) = self.shown.rest() {
            writeln!(out, "  # {rest}")?;
        }
        writeln!(out, "1..{number}")
    }

    fn cut_short(&mut self, why: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Bail out! {}", plain(why))
    }
}

/// Workflow commands of GitHub Actions, at the lines of the recording.
struct Github {
    shown: FindingLimit,
    header: Option<Header>,
}

impl Report for Github {
    fn begin(&mut self, header: &Header, _: &mut dyn Write) -> io::Result<()> {
        self.header = Some(header.clone());
        Ok(())
    }

    fn finding(&mut self, finding: &ReplayFinding, out: &mut dyn Write) -> io::Result<()> {
        if !self.shown.one_more() {
            return Ok(());
        }
        let place = finding.place();
        let mut properties = vec![("file", place.file.clone())];
        if let Some(number) = place.line {
            properties.push(("line", number.to_string()));
        }
        let may_be_undecided = self.header.as_ref().is_some_and(|header| header.allow_undecided);
        let level = match finding {
            ReplayFinding::Changed(change) if change.expected => "notice",
            ReplayFinding::Undecided(_) if may_be_undecided => "warning",
            ReplayFinding::Changed(_)
            | ReplayFinding::Undecided(_)
            | ReplayFinding::Unreadable(_) => "error",
        };
        annotation(level, &properties, &line(finding), out)
    }

    fn end(&mut self, totals: &Totals, ended: ReplayEnd, out: &mut dyn Write) -> io::Result<()> {
        let level = if ended == ReplayEnd::Same { "notice" } else { "error" };
        let mut text = summary(totals);
        if let Some(rest) = self.shown.rest() {
            text.push_str(&format!("\n{rest}"));
        }
        annotation(level, &[("title", "hookrun replay".to_string())], &text, out)
    }
}
