//! Buckets of actions: each entry becomes a hook that does what its action says.
//!
//! hookrun does them itself, by its hidden command `act`; what only the network can do, `curl`
//! does. None of them but `Run` and `Ask` can refuse anything.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::reader::SettingsReader;
use crate::config::draft::{HookDraft, Pattern};
use crate::config::problem::Position;
use crate::config::tree::{Tree, TreeEntry};
use crate::engine::complaint::Complaint;
use crate::engine::event::OnFailure;
use crate::engine::hook::{Handler, OWN_IMAGE};
use crate::engine::spelling;
use crate::hosts;
use crate::hosts::settings::{Bucket, BucketShape, Does, EntryAction, EntryValue};

/// What sends an event. A proxy or a header that `~/.curlrc` names has no say here,
/// and a redirection would lead to an address that was not checked.
const CURL: &str = "curl --disable --globoff --silent --show-error --max-time 3.5 \
    --proto =http,https --output /dev/null --write-out '%{http_code}' \
    --header 'content-type: application/json' --user-agent hookrun --data-binary @- --url";

/// How long sending may take: `curl` ends before.
const POST_TIMEOUT: Duration = Duration::from_millis(4500);

struct EntryReader<'i> {
    shape: &'static BucketShape,
    bucket: &'static Bucket,
    action: &'static EntryAction,
    owner: &'i str,
    /// The keys whose values are what they take.
    values: Vec<(&'static str, &'i Tree)>,
}

impl<'i> EntryReader<'i> {
    fn get(&self, key: &str) -> Option<&'i Tree> {
        self.values
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, tree)| *tree)
    }

    fn text(&self, key: &str) -> Option<(&'i str, usize)> {
        let tree = self.get(key)?;
        Some((tree.text()?, tree.offset))
    }
}

