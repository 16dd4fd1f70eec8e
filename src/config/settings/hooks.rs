//! Converts the command hooks of an agent's settings by its host's row. Other kinds are listed as
//! not run.

use std::path::Path;
use std::time::Duration;

use super::SettingsReader;
use crate::config::draft::HookDraft;
use crate::config::manifest::HookTable;
use crate::config::problem::{Position, Severity};
use crate::config::tree::{Tree, TreeEntry};
use crate::engine::complaint::{self, Complaint};
use crate::engine::event::OnFailure;
use crate::engine::hook::{Background, Handler};
use crate::hosts::HostEvent;
use crate::hosts::rules::WantedEvents;
use crate::hosts::settings::{HostFile, HostHookKey, MatcherSubject};

const COMMAND: &str = "command";

const GROUP_KEYS: &[&str] = &["matcher", "hooks", "description", "sequential"];

/// Starts a hook in the background after reading the whole event; `timeout` limits it.
const ASYNC: &str = "input=$(cat)
{
    if command -v timeout >/dev/null; then set -- timeout -k 2 \"$LIMIT\" \"$@\"; fi
    printf '%s\\n' \"$input\" | \"$@\"
} >/dev/null 2>&1 &";

#[derive(Clone, Copy)]
struct HookPlace<'a> {
    file: &'static HostFile,
    row: &'static HostEvent,
    document: &'a Tree,
    matcher: Option<&'a Tree>,
    is_parallel: bool,
    idle: Option<&'a str>,
}

struct SettingsHook<'f> {
    place: HookPlace<'f>,
    keys: Vec<(HostHookKey, &'f TreeEntry)>,
    at: usize,
}

impl<'f> SettingsHook<'f> {
    /// The value of a key; if several keys mean the same, the table's first counts.
    fn get(&self, says: HostHookKey) -> Option<&'f TreeEntry> {
        let mut entries = self.keys.iter().filter(|(key, _)| *key == says);
        entries.next().map(|(_, entry)| *entry)
    }

    fn command(&self) -> Option<&'f TreeEntry> {
        self.get(HostHookKey::Program)
            .or(self.get(HostHookKey::OwnCommand))
            .or(self.get(HostHookKey::Command))
    }

    fn text(&self, says: HostHookKey) -> Option<&'f str> {
        self.get(says)?.tree.text()
    }

    /// Why the hook is listed but does not run.
    fn idle(&self) -> Option<String> {
        if let Some(why) = self.place.idle {
            return Some(why.to_string());
        }
        let enabled = self.get(HostHookKey::Enabled);
        if let Some(entry) = enabled.filter(|entry| entry.tree.flag() == Some(false)) {
            return Some(format!("`{}` is false", entry.key));
        }
        let own = [HostHookKey::Name, HostHookKey::Command].map(|key| self.text(key));
        for path in self.place.file.disabled {
            let list = self.place.document.at(path).and_then(Tree::items);
            let mut names = list.unwrap_or_default().iter().filter_map(Tree::text);
            if names.any(|name| own.contains(&Some(name))) {
                return Some(format!("`{}` names this hook", path.join(".")));
            }
        }
        None
    }
}

