//! The keys of a hook: one table for `hookrun.toml`, directives, messages and docs.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::draft::{HookDraft, Pattern};
use super::reader::{KeyRow, Setting, specs};
use super::value::{KeyValue, words};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Access, OnFailure};
use crate::engine::hook::{
    Background, Containment, Fixes, Lives, OnDoubt, Reads, Sees, Warm, placeholders,
};
use crate::engine::outcome::Decision;
use crate::hosts::{self, dialects, git, native};

/// The keys of a `[[hook]]` table; some also work in a directive.
#[rustfmt::skip]
pub const HOOK_KEYS: &[KeyRow<HookDraft>] = &[
    KeyRow::key("name", KeyValue::Text, "required", "its name in lists, reasons and logs",
        |draft, key| key.text().map(|name| draft.name = Some((name.into(), key.tree.offset)))),
    KeyRow::key("event", KeyValue::Texts, "required", "the event, or a list of events; a host's name for it also works", set_events),
    KeyRow::key("command", KeyValue::Text, "required", "the program and its arguments, split into words as a shell would, but started without a shell",
        |draft, key| key.text().map(|line| draft.command = Some((line.into(), key.tree.offset)))),
    KeyRow::key("shell", KeyValue::Flag, "false", "run the command with `sh -c`, for pipes, globs and variables",
        |draft, key| key.flag().map(|flag| draft.is_shell = flag)),
    KeyRow::directive("timeout", KeyValue::Duration, "the event's", "how long it may run",
        |draft, key| key.duration().map(|time| draft.hook.limits.timeout = Some(time))),
    KeyRow::key("match", KeyValue::Table(|| specs(MATCH_KEYS)), "every event", "the events that it runs for; every key must match",
        |draft, key| key.take(MATCH_KEYS, "", draft)),
    KeyRow::key("unless", KeyValue::Table(|| specs(MATCH_KEYS)), "nothing", "exceptions, like `except` of a rule: a table with keys of `match`; in a directive, `unless.path` or `unless.where.FIELD`", set_except),
    KeyRow::directive("priority", KeyValue::Number, "100", "lower runs earlier",
        |draft, key| key.number().map(|number| draft.hook.priority = number)),
    KeyRow::directive("parallel", KeyValue::Flag, "true for git events, else false", "it may run in parallel with adjacent hooks that set this too; if unset for git events, only with hooks of the same priority",
        |draft, key| key.flag().map(|flag| draft.hook.parallel = Some(flag))),
    KeyRow::directive("on_failure", KeyValue::OneOf(|| words(OnFailure::NAMES)), "the event's", "the result of a failure",
        |draft, key| key.one_of(OnFailure::NAMES).map(|means| draft.hook.on_failure = Some(means))),
    KeyRow::directive("background", KeyValue::OneOf(|| words(Background::NAMES)), "\"kill\"", "`kill` its background processes, or `detach`: leave them running",
        |draft, key| key.one_of(Background::NAMES).map(|choice| draft.hook.background = choice)),
    KeyRow::directive("lives", KeyValue::OneOf(|| words(Lives::NAMES)), "\"event\"", "\"session\": start it once for each session, and send it its events line by line", set_lives),
    KeyRow::directive("warm", KeyValue::OneOf(|| words(Warm::NAMES)), "\"off\"", "\"fork\": start the Python script in a process forked in advance; \"serve\": keep the program running, and send it each event as a line",
        |draft, key| key.one_of(Warm::NAMES).map(|choice| draft.hook.warm = Some(choice))),
    KeyRow::key("limits", KeyValue::Table(|| specs(LIMIT_KEYS)), "none", "limits on its resources",
        |draft, key| key.take(LIMIT_KEYS, "limits.", draft)),
    KeyRow::directive("sandbox", KeyValue::Either(&[KeyValue::Flag, KeyValue::Table(|| specs(SANDBOX_KEYS))]), "none", "restricts its access to files and the network; Linux only", set_sandbox),
    KeyRow::directive("containment", KeyValue::OneOf(|| words(Containment::NAMES)), "\"auto\"", "\"pidns\": run it in a new process namespace, so that no child process outlives it",
        |draft, key| key.one_of(Containment::NAMES).map(|choice| draft.hook.containment = choice)),
    KeyRow::directive("rewrite", KeyValue::Flag, "false", "it may rewrite the fields that the event allows",
        |draft, key| key.flag().map(|flag| draft.hook.rewrite = flag)),
    KeyRow::directive("reads", KeyValue::OneOf(|| words(Reads::NAMES)), "detected from its source", "where it reads the event; a gate blocks if the environment of a hook cannot hold a value that it reads",
        |draft, key| key.one_of(Reads::NAMES).map(|reads| draft.hook.reads = Some(reads))),
    KeyRow::directive("files", KeyValue::Flag, "false", "it gets the event's files as arguments (`\"$@\"`); `{files}` in `command` also sets this",
        |draft, key| key.flag().map(|flag| draft.hook.files = flag)),
    KeyRow::directive("batch", KeyValue::Number, "0", "the maximum number of files per call; 0: as many as fit, divided among the processors; calls run in parallel",
        |draft, key| key.number_in(0..=i64::MAX).map(|most| draft.hook.batch = usize::try_from(most).unwrap_or(usize::MAX))),
    KeyRow::directive("sees", KeyValue::OneOf(|| words(Sees::NAMES)), "\"staged\" if a file has unstaged changes", "which content of the files it sees before a commit: the staged content, in a private folder, or the files on disk",
        |draft, key| key.one_of(Sees::NAMES).map(|sees| draft.hook.sees = Some(sees))),
    KeyRow::directive("fixes", KeyValue::OneOf(|| words(Fixes::NAMES)), "none", "how hookrun handles its changes to files before a commit (it runs in a private folder): `stage` stages them, `block` blocks",
        |draft, key| key.one_of(Fixes::NAMES).map(|fixes| draft.hook.fixes = Some(fixes))),
    KeyRow::directive("link", KeyValue::Texts, "[\"node_modules\", \".venv\"]", "folders that git ignores and the hook needs next to the staged files", set_links),
    KeyRow::directive("cwd", KeyValue::Text, "the event's", "the folder, inside the project, in which it runs; for an event with `changes`, it sees only the changes in this folder",
        |draft, key| path_below(key.text()?, key).map(|folder| draft.hook.folder = Some(folder))),
    KeyRow::directive("dialect", KeyValue::OneOf(hook_dialects), "\"native\"", "the dialect that it was written for; `git`: git's own arguments and stdin, as in a folder named after a git hook", set_dialect),
    KeyRow::directive("enabled", KeyValue::Flag, "true", "false: list it, but never run it",
        |draft, key| key.flag().map(|flag| draft.hook.enabled = flag)),
    KeyRow::directive("description", KeyValue::Text, "none", "its description in lists; for a command, what the agent shows", set_description),
];

