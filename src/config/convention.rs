//! Which host a script was written for: its folder, its directives and its code must agree, since a
//! guard that gets another host's keys, or none of git's arguments, blocks nothing.

use std::path::Path;

use super::directive::{self, Head};
use super::draft::HookDraft;
use super::loader::ConfigLoader;
use super::manifest::HookTable;
use super::problem::Position;
use crate::engine::complaint::Complaint;
use crate::engine::event::OnFailure;
use crate::engine::hook::Handler;
use crate::hosts::signs;
use crate::hosts::{Host, Results, git};

/// Says to a script that is none of git's that hookrun misreads it.
const MEANT_SO: &str = "# hookrun: dialect=native";

type LineComplaint = (Complaint, usize);

/// Settles which host a script was written for that does not say so: a folder with a host's name for
/// an event means that host's dialect. There a failure closes gates, even if it does not in the host,
/// since a hook of ours in that folder by mistake blocks by any exit status. Reports what
/// the folder or the script's code say about another convention.
pub(super) fn settle(
    loader: &mut ConfigLoader<'_>,
    draft: &mut HookDraft,
    folder: &str,
    head: &Head,
    file: &Path,
) {
    if draft.says_dialect {
        let passes = draft
            .dialect
            .and_then(|dialect| passes(loader, draft, dialect, folder, head));
        let warning = |(complaint, line): LineComplaint| {
            complaint.warning(file, Some(Position::of_line(line)))
        };
        loader.problems.extend(passes.map(warning));
        return;
    }
    if let Some((complaint, line)) = settle_by_folder(loader, draft, folder, head) {
        loader.complain(complaint, file, line.map(Position::of_line));
    }
}

/// Takes the convention of a script from its folder, unless its words say another one.
fn settle_by_folder(
    loader: &ConfigLoader<'_>,
    draft: &mut HookDraft,
    folder: &str,
    head: &Head,
) -> Option<(Complaint, Option<usize>)> {
    let written = head.written;
    match signs::named_after(folder).as_slice() {
        [] => {
            let found = foreign(head, folder, directive_of);
            let (complaint, line) = found.or_else(|| of_git(head, folder, true))?;
            Some((complaint, Some(line)))
        }
        [dialect] if written.is_ours && written.foreign.is_none() => {
            let cause = format!(
                "it is written for hookrun's own keys, and `{folder}` is an event of {}",
                dialect.name
            );
            let cure = format!(
                "{}, or move it into the folder of our event",
                directive_of("native")
            );
            Some((Complaint::with_cure(cause, cure), None))
        }
        [dialect] => {
            draft.dialect = Some(*dialect);
            let row = dialect
                .called(folder)
                .into_iter()
                .map(|binding| binding.row)
                .next();
            let spec = row.and_then(|row| loader.catalog.find(row.event).ok());
            let closes = spec.is_some_and(|spec| spec.on_failure == OnFailure::Block);
            draft.hook.on_failure = draft.hook.on_failure.or(closes.then_some(OnFailure::Block));
            None
        }
        several => {
            let names: Vec<&str> = several.iter().map(|dialect| dialect.name).collect();
            let cause = format!("`{folder}` is an event of {}", names.join(" and of "));
            let ours = several[0].called(folder).into_iter().next();
            let ours = ours.map_or("our event", |binding| binding.row.event);
            let cure = format!(
                "for your own hook rename the folder to `{ours}`; for one of theirs {}",
                directive_of(names[0])
            );
            Some((Complaint::with_cure(cause, cure), None))
        }
    }
}

/// That a hook of a host only ever exits with a status that lets everything pass there, and
/// the line.
fn passes(
    loader: &ConfigLoader<'_>,
    draft: &HookDraft,
    dialect: &'static Host,
    event: &str,
    head: &Head,
) -> Option<LineComplaint> {
    let is_gate = |event| loader.catalog.find(event).is_ok_and(|spec| spec.blocks);
    let lets_pass = dialect
        .called(event)
        .iter()
        .any(|binding| match binding.row.results {
            Results::Form(form) => !form.refuses.by(1) && is_gate(binding.row.event),
            _ => false,
        });
    if !lets_pass || draft.hook.on_failure == Some(OnFailure::Block) {
        return None;
    }
    let line = signs::exits_with_one(&head.text)?;
    let cause = format!(
        "status 1 allows it in {}: `exit 1` blocks nothing",
        dialect.name
    );
    Some((
        Complaint::with_cure(cause, "block with `exit 2`, or add `on_failure=block`"),
        line,
    ))
}

/// Finds scripts next to a hookrun.toml that were written for another host, or for git.
pub(super) fn check_scripts(
    loader: &mut ConfigLoader<'_>,
    file: &Path,
    table: &HookTable,
    handler: &Handler,
) {
    let Handler::Words { words, base } = handler else {
        return;
    };
    let key = |dialect: &str| format!("add `dialect = \"{dialect}\"` to the hook");
    for (at, word) in words
        .iter()
        .enumerate()
        .filter(|(_, word)| word.contains('/'))
    {
        let script = base.join(word);
        if !script.starts_with(base) {
            continue;
        }
        let Ok(head) = directive::read(&script, &mut HookDraft::default()) else {
            continue;
        };
        let is_last = at + 1 == words.len();
        let events = table.draft.events();
        let found =
            foreign(&head, events.first().map_or("", |(event, _)| event), key).or_else(|| {
                events
                    .iter()
                    .find_map(|(event, _)| of_git(&head, event, is_last))
            });
        if let Some((complaint, line)) = found {
            let cause = format!("`{}:{line}`: {}", script.display(), complaint.cause);
            loader.complain(Complaint { cause, ..complaint }, file, Some(table.at));
        }
    }
}

fn directive_of(dialect: &str) -> String {
    format!("add the line `# hookrun: dialect={dialect}`")
}

/// That a script reads keys of another host's: the cause, the cure and the line. One that blocks
/// in our way, with status 1, more likely has the wrong key than the wrong convention.
fn foreign(head: &Head, event: &str, says: impl Fn(&str) -> String) -> Option<LineComplaint> {
    let (word, line, dialect) = head.written.foreign.filter(|_| !head.written.is_ours)?;
    let cause =
        format!("it reads `{word}`, a key of {dialect}'s, and would get hookrun's own keys");
    let is_ours_by_status = signs::exits_with_one(&head.text).is_some();
    let cure = if is_ours_by_status || head.text.contains("hookrun field") {
        format!(
            "write the key as `hookrun events {event}` has it; or, for a hook of {dialect}'s, {} \
             and block with `exit 2`",
            says(dialect)
        )
    } else {
        says(dialect)
    };
    Some((Complaint::with_cure(cause, cure), line))
}

/// That a script takes what git gives its hooks: the cause, the cure and the line.
fn of_git(head: &Head, event: &str, has_arguments: bool) -> Option<LineComplaint> {
    let hook = git::find(event).filter(|_| !head.written.is_ours)?;
    let taken = hook.taken_by(&head.text, event)?;
    if !taken.is_line && !has_arguments {
        return None;
    }
    let git::TakenFromGit {
        what,
        line,
        instead,
        ..
    } = taken;
    let cause = format!("`{what}` gets nothing of git's here: hooks get JSON on stdin");
    let cure = format!(
        "write {instead}; or leave it in git's own folder, where `hookrun install git` keeps it; \
         or, if it is meant so, add `{MEANT_SO}`"
    );
    Some((Complaint::with_cure(cause, cure), line))
}
