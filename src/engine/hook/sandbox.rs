//! What a hook may touch, and how strictly everything that it starts ends with it.

use std::path::{Component, Path};

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
        Sandbox {
            read: None,
            write: Vec::new(),
            network: false,
            required: true,
        }
    }
}

impl Sandbox {
    /// What both allow. Of paths that a hook may write, those of `bound` stay, and not a narrower
    /// one in them: that may be a link to somewhere else.
    #[must_use]
    pub fn within(&self, bound: &Sandbox) -> Sandbox {
        let common = |own: &[String], bound: &[String]| {
            let is_meant = |path: &&String| own.iter().any(|folder| is_in(path, folder));
            bound.iter().filter(is_meant).cloned().collect()
        };
        Sandbox {
            read: match (&self.read, &bound.read) {
                (own, None) => own.clone(),
                (None, bound) => bound.clone(),
                (Some(own), Some(bound)) => Some(common(own, bound)),
            },
            write: common(&self.write, &bound.write),
            network: self.network && bound.network,
            required: self.required || bound.required,
        }
    }
}

/// Whether `path` is in `folder`, by their names alone.
fn is_in(path: &str, folder: &str) -> bool {
    let parts = |text| {
        Path::new(text)
            .components()
            .filter(|part| *part != Component::CurDir)
    };
    let leads_up = |text| parts(text).any(|part| part == Component::ParentDir);
    let is_of_project = |text: &str| !text.starts_with(['/', '~']);
    let is_below = is_of_project(path) == is_of_project(folder)
        && parts(folder)
            .zip(parts(path))
            .all(|(one, other)| one == other)
        && parts(folder).count() <= parts(path).count();
    path == folder || is_below && !leads_up(path) && !leads_up(folder)
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
        f.write_str(if self.network {
            "; network"
        } else {
            "; no network"
        })?;
        f.write_str(if self.required {
            ""
        } else {
            "; as far as the system can"
        })
    }
}

/// How strictly everything that a hook starts ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// The process group and, on systems with subreapers, everything that left it.
    Auto,
    /// The process group only: what leaves it lives on.
    Group,
    /// Its own process namespace, which ends even if hookrun is killed.
    Pidns,
}

names! { Containment: Auto "auto", Group "group", Pidns "pidns" }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sandboxes_together_allow_what_both_do() {
        let sandbox = |write: &[&str], network, required| Sandbox {
            write: write.iter().map(ToString::to_string).collect(),
            network,
            required,
            ..Sandbox::default()
        };
        for (own, bound, both) in [
            (&["."][..], &["build", "~/x", "/tmp"][..], &["build"][..]),
            (
                &["src", "/"],
                &["src", "src/a", "srcx", "/tmp"],
                &["src", "src/a", "/tmp"],
            ),
            (&["src/link"], &["src"], &[]),
            (&["src"], &["src/../.."], &[]),
            (&["./build"], &["build"], &["build"]),
            (&["~"], &["~/.cache"], &["~/.cache"]),
        ] {
            let found = sandbox(own, true, true).within(&sandbox(bound, false, false));
            assert_eq!(found, sandbox(both, false, true), "{own:?} {bound:?}");
        }
        let reads = Sandbox {
            read: Some(vec!["src".into()]),
            ..Sandbox::default()
        };
        assert_eq!(reads.within(&Sandbox::default()), reads);
        assert_eq!(Sandbox::default().within(&reads), reads);
    }

    #[test]
    fn a_sandbox_is_told_in_words() {
        assert_eq!(
            Sandbox::default().to_string(),
            "reads everything; writes nothing; no network"
        );
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
