//! Buckets of actions: each `command` in them becomes a hook. Other actions are reported as not run.

use super::reader::SettingsReader;
use crate::config::draft::HookDraft;
use crate::config::tree::{Tree, TreeEntry};
use crate::engine::hook::Handler;
use crate::engine::spelling;
use crate::hosts;
use crate::hosts::settings::{Bucket, BucketShape};

impl SettingsReader<'_> {
    pub(super) fn buckets(&mut self, shape: &'static BucketShape, buckets: &[&TreeEntry]) {
        for entry in buckets {
            let Some(bucket) = shape.buckets.iter().find(|bucket| bucket.key == entry.key) else {
                let known: Vec<&str> = shape.buckets.iter().map(|bucket| bucket.key).collect();
                self.unknown_key(entry, &known);
                continue;
            };
            let Some(items) = entry.tree.items() else {
                let cure = format!(
                    "write [ {{ \"{}\": \"{}\" }} ]",
                    shape.action, shape.command
                );
                self.wrong(&entry.tree, &entry.key, "a list of actions", &cure);
                continue;
            };
            for (number, item) in items.iter().enumerate() {
                self.item(shape, bucket, item, number);
            }
        }
    }

    fn item(
        &mut self,
        shape: &'static BucketShape,
        bucket: &'static Bucket,
        item: &Tree,
        number: usize,
    ) {
        let before = self.errors();
        let Some(name) = self.action(shape, item) else {
            return self.reject(bucket.event, item.offset);
        };
        let place = format!("{}.{}[{number}]", shape.section, bucket.key);
        if name != shape.command {
            return self.not_run(item.offset, &format!("the action `{name}` in `{place}`"));
        }
        let handler = self.command(shape, item);
        match handler.filter(|_| self.errors() == before) {
            Some(handler) => {
                let mut draft = HookDraft::of_event(bucket.event, self.reader.at(item.offset));
                draft.dialect = hosts::find(shape.dialect);
                draft.says_dialect = true;
                draft.hook.handler = handler;
                draft.hook.name = format!("{place}:{name}");
                if self.operator.is_off(shape) {
                    draft.hook.idle = Some(format!("{} = 1", shape.kill_switch.name));
                }
                self.keep(draft, item.offset);
            }
            None => self.reject(bucket.event, item.offset),
        }
    }

    /// The name of an entry's action; whether it is known.
    fn action(&mut self, shape: &BucketShape, item: &Tree) -> Option<&'static str> {
        let entries = self.table(item, "an action")?;
        let known = std::iter::once(shape.command).chain(shape.not_run.iter().copied());
        let Some(entry) = entries.iter().find(|entry| entry.key == shape.action) else {
            let names: Vec<&str> = known.collect();
            let cause = format!("the entry has no `{}`", shape.action);
            let cure = format!("write one of {}", names.join(", "));
            self.fault(item.offset, cause, cure);
            return None;
        };
        let name = self.text(&entry.tree, shape.action)?;
        let action = known.clone().find(|known| *known == name);
        if action.is_none() {
            let cure = spelling::did_you_mean(spelling::nearest(&name, known.clone()), || {
                format!("known are {}", known.collect::<Vec<_>>().join(", "))
            });
            self.fault(entry.tree.offset, format!("unknown action `{name}`"), cure);
        }
        action
    }

    fn command(&mut self, shape: &BucketShape, item: &Tree) -> Option<Handler> {
        let entries = item.entries()?;
        for entry in entries {
            if entry.key != shape.action && entry.key != shape.command {
                self.unknown_key(entry, &[shape.action, shape.command]);
            }
        }
        if !self.operator.allows_commands(shape) && !self.operator.is_off(shape) {
            let switch = shape.commands.name;
            let cause = format!(
                "`{}` is off: a profile may come from anywhere",
                shape.command
            );
            let cure = format!("read what it runs, then set {switch}=1; or drop it");
            self.fault(item.offset, cause, cure);
        }
        let Some(entry) = entries.iter().find(|entry| entry.key == shape.command) else {
            let cause = format!("`{0}` has no `{0}`", shape.command);
            let cure = format!("add \"{}\": …", shape.command);
            self.fault(item.offset, cause, cure);
            return None;
        };
        let line = self.text(&entry.tree, shape.command)?;
        if line.trim().is_empty() || line.contains('\0') {
            let cause = "the command is empty, or has a NUL in it";
            self.fault(entry.tree.offset, cause, "write the command line to run");
            return None;
        }
        Some(Handler::Shell(line))
    }
}
