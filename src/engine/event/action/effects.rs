//! The effects of a command line on files. Pure.

use std::sync::Arc;

use crate::engine::names::names;
use crate::engine::shell::{
    CommandLine, CommandWrapper, GivenWords, Operands, ShellCommand, ShellWord, TOP_FOLDER,
    UNKNOWN_PART, find_program, found_files,
};

const MOST_FOLDERS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    /// Create, change, move or remove.
    Write,
}

names! { Access: Read "read", Write "write" }

/// How far an effect extends from a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Only the file or folder.
    Itself,
    /// Unknown files in it, such as those of an archive: any below a folder, but few of a project.
    Into,
    /// Tracked or untracked files below it.
    Tracked,
    /// Everything below it.
    Below,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Path as written, with [`UNKNOWN_PART`] for unknown text.
    pub(crate) path: String,
    pub(crate) access: Access,
    pub(crate) reach: Reach,
    /// Source of a word whose beginning is unknown.
    pub(crate) unknown: Option<String>,
    /// Whether `*`, `?` and `[` match other characters.
    pub(crate) is_pattern: bool,
    /// Index of the command; `None` for wrappers.
    pub(crate) command: Option<usize>,
    /// Applies only if the last operand is a folder: `cp a b` may create `b/a`.
    pub(crate) is_in_folder: bool,
    pub(crate) is_named: bool,
    /// Whether it includes the folder of a preceding `cd`.
    pub(crate) is_placed: bool,
}

