//! Where systems keep hooks of their own: flat folders, in which a script says its event itself;
//! and where hosts tell in an event which folders they work in.

use std::path::PathBuf;

use serde_json::Value;

use crate::engine::event::Context;

/// The folders of one system.
#[derive(Debug, PartialEq, Eq)]
pub struct SystemFolders {
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
pub const FOLDERS: &[SystemFolders] = &[
    // Source: pi's "Hooks" document, "Hook Locations".
    SystemFolders {
        dialect: "pi",
        user: ".pi/agent/hooks",
        project: ".pi/hooks",
        modules: &[".ts", ".js"],
    },
];

/// How a host says where it works. What its user has opened is the project, wherever the agent has
/// gone since; a working directory may be anywhere.
///
/// Sources: the hooks references of the hosts; the payloads that Claude Code, Codex CLI and Gemini
/// CLI sent.
#[derive(Debug)]
struct FolderSource {
    dialect: &'static str,
    /// The variables that name its project.
    variables: &'static [&'static str],
    /// The keys of its events that name what its user has opened: a folder, or a list of them.
    roots: &'static [&'static str],
    /// The key of its events that names the working directory.
    cwd: &'static str,
}

const SAYS: &[FolderSource] = &[
    FolderSource { dialect: "claude", variables: &["CLAUDE_PROJECT_DIR"], roots: &[], cwd: "cwd" },
    FolderSource { dialect: "codex", variables: &[], roots: &[], cwd: "cwd" },
    FolderSource { dialect: "gemini", variables: &["GEMINI_PROJECT_DIR"], roots: &[], cwd: "cwd" },
    FolderSource {
        dialect: "cursor",
        variables: &["CURSOR_PROJECT_DIR"],
        roots: &["workspace_roots"],
        cwd: "cwd",
    },
    FolderSource { dialect: "copilot", variables: &[], roots: &[], cwd: "cwd" },
];

/// The folders that a host tells of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostFolders {
    /// What its user has opened: the roots of the project.
    pub roots: Vec<PathBuf>,
    /// Where a command is about to run.
    pub cwd: Option<PathBuf>,
}

fn says(dialect: &str) -> Option<&'static FolderSource> {
    SAYS.iter().find(|says| says.dialect == dialect)
}

/// Whether a host of this dialect tells in its events where it works.
pub fn are_told(dialect: &str) -> bool {
    says(dialect).is_some()
}

/// The variables in which hosts name their projects.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    SAYS.iter().flat_map(|says| says.variables).copied()
}

/// The variables in which a host of this dialect names its project.
pub(crate) fn variables_of(dialect: &str) -> &'static [&'static str] {
    says(dialect).map_or(&[], |says| says.variables)
}

/// The folders that a context of this dialect, in the host's own keys, tells of.
pub fn told(dialect: &str, context: &Context) -> HostFolders {
    let Some(says) = says(dialect) else { return HostFolders::default() };
    let mut told = HostFolders::default();
    for key in says.roots {
        match context.value(key).ok().flatten() {
            Some(Value::String(folder)) => told.roots.push(folder.into()),
            Some(Value::Array(all)) => {
                told.roots.extend(all.iter().filter_map(Value::as_str).map(PathBuf::from));
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
        }
    }
    told.roots.retain(|folder| !folder.as_os_str().is_empty());
    told.cwd = context.string(says.cwd).filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
    told
}

/// The folders of the system with this dialect.
pub fn of(dialect: &str) -> Option<&'static SystemFolders> {
    FOLDERS.iter().find(|folders| folders.dialect == dialect)
}

impl SystemFolders {
    /// Whether a file of this name is a module that only the system itself loads.
    pub fn is_module(&self, name: &str) -> bool {
        self.modules.iter().any(|ending| name.ends_with(ending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects;

    #[test]
    fn every_host_that_tells_folders_is_a_dialect_and_sets_the_variables() {
        for says in SAYS {
            let dialect = dialects::find(says.dialect).unwrap();
            assert_eq!(dialect.name, says.dialect);
            for name in says.variables {
                let is_set = |variable: &&dialects::HostVariable| variable.name == *name;
                assert!(dialect.variables.iter().any(|one| is_set(&one)), "{name}");
            }
        }
    }

    #[test]
    fn what_is_open_is_told_apart_from_where_a_command_runs() {
        let json = r#"{"cwd":"/c","workspace_roots":["/a","",7,"/b"]}"#;
        let context = Context::parse(json).unwrap();
        let cwd = Some(PathBuf::from("/c"));
        let roots = ["/a", "/b"].map(PathBuf::from).to_vec();
        assert_eq!(told("cursor", &context), HostFolders { roots, cwd: cwd.clone() });
        assert_eq!(told("claude", &context), HostFolders { roots: Vec::new(), cwd });
        assert_eq!(told("pi", &context), HostFolders::default());
    }

    #[test]
    fn every_row_is_of_a_dialect_and_stays_below_its_root() {
        for folders in FOLDERS {
            assert_eq!(dialects::find(folders.dialect).map(|one| one.name), Some(folders.dialect));
            for folder in [folders.user, folders.project] {
                assert!(!folder.starts_with('/') && !folder.contains(".."), "{folder}");
            }
        }
    }
}
