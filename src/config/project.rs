//! Which folders make up the project, and where its root is.
//!
//! The project is the host's, not the working directory of an agent, which may `cd` anywhere. It is
//! looked for
//!
//! 1. in what the host says that its user has opened, and around hookrun's own working directory;
//! 2. around the event's working directory, where that is inside these or they have no hooks.
//!
//! From there every folder upwards that configures hooks counts, and none hides another: neither an
//! empty `hooks.d` nor a repository made below them ends the search. It ends before the home
//! folder, before a folder that everyone may put files into (`/tmp`) and before the root of the
//! file system. A folder that the search starts in ends nothing, whichever it is; nor does a home
//! folder or a root of the file system that is a git repository. Only where there is nothing up to
//! the end, and no git repository either, the nearest folder beyond counts.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::env::Environment;
use super::layer::{DROP_INS, HIDDEN, Layer, MANIFEST, is_there, layer_in};
use super::problem::Problem;
use crate::engine::access;
use crate::engine::complaint::Complaint;
use crate::engine::hook::LayerKind;
use crate::hosts::folders::HostFolders;

pub(super) struct Project {
    pub(super) layers: Vec<Layer>,
    /// Its root: what the host names, else the outermost folder with hooks, else the one of a git
    /// repository, else the working directory.
    pub(super) root: PathBuf,
    pub(super) looked: Vec<PathBuf>,
}

pub(super) fn find(told: &HostFolders, env: &Environment, problems: &mut Vec<Problem>) -> Project {
    let named = told.roots.iter().map(|folder| env.cwd.join(folder));
    let roots: Vec<PathBuf> = named.filter(|folder| folder.is_dir()).collect();
    let mut starts = roots.clone();
    starts.push(env.cwd.clone());
    let home = env
        .home
        .as_ref()
        .and_then(|home| home.metadata().ok())
        .map(|meta| identity(&meta));
    let mut search = ProjectSearch {
        home,
        seen: Vec::new(),
        layers: Vec::new(),
        looked: Vec::new(),
    };
    for start in &starts {
        search.upwards(start, problems);
    }
    if let Some(cwd) = told.cwd.as_ref().map(|cwd| env.cwd.join(cwd)) {
        let found = search.layers.iter().map(|layer| &layer.folder);
        let is_known = || roots.iter().chain(found).any(|root| is_inside(&cwd, root));
        if search.layers.is_empty() || is_known() {
            search.upwards(&cwd, problems);
            starts.push(cwd);
        }
    }
    let mut root = roots.into_iter().next();
    let ProjectSearch {
        mut layers, looked, ..
    } = search;
    if layers.is_empty() {
        let repository = |start: &PathBuf| {
            let mut up = start.ancestors();
            up.find(|folder| is_there(&folder.join(".git")))
                .map(Path::to_path_buf)
        };
        let repository = starts.iter().find_map(repository);
        if repository.is_none() {
            let beyond = starts.iter().flat_map(|start| start.ancestors());
            let mut beyond = beyond.filter(|folder| !looked.iter().any(|known| known == folder));
            let kind = LayerKind::Project;
            layers.extend(beyond.find_map(|folder| layer_in(kind, folder, problems)));
        }
        root = root.or(repository);
    }
    let outermost = || layers.first().map(|layer| layer.folder.clone());
    let root = root.or_else(outermost).unwrap_or_else(|| env.cwd.clone());
    Project {
        layers,
        root,
        looked,
    }
}

fn is_inside(folder: &Path, root: &Path) -> bool {
    let is_below = || {
        Some(
            folder
                .canonicalize()
                .ok()?
                .starts_with(root.canonicalize().ok()?),
        )
    };
    folder.starts_with(root) || is_below() == Some(true)
}

/// What is the same for all ways to write the path of a folder.
type Identity = (u64, u64);

fn identity(meta: &Metadata) -> Identity {
    (meta.dev(), meta.ino())
}

struct ProjectSearch {
    home: Option<Identity>,
    /// Folders that were looked into: two starts mostly meet.
    seen: Vec<Identity>,
    layers: Vec<Layer>,
    looked: Vec<PathBuf>,
}

impl ProjectSearch {
    fn upwards(&mut self, start: &Path, problems: &mut Vec<Problem>) {
        let mut found = Vec::new();
        for folder in start.ancestors() {
            let Ok(meta) = folder.metadata() else {
                // A folder that cannot be looked at is reported when it is read.
                found.extend(layer_in(LayerKind::Project, folder, problems));
                continue;
            };
            let own = identity(&meta);
            if self.seen.contains(&own) || folder != start && self.ends(folder, &meta, problems) {
                break;
            }
            self.seen.push(own);
            self.looked.push(folder.to_path_buf());
            found.extend(layer_in(LayerKind::Project, folder, problems));
        }
        self.layers.extend(found.into_iter().rev());
    }

    /// Whether a folder above the one in which the search began is not looked into.
    fn ends(&self, folder: &Path, meta: &Metadata, problems: &mut Vec<Problem>) -> bool {
        // In a folder for everybody's files, others may put hooks.
        if meta.permissions().mode() & STICKY_AND_OPEN == STICKY_AND_OPEN {
            problems.extend(own_in_shared(folder, meta));
            return true;
        }
        let is_last = Some(identity(meta)) == self.home || folder.parent().is_none();
        is_last && !is_there(&folder.join(".git"))
    }
}

/// The permissions of a folder that everyone may put files into, and take away their own alone.
const STICKY_AND_OPEN: u32 = 0o1002;

/// What we have ourselves put into a folder of ours that is open to everyone: a project would lose
/// its hooks by one `chmod`.
fn own_in_shared(folder: &Path, meta: &Metadata) -> Option<Problem> {
    let own = rustix::process::getuid().as_raw();
    if meta.uid() != own {
        return None;
    }
    let is_own = |name: &&str| {
        folder
            .join(name)
            .symlink_metadata()
            .is_ok_and(|meta| meta.uid() == own)
    };
    let names = [DROP_INS, MANIFEST, HIDDEN, ".git"];
    let name = names.into_iter().find(is_own)?;
    let cause =
        format!("`{name}` is in it and everyone may put files into it, so no hooks of it run");
    Some(Complaint::with_cure(cause, access::cure(folder)).in_file(folder, None))
}
