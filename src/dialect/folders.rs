//! Where systems keep hooks of their own: flat folders, in which a script says its event itself;
//! and where hosts tell in an event which folders they work in.

use std::path::PathBuf;

use serde_json::Value;

use crate::event::Context;

/// The folders of one system.
#[derive(Debug, PartialEq, Eq)]
pub struct Folders {
    /// The name of its dialect, which hooks in these folders are written for.
    pub dialect: &'static str,
    /// The folder of a user, below the home folder.
    pub user: &'static str,
    /// The folder of a project, below the working directory.
    pub project: &'static str,
    /// How the names of modules end that the system loads into itself, and nobody else can.
    pub modules: &'static [&'static str],
}

/// Every system with such folders. The system's own order is kept: the user's before the
/// project's.
pub const FOLDERS: &[Folders] = &[
    // Source: pi's "Hooks" document, "Hook Locations".
    Folders {
        dialect: "pi",
        user: ".pi/agent/hooks",
        project: ".pi/hooks",
        modules: &[".ts", ".js"],
    },
];

/// The keys in whose values a host tells where it works: a folder, or a list of them. What its user
/// has opened goes before the place where a command is about to run.
///
/// Sources: the hooks references of the hosts; the payloads that Claude Code, Codex CLI and Gemini
/// CLI sent.
const TOLD: &[(&str, &[&str])] = &[
    ("claude", &["cwd"]),
    ("codex", &["cwd"]),
    ("gemini", &["cwd"]),
    ("cursor", &["workspace_roots", "cwd"]),
    ("copilot", &["cwd"]),
];

fn keys(dialect: &str) -> &'static [&'static str] {
    TOLD.iter().find(|(name, _)| *name == dialect).map_or(&[], |(_, keys)| keys)
}

/// Whether a host of this dialect tells in its events where it works.
pub fn are_told(dialect: &str) -> bool {
    !keys(dialect).is_empty()
}

/// The folders that a context of this dialect, in the host's own keys, tells of.
pub fn told(dialect: &str, context: &Context) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for key in keys(dialect) {
        match context.value(key).ok().flatten() {
            Some(Value::String(folder)) => folders.push(folder),
            Some(Value::Array(all)) => {
                folders.extend(all.iter().filter_map(Value::as_str).map(str::to_string));
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
        }
    }
    folders.into_iter().filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
}

/// The folders of the system with this dialect.
pub fn of(dialect: &str) -> Option<&'static Folders> {
    FOLDERS.iter().find(|folders| folders.dialect == dialect)
}

impl Folders {
    /// Whether a file of this name is a module that only the system itself loads.
    pub fn is_module(&self, name: &str) -> bool {
        self.modules.iter().any(|ending| name.ends_with(ending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect;

    #[test]
    fn every_host_that_tells_folders_is_a_dialect() {
        for (name, _) in TOLD {
            assert_eq!(dialect::find(name).map(|one| one.name), Some(*name));
        }
    }

    #[test]
    fn what_is_open_goes_before_where_a_command_runs() {
        let json = r#"{"cwd":"/c","workspace_roots":["/a","",7,"/b"]}"#;
        let context = Context::parse(json).unwrap();
        assert_eq!(told("cursor", &context), ["/a", "/b", "/c"].map(PathBuf::from));
        assert_eq!(told("claude", &context), ["/c"].map(PathBuf::from));
        assert!(told("pi", &context).is_empty());
    }

    #[test]
    fn every_row_is_of_a_dialect_and_stays_below_its_root() {
        for folders in FOLDERS {
            assert_eq!(dialect::find(folders.dialect).map(|one| one.name), Some(folders.dialect));
            for folder in [folders.user, folders.project] {
                assert!(!folder.starts_with('/') && !folder.contains(".."), "{folder}");
            }
        }
    }
}
