//! Loads hooks from the folders of a `hooks.d`, and from the tables of a `hookrun.toml` or of a
//! host's settings.
//!
//! A script's folder, directives and code must agree on its host: a guard that gets another host's
//! keys blocks nothing.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use super::directive::Head;
use super::draft::{BoundEvent, HookDraft};
use super::layer::{COMMANDS, DropIn, RESERVED, SUITES, entries};
use super::loader::{ConfigLoader, ConfigScope, bad_command, unknown_event};
use super::manifest::{HookTable, LoadedLayer, Manifest};
use super::problem::{Position, Problem};
use super::{directive, manifest, reader, relative};
use crate::engine::complaint::{self, Complaint};
use crate::engine::event::catalog::{COMMAND_PREFIX, command_event, command_name, is_command_name};
use crate::engine::event::{EventSpec, OnFailure};
use crate::engine::hook::{Handler, Hook, HookSource, LayerKind};
use crate::hosts::{git, signs, systems};

/// The extension of a rule file.
const RULES: &str = ".toml";

/// Loads a `hooks.d`, with a folder for each event and one for commands.
pub(super) fn load_drop_ins(loader: &mut ConfigLoader<'_>, layer: LayerKind, root: &Path) {
    reader::check_writers(root, &mut loader.problems);
    let mut files = Vec::new();
    for folder in loader.entries(root) {
        let name = folder.name;
        let path = &folder.path;
        if !folder.is_folder {
            let cause = "is directly in hooks.d, so it does not run";
            let cure = "move it into the folder of its event, for example hooks.d/tool.pre/";
            loader.fault(path, cause, cure);
            continue;
        }
        if RESERVED.contains(&name.as_str()) {
            if name != SUITES {
                reader::check_writers(path, &mut loader.problems);
            }
            loader.unopened.push(folder.path);
            continue;
        }
        if name == COMMANDS {
            load_commands(loader, layer, path);
            continue;
        }
        if let Some(name) = command_name(&name) {
            let cure = format!("make it a file: hooks.d/{}/{name}", COMMANDS);
            loader.fault(path, "a command is a file, not a folder", cure);
            continue;
        }
        match loader.may_be_in_scope(&name) {
            Ok(true) => {}
            Ok(false) => {
                loader.unopened.push(folder.path);
                continue;
            }
            Err(mut unknown) => {
                let reserved = complaint::nearest(&name, RESERVED.iter().copied());
                unknown.nearest = reserved.map(str::to_string).or(unknown.nearest);
                if !loader.is_misdeclared(&name) {
                    loader.complain(unknown_event(&unknown), path, None);
                }
                continue;
            }
        }
        reader::check_writers(path, &mut loader.problems);
        let found = loader.entries(path);
        files.extend(found.into_iter().map(|file| (file, name.clone())));
    }
    // An event may have two folders, by its own name and a host's.
    files.sort_by(|(a, _), (b, _)| a.name.as_bytes().cmp(b.name.as_bytes()));
    for (file, event) in files {
        load_drop_in(loader, layer, file, &event);
    }
}

fn load_commands(loader: &mut ConfigLoader<'_>, layer: LayerKind, folder: &Path) {
    if !loader.scope.has(|event| command_name(event).is_some()) {
        return;
    }
    reader::check_writers(folder, &mut loader.problems);
    for file in loader.entries(folder) {
        let name = command_of(&file).unwrap_or(&file.name).to_string();
        if file.is_folder {
            let cure = "commands are files; shared code belongs in hooks.d/lib/";
            loader.fault(&file.path, "is a folder among the commands", cure);
        } else if !is_command_name(&name) {
            loader.complain(bad_command(&name), &file.path, None);
        } else if is_in_scope(loader.scope, &name) {
            load_drop_in(loader, layer, file, &format!("{}{name}", COMMAND_PREFIX));
        }
    }
}

fn load_drop_in(loader: &mut ConfigLoader<'_>, layer: LayerKind, file: DropIn, event: &str) {
    let first = loader.problems.len();
    bind_drop_in(loader, layer, file, event);
    loader.about(first, std::iter::once(event));
}