impl SettingsReader<'_> {
    pub(super) fn hooks_of(&mut self, file: &'static HostFile, document: &Tree, section: &Tree) {
        let idle = self.switched_off(file, document);
        let place = |row| HookPlace {
            file,
            row,
            document,
            matcher: None,
            is_parallel: file.runs_at_once,
            idle: idle.as_deref(),
        };
        if let Some(key) = file.event_key() {
            let Some(items) = section.items() else {
                let json = format!("write \"hooks\": [ {{ \"{key}\": \"PreToolUse\", … }} ]");
                let cure = self.by_syntax("write each hook as a `[[hooks]]` table", &json);
                return self.wrong(section, "hooks", "a list of hooks", cure);
            };
            for (number, item) in items.iter().enumerate() {
                let Some(event) = item.at(&[key]).and_then(|tree| Some((tree.text()?, tree)))
                else {
                    let cause = format!("the hook has no `{key}`");
                    let cure = format!("add `{}`", self.entry(key, "\"PreToolUse\""));
                    self.fault(item.offset, cause, cure);
                    self.reject("PreToolUse", item.offset);
                    continue;
                };
                match file.row(event.0) {
                    Some(row) => self.hook_of(place(row), item, format!("hooks[{number}]")),
                    None => self.unknown_event(file, event.0, event.1.offset),
                }
            }
            return;
        }
        let Some(events) = section.entries() else {
            let (kind, cure) = self.by_syntax(
                ("a table", "write each hook as a `[[hooks.EVENT]]` table"),
                ("an object", "write \"hooks\": { \"EVENT\": [ … ] }"),
            );
            return self.wrong(section, "hooks", kind, cure);
        };
        for event in events {
            if file.beside.contains(&event.key.as_str()) {
                continue;
            }
            let Some(row) = file.row(&event.key) else {
                self.unknown_event(file, &event.key, event.at);
                continue;
            };
            let Some(items) = event.tree.items() else {
                self.reject(row.name, event.at);
                let toml = format!("write each hook as a `[[hooks.{}]]` table", event.key);
                let json = format!("write \"{}\": [ … ]", event.key);
                let cure = self.by_syntax(toml.as_str(), &json);
                self.wrong(&event.tree, &event.key, "a list of hooks", cure);
                continue;
            };
            let mut place = place(row);
            let mut in_order = items.iter().filter_map(|it| it.at(&["sequential"])?.flag());
            place.is_parallel &= !in_order.any(|flag| flag);
            for (number, item) in items.iter().enumerate() {
                let name = format!("hooks.{}[{number}]", row.name);
                if file.groups(row.name) {
                    self.group(place, item, &name);
                } else {
                    self.hook_of(place, item, name);
                }
            }
        }
    }

    /// Reports a switch that disables all hooks of the file, and returns the reason.
    fn switched_off(&mut self, file: &'static HostFile, document: &Tree) -> Option<String> {
        for (path, disables) in file.off {
            let Some(switch) = document.at(path) else {
                continue;
            };
            let key = path.join(".");
            let Some(flag) = switch.flag() else {
                let last = path.last().unwrap_or(&"");
                let cure = format!("write `{}`", self.entry(last, &(!disables).to_string()));
                self.wrong(switch, &key, "true or false", &cure);
                continue;
            };
            if flag == *disables {
                let cause = format!("`{key}` is {flag}: no hook in this file runs");
                self.warning(switch.offset, cause, "remove it");
                return Some(format!("{key} is {flag}"));
            }
        }
        None
    }

    /// A misspelled event is an error, a new event of the host a warning.
    fn unknown_event(&mut self, file: &'static HostFile, name: &str, at: usize) {
        let host = file.host();
        let cause = format!("`{name}` is not an event of {}", host.name);
        let other_name = host.called(name).first().map(|binding| binding.row.name);
        if let Some(like) = other_name.or_else(|| host.nearest(name)) {
            return self.fault(at, cause, format!("did you mean `{like}`?"));
        }
        let cause = format!("unknown {} event `{name}`: its hooks do not run", host.name);
        let cure = format!("`hookrun events --host {}` lists all events", host.name);
        self.warning(at, cause, &cure);
    }

    fn group(&mut self, place: HookPlace<'_>, item: &Tree, name: &str) {
        let Some(entries) = self.table(item, "a group of hooks") else {
            return self.reject(place.row.name, item.offset);
        };
        for entry in entries {
            if !GROUP_KEYS.contains(&entry.key.as_str()) {
                self.unknown_key(entry, GROUP_KEYS.iter().copied());
            }
        }
        let hooks = item.at(&["hooks"]);
        let Some(items) = hooks.and_then(Tree::items) else {
            let toml = format!("add a `[[hooks.{}.hooks]]` table", place.row.name);
            let json = "write \"hooks\": [ { \"type\": \"command\", \"command\": \"…\" } ]";
            let cure = self.by_syntax(toml.as_str(), json);
            match hooks {
                Some(tree) => self.wrong(tree, "hooks", "a list of hooks", cure),
                None => self.fault(item.offset, "the group has no `hooks`", cure),
            }
            return self.reject(place.row.name, item.offset);
        };
        let place = HookPlace {
            matcher: item.at(&["matcher"]),
            ..place
        };
        for (number, item) in items.iter().enumerate() {
            self.hook_of(place, item, format!("{name}.hooks[{number}]"));
        }
    }

    fn hook_of(&mut self, place: HookPlace<'_>, item: &Tree, name: String) {
        let errors_before = self.errors();
        let Some(mut entries) = self.table(item, "a hook") else {
            return self.reject(place.row.name, item.offset);
        };
        let action = place.file.action_key().and_then(|key| item.at(&[key]));
        entries.extend(action.and_then(Tree::entries).into_iter().flatten());
        let keys = place.file.hook.iter().filter_map(|(name, says)| {
            let entry = entries.iter().find(|entry| entry.key == *name)?;
            Some((*says, *entry))
        });
        let hook = SettingsHook {
            place,
            keys: keys.collect(),
            at: item.offset,
        };
        if let Some(kind) = other_kind(&hook) {
            let cause = format!("hookrun does not run {kind}");
            let cure = "make the hook a command, or let only the agent run it";
            return self.warning(item.offset, cause, cure);
        }
        // Only warnings, because hosts add keys every week.
        let known = place.file.hook.iter().map(|(name, _)| *name);
        for entry in entries {
            if known.clone().all(|name| name != entry.key) {
                self.unknown_key(entry, known.clone());
            }
        }
        let mut draft = self.draft_of(&hook);
        draft.hook.name = name;
        match self.handler_of(&hook, &mut draft) {
            Some(handler) if self.errors() == errors_before => {
                draft.hook.handler = handler;
                self.manifest.hooks.push(HookTable {
                    draft,
                    at: self.reader.at(item.offset),
                    is_anchored: false,
                });
            }
            _ => self.reject(place.row.name, item.offset),
        }
    }

    fn unknown_key(&mut self, entry: &TreeEntry, known: impl Iterator<Item = &'static str>) {
        let cause = format!("unknown key `{}`", entry.key);
        let cure = complaint::did_you_mean(complaint::nearest(&entry.key, known), || {
            "check its spelling; hookrun ignores unknown keys".to_string()
        });
        self.warning(entry.at, cause, &cure);
    }

    fn draft_of(&mut self, hook: &SettingsHook<'_>) -> HookDraft {
        let HookPlace { file, row, .. } = hook.place;
        let mut draft = HookDraft::of_event(row.name, self.reader.at(hook.at));
        draft.dialect = Some(file.host());
        draft.wanted = self.wanted_of(hook);
        draft.hook.parallel = Some(hook.place.is_parallel);
        draft.hook.idle = hook.idle();
        draft.hook.limits.timeout = Some(self.time_of(hook));
        draft.hook.on_failure = self.on_failure_of(hook);
        draft.hook.variables = self.variables_of(hook);
        let about = hook.get(HostHookKey::About).or(hook.get(HostHookKey::Name));
        draft.hook.description = about.and_then(|entry| entry.tree.text()).and_then(one_line);
        let folder = hook.get(HostHookKey::Folder);
        if let Some(folder) = folder.and_then(|entry| self.text(&entry.tree, &entry.key)) {
            draft.hook.folder = Some(self.env.cwd.join(folder));
        }
        draft
    }

    fn time_of(&mut self, hook: &SettingsHook<'_>) -> Duration {
        let file = hook.place.file;
        let known = hook.place.row.wait.filter(|wait| wait.is_known);
        let usual = known.map_or(Duration::from_secs(60), |wait| wait.usual);
        let Some(entry) = hook.get(HostHookKey::Time) else {
            return usual;
        };
        let Some(number) = entry.tree.number().filter(|it| *it > 0.0 && *it < 1e12) else {
            let unit = match file.per_second {
                1 => "seconds",
                _ => "milliseconds",
            };
            let takes = format!("a number of {unit} greater than 0");
            let example = (10 * file.per_second).to_string();
            let cure = format!("write `{}`", self.entry(&entry.key, &example));
            self.wrong(&entry.tree, &entry.key, &takes, &cure);
            return usual;
        };
        Duration::try_from_secs_f64(number / f64::from(file.per_second))
            .unwrap_or(usual)
            .max(Duration::from_millis(1))
    }

    /// The failure mode in the settings; `None` for the event's default, which blocks at gates.
    fn on_failure_of(&mut self, hook: &SettingsHook<'_>) -> Option<OnFailure> {
        let entry = hook.get(HostHookKey::Closed)?;
        match (entry.tree.text(), entry.tree.flag()) {
            (Some("block"), _) | (_, Some(true)) => Some(OnFailure::Block),
            (Some("allow" | "continue"), _) | (_, Some(false)) => Some(OnFailure::Allow),
            _ => {
                let takes = format!("{} or \"allow\"", hook.place.file.closed);
                let example = self.entry(&entry.key, hook.place.file.closed);
                let cure = format!("write `{example}`");
                self.wrong(&entry.tree, &entry.key, &takes, &cure);
                None
            }
        }
    }

    fn wanted_of(&mut self, hook: &SettingsHook<'_>) -> Option<(WantedEvents, Position)> {
        let HookPlace { file, row, .. } = hook.place;
        let own = hook.get(HostHookKey::Matcher).map(|entry| &entry.tree);
        let tree = own.or(hook.place.matcher);
        let at = tree.map_or(hook.at, |tree| tree.offset);
        let subject = file.subject(row.name);
        let text = tree.and_then(|tree| self.text(tree, "matcher"));
        let matcher = match (subject, text) {
            (_, None) => None,
            (Some(subject), Some(text)) => Some((file.matching, subject, text)),
            (None, Some(text)) => {
                if !matches!(text.as_str(), "" | "*") {
                    let cause = format!("`{}` takes no matcher: `{text}` is ignored", row.name);
                    self.warning(at, cause, "remove it");
                }
                None
            }
        };
        let condition = hook.get(HostHookKey::Condition).and_then(|entry| {
            if subject != Some(MatcherSubject::Tool) {
                let cause = format!("`{}` matches tools, but `{}` has none", entry.key, row.name);
                let cure = "remove the condition: it would keep the hook from running";
                self.fault(entry.at, cause, cure);
            }
            self.text(&entry.tree, &entry.key)
        });
        let wanted = WantedEvents {
            dialect: file.host(),
            event: row.name,
            matcher,
            condition,
        };
        Some((wanted, self.reader.at(at)))
    }

    fn variables_of(&mut self, hook: &SettingsHook<'_>) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        if let Some(root) = plugin_root(self.reader.file) {
            for name in hook.place.file.of_plugin {
                variables.push(((*name).to_string(), root.to_string()));
            }
        }
        let Some(own) = hook.get(HostHookKey::Variables) else {
            return variables;
        };
        let table = self.table(&own.tree, &format!("`{}`", own.key));
        for entry in table.unwrap_or_default() {
            let is_name = !entry.key.is_empty() && !entry.key.contains(['=', '\0']);
            match entry.tree.text() {
                Some(text) if is_name && !text.contains('\0') => {
                    variables.push((entry.key.clone(), text.to_string()));
                }
                _ if !is_name => {
                    let cause = format!("`{}` cannot be the name of a variable", entry.key);
                    self.fault(entry.at, cause, "use letters, digits and `_`");
                }
                _ => {
                    let cause =
                        format!("the variable `{}` must be a string without NUL", entry.key);
                    let cure = format!("write `{}`", self.entry(&entry.key, "\"value\""));
                    self.fault(entry.at, cause, cure);
                }
            }
        }
        variables
    }

    fn handler_of(&mut self, hook: &SettingsHook<'_>, draft: &mut HookDraft) -> Option<Handler> {
        let mut words = self.words_of(hook)?;
        let is_async = hook
            .keys
            .iter()
            .any(|(key, entry)| *key == HostHookKey::Async && entry.tree.flag() == Some(true));
        if is_async {
            let cause = "this hook runs in the background (`async`), so its answer has no effect";
            let complaint = Complaint::with_cure(cause, "remove `async` if the hook must decide");
            self.report(Severity::Note, complaint, hook.at);
            draft.hook.background = Background::Detach;
            draft.hook.on_failure = Some(OnFailure::Allow);
            let limit = draft.hook.limits.timeout.unwrap_or_default().as_secs_f64();
            let script = ASYNC.replace("\"$LIMIT\"", &limit.to_string());
            words.splice(0..0, ["sh", "-c", &script, "sh"].map(str::to_string));
        }
        Some(Handler::Words {
            words,
            base: self.env.cwd.clone(),
        })
    }

    fn words_of(&mut self, hook: &SettingsHook<'_>) -> Option<Vec<String>> {
        let file = hook.place.file;
        if let Some(entry) = hook.get(HostHookKey::Kind) {
            let kind = self.text(&entry.tree, &entry.key)?;
            if kind != COMMAND {
                let cause = format!("`{kind}` is not a hook type");
                self.fault(hook.at, cause, "did you mean `command`?");
                return None;
            }
        }
        let Some(entry) = hook.command() else {
            let own = file.key(HostHookKey::Command).unwrap_or("command");
            let cause = format!("the hook has no `{own}`");
            let cure = format!("add `{}`", self.entry(own, "\"…\""));
            self.fault(hook.at, cause, cure);
            return None;
        };
        let line = self.text(&entry.tree, &entry.key)?;
        if line.trim().is_empty() || line.contains('\0') {
            let cause = if line.contains('\0') {
                "the command contains a NUL"
            } else {
                "the command is empty"
            };
            self.fault(entry.tree.offset, cause, "write the command line to run");
            return None;
        }
        if let Some(arguments) = hook.get(HostHookKey::Arguments) {
            let mut words = vec![line];
            let items = arguments.tree.items().unwrap_or_default();
            words.extend(items.iter().filter_map(Tree::text).map(str::to_string));
            if arguments.tree.items().is_none() || words.len() != items.len() + 1 {
                let example = self.entry(&arguments.key, "[\"one\", \"two\"]");
                let cure = format!("write `{example}`");
                let wrong = items.iter().find(|item| item.text().is_none());
                let wrong = wrong.unwrap_or(&arguments.tree);
                self.wrong(wrong, &arguments.key, "a list of strings", &cure);
                return None;
            }
            return Some(words);
        }
        if hook.get(HostHookKey::Program).is_some() {
            return Some(vec![line]);
        }
        let shell = match hook.get(HostHookKey::Shell) {
            Some(entry) => self.text(&entry.tree, &entry.key)?,
            None => file.shell().to_string(),
        };
        Some(vec![shell, "-c".to_string(), line])
    }
}

/// Why hookrun does not run a hook: its kind, or another operating system.
fn other_kind(hook: &SettingsHook<'_>) -> Option<String> {
    let kind = hook.text(HostHookKey::Kind);
    if let Some(kind) = kind.filter(|kind| complaint::nearest(kind, [COMMAND]).is_none()) {
        return Some(format!("a hook of type `{kind}`"));
    }
    if hook.command().is_some() {
        return None;
    }
    let other = hook.get(HostHookKey::Idle)?;
    Some(format!("a hook for another system (`{}`)", other.key))
}

/// The folder of a plugin whose hook file this is (`hooks/hooks.json`).
fn plugin_root(file: &Path) -> Option<&str> {
    if !file.ends_with("hooks/hooks.json") {
        return None;
    }
    file.parent()?.parent()?.to_str()
}

fn one_line(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if text.is_empty() { None } else { Some(text) }
}
