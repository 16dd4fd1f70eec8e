//! Settings of agent hosts: each hook in them becomes one of ours, by the row of its host.

mod program;

use std::path::Path;
use std::time::Duration;

use super::SettingsReader;
use super::tree::{Tree, TreeEntry as Pair, TreeValue};
use crate::config::draft::HookDraft;
use crate::config::manifest::{HookTable, Rejected};
use crate::config::problem::Position;
use crate::dialects::rules::WantedEvents;
use crate::dialects::settings::hosts::{HookKey, HostFile, HostHookKey, MatcherSubject, Together};
use crate::dialects::{self, Dialect, DialectEvent};
use crate::engine::complaint::Complaint;
use crate::engine::event::OnFailure;
use crate::engine::spelling;

/// A hook as it is being read.
struct SettingsHook<'f> {
    file: &'static HostFile,
    row: &'static DialectEvent,
    keys: Vec<(&'static HookKey, &'f Pair)>,
    at: usize,
}

impl<'f> SettingsHook<'f> {
    fn get(&self, says: HostHookKey) -> Option<&'f Pair> {
        // Of several keys for one thing the first of the table counts.
        let rows = self.file.hook.iter().filter(|row| row.says == says);
        let mut found =
            rows.filter_map(|row| self.keys.iter().find(|(key, _)| std::ptr::eq(*key, row)));
        found.next().map(|(_, pair)| *pair)
    }

    fn flag(&self, says: HostHookKey) -> bool {
        let mut all = self.keys.iter().filter(|(key, _)| key.says == says);
        all.any(|(_, pair)| matches!(pair.tree.value, TreeValue::Flag(true)))
    }
}

/// What stands around a hook.
#[derive(Clone, Copy)]
struct HookPlace<'a> {
    document: &'a Tree,
    matcher: Option<&'a Tree>,
    is_parallel: bool,
    idle: Option<&'a str>,
}

impl HookPlace<'_> {
    /// Why a hook does not run; `None` if it does.
    fn idle(self, found: &SettingsHook<'_>) -> Option<String> {
        let own = [HostHookKey::Name, HostHookKey::Command].map(|key| found.get(key)?.tree.text());
        let is_named = |path: &&[&str]| {
            let list = self.document.at(path).and_then(Tree::items).unwrap_or_default();
            list.iter().any(|one| one.text().is_some() && own.contains(&one.text()))
        };
        let named = found.file.disabled.iter().find(|path| is_named(path));
        let by_name = || Some(format!("`{}` names it", named?.join(".")));
        self.idle.map(str::to_string).or_else(by_name)
    }
}