impl Effect {
    /// Creates the effect of a search in the files that match a glob.
    pub(crate) fn of_search(glob: String) -> Effect {
        Effect {
            path: glob,
            access: Access::Read,
            reach: Reach::Itself,
            unknown: None,
            is_pattern: true,
            command: None,
            is_in_folder: false,
            is_named: false,
            is_placed: false,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct LineEffects {
    pub(super) effects: Vec<Effect>,
    /// Folders from `cd` and options, relative to the line's folder and to the previous one.
    pub(super) folders: Vec<String>,
    /// Whether the text of a patch names its files.
    has_patch: bool,
    /// Current command, and its folder if certain.
    command: Option<usize>,
    folder: Option<Arc<str>>,
}

impl LineEffects {
    /// Reads a line; `patched` are the files of a patch in it.
    pub(super) fn read(line: &CommandLine, patched: Vec<String>) -> LineEffects {
        let mut all = LineEffects {
            has_patch: !patched.is_empty(),
            ..LineEffects::default()
        };
        for file in patched {
            all.add(file, Access::Write, Reach::Itself);
        }
        let mut around: &[Arc<CommandWrapper>] = &[];
        for (number, command) in line.commands.iter().enumerate() {
            for wrapper in &command.through {
                if !around.iter().any(|known| Arc::ptr_eq(known, wrapper)) {
                    all.program(&wrapper.name, &wrapper.args);
                }
            }
            around = &command.through;
            all.command = Some(number);
            all.folder.clone_from(&command.folder);
            all.simple(command);
            all.command = None;
            all.folder = None;
        }
        all
    }

    /// Returns the effects. Repeats effects on relative paths for each folder of the line, then for
    /// each folder in which it may have begun.
    pub(super) fn in_folders(self, begun: &[String]) -> Vec<Effect> {
        let mut effects = self.effects;
        for (folders, of_line) in [(self.folders.as_slice(), true), (begun, false)] {
            let mut moved = Vec::new();
            for folder in folders.iter().map(|folder| folder.trim_end_matches('/')) {
                let open = effects.iter().filter(|one| !(of_line && one.is_placed));
                for effect in open.filter(|effect| is_relative(&effect.path)) {
                    moved.push(Effect {
                        path: format!("{folder}/{}", effect.path),
                        ..effect.clone()
                    });
                }
            }
            effects.append(&mut moved);
        }
        effects
    }

    fn simple(&mut self, command: &ShellCommand) {
        for redirect in &command.redirects {
            let access = match redirect.operator {
                "<" | "<&" => Access::Read,
                _ => Access::Write,
            };
            // Redirected input is in `action.paths` too.
            if let Some(effect) = self.word(&redirect.target, access, Reach::Itself) {
                effect.is_named = !effect.path.contains(UNKNOWN_PART);
            }
        }
        if let Some(name) = command.name() {
            self.program(name, &command.args);
        }
    }

    fn program(&mut self, name: &str, args: &[ShellWord]) {
        let Some(row) = find_program(name) else {
            return;
        };
        let words = GivenWords::read_as(name, row, args);
        words.values('/').for_each(|folder| self.enter(folder));
        for file in words.values('+') {
            self.add(file.to_string(), Access::Write, Reach::Itself);
        }
        let skipped = usize::from(words.has_command);
        let operands = words.operands[skipped..].iter();
        let operands: Vec<&ShellWord> = operands.map(|operand| operand.word).collect();
        if !words.has('!') || words.has('^') {
            self.operands(&words, &operands, args);
        }
    }

    fn operands(&mut self, words: &GivenWords<'_>, all: &[&ShellWord], args: &[ShellWord]) {
        let into = words.values('&').next();
        let mut deep = Reach::Itself;
        if words.has('_') {
            deep = Reach::Below;
        }
        let first = usize::from(!words.has('='));
        let others = all.get(first..).unwrap_or_default();
        match words.row.files {
            Operands::Other => {}
            Operands::Reads => self.words(all, Access::Read, deep),
            Operands::ReadsAfter => self.words(others, Access::Read, deep),
            Operands::WritesAfter if words.row.uses('^') && !words.has('^') => {
                self.words(others, Access::Read, deep);
            }
            Operands::Writes => self.words(all, Access::Write, Reach::Itself),
            Operands::WritesFirst => {
                let first = all.get(..1).unwrap_or_default();
                self.words(first, Access::Write, Reach::Itself);
            }
            Operands::Deletes => self.words(all, Access::Write, deep),
            Operands::WritesAfter => self.words(others, Access::Write, deep),
            Operands::Copies if words.has('=') => self.words(all, Access::Write, Reach::Itself),
            Operands::Copies => self.put(all, into, Access::Read, deep),
            Operands::CopiesHere => {
                let last = all.last().and_then(|last| last.text.as_deref());
                let host = last.and_then(|last| last.split_once(':'));
                if host.is_none_or(|(host, _)| host.contains('/')) {
                    self.put(all, into, Access::Read, deep);
                    let last = all.last().filter(|_| words.has('<'));
                    last.map(|last| self.word(last, Access::Write, Reach::Below));
                }
            }
            Operands::Moves => self.put(all, into, Access::Write, Reach::Below),
            Operands::Tracked => {
                self.words(all, Access::Write, Reach::Tracked);
                // Without operands, `git clean` cleans the current folder.
                if all.is_empty() {
                    self.add(".".to_string(), Access::Write, Reach::Tracked);
                }
            }
            Operands::AllTracked if words.row.uses('^') && !words.has('^') => {}
            Operands::AllTracked => {
                let command = all.first().and_then(|word| word.text.as_deref());
                if !matches!(command, Some("list" | "show" | "drop" | "clear")) {
                    self.add(".".to_string(), Access::Write, Reach::Tracked);
                }
            }
            Operands::TrackedAfter => {
                let dashes = words.before_dashes;
                let dashes = dashes.map_or(all.len(), |before| before.saturating_sub(1));
                let (before, after) = all.split_at(dashes.min(all.len()));
                self.words(after, Access::Write, Reach::Tracked);
                for word in before.iter().filter(|_| after.is_empty()) {
                    let is_path = word.beginning().starts_with('.');
                    if let Some(effect) = self.word(word, Access::Write, Reach::Tracked) {
                        effect.is_named &= is_path;
                    }
                }
            }
            Operands::Patches if self.has_patch => {}
            Operands::Patches => {
                self.words(all, Access::Read, Reach::Itself);
                self.add(".".to_string(), Access::Write, Reach::Tracked);
            }
            Operands::Assigned => {
                for word in all.iter().filter_map(|word| word.text.as_deref()) {
                    if let Some(file) = word.strip_prefix("of=") {
                        self.add(file.to_string(), Access::Write, Reach::Itself);
                    } else if let Some(file) = word.strip_prefix("if=") {
                        self.add(file.to_string(), Access::Read, Reach::Itself);
                    }
                }
            }
            Operands::Fetched => {
                if words.row.uses('^') && !words.has('^') {
                    return;
                }
                if let Some(folder) = into
                    && let Some(effect) = self.add(folder.to_string(), Access::Write, Reach::Into)
                {
                    effect.is_named = false;
                }
                let into = into.unwrap_or(".").trim_end_matches('/');
                let addresses = all.iter().filter_map(|word| word.text.as_deref());
                for name in addresses.filter_map(last_part) {
                    self.add(format!("{into}/{name}"), Access::Write, Reach::Itself);
                }
            }
            Operands::Extracts => self.extract(words, all, into),
            Operands::Searches => {
                if words.has('_') {
                    self.found(args);
                }
            }
            Operands::Enters => match all.first() {
                Some(folder) => folder.text.iter().for_each(|folder| self.enter(folder)),
                None => self.enter("~"),
            },
        }
    }

    fn found(&mut self, args: &[ShellWord]) {
        for path in found_files(args.iter().map(|word| word.text.as_deref())) {
            if let Some(folder) = path.strip_suffix("/**/*") {
                self.add(folder.to_string(), Access::Write, Reach::Below);
                continue;
            }
            if let Some(effect) = self.add(path, Access::Write, Reach::Itself) {
                effect.is_pattern = true;
                effect.is_named = false;
            }
        }
    }

    fn extract(&mut self, words: &GivenWords<'_>, all: &[&ShellWord], into: Option<&str>) {
        // The letters of `tar` need no dash.
        let letters = all.first().and_then(|word| word.text.as_deref());
        let is_bundle = letters.is_some_and(|letters| !letters.contains(['/', '.']));
        let has_letter = is_bundle && letters.is_some_and(|letters| letters.contains('x'));
        if !words.row.uses('}') || words.has('}') || has_letter {
            let folder = into.or(words.values('/').next()).unwrap_or(".");
            if let Some(effect) = self.add(folder.to_string(), Access::Write, Reach::Into) {
                effect.is_named = false;
            }
        } else {
            self.words(all, Access::Read, Reach::Below);
        }
    }

    /// Adds the effects of putting files into the folder `into`, or into or over the last operand.
    fn put(&mut self, all: &[&ShellWord], into: Option<&str>, of_sources: Access, deep: Reach) {
        let (target, sources) = match (into, all.split_last()) {
            (Some(into), _) => (Some(into.to_string()), all),
            (None, Some((target, sources))) => {
                if target.text.is_none() {
                    self.word(target, Access::Write, Reach::Itself);
                }
                (target.text.clone(), sources)
            }
            (None, None) => return,
        };
        self.words(sources, of_sources, deep);
        let Some(target) = target else { return };
        let is_folder = into.is_some() || sources.len() > 1;
        let is_sure = is_folder || matches!(target.rsplit('/').next(), Some("" | "." | ".."));
        if !is_sure {
            // A copied folder may get the name of the target.
            let is_file = of_sources == Access::Write
                && sources.iter().any(|source| has_ending(source.shown()));
            let reach = match deep {
                Reach::Below if !is_file => Reach::Into,
                Reach::Itself | Reach::Into | Reach::Tracked | Reach::Below => Reach::Itself,
            };
            self.add(target.clone(), Access::Write, reach);
        }
        let folder = target.trim_end_matches('/');
        for source in sources {
            let source = source.text.as_deref();
            let name = source.map_or("*", |source| {
                let path = source.trim_end_matches('/');
                path.rsplit('/').next().unwrap_or(path)
            });
            // `rsync a/ b` copies the content of the folder.
            let is_content = source.is_some_and(|source| source.ends_with('/'));
            let (path, reach) = match deep {
                Reach::Below if is_content => (folder.to_string(), Reach::Into),
                Reach::Below => (format!("{folder}/{name}"), Reach::Into),
                Reach::Itself | Reach::Into | Reach::Tracked => {
                    (format!("{folder}/{name}"), Reach::Itself)
                }
            };
            if let Some(effect) = self.add(path, Access::Write, reach) {
                effect.is_pattern = name.contains(['*', '?', '[']);
                // The target may be a file or a folder, so only the first effect is in
                // `action.paths`.
                effect.is_named = is_sure;
                effect.is_in_folder = !is_sure;
            }
        }
    }

    fn words(&mut self, words: &[&ShellWord], access: Access, reach: Reach) {
        for word in words {
            self.word(word, access, reach);
        }
    }

    fn word(&mut self, word: &ShellWord, access: Access, reach: Reach) -> Option<&mut Effect> {
        let path = word.text.as_ref().or(word.parts.as_ref())?;
        let effect = self.add(path.clone(), access, reach)?;
        effect.is_pattern = word.is_pattern || word.text.is_none() && path.contains('*');
        effect.is_named &= word.text.is_some();
        let is_unknown = effect.path.contains(UNKNOWN_PART);
        effect.unknown = is_unknown.then(|| word.shown().to_string());
        Some(effect)
    }

    /// Adds an effect, except on standard devices.
    fn add(&mut self, path: String, access: Access, reach: Reach) -> Option<&mut Effect> {
        let device = path.strip_prefix("/dev/").unwrap_or_default();
        let is_device = matches!(device, "null" | "tty")
            || device.starts_with("std")
            || device.starts_with("fd/");
        if matches!(path.as_str(), "" | "-") || is_device {
            return None;
        }
        let is_placed = self.folder.is_some() && is_relative(&path);
        let path = match &self.folder {
            Some(folder) if is_placed => format!("{}/{path}", folder.trim_end_matches('/')),
            _ => path,
        };
        self.effects.push(Effect {
            is_named: access == Access::Write,
            access,
            reach,
            is_pattern: false,
            is_placed,
            command: self.command,
            ..Effect::of_search(path)
        });
        self.effects.last_mut()
    }

    fn enter(&mut self, folder: &str) {
        if self.folders.len() >= MOST_FOLDERS || matches!(folder, "" | "-") {
            return;
        }
        let after = self.folders.last().filter(|_| is_relative(folder));
        let after = after.map(|last| format!("{last}/{folder}"));
        self.folders.push(folder.to_string());
        self.folders.extend(after);
    }
}

fn is_relative(path: &str) -> bool {
    !path.starts_with(['/', '~', UNKNOWN_PART]) && !path.starts_with(TOP_FOLDER)
}

/// Returns true for names like those of files: `a.tf`, but not `.github`.
fn has_ending(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.trim_start_matches('.').contains('.')
}

/// Returns the file name that a download of this URL gets.
fn last_part(address: &str) -> Option<&str> {
    let path = address.split(['?', '#']).next()?;
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    let (_, name) = path.rsplit_once('/')?;
    Some(name).filter(|name| !name.is_empty())
}
