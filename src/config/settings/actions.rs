//! Buckets of actions: each entry becomes a hook that does what its action says.
//!
//! hookrun does them itself, by its hidden command `act`; what only the network can do, `curl`
//! does. None of them but `Run` and `Ask` can refuse anything.

use std::path::{Component, Path, PathBuf};

use super::json::{JsonKind, Node};
use super::{SettingsReader, url};
use crate::config::draft::{HookDraft, Pattern, SettingValue};
use crate::config::keys::HOOK_KEYS;
use crate::config::manifest::{HookTable, Rejected};
use crate::config::problem::Position;
use crate::dialects::settings::{Bucket, BucketShape, Does, EntryAction, EntryValue};
use crate::engine::complaint::Complaint;
use crate::engine::hook::{Handler, OWN_IMAGE};

/// What sends an event. A proxy or a header that `~/.curlrc` names is somebody else's business,
/// and a redirection would lead where nobody has looked.
const CURL: &str = "curl --disable --globoff --silent --show-error --max-time 3.5 \
    --proto =http,https --output /dev/null --write-out '%{http_code}' \
    --header 'content-type: application/json' --user-agent hookrun --data-binary @- --url";

/// How long sending may take: `curl` ends before.
const POST_TIMEOUT: &str = "4500ms";

/// An entry as it is being read.
struct EntryReader<'i> {
    shape: &'static BucketShape,
    bucket: &'static Bucket,
    action: &'static EntryAction,
    owner: &'i str,
    values: Vec<(&'static str, ActionValue)>,
}

enum ActionValue {
    Text(String, usize),
    Texts(Vec<(String, usize)>),
}

impl EntryReader<'_> {
    fn text(&self, key: &str) -> Option<(&str, usize)> {
        self.values.iter().find_map(|(name, value)| match value {
            ActionValue::Text(text, at) if *name == key => Some((text.as_str(), *at)),
            ActionValue::Text(..) | ActionValue::Texts(_) => None,
        })
    }

    fn texts(&self, key: &str) -> &[(String, usize)] {
        let found = self.values.iter().find_map(|(name, value)| match value {
            ActionValue::Texts(texts) if *name == key => Some(texts.as_slice()),
            ActionValue::Text(..) | ActionValue::Texts(_) => None,
        });
        found.unwrap_or_default()
    }
}

