//! Turns untrusted project hooks into blocking rules, or disables them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::discover::{self, Choice};
use super::env::Environment;
use super::layer::{DROP_INS, Layer, MANIFEST};
use super::manifest::{LoadedLayer, Manifest};
use super::problem::Problem;
use super::trust::{
    self, ProjectFiles, TrustChoice, TrustPolicy, TrustReport, TrustSeal, TrustStore,
};
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog::Catalog;
use crate::engine::event::{EventSpec, OnFailure};
use crate::engine::hook::{Handler, Hook, LayerKind};
use crate::engine::outcome::Decision;

#[derive(Debug, Clone, Default)]
pub struct ProjectTrust {
    pub reports: Vec<TrustReport>,
    pub(crate) seals: Vec<TrustSeal>,
    /// A project's folder changed while the configuration was read.
    pub(crate) is_moved: bool,
    pub(crate) policy: TrustPolicy,
    /// Untrusted hooks of events that go on without them.
    held: Vec<HeldHook>,
    /// The notice at gates of a worktree without hooks, if the main worktree of its repository has some.
    elsewhere: Option<String>,
}

impl ProjectTrust {
    /// The report on a layer's folder if its hooks are untrusted.
    pub(super) fn report_against(&self, layer: &Layer) -> Option<&TrustReport> {
        let untrusted = self.reports.iter().filter(|report| !report.is_trusted());
        let mut untrusted = untrusted.peekable();
        if layer.kind != LayerKind::Project || untrusted.peek().is_none() {
            return None;
        }
        let folder = canonical_folder(layer);
        untrusted.find(|report| report.folder == folder)
    }

    /// The notice for an event that goes on without the project's untrusted hooks.
    pub fn held(&self, spec: &EventSpec) -> Option<String> {
        let mut of_event = self.held.iter().filter(|held| held.event == spec.name);
        let Some(held) = of_event.next() else {
            return self.elsewhere.clone().filter(|_| spec.blocks);
        };
        let first = held.why.clone();
        Some(match of_event.count() {
            0 => first,
            more => format!("{first} (and {more} more)"),
        })
    }
}

#[derive(Debug, Clone)]
struct HeldHook {
    event: String,
    why: String,
}

pub(super) struct TrustJudge<'j> {
    choice: &'j TrustChoice,
    policy: &'j TrustPolicy,
    store: Option<TrustStore>,
    read_since: SystemTime,
    own: Vec<PathBuf>,
    found: ProjectTrust,
    owned: Vec<OwnedHooks>,
}

/// The hooks of a project folder, including those of its shared sets.
struct OwnedHooks {
    folder: PathBuf,
    hooks: Range<usize>,
    /// Files of the folder that a shared set names.
    named: Vec<PathBuf>,
}

impl<'j> TrustJudge<'j> {
    /// `None` if trust is not required. The configuration was read after `read_since`.
    pub(super) fn new(
        choice: &'j Choice,
        env: &Environment,
        read_since: SystemTime,
        policy: &'j TrustPolicy,
    ) -> Option<TrustJudge<'j>> {
        let choice = choice.trust.as_ref()?;
        Some(TrustJudge {
            choice,
            policy,
            store: TrustStore::of(env),
            read_since,
            own: discover::outside(env).map(|(_, own)| own).collect(),
            found: ProjectTrust::default(),
            owned: Vec::new(),
        })
    }

    /// Checks a layer, whose hooks have these indices.
    pub(super) fn look(&mut self, loaded: &LoadedLayer, hooks: Range<usize>, unopened: &[PathBuf]) {
        let LoadedLayer { layer, files } = loaded;
        if layer.kind != LayerKind::Project || self.own.contains(&layer.folder) {
            return;
        }
        let folder = canonical_folder(layer);
        let is_set = layer.declared_in.is_some();
        let mut parts = trust::parts(layer, &folder, handlers(files));
        let mut owned = OwnedHooks {
            folder: folder.clone(),
            hooks,
            named: Vec::new(),
        };
        if is_set {
            owned.named = std::mem::take(&mut parts);
        }
        self.owned.push(owned);
        // The lock file of the project checks the files of a shared set.
        if is_set {
            return;
        }
        let of_sets = self.owned.iter().filter(|owned| owned.folder == folder);
        parts.extend(of_sets.flat_map(|owned| owned.named.iter().cloned()));
        parts.sort();
        parts.dedup();
        let unopened = unopened.iter();
        let below = unopened.flat_map(|path| path.strip_prefix(&layer.folder));
        let project = ProjectFiles {
            folder,
            parts,
            unopened: below.map(Path::to_path_buf).collect(),
        };
        let is_sealed = self.judge(project);
        let report = self.found.reports.last();
        let report = report.filter(|_| is_sealed && has_own_hooks(layer));
        if let (Some(report), Some(store)) = (report, &self.store) {
            store.remember(&report.folder, &report.repository);
        }
    }

    /// Checks project folders whose trusted hooks have disappeared.
    pub(super) fn look_for_lost(&mut self, looked: &[PathBuf], loaded: &[LoadedLayer]) {
        let Some(store) = self.store.clone() else {
            return;
        };
        for folder in looked {
            let mut layers = loaded.iter().map(|one| &one.layer);
            if layers.any(|layer| layer.folder == *folder && has_own_hooks(layer)) {
                continue;
            }
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            if store.had_hooks(&folder) {
                let lost = ProjectFiles {
                    folder,
                    ..ProjectFiles::default()
                };
                self.judge(lost);
            } else if !loaded.iter().any(|one| one.layer.is_own_of_project())
                && let Some(main) = trust::same_in_main_work_tree(&folder)
                && (main.join(MANIFEST).exists() || main.join(DROP_INS).exists())
            {
                self.found.elsewhere = Some(format!(
                    "the worktree {0} has no hooks, but the main worktree of its repository has hooks in {1}; if none should \
                     run here, run `mkdir {0}/{DROP_INS}`",
                    folder.display(),
                    main.display()
                ));
            }
        }
    }

    /// Checks the hooks in a folder. Returns whether its files are readable and trusted.
    fn judge(&mut self, project: ProjectFiles) -> bool {
        let (mut report, mut seal) = self.look_at(project.clone());
        if !report.is_trusted()
            && let Some(store) = &self.store
            && let Some(followed) = store.followed(&report.repository)
        {
            match trust::follow::accept(&report, followed, store) {
                Ok(()) => (report, seal) = self.look_at(project),
                Err(why) => report.not_of_branch = Some(why),
            }
        }
        let is_sealed = seal.is_some();
        self.found.reports.push(report);
        self.found.seals.extend(seal);
        is_sealed
    }

    fn look_at(&self, project: ProjectFiles) -> (TrustReport, Option<TrustSeal>) {
        let store = self.store.as_ref();
        trust::judge(project, self.read_since, self.choice, self.policy, store)
    }

    /// Holds the untrusted hooks, or only reports them.
    pub(super) fn settle(
        mut self,
        hooks: &mut [Hook],
        catalog: &Catalog,
        problems: &mut Vec<Problem>,
    ) -> ProjectTrust {
        for report in &self.found.reports {
            let Some(why) = report.why_untrusted() else {
                continue;
            };
            if *self.choice == TrustChoice::Reported {
                problems.push(Complaint::new(why).warning(&report.folder, None));
                continue;
            }
            if report.may_lack_guards() {
                // Changed files must not decide which events are checked.
                problems.push(Complaint::new(&*why).in_file(&report.folder, None));
            }
            let owned = self.owned.iter();
            for owned in owned.filter(|owned| owned.folder == report.folder) {
                let hooks = &mut hooks[owned.hooks.clone()];
                self.found.held.extend(hold(hooks, catalog, &why));
            }
        }
        self.found
    }
}

