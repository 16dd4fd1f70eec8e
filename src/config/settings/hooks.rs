//! Settings of agent hosts: each hook in them becomes one of ours, by the row of its host.

use std::path::Path;
use std::time::Duration;

use super::program::SettingsHook;
use super::reader::SettingsReader;
use crate::config::draft::HookDraft;
use crate::config::problem::{Position, Severity};
use crate::config::tree::{Tree, TreeEntry};
use crate::engine::complaint::Complaint;
use crate::engine::event::OnFailure;
use crate::engine::spelling;
use crate::hosts::rules::WantedEvents;
use crate::hosts::settings::files::{HookKey, HostFile, HostHookKey, MatcherSubject, Together};
use crate::hosts::{self, Host, HostEvent};

#[derive(Clone, Copy)]
struct HookPlace<'a> {
    document: &'a Tree,
    matcher: Option<&'a Tree>,
    is_parallel: bool,
    idle: Option<&'a str>,
}

impl HookPlace<'_> {
    fn idle(self, found: &SettingsHook<'_>) -> Option<String> {
        let own = [HostHookKey::Name, HostHookKey::Command].map(|key| found.get(key)?.tree.text());
        let is_named = |path: &&[&str]| {
            let list = self
                .document
                .at(path)
                .and_then(Tree::items)
                .unwrap_or_default();
            list.iter()
                .any(|one| one.text().is_some() && own.contains(&one.text()))
        };
        let is_off = |pair: &&TreeEntry| pair.tree.flag() == Some(false);
        if let Some(pair) = found.get(HostHookKey::Enabled).filter(is_off) {
            return Some(format!("`{}` is false", pair.key));
        }
        let named = found.file.disabled.iter().find(|path| is_named(path));
        let by_name = || Some(format!("`{}` names it", named?.join(".")));
        self.idle.map(str::to_string).or_else(by_name)
    }
}

