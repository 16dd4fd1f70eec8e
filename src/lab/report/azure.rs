//! Logging commands of Azure Pipelines, which become the issues of a job.

use std::io::{self, Write};

use super::check::{Annotation, CheckList};
use crate::engine::harmless::{plain, visible, without_commands};

/// Our properties, and what Azure calls them.
const NAMES: &[(&str, &str)] = &[
    ("file", "sourcepath"),
    ("line", "linenumber"),
    ("col", "columnnumber"),
];

/// What was checked, and the totals in lines.
pub(super) fn document(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    list.checks
        .iter()
        .flat_map(|check| &check.annotations)
        .try_for_each(|one| issue(one, out))?;
    list.totals
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
}

fn issue(annotation: &Annotation, out: &mut dyn Write) -> io::Result<()> {
    // There are only errors and warnings; a notice is not worth one.
    let kind = if annotation.level == "error" {
        "error"
    } else {
        "warning"
    };
    let mut command = format!("##vso[task.logissue type={kind}");
    for (ours, theirs) in NAMES {
        if let Some(value) = annotation.property(ours) {
            let value = data(&plain(value)).replace(';', "%3B").replace(']', "%5D");
            command.push_str(&format!(";{theirs}={value}"));
        }
    }
    let title = annotation
        .property("title")
        .map(|title| format!("{}: ", plain(title)));
    let message = format!(
        "{}{}",
        title.unwrap_or_default(),
        visible(&annotation.message)
    );
    writeln!(out, "{command}]{}", data(&without_commands(&message)))
}

fn data(text: &str) -> String {
    text.replace('%', "%AZP25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}
