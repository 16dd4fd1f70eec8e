//! Copies the files of a set into the project, with a page that says where they come from.

use std::io::Write;
use std::path::Path;

use super::line;
use crate::cli::exit::Result;
use crate::cli::write::files::{FileWrite, PLAIN, PROGRAM, WritePlan};
use crate::config::set_store;
use crate::config::{Environment, UsedSet};
use crate::engine::complaint::Complaint;
use crate::lab::report::Paths;

/// The page; `hooks.d` skips files with such a name.
const PAGE: &str = "VENDORED.md";

/// Copies a set out of the store into `folder`, over nothing.
pub(super) fn copy(
    set: &UsedSet,
    folder: &Path,
    env: &Environment,
    out: &mut dyn Write,
) -> Result<()> {
    let from = set
        .folder
        .as_ref()
        .map_err(|why| Complaint::new(why.clone()))?;
    let Some(locked) = &set.locked else {
        return Ok(());
    };
    let name = &locked.name;
    let target = env.cwd.join(folder);
    let mut changes = Vec::new();
    for file in set_store::files_in(from).map_err(Complaint::new)?.files {
        let mode = if file.is_program() { PROGRAM } else { PLAIN };
        let text = String::from_utf8(file.bytes)
            .map_err(|_| Complaint::new(format!("`{}` of the set is no text", file.mark.path)))?;
        changes.push(FileWrite::new(target.join(file.path), text, mode));
    }
    let about = format!(
        "Copied by `hookrun sets vendor {name}` from {}:\n{}\n",
        locked.source,
        line(locked)
    );
    changes.retain(|change| !change.path.ends_with(PAGE));
    changes.push(FileWrite::new(target.join(PAGE), about, PLAIN));
    let shown = folder.display();
    let hint = format!(
        "to use the copy, write `path = \"{shown}\"` in [sets.{name}] and nothing else, and run `hookrun sets update {name}`"
    );
    let plan = WritePlan {
        hooks: target,
        changes,
        hints: vec![hint],
    };
    plan.write_untrusted(&Paths::from(&env.cwd), out)
}
