//! Commands: hooks in `hooks.d/command/` and hooks of `command.NAME` in `hookrun.toml`.
//!
//! Of several with one name the first one wins, and the others never run. The nearest layer goes
//! first (explicit, project, user, system), and in a layer what is read first: drop-ins in byte
//! order, then the tables of `hookrun.toml`.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::discover::{self, DropIn, Layer};
use super::draft::HookDraft;
use super::loader::ConfigLoader;
use super::manifest::Manifest;
use super::shadow::{self, Shadowed};
use super::{ConfigScope, directive};
use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::engine::event::catalog::command;
use crate::engine::hook::{Hook, LayerKind};

/// The folder of commands in a `hooks.d`: a file of it is a command.
pub const FOLDER: &str = "command";

/// The events of all commands that there are, each once.
pub(super) fn find_events(
    layers: &[Layer],
    manifests: &[Vec<(PathBuf, Manifest)>],
    scope: ConfigScope<'_>,
) -> Vec<EventSpec> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut add = |name: &str, describe: &dyn Fn() -> HookDraft| {
        if !command::is_name(name) {
            return;
        }
        let at = found.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
        let at = at.unwrap_or_else(|| {
            found.push((name.to_string(), None));
            found.len() - 1
        });
        if found[at].1.is_none() && is_asked(scope, name) {
            let draft = describe();
            found[at].1 = draft.description.filter(|_| draft.enabled);
        }
    };
    let mut nearest: Vec<_> = layers.iter().zip(manifests).collect();
    nearest.sort_by_key(|(layer, _)| Reverse(layer.kind));
    for (layer, manifests) in nearest {
        for root in &layer.drop_ins {
            for file in discover::entries(&root.join(FOLDER)).unwrap_or_default() {
                let describe = || {
                    let mut draft = HookDraft::default();
                    // Whoever adds the hook tells what is wrong with it.
                    let _ = directive::read(&file.path, &mut draft);
                    draft
                };
                add(name_of(&file).unwrap_or_default(), &describe);
            }
        }
        for (_, manifest) in manifests {
            let hooks = manifest.hooks.iter().map(|entry| (&entry.events, &entry.draft));
            let rejected = manifest.rejected.iter().map(|one| (&one.events, &one.draft));
            for (events, draft) in hooks.chain(rejected) {
                for name in events.iter().filter_map(|(event, _)| command::name_of(event)) {
                    add(name, &|| draft.clone());
                }
            }
        }
    }
    found.iter().map(|(name, about)| command::event(name, about.as_deref())).collect()
}

/// Whether what the command does is asked for: opening its file costs something.
fn is_asked(scope: ConfigScope<'_>, name: &str) -> bool {
    match scope {
        ConfigScope::All | ConfigScope::Event("") => true,
        ConfigScope::Event(event) => is_event_of(event, name),
        ConfigScope::Events(events) => events.iter().any(|event| is_event_of(event, name)),
    }
}

fn is_event_of(event: &str, name: &str) -> bool {
    command::name_of(event).is_some_and(|asked| asked.eq_ignore_ascii_case(name))
}

/// Whether any command is asked for.
fn is_any_asked(scope: ConfigScope<'_>) -> bool {
    match scope {
        ConfigScope::All => true,
        ConfigScope::Event(event) => command::name_of(event).is_some(),
        ConfigScope::Events(events) => events.iter().any(|event| command::name_of(event).is_some()),
    }
}

/// The name of the command that a file is: its own name without its ending.
fn name_of(file: &DropIn) -> Option<&str> {
    let name = Path::new(&file.name).file_stem()?.to_str()?;
    (!file.is_folder).then_some(name)
}

/// What is wrong with the name of a command, and what would do.
pub(super) fn bad_name(name: &str) -> Complaint {
    let cause = format!("`{name}` cannot be the name of a command");
    Complaint::with_cure(cause, "use letters, digits, `-`, `_` and `:`")
}

impl ConfigLoader<'_> {
    /// Reads the folder of commands in a `hooks.d`.
    pub(super) fn commands(&mut self, layer: LayerKind, folder: &Path) {
        if !is_any_asked(self.scope) {
            return;
        }
        self.check_writers(folder);
        let files = match discover::entries(folder) {
            Ok(files) => files,
            Err(error) => {
                let fault = Complaint::with_cure(
                    format!("cannot be read: {error}"),
                    "check its permissions",
                );
                return self.fault(fault, folder, None);
            }
        };
        for file in files {
            let name = name_of(&file).unwrap_or(&file.name).to_string();
            if file.is_folder {
                let cure = "commands are files; shared code belongs into hooks.d/lib/";
                let fault = Complaint::with_cure("is a folder among the commands", cure);
                self.fault(fault, &file.path, None);
            } else if !command::is_name(&name) {
                self.fault(bad_name(&name), &file.path, None);
            } else if is_asked(self.scope, &name) {
                self.drop_in(layer, file, &format!("{}{name}", command::PREFIX));
            }
        }
    }

    /// Lets one hook answer each command. One that is hidden by another of its own layer is
    /// hardly meant.
    pub(super) fn shadow_commands(&mut self) {
        let command = |hook: &Hook| command::name_of(&hook.event).map(str::to_string);
        for Shadowed { hook, by } in shadow::shadow(&mut self.hooks, command) {
            if self.hooks[hook].source.layer == self.hooks[by].source.layer {
                let cure = "give one of them another name, or remove it";
                self.problems.push(shadow::warning(&self.hooks[hook], cure));
            }
        }
    }
}