/// More keys of hooks in the dialect of a host whose hooks are specs.
#[rustfmt::skip]
pub const SPEC_KEYS: &[KeyRow<HookDraft>] = &[
    KeyRow::key("type", KeyValue::Text, "\"command\"", "only in a dialect whose hooks are specs: `command`", |draft, key| {
        let kind = key.text()?;
        if kind == "command" {
            return Ok(());
        }
        let host = draft.dialect.map_or("its system", |host| host.name);
        let cause = format!("{host}'s `{kind}` hooks are not run, only its `command` hooks");
        let cure = format!("write `type = \"command\"` and a `command`, or register the hook in {host}");
        Err(Complaint::with_cure(cause, cure))
    }),
    KeyRow::directive("timeoutMs", KeyValue::Number, "5000", "only in a dialect whose hooks are specs: `timeout` in milliseconds", |draft, key| {
        let millis = key.number_in(1..=i64::MAX)?.cast_unsigned();
        draft.hook.limits.timeout = Some(Duration::from_millis(millis));
        Ok(())
    }),
];

/// The keys of a `[[rule]]` table besides those of `match`.
#[rustfmt::skip]
pub const RULE_KEYS: &[KeyRow<HookDraft>] = &[
    KeyRow::key("name", KeyValue::Text, "its file and line", "its name in lists, reasons and logs",
        |draft, key| key.text().map(|name| draft.name = Some((name.into(), key.tree.offset)))),
    KeyRow::key("event", KeyValue::Texts, "\"tool.pre\"", "the event, or a list of events; in a file in `hooks.d` the folder names it", set_events),
    KeyRow::key("deny", KeyValue::Text, "", "blocks with this reason",
        |draft, key| set_rule(draft, key, |reason| Decision::Block { reason })),
    KeyRow::key("ask", KeyValue::Text, "", "asks a person this question",
        |draft, key| set_rule(draft, key, |question| Decision::Ask { question })),
    KeyRow::key("except", KeyValue::Table(|| specs(MATCH_KEYS)), "nothing", "exceptions, like `unless` of a hook: a table with keys of `match`", set_except),
    KeyRow::key("doubt", KeyValue::OneOf(|| words(OnDoubt::NAMES)), "the rule's own decision", "the decision on values that are unknown before the command runs, such as `$X`",
        |draft, key| key.one_of(OnDoubt::NAMES).map(|doubt| draft.doubt = Some(doubt))),
    KeyRow::key("priority", KeyValue::Number, "100", "lower runs earlier",
        |draft, key| key.number().map(|number| draft.hook.priority = number)),
    KeyRow::key("enabled", KeyValue::Flag, "true", "false: list it, but never apply it",
        |draft, key| key.flag().map(|flag| draft.hook.enabled = flag)),
    KeyRow::key("description", KeyValue::Text, "none", "its description in lists", set_description),
];

