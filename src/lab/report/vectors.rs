//! Vectors that were tried.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::check::{Annotation, Check, CheckList, CheckReport, CheckState};
use super::style::{BAD, GOOD, counted};
use crate::engine::harmless::plain;
use crate::log::report::{Paths, VERSION};

const NAME: &str = "hookrun test --conformance";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorReport {
    /// Its name, different from that of every other vector.
    pub name: String,
    pub about: String,
    pub misses: Vec<String>,
    pub took: Duration,
}

impl VectorReport {
    pub fn passes(&self) -> bool {
        self.misses.is_empty()
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "about": self.about,
            "ok": self.passes(),
            "misses": self.misses,
            "tookMs": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn check(&self) -> Check {
        let misses: Vec<String> = self.misses.iter().map(|miss| plain(miss)).collect();
        Check {
            suite: NAME.to_string(),
            name: plain(&self.name),
            state: CheckState::failed_if(!self.passes()),
            message: misses.first().cloned().unwrap_or_default(),
            details: misses.join("\n"),
            took: Some(self.took),
            annotations: self.annotation().into_iter().collect(),
            ..Check::default()
        }
    }

    /// The error of a vector that is not as expected.
    fn annotation(&self) -> Option<Annotation> {
        let properties = vec![("title", self.name.clone())];
        let message = format!("{}\n{}", self.about, self.misses.join("\n"));
        (!self.passes()).then_some(Annotation {
            level: "error",
            properties,
            message,
        })
    }
}

/// How many were tried, and how many were not as expected.
fn total(vectors: &[VectorReport]) -> (bool, String) {
    let all = counted(vectors.len(), "case");
    match vectors.iter().filter(|vector| !vector.passes()).count() {
        0 => (true, all),
        wrong => (false, format!("{wrong} of {all}")),
    }
}

impl CheckReport for [VectorReport] {
    fn human(&self, _: &Paths, out: &mut dyn Write) -> io::Result<()> {
        for vector in self.iter().filter(|vector| !vector.passes()) {
            writeln!(
                out,
                "{BAD}FAILED{BAD:#}: {}: {}",
                plain(&vector.name),
                plain(&vector.about)
            )?;
            for miss in &vector.misses {
                writeln!(out, "  {}", plain(miss))?;
            }
        }
        match total(self) {
            (true, all) => writeln!(out, "{GOOD}ok{GOOD:#}: {all}"),
            (false, wrong) => writeln!(out, "{BAD}FAILED{BAD:#}: {wrong}"),
        }
    }

    fn json(&self, _: &Paths) -> Value {
        json!({
            "version": VERSION,
            "suite": NAME,
            "ok": self.iter().all(VectorReport::passes),
            "cases": self.iter().map(VectorReport::json).collect::<Vec<_>>(),
        })
    }

    fn checks(&self, _: &Paths) -> CheckList {
        let checks = self.iter().map(VectorReport::check).collect();
        let (is_ok, count) = total(self);
        let totals = vec![format!("{}: {count}", if is_ok { "ok" } else { "FAILED" })];
        CheckList {
            name: NAME.to_string(),
            checks,
            totals,
            ..CheckList::default()
        }
    }
}