impl SettingsReader<'_> {
    pub(super) fn buckets(
        &mut self,
        shape: &'static BucketShape,
        owner: &str,
        buckets: super::PlacedEntries<'_>,
    ) {
        for (key, at, value) in buckets {
            let Some(bucket) = shape.buckets.iter().find(|bucket| bucket.key == key) else {
                self.unknown_key(&key, at, shape.buckets.iter().map(|bucket| bucket.key));
                continue;
            };
            let JsonKind::List(items) = value.kind() else {
                let cause = format!("`{key}` takes a list of actions, not {}", value.describe());
                let cure = format!("write [ {{ \"{}\": \"log\" }} ]", shape.action);
                self.fault(Complaint::with_cure(cause, cure), value.offset);
                continue;
            };
            for (number, item) in items.into_iter().enumerate() {
                let before = self.errors();
                let at = self.lines.position(item.offset);
                let events = vec![(bucket.event.to_string(), at)];
                let entry = self.item(shape, bucket, owner, item, number);
                match entry {
                    Some((name, handler, draft)) if self.errors() == before => {
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
                    _ => {
                        let draft = HookDraft::default();
                        self.manifest.rejected.push(Rejected { events, draft });
                    }
                }
            }
        }
    }

    pub(super) fn errors(&self) -> usize {
        let is_error = |severity| severity == super::Severity::Error;
        self.problems.iter().filter(|problem| is_error(problem.severity)).count()
    }

    fn item(
        &mut self,
        shape: &'static BucketShape,
        bucket: &'static Bucket,
        owner: &str,
        node: Node<'_>,
        number: usize,
    ) -> Option<(String, Handler, HookDraft)> {
        let entries = self.table(node, "an action")?;
        let mut action = None;
        let mut values = Vec::new();
        let mut places = Vec::new();
        for (key, at, value) in entries {
            if key == shape.action {
                action = Some(value);
                continue;
            }
            let Some(row) = shape.keys.iter().find(|row| row.name == key) else {
                let known = std::iter::once(shape.action);
                self.unknown_key(&key, at, known.chain(shape.keys.iter().map(|row| row.name)));
                continue;
            };
            places.push((row.name, at));
            values.extend(self.value(row.name, row.takes, value).map(|value| (row.name, value)));
        }
        let Some(written) = action else {
            let names: Vec<&str> = shape.actions.iter().map(|action| action.name).collect();
            let cure = format!("write one of {}", names.join(", "));
            let cause = format!("the entry has no `{}`", shape.action);
            self.fault(Complaint::with_cure(cause, cure), node.offset);
            return None;
        };
        let action = self.action(shape, written)?;
        for (key, at) in &places {
            if action.needs != Some(key) && action.may != Some(key) {
                let cause = format!("`{key}` has no effect on `{}`", action.name);
                self.warning(Complaint::with_cure(cause, "drop it"), *at);
            }
        }
        if let Some(only) = action.only_in.filter(|only| *only != bucket.key) {
            let cause = format!("`{}` cannot be in `{}`", action.name, bucket.key);
            let cure = format!("move it into `{only}`: only there is something left to decide");
            self.fault(Complaint::with_cure(cause, cure), written.offset);
        }
        if let Some(key) = action.needs.filter(|key| !places.iter().any(|(name, _)| name == key)) {
            let cause = format!("`{}` has no `{key}`", action.name);
            self.fault(Complaint::with_cure(cause, format!("add \"{key}\": …")), node.offset);
        }
        let item = EntryReader { shape, bucket, action, owner, values };
        let (handler, draft) = self.hook(&item, written.offset)?;
        let name = format!("{}.{}[{number}]:{}", shape.section, item.bucket.key, item.action.name);
        Some((name, handler, draft))
    }

    fn action(
        &mut self,
        shape: &'static BucketShape,
        written: Node<'_>,
    ) -> Option<&'static EntryAction> {
        let JsonKind::Text(name) = written.kind() else {
            let cause = format!("`{}` takes a string, not {}", shape.action, written.describe());
            self.fault(
                Complaint::with_cure(cause, format!("write `\"{}\": \"…\"`", shape.action)),
                written.offset,
            );
            return None;
        };
        let found = shape.actions.iter().find(|action| action.name == name);
        if found.is_none() {
            let names = shape.actions.iter().map(|action| action.name);
            let cure = match crate::engine::spelling::nearest(&name, names.clone()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("known are {}", names.collect::<Vec<_>>().join(", ")),
            };
            self.fault(
                Complaint::with_cure(format!("unknown action `{name}`"), cure),
                written.offset,
            );
        }
        found
    }

    fn value(&mut self, key: &str, takes: EntryValue, node: Node<'_>) -> Option<ActionValue> {
        let value = match (takes, node.kind()) {
            (EntryValue::Text, JsonKind::Text(text)) => Some(ActionValue::Text(text, node.offset)),
            (EntryValue::OneOf(words), JsonKind::Text(text)) if words.contains(&text.as_str()) => {
                Some(ActionValue::Text(text, node.offset))
            }
            (EntryValue::Texts, JsonKind::List(items)) => {
                let texts = items.into_iter().map(|item| match item.kind() {
                    JsonKind::Text(text) => Some((text, item.offset)),
                    JsonKind::List(_) | JsonKind::Table(_) | JsonKind::Other(_) => None,
                });
                texts.collect::<Option<Vec<_>>>().map(ActionValue::Texts)
            }
            (
                _,
                JsonKind::Text(_) | JsonKind::List(_) | JsonKind::Table(_) | JsonKind::Other(_),
            ) => None,
        };
        if value.is_none() {
            let cause = format!("`{key}` takes {}, not {}", takes.describe(), node.describe());
            self.fault(
                Complaint::with_cure(cause, format!("give it {}", takes.describe())),
                node.offset,
            );
        }
        value
    }

    /// What is run for an entry, and how.
    fn hook(&mut self, item: &EntryReader<'_>, at: usize) -> Option<(Handler, HookDraft)> {
        let handler = match item.action.does {
            Does::Log => self.own(item, "log", &[format!("--level={}", level(item))]),
            Does::Save => self.save(item)?,
            Does::Post => self.post(item)?,
            Does::Ask => self.own(item, "ask", &[]),
            Does::Run => self.command(item, at)?,
        };
        let draft = self.draft(item);
        Some((handler, draft))
    }

    /// The settings of a hook. What only watches is told in the words of the convention, and its
    /// failure means nothing.
    fn draft(&mut self, item: &EntryReader<'_>) -> HookDraft {
        let mut draft = HookDraft::default();
        let dialect = SettingValue::Text(item.shape.dialect.to_string());
        let open = SettingValue::Text("allow".to_string());
        let settings = match item.action.does {
            Does::Log | Does::Save => vec![("dialect", dialect), ("on_failure", open)],
            Does::Post => vec![
                ("dialect", dialect),
                ("on_failure", open),
                ("timeout", SettingValue::Text(POST_TIMEOUT.to_string())),
                ("parallel", SettingValue::Flag(true)),
            ],
            Does::Run => vec![("dialect", dialect)],
            Does::Ask => Vec::new(),
        };
        for (key, given) in settings {
            let row = HOOK_KEYS.iter().find(|row| row.name == key);
            let Some(row) = row else { continue };
            if let Err(fault) = draft.set(key, row.takes, given) {
                self.fault(fault, 0);
            }
        }
        if item.action.does == Does::Ask {
            self.tools(item, &mut draft);
        }
        if self.operator.is_off(item.shape) {
            draft.idle = Some(format!("{} = 1", item.shape.kill_switch.name));
        }
        draft
    }

    /// The tools that a question is about: `*` is any text, `.` is also `_`; nothing is all tools.
    fn tools(&mut self, item: &EntryReader<'_>, draft: &mut HookDraft) {
        let mut forms = Vec::new();
        let mut place: Option<Position> = None;
        for (written, at) in item.texts("tools") {
            let glob = written.trim();
            if glob.contains(['?', '[', ']', '{', '}', '|', ',']) {
                let cause = format!("`{glob}`: only `*` is a wildcard here");
                let cure = "write names of tools, with `*`: \"send_*\"";
                self.fault(Complaint::with_cure(cause, cure), *at);
            } else if !glob.is_empty() {
                let form = regex_syntax::escape(glob).replace("\\*", ".*").replace("\\.", "[._]");
                forms.push(form);
                place.get_or_insert(self.lines.position(*at));
            }
        }
        if !forms.is_empty() {
            let form = format!("(?s)^(?:{})$", forms.join("|"));
            draft.pattern(Pattern::Field("toolName".to_string()), form, place);
        }
    }

    /// hookrun itself, by its hidden command.
    fn own(&self, item: &EntryReader<'_>, what: &str, more: &[String]) -> Handler {
        let mut words = vec![self.program(), "act".to_string(), what.to_string()];
        words.push(format!("--profile={}", item.owner));
        words.extend_from_slice(more);
        Handler::Words { words, base: self.folder() }
    }

    fn program(&self) -> String {
        let own = self.operator.program.and_then(Path::to_str);
        own.unwrap_or("hookrun").to_string()
    }

    fn folder(&self) -> PathBuf {
        self.file.parent().map_or_else(PathBuf::new, Path::to_path_buf)
    }

    fn save(&mut self, item: &EntryReader<'_>) -> Option<Handler> {
        let (written, at) = item.text("path")?;
        let path = Path::new(written);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        let depth = path.components().try_fold(0_usize, |depth, part| match part {
            Component::Normal(_) => Some(depth + 1),
            Component::CurDir => Some(depth),
            Component::ParentDir => depth.checked_sub(1),
            Component::RootDir | Component::Prefix(_) => None,
        });
        let is_file =
            path.components().next_back().is_some_and(is_plain) && !written.ends_with('/');
        if written.contains('\0') || !depth.is_some_and(|depth| depth > 0 && is_file) {
            let cause = format!("`{written}` is no file in the folder of the profile");
            let cure = "write a path below it: \"runs/log.jsonl\"";
            self.fault(Complaint::with_cure(cause, cure), at);
            return None;
        }
        let folder = self.folder();
        let Some(folder) = folder.to_str() else {
            let cause = "the folder of the profile has a name that is not Unicode";
            self.fault(Complaint::with_cure(cause, "rename it"), at);
            return None;
        };
        let words = ["--".to_string(), folder.to_string(), written.to_string()];
        Some(self.own(item, "save", &words))
    }

    fn post(&mut self, item: &EntryReader<'_>) -> Option<Handler> {
        let (url, at) = item.text("url")?;
        let problem = url::problem(url).or_else(|| {
            let may = self.operator.may_send_to(item.shape, url);
            let switch = item.shape.destinations.name;
            let cause = format!("`{url}` begins with nothing that `{switch}` lists");
            let cure = "send it elsewhere, or let the operator add its beginning";
            (!may).then(|| Complaint::with_cure(cause, cure))
        });
        if let Some(fault) = problem {
            self.fault(fault, at);
            return None;
        }
        if !self.has_curl() {
            // Starting it then fails, and that says what to do.
            return Some(Handler::Words { words: vec!["curl".to_string()], base: self.folder() });
        }
        let Handler::Words { words, .. } = self.own(item, "payload", &[]) else { return None };
        let (payload, url) = (shell_words::join(words), shell_words::quote(url).into_owned());
        // What the shell would take for its own image is that of who has started it.
        let payload = match payload.strip_prefix(OWN_IMAGE) {
            Some(arguments) => format!("/proc/$PPID/exe{arguments}"),
            None => payload,
        };
        Some(Handler::Shell(format!(
            "code=$({payload} | {CURL} {url}) || code=none\n\
             case $code in 2??) ;; *) echo \"not delivered: status $code\" >&2 ;; esac\nexit 0"
        )))
    }

    fn has_curl(&self) -> bool {
        let search = self.operator.env.search.clone().unwrap_or_else(|| "/bin:/usr/bin".into());
        std::env::split_paths(&search).any(|folder| folder.join("curl").is_file())
    }

    fn command(&mut self, item: &EntryReader<'_>, at: usize) -> Option<Handler> {
        let is_allowed =
            self.operator.allows_commands(item.shape) || self.operator.is_off(item.shape);
        if !is_allowed {
            let switch = item.shape.commands.name;
            let cause = format!("`{}` is off: a profile may come from anywhere", item.action.name);
            let cure = format!("read what it runs, then set {switch}=1; or drop it");
            self.fault(Complaint::with_cure(cause, cure), at);
        }
        let (line, at) = item.text("command")?;
        if line.trim().is_empty() || line.contains('\0') {
            let cause = "the command is empty, or has a NUL in it";
            self.fault(Complaint::with_cure(cause, "write the command line to run"), at);
            return None;
        }
        Some(Handler::Shell(line.to_string()))
    }
}

/// How much a line in the log matters.
fn level<'i>(item: &'i EntryReader<'_>) -> &'i str {
    let by_default = item.shape.keys.iter().find_map(|key| match key.takes {
        EntryValue::OneOf(words) if key.name == "level" => words.first().copied(),
        EntryValue::OneOf(_) | EntryValue::Text | EntryValue::Texts => None,
    });
    item.text("level").map_or(by_default.unwrap_or_default(), |(text, _)| text)
}
