//! The paths that a command line names: the targets of its redirections, and the operands that its
//! programs write or remove. Pure.

use std::sync::Arc;

use crate::engine::shell::{
    CommandLine, CommandWrapper, GivenWords, ShellWord, Writes, find_program,
};

/// More folders than these are not tried for a relative path.
const MOST_FOLDERS: usize = 16;

/// The paths that a command line names.
#[derive(Debug, Default)]
pub(super) struct LinePaths {
    /// What it opens by a redirection, writes or removes, as it is written.
    pub(super) files: Vec<String>,
    /// Where its programs may work: the folders of `cd` and of options, from where the line began
    /// and from the one before.
    pub(super) folders: Vec<String>,
}

impl LinePaths {
    /// The files, and the relative ones below each folder, and all that below each of these, where
    /// the line may have begun.
    pub(super) fn in_folders(self, begun: &[String]) -> Vec<String> {
        let mut files = self.files;
        for folders in [&self.folders, begun] {
            let relative = files.iter().filter(|file| !file.starts_with('/'));
            let relative: Vec<String> = relative.cloned().collect();
            for folder in folders.iter().map(|folder| folder.trim_end_matches('/')) {
                files.extend(relative.iter().map(|file| format!("{folder}/{file}")));
            }
        }
        files
    }

    pub(super) fn read(line: &CommandLine) -> LinePaths {
        let mut found = LinePaths::default();
        let mut around: &[Arc<CommandWrapper>] = &[];
        for command in &line.commands {
            for wrapper in &command.through {
                if !around.iter().any(|known| Arc::ptr_eq(known, wrapper)) {
                    found.command(&wrapper.name, &wrapper.args);
                }
            }
            around = &command.through;
            for redirect in &command.redirects {
                redirect
                    .target
                    .text
                    .iter()
                    .for_each(|target| found.file(target));
            }
            if let Some(name) = command.name() {
                found.command(name, &command.args);
            }
        }
        found
    }

    fn command(&mut self, name: &str, args: &[ShellWord]) {
        let Some(row) = find_program(name) else {
            return;
        };
        let words = GivenWords::read_as(name, row, args);
        words.values('/').for_each(|folder| self.folder(folder));
        words.values('+').for_each(|file| self.file(file));
        if words.row.uses('^') && !words.has('^') || words.has('!') {
            return;
        }
        let skipped = usize::from(words.has_command);
        let all: Vec<Option<&str>> = words.operands[skipped..]
            .iter()
            .map(|one| one.word.text.as_deref())
            .collect();
        let all = all.as_slice();
        let into = words.values('&').next();
        let is_otherwise = words.has('=');
        match words.row.writes {
            Writes::Nothing => {}
            Writes::All => self.files(all),
            Writes::First => self.files(all.get(..1).unwrap_or_default()),
            Writes::AllButFirst => {
                self.files(all.get(usize::from(!is_otherwise)..).unwrap_or_default());
            }
            Writes::Last if is_otherwise => self.files(all),
            Writes::Last => self.put(all, into),
            Writes::LastHere => {
                let last = all.last().copied().flatten();
                if !last.is_some_and(is_elsewhere) {
                    self.put(all, into);
                }
            }
            Writes::Moved => {
                let sources = all.len() - usize::from(into.is_none() && !all.is_empty());
                self.files(&all[..sources]);
                self.put(all, into);
            }
            Writes::AfterDashes => {
                let before = words
                    .before_dashes
                    .map_or(all.len(), |before| before - skipped);
                self.files(&all[before..]);
            }
            Writes::Assigned => {
                let files = all
                    .iter()
                    .flatten()
                    .filter_map(|word| word.strip_prefix("of="));
                files.for_each(|file| self.file(file));
            }
            Writes::Fetched => {
                let names: Vec<_> = all
                    .iter()
                    .map(|address| address.and_then(last_part))
                    .collect();
                names
                    .iter()
                    .flatten()
                    .for_each(|name| self.put(&[Some(name)], into.or(Some("."))));
            }
            Writes::Enters => {
                let folder = all.first().copied().unwrap_or(Some("~"));
                folder.into_iter().for_each(|folder| self.folder(folder));
            }
        }
    }

    fn files(&mut self, operands: &[Option<&str>]) {
        operands.iter().flatten().for_each(|file| self.file(file));
    }

    /// Adds a file, unless it is one of the devices that every program has open.
    fn file(&mut self, file: &str) {
        let device = file.strip_prefix("/dev/").unwrap_or_default();
        let is_device = matches!(device, "null" | "tty") || device.starts_with("std");
        if !matches!(file, "" | "-") && !is_device && !device.starts_with("fd/") {
            self.files.push(file.to_string());
        }
    }

    /// Adds what is put into the folder `into`, or into or over the last operand.
    fn put(&mut self, operands: &[Option<&str>], into: Option<&str>) {
        let (target, sources) = match (into, operands.split_last()) {
            (Some(into), _) => (into, operands),
            (None, Some((Some(target), sources))) => (*target, sources),
            (None, _) => return,
        };
        let is_folder = into.is_some() || sources.len() > 1;
        if !is_folder && !matches!(target.rsplit('/').next(), Some("" | "." | "..")) {
            return self.file(target);
        }
        let target = target.trim_end_matches('/');
        for source in sources {
            let name = source.map_or("*", base_name);
            self.file(&format!("{target}/{name}"));
        }
    }

    fn folder(&mut self, folder: &str) {
        if self.folders.len() >= MOST_FOLDERS || matches!(folder, "" | "-") {
            return;
        }
        let after = self.folders.last().filter(|_| !folder.starts_with('/'));
        let after = after.map(|last| format!("{last}/{folder}"));
        self.folders.push(folder.to_string());
        self.folders.extend(after);
    }
}

/// Whether an operand is `HOST:PATH`.
fn is_elsewhere(operand: &str) -> bool {
    operand
        .split_once(':')
        .is_some_and(|(host, _)| !host.contains('/'))
}

fn base_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// What a file is called that comes from this address.
fn last_part(address: &str) -> Option<&str> {
    let path = address.split(['?', '#']).next()?;
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    path.rsplit_once('/')
        .map(|(_, name)| name)
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::shell;

    #[test]
    fn a_program_may_work_in_every_folder_that_is_entered() {
        for (command, folders) in [
            ("cd a && rm x; cd ../b", &["a", "../b", "a/../b"][..]),
            ("pushd /a; cd $x; cd -", &["/a"]),
            (
                "git -C a apply --directory=b; patch -d c; tar -xC d",
                &["a", "b", "a/b", "c", "a/b/c", "d", "a/b/c/d"],
            ),
            ("cd", &["~"]),
            ("sudo A=b -D a rm -D c b", &["a"]),
            (
                "sudo -u x -D a rm b; env -C c sh -c 'rm d; rm e'",
                &["a", "c", "a/c"],
            ),
        ] {
            assert_eq!(
                LinePaths::read(&shell::read(command)).folders,
                folders,
                "{command}"
            );
        }
        let many = shell::read(&"cd x;".repeat(1000));
        assert!(LinePaths::read(&many).folders.len() <= MOST_FOLDERS + 1);
    }
}
