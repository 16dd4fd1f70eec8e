//! What a hook may touch, and how strictly everything that it starts ends with it.

use crate::engine::names::names;

/// What a hook in a sandbox may touch. By default it may read everything, write nothing but its own
/// state folder, and has no network.
///
/// Paths are as written: relative to the project's root, or with `~/` below the home folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Files and folders that it may read and run; `None` for everything.
    pub read: Option<Vec<String>>,
    /// Files and folders that it may read, change, make and remove.
    pub write: Vec<String>,
    /// It may use the network.
    pub network: bool,
    /// It does not run if the system cannot enforce all of this.
    pub required: bool,
}

impl Default for Sandbox {
    fn default() -> Sandbox {
        Sandbox { read: None, write: Vec::new(), network: false, required: true }
    }
}

impl std::fmt::Display for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.read {
            Some(paths) => write!(f, "reads {}", paths.join(", "))?,
            None => f.write_str("reads everything")?,
        }
        match self.write.as_slice() {
            [] => f.write_str("; writes nothing")?,
            paths => write!(f, "; writes {}", paths.join(", "))?,
        }
        f.write_str(if self.network { "; network" } else { "; no network" })?;
        f.write_str(if self.required { "" } else { "; as far as the system can" })
    }
}

/// How strictly everything that a hook starts ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// The process group and, on systems with subreapers, everything that left it.
    Auto,
    /// The process group only: what leaves it lives on.
    Group,
    /// Its own control group, which nothing can leave.
    Cgroup,
    /// Its own process namespace, which ends even if hookrun is killed.
    Pidns,
}

names! { Containment: Auto "auto", Group "group", Cgroup "cgroup", Pidns "pidns" }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_is_told_in_words() {
        assert_eq!(Sandbox::default().to_string(), "reads everything; writes nothing; no network");
        let sandbox = Sandbox {
            read: Some(vec!["src".to_string(), "docs".to_string()]),
            write: vec!["/tmp".to_string()],
            network: true,
            required: false,
        };
        assert_eq!(
            sandbox.to_string(),
            "reads src, docs; writes /tmp; network; as far as the system can"
        );
    }
}