impl SettingsReader<'_> {
    /// Reads the section of hooks of a host.
    pub(super) fn hooks_of(&mut self, file: &'static HostFile, document: &Tree, section: &Tree) {
        let Some(dialect) = dialects::find(file.dialect) else { return };
        let idle = self.switched_off(file, document);
        if let Some(note) = file.shell_note {
            let cure = "let them name what they need by full paths";
            self.note(Complaint::with_cure(format!("its commands: {note}"), cure), section.offset);
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
                let cause =
                    format!("`{}` takes a list of hooks, not {}", event.key, event.tree.describe());
                self.rejected(row, event.at);
                self.fault(Complaint::with_cure(cause, "write [ … ]"), event.tree.offset);
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
                match file.is_grouped {
                    true => self.group(file, row, item, name, around),
                    false => self.hook_of(file, row, item, name, around),
                }
            }
        }
    }

    /// Says so where a file switches all of its hooks off, and by what.
    fn switched_off(&mut self, file: &'static HostFile, document: &Tree) -> Option<String> {
        let off = file.off?;
        let found = document.at(off.path)?;
        let key = off.path.join(".");
        match found.value {
            TreeValue::Flag(flag) if flag == off.value => {
                let cause = format!("`{key}` is {flag}: none of its hooks runs");
                self.warning(Complaint::with_cure(cause, "remove it"), found.offset);
                Some(format!("{key} is {flag}"))
            }
            TreeValue::Flag(_) => None,
            TreeValue::Text(_)
            | TreeValue::Number(_)
            | TreeValue::List(_)
            | TreeValue::Table(_)
            | TreeValue::Other(_) => {
                let cause = format!("`{key}` takes true or false, not {}", found.describe());
                self.fault(
                    Complaint::with_cure(cause, format!("write `\"{key}\": true`")),
                    found.offset,
                );
                None
            }
        }
    }

    fn unknown_event(&mut self, file: &HostFile, dialect: &'static Dialect, event: &Pair) {
        let name = &event.key;
        let cause = format!("`{name}` is no event of {}", dialect.name);
        let is_told_otherwise = file.has_other_words
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && !dialect.called(name).is_empty();
        let cure = if is_told_otherwise {
            let own = dialect.called(name).first().map_or("", |binding| binding.row.name);
            format!(
                "under this name its host sends other keys; write `{own}`, and read `toolName`, `toolArgs`"
            )
        } else {
            let mut like = dialect.events.iter().map(|row| row.name);
            match like.find(|own| own.eq_ignore_ascii_case(name)).or(dialect.nearest(name)) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("its events are {}", dialect.names().join(", ")),
            }
        };
        self.fault(Complaint::with_cure(cause, cure), event.at);
    }

    fn rejected(&mut self, row: &DialectEvent, at: usize) {
        let events = vec![(row.name.to_string(), self.lines.position(at))];
        self.manifest.rejected.push(Rejected { events, draft: HookDraft::default() });
    }

    /// Reads `{"matcher": …, "hooks": [{…}]}`.
    fn group(
        &mut self,
        file: &'static HostFile,
        row: &'static DialectEvent,
        item: &Tree,
        name: String,
        around: HookPlace<'_>,
    ) {
        let Some(entries) = self.entries_of(item, "a group of hooks") else {
            return self.rejected(row, item.offset);
        };
        let keys = self.known_keys(file.group, &entries);
        let of = |says: HostHookKey| {
            let found = keys.iter().find(|(key, _)| key.says == says);
            found.map(|(_, pair)| *pair)
        };
        let around =
            HookPlace { matcher: of(HostHookKey::Matcher).map(|pair| &pair.tree), ..around };
        let hooks = of(HostHookKey::Hooks).map(|pair| &pair.tree);
        let Some(items) = hooks.and_then(Tree::items) else {
            let (cause, at) = match hooks {
                Some(tree) => {
                    (format!("`hooks` takes a list of hooks, not {}", tree.describe()), tree.offset)
                }
                None => ("the group has no `hooks`".to_string(), item.offset),
            };
            self.fault(
                Complaint::with_cure(
                    cause,
                    "write \"hooks\": [ { \"type\": \"command\", \"command\": \"…\" } ]",
                ),
                at,
            );
            return self.rejected(row, item.offset);
        };
        for (number, item) in items.iter().enumerate() {
            self.hook_of(file, row, item, format!("{name}.hooks[{number}]"), around);
        }
    }

    fn hook_of(
        &mut self,
        file: &'static HostFile,
        row: &'static DialectEvent,
        item: &Tree,
        name: String,
        around: HookPlace<'_>,
    ) {
        let before = self.errors();
        let Some(entries) = self.entries_of(item, "a hook") else {
            return self.rejected(row, item.offset);
        };
        let keys = self.known_keys(file.hook, &entries);
        let found = SettingsHook { file, row, keys, at: item.offset };
        let mut draft = self.draft_of(&found, around);
        let handler = self.handler_of(&found, &mut draft);
        let at = self.lines.position(item.offset);
        match handler {
            Some(handler) if self.errors() == before => {
                let events = vec![(row.name.to_string(), at)];
                let is_anchored = false;
                self.manifest.hooks.push(HookTable {
                    name,
                    events,
                    handler,
                    draft,
                    at,
                    is_anchored,
                });
            }
            _ => self.rejected(row, item.offset),
        }
    }

    /// The entries of an object; a key that appears twice is a problem.
    fn entries_of<'t>(&mut self, tree: &'t Tree, what: &str) -> Option<Vec<&'t Pair>> {
        let Some(entries) = tree.entries() else {
            let cause = format!("{what} is not an object but {}", tree.describe());
            self.fault(Complaint::with_cure(cause, "write it in braces: { … }"), tree.offset);
            return None;
        };
        let mut kept: Vec<&Pair> = Vec::with_capacity(entries.len());
        for entry in entries {
            if kept.iter().any(|known| known.key == entry.key) {
                let cause = format!("`{}` appears twice", entry.key);
                self.fault(Complaint::with_cure(cause, "keep one of them"), entry.at);
            } else {
                kept.push(entry);
            }
        }
        Some(kept)
    }

    /// The keys that are known. Hosts get new ones every week, so others are only told.
    fn known_keys<'t>(
        &mut self,
        known: &'static [HookKey],
        entries: &[&'t Pair],
    ) -> Vec<(&'static HookKey, &'t Pair)> {
        let mut keys = Vec::with_capacity(entries.len());
        for entry in entries {
            match known.iter().find(|row| row.name == entry.key) {
                Some(row) => keys.push((row, *entry)),
                None => {
                    let names = known.iter().map(|row| row.name);
                    let cure = match spelling::nearest(&entry.key, names) {
                        Some(nearest) => format!("did you mean `{nearest}`?"),
                        None => "hookrun does not know it; it has no effect here".to_string(),
                    };
                    let cause = format!("unknown key `{}`", entry.key);
                    self.warning(Complaint::with_cure(cause, cure), entry.at);
                }
            }
        }
        keys
    }

    fn draft_of(&mut self, found: &SettingsHook<'_>, around: HookPlace<'_>) -> HookDraft {
        let file = found.file;
        let mut draft = HookDraft::default();
        draft.dialect = dialects::find(file.dialect);
        draft.parallel = around.is_parallel;
        draft.idle = around.idle(found);
        draft.bounds.limits.timeout = Some(self.time_of(found));
        draft.on_failure = self.on_failure_of(found);
        draft.wanted = self.wanted_of(found, around.matcher);
        draft.variables = self.variables_of(found);
        draft.description = found
            .get(HostHookKey::About)
            .or(found.get(HostHookKey::Name))
            .and_then(|pair| pair.tree.text())
            .and_then(one_line);
        if let Some(folder) = found.get(HostHookKey::Folder).and_then(|pair| self.text_of(pair)) {
            draft.folder = Some(self.operator.env.cwd.join(folder));
        }
        for (key, pair) in &found.keys {
            if let HostHookKey::Void(why) = key.says {
                let cause = format!("`{}` has no effect here: {why}", pair.key);
                self.warning(Complaint::with_cure(cause, "do not rely on it"), pair.at);
            }
        }
        draft
    }

    fn time_of(&mut self, found: &SettingsHook<'_>) -> Duration {
        let time = &found.file.time;
        let usual = time.usual(found.row.name);
        let Some(pair) = found.get(HostHookKey::Time) else { return usual };
        let (key, unit) = (&pair.key, time.unit());
        let number = pair.tree.number().filter(|number| *number > 0.0 && *number < 1e12);
        let Some(number) = number else {
            let cause = format!("`{key}` takes {unit}, more than 0, not {}", pair.tree.describe());
            self.fault(
                Complaint::with_cure(cause, format!("write `\"{key}\": 10`")),
                pair.tree.offset,
            );
            return usual;
        };
        let meant = if number < time.least { number * 1000.0 } else { number / 1000.0 };
        if number < time.least || number > time.most {
            let cause = format!("`{key}` is {number}, and {} counts {unit}", found.file.dialect);
            self.warning(
                Complaint::with_cure(cause, format!("did you mean {meant}?")),
                pair.tree.offset,
            );
        }
        let seconds = if time.per_second == 1 { number } else { number / 1000.0 };
        Duration::try_from_secs_f64(seconds).unwrap_or(usual).max(Duration::from_millis(1))
    }

    /// What its author says about failures; `None` leaves it to the event, which is closed where it
    /// can be refused.
    fn on_failure_of(&mut self, found: &SettingsHook<'_>) -> Option<OnFailure> {
        let (key, pair) = found.keys.iter().find(|(key, _)| {
            matches!(key.says, HostHookKey::Closed(_) | HostHookKey::ClosedFlag)
        })?;
        let tree = &pair.tree;
        match (key.says, &tree.value) {
            (HostHookKey::Closed(word), TreeValue::Text(text)) if text == word => {
                Some(OnFailure::Block)
            }
            (HostHookKey::Closed(_), TreeValue::Text(text)) if text == "allow" => {
                Some(OnFailure::Allow)
            }
            (HostHookKey::ClosedFlag, TreeValue::Flag(true)) => Some(OnFailure::Block),
            (HostHookKey::ClosedFlag, TreeValue::Flag(false)) => Some(OnFailure::Allow),
            (says, _) => {
                let takes = match says == HostHookKey::ClosedFlag {
                    true => "true or false",
                    false => "\"block\" or \"allow\"",
                };
                let cause = format!("`{}` takes {takes}, not {}", pair.key, tree.describe());
                self.fault(
                    Complaint::with_cure(
                        cause,
                        format!(
                            "write `\"{}\": {}`",
                            pair.key,
                            takes.split(" or ").next().unwrap_or(takes)
                        ),
                    ),
                    tree.offset,
                );
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
        let subject = file.subjects.iter().find(|(event, _)| *event == found.row.name);
        let own = found.get(HostHookKey::Matcher).map(|pair| &pair.tree).or(of_group);
        let text = own.and_then(|tree| self.text_in(tree, "matcher"));
        let matcher = match (subject, text) {
            (_, None) => None,
            (Some((_, subject)), Some(text)) => Some((file.matching, *subject, text)),
            (None, Some(text)) => {
                if !matches!(text.as_str(), "" | "*") {
                    let cause = format!("`{}` has no matcher: `{text}` is ignored", found.row.name);
                    self.warning(
                        Complaint::with_cure(cause, "drop it"),
                        own.map_or(0, |tree| tree.offset),
                    );
                }
                None
            }
        };
        let condition = found.get(HostHookKey::Condition).and_then(|pair| {
            let is_of_tool = matches!(subject, Some((_, MatcherSubject::Tool)));
            if !is_of_tool {
                let cause =
                    format!("`{}` matches tools, and `{}` is about none", pair.key, found.row.name);
                self.fault(
                    Complaint::with_cure(
                        cause,
                        "drop it: there it would keep the hook from running",
                    ),
                    pair.at,
                );
            }
            self.text_of(pair)
        });
        let at = own.map_or(found.at, |tree| tree.offset);
        let dialect = dialects::find(file.dialect)?;
        let wanted = WantedEvents { dialect, event: found.row.name, matcher, condition };
        Some((wanted, self.lines.position(at)))
    }

    fn variables_of(&mut self, found: &SettingsHook<'_>) -> Vec<(String, String)> {
        let mut variables = self.of_plugin(found.file);
        let Some(pair) = found.get(HostHookKey::Variables) else { return variables };
        let Some(entries) = self.entries_of(&pair.tree, &format!("`{}`", pair.key)) else {
            return variables;
        };
        for entry in entries {
            let is_name = !entry.key.is_empty() && !entry.key.contains(['=', '\0']);
            match entry.tree.text().filter(|text| is_name && !text.contains('\0')) {
                Some(text) => variables.push((entry.key.clone(), text.to_string())),
                None => {
                    let cause = format!("`{}` is no variable with a text", entry.key);
                    self.fault(Complaint::with_cure(cause, "write \"NAME\": \"value\""), entry.at);
                }
            }
        }
        variables
    }

    /// A plugin's `hooks/hooks.json` finds its own folder in a variable.
    fn of_plugin(&self, file: &HostFile) -> Vec<(String, String)> {
        let folder = self.file.parent().filter(|folder| folder.ends_with("hooks"));
        let root = folder.and_then(Path::parent).and_then(Path::to_str);
        let is_plugin = self.file.file_name().is_some_and(|name| name == "hooks.json");
        let Some(root) = root.filter(|_| is_plugin) else { return Vec::new() };
        file.of_plugin.iter().map(|name| ((*name).to_string(), root.to_string())).collect()
    }

    fn text_of(&mut self, pair: &Pair) -> Option<String> {
        self.text_in(&pair.tree, &pair.key)
    }

    fn text_in(&mut self, tree: &Tree, key: &str) -> Option<String> {
        let text = tree.text();
        if text.is_none() {
            let cause = format!("`{key}` takes a string, not {}", tree.describe());
            self.fault(
                Complaint::with_cure(cause, format!("write `\"{key}\": \"text\"`")),
                tree.offset,
            );
        }
        text.map(str::to_string)
    }
}

/// Whether a group says that the hooks of its event run one after another.
fn says_in_order(file: &HostFile, item: &Tree) -> bool {
    let mut keys = file.group.iter().filter(|row| row.says == HostHookKey::InOrder);
    keys.any(|row| {
        item.at(&[row.name]).is_some_and(|tree| matches!(tree.value, TreeValue::Flag(true)))
    })
}

/// Words for people, on one line.
fn one_line(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if text.is_empty() { None } else { Some(text) }
}