fn bind_drop_in(loader: &mut ConfigLoader<'_>, layer: LayerKind, file: DropIn, event: &str) {
    let DropIn { path, name, .. } = file;
    if file.is_folder {
        let cause = format!("is a folder among the hooks of `{event}`");
        let cure = "hooks are files; shared code belongs in hooks.d/lib/";
        return loader.fault(&path, cause, cure);
    }
    if name.ends_with(RULES) && !is_script(&path) {
        let manifest = reader::load(&path, &mut loader.problems, |text, file| {
            manifest::read_rules(text, file, event)
        });
        return load_tables(loader, layer, &path, &manifest);
    }
    let mut draft = HookDraft::default();
    match directive::read(&path, &mut draft) {
        Ok(head) => {
            if let Some(complaint) = only_exports(&head, &draft, event) {
                return loader.complain(complaint, &path, None);
            }
            if let Some((complaint, at)) = settle_dialect(loader, &mut draft, event, &head) {
                loader.complain(complaint, &path, at);
            }
            loader.problems.extend(head.problems);
        }
        // The file may be executable but unreadable; starting it will show that.
        Err(error) => tracing::debug!(file = %path.display(), %error, "no directives"),
    }
    draft.hook.name = name;
    draft.hook.handler = Handler::File(path.clone());
    draft.hook.source = HookSource {
        layer,
        file: path,
        line: None,
        set: None,
    };
    let meant = loader.meant(event, &draft).unwrap_or_else(|complaint| {
        loader.complain(complaint, &draft.hook.source.file, None);
        Vec::new()
    });
    for event in meant {
        if loader.is_in_scope(&event.spec) {
            loader.add(&draft, &event);
        }
    }
}

/// Whether a file begins with `#!`.
fn is_script(file: &Path) -> bool {
    let mut start = [0; 2];
    let read = reader::open_plain(file).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"#!"
}

/// Loads the tables of a `hookrun.toml`, or the hooks of a host's settings.
pub(super) fn load_tables(
    loader: &mut ConfigLoader<'_>,
    layer: LayerKind,
    file: &Path,
    manifest: &Manifest,
) {
    for table in &manifest.hooks {
        let first = loader.problems.len();
        bind_table(loader, layer, file, table);
        let events = table.draft.events().iter();
        loader.about(first, events.map(|(name, _)| name.as_str()));
    }
    for rejected in &manifest.rejected {
        check_rejected(loader, file, rejected);
    }
}

/// Reports the other mistakes of a rejected hook.
fn check_rejected(loader: &mut ConfigLoader<'_>, file: &Path, rejected: &HookDraft) {
    let first = loader.problems.len();
    for (name, at) in rejected.events() {
        if let Err(complaint) = loader.meant(name, rejected)
            && !loader.is_misdeclared(name)
        {
            loader.complain(complaint, file, Some(*at));
        }
    }
    for (fault, at) in rejected.matcher().err().into_iter().flatten() {
        loader.complain(fault, file, Some(at));
    }
    let events = rejected.events().iter();
    loader.about(first, events.map(|(name, _)| name.as_str()));
}

fn bind_table(loader: &mut ConfigLoader<'_>, layer: LayerKind, file: &Path, table: &HookTable) {
    let mut bound: Vec<(String, &str)> = Vec::new();
    let mut in_scope: Vec<BoundEvent> = Vec::new();
    for (name, at) in table.draft.events() {
        let meant = match loader.meant(name, &table.draft) {
            Ok(meant) => meant,
            Err(_) if loader.is_misdeclared(name) => continue,
            Err(complaint) => {
                loader.complain(complaint, file, Some(*at));
                continue;
            }
        };
        for event in meant {
            let canonical = event.spec.name.to_string();
            if let Some((_, first)) = bound.iter().find(|(event, _)| *event == canonical) {
                let cause = if *first == name {
                    format!("`{name}` is listed twice")
                } else {
                    format!("`{first}` and `{name}` are the same event")
                };
                let complaint = Complaint::with_cure(cause, "remove one of them");
                loader.complain(complaint, file, Some(*at));
                continue;
            }
            bound.push((canonical, name));
            if loader.is_in_scope(&event.spec) {
                in_scope.push(event);
            }
        }
    }
    // Hooks of other events are checked too, because any error blocks every gate.
    if !bound.iter().any(|(event, _)| loader.is_named(event)) {
        for (fault, at) in table.draft.check() {
            loader.complain(fault, file, Some(at));
        }
    }
    if in_scope.is_empty() {
        return;
    }
    let mut draft = table.draft.clone();
    draft.hook.handler = anchored(loader, file, table);
    draft.hook.source = HookSource {
        layer,
        file: file.to_path_buf(),
        line: Some(table.at.line),
        set: None,
    };
    for event in &in_scope {
        loader.add(&draft, event);
    }
}

