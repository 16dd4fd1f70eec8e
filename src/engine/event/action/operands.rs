//! The paths that a command line names: the targets of its redirections, and the operands that its
//! programs write or remove. Pure.

use std::sync::Arc;

use crate::engine::shell::{CommandLine, CommandWrapper, ShellWord};

/// Which operands of a program it writes or removes. Options are divided by blanks, a short one
/// without its dash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writes {
    Nothing,
    All,
    First,
    /// The first one says how, unless one of these options does.
    AllButFirst(&'static str),
    /// The last one, or what is called as the others in it; with one of these options all.
    Last(&'static str),
    /// The last one, unless it is on another host.
    LastHere,
    /// The last one; the others are gone then.
    Moved,
    /// All after `--`.
    AfterDashes,
    /// What follows `of=`.
    Assigned,
    /// Files that are called as the addresses, unless one of these options names one.
    Fetched(&'static str),
    /// It works there from now on.
    Enters,
}

/// A program that writes or removes files which its command line names.
#[derive(Debug)]
struct Writer {
    /// Its base names; for git each with its command.
    names: &'static [&'static str],
    writes: Writes,
    /// Options with a value.
    valued: &'static str,
    /// Options without which it writes no operand.
    only_with: &'static str,
    /// Options whose value is a file that it writes.
    files: &'static str,
    /// Options whose value is the folder that it puts files into.
    into: &'static str,
    /// Options whose value is the folder in which it works.
    folders: &'static str,
}

const fn row(names: &'static [&'static str], writes: Writes, valued: &'static str) -> Writer {
    Writer { names, writes, valued, only_with: "", files: "", into: "", folders: "" }
}

