//! Path matchers: which part of a path a glob matches, and how far a command's effect extends.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use super::kind::WantedType;
use super::row::{Glob, Mismatch, PathBase, may_be_both, path_glob};
use crate::engine::complaint::Complaint;
use crate::engine::event::action::{Effect, Guesses, Reach};
use crate::engine::event::{Access, ActionKind, Event};
use crate::engine::shell::{TOP_FOLDER, UNKNOWN_PART, expand_braces};

#[derive(Debug, Clone)]
pub struct PathMatch {
    pub(crate) written: String,
    /// The glob with its braces expanded.
    forms: Vec<String>,
    glob: Glob,
    scope: PathScope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathScope {
    /// Each component: the glob has no slash.
    Component,
    /// The path relative to the working directory or project.
    Relative,
    /// The absolute path.
    Absolute,
}

/// Longer paths match without comparison.
const MOST_NAMES: usize = 256;
const MOST_ALTERNATIVES: usize = 64;

impl PathMatch {
    pub(crate) fn read(written: &str) -> Result<PathMatch, Complaint> {
        check_path(written)?;
        let mut pattern = written.trim_start_matches("./").to_string();
        if pattern.len() > 1 && pattern.ends_with('/') {
            pattern.push_str("**");
        }
        let scope = match pattern.find('/') {
            None => PathScope::Component,
            Some(0) => PathScope::Absolute,
            Some(_) => PathScope::Relative,
        };
        let glob = Glob::new(&path_glob(&pattern)?)?;
        let all = expand_braces(&pattern).filter(|all| all.len() <= MOST_ALTERNATIVES);
        Ok(PathMatch {
            written: written.to_string(),
            forms: all.unwrap_or_else(|| vec![pattern]),
            glob,
            scope,
        })
    }

    /// Returns the forms of a path that the glob is compared with.
    fn compared<'p>(&self, absolute: &'p Path, bases: &PathBase) -> Vec<&'p Path> {
        let relative = bases.relative(absolute);
        match self.scope {
            // Folders above the project do not count.
            PathScope::Component => vec![relative.last().unwrap_or(absolute)],
            PathScope::Absolute => vec![absolute],
            PathScope::Relative => relative.collect(),
        }
    }

    fn fits(&self, absolute: &Path, bases: &PathBase) -> bool {
        let mut paths = self.compared(absolute, bases).into_iter();
        if self.scope != PathScope::Component {
            return paths.any(|path| self.glob.is_match(path));
        }
        let mut parts = paths.flat_map(Path::components);
        parts.any(|part| self.glob.is_match(part.as_os_str()))
    }

    /// Returns true if an effect on `absolute` may touch files that match.
    fn fits_effect(&self, effect: &Effect, absolute: &Path, bases: &PathBase) -> bool {
        if effect.unknown.is_some() {
            return self.fits_tail(effect);
        }
        // `cp .env backup` is hardly about a folder `backup`.
        if effect.is_in_folder && self.scope == PathScope::Component {
            return false;
        }
        if self.fits(absolute, bases) {
            return true;
        }
        if effect.reach == Reach::Itself && !effect.is_pattern {
            return false;
        }
        // The whole project or working directory.
        let is_around = bases.cwd.starts_with(absolute) || bases.project.starts_with(absolute);
        let mut forms = self.forms.iter();
        match (effect.reach, self.scope) {
            (Reach::Below, PathScope::Absolute) if is_around => {
                let is_anywhere = forms.any(|form| form.starts_with("/**"));
                // Deleting `/` is hardly about one of its files.
                if is_anywhere || absolute.parent().is_none() {
                    return is_anywhere;
                }
            }
            (Reach::Below, PathScope::Component) if is_around => {
                return effect.access == Access::Write;
            }
            (Reach::Below, PathScope::Relative) if is_around => return true,
            (Reach::Tracked, PathScope::Relative) if is_around => {
                return !forms.all(|form| form.starts_with('*'));
            }
            // A plain name is probably that of a folder.
            (Reach::Tracked, PathScope::Component) if is_around => {
                return forms.any(|form| !form.contains(['.', '*', '?', '[']));
            }
            (Reach::Itself | Reach::Into | Reach::Tracked | Reach::Below, _) => {}
        }
        let mut paths = self.compared(absolute, bases).into_iter().map(names);
        if self.scope != PathScope::Component {
            let mut reach = effect.reach;
            if reach == Reach::Into && !is_around {
                reach = Reach::Below;
            }
            return paths.any(|names| self.meets(&names, reach));
        }
        // Reading all files is not about those of one name.
        let is_all = |name: &&str| *name == "**" || effect.access == Access::Read && *name == "*";
        let mut named = paths.flatten().filter(|name| !is_all(name));
        effect.is_pattern && named.any(|name| self.may_be_name(name))
    }

    fn may_be_name(&self, name: &str) -> bool {
        self.forms.iter().any(|form| may_be_both(form, name))
    }

    fn meets(&self, names: &[&str], reach: Reach) -> bool {
        self.forms.iter().any(|form| meets(form, names, reach))
    }

    /// Compares the known components at the end of a path with an unknown beginning.
    fn fits_tail(&self, effect: &Effect) -> bool {
        let tail = effect.path.rsplit(UNKNOWN_PART).next().unwrap_or_default();
        let Some((_, tail)) = tail.split_once('/') else {
            return false;
        };
        let names = names(Path::new(tail));
        if self.scope == PathScope::Component {
            return names.iter().any(|name| self.may_be_name(name));
        }
        (0..names.len()).any(|from| self.meets(&names[from..], effect.reach))
    }

    /// Returns true if all files of an effect match.
    fn covers(&self, effect: &Effect, absolute: &Path, bases: &PathBase) -> bool {
        if effect.unknown.is_some() {
            return false;
        }
        let mut paths = self.compared(absolute, bases).into_iter().map(names);
        self.fits(absolute, bases)
            || effect.reach != Reach::Itself
                && !effect.is_pattern
                && self.scope != PathScope::Component
                && paths.any(|names| self.meets(&names, Reach::Into))
    }
}

