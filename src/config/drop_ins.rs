//! Loads a `hooks.d`: a folder for each event, and one of commands.

use std::io::Read;
use std::path::Path;

use super::commands::{self, command_of, is_asked};
use super::draft::HookDraft;
use super::layer::{DropIn, RESERVED};
use super::loader::{ConfigLoader, bad_command, unknown_event};
use super::{convention, directive, manifest, reader, tables};
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog::command;
use crate::engine::hook::{Handler, HookSource, LayerKind};
use crate::engine::spelling;

/// The end of the name of a file of rules.
const RULES: &str = ".toml";

/// Ends of the names of files that elsewhere do not run.
const PUT_ASIDE: &[&str] = &[
    ".disabled",
    ".disable",
    ".off",
    ".old",
    ".sample",
    ".example",
    ".save",
    ".txt",
];

pub(super) fn load(loader: &mut ConfigLoader<'_>, layer: LayerKind, root: &Path) {
    loader.check_writers(root);
    let mut files = Vec::new();
    for folder in loader.entries(root) {
        let (name, path) = (folder.name, &folder.path);
        if !folder.is_folder {
            let cause = "is directly in hooks.d, where nothing runs it";
            let cure = "move it into the folder of its event, for example hooks.d/tool.pre/";
            loader.fault(path, cause, cure);
            continue;
        }
        if RESERVED.contains(&name.as_str()) {
            continue;
        }
        if name == commands::FOLDER {
            load_commands(loader, layer, path);
            continue;
        }
        if let Some(name) = command::name_of(&name) {
            let cure = format!("make it a file: hooks.d/{}/{name}", commands::FOLDER);
            loader.fault(path, "a command is a file, not a folder", cure);
            continue;
        }
        match loader.may_be_in_scope(&name) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(mut unknown) => {
                let reserved = spelling::nearest(&name, RESERVED.iter().copied());
                unknown.nearest = reserved.map(str::to_string).or(unknown.nearest);
                if !loader.is_misdeclared(&name) {
                    loader.complain(unknown_event(&unknown), path, None);
                }
                continue;
            }
        }
        loader.check_writers(path);
        let found = loader.entries(path);
        files.extend(found.into_iter().map(|file| (file, name.clone())));
    }
    // One event may have two folders, under its own name and under a host's.
    files.sort_by(|(a, _), (b, _)| a.name.as_bytes().cmp(b.name.as_bytes()));
    for (file, event) in files {
        load_file(loader, layer, file, &event);
    }
}

fn load_commands(loader: &mut ConfigLoader<'_>, layer: LayerKind, folder: &Path) {
    if !loader.scope.has(|event| command::name_of(event).is_some()) {
        return;
    }
    loader.check_writers(folder);
    for file in loader.entries(folder) {
        let name = command_of(&file).unwrap_or(&file.name).to_string();
        if file.is_folder {
            let cure = "commands are files; shared code belongs into hooks.d/lib/";
            loader.fault(&file.path, "is a folder among the commands", cure);
        } else if !command::is_name(&name) {
            loader.complain(bad_command(&name), &file.path, None);
        } else if is_asked(loader.scope, &name) {
            load_file(loader, layer, file, &format!("{}{name}", command::PREFIX));
        }
    }
}

/// Loads a file of rules, which is no program: `hooks.d/tool.pre/10-guard.toml`.
fn load_rules(loader: &mut ConfigLoader<'_>, layer: LayerKind, file: &Path, event: &str) {
    let mut problems = Vec::new();
    let read = |text: &str, file: &Path| manifest::read_rules(text, file, event);
    let manifest = reader::load(file, &mut problems, read);
    loader.problems.append(&mut problems);
    tables::load(loader, layer, file, &manifest);
}

/// Whether a file begins as a script does.
fn is_program(file: &Path) -> bool {
    let mut start = [0; 2];
    let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"#!"
}

fn load_file(loader: &mut ConfigLoader<'_>, layer: LayerKind, file: DropIn, event: &str) {
    let first = loader.problems.len();
    bind(loader, layer, file, event);
    loader.about(first, std::iter::once(event));
}

fn bind(loader: &mut ConfigLoader<'_>, layer: LayerKind, file: DropIn, event: &str) {
    let DropIn {
        path,
        name,
        is_folder,
    } = file;
    if is_folder {
        let cure = "hooks are files; shared code belongs into hooks.d/lib/";
        return loader.fault(
            &path,
            format!("is a folder among the hooks of `{event}`"),
            cure,
        );
    }
    if name.ends_with(RULES) && !is_program(&path) {
        return load_rules(loader, layer, &path, event);
    }
    if let Some(end) = PUT_ASIDE.iter().find(|end| name.ends_with(**end)) {
        let cause = format!("it runs, although its name ends in `{end}`");
        let cure = "add `# hookrun: enabled=false` to keep it from running, or rename it";
        loader
            .problems
            .push(Complaint::with_cure(cause, cure).warning(&path, None));
    }
    let mut draft = HookDraft::default();
    match directive::read(&path, &mut draft) {
        Ok(head) => {
            convention::settle(loader, &mut draft, event, &head, &path);
            loader.problems.extend(head.problems);
        }
        // A file that cannot be opened can still be a program; starting it shows that.
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
    match loader.meant(event, draft.dialect) {
        Ok(meant) => {
            for bound in meant {
                if loader.is_in_scope(&bound.spec) {
                    loader.add(&draft, &bound);
                }
            }
        }
        Err(complaint) => loader.complain(complaint, &draft.hook.source.file, None),
    }
}