impl SettingsReader<'_> {
    pub(super) fn buckets(
        &mut self,
        shape: &'static BucketShape,
        owner: &str,
        buckets: &[&TreeEntry],
    ) {
        for entry in buckets {
            let Some(bucket) = shape.buckets.iter().find(|bucket| bucket.key == entry.key) else {
                let known: Vec<&str> = shape.buckets.iter().map(|bucket| bucket.key).collect();
                self.unknown_key(entry, &known);
                continue;
            };
            let Some(items) = entry.tree.items() else {
                let cure = format!("write [ {{ \"{}\": \"log\" }} ]", shape.action);
                self.wrong(&entry.tree, &entry.key, "a list of actions", &cure);
                continue;
            };
            for (number, item) in items.iter().enumerate() {
                let before = self.errors();
                let draft = self.item(shape, bucket, owner, item, number);
                match draft.filter(|_| self.errors() == before) {
                    Some(draft) => self.keep(draft, item.offset),
                    None => self.reject(bucket.event, item.offset),
                }
            }
        }
    }

    fn item(
        &mut self,
        shape: &'static BucketShape,
        bucket: &'static Bucket,
        owner: &str,
        item: &Tree,
        number: usize,
    ) -> Option<HookDraft> {
        let mut action = None;
        let mut values = Vec::new();
        let mut places = Vec::new();
        for entry in self.table(item, "an action")? {
            if entry.key == shape.action {
                action = Some(&entry.tree);
                continue;
            }
            let Some(row) = shape.keys.iter().find(|row| row.name == entry.key) else {
                let keys = shape.keys.iter().map(|row| row.name);
                let known: Vec<&str> = std::iter::once(shape.action).chain(keys).collect();
                self.unknown_key(entry, &known);
                continue;
            };
            places.push((row.name, entry.at));
            if self.check_value(row.name, row.takes, &entry.tree) {
                values.push((row.name, &entry.tree));
            }
        }
        let Some(written) = action else {
            let names: Vec<&str> = shape.actions.iter().map(|action| action.name).collect();
            let cause = format!("the entry has no `{}`", shape.action);
            self.fault(
                item.offset,
                cause,
                format!("write one of {}", names.join(", ")),
            );
            return None;
        };
        let action = self.action(shape, written)?;
        for (key, at) in &places {
            if action.needs != Some(key) && action.may != Some(key) {
                let cause = format!("`{key}` has no effect on `{}`", action.name);
                self.warning(*at, cause, "drop it");
            }
        }
        if let Some(only) = action.only_in.filter(|only| *only != bucket.key) {
            let cause = format!("`{}` cannot be in `{}`", action.name, bucket.key);
            let cure = format!("move it into `{only}`: only there is something left to decide");
            self.fault(written.offset, cause, cure);
        }
        if let Some(key) = action
            .needs
            .filter(|key| !places.iter().any(|(name, _)| name == key))
        {
            let cause = format!("`{}` has no `{key}`", action.name);
            self.fault(item.offset, cause, format!("add \"{key}\": …"));
        }
        let entry = EntryReader {
            shape,
            bucket,
            action,
            owner,
            values,
        };
        let handler = self.handler(&entry, written.offset)?;
        let mut draft = self.draft(&entry, self.reader.at(item.offset));
        draft.hook.handler = handler;
        draft.hook.name = format!("{}.{}[{number}]:{}", shape.section, bucket.key, action.name);
        Some(draft)
    }

    fn action(
        &mut self,
        shape: &'static BucketShape,
        written: &Tree,
    ) -> Option<&'static EntryAction> {
        let Some(name) = written.text() else {
            let cure = format!("write `\"{}\": \"…\"`", shape.action);
            self.wrong(written, shape.action, "a string", &cure);
            return None;
        };
        let found = shape.actions.iter().find(|action| action.name == name);
        if found.is_none() {
            let names = shape.actions.iter().map(|action| action.name);
            let cure = spelling::did_you_mean(spelling::nearest(name, names.clone()), || {
                format!("known are {}", names.collect::<Vec<_>>().join(", "))
            });
            self.fault(written.offset, format!("unknown action `{name}`"), cure);
        }
        found
    }

    fn check_value(&mut self, key: &str, takes: EntryValue, tree: &Tree) -> bool {
        let is_taken = match takes {
            EntryValue::Text => tree.text().is_some(),
            EntryValue::OneOf(words) => tree.text().is_some_and(|text| words.contains(&text)),
            EntryValue::Texts => tree
                .items()
                .is_some_and(|items| items.iter().all(|item| item.text().is_some())),
        };
        if !is_taken {
            self.wrong(
                tree,
                key,
                &takes.describe(),
                &format!("give it {}", takes.describe()),
            );
        }
        is_taken
    }

    fn handler(&mut self, item: &EntryReader<'_>, at: usize) -> Option<Handler> {
        match item.action.does {
            Does::Log => Some(self.own(item, "log", &[format!("--level={}", level(item))])),
            Does::Save => self.save(item),
            Does::Post => self.post(item),
            Does::Ask => Some(self.own(item, "ask", &[])),
            Does::Run => self.command(item, at),
        }
    }

    /// The settings of a hook. One that only watches gets the words of the convention, and its
    /// failure means nothing.
    fn draft(&mut self, item: &EntryReader<'_>, at: Position) -> HookDraft {
        let mut draft = HookDraft::of_event(item.bucket.event, at);
        let does = item.action.does;
        if does == Does::Ask {
            self.tools(item, &mut draft);
        } else {
            (draft.dialect, draft.says_dialect) = (hosts::find(item.shape.dialect), true);
        }
        if matches!(does, Does::Log | Does::Save | Does::Post) {
            draft.hook.on_failure = Some(OnFailure::Allow);
        }
        if does == Does::Post {
            draft.hook.limits.timeout = Some(POST_TIMEOUT);
            draft.hook.parallel = true;
        }
        if self.operator.is_off(item.shape) {
            draft.hook.idle = Some(format!("{} = 1", item.shape.kill_switch.name));
        }
        draft
    }

    /// The tools that a question is about: `*` is any text, `.` is also `_`; nothing is all tools.
    fn tools(&mut self, item: &EntryReader<'_>, draft: &mut HookDraft) {
        let mut forms = Vec::new();
        let mut place = None;
        for tree in item.get("tools").and_then(Tree::items).unwrap_or_default() {
            let glob = tree.text().unwrap_or_default().trim();
            if glob.contains(['?', '[', ']', '{', '}', '|', ',']) {
                let cause = format!("`{glob}`: only `*` is a wildcard here");
                self.fault(
                    tree.offset,
                    cause,
                    "write names of tools, with `*`: \"send_*\"",
                );
            } else if !glob.is_empty() {
                let form = regex_syntax::escape(glob)
                    .replace("\\*", ".*")
                    .replace("\\.", "[._]");
                forms.push(form);
                place.get_or_insert(tree.offset);
            }
        }
        if let Some(offset) = place {
            let form = format!("(?s)^(?:{})$", forms.join("|"));
            let field = Pattern::Field("toolName".to_string());
            draft.pattern(field, &form, self.reader.at(offset));
        }
    }

    fn own(&self, item: &EntryReader<'_>, what: &str, more: &[String]) -> Handler {
        let mut words = vec![self.program(), "act".to_string(), what.to_string()];
        words.push(format!("--profile={}", item.owner));
        words.extend_from_slice(more);
        Handler::Words {
            words,
            base: self.folder(),
        }
    }

    fn program(&self) -> String {
        let own = self.operator.program.and_then(Path::to_str);
        own.unwrap_or("hookrun").to_string()
    }

    fn folder(&self) -> PathBuf {
        self.file()
            .parent()
            .map_or_else(PathBuf::new, Path::to_path_buf)
    }

    fn save(&mut self, item: &EntryReader<'_>) -> Option<Handler> {
        let (written, at) = item.text("path")?;
        let path = Path::new(written);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        let depth = path
            .components()
            .try_fold(0_usize, |depth, part| match part {
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
            self.fault(at, cause, cure);
            return None;
        }
        let folder = self.folder();
        let Some(folder) = folder.to_str() else {
            let cause = "the folder of the profile has a name that is not Unicode";
            self.fault(at, cause, "rename it");
            return None;
        };
        let words = ["--".to_string(), folder.to_string(), written.to_string()];
        Some(self.own(item, "save", &words))
    }

    fn post(&mut self, item: &EntryReader<'_>) -> Option<Handler> {
        let (url, at) = item.text("url")?;
        let problem = url_problem(url).or_else(|| {
            let may = self.operator.may_send_to(item.shape, url);
            let switch = item.shape.destinations.name;
            let cause = format!("`{url}` begins with nothing that `{switch}` lists");
            let cure = "send it elsewhere, or let the operator add its beginning";
            (!may).then(|| Complaint::with_cure(cause, cure))
        });
        if let Some(complaint) = problem {
            self.reader.complain(at, complaint);
            return None;
        }
        if !self.has_curl() {
            // Starting it then fails, and that says what to do.
            return Some(Handler::Words {
                words: vec!["curl".to_string()],
                base: self.folder(),
            });
        }
        let Handler::Words { words, .. } = self.own(item, "payload", &[]) else {
            return None;
        };
        let (payload, url) = (
            shell_words::join(words),
            shell_words::quote(url).into_owned(),
        );
        // In the shell, its own image would be that of the shell.
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
        let search = self
            .operator
            .env
            .search
            .clone()
            .unwrap_or_else(|| "/bin:/usr/bin".into());
        std::env::split_paths(&search).any(|folder| folder.join("curl").is_file())
    }

    fn command(&mut self, item: &EntryReader<'_>, at: usize) -> Option<Handler> {
        let is_allowed =
            self.operator.allows_commands(item.shape) || self.operator.is_off(item.shape);
        if !is_allowed {
            let switch = item.shape.commands.name;
            let cause = format!(
                "`{}` is off: a profile may come from anywhere",
                item.action.name
            );
            let cure = format!("read what it runs, then set {switch}=1; or drop it");
            self.fault(at, cause, cure);
        }
        let (line, at) = item.text("command")?;
        if line.trim().is_empty() || line.contains('\0') {
            let cause = "the command is empty, or has a NUL in it";
            self.fault(at, cause, "write the command line to run");
            return None;
        }
        Some(Handler::Shell(line.to_string()))
    }
}

