//! Test Anything Protocol, version 13.

use std::io::{self, Write};

use super::check::{Check, CheckList, CheckState};

pub const HEAD: &str = "TAP version 13";

pub(super) fn document(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEAD}\n1..{}", list.checks.len())?;
    for (number, check) in (1..).zip(&list.checks) {
        self::check(number, check, out)?;
    }
    for line in &list.totals {
        writeln!(out, "# {line}")?;
    }
    if list.is_stopped {
        // Cases that were not run are no failures, and a harness would call it a success.
        writeln!(out, "Bail out! hookrun was interrupted")?;
    }
    Ok(())
}

/// One check, and what there is to say about it.
pub fn check(number: u64, check: &Check, out: &mut dyn Write) -> io::Result<()> {
    let mark = if check.state.is_bad() { "not ok" } else { "ok" };
    let hashless = |text: &str| text.replace('\\', "\\\\").replace('#', "\\#");
    write!(out, "{mark} {number} - ")?;
    if let Some(place) = &check.place {
        write!(out, "{}: ", hashless(&place.file))?;
    }
    write!(out, "{}", hashless(&check.name))?;
    if let CheckState::Skipped(why) = &check.state {
        write!(out, " # SKIP {why}")?;
    }
    writeln!(out)?;
    let written = check.written.iter().map(|one| one.text.as_str());
    for line in std::iter::once(check.details.as_str())
        .chain(written)
        .flat_map(str::lines)
    {
        writeln!(out, "  # {line}")?;
    }
    Ok(())
}
