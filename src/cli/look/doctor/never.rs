//! Hooks in a host's settings, hookrun's or others, that can never run there.

use std::path::Path;

use crate::engine::event::action::{ActionKind, TOOLS};
use crate::engine::event::catalog;
use crate::engine::spelling::did_you_mean;
use crate::hosts::{HostEvent, ToolSort};
use regex::Regex;

use crate::cli::host::install::document::SettingsEntry;
use crate::cli::host::install::row::InstallHost;
use crate::cli::look::validate::warning;
use crate::config::Problem;

/// Why a hook never runs, if that is certain as far as hookrun knows the host.
pub(super) fn fires(hook: &SettingsEntry, host: &InstallHost, file: &Path) -> Option<Problem> {
    let dialect = host.dialect()?;
    let Some(row) = dialect
        .events
        .iter()
        .find(|row| is_of(&hook.event, row, host))
    else {
        let cause = format!(
            "{} has no event `{}`: its hooks never run",
            host.title, hook.event
        );
        let cure = did_you_mean(dialect.nearest(&hook.event), || {
            format!("`hookrun events --host {}` lists them", host.name)
        });
        return Some(warning(file, cause, cure));
    };
    let matcher = hook
        .matcher
        .as_deref()
        .filter(|matcher| !matches!(*matcher, "" | "*"))?;
    let matching = host.settings()?.file.matching;
    let is_whole = matching.list.is_some() || matching.is_anchored;
    if !is_whole && !matching.falls_back {
        return None;
    }
    let shell = dialect
        .tools
        .rows
        .iter()
        .find(|tool| tool.sort == ToolSort::Shell)?;
    if !catalog::find(row.event).is_some_and(|spec| spec.carries("toolName")) {
        return None;
    }
    let place = format!("the matcher `{matcher}` of {}", hook.event);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-,| ".contains(c);
    if !matcher.chars().all(is_plain) {
        // Other engines know more syntax; such a matcher is not judged.
        let is_ours = !matcher.contains("(?") && !matcher.contains('\\');
        let is_broken = is_ours && Regex::new(matcher).is_err();
        let cause = format!("{place} is no regular expression: its hooks never run");
        return is_broken.then(|| warning(file, cause, "correct it"));
    }
    let words = || matcher.split(['|', ',']).map(str::trim);
    let fits = |word: &str| match is_whole {
        true => word == shell.name || shell.also.contains(&word),
        false => shell.name.contains(word),
    };
    if words().any(fits) || !words().all(is_a_shell) {
        return None;
    }
    let cause = format!(
        "{place} fits no tool of {}: its hooks never run",
        host.title
    );
    Some(warning(
        file,
        cause,
        format!("did you mean `{}`?", shell.name),
    ))
}

/// Whether the host takes the name for this event: letter by letter. A host that sends no names has
/// each event under a PascalCase name as well.
fn is_of(name: &str, row: &HostEvent, host: &InstallHost) -> bool {
    let is_pascal = || {
        let rest = |name: &str| name.get(1..).map(str::to_string);
        let names_event = host.settings().is_some_and(|shape| shape.names_event);
        names_event && row.is_called(name) && rest(name) == rest(row.name)
    };
    row.name == name || row.aliases.contains(&name) || is_pascal()
}

/// Whether any host calls its shell that. PowerShell is a different tool.
fn is_a_shell(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let mut shells = TOOLS.iter().filter(|class| class.kind == ActionKind::Shell);
    word != "powershell"
        && shells.any(|class| class.word == word || class.names.contains(&word.as_str()))
}
