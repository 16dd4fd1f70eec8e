//! The reports of several jobs become one: each has decided a part, and together they are checked
//! to be the whole. Findings are merged in the order of the recordings, with memory for one of
//! each report.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::finding::{LinePlace, ReplayFinding};
use super::partition::Partition;
use super::report::{Footer, Header, VERSION};
use super::totals::Totals;
use crate::lab::audit::read::{Backwards, FileLines, place};

#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}", place = place(file, *line))]
pub struct MergeError {
    pub file: PathBuf,
    /// From 1.
    pub line: Option<u64>,
    /// The problem, and what to do.
    pub problem: String,
}

#[derive(Debug)]
pub struct PartialReports {
    pub header: Header,
    pub totals: Totals,
    parts: Vec<PartialReport>,
}

/// One report, read up to its next finding.
#[derive(Debug)]
struct PartialReport {
    file: PathBuf,
    lines: FileLines,
    buffer: Vec<u8>,
    header: Header,
    next: Option<ReplayFinding>,
    /// How many findings are still to come.
    expected: u64,
}

impl PartialReports {
    /// Opens the reports in `files` and checks that they are whole and, together, complete.
    pub fn open(files: &[PathBuf]) -> Result<PartialReports, MergeError> {
        let mut parts = Vec::with_capacity(files.len());
        let mut totals = Totals::default();
        for file in files {
            let (part, own) = PartialReport::open(file)?;
            totals.merge(&own);
            parts.push(part);
        }
        let Some(first) = parts.first() else {
            let problem = "there is no report to merge".to_string();
            return Err(MergeError { file: PathBuf::new(), line: None, problem });
        };
        let header = Header { partition: None, ..first.header.clone() };
        for part in &parts {
            let other = Header { partition: None, ..part.header.clone() };
            if other != header {
                let first = parts[0].file.display();
                let problem = format!(
                    "it is of another replay than `{first}`: run all with the same recordings and options"
                );
                return Err(part.fails(None, problem));
            }
        }
        check_complete(&parts)?;
        Ok(PartialReports { header, totals, parts })
    }

    /// Gives all findings in order, and returns what was counted.
    pub fn merge<E: From<MergeError>>(
        mut self,
        each: &mut dyn FnMut(&ReplayFinding) -> Result<(), E>,
    ) -> Result<Totals, E> {
        for part in &mut self.parts {
            part.advance()?;
        }
        let mut of_file: Option<ReplayFinding> = None;
        loop {
            let places = self.parts.iter().enumerate().filter_map(|(at, part)| {
                part.next.as_ref().map(|finding| (order(finding.place()), at))
            });
            let Some((_, at)) = places.min() else { break };
            let Some(finding) = self.parts[at].next.take() else { break };
            self.parts[at].advance()?;
            // A file that cannot be read is told by every part, and is one file.
            if finding.place().line.is_none() {
                if of_file.as_ref() == Some(&finding) {
                    self.totals.unreadable -= 1;
                    continue;
                }
                of_file = Some(finding.clone());
            }
            each(&finding)?;
        }
        Ok(self.totals)
    }
}

/// A problem with a whole file comes after its lines.
fn order(place: &LinePlace) -> (usize, u64) {
    (place.input, place.line.unwrap_or(u64::MAX))
}