/// The programs that write or remove what they are given. Those that take the names from an archive
/// or from stdin, as `tar -x` does, have none to give.
#[rustfmt::skip]
const WRITERS: &[Writer] = &[
    row(&["rm", "rmdir", "unlink", "tee", "sponge", "git rm"], Writes::All, ""),
    row(&["shred"], Writes::All, "n s --iterations --size --random-source"),
    row(&["truncate"], Writes::All, "r s --reference --size"),
    row(&["touch"], Writes::All, "d r t --date --reference --time"),
    row(&["mkdir", "mkfifo"], Writes::All, "m --mode"),
    // `chmod -x FILE` says how in an option.
    row(&["chmod"], Writes::AllButFirst("r w x X s t --reference"), "--reference"),
    row(&["chown", "chgrp"], Writes::AllButFirst("--reference"), "--reference --from"),
    Writer { into: "t --target-directory", ..row(&["cp", "ln"], Writes::Last(""), "S --suffix") },
    Writer { into: "t --target-directory", ..row(&["mv"], Writes::Moved, "S --suffix") },
    Writer { into: "t --target-directory",
        ..row(&["install"], Writes::Last("d --directory"), "g m o S --group --mode --owner --suffix --strip-program") },
    row(&["rsync"], Writes::LastHere,
        "B e f M T --rsh --filter --exclude --exclude-from --include --include-from --files-from --backup-dir --suffix \
         --temp-dir --compare-dest --copy-dest --link-dest --chmod --chown --password-file --port --timeout --bwlimit"),
    row(&["scp"], Writes::LastHere, "c D F i J l o P S X"),
    row(&["dd"], Writes::Assigned, ""),
    Writer { only_with: "i --in-place",
        ..row(&["sed"], Writes::AllButFirst("e f --expression --file"), "e f l --expression --file --line-length") },
    Writer { only_with: "i", ..row(&["perl", "ruby"], Writes::AllButFirst("e E"), "e E F I m M r") },
    Writer { only_with: "i --inplace", ..row(&["yq"], Writes::AllButFirst("--from-file"), "o p --from-file") },
    Writer { files: "o --output", folders: "d --directory",
        ..row(&["patch"], Writes::First, "B D F i p r V Y z --input --strip --reject-file --fuzz") },
    Writer { files: "o --output", ..row(&["sort", "gcc", "g++", "cc", "clang"], Writes::Nothing, "") },
    Writer { files: "o c D --output --cookie-jar --dump-header", only_with: "O --remote-name", into: "--output-dir",
        ..row(&["curl"], Writes::Fetched(""), "A b C d e E F H K m P Q r T u U w x X Y z \
            --cookie --data --form --header --max-time --proxy --request --retry --upload-file --url --user --user-agent") },
    Writer { files: "a o O --append-output --output-file --output-document", into: "P --directory-prefix",
        ..row(&["wget"], Writes::Fetched("O --output-document"),
            "A B D e i I l Q R t T U w X --header --user --password --user-agent --post-data --tries --timeout") },
    Writer { folders: "C --directory", ..row(&["tar"], Writes::Nothing, "") },
    row(&["git mv"], Writes::Moved, ""),
    row(&["git clean"], Writes::All, "e --exclude"),
    row(&["git restore"], Writes::All, "s --source --conflict"),
    row(&["git checkout"], Writes::AfterDashes, ""),
    Writer { folders: "--directory", ..row(&["git apply"], Writes::Nothing, "C p --exclude --include") },
    Writer { folders: "D --chdir", ..row(&["sudo"], Writes::Nothing, "g h p u --group --host --prompt --user") },
    Writer { folders: "C --chdir", ..row(&["env"], Writes::Nothing, "u --unset") },
    // What is before the command of git.
    Writer { folders: "C --work-tree", ..row(&["git"], Writes::Nothing, "c --git-dir --namespace") },
    row(&["cd", "pushd"], Writes::Enters, ""),
];

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
                redirect.target.text.iter().for_each(|target| found.file(target));
            }
            if let Some(name) = command.name() {
                found.command(name, &command.args);
            }
        }
        found
    }

    fn command(&mut self, name: &str, args: &[ShellWord]) {
        let is_it = |writer: &&Writer| writer.names.contains(&name);
        let Some(writer) = WRITERS.iter().find(is_it) else { return };
        let words = OperandReader::read(writer, args);
        self.add(writer, &words);
        if let Some(at) = words.first_operand.filter(|_| name == "git")
            && let Some(command) = args[at].known()
        {
            self.command(&format!("git {command}"), &args[at + 1..]);
        }
    }

    fn add(&mut self, writer: &Writer, words: &OperandReader<'_>) {
        words.values_of(writer.folders).for_each(|folder| self.folder(folder));
        words.values_of(writer.files).for_each(|file| self.file(file));
        if !writer.only_with.is_empty() && !words.has(writer.only_with) {
            return;
        }
        let all = words.operands.as_slice();
        let into = words.values_of(writer.into).next();
        match writer.writes {
            Writes::Nothing => {}
            Writes::All => self.files(all),
            Writes::First => self.files(all.get(..1).unwrap_or_default()),
            Writes::AllButFirst(unless) => {
                let skipped = usize::from(!words.has(unless));
                self.files(all.get(skipped..).unwrap_or_default());
            }
            Writes::Last(unless) if words.has(unless) => self.files(all),
            Writes::Last(_) => self.put(all, into),
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
            Writes::AfterDashes => self.files(&all[words.before_dashes.unwrap_or(all.len())..]),
            Writes::Assigned => {
                let files = all.iter().flatten().filter_map(|word| word.strip_prefix("of="));
                files.for_each(|file| self.file(file));
            }
            Writes::Fetched(unless) if words.has(unless) => {}
            Writes::Fetched(_) => {
                let names: Vec<_> = all.iter().map(|address| address.and_then(last_part)).collect();
                names.iter().flatten().for_each(|name| self.put(&[Some(name)], into.or(Some("."))));
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

/// The words after a program, divided as its row says. What only a run can tell counts as an
/// operand.
#[derive(Debug, Default)]
struct OperandReader<'c> {
    /// Each with its value, if it takes one that is known; a short one without its dash.
    options: Vec<(&'c str, Option<&'c str>)>,
    operands: Vec<Option<&'c str>>,
    /// Which of the words is the first operand.
    first_operand: Option<usize>,
    /// How many operands are before `--`.
    before_dashes: Option<usize>,
}

impl<'c> OperandReader<'c> {
    fn read(writer: &Writer, args: &'c [ShellWord]) -> OperandReader<'c> {
        let mut read = OperandReader::default();
        let takes_value = |option: &str| {
            let lists = [writer.valued, writer.files, writer.into, writer.folders];
            lists.into_iter().any(|list| lists_option(list, option))
        };
        let mut words = args.iter().map(|word| word.text.as_deref()).enumerate();
        while let Some((at, word)) = words.next() {
            let option = word.filter(|word| word.len() > 1 && word.starts_with('-'));
            let Some(option) = option.filter(|_| read.before_dashes.is_none()) else {
                read.first_operand.get_or_insert(at);
                read.operands.push(word);
                continue;
            };
            if option == "--" {
                read.before_dashes = Some(read.operands.len());
                continue;
            }
            if option.starts_with("--") {
                let (name, value) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None if takes_value(option) => {
                        (option, words.next().and_then(|(_, word)| word))
                    }
                    None => (option, None),
                };
                read.options.push((name, value));
                continue;
            }
            for (at, letter) in option.char_indices().skip(1) {
                let end = at + letter.len_utf8();
                let (name, rest) = (&option[at..end], &option[end..]);
                if takes_value(name) {
                    let value = match rest {
                        "" => words.next().and_then(|(_, word)| word),
                        rest => Some(rest),
                    };
                    read.options.push((name, value));
                    break;
                }
                read.options.push((name, None));
                // What follows the `i` of `sed -i.bak` is its value.
                if lists_option(writer.only_with, name) {
                    break;
                }
            }
        }
        read
    }

    fn has(&self, list: &str) -> bool {
        self.options.iter().any(|(option, _)| lists_option(list, option))
    }

    fn values_of(&self, list: &'static str) -> impl Iterator<Item = &'c str> {
        let is_meant = move |(option, _): &&(&str, _)| lists_option(list, option);
        self.options.iter().filter(is_meant).filter_map(|(_, value)| *value)
    }
}

/// Whether an option is in a list; a long one may be cut, as most programs take it.
fn lists_option(list: &str, option: &str) -> bool {
    let is_it = |known: &str| known == option || option.len() > 3 && known.starts_with(option);
    list.split(' ').any(is_it)
}

/// Whether an operand is `HOST:PATH`.
fn is_elsewhere(operand: &str) -> bool {
    operand.split_once(':').is_some_and(|(host, _)| !host.contains('/'))
}

fn base_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// What a file is called that comes from this address.
fn last_part(address: &str) -> Option<&str> {
    let path = address.split(['?', '#']).next()?;
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    path.rsplit_once('/').map(|(_, name)| name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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
            ("sudo -u x -D a rm b; env -C c sh -c 'rm d; rm e'", &["a", "c", "a/c"]),
        ] {
            assert_eq!(LinePaths::read(&shell::read(command)).folders, folders, "{command}");
        }
        let many = shell::read(&"cd x;".repeat(1000));
        assert!(LinePaths::read(&many).folders.len() <= MOST_FOLDERS + 1);
    }

    #[test]
    fn no_program_is_in_two_rows() {
        let mut seen = HashSet::new();
        for name in WRITERS.iter().flat_map(|writer| writer.names) {
            assert!(seen.insert(name), "{name} appears twice");
        }
    }
}