impl SettingsReader<'_> {
    pub(super) fn hooks_of(&mut self, file: &'static HostFile, document: &Tree, section: &Tree) {
        let Some(dialect) = hosts::find(file.dialect) else {
            return;
        };
        let idle = self.switched_off(file, document);
        if let Some(other) = file.shell.differs() {
            let cause = format!(
                "its commands: {other} starts them in the host; here `{} -c` does",
                file.shell.program()
            );
            let complaint =
                Complaint::with_cure(cause, "let them name what they need by full paths");
            self.report(Severity::Note, complaint, section.offset);
        }
        if let Some(key) = file.event_key() {
            let is_parallel = file.together == Together::AtOnce;
            let around = HookPlace {
                document,
                matcher: None,
                is_parallel,
                idle: idle.as_deref(),
            };
            return self.list_of(file, section.items().unwrap_or_default(), key, around);
        }
        for event in section.entries().unwrap_or_default() {
            if file.beside.contains(&event.key.as_str()) {
                continue;
            }
            let row = dialect.events.iter().find(|row| row.name == event.key);
            let Some(row) = row else {
                self.unknown_event(file, dialect, event);
                continue;
            };
            let Some(items) = event.tree.items() else {
                self.reject(row.name, event.at);
                self.wrong(&event.tree, &event.key, "a list of hooks", "write [ … ]");
                continue;
            };
            let in_order = match file.together {
                Together::AtOnce => false,
                Together::InOrder => true,
                Together::AtOnceUnlessSaid => items.iter().any(|item| says_in_order(file, item)),
            };
            let around = HookPlace {
                document,
                matcher: None,
                is_parallel: !in_order,
                idle: idle.as_deref(),
            };
            for (number, item) in items.iter().enumerate() {
                let name = format!("hooks.{}[{number}]", row.name);
                if file.groups(row.name) {
                    self.group(file, row, item, name, around)
                } else {
                    self.hook_of(file, row, item, name, around)
                }
            }
        }
    }

    /// Reads hooks that are in one list, each with the name of its event under `key`.
    fn list_of(
        &mut self,
        file: &'static HostFile,
        items: &[Tree],
        key: &str,
        around: HookPlace<'_>,
    ) {
        let Some(dialect) = hosts::find(file.dialect) else {
            return;
        };
        for (number, item) in items.iter().enumerate() {
            let named = item.at(&[key]);
            let Some(name) = named.and_then(Tree::text) else {
                let cause = format!("the hook has no `{key}`");
                self.fault(item.offset, cause, format!("add \"{key}\": \"PreToolUse\""));
                self.reject("PreToolUse", item.offset);
                continue;
            };
            match dialect.events.iter().find(|row| row.name == name) {
                Some(row) => self.hook_of(file, row, item, format!("hooks[{number}]"), around),
                None => {
                    let at = named.map_or(item.offset, |tree| tree.offset);
                    let event = TreeEntry {
                        key: name.to_string(),
                        at,
                        tree: item.clone(),
                    };
                    self.unknown_event(file, dialect, &event);
                }
            }
        }
    }

    /// Says so where a file switches all of its hooks off, and by what.
    fn switched_off(&mut self, file: &'static HostFile, document: &Tree) -> Option<String> {
        let off = file.off?;
        let found = document.at(off.path)?;
        let key = off.path.join(".");
        match found.flag() {
            Some(flag) if flag == off.value => {
                let cause = format!("`{key}` is {flag}: none of its hooks runs");
                self.warning(found.offset, cause, "remove it");
                Some(format!("{key} is {flag}"))
            }
            Some(_) => None,
            None => {
                let cure = format!("write `\"{key}\": true`");
                self.wrong(found, &key, "true or false", &cure);
                None
            }
        }
    }

    /// A slip of an event that hookrun knows is an error, which closes every gate. A new event of the host
    /// is none of them.
    fn unknown_event(&mut self, file: &HostFile, dialect: &'static Host, event: &TreeEntry) {
        let name = &event.key;
        let cause = format!("`{name}` is no event of {}", dialect.name);
        let is_told_otherwise = file.has_other_words
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && !dialect.called(name).is_empty();
        let cure = if is_told_otherwise {
            let own = dialect
                .called(name)
                .first()
                .map_or("", |binding| binding.row.name);
            format!(
                "under this name its host sends other keys; write `{own}`, and read `toolName`, `toolArgs`"
            )
        } else {
            let mut like = dialect.events.iter().map(|row| row.name);
            let like = like
                .find(|own| own.eq_ignore_ascii_case(name))
                .or(dialect.nearest(name));
            let Some(like) = like else {
                let cause = format!("{cause} that hookrun knows: its hooks do not run here");
                let cure = format!("`hookrun events --dialect {}` lists those", dialect.name);
                return self.warning(event.at, cause, &cure);
            };
            format!("did you mean `{like}`?")
        };
        self.fault(event.at, cause, cure);
    }

    /// Reads `{"matcher": …, "hooks": [{…}]}`.
    fn group(
        &mut self,
        file: &'static HostFile,
        row: &'static HostEvent,
        item: &Tree,
        name: String,
        around: HookPlace<'_>,
    ) {
        let Some(entries) = self.table(item, "a group of hooks") else {
            return self.reject(row.name, item.offset);
        };
        let keys = self.known_keys(file.group, &entries);
        let of = |says: HostHookKey| {
            let found = keys.iter().find(|(key, _)| key.says == says);
            found.map(|(_, pair)| *pair)
        };
        let around = HookPlace {
            matcher: of(HostHookKey::Matcher).map(|pair| &pair.tree),
            ..around
        };
        let hooks = of(HostHookKey::Hooks).map(|pair| &pair.tree);
        let Some(items) = hooks.and_then(Tree::items) else {
            let cure = "write \"hooks\": [ { \"type\": \"command\", \"command\": \"…\" } ]";
            match hooks {
                Some(tree) => self.wrong(tree, "hooks", "a list of hooks", cure),
                None => self.fault(item.offset, "the group has no `hooks`", cure),
            }
            return self.reject(row.name, item.offset);
        };
        for (number, item) in items.iter().enumerate() {
            self.hook_of(file, row, item, format!("{name}.hooks[{number}]"), around);
        }
    }

    fn hook_of(
        &mut self,
        file: &'static HostFile,
        row: &'static HostEvent,
        item: &Tree,
        name: String,
        around: HookPlace<'_>,
    ) {
        let before = self.errors();
        let Some(entries) = self.table(item, "a hook") else {
            return self.reject(row.name, item.offset);
        };
        let inner = file
            .action_key()
            .and_then(|key| item.at(&[key]))
            .and_then(Tree::entries);
        let entries: Vec<&TreeEntry> = entries
            .into_iter()
            .chain(inner.into_iter().flatten())
            .collect();
        let keys = self.known_keys(file.hook, &entries);
        let found = SettingsHook {
            file,
            row,
            keys,
            at: item.offset,
        };
        if let Some(what) = found.not_run() {
            return self.not_run(item.offset, &what);
        }
        let mut draft = self.draft_of(&found, around);
        draft.hook.name = name;
        match self.handler_of(&found, &mut draft) {
            Some(handler) if self.errors() == before => {
                draft.hook.handler = handler;
                self.keep(draft, item.offset);
            }
            _ => self.reject(row.name, item.offset),
        }
    }

    /// The keys that are known. Hosts get new ones every week, so others are only warnings.
    fn known_keys<'t>(
        &mut self,
        known: &'static [HookKey],
        entries: &[&'t TreeEntry],
    ) -> Vec<(&'static HookKey, &'t TreeEntry)> {
        let mut keys = Vec::with_capacity(entries.len());
        for entry in entries {
            match known.iter().find(|row| row.name == entry.key) {
                Some(row) => keys.push((row, *entry)),
                None => {
                    let names = known.iter().map(|row| row.name);
                    let cure = spelling::did_you_mean(spelling::nearest(&entry.key, names), || {
                        "hookrun does not know it; it has no effect here".to_string()
                    });
                    let cause = format!("unknown key `{}`", entry.key);
                    self.warning(entry.at, cause, &cure);
                }
            }
        }
        keys
    }

    fn draft_of(&mut self, found: &SettingsHook<'_>, around: HookPlace<'_>) -> HookDraft {
        let file = found.file;
        let mut draft = HookDraft::of_event(found.row.name, self.reader.at(found.at));
        draft.dialect = hosts::find(file.dialect);
        draft.wanted = self.wanted_of(found, around.matcher);
        let hook = &mut draft.hook;
        hook.parallel = around.is_parallel;
        hook.idle = around.idle(found);
        hook.limits.timeout = Some(self.time_of(found));
        hook.on_failure = self.on_failure_of(found);
        hook.variables = self.variables_of(found);
        let about = found
            .get(HostHookKey::About)
            .or(found.get(HostHookKey::Name));
        hook.description = about.and_then(|pair| pair.tree.text()).and_then(one_line);
        let folder = found.get(HostHookKey::Folder);
        if let Some(folder) = folder.and_then(|pair| self.text(&pair.tree, &pair.key)) {
            hook.folder = Some(self.operator.env.cwd.join(folder));
        }
        for (key, pair) in &found.keys {
            if let HostHookKey::Void(why) = key.says {
                let cause = format!("`{}` has no effect here: {why}", pair.key);
                self.warning(pair.at, cause, "do not rely on it");
            }
        }
        draft
    }

    fn time_of(&mut self, found: &SettingsHook<'_>) -> Duration {
        let time = &found.file.time;
        let usual = found.file.usual_time(found.row);
        let Some(pair) = found.get(HostHookKey::Time) else {
            return usual;
        };
        let key = &pair.key;
        let unit = time.unit();
        let number = pair
            .tree
            .number()
            .filter(|number| *number > 0.0 && *number < 1e12);
        let Some(number) = number else {
            let cure = format!("write `\"{key}\": 10`");
            self.wrong(&pair.tree, key, &format!("{unit}, more than 0"), &cure);
            return usual;
        };
        let meant = if number < time.least {
            number * 1000.0
        } else {
            number / 1000.0
        };
        if number < time.least || number > time.most {
            let cause = format!(
                "`{key}` is {number}, and {} counts {unit}",
                found.file.dialect
            );
            self.warning(pair.tree.offset, cause, &format!("did you mean {meant}?"));
        }
        let seconds = if time.per_second == 1 {
            number
        } else {
            number / 1000.0
        };
        Duration::try_from_secs_f64(seconds)
            .unwrap_or(usual)
            .max(Duration::from_millis(1))
    }

    /// What its author says about failures; `None` leaves it to the event, which is closed where it
    /// can be refused.
    fn on_failure_of(&mut self, found: &SettingsHook<'_>) -> Option<OnFailure> {
        let (key, pair) = found.keys.iter().find(|(key, _)| {
            matches!(key.says, HostHookKey::Closed(_) | HostHookKey::ClosedFlag)
        })?;
        let tree = &pair.tree;
        match (key.says, tree.text(), tree.flag()) {
            (HostHookKey::Closed(word), Some(text), _) if text == word => Some(OnFailure::Block),
            (HostHookKey::Closed(_), Some("allow" | "continue"), _) => Some(OnFailure::Allow),
            (HostHookKey::ClosedFlag, _, Some(true)) => Some(OnFailure::Block),
            (HostHookKey::ClosedFlag, _, Some(false)) => Some(OnFailure::Allow),
            (says, ..) => {
                let (takes, example) = if says == HostHookKey::ClosedFlag {
                    ("true or false", "true")
                } else {
                    ("\"block\" or \"allow\"", "\"block\"")
                };
                let cure = format!("write `\"{}\": {example}`", pair.key);
                self.wrong(tree, &pair.key, takes, &cure);
                None
            }
        }
    }

    fn wanted_of(
        &mut self,
        found: &SettingsHook<'_>,
        of_group: Option<&Tree>,
    ) -> Option<(WantedEvents, Position)> {
        let file = found.file;
        let subject = file.subject(found.row.name);
        let own = found
            .get(HostHookKey::Matcher)
            .map(|pair| &pair.tree)
            .or(of_group);
        let text = own.and_then(|tree| self.text(tree, "matcher"));
        let matcher = match (subject, text) {
            (_, None) => None,
            (Some(subject), Some(text)) => Some((file.matching, subject, text)),
            (None, Some(text)) => {
                if !matches!(text.as_str(), "" | "*") {
                    let cause = format!("`{}` has no matcher: `{text}` is ignored", found.row.name);
                    self.warning(own.map_or(0, |tree| tree.offset), cause, "drop it");
                }
                None
            }
        };
        let condition = found.get(HostHookKey::Condition).and_then(|pair| {
            let is_of_tool = matches!(subject, Some(MatcherSubject::Tool));
            if !is_of_tool {
                let cause = format!(
                    "`{}` matches tools, and `{}` is about none",
                    pair.key, found.row.name
                );
                self.fault(
                    pair.at,
                    cause,
                    "drop it: there it would keep the hook from running",
                );
            }
            self.text(&pair.tree, &pair.key)
        });
        let at = own.map_or(found.at, |tree| tree.offset);
        let dialect = hosts::find(file.dialect)?;
        let wanted = WantedEvents {
            dialect,
            event: found.row.name,
            matcher,
            condition,
        };
        Some((wanted, self.reader.at(at)))
    }

    fn variables_of(&mut self, found: &SettingsHook<'_>) -> Vec<(String, String)> {
        let mut variables = self.of_plugin(found.file);
        let Some(pair) = found.get(HostHookKey::Variables) else {
            return variables;
        };
        let Some(entries) = self.table(&pair.tree, &format!("`{}`", pair.key)) else {
            return variables;
        };
        for entry in entries {
            let is_name = !entry.key.is_empty() && !entry.key.contains(['=', '\0']);
            match entry
                .tree
                .text()
                .filter(|text| is_name && !text.contains('\0'))
            {
                Some(text) => variables.push((entry.key.clone(), text.to_string())),
                None => {
                    let cause = format!("`{}` is no variable with a text", entry.key);
                    self.fault(entry.at, cause, "write \"NAME\": \"value\"");
                }
            }
        }
        variables
    }

    /// A plugin's `hooks/hooks.json` finds its own folder in a variable.
    fn of_plugin(&self, file: &HostFile) -> Vec<(String, String)> {
        let folder = self
            .file()
            .parent()
            .filter(|folder| folder.ends_with("hooks"));
        let root = folder.and_then(Path::parent).and_then(Path::to_str);
        let is_plugin = self
            .file()
            .file_name()
            .is_some_and(|name| name == "hooks.json");
        let Some(root) = root.filter(|_| is_plugin) else {
            return Vec::new();
        };
        file.of_plugin
            .iter()
            .map(|name| ((*name).to_string(), root.to_string()))
            .collect()
    }
}

fn says_in_order(file: &HostFile, item: &Tree) -> bool {
    let mut keys = file
        .group
        .iter()
        .filter(|row| row.says == HostHookKey::InOrder);
    keys.any(|row| {
        item.at(&[row.name])
            .is_some_and(|tree| tree.flag() == Some(true))
    })
}

fn one_line(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if text.is_empty() { None } else { Some(text) }
}