/// How much a line in the log matters.
fn level<'i>(item: &EntryReader<'i>) -> &'i str {
    let by_default = item.shape.keys.iter().find_map(|key| match key.takes {
        EntryValue::OneOf(words) if key.name == "level" => words.first().copied(),
        EntryValue::OneOf(_) | EntryValue::Text | EntryValue::Texts => None,
    });
    item.text("level")
        .map_or(by_default.unwrap_or_default(), |(text, _)| text)
}

const OWN: &[&str] = &["localhost", "127.0.0.1", "::1"];

/// Why nothing can be sent to `url`, if so. A webhook may go anywhere by https, and to this machine
/// by http.
fn url_problem(url: &str) -> Option<Complaint> {
    let cure = "write `https://HOST/…`, or `http://localhost:PORT/…` for this machine";
    let fault = |cause: String| Some(Complaint::with_cure(cause, cure));
    // A backslash is a slash for some readers of URLs and not for others.
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    let parts = url.split_once("://").filter(|_| !url.contains(is_odd));
    let Some((scheme, host)) = parts.and_then(|(scheme, rest)| Some((scheme, host_of(rest)?)))
    else {
        return fault(format!("`{url}` is no URL"));
    };
    let is_own = OWN.iter().any(|own| host.eq_ignore_ascii_case(own));
    match scheme.to_ascii_lowercase().as_str() {
        "https" => None,
        "http" if is_own => None,
        "http" => fault(format!("`{url}` would be sent in the clear")),
        _ => fault(format!("`{scheme}` is no way to send an event")),
    }
}

/// The host of what follows `://`, without user and port.
fn host_of(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#']).next()?;
    let (_, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (
                host,
                if after.is_empty() {
                    ""
                } else {
                    after.strip_prefix(':')?
                },
            )
        }
        None => host.split_once(':').unwrap_or((host, "")),
    };
    let is_host = !host.is_empty() && port.chars().all(|c| c.is_ascii_digit());
    is_host.then_some(host)
}