/// Whether a layer has hooks of hookrun, not only of a host.
fn has_own_hooks(layer: &Layer) -> bool {
    !layer.manifests.is_empty() || !layer.drop_ins.is_empty()
}

/// The project folder of a layer, or the one that declares it as a shared set.
fn canonical_folder(layer: &Layer) -> PathBuf {
    let folder = layer.declared_in.as_ref().unwrap_or(&layer.folder);
    folder.canonicalize().unwrap_or_else(|_| folder.clone())
}

fn handlers(manifests: &[(PathBuf, Manifest)]) -> impl Iterator<Item = (&Path, &Handler)> {
    manifests.iter().flat_map(|(file, manifest)| {
        let read = manifest.hooks.iter().map(|table| &table.draft);
        let drafts = read.chain(&manifest.rejected);
        drafts.map(move |draft| (file.as_path(), &draft.hook.handler))
    })
}

/// Turns an untrusted folder's hooks at gates into blocking rules. Returns the other hooks.
fn hold(hooks: &mut [Hook], catalog: &Catalog, why: &str) -> Vec<HeldHook> {
    let mut held = Vec::new();
    for hook in hooks.iter_mut().filter(|hook| hook.is_on()) {
        let why = format!("{why}; `{}` did not run", hook.name);
        let spec = catalog.find(&hook.event);
        if spec.is_ok_and(|spec| spec.blocks && spec.on_failure == OnFailure::Block) {
            // Braces in a rule's text are placeholders.
            let reason = why.replace('{', "{{").replace('}', "}}");
            hook.handler = Handler::Rule(Decision::Block { reason });
            hook.convention = None;
            hook.rewrite = false;
            hook.on_failure = None;
            continue;
        }
        hook.idle = Some(why.clone());
        let event = hook.event.clone();
        held.push(HeldHook { event, why });
    }
    held
}

/// The trust settings of system and user. Settings of theirs are an error anywhere else.
pub(super) fn owner_policy(
    layers: &[LoadedLayer],
    env: &Environment,
    problems: &mut Vec<Problem>,
) -> TrustPolicy {
    let mut policy = TrustPolicy::default();
    for LoadedLayer { layer, files } in layers {
        // The user's file may be found by another path.
        let is_users = discover::outside(env).any(|(_, own)| own == layer.folder);
        for (file, manifest) in files {
            if layer.is_owners() {
                policy.add(&manifest.trust, env.home.as_deref());
                continue;
            }
            for (what, at) in manifest.owner_settings().filter(|_| !is_users) {
                let cause = format!("only the system and user files may set `{what}`");
                let cure =
                    format!("remove it here; `{what}` belongs in ~/.config/hookrun/hookrun.toml");
                problems.push(Complaint::with_cure(cause, cure).in_file(file, Some(at)));
            }
        }
    }
    policy
}