/// Lists globs as written.
pub(super) fn written(globs: &[PathMatch], between: &str) -> String {
    let written: Vec<&str> = globs.iter().map(|glob| glob.written.as_str()).collect();
    written.join(between)
}

pub(super) fn named(types: &[WantedType], between: &str) -> String {
    let names: Vec<&str> = types.iter().map(|wanted| wanted.0).collect();
    names.join(between)
}

fn names(path: &Path) -> Vec<&str> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    parts.collect()
}

/// Returns true if an effect of this reach may touch what a glob matches, component by component.
fn meets(form: &str, names: &[&str], reach: Reach) -> bool {
    let forms: Vec<&str> = form.split('/').filter(|part| !part.is_empty()).collect();
    // With a leading `**`, the `**` of `find` adds nothing.
    let names = match forms.first() {
        Some(&"**") => names.iter().copied().filter(|name| *name != "**").collect(),
        _ => names.to_vec(),
    };
    names.len() > MOST_NAMES || meets_names(&forms, &names, false, reach)
}

/// `is_taken`: `**` has taken the preceding name.
fn meets_names(forms: &[&str], names: &[&str], is_taken: bool, reach: Reach) -> bool {
    let Some((name, names_left)) = names.split_first() else {
        let takes_any = forms.iter().all(|form| matches!(*form, "**" | "*"));
        return match reach {
            Reach::Itself => forms.is_empty() || takes_any && is_taken,
            Reach::Into => takes_any,
            Reach::Tracked | Reach::Below => takes_any || !is_taken,
        };
    };
    let Some((form, forms_left)) = forms.split_first() else {
        // `find` prints a folder and its content.
        return *name == "**" && meets_names(forms, names_left, is_taken, reach);
    };
    if *form == "**" {
        return meets_names(forms_left, names, false, reach)
            || meets_names(forms, names_left, true, reach);
    }
    if *name == "**" {
        return meets_names(forms, names_left, is_taken, reach)
            || meets_names(forms_left, names, false, reach);
    }
    may_be_both(form, name) && meets_names(forms_left, names_left, false, reach)
}

