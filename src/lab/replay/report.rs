//! What a replay has found, in every format that CI systems read. Findings are written as they
//! come. What is shown is bounded; everything is counted.

mod header;
mod human;
mod text;

use std::io::{self, Write};

use serde::Serialize;

use super::finding::ReplayFinding;
use super::totals::{ReplayEnd, Totals};
use crate::engine::harmless::plain;
use crate::lab::report::check::{Annotation, Check, CheckList, CheckState, Written};
use crate::lab::report::github::annotation;
use crate::lab::report::{CheckFormat, tap};
use text::{FindingLimit, line, summary};

pub use header::{Footer, Header, VERSION};

const NAME: &str = "hookrun replay";

#[derive(Debug)]
pub struct ReplayReport {
    format: CheckFormat,
    header: Header,
    shown: FindingLimit,
    /// JUnit wants its counts first, so its checks are kept until the end.
    kept: Vec<Check>,
}

impl ReplayReport {
    /// Begins a report that shows at most `most` findings.
    pub fn begin(
        format: CheckFormat,
        most: u64,
        header: &Header,
        out: &mut dyn Write,
    ) -> io::Result<ReplayReport> {
        match format {
            CheckFormat::Json => json_line(header, out)?,
            CheckFormat::Tap => writeln!(out, "{}", tap::HEAD)?,
            CheckFormat::Human
            | CheckFormat::Junit
            | CheckFormat::Github
            | CheckFormat::Sarif
            | CheckFormat::Gitlab
            | CheckFormat::Azure => {}
        }
        let (header, shown) = (header.clone(), FindingLimit::at_most(most));
        Ok(ReplayReport {
            format,
            header,
            shown,
            kept: Vec::new(),
        })
    }

    /// A finding. As JSON all are there.
    pub fn finding(&mut self, finding: &ReplayFinding, out: &mut dyn Write) -> io::Result<()> {
        if self.format == CheckFormat::Json {
            return json_line(finding, out);
        }
        if !self.shown.one_more() {
            return Ok(());
        }
        let (place, state) = (plain(&finding.place().text()), self.state(finding));
        match self.format {
            CheckFormat::Tap => {
                let name = format!("{place} {}", line(finding));
                tap::check(
                    self.shown.shown,
                    &Check {
                        name,
                        state,
                        ..Check::default()
                    },
                    out,
                )
            }
            CheckFormat::Junit | CheckFormat::Sarif | CheckFormat::Gitlab | CheckFormat::Azure => {
                let message = line(finding);
                let details = if state.is_bad() {
                    String::new()
                } else {
                    message.clone()
                };
                let annotations = vec![self.annotation(finding)];
                let rest = Check {
                    annotations,
                    ..Check::default()
                };
                self.keep(Check {
                    name: place,
                    state,
                    message,
                    details,
                    ..rest
                });
                Ok(())
            }
            CheckFormat::Github => {
                let Annotation {
                    level,
                    properties,
                    message,
                } = self.annotation(finding);
                annotation(level, &properties, &message, out)
            }
            CheckFormat::Human | CheckFormat::Json => human::finding(finding, &place, out),
        }
    }

    /// After the last finding.
    pub fn end(
        &mut self,
        totals: &Totals,
        ended: ReplayEnd,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (name, rest) = (summary(totals), self.shown.rest());
        let state = match ended {
            ReplayEnd::Same => CheckState::Passed,
            ReplayEnd::Changed => CheckState::Failed,
            ReplayEnd::Incomplete => CheckState::Error,
        };
        let all = || {
            rest.iter()
                .fold(name.clone(), |all, rest| format!("{all}\n{rest}"))
        };
        match self.format {
            CheckFormat::Human => human::end(totals, ended, &self.header, rest, out),
            CheckFormat::Json => json_line(
                &Footer {
                    totals: totals.clone(),
                    ended: ended.name().to_string(),
                },
                out,
            ),
            CheckFormat::Junit | CheckFormat::Sarif | CheckFormat::Gitlab | CheckFormat::Azure => {
                let written = vec![Written {
                    stream: "stdout",
                    text: all(),
                }];
                let totals = vec![plain(&name)];
                let name = "all events".to_string();
                self.keep(Check {
                    name,
                    state,
                    message: all(),
                    written,
                    ..Check::default()
                });
                let checks = std::mem::take(&mut self.kept);
                let list = CheckList {
                    checks,
                    totals,
                    ..CheckList::default()
                };
                self.format.write_list(
                    &CheckList {
                        name: NAME.to_string(),
                        ..list
                    },
                    out,
                )
            }
            CheckFormat::Tap => {
                let number = self.shown.shown + 1;
                let details = rest.unwrap_or_default();
                tap::check(
                    number,
                    &Check {
                        name,
                        state,
                        details,
                        ..Check::default()
                    },
                    out,
                )?;
                writeln!(out, "1..{number}")
            }
            CheckFormat::Github => {
                let level = if state.is_bad() { "error" } else { "notice" };
                annotation(level, &[("title", NAME.to_string())], &all(), out)
            }
        }
    }

    /// In place of the end, when there will be none. Only TAP does not show by itself that its end
    /// is missing.
    pub fn cut_short(&mut self, why: &str, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            CheckFormat::Tap => writeln!(out, "Bail out! {}", plain(why)),
            CheckFormat::Human
            | CheckFormat::Json
            | CheckFormat::Junit
            | CheckFormat::Github
            | CheckFormat::Sarif
            | CheckFormat::Gitlab
            | CheckFormat::Azure => Ok(()),
        }
    }

    fn keep(&mut self, check: Check) {
        let part = self.header.partition.iter();
        let suite = part.fold(NAME.to_string(), |name, part| format!("{name} {part}"));
        self.kept.push(Check { suite, ..check });
    }

    fn state(&self, finding: &ReplayFinding) -> CheckState {
        match finding {
            ReplayFinding::Changed(change) => CheckState::failed_if(!change.expected),
            ReplayFinding::Undecided(_) if self.header.allow_undecided => CheckState::Passed,
            ReplayFinding::Undecided(_) | ReplayFinding::Unreadable(_) => CheckState::Error,
        }
    }

    fn annotation(&self, finding: &ReplayFinding) -> Annotation {
        let place = finding.place();
        let mut properties = vec![("file", place.file.clone())];
        properties.extend(place.line.map(|number| ("line", number.to_string())));
        let level = match (self.state(finding), finding) {
            (CheckState::Passed, ReplayFinding::Changed(_)) => "notice",
            (CheckState::Passed, _) => "warning",
            _ => "error",
        };
        Annotation {
            level,
            properties,
            message: line(finding),
        }
    }
}

fn json_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}
