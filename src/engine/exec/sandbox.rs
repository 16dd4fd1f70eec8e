//! Sandboxes of hooks: the rules with resolved paths, which the process that becomes the hook
//! applies to itself. They then hold for everything that it starts.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::hook::Sandbox;
use crate::engine::names::words;

/// What a program needs to run at all: its own file, libraries and their settings, and its entry
/// under `/proc`. Readable in every sandbox.
pub const SYSTEM_PATHS: &[&str] = words!(
    "/bin" "/etc" "/lib" "/lib32" "/lib64" "/libx32" "/nix/store" "/opt" "/proc" "/sbin" "/usr"
);

/// Devices that store nothing; readable and writable in every sandbox.
pub const DEVICES: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxRules {
    /// Paths that the hook may read and run; `None` for all.
    pub read: Option<Vec<PathBuf>>,
    /// Paths that the hook may read and change.
    pub write: Vec<PathBuf>,
    /// Whether the hook has network access.
    pub network: bool,
    /// Whether Unix sockets work: with network access, and to reach hookrun when a person can
    /// answer.
    pub sockets: bool,
    /// Whether the hook may change modes, owners, times and attributes. No system can forbid that
    /// for only some files.
    pub modes: bool,
    /// Whether the hook must not run if the system cannot enforce the rules.
    pub required: bool,
}

impl SandboxRules {
    /// Resolves the paths of `sandbox`. Paths without a leading slash are relative to `project`,
    /// and `~/` is `home`. Paths that do not exist cannot be granted; they are left out, with a
    /// note for each.
    pub fn find(
        sandbox: &Sandbox,
        project: &Path,
        home: Option<&Path>,
    ) -> (SandboxRules, Vec<String>) {
        let mut notes = Vec::new();
        let read = sandbox
            .read
            .as_ref()
            .map(|paths| granted(paths, project, home, &mut notes));
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

/// Those of these paths that exist.
fn granted(
    paths: &[String],
    project: &Path,
    home: Option<&Path>,
    notes: &mut Vec<String>,
) -> Vec<PathBuf> {
    let mut granted = Vec::new();
    for path in paths {
        match resolved(path, project, home) {
            Ok(resolved) => granted.push(resolved),
            Err(why) => notes.push(format!("sandbox: `{path}` is ignored: {why}")),
        }
    }
    granted
}

fn resolved(path: &str, project: &Path, home: Option<&Path>) -> Result<PathBuf, String> {
    let resolved = match path.strip_prefix('~') {
        Some(below) => {
            let home = home.ok_or("there is no HOME")?;
            home.join(below.trim_start_matches('/'))
        }
        None => project.join(path),
    };
    match resolved.metadata() {
        Ok(_) => Ok(resolved),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("it does not exist".into()),
        Err(error) => Err(error.to_string()),
    }
}