/// The keys of `match`, which are also keys of a directive.
#[rustfmt::skip]
pub const MATCH_KEYS: &[KeyRow<HookDraft>] = &[
    KeyRow::directive("tool", KeyValue::Texts, "any", "tool names, tool kinds or globs, separated by `|`; a kind matches every tool of that kind, in every host", |draft, key| {
        let tools: Vec<String> = key.some_texts(OR_ANY)?.into_iter().map(|tool| tool.value).collect();
        draft.pattern(Pattern::Tool, &tools.join("|"), key.at());
        Ok(())
    }),
    KeyRow::directive("path", KeyValue::Texts, "any", "globs for the paths that the tool uses",
        |draft, key| add_patterns(draft, key, Pattern::Path)),
    KeyRow::directive("not", KeyValue::Texts, "none", "globs for paths to ignore",
        |draft, key| add_patterns(draft, key, Pattern::Not)),
    KeyRow::directive("type", KeyValue::Texts, "any", "file types, such as `python`, by extension, else by first line; in a list, any may match", |draft, key| {
        let named = key.some_texts(OR_ANY)?;
        named.iter().flat_map(|one| one.value.split('|')).for_each(|name| draft.pattern(Pattern::Type, name, key.at()));
        Ok(())
    }),
    KeyRow::directive("access", KeyValue::OneOf(|| words(Access::NAMES)), "either", "the kind of access to the paths: a command that only reads does not match \"write\"",
        |draft, key| key.one_of(Access::NAMES).map(|access| draft.pattern(Pattern::Access(access), access.name(), key.at()))),
    KeyRow::directive("command", KeyValue::Text, "any", "a regular expression for the command line and each command in it",
        |draft, key| key.text().map(|form| draft.pattern(Pattern::Command, form, key.at()))),
    KeyRow::directive("runs", KeyValue::Texts, "any", "commands in the command line, such as `git push --force|-f`; in a list, any may match",
        |draft, key| add_patterns(draft, key, Pattern::Runs)),
    KeyRow::directive("where", KeyValue::Table(Vec::new), "any", "field = regular expression, for any field of the context",
        |draft, key| set_fields(draft, key, "")),
];