/// Checks a pattern for [`Matcher::path`](super::Matcher::path).
pub fn check_path(written: &str) -> Result<(), Complaint> {
    let below = written.trim_start_matches("./");
    let problem = if written.is_empty() {
        "it is empty"
    } else if written.trim() != written {
        "it has leading or trailing spaces"
    } else if written.starts_with('~') {
        "`~` is not expanded; write the absolute path"
    } else if written.starts_with('!') {
        "a glob cannot be negated; put the paths to ignore into `not`"
    } else if matches!(below, "" | ".") {
        "it matches nothing"
    } else if below.split('/').any(|part| part == ".." || part == ".") {
        "it contains `.` or `..`, which no compared path has"
    } else if written.contains("//") {
        "it has two slashes in a row"
    } else if written.contains('|') {
        "`|` does not separate alternatives in a glob"
    } else {
        return path_glob(written).map(drop);
    };
    Err(Complaint::new(problem))
}

/// Decides whether a glob matches a path of the tool, or a link's target.
pub fn decide_paths(wanted: &[PathMatch], event: &Event, place: &PathBase) -> Result<(), Mismatch> {
    let wanted = PathQuery {
        wanted,
        ..PathQuery::default()
    };
    wanted.decide(event, place)
}

/// Returns the paths that are not those of effects.
fn others<'p>(paths: &'p [String], effects: &[Effect]) -> impl Iterator<Item = &'p String> {
    let of_effects: HashSet<&str> = effects.iter().map(|effect| &effect.path[..]).collect();
    let paths = paths.iter();
    paths.filter(move |path| !of_effects.contains(&path[..]))
}

#[derive(Default)]
pub(super) struct PathQuery<'m> {
    /// One of these globs must match, if there are any.
    pub(super) wanted: &'m [PathMatch],
    /// None of these globs may match.
    pub(super) except: &'m [PathMatch],
    /// None of these either.
    pub(super) not: &'m [PathMatch],
    /// The file must have one of these types, if there are any.
    pub(super) types: &'m [WantedType],
    pub(super) access: Option<Access>,
    /// Indices of the commands whose effects count; `None` for all.
    pub(super) commands: Option<Vec<usize>>,
    /// Whether uncertain paths do not count.
    pub(super) is_sure: bool,
}

/// A path that matches, or may.
pub(crate) struct FoundPath {
    pub(crate) path: String,
    /// Unknown part: `cannot tell what …`.
    pub(crate) doubt: Option<String>,
}

