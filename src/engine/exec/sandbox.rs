//! Sandbox rules with resolved paths. The process that executes the hook applies them to itself, so
//! they hold for all its children.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::hook::Sandbox;
use crate::engine::names::words;

/// Paths that every program needs: executables, libraries and their settings, `/proc`. Readable in
/// every sandbox.
pub const SYSTEM_PATHS: &[&str] = words!(
    "/bin" "/etc" "/lib" "/lib32" "/lib64" "/libx32" "/nix/store" "/opt" "/proc" "/sbin" "/usr"
);

/// Devices that store nothing; readable and writable in every sandbox.
pub const DEVICES: &[&str] =
    words!("/dev/full" "/dev/null" "/dev/random" "/dev/urandom" "/dev/zero");

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxRules {
    /// Readable and executable paths; `None` for all.
    pub read: Option<Vec<PathBuf>>,
    pub write: Vec<PathBuf>,
    pub network: bool,
    /// Whether Unix sockets are allowed: with network access, and to reach hookrun for dialogs.
    pub sockets: bool,
    /// Whether modes, owners, times and attributes may change. This cannot be restricted to some
    /// files.
    pub modes: bool,
    /// Whether the hook fails if the system cannot enforce the rules.
    pub required: bool,
}

impl SandboxRules {
    /// Resolves the paths of `sandbox`, relative to `project` or `home` (`~/`). Ignores missing
    /// paths, with notes.
    pub fn find(
        sandbox: &Sandbox,
        project: &Path,
        home: Option<&Path>,
    ) -> (SandboxRules, Vec<String>) {
        let mut notes = Vec::new();
        let read = sandbox.read.as_ref();
        let read = read.map(|paths| granted(paths, project, home, &mut notes));
        let write = granted(&sandbox.write, project, home, &mut notes);
        let rules = SandboxRules {
            read,
            modes: !write.is_empty(),
            write,
            network: sandbox.network,
            sockets: sandbox.network,
            required: sandbox.required,
        };
        (rules, notes)
    }
}

fn granted(
    paths: &[String],
    project: &Path,
    home: Option<&Path>,
    notes: &mut Vec<String>,
) -> Vec<PathBuf> {
    let mut granted = Vec::new();
    for path in paths {
        let Some(named) = below_home(path, home) else {
            notes.push(format!(
                "sandbox: `{path}` is ignored: the home folder is unknown"
            ));
            continue;
        };
        let resolved = project.join(named);
        match resolved.metadata() {
            Ok(_) => granted.push(resolved),
            Err(error) => notes.push(format!("sandbox: `{path}` is ignored: {error}")),
        }
    }
    granted
}

/// Expands `~` in a path; `None` without a home folder.
pub(crate) fn below_home(path: &str, home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix('~') {
        Some(rest) => Some(home?.join(rest.trim_start_matches('/'))),
        None => Some(PathBuf::from(path)),
    }
}
