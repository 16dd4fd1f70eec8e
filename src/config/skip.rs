//! Hooks that one person skips for git events, by `HOOKRUN_SKIP` or `hookrun.local.toml`.
//!
//! Only a project's hooks for git events can be skipped, and no rules, so that agents' guards
//! stay.

use std::path::{Path, PathBuf};

use super::layer::{LOCAL, Layer};
use super::loader::ConfigScope;
use super::problem::{PlacedValue, Problem, Severity};
use super::reader::{self, DocumentReader, KeyRow, Setting, specs};
use super::trust::is_about_trust;
use super::value::KeyValue;
use crate::engine::complaint::{self, Complaint, did_you_mean};
use crate::engine::hook::{Handler, Hook, LayerKind};
use crate::engine::outcome::Decision;
use crate::hosts::git;

const VARIABLE: &str = "HOOKRUN_SKIP";

/// The hooks that a local file disables.
type DisabledHooks = Vec<PlacedValue<String>>;

#[rustfmt::skip]
const LOCAL_KEYS: &[KeyRow<DisabledHooks>] = &[
    KeyRow::key("hook", KeyValue::Map(&KeyValue::Table(|| specs(SWITCH_KEYS))), "none", "hooks, by name", set_switches),
];

#[rustfmt::skip]
const SWITCH_KEYS: &[KeyRow<bool>] = &[
    KeyRow::key("enabled", KeyValue::Flag, "true", "false: it does not run for git events",
        |is_on, key| key.flag().map(|flag| *is_on = flag)),
];

fn set_switches(local: &mut DisabledHooks, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for entry in key.table()? {
        let name = &entry.key;
        let table = entry.tree.entries().unwrap_or_default();
        if let Some(inner) = table.iter().find(|inner| inner.tree.entries().is_some()) {
            let inner = &inner.key;
            let cause = format!("the dot in `{name}.{inner}` makes this two nested tables");
            let cure = format!("write `[hook.\"{name}.{inner}\"]`");
            key.reader.fault(entry.at, cause, cure);
            continue;
        }
        if entry.tree.entries().is_none() {
            let cure = format!("write `[hook.\"{name}\"]`, and `enabled = false` below it");
            let cause = format!("`hook.{name}` is not a table");
            key.reader.fault(entry.at, cause, cure);
        }
        let mut is_on = true;
        key.reader.take(table, SWITCH_KEYS, "", &mut is_on);
        if !is_on {
            local.push(PlacedValue {
                value: name.clone(),
                at: key.reader.at(entry.at),
            });
        }
    }
    Ok(())
}

fn read(text: &str, file: &Path) -> (DisabledHooks, Vec<Problem>) {
    let mut reader = DocumentReader::new(text, file);
    let document = reader.toml(text, |_| None);
    let mut local = DisabledHooks::new();
    let table = document.entries().unwrap_or_default();
    reader.take(table, LOCAL_KEYS, "", &mut local);
    (local, reader.problems)
}

fn obstacle(hook: &Hook) -> Option<String> {
    if git::find(&hook.event).is_none() {
        return Some(format!("{} is not a git event", hook.event));
    }
    if let Handler::Rule(decision) = &hook.handler {
        let is_held = matches!(decision, Decision::Block { reason } if is_about_trust(reason));
        let why = if is_held {
            "it is not trusted"
        } else {
            "it is a rule"
        };
        return Some(why.to_string());
    }
    let layer = hook.source.layer;
    (layer != LayerKind::Project).then(|| format!("it is in the {} layer", layer.name()))
}

/// Disables the hooks in the local files of `layers`. Returns a line for each.
pub(super) fn switch_off(
    hooks: &mut [Hook],
    layers: &[&Layer],
    project: &Path,
    scope: ConfigScope<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for layer in layers {
        let folder = layer.folder.as_path();
        let Some(file) = local_file(layer) else {
            continue;
        };
        let local = reader::load(&file, problems, read);
        for PlacedValue { value: name, at } in local {
            let mut own: Vec<&mut Hook> = Vec::new();
            let mut names = Vec::new();
            for hook in hooks.iter_mut() {
                let own_folder = hook.root.as_deref().unwrap_or(project);
                let is_of_member =
                    hook.scope.is_some() && own_folder.starts_with(folder) && hook.name == name;
                if own_folder != folder && !is_of_member {
                    continue;
                }
                names.push(hook.name.clone());
                if hook.has_name(&name) {
                    own.push(hook);
                }
            }
            if own.is_empty() && scope == ConfigScope::All {
                let cause = format!("no hook of this project is named `{name}`");
                let nearest = complaint::nearest(&name, names.iter().map(String::as_str));
                let cure = did_you_mean(nearest, || "remove this table".to_string());
                problems.push(Complaint::with_cure(cause, cure).warning(&file, Some(at)));
            }
            let mut obstacles: Vec<String> = own.iter().filter_map(|hook| obstacle(hook)).collect();
            if obstacles.len() == own.len()
                && let Some(why) = obstacles.pop()
            {
                let cause = format!("`{name}` cannot be disabled here: {why}");
                let cure =
                    "remove this table; only the project's hooks for git events can be disabled";
                problems.push(Complaint::with_cure(cause, cure).warning(&file, Some(at)));
            }
            for hook in own.into_iter().filter(|hook| obstacle(hook).is_none()) {
                hook.enabled = false;
                lines.push(format!("skip {} ({LOCAL})", hook.name));
                let cause = format!("`{name}` does not run for {}", hook.event);
                let note = Complaint::new(cause).problem(Severity::Note, &file, Some(at));
                problems.push(note);
            }
        }
    }
    lines
}

/// The local file of a project folder, if it exists.
pub(super) fn local_file(layer: &Layer) -> Option<PathBuf> {
    if !layer.is_own_of_project() {
        return None;
    }
    let file = layer.folder.join(LOCAL);
    file.symlink_metadata().is_ok().then_some(file)
}

/// Skips the hooks named `name` for `HOOKRUN_SKIP`. Returns a line for each; empty without any.
pub(super) fn by_variable(hooks: &mut [Hook], name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for hook in hooks.iter_mut().filter(|hook| hook.has_name(name)) {
        if let Some(why) = obstacle(hook) {
            lines.push(format!("cannot skip {} ({VARIABLE}): {why}", hook.name));
            continue;
        }
        if hook.may_run() {
            hook.idle = Some(format!("skipped by {VARIABLE}"));
        }
        lines.push(format!("skip {} ({VARIABLE})", hook.name));
    }
    lines
}