impl PathQuery<'_> {
    pub(super) fn decide(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch> {
        if self.find(event, place).is_some() {
            return Ok(());
        }
        let paths = event.action().map(|action| action.paths.clone());
        let (key, wanted) = match self.access {
            _ if !self.wanted.is_empty() => ("path", written(self.wanted, ", ")),
            Some(access) => ("access", access.name().to_string()),
            None if !self.types.is_empty() => ("type", named(self.types, ", ")),
            None => ("not", written(self.not, ", ")),
        };
        Err(Mismatch::of(
            key,
            "path",
            wanted,
            paths.into_iter().flatten(),
        ))
    }

    /// Returns the first matching path. At a gate, short texts, unresolved paths and unreadable
    /// command lines may match.
    pub(super) fn find(&self, event: &Event, place: &PathBase) -> Option<FoundPath> {
        let action = event.action()?;
        let is_any = self.wanted.is_empty() && self.not.is_empty() && self.types.is_empty();
        let is_gate = event.spec().blocks && !is_any && !self.is_sure;
        for effect in &action.effects {
            let absolute = tidy(&named_path(&effect.path, place));
            if self.takes(effect, &absolute, place, event) {
                return Some(FoundPath::of(effect));
            }
        }
        let does_so = self.access.is_none_or(|access| action.kind.may(access));
        let guesses = if is_gate && does_so {
            action.guessed_paths(event.given())
        } else {
            Guesses::default()
        };
        let own = others(&action.paths, &action.effects).filter(|_| does_so);
        for path in own.chain(&guesses.texts) {
            let absolute = tidy(&place.cwd.join(path));
            if self.fits_file(&absolute, place, event) {
                return Some(FoundPath::sure(path.clone()));
            }
        }
        let filters = guesses.texts.iter().filter(|text| {
            action.kind == ActionKind::Search && text.contains(['*', '?', '[', '{'])
        });
        for glob in filters.flat_map(|text| expand_braces(text).unwrap_or_default()) {
            let effect = Effect::of_search(glob);
            let absolute = tidy(&place.cwd.join(&effect.path));
            if self.takes(&effect, &absolute, place, event) {
                return Some(FoundPath::of(&effect));
            }
        }
        let is_unread = action.kind == ActionKind::Shell && action.line.doubt.is_some();
        if guesses.is_cut || is_gate && is_unread {
            return Some(FoundPath::unknown(action.line.doubt.as_deref()));
        }
        let links = event.links()?;
        if is_gate && !links.is_whole {
            return Some(FoundPath::unknown(None));
        }
        let real = PathBase {
            cwd: links.base(&place.cwd).to_path_buf(),
            project: links.base(&place.project).to_path_buf(),
        };
        let mut effects = links.effects.iter();
        if let Some(effect) =
            effects.find(|effect| self.takes(effect, Path::new(&effect.path), &real, event))
        {
            return Some(FoundPath::of(effect));
        }
        let resolved = others(&action.resolved, &links.effects).filter(|_| does_so);
        let guesses = links.guesses.iter().map(PathBuf::as_path);
        let mut followed = resolved.map(Path::new).chain(guesses);
        let path = followed.find(|path| self.fits_file(path, &real, event))?;
        Some(FoundPath::sure(path.to_string_lossy().into_owned()))
    }

    fn takes(&self, effect: &Effect, absolute: &Path, bases: &PathBase, event: &Event) -> bool {
        let is_of_command = match (&self.commands, effect.command) {
            (Some(commands), Some(number)) => commands.contains(&number),
            _ => true,
        };
        if !is_of_command || self.access.is_some_and(|access| access != effect.access) {
            return false;
        }
        let mut wanted = self.wanted.iter();
        let is_wanted = wanted.any(|one| one.fits_effect(effect, absolute, bases));
        let mut excepted = self.except.iter().chain(self.not);
        (is_wanted || self.wanted.is_empty())
            && !excepted.any(|one| one.covers(effect, absolute, bases))
            && self.may_be_of_type(effect, absolute, event)
    }

    fn fits(&self, path: &Path, bases: &PathBase) -> bool {
        let mut excepted = self.except.iter().chain(self.not);
        (self.wanted.is_empty() || self.wanted.iter().any(|one| one.fits(path, bases)))
            && !excepted.any(|one| one.fits(path, bases))
    }

    pub(super) fn fits_file(&self, file: &Path, place: &PathBase, event: &Event) -> bool {
        self.fits(file, place) && self.is_of_type(file, event)
    }

    fn is_of_type(&self, file: &Path, event: &Event) -> bool {
        let facts = event.links().and_then(|links| links.files.get(file));
        self.types.is_empty() || self.types.iter().any(|wanted| wanted.may_be(file, facts))
    }

    /// Returns true if an effect may touch a file of these types: below a folder may be any file.
    fn may_be_of_type(&self, effect: &Effect, absolute: &Path, event: &Event) -> bool {
        let is_file =
            effect.reach == Reach::Itself && !effect.is_pattern && effect.unknown.is_none();
        !is_file || self.is_of_type(absolute, event)
    }
}

impl FoundPath {
    fn of(effect: &Effect) -> FoundPath {
        let unknown = effect.unknown.as_ref();
        FoundPath {
            path: unknown.unwrap_or(&effect.path).clone(),
            doubt: unknown.map(|word| format!("cannot tell what `{word}` is")),
        }
    }

    fn sure(path: String) -> FoundPath {
        FoundPath { path, doubt: None }
    }

    fn unknown(why: Option<&str>) -> FoundPath {
        let which = "cannot tell which files the action affects".to_string();
        FoundPath {
            path: "a path that was not checked".to_string(),
            doubt: Some(why.map_or(which.clone(), |why| format!("{which}: {why}"))),
        }
    }
}

/// Resolves a path as commands write it, without following links.
pub(crate) fn named_path(path: &str, place: &PathBase) -> PathBuf {
    match path.strip_prefix(TOP_FOLDER) {
        Some(below) => place.project.join(below.trim_start_matches('/')),
        None => place.cwd.join(path),
    }
}

/// Removes `.` and `..`, so that `src/../.env` cannot hide from a glob. Follows no links.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => tidy.push(part),
        }
    }
    tidy
}