/// A table's handler, with relative paths resolved from its file.
fn anchored(loader: &mut ConfigLoader<'_>, file: &Path, table: &HookTable) -> Handler {
    let written = &table.draft.hook.handler;
    if !table.is_anchored {
        return written.clone();
    }
    let checked = match written {
        Handler::Words { words, base } => relative::anchored(words, base).map(|words| {
            let base = base.clone();
            Handler::Words { words, base }
        }),
        Handler::Shell(line) => {
            let base = file.parent().unwrap_or(Path::new("/"));
            relative::check_line(line, base).map(|()| written.clone())
        }
        Handler::File(_) | Handler::Function(_) | Handler::Rule(_) => Ok(written.clone()),
    };
    checked.unwrap_or_else(|complaint| {
        loader.complain(complaint, file, Some(table.at));
        written.clone()
    })
}

/// A complaint about a module of a hook system: as a program it would allow everything.
fn only_exports(head: &Head, draft: &HookDraft, folder: &str) -> Option<Complaint> {
    const READING: &[&str] = &["stdin", "Sync(0"];
    const EXPORTING: &[&str] = &["export default", "module.exports"];
    let mut lines = head.text.lines();
    let exports = lines.any(|line| EXPORTING.iter().any(|words| line.starts_with(words)));
    if !exports || READING.iter().any(|word| head.text.contains(word)) {
        return None;
    }
    let words = head.text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.collect();
    let host = draft
        .dialect
        .or_else(|| systems().find(|host| words.contains(&host.name)))
        .or_else(|| signs::named_after(folder).first().copied());
    let whose = host.map_or("an agent's plugin system", |host| host.name);
    let cause = format!(
        "is a module that only {whose} can load; run as a program, it would decide nothing"
    );
    let cure = "make it a program that reads the event from stdin and prints the answer, or move it out of hooks.d";
    Some(Complaint::with_cure(cause, cure))
}

/// Chooses the dialect of a script that names none: a folder with git's name for a hook means git's
/// contract, one with a host's event name that host's dialect. In the latter a failure blocks gates
/// even if the host would not, because a native hook in that folder by mistake blocks by any exit
/// status. Returns a contradiction in the folder or the code.
fn settle_dialect(
    loader: &ConfigLoader<'_>,
    draft: &mut HookDraft,
    folder: &str,
    head: &Head,
) -> Option<(Complaint, Option<Position>)> {
    if draft.says_dialect {
        return None;
    }
    if git::find(folder).is_some_and(|hook| !hook.event.eq_ignore_ascii_case(folder)) {
        draft.is_of_git = true;
        return None;
    }
    let written = head.written;
    match signs::named_after(folder).as_slice() {
        [] => foreign(head, folder),
        [dialect] if written.is_ours && written.foreign.is_none() => {
            let cause = format!(
                "this hook reads hookrun's keys, but its folder `{folder}` is named after an event of {}",
                dialect.name
            );
            let own = directive_of("native");
            let ours = dialect.called(folder);
            let ours = ours.first().map_or("EVENT", |binding| binding.row.event);
            let cure = format!("{own}, or move the file into hooks.d/{ours}/");
            Some((Complaint::with_cure(cause, cure), None))
        }
        [dialect] => {
            draft.dialect = Some(*dialect);
            let bindings = dialect.called(folder);
            let row = bindings.first().map(|binding| binding.row);
            let spec = row.and_then(|row| loader.catalog.find(row.event).ok());
            let closes = spec.is_some_and(|spec| spec.on_failure == OnFailure::Block);
            draft.hook.on_failure = draft.hook.on_failure.or(closes.then_some(OnFailure::Block));
            None
        }
        several => {
            let names: Vec<&str> = several.iter().map(|dialect| dialect.name).collect();
            let cause = format!(
                "several systems have an event `{folder}`: {}",
                names.join(", ")
            );
            let ours = several[0].called(folder);
            let ours = ours
                .first()
                .map_or("our event", |binding| binding.row.event);
            let cure = format!(
                "if the hook reads hookrun's keys, rename the folder to `{ours}`; otherwise {}, with \
                 the name of its system",
                directive_of(names[0])
            );
            Some((Complaint::with_cure(cause, cure), None))
        }
    }
}

fn directive_of(dialect: &str) -> String {
    format!("add the line `# hookrun: dialect={dialect}`")
}

