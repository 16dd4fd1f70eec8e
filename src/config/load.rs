//! Loads all layers and collects every problem. Unreadable configuration blocks gates (see
//! [`Config::block_reason`]).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use super::discover::{self, Choice};
use super::env::Environment;
use super::event_tables::EventSettings;
use super::hold::{ProjectTrust, TrustJudge, owner_policy};
use super::layer::Layer;
use super::loader::{ConfigLoader, ConfigScope};
use super::manifest::{self, LoadedLayer, Manifest};
use super::problem::Problem;
use super::set_layers::UsedSet;
use super::trust::{STEP, TrustReport, is_about_trust};
use super::{members, reader, set_layers, settings, skip, sources};
use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::engine::event::catalog::Catalog;
use crate::engine::exec::command::{FileStamp, stamp_of};
use crate::engine::hook::{Handler, Hook, LayerKind, Warm};

#[derive(Debug, Clone, Default)]
pub struct Config {
    pub catalog: Catalog,
    /// The hooks by layer; drop-ins in byte order, then those of `hookrun.toml`.
    pub hooks: Vec<Hook>,
    pub layers: Vec<Layer>,
    pub project: PathBuf,
    pub problems: Vec<Problem>,
    pub log: LogSettings,
    pub sets: Vec<UsedSet>,
    pub trust: ProjectTrust,
    /// A line for each hook that a local file disables.
    pub skipped: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct LogSettings {
    /// The system or the user disables the log.
    pub is_off: bool,
    pub redact: Vec<String>,
}

/// How often a configuration is read while it keeps changing.
const MOST_READS: usize = 5;

impl Config {
    pub fn load(choice: &Choice, env: &Environment, scope: ConfigScope<'_>) -> Config {
        let mut reads = 0;
        loop {
            let mut config = Config::load_once(choice, env, scope);
            reads += 1;
            // What was read before a file changed may not be what was checked.
            let mut seals = config.trust.seals.iter();
            if !config.trust.is_moved && !seals.any(|seal| seal.is_recent) {
                return config;
            }
            if reads == MOST_READS {
                let cause = "the hook files keep changing, so their version is unknown";
                let cure = "wait until the program that writes them is done";
                let problem = Complaint::with_cure(cause, cure).in_file(&config.project, None);
                config.problems.push(problem);
                return config;
            }
            thread::sleep(STEP);
        }
    }

    fn load_once(choice: &Choice, env: &Environment, scope: ConfigScope<'_>) -> Config {
        let read_since = SystemTime::now();
        let discover::DiscoveredLayers {
            layers: found,
            project,
            mut looked,
            mut problems,
        } = discover::find_layers(choice, env);
        let mut folders_before = Vec::new();
        if choice.trust.is_some() {
            for layer in found.iter().filter(|layer| !layer.is_owners()) {
                folders_before.push((layer.folder.clone(), folder_stamps(&layer.folder)));
            }
        }
        let mut layers = Vec::new();
        for layer in found {
            let mut files = manifest::read_files(&layer.manifests, &mut problems);
            for file in &layer.settings {
                let manifest = reader::load(file, &mut problems, |text, file| {
                    settings::read(text, file, env, layer.settings_of)
                });
                files.push((file.clone(), manifest));
            }
            layers.push(LoadedLayer { layer, files });
        }
        members::add(&mut layers, &mut looked, scope, &mut problems);
        let policy = owner_policy(&layers, env, &mut problems);
        let mut judge = TrustJudge::new(choice, env, read_since, &policy);
        let sets = set_layers::add(&mut layers, env, &mut problems);
        let commands = sources::find_commands(&layers, scope);
        let catalog = own_events(&layers, commands, &mut problems);
        let all = layers.iter().flat_map(|one| &one.files);
        let misdeclared = all
            .flat_map(|(_, manifest)| manifest.events.misdeclared.clone())
            .collect();
        let mut loader = ConfigLoader {
            catalog: &catalog,
            misdeclared,
            scope,
            hooks: Vec::new(),
            problems,
            unopened: Vec::new(),
        };
        for loaded in &layers {
            let layer = &loaded.layer;
            let first = loader.hooks.len();
            load_layer(&mut loader, loaded);
            loader.find_duplicates(first);
            let folder = layer.declared_in.as_ref().unwrap_or(&layer.folder);
            if layer.kind == LayerKind::Project && *folder != project {
                for hook in &mut loader.hooks[first..] {
                    hook.root = Some(folder.clone());
                }
            }
            members::bind(&mut loader, first, layer, &project);
            set_defaults(&mut loader.hooks[first..], layer, &layers);
            if let Some(set) = &layer.set {
                set_layers::bind(&mut loader, first, set);
            }
            if let Some(judge) = &mut judge {
                let hooks = first..loader.hooks.len();
                judge.look(loaded, hooks, &loader.unopened);
            }
        }
        let ConfigLoader {
            mut hooks,
            mut problems,
            ..
        } = loader;
        let mut trust = ProjectTrust::default();
        if let Some(mut judge) = judge {
            judge.look_for_lost(&looked, &layers);
            trust = judge.settle(&mut hooks, &catalog, &mut problems);
        }
        trust.policy = policy;
        trust.is_moved = folders_before
            .iter()
            .any(|(folder, before)| is_moved(before, &folder_stamps(folder)));
        let mut skipped = Vec::new();
        if choice.trust.is_some() {
            let mut trusted: Vec<&Layer> = layers.iter().map(|one| &one.layer).collect();
            trusted.retain(|layer| trust.report_against(layer).is_none());
            skipped = skip::switch_off(&mut hooks, &trusted, &project, scope, &mut problems);
        }
        problems.extend(sources::shadow(&mut hooks));
        stop_mistaken(&mut hooks, &problems);
        set_warm_imports(&mut hooks, &layers);
        let log = log_settings(&layers, &trust, &mut problems);
        Config {
            hooks,
            catalog: closed_events(catalog, &layers, &trust),
            layers: layers.into_iter().map(|one| one.layer).collect(),
            project,
            problems: in_order(problems),
            log,
            sets,
            trust,
            skipped,
        }
    }

