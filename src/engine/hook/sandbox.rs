//! What a hook may touch, and how surely all that it starts is ended.

use crate::engine::names::names;

/// What a hook in a sandbox may touch. Where its spec says nothing it may read everything, write
/// nothing but its own state folder, and has no network.
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
    /// It does not run where the system cannot keep it to all of this.
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

/// How surely all that a hook starts is ended with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// The process group, and where the system has subreapers all that left it.
    Auto,
    /// The process group and nothing else: what leaves it lives on.
    Group,
    /// A control group of its own, which nothing can leave.
    Cgroup,
    /// A process namespace of its own, which ends even if hookrun is killed.
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