/// Each part once, and all of them.
fn check_complete(parts: &[PartialReport]) -> Result<(), MergeError> {
    let mut numbers: Vec<(Partition, &PartialReport)> = Vec::with_capacity(parts.len());
    for part in parts {
        let text = part.header.partition.as_deref().unwrap_or("1/1");
        let partition = text
            .parse::<Partition>()
            .map_err(|error| part.fails(Some(1), format!("`partition` is `{text}`: {error}")))?;
        if let Some((other, before)) =
            numbers.first().filter(|(other, _)| other.of() != partition.of())
        {
            let before = before.file.display();
            let problem = format!("it is part {partition}, and `{before}` is part {other}");
            return Err(part.fails(None, problem));
        }
        if let Some((_, before)) = numbers.iter().find(|(other, _)| *other == partition) {
            let before = before.file.display();
            let problem = format!("it is part {partition}, and so is `{before}`; name each once");
            return Err(part.fails(None, problem));
        }
        numbers.push((partition, part));
    }
    let Some((any, part)) = numbers.first() else { return Ok(()) };
    let of = any.of();
    if of == numbers.len() as u64 {
        return Ok(());
    }
    let is_there = |number: &u64| numbers.iter().any(|(one, _)| one.number() == *number);
    let missing: Vec<String> =
        (1..=of).filter(|number| !is_there(number)).take(10).map(|n| n.to_string()).collect();
    let problem = format!(
        "it is one of {of} parts, and not all of them are here: name also the report of part {}",
        missing.join(", ")
    );
    Err(part.fails(None, problem))
}

impl PartialReport {
    fn open(file: &Path) -> Result<(PartialReport, Totals), MergeError> {
        let fails = |line: Option<u64>, problem: String| MergeError {
            file: file.to_path_buf(),
            line,
            problem,
        };
        let unreadable =
            |error: crate::lab::audit::read::ReadError| fails(error.line, error.problem);
        let last = Backwards::open(file).and_then(|mut lines| lines.line_before());
        let last = last.map_err(unreadable)?;
        let mut lines = FileLines::open(file).map_err(unreadable)?;
        let mut buffer = Vec::new();
        let first = lines.next_line(&mut buffer).map_err(unreadable)?;
        let cure = "give --merge the output of `hookrun replay --format json`";
        let header = first.and_then(|_| serde_json::from_slice::<Header>(&buffer).ok());
        let Some(header) = header else {
            if let Some(version) = version_of(&buffer).filter(|version| *version > VERSION) {
                return Err(fails(Some(1), newer(version)));
            }
            return Err(fails(first, format!("it is no report of a replay; {cure}")));
        };
        if header.hookrun_replay != VERSION {
            return Err(fails(Some(1), newer(header.hookrun_replay)));
        }
        let footer = last.and_then(|(_, line)| serde_json::from_slice::<Footer>(&line).ok());
        let Some(Footer { totals, .. }) = footer else {
            let problem = "it has no end: the job was interrupted; run that part again";
            return Err(fails(None, problem.to_string()));
        };
        let expected = totals.changed + totals.undecided + totals.unreadable;
        let (file, next) = (file.to_path_buf(), None);
        Ok((PartialReport { file, lines, buffer, header, next, expected }, totals))
    }

    fn advance(&mut self) -> Result<(), MergeError> {
        let line = match self.lines.next_line(&mut self.buffer) {
            Ok(line) => line,
            Err(error) => return Err(self.fails(error.line, error.problem)),
        };
        if self.expected == 0 {
            return match read::<Footer>(&self.buffer) {
                Ok(_) => Ok(()),
                Err(error) => {
                    Err(self.fails(line, format!("it has more than it counted: {error}")))
                }
            };
        }
        let Some(number) = line else {
            return Err(self.fails(None, "findings are missing; run that part again".to_string()));
        };
        match read::<ReplayFinding>(&self.buffer) {
            Ok(finding) => {
                self.next = Some(finding);
                self.expected -= 1;
                Ok(())
            }
            Err(error) => Err(self.fails(Some(number), format!("it is no finding: {error}"))),
        }
    }

    fn fails(&self, line: Option<u64>, problem: String) -> MergeError {
        MergeError { file: self.file.clone(), line, problem }
    }
}

fn read<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

fn version_of(line: &[u8]) -> Option<u64> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    value.get("hookrunReplay")?.as_u64()
}

fn newer(version: u64) -> String {
    format!(
        "it was written by a newer hookrun, in version {version} of the form, and this one reads {VERSION}; update hookrun"
    )
}

impl From<MergeError> for io::Error {
    fn from(error: MergeError) -> io::Error {
        io::Error::other(error.to_string())
    }
}