#[rustfmt::skip]
pub const LIMIT_KEYS: &[KeyRow<HookDraft>] = &[
    KeyRow::directive("memory", KeyValue::Size, "none", "memory of each of its processes",
        |draft, key| key.size().map(|bytes| draft.hook.limits.memory_bytes = Some(bytes))),
    KeyRow::directive("cpu", KeyValue::Duration, "none", "processor time of each of its processes, in whole seconds", |draft, key| {
        let time = key.duration()?;
        if time.subsec_nanos() != 0 {
            return Err(key.about("the system counts processor time in whole seconds; write, for example, `2s`"));
        }
        draft.hook.limits.cpu = Some(time);
        Ok(())
    }),
    // Three standard streams, and one for the interpreter to read the script.
    KeyRow::directive("files", KeyValue::Number, "hookrun's", "open files of each of its processes",
        |draft, key| key.number_in(4..=i64::MAX).map(|files| draft.hook.limits.files = Some(files.cast_unsigned()))),
    KeyRow::directive("output", KeyValue::Size, "none", "bytes on stdout and stderr together",
        |draft, key| key.size().map(|bytes| draft.hook.limits.output_bytes = Some(bytes))),
];

/// The keys of `sandbox`, in a directive `sandbox.write=build`. Paths add up.
#[rustfmt::skip]
pub const SANDBOX_KEYS: &[KeyRow<HookDraft>] = &[
    KeyRow::directive("read", KeyValue::Texts, "everything", "files and folders that it may read and run, in addition to the system's", |draft, key| {
        let read = draft.hook.sandbox.get_or_insert_default().read.get_or_insert_default();
        read.extend(paths(key)?);
        Ok(())
    }),
    KeyRow::directive("write", KeyValue::Texts, "nothing", "files and folders that it may read, change, create and delete", |draft, key| {
        draft.hook.sandbox.get_or_insert_default().write.extend(paths(key)?);
        Ok(())
    }),
    KeyRow::directive("network", KeyValue::Flag, "false", "it may use the network",
        |draft, key| key.flag().map(|flag| draft.hook.sandbox.get_or_insert_default().network = flag)),
    KeyRow::directive("required", KeyValue::Flag, "true", "do not run it if the system cannot enforce the sandbox",
        |draft, key| key.flag().map(|flag| draft.hook.sandbox.get_or_insert_default().required = flag)),
];

const OR_ANY: &str = "name at least one, or remove the key to match any";

pub(crate) fn dialect_names() -> Vec<&'static str> {
    let others = dialects().map(|dialect| dialect.name);
    std::iter::once(native::NAME).chain(others).collect()
}

/// The dialects of hooks: those of events, and git's contract.
fn hook_dialects() -> Vec<&'static str> {
    let mut names = dialect_names();
    names.push(git::NAME);
    names
}

fn set_events(draft: &mut HookDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let events = draft.events.get_or_insert_default();
    let named = key.some_texts("name at least one event")?;
    events.extend(named.into_iter().map(|event| (event.value, key.at())));
    Ok(())
}

fn add_patterns(
    draft: &mut HookDraft,
    key: &mut Setting<'_, '_>,
    of: Pattern,
) -> Result<(), Complaint> {
    for written in key.some_texts(OR_ANY)? {
        draft.pattern(of.clone(), &written.value, key.at());
    }
    Ok(())
}

fn set_rule(
    draft: &mut HookDraft,
    key: &mut Setting<'_, '_>,
    decision: fn(String) -> Decision,
) -> Result<(), Complaint> {
    let text = key.text()?;
    if text.trim().is_empty() {
        let cause = format!("`{}` is empty", key.name);
        return Err(Complaint::with_cure(cause, "write a reason or a question"));
    }
    let names = placeholders(text).map_err(|wrong| {
        let cause = format!("`{{{wrong}}}` in `{}` is not a placeholder", key.name);
        Complaint::with_cure(cause, "write `{{` and `}}` for braces")
    })?;
    if draft.rule.replace(decision(text.to_string())).is_some() {
        let cause = "a rule has both `deny` and `ask`";
        return Err(Complaint::with_cure(cause, "remove one of them"));
    }
    draft.placeholders(names, key.at());
    Ok(())
}

fn set_except(draft: &mut HookDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let mut except = HookDraft::default();
    key.take(MATCH_KEYS, &format!("{}.", key.name), &mut except)?;
    draft.except = except.patterns;
    Ok(())
}

