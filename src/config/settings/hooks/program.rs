//! What is run for a hook in a host's settings, and by what it is started.

use super::SettingsHook;
use crate::config::draft::HookDraft;
use crate::config::settings::SettingsReader;
use crate::dialects::settings::hosts::HostHookKey;
use crate::engine::complaint::Complaint;
use crate::engine::event::OnFailure;
use crate::engine::hook::{Background, Handler};
use crate::engine::spelling;

/// What a hook that is not waited for is started by: it reads all of the event first, because
/// nobody writes it when hookrun has gone on, and `timeout` ends it where the system has one.
const ASYNC: &str = "input=$(cat)
{
    if command -v timeout >/dev/null; then set -- timeout -k 2 \"$LIMIT\" \"$@\"; fi
    printf '%s\\n' \"$input\" | \"$@\"
} >/dev/null 2>&1 &";

impl SettingsReader<'_> {
    pub(super) fn handler_of(
        &mut self,
        found: &SettingsHook<'_>,
        draft: &mut HookDraft,
    ) -> Option<Handler> {
        let file = found.file;
        let kind = match found.get(HostHookKey::Kind) {
            Some(pair) => self.text_of(pair)?,
            None => file.kinds.first().map_or_else(String::new, ToString::to_string),
        };
        if !file.kinds.contains(&kind.as_str()) {
            let cure = match spelling::nearest(&kind, file.kinds.iter().copied()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("known are {}", file.kinds.join(", ")),
            };
            self.fault(
                Complaint::with_cure(format!("`{kind}` is no kind of hook"), cure),
                found.at,
            );
            return None;
        }
        if file.kinds.first() != Some(&kind.as_str()) {
            let problem = format!("a hook of the kind `{kind}` runs in {} alone", file.dialect);
            let cure = "make it a command, or take it out of what hookrun reads".to_string();
            return Some(Handler::Elsewhere { problem, cure });
        }
        let words = self.words_of(found)?;
        if found.flag(HostHookKey::Async) {
            let cause = "it is started and not waited for: what it says changes nothing";
            self.note(Complaint::with_cure(cause, "drop `async` where it is to decide"), found.at);
            draft.background = Background::Detach;
            draft.on_failure = Some(OnFailure::Allow);
            let limit = draft.bounds.limits.timeout.unwrap_or_default().as_secs_f64();
            let mut all = ["sh", "-c", ASYNC, "sh"].map(str::to_string).to_vec();
            all[2] = ASYNC.replace("\"$LIMIT\"", &limit.to_string());
            all.extend(words);
            return Some(Handler::Words { words: all, base: self.operator.env.cwd.clone() });
        }
        Some(Handler::Words { words, base: self.operator.env.cwd.clone() })
    }

    /// The program and its arguments.
    fn words_of(&mut self, found: &SettingsHook<'_>) -> Option<Vec<String>> {
        let program = found.get(HostHookKey::Program);
        let Some(pair) = program.or_else(|| found.get(HostHookKey::Command)) else {
            let own = found.file.hook.iter().find(|row| row.says == HostHookKey::Command);
            let own = own.map_or("command", |row| row.name);
            let cause = format!("the hook has no `{own}`");
            self.fault(Complaint::with_cure(cause, format!("add \"{own}\": \"…\"")), found.at);
            return None;
        };
        let line = self.text_of(pair)?;
        if line.trim().is_empty() || line.contains('\0') {
            let cause = "the command is empty, or has a NUL in it";
            self.fault(
                Complaint::with_cure(cause, "write the command line to run"),
                pair.tree.offset,
            );
            return None;
        }
        let arguments = found.get(HostHookKey::Arguments);
        if let Some(arguments) = arguments {
            let texts = arguments.tree.items().map(|items| {
                items.iter().map(|item| item.text().map(str::to_string)).collect::<Option<Vec<_>>>()
            });
            let Some(Some(texts)) = texts else {
                let cause = format!(
                    "`{}` takes a list of strings, not {}",
                    arguments.key,
                    arguments.tree.describe()
                );
                self.fault(
                    Complaint::with_cure(
                        cause,
                        format!("write `\"{}\": [\"one\", \"two\"]`", arguments.key),
                    ),
                    arguments.tree.offset,
                );
                return None;
            };
            return Some(std::iter::once(line).chain(texts).collect());
        }
        if program.is_some() {
            return Some(vec![line]);
        }
        let shell = match found.get(HostHookKey::Shell) {
            Some(pair) => match self.text_of(pair)?.as_str() {
                "bash" => vec!["bash", "-c"],
                "sh" => vec!["sh", "-c"],
                other => {
                    let cause = format!("a hook for the shell `{other}` runs in its host alone");
                    self.fault(Complaint::with_cure(cause, "write \"bash\""), pair.tree.offset);
                    return None;
                }
            },
            None => found.file.shell.to_vec(),
        };
        let words = shell.into_iter().map(str::to_string);
        Some(words.chain(std::iter::once(line)).collect())
    }
}
