//! What is run for a hook in a host's settings, and by what it is started.

use super::reader::SettingsReader;
use crate::config::draft::HookDraft;
use crate::config::problem::Severity;
use crate::config::tree::TreeEntry;
use crate::dialects::DialectEvent;
use crate::dialects::settings::hosts::{HookKey, HostFile, HostHookKey};
use crate::engine::complaint::Complaint;
use crate::engine::event::OnFailure;
use crate::engine::hook::{Background, Handler};
use crate::engine::spelling;

/// Starts a hook that is not waited for. It reads all of the event first, because
/// hookrun does not write it later, and `timeout` ends it where the system has one.
const ASYNC: &str = "input=$(cat)
{
    if command -v timeout >/dev/null; then set -- timeout -k 2 \"$LIMIT\" \"$@\"; fi
    printf '%s\\n' \"$input\" | \"$@\"
} >/dev/null 2>&1 &";

pub(super) struct SettingsHook<'f> {
    pub(super) file: &'static HostFile,
    pub(super) row: &'static DialectEvent,
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
        let kind = match found.get(HostHookKey::Kind) {
            Some(pair) => self.text(&pair.tree, &pair.key)?,
            None => file.kinds.first().map_or_else(String::new, ToString::to_string),
        };
        if !file.kinds.contains(&kind.as_str()) {
            let cure = spelling::did_you_mean(
                spelling::nearest(&kind, file.kinds.iter().copied()),
                || format!("known are {}", file.kinds.join(", ")),
            );
            self.fault(found.at, format!("`{kind}` is no kind of hook"), cure);
            return None;
        }
        if file.kinds.first() != Some(&kind.as_str()) {
            let problem = format!("a hook of the kind `{kind}` runs in {} alone", file.dialect);
            let cure = "make it a command, or take it out of what hookrun reads".to_string();
            return Some(Handler::Elsewhere { problem, cure });
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
        Some(Handler::Words { words, base: self.operator.env.cwd.clone() })
    }

    fn words_of(&mut self, found: &SettingsHook<'_>) -> Option<Vec<String>> {
        let program = found.get(HostHookKey::Program);
        let Some(pair) = program.or_else(|| found.get(HostHookKey::Command)) else {
            let own = found.file.hook.iter().find(|row| row.says == HostHookKey::Command);
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
                items.iter().map(|item| item.text().map(str::to_string)).collect::<Option<Vec<_>>>()
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
            Some(pair) => match self.text(&pair.tree, &pair.key)?.as_str() {
                "bash" => vec!["bash", "-c"],
                "sh" => vec!["sh", "-c"],
                other => {
                    let cause = format!("a hook for the shell `{other}` runs in its host alone");
                    self.fault(pair.tree.offset, cause, "write \"bash\"");
                    return None;
                }
            },
            None => found.file.shell.to_vec(),
        };
        let words = shell.into_iter().map(str::to_string);
        Some(words.chain(std::iter::once(line)).collect())
    }
}