fn set_sandbox(draft: &mut HookDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    if let Some(on) = key.tree.flag() {
        draft.hook.sandbox = on.then(|| draft.hook.sandbox.take().unwrap_or_default());
        return Ok(());
    }
    key.take(SANDBOX_KEYS, "sandbox.", draft)?;
    draft.hook.sandbox.get_or_insert_default();
    Ok(())
}

fn set_dialect(draft: &mut HookDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let name = key.text()?;
    let found = hosts::find(name);
    if found.is_none() && ![native::NAME, git::NAME].contains(&name) {
        return Err(key.wrong());
    }
    draft.dialect = found;
    draft.is_of_git = name == git::NAME;
    draft.says_dialect = true;
    Ok(())
}

fn set_lives(draft: &mut HookDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    draft.hook.lives = key.one_of(Lives::NAMES)?;
    draft.lives_at = Some(key.at());
    Ok(())
}

fn set_links(draft: &mut HookDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let links = draft.hook.link.get_or_insert_default();
    for folder in key.texts()? {
        links.push(path_below(&folder.value, key)?);
    }
    Ok(())
}

fn path_below(written: &str, key: &Setting<'_, '_>) -> Result<PathBuf, Complaint> {
    let path = Path::new(written);
    let mut parts = path.components();
    if parts.all(|part| matches!(part, Component::Normal(_))) && !written.is_empty() {
        return Ok(path.to_path_buf());
    }
    let name = key.name;
    let cause = format!("`{name}` cannot be `{written}`");
    let cure = "write a path inside the project without `.` and `..`, such as `web`";
    Err(Complaint::with_cure(cause, cure))
}

fn set_description(draft: &mut HookDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let text = key.text()?;
    if text.trim().is_empty() || text.contains(|c: char| c.is_control()) {
        let cause = "`description` must be text on one line";
        return Err(Complaint::with_cure(cause, "describe it in a few words"));
    }
    draft.hook.description = Some(text.to_string());
    Ok(())
}

/// Sets the fields of `where`. A nested table is a path: `toolInput = { url = "…" }` is the same as
/// `toolInput.url = "…"`.
fn set_fields(
    draft: &mut HookDraft,
    key: &mut Setting<'_, '_>,
    above: &str,
) -> Result<(), Complaint> {
    let table = key.table()?;
    if table.is_empty() {
        let name = format!("where.{above}");
        let cause = format!("`{}` is empty", name.trim_end_matches('.'));
        let cure = "write a field and a regular expression, or remove the key";
        return Err(Complaint::with_cure(cause, cure));
    }
    for entry in table {
        let field = format!("{above}{}", entry.key);
        let tree = &entry.tree;
        if let Some(form) = tree.text() {
            draft.pattern(Pattern::Field(field), form, key.reader.at(tree.offset));
        } else if tree.entries().is_some() {
            let mut inner = Setting {
                reader: &mut *key.reader,
                tree,
                ..*key
            };
            if let Err(complaint) = set_fields(draft, &mut inner, &format!("{field}.")) {
                key.reader.complain(tree.offset, complaint);
            }
        } else {
            let cause = format!("`where.{field}` takes a string, not {}", tree.describe());
            let cure = "write a regular expression in quotes";
            key.reader.fault(tree.offset, cause, cure);
        }
    }
    Ok(())
}

fn paths(key: &Setting<'_, '_>) -> Result<Vec<String>, Complaint> {
    let paths: Vec<String> = key.texts()?.into_iter().map(|path| path.value).collect();
    for path in &paths {
        let is_of_other = path.starts_with('~') && path != "~" && !path.starts_with("~/");
        let cause = match path.as_str() {
            _ if path.is_empty() => format!("a path in `{}` is empty", key.name),
            _ if path.contains('\0') => format!("a path in `{}` contains a NUL", key.name),
            _ if path.contains(['*', '?', '[', '{']) => {
                format!("`{path}` looks like a pattern, which the sandbox does not support")
            }
            _ if is_of_other => format!("`{path}` begins with another user's home folder"),
            _ => continue,
        };
        let cure = "name a file or a folder: `src`, `~/.cache`";
        return Err(Complaint::with_cure(cause, cure));
    }
    Ok(paths)
}