    /// The nearest project folder with hooks.
    pub(crate) fn nearest_folder(&self) -> &Path {
        let project = self.layers.iter().rfind(|layer| layer.is_own_of_project());
        project.map_or(&self.project, |layer| &layer.folder)
    }

    /// Skips hooks named in `HOOKRUN_SKIP`. Returns a line for each; empty if none has this name.
    pub(crate) fn skip(&mut self, name: &str) -> Vec<String> {
        skip::by_variable(&mut self.hooks, name)
    }

    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }

    /// The reason that blocks gates while there are errors, because an unreadable hook might block.
    pub fn block_reason(&self) -> Option<String> {
        Some(block_reason(&self.complaint()?))
    }

    /// A summary with the first error. `None` without errors.
    pub(crate) fn complaint(&self) -> Option<String> {
        complaint_of(self.problems.iter())
    }
}

/// The stamps of a folder and of those around it.
fn folder_stamps(folder: &Path) -> Vec<FileStamp> {
    let around = folder.ancestors().map(Path::metadata);
    let stamps = around.map(|meta| meta.as_ref().map(stamp_of).unwrap_or_default());
    stamps.collect()
}

/// Whether a folder, or one around it, was exchanged between these stamps: it has another inode, or,
/// if it is back, another ctime. New entries, which set mtime too, do not count.
fn is_moved(before: &[FileStamp], now: &[FileStamp]) -> bool {
    let mut stamps = before.iter().zip(now);
    stamps.any(|([device, inode, _, modified, changed], now)| {
        [*device, *inode] != now[..2] || *modified == now[3] && *changed != now[4]
    })
}

/// Makes hooks idle that have a mistake: what they would do is not what their author meant. The
/// others do not wait for them.
fn stop_mistaken(hooks: &mut [Hook], problems: &[Problem]) {
    for hook in hooks.iter_mut().filter(|hook| hook.is_on()) {
        let mistake = problems.iter().find(|problem| {
            let is_whole_file = hook.source.line.is_none() || problem.events.is_empty();
            problem.is_error() && problem.file == hook.source.file && is_whole_file
        });
        hook.idle = mistake.map(|mistake| format!("its file has an error: {}", mistake.cause));
    }
}

fn load_layer(loader: &mut ConfigLoader<'_>, loaded: &LoadedLayer) {
    let LoadedLayer { layer, files } = loaded;
    let kind = layer.kind;
    for place in layer.places() {
        reader::check_writers(place, &mut loader.problems);
    }
    for folder in &layer.drop_ins {
        sources::load_drop_ins(loader, kind, folder);
    }
    for (file, manifest) in files {
        sources::load_tables(loader, kind, file, manifest);
    }
}

pub(crate) fn block_reason(complaint: &str) -> String {
    if is_about_trust(complaint) {
        return complaint.to_string();
    }
    format!("everything is blocked, because {complaint}")
}

/// A summary of the errors, changed hooks first, because `validate` does not show them.
pub(crate) fn complaint_of<'p>(problems: impl Iterator<Item = &'p Problem>) -> Option<String> {
    let errors: Vec<&Problem> = problems.filter(|problem| problem.is_error()).collect();
    if let Some(changed) = errors.iter().find(|error| is_about_trust(&error.cause)) {
        return Some(changed.cause.clone());
    }
    let first = errors.first()?;
    let place = first.place();
    let cause = &first.cause;
    let more = match errors.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more error)".to_string(),
        count => format!(" (and {count} more errors)"),
    };
    Some(format!(
        "the hooks have an error: {place}: {cause}{more}; `hookrun validate` shows how to fix it",
    ))
}

/// Sorts problems by file in reading order, then by line, without duplicates.
fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    let mut files: HashMap<PathBuf, usize> = HashMap::new();
    for problem in &problems {
        let next = files.len();
        files.entry(problem.file.clone()).or_insert(next);
    }
    problems.sort_by_key(|one| (files[&one.file], one.at.map(|at| (at.line, at.column))));
    problems.dedup();
    problems
}

