//! Where systems keep hooks of their own: flat folders, in which a script says its event itself.

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
    fn every_row_is_of_a_dialect_and_stays_below_its_root() {
        for folders in FOLDERS {
            assert_eq!(dialect::find(folders.dialect).map(|one| one.name), Some(folders.dialect));
            for folder in [folders.user, folders.project] {
                assert!(!folder.starts_with('/') && !folder.contains(".."), "{folder}");
            }
        }
    }
}
