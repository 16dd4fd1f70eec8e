//! Which folders a host works in, by its events and variables.

use std::path::PathBuf;

use serde_json::Value;

use super::HOSTS;
use super::row::{Host, Tells};
use crate::engine::event::Context;

/// The folders that a host names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct HostFolders {
    /// What its user has opened: the roots of the project.
    pub roots: Vec<PathBuf>,
    /// Where a command is about to run.
    pub cwd: Option<PathBuf>,
}

/// The dialect of a host whose events say where it works. Systems say it in their own ways.
///
/// Sources: the hooks references of the hosts; the payloads that Claude Code, Codex CLI and Gemini
/// CLI sent.
fn host(dialect: &str) -> Option<&'static Host> {
    HOSTS
        .iter()
        .copied()
        .find(|host| host.name == dialect && host.has_forms())
}

/// Whether the events of a host of this dialect say where it works.
pub fn are_told(dialect: &str) -> bool {
    host(dialect).is_some()
}

/// The variables in which hosts name their projects.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().filter_map(|dialect| variable_of(dialect.name))
}

/// The variable in which a host of this dialect names its project: the first of those that it
/// sets, because the others have the names of other hosts.
pub(crate) fn variable_of(dialect: &str) -> Option<&'static str> {
    let project = host(dialect)?
        .variables
        .iter()
        .find(|one| one.tells == Tells::Project)?;
    Some(project.name)
}

/// The folders in a context of this dialect, in the host's own keys. What its user has opened is
/// the project, wherever the agent has gone since; a working directory may be anywhere. A native
/// event has only a working directory.
pub fn told(dialect: &str, context: &Context) -> HostFolders {
    let keys = match host(dialect) {
        Some(host) => host.roots,
        None if super::find(dialect).is_none() => &[],
        None => return HostFolders::default(),
    };
    let mut roots: Vec<PathBuf> = Vec::new();
    for key in keys {
        match context.value(key).ok().flatten() {
            Some(Value::String(folder)) => roots.push(folder.into()),
            Some(Value::Array(all)) => {
                roots.extend(all.iter().filter_map(Value::as_str).map(PathBuf::from));
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
        }
    }
    roots.retain(|folder| !folder.as_os_str().is_empty());
    let cwd = context
        .string("cwd")
        .filter(|cwd| !cwd.is_empty())
        .map(PathBuf::from);
    HostFolders { roots, cwd }
}