/// Reports a script that reads keys of another host: cause, cure and line.
fn foreign(head: &Head, event: &str) -> Option<(Complaint, Option<Position>)> {
    let (word, line, dialect) = head.written.foreign.filter(|_| !head.written.is_ours)?;
    let cause = format!(
        "this hook names the {dialect} key `{word}`, but hookrun sends and reads its own keys"
    );
    let own = directive_of(dialect);
    let cure = format!(
        "write the key as `hookrun events {event}` shows it; or, if this is a {dialect} hook, {own} \
         and block with `exit 2`"
    );
    let at = Position::of_line(line);
    Some((Complaint::with_cure(cause, cure), Some(at)))
}

/// The events of the commands in `hooks.d/command/`, and of `command.NAME` in `hookrun.toml`.
pub(super) fn find_commands(layers: &[LoadedLayer], scope: ConfigScope<'_>) -> Vec<EventSpec> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut nearest: Vec<&LoadedLayer> = layers.iter().collect();
    nearest.sort_by_key(|one| Reverse(one.layer.kind));
    for LoadedLayer { layer, files } in nearest {
        for root in &layer.drop_ins {
            for file in entries(&root.join(COMMANDS)).unwrap_or_default() {
                let name = command_of(&file).unwrap_or_default();
                let mut draft = HookDraft::default();
                if is_in_scope(scope, name) {
                    let _ = directive::read(&file.path, &mut draft);
                }
                add_command(&mut found, name, &draft);
            }
        }
        for (_, manifest) in files {
            let hooks = manifest.hooks.iter().map(|table| &table.draft);
            for draft in hooks.chain(&manifest.rejected) {
                for (event, _) in draft.events() {
                    add_command(&mut found, command_name(event).unwrap_or_default(), draft);
                }
            }
        }
    }
    found
        .iter()
        .map(|(name, about)| command_event(name, about.as_deref()))
        .collect()
}

/// Adds a command; the first description counts.
fn add_command(found: &mut Vec<(String, Option<String>)>, name: &str, draft: &HookDraft) {
    if !is_command_name(name) {
        return;
    }
    let description = draft.hook.description.clone();
    let description = description.filter(|_| draft.hook.enabled);
    let mut known = found.iter_mut();
    match known.find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        Some((_, known)) => *known = known.take().or(description),
        None => found.push((name.to_string(), description)),
    }
}

/// Whether the command's summary is needed; finding it requires opening the file.
pub(super) fn is_in_scope(scope: ConfigScope<'_>, name: &str) -> bool {
    let is_it = |asked: &str| asked.eq_ignore_ascii_case(name);
    scope == ConfigScope::Event("") || scope.has(|event| command_name(event).is_some_and(is_it))
}

/// The command's name: the file's name without extension.
pub(super) fn command_of(file: &DropIn) -> Option<&str> {
    let name = Path::new(&file.name).file_stem()?.to_str()?;
    (!file.is_folder).then_some(name)
}

/// Begins the reason of a command's hook that another hides.
pub(crate) const SHADOWED: &str = "shadowed by";

/// Lets one hook answer each command: the nearest layer's (explicit, project, user, system), within a
/// layer the first; the others are idle. A disabled hook shadows nothing, so a lower layer cannot
/// disable a higher one's hook. One that is hidden by another of its own layer is probably a mistake.
pub(super) fn shadow(hooks: &mut [Hook]) -> Vec<Problem> {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut problems = Vec::new();
    let mut nearest: Vec<usize> = (0..hooks.len()).collect();
    nearest.sort_by_key(|at| Reverse(hooks[*at].source.layer));
    for at in nearest {
        let hook = &hooks[at];
        let Some(name) = command_name(&hook.event).filter(|_| hook.is_on()) else {
            continue;
        };
        let by = *first.entry(name.to_string()).or_insert(at);
        if by == at {
            continue;
        }
        let source = &hooks[by].source;
        let line = source.line.map(|line| format!(":{line}"));
        let line = line.unwrap_or_default();
        let file = source.file.display();
        let why = format!("{SHADOWED} {file}{line} ({})", source.layer_text());
        if hook.source.layer == source.layer {
            let cause = format!("`{}` never runs: {why}", hook.name);
            let cure = "give one of them another name, or remove it";
            let place = hook.source.line.map(Position::of_line);
            let problem = Complaint::with_cure(cause, cure).warning(&hook.source.file, place);
            problems.push(Problem {
                events: vec![hook.event.clone()],
                ..problem
            });
        }
        hooks[at].idle = Some(why);
    }
    problems
}
