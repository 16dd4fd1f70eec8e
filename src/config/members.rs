//! Members: folders of a project with their own hooks, which run at events that list changes if
//! one of them is in the folder.

use std::path::{Path, PathBuf};

use super::layer::{self, Layer, Membership, is_there, layer_in};
use super::loader::{ConfigLoader, ConfigScope};
use super::manifest::{self, LoadedLayer};
use super::problem::{PlacedValue, Position, Problem};
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog;
use crate::engine::hook::matcher::row::{Glob, path_glob};
use crate::hosts::git;

/// Adds the members that `manifests` declare, if an event in `scope` lists changes, or if it has no
/// event at all. Their folders go to `looked`, also those without hooks.
pub(super) fn add(
    layers: &mut Vec<LoadedLayer>,
    looked: &mut Vec<PathBuf>,
    scope: ConfigScope<'_>,
    problems: &mut Vec<Problem>,
) {
    let is_wanted = scope == ConfigScope::Events(&[]) || scope.has(lists_changes);
    let mut found: Vec<(usize, PathBuf, String)> = Vec::new();
    for (number, LoadedLayer { layer, files }) in layers.iter().enumerate() {
        for (file, manifest) in files {
            let Some(first) = manifest.members.first() else {
                continue;
            };
            if layer.is_owners() || found.iter().any(|(_, known, _)| *known == layer.folder) {
                problems.push(misplaced().in_file(file, Some(first.at)));
            } else if is_wanted {
                for member in &manifest.members {
                    for (folder, name) in folders_of(member, &layer.folder, file, problems) {
                        if found.iter().all(|(_, known, _)| *known != folder) {
                            found.push((number, folder, name));
                        }
                    }
                }
            }
        }
    }
    // From the last one on, so that the numbers stay right.
    for (number, folder, name) in found.into_iter().rev() {
        let mut all = layers.iter_mut().map(|one| &mut one.layer);
        let known = all.find(|layer| layer.folder == folder);
        let is_around = known.is_some();
        let member = Some(Membership { name, is_around });
        if let Some(layer) = known {
            layer.member = member;
        } else if let Some(mut layer) = layer_in(layers[number].layer.kind, &folder, problems) {
            layer.member = member;
            let files = manifest::read_files(&layer.manifests, problems);
            for (file, read) in &files {
                if let Some(first) = read.members.first() {
                    problems.push(misplaced().in_file(file, Some(first.at)));
                }
            }
            layers.insert(number, LoadedLayer { layer, files });
        }
        looked.push(folder);
    }
}

/// Whether the contexts of an event list changed paths.
fn lists_changes(event: &str) -> bool {
    catalog::find(event).is_some_and(|spec| spec.carries("changes"))
}

fn misplaced() -> Complaint {
    let cure = "list these folders in the hookrun.toml at the project's root";
    Complaint::with_cure("only the root of a project can have members", cure)
}

/// The folders below `root` that an entry of `members` in `file` means, each with its path from there.
fn folders_of(
    member: &PlacedValue<String>,
    root: &Path,
    file: &Path,
    problems: &mut Vec<Problem>,
) -> Vec<(PathBuf, String)> {
    let PlacedValue { value: written, at } = member;
    let is_glob = written.contains(['*', '?', '[', '{']);
    let mut names = vec![written.clone()];
    if is_glob {
        names = vec![String::new()];
        for part in written.split('/') {
            let glob = path_glob(part).and_then(|glob| Glob::new(&glob));
            let mut below = Vec::new();
            for name in names {
                for entry in layer::entries(&root.join(&name)).unwrap_or_default() {
                    let is_meant = glob.as_ref().is_ok_and(|glob| glob.is_match(&entry.name));
                    if entry.is_folder && is_meant {
                        below.push(format!("{name}{}/", entry.name));
                    }
                }
            }
            names = below;
        }
    }
    if names.is_empty() {
        let cause = format!("`{written}` in `members` matches no folder");
        let complaint = Complaint::with_cure(cause, "fix the glob, or remove it from `members`");
        problems.push(complaint.warning(file, Some(*at)));
    }
    let mut folders = Vec::new();
    for name in names {
        let name = name.trim_end_matches('/').to_string();
        let folder = root.join(&name);
        let files = [layer::MANIFEST, layer::DROP_INS, layer::HIDDEN];
        let has_hooks = files.iter().any(|file| is_there(&folder.join(file)));
        let real = root.canonicalize().unwrap_or_default().join(&name);
        let obstacle = obstacle(&folder, &real);
        let usual_cure = "add hooks to it, or remove it from `members`";
        let (cause, cure) = obstacle.unwrap_or(("has no hooks", usual_cure));
        let complaint = Complaint::with_cure(format!("the member `{name}` {cause}"), cure);
        if obstacle.is_some() && !is_glob {
            problems.push(complaint.in_file(file, Some(*at)));
        } else if obstacle.is_some() && has_hooks || !has_hooks && !is_glob {
            problems.push(complaint.warning(file, Some(*at)));
        }
        if obstacle.is_none() {
            folders.push((folder, name));
        }
    }
    folders
}

/// Why a folder cannot be a member, and the cure. `real` is its path without links below the project.
fn obstacle(folder: &Path, real: &Path) -> Option<(&'static str, &'static str)> {
    if !folder.is_dir() {
        let cure = "fix the name; only a glob may match nothing";
        Some(("is not a folder", cure))
    } else if folder.canonicalize().ok().as_deref() != Some(real) {
        Some(("is behind a link", "use the path of the link's target"))
    } else if is_there(&folder.join(".git")) {
        let cure = "run `hookrun install git` in it, and remove it from `members`";
        Some(("is another repository", cure))
    } else {
        None
    }
}

/// Binds the hooks from `first` on to their folders: those of a member to it, others to their `cwd` in
/// `project`. A hook with a folder sees only what changes there.
pub(super) fn bind(loader: &mut ConfigLoader<'_>, first: usize, layer: &Layer, project: &Path) {
    let own = layer.declared_in.as_ref().unwrap_or(&layer.folder);
    for mut hook in loader.hooks.split_off(first) {
        let lists_changes = lists_changes(&hook.event);
        let at = hook.source.line.map(Position::of_line);
        if let Some(member) = &layer.member {
            hook.root = Some(own.clone());
            if lists_changes {
                hook.name = format!("{}:{}", member.name, hook.name);
                hook.folder.get_or_insert_with(|| own.clone());
            } else if git::find(&hook.event).is_some() {
                let cause = format!(
                    "`{}` does not run, because `{}` has no `changes` that could select a member",
                    hook.name, hook.event
                );
                let complaint = Complaint::with_cure(cause, "move it to the project's root");
                loader
                    .problems
                    .push(complaint.warning(&hook.source.file, at));
                continue;
            } else if !member.is_around {
                continue;
            }
        }
        if let Some(folder) = &hook.folder {
            let folder = hook.root.as_deref().unwrap_or(project).join(folder);
            if !folder.is_dir() {
                let cause = format!(
                    "the `cwd` of `{}` is not a folder in the project",
                    hook.name
                );
                let complaint = Complaint::with_cure(cause, "create the folder, or correct `cwd`");
                loader
                    .problems
                    .push(complaint.warning(&hook.source.file, at));
            }
            if lists_changes {
                hook.scope = Some(folder.clone());
            }
            hook.folder = Some(folder);
        }
        loader.hooks.push(hook);
    }
}