/// The log settings. A project cannot disable the log; untrusted ones cannot define secrets.
fn log_settings(
    layers: &[LoadedLayer],
    trust: &ProjectTrust,
    problems: &mut Vec<Problem>,
) -> LogSettings {
    let mut settings = LogSettings::default();
    for LoadedLayer { layer, files } in layers {
        for (file, Manifest { log, .. }) in files {
            if trust.report_against(layer).is_none() {
                settings.redact.extend(log.redact.iter().cloned());
            }
            settings.is_off |= log.off.is_some() && layer.kind != LayerKind::Project;
            if let Some(at) = log.off.filter(|_| layer.kind == LayerKind::Project) {
                let cause = "a project cannot disable the decision log";
                let cure = "set `log.enabled` in the user file, or set HOOKRUN_DECISIONS=off";
                problems.push(Complaint::with_cure(cause, cure).in_file(file, Some(at)));
            }
        }
    }
    settings
}

/// The catalog with custom events and commands. Two declarations of one event must agree.
fn own_events(
    layers: &[LoadedLayer],
    commands: Vec<EventSpec>,
    problems: &mut Vec<Problem>,
) -> Catalog {
    let mut own: Vec<EventSpec> = Vec::new();
    for (file, manifest) in layers.iter().flat_map(|one| &one.files) {
        for (spec, at) in &manifest.events.declared {
            match own
                .iter()
                .find(|known| known.name.eq_ignore_ascii_case(&spec.name))
            {
                None => own.push(spec.clone()),
                Some(known) if known == spec => {}
                Some(_) => {
                    let mut files = layers.iter().flat_map(|one| &one.files);
                    let declarer = files.find(|(_, other)| {
                        let mut declared = other.events.declared.iter();
                        declared.any(|(event, _)| event.name.eq_ignore_ascii_case(&spec.name))
                    });
                    let place = declarer.map_or(file, |(path, _)| path).display();
                    let cause = format!("`{}` is declared differently in {place}", spec.name);
                    let cure = "make the declarations identical, or remove one";
                    problems.push(Complaint::with_cure(cause, cure).in_file(file, Some(*at)));
                }
            }
        }
    }
    own.extend(commands);
    let all = layers.iter().flat_map(|one| &one.files);
    let settings = all.flat_map(|(_, manifest)| &manifest.events.settings);
    settings.fold(Catalog::with(own), |catalog, set| match set.stop {
        Some(stop) => catalog.stopping(set.event, stop),
        None => catalog,
    })
}

/// Sets the timeout of `layer`'s hooks and the doubt of its rules without one, from files' defaults.
/// A file's default applies to its layer, its shared sets and members; the user's and the system's also
/// to later layers. The last one counts.
fn set_defaults(hooks: &mut [Hook], layer: &Layer, layers: &[LoadedLayer]) {
    let mut settings: Vec<&EventSettings> = Vec::new();
    let mut doubt = None;
    for loaded in layers {
        let other = &loaded.layer;
        let files = &loaded.files;
        let is_before = other.is_owners() && other.kind < layer.kind && other.set.is_none();
        let is_member_of = layer.member.is_some() && layer.folder.starts_with(&other.folder);
        let is_declared = layer.declared_in.as_ref() == Some(&other.folder) || is_member_of;
        if is_before || other == layer || is_declared {
            settings.extend(files.iter().flat_map(|(_, file)| &file.events.settings));
            let mut own = files.iter().filter_map(|(_, file)| file.doubt);
            doubt = own.next_back().or(doubt);
        }
    }
    for hook in hooks {
        if hook.own_timeout().is_none() {
            let of_event = settings.iter().filter(|one| one.event == hook.event);
            hook.limits.timeout = of_event.filter_map(|one| one.timeout).next_back();
        }
        if let (Handler::Rule(_), Some(doubt)) = (&hook.handler, doubt) {
            hook.matcher.doubt.get_or_insert(doubt);
        }
    }
}

/// Gives each hook that starts warm the modules that system and user allow to import in advance.
fn set_warm_imports(hooks: &mut [Hook], layers: &[LoadedLayer]) {
    let mut imports = Vec::new();
    for LoadedLayer { layer, files } in layers {
        if layer.is_owners() {
            let named = files.iter().flat_map(|(_, file)| &file.warm_imports);
            imports.extend(named.map(|module| module.value.clone()));
        }
    }
    for hook in hooks {
        if hook.warm == Some(Warm::Fork) {
            hook.warm_imports.clone_from(&imports);
        }
    }
}

/// Turns custom events into gates if the project's files changed since they were trusted.
fn closed_events(catalog: Catalog, layers: &[LoadedLayer], trust: &ProjectTrust) -> Catalog {
    let changed = layers.iter().filter(|one| {
        let report = trust.report_against(&one.layer);
        report.is_some_and(TrustReport::may_lack_guards)
    });
    let files = changed.flat_map(|one| &one.files);
    let names = files.flat_map(|(_, manifest)| &manifest.events.declared);
    names.fold(catalog, |catalog, (spec, _)| catalog.closing(&spec.name))
}
