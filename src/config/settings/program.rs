//! What is run for a hook in a host's settings, and by what it is started.

use super::reader::SettingsReader;
use crate::config::draft::HookDraft;
use crate::config::problem::Severity;
use crate::config::tree::TreeEntry;
use crate::engine::complaint::Complaint;
use crate::engine::event::OnFailure;
use crate::engine::hook::{Background, Handler};
use crate::engine::spelling;
use crate::hosts::HostEvent;
use crate::hosts::settings::files::{HookKey, HostFile, HostHookKey};

/// Starts a hook that is not waited for. It reads all of the event first, because
/// hookrun does not write it later, and `timeout` ends it where the system has one.
const ASYNC: &str = "input=$(cat)
{
    if command -v timeout >/dev/null; then set -- timeout -k 2 \"$LIMIT\" \"$@\"; fi
    printf '%s\\n' \"$input\" | \"$@\"
} >/dev/null 2>&1 &";

pub(super) struct SettingsHook<'f> {
    pub(super) file: &'static HostFile,
    pub(super) row: &'static HostEvent,
    pub(super) keys: Vec<(&'static HookKey, &'f TreeEntry)>,
    pub(super) at: usize,
}

impl<'f> SettingsHook<'f> {
    pub(super) fn get(&self, says: HostHookKey) -> Option<&'f TreeEntry> {
        // Of several keys for one thing the first of the table counts.
        let rows = self.file.hook.iter().filter(|row| row.says == says);
        let mut found =
            rows.filter_map(|row| self.keys.iter().find(|(key, _)| std::ptr::eq(*key, row)));
        found.next().map(|(_, pair)| *pair)
    }

    /// The first of these keys that is there.
    fn command(&self) -> Option<&'f TreeEntry> {
        let keys = [
            HostHookKey::Program,
            HostHookKey::OwnCommand,
            HostHookKey::Command,
        ];
        keys.into_iter().find_map(|says| self.get(says))
    }

    fn kind(&self) -> Option<&'f str> {
        self.get(HostHookKey::Kind)?.tree.text()
    }

    /// What it is, if hookrun does not run it: something else than a command, or a command for
    /// another system.
    pub(super) fn not_run(&self) -> Option<String> {
        let is_command = |kind| self.file.kinds.first() == Some(&kind);
        if let Some(kind) = self.kind().filter(|kind| !is_command(*kind)) {
            let is_slip = !self.file.kinds.contains(&kind)
                && spelling::nearest(kind, self.file.kinds.iter().copied()).is_some();
            return (!is_slip).then(|| format!("a hook of the kind `{kind}`"));
        }
        let other = self.get(HostHookKey::Idle)?;
        if self.command().is_some() {
            return None;
        }
        Some(format!("a hook for another system (`{}`)", other.key))
    }

    pub(super) fn flag(&self, says: HostHookKey) -> bool {
        let mut all = self.keys.iter().filter(|(key, _)| key.says == says);
        all.any(|(_, pair)| pair.tree.flag() == Some(true))
    }
}

impl SettingsReader<'_> {
    pub(super) fn handler_of(
        &mut self,
        found: &SettingsHook<'_>,
        draft: &mut HookDraft,
    ) -> Option<Handler> {
        let file = found.file;
        if let Some(pair) = found.get(HostHookKey::Kind) {
            let kind = self.text(&pair.tree, &pair.key)?;
            if !file.kinds.contains(&kind.as_str()) {
                let cause = format!("`{kind}` is not a kind of hook");
                let kinds = file.kinds.iter().copied();
                let cure = spelling::did_you_mean(spelling::nearest(&kind, kinds), || {
                    format!("known are {}", file.kinds.join(", "))
                });
                self.fault(found.at, cause, cure);
                return None;
            }
        }
        let mut words = self.words_of(found)?;
        if found.flag(HostHookKey::Async) {
            let cause = "it is started and not waited for: what it says changes nothing";
            let complaint = Complaint::with_cure(cause, "drop `async` where it is to decide");
            self.report(Severity::Note, complaint, found.at);
            draft.hook.background = Background::Detach;
            draft.hook.on_failure = Some(OnFailure::Allow);
            let limit = draft.hook.limits.timeout.unwrap_or_default().as_secs_f64();
            let script = ASYNC.replace("\"$LIMIT\"", &limit.to_string());
            let starter = ["sh", "-c", &script, "sh"].map(str::to_string);
            words.splice(0..0, starter);
        }
        Some(Handler::Words {
            words,
            base: self.operator.env.cwd.clone(),
        })
    }

    fn words_of(&mut self, found: &SettingsHook<'_>) -> Option<Vec<String>> {
        let program = found.get(HostHookKey::Program);
        let Some(pair) = found.command() else {
            let own = found
                .file
                .hook
                .iter()
                .find(|row| row.says == HostHookKey::Command);
            let own = own.map_or("command", |row| row.name);
            let cause = format!("the hook has no `{own}`");
            self.fault(found.at, cause, format!("add \"{own}\": \"…\""));
            return None;
        };
        let line = self.text(&pair.tree, &pair.key)?;
        if line.trim().is_empty() || line.contains('\0') {
            let cause = "the command is empty, or has a NUL in it";
            self.fault(pair.tree.offset, cause, "write the command line to run");
            return None;
        }
        let arguments = found.get(HostHookKey::Arguments);
        if let Some(arguments) = arguments {
            let texts = arguments.tree.items().map(|items| {
                items
                    .iter()
                    .map(|item| item.text().map(str::to_string))
                    .collect::<Option<Vec<_>>>()
            });
            let Some(Some(texts)) = texts else {
                let cure = format!("write `\"{}\": [\"one\", \"two\"]`", arguments.key);
                self.wrong(&arguments.tree, &arguments.key, "a list of strings", &cure);
                return None;
            };
            return Some(std::iter::once(line).chain(texts).collect());
        }
        if program.is_some() {
            return Some(vec![line]);
        }
        let shell = match found.get(HostHookKey::Shell) {
            Some(pair) => self.text(&pair.tree, &pair.key)?,
            None => found.file.shell.program().to_string(),
        };
        Some(vec![shell, "-c".to_string(), line])
    }
}
