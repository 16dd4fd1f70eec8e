//! The reports of several jobs become one: each has decided a part, and together they are checked
//! to be the whole. Findings are merged in the order of the recordings, with memory for one of
//! each report.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::finding::{LinePlace, ReplayFinding};
use super::partition::Partition;
use super::report::{Footer, Header, VERSION};
use super::totals::Totals;
use crate::log::read::{Backwards, FileLines, ReadError};

#[derive(Debug)]
pub struct PartialReports {
    pub header: Header,
    pub totals: Totals,
    parts: Vec<PartialReport>,
    /// The last finding about a whole file.
    of_file: Option<ReplayFinding>,
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
    pub fn open(files: &[PathBuf]) -> Result<PartialReports, ReadError> {
        let mut parts = Vec::with_capacity(files.len());
        let mut totals = Totals::default();
        for file in files {
            let (part, own) = PartialReport::open(file)?;
            totals.merge(&own);
            parts.push(part);
        }
        let Some(first) = parts.first() else {
            let problem = "there is no report to merge".to_string();
            return Err(ReadError {
                file: PathBuf::new(),
                line: None,
                problem,
            });
        };
        let header = Header {
            partition: None,
            ..first.header.clone()
        };
        for part in &parts {
            let other = Header {
                partition: None,
                ..part.header.clone()
            };
            if other != header {
                let first = parts[0].file.display();
                let problem = format!(
                    "it is of another replay than `{first}`: run all with the same recordings and options"
                );
                return Err(part.fails(None, problem));
            }
        }
        check_complete(&parts)?;
        for part in &mut parts {
            part.advance()?;
        }
        Ok(PartialReports {
            header,
            totals,
            parts,
            of_file: None,
        })
    }

    /// The next finding, in the order of the recordings. After the last one `totals` is final.
    pub fn next_finding(&mut self) -> Result<Option<ReplayFinding>, ReadError> {
        loop {
            let places = self.parts.iter().enumerate().filter_map(|(at, part)| {
                part.next
                    .as_ref()
                    .map(|finding| (order(finding.place()), at))
            });
            let Some((_, at)) = places.min() else {
                return Ok(None);
            };
            let next = self.parts[at].next.take();
            self.parts[at].advance()?;
            // Every part reports a file that cannot be read, and it is one file.
            let Some(finding) = next else { return Ok(None) };
            if finding.place().line.is_some() {
                return Ok(Some(finding));
            }
            if self.of_file.as_ref() != Some(&finding) {
                self.of_file = Some(finding.clone());
                return Ok(Some(finding));
            }
            self.totals.unreadable -= 1;
        }
    }
}

/// A problem with a whole file comes after its lines.
fn order(place: &LinePlace) -> (usize, u64) {
    (place.input, place.line.unwrap_or(u64::MAX))
}

/// Each part once, and all of them.
fn check_complete(parts: &[PartialReport]) -> Result<(), ReadError> {
    let mut numbers: Vec<(Partition, &PartialReport)> = Vec::with_capacity(parts.len());
    for part in parts {
        let text = part.header.partition.as_deref().unwrap_or("1/1");
        let partition = text
            .parse::<Partition>()
            .map_err(|error| part.fails(Some(1), format!("`partition` is `{text}`: {error}")))?;
        if let Some((other, before)) = numbers
            .first()
            .filter(|(other, _)| other.of() != partition.of())
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
    let Some((any, part)) = numbers.first() else {
        return Ok(());
    };
    let of = any.of();
    if of == numbers.len() as u64 {
        return Ok(());
    }
    let is_there = |number: &u64| numbers.iter().any(|(one, _)| one.number() == *number);
    let missing: Vec<String> = (1..=of)
        .filter(|number| !is_there(number))
        .take(10)
        .map(|n| n.to_string())
        .collect();
    let problem = format!(
        "it is one of {of} parts, and not all of them are here: name also the report of part {}",
        missing.join(", ")
    );
    Err(part.fails(None, problem))
}

impl PartialReport {
    fn open(file: &Path) -> Result<(PartialReport, Totals), ReadError> {
        let fails = |line: Option<u64>, problem: String| ReadError {
            file: file.to_path_buf(),
            line,
            problem,
        };
        let last = Backwards::open(file).and_then(|mut lines| lines.line_before())?;
        let mut lines = FileLines::open(file)?;
        let mut buffer = Vec::new();
        let first = lines.next_line(&mut buffer)?;
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
        Ok((
            PartialReport {
                file,
                lines,
                buffer,
                header,
                next,
                expected,
            },
            totals,
        ))
    }

    fn advance(&mut self) -> Result<(), ReadError> {
        let line = self.lines.next_line(&mut self.buffer)?;
        if self.expected == 0 {
            let more = |error| self.fails(line, format!("it has more than it counted: {error}"));
            return read::<Footer>(&self.buffer).map(drop).map_err(more);
        }
        let Some(number) = line else {
            return Err(self.fails(
                None,
                "findings are missing; run that part again".to_string(),
            ));
        };
        let finding = read::<ReplayFinding>(&self.buffer)
            .map_err(|error| self.fails(Some(number), format!("it is no finding: {error}")))?;
        self.next = Some(finding);
        self.expected -= 1;
        Ok(())
    }

    fn fails(&self, line: Option<u64>, problem: String) -> ReadError {
        ReadError {
            file: self.file.clone(),
            line,
            problem,
        }
    }
}

fn read<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

fn version_of(line: &[u8]) -> Option<u64> {
    read::<serde_json::Value>(line)
        .ok()?
        .get("hookrunReplay")?
        .as_u64()
}

fn newer(version: u64) -> String {
    format!(
        "it was written by a newer hookrun, in version {version} of the form, and this one reads {VERSION}; update hookrun"
    )
}
