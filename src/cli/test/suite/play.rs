//! Runs cases in parallel, each in empty folders with a clean environment, and reports them in order.

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::config::reader::read_file;
use crate::engine::errand;
use crate::engine::event::Context;
use crate::engine::exec::{Abort, Budget};
use crate::engine::lock::locked;
use crate::engine::outcome::Outcome;
use crate::engine::runner::Runner;
use crate::engine::session::SWEPT;
use crate::hosts::Reply;
use crate::lab::report::plain;
use crate::lab::scenario::{
    CaseFolders, CaseResult, CaseStep, Content, End, StepInput, StepResult, SuppliedFile, misses,
    own_failure,
};
use tempfile::TempDir;

use super::load::{LoadedCase, StepHooks};
use crate::cli::exit::{Result, failed};
use crate::cli::files::temporary_folder;
use crate::cli::streams;
use crate::decide::EventRequest;
use crate::decide::request::reply_to;

const SETUP_LIMIT: Duration = Duration::from_secs(60);

const SEARCH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The results of the cases that have ended.
type Board = Mutex<Vec<Option<CaseResult>>>;

type CaseError<T> = std::result::Result<T, String>;

#[derive(Debug)]
pub(super) struct SuitePlayer<'c> {
    pub(super) runner: &'c Runner,
    pub(super) abort: &'c Abort,
    pub(super) env: &'c Environment,
    pub(super) root: &'c Path,
    pub(super) jobs: usize,
}

/// Creates the suite's folder, with a `bin` in which hooks find hookrun.
pub(super) fn suite_folder(env: &Environment) -> Result<TempDir> {
    let folder = temporary_folder("hookrun-suite-", env)?;
    let bin = folder.path().join("bin");
    let made = fs::create_dir(&bin).and_then(|()| match &env.program {
        Some(program) => symlink(program, bin.join("hookrun")),
        None => Ok(()),
    });
    made.map_err(failed(format!("cannot use `{}`", folder.path().display())))?;
    Ok(folder)
}

impl SuitePlayer<'_> {
    /// Runs all `cases`. Returns the results in their order.
    pub(super) fn play_all(&self, cases: &[&LoadedCase]) -> Vec<CaseResult> {
        let next = AtomicUsize::new(0);
        let board: Board = Mutex::new(cases.iter().map(|_| None).collect());
        thread::scope(|scope| {
            for _ in 0..self.jobs.min(cases.len()) {
                let thread = thread::Builder::new().name("hookrun-case".to_string());
                if let Err(error) = thread.spawn_scoped(scope, || self.work(cases, &next, &board)) {
                    tracing::warn!(%error, "no thread for cases");
                }
            }
        });
        let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
        streams::progress("");
        let mut results = Vec::new();
        for (case, result) in cases.iter().zip(board) {
            results.push(result.unwrap_or_else(|| ended(case, End::NotRun)));
        }
        results
    }

    /// Runs cases until none is left; called by each thread.
    fn work(&self, cases: &[&LoadedCase], next: &AtomicUsize, board: &Board) {
        let mut kept = None;
        while self.abort.times_raised() == 0 {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(number) else {
                return;
            };
            let result = self.play(case, number, &mut kept);
            if result.end.is_bad() {
                streams::progress(&format!("FAILED: {}\n", plain(&result.name)));
            }
            let mut board = locked(board);
            board[number] = Some(result);
            let ended = board.iter().flatten();
            let played = ended.clone().count();
            let bad = ended.filter(|result| result.end.is_bad()).count();
            let all = cases.len();
            streams::progress(&format!("{played}/{all} cases, {bad} failed"));
        }
    }

    /// Runs a case in the folders of an earlier one, if there are any, or in new ones.
    fn play(&self, loaded: &LoadedCase, number: usize, kept: &mut Option<CaseTree>) -> CaseResult {
        if let Some(why) = &loaded.case.skip {
            return ended(loaded, End::Skipped(why.clone()));
        }
        let started = Instant::now();
        let tree = match kept.take() {
            Some(tree) => Ok(tree),
            None => CaseTree::make(self.root.join(number.to_string())),
        };
        let mut result = match tree {
            Ok(tree) => {
                let workspace = Workspace::of(tree, self, loaded, number);
                let result = self.play_in(&workspace, loaded);
                // Without a subreaper, a process may outlive its case.
                let may_reuse = env::consts::OS == "linux" && !loaded.may_leave_processes();
                if may_reuse && workspace.tree.is_as_made() {
                    *kept = Some(workspace.tree);
                }
                result
            }
            Err(error) => ended(
                loaded,
                End::CouldNot(format!("cannot create its folders: {error}")),
            ),
        };
        if self.abort.times_raised() > 0 {
            // An interruption may have ended its hooks.
            result.end = End::NotRun;
        }
        result.took = started.elapsed();
        result
    }

    fn play_in(&self, workspace: &Workspace, loaded: &LoadedCase) -> CaseResult {
        let case = &loaded.case;
        let mut result = ended(loaded, End::Expected);
        if let Err(why) = workspace.prepare(&case.files, &case.setup, self.abort) {
            result.end = End::CouldNot(why);
            return result;
        }
        let mut missed = Vec::new();
        for (step, hooks) in case.steps.iter().zip(&loaded.step_hooks) {
            let decided = match self.decide(workspace, step, hooks) {
                Ok(decided) => decided,
                Err(why) => {
                    result.end = End::CouldNot(in_step(step, why));
                    return result;
                }
            };
            let failed = step.expect.hooks("failed");
            let expects_failure =
                failed.is_some_and(|(names, _)| names.iter().any(|name| name == "hookrun"));
            if let Some(why) = own_failure(&decided.outcome)
                && !expects_failure
            {
                let why = format!("hookrun could not decide: {why}");
                result.end = End::CouldNot(in_step(step, why));
                result.steps.push(decided);
                return result;
            }
            for mut miss in misses(&step.expect, &decided, &workspace.folders) {
                miss.step = step.number;
                missed.push(miss);
            }
            result.steps.push(decided);
        }
        if !missed.is_empty() {
            result.end = End::Unexpected(missed);
        }
        result
    }

    fn decide(
        &self,
        workspace: &Workspace,
        step: &CaseStep,
        hooks: &StepHooks,
    ) -> CaseError<StepResult> {
        workspace.prepare(&step.files, &step.setup, self.abort)?;
        let config = &hooks.tested.config;
        let request = EventRequest::new(&step.event.value, &step.host);
        let folders = &workspace.folders;
        let bytes = match &step.input {
            StepInput::Nothing => request.least(config).into_bytes(),
            StepInput::Context(text) => folders.fill_json(&text.value).into_bytes(),
            StepInput::Text(text) => folders.fill(text).into_bytes(),
            StepInput::File(path) => {
                let bytes = read_source(folders, path)
                    .map_err(|error| format!("cannot read its context: {error}"))?;
                match String::from_utf8(bytes) {
                    Ok(text) => folders.fill(&text).into_bytes(),
                    Err(error) => error.into_bytes(),
                }
            }
        };
        let context = Context::from_bytes(bytes);
        let mut result = StepResult {
            event: step.event.value.clone(),
            host: step.host.clone(),
            run: None,
            outcome: Outcome::default(),
            reply: Reply::default(),
        };
        let hosted = match context.and_then(|context| request.event(config, context)) {
            Ok(hosted) => hosted,
            Err(complaint) => {
                let reason = complaint.to_string();
                result.reply = request.block(&reason);
                result.outcome = Outcome::own_failure(reason);
                return Ok(result);
            }
        };
        let project = folders.work.clone();
        let runner = self
            .runner
            .elsewhere(hooks.registry.clone(), &workspace.env, project);
        let budget = request.budget();
        let budget = budget.map(|whole| Budget::from(Instant::now(), whole));
        let run = runner.handle_within(&hosted.event, budget);
        result.reply = reply_to(hosted.binding, &run.outcome);
        result.outcome = run.outcome.clone();
        result.run = Some(Box::new(run));
        Ok(result)
    }
}

fn in_step(step: &CaseStep, why: String) -> String {
    match step.number {
        Some(number) => format!("step {number}: {why}"),
        None => why,
    }
}

/// Reads a file relative to the test case file.
fn read_source(folders: &CaseFolders, path: &Path) -> CaseError<Vec<u8>> {
    read_file(&folders.suite.join(path)).map_err(|error| format!("`{}`: {error}", path.display()))
}

fn ended(loaded: &LoadedCase, end: End) -> CaseResult {
    let first = loaded.case.steps.first();
    let event = first.map(|step| step.event.value.clone());
    CaseResult {
        file: loaded.file.clone(),
        name: loaded.case.name.clone(),
        at: loaded.case.at,
        event: event.unwrap_or_default(),
        end,
        steps: Vec::new(),
        took: Duration::ZERO,
    }
}

/// The folders of a case, removed on drop. The next case reuses them if they are unchanged: creating
/// and removing them takes as long as a small shell hook.
struct CaseTree {
    root: PathBuf,
    /// The marks of the folders in which hookrun creates none.
    made: [Option<[i64; 3]>; 4],
}

/// The working directory, `HOME`, `TMPDIR` and state of a case, and how deep hookrun itself creates
/// folders in each: `hookrun/sessions/SESSION/HOOK`.
const FOLDERS: [(&str, usize); 4] = [("work", 0), ("home", 0), ("tmp", 0), ("state", 4)];

/// git and ssh reject a world-writable home.
const PRIVATE: u32 = 0o700;

impl CaseTree {
    fn make(root: PathBuf) -> io::Result<CaseTree> {
        let mut builder = DirBuilder::new();
        builder.mode(PRIVATE).create(&root)?;
        for (name, _) in FOLDERS {
            builder.create(root.join(name))?;
        }
        let made = marks(&root);
        Ok(CaseTree { root, made })
    }

    /// Whether the case left only folders that hookrun created. The marks also differ after changes
    /// of times, owners and attributes.
    fn is_as_made(&self) -> bool {
        let entries = fs::read_dir(&self.root).map_or(0, Iterator::count);
        marks(&self.root) == self.made
            && entries == FOLDERS.len()
            && is_private(&self.root)
            && FOLDERS
                .iter()
                .all(|(name, levels)| is_unused(&self.root.join(name), *levels))
    }
}

/// Which folder each is, and the time of its last change.
fn marks(root: &Path) -> [Option<[i64; 3]>; 4] {
    ["work", "home", "tmp", "."].map(|name| {
        let meta = root.join(name).symlink_metadata().ok()?;
        Some([meta.ino().cast_signed(), meta.ctime(), meta.ctime_nsec()])
    })
}

fn is_private(folder: &Path) -> bool {
    let meta = folder.symlink_metadata();
    meta.is_ok_and(|meta| meta.is_dir() && meta.mode() & 0o7777 == PRIVATE)
}

/// Whether a folder is private and contains only private folders, at most `levels` deep, and the
/// mark of the sweep next to the folders of sessions.
fn is_unused(folder: &Path, levels: usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    for entry in entries {
        let Ok(entry) = entry else {
            return false;
        };
        let path = entry.path();
        if levels > 0 && is_unused(&path, levels - 1) {
            continue;
        }
        let meta = entry.metadata();
        let is_empty = meta.is_ok_and(|meta| meta.is_file() && meta.len() == 0);
        if levels != 2 || entry.file_name() != SWEPT || !is_empty {
            return false;
        }
    }
    is_private(folder)
}

/// The folders and environment of a case.
struct Workspace {
    tree: CaseTree,
    folders: CaseFolders,
    env: Environment,
    variables: Vec<(OsString, OsString)>,
}

impl Workspace {
    fn of(
        tree: CaseTree,
        player: &SuitePlayer<'_>,
        loaded: &LoadedCase,
        number: usize,
    ) -> Workspace {
        let [work, home, temporary, state] = FOLDERS.map(|(name, _)| tree.root.join(name));
        let folders = CaseFolders {
            work: work.clone(),
            home: home.clone(),
            suite: loaded.folder.clone(),
        };
        let search = format!("{}:{SEARCH}", player.root.join("bin").display());
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), search.into()),
            ("HOME".into(), home.into()),
            ("TMPDIR".into(), temporary.into()),
            ("LANG".into(), "C.UTF-8".into()),
            // git must search neither above the folder nor in system settings.
            ("GIT_CEILING_DIRECTORIES".into(), tree.root.clone().into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
        ];
        for (name, value) in &loaded.case.env {
            variables.retain(|(known, _)| known != name.as_str());
            variables.push((name.into(), folders.fill(value).into()));
        }
        let env = Environment {
            run_id: format!("{}.{number}", player.env.run_id),
            program: player.env.program.clone(),
            ..Environment::apart(variables.clone(), work, state)
        };
        Workspace {
            tree,
            folders,
            env,
            variables,
        }
    }

    fn prepare(&self, files: &[SuppliedFile], setup: &[String], abort: &Abort) -> CaseError<()> {
        for file in files {
            let path = self.folders.fill(&file.path);
            self.create(&self.folders.work.join(&path), file)
                .map_err(|error| format!("cannot write the file `{path}`: {error}"))?;
        }
        for lines in setup {
            self.set_up(lines, abort)?;
        }
        Ok(())
    }

    fn create(&self, path: &Path, file: &SuppliedFile) -> CaseError<()> {
        if path.metadata().is_ok_and(|meta| !meta.is_file()) {
            // Writing to a pipe would wait for a reader.
            return Err("it already exists and is not a regular file".to_string());
        }
        let bytes = match &file.content {
            Content::Text(text) => self.folders.fill(text).into_bytes(),
            Content::Copy(from) => read_source(&self.folders, from)?,
        };
        write_file(path, &bytes).map_err(|error| error.to_string())
    }

    fn set_up(&self, lines: &str, abort: &Abort) -> CaseError<()> {
        let lines = self.folders.fill(lines);
        let printed = self.tree.root.join("setup.out");
        let ran = File::create(&printed).and_then(|file| {
            let is_over = || abort.times_raised() > 0;
            let folder = &self.folders.work;
            errand::set_up(&lines, folder, &self.variables, &file, SETUP_LIMIT, is_over)
        });
        let why = match ran {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => format!("failed ({status})"),
            Ok(None) if abort.times_raised() > 0 => {
                "was stopped because hookrun was interrupted".to_string()
            }
            Ok(None) => "was still running after 60s".to_string(),
            Err(error) => format!("could not be started: {error}"),
        };
        let text = fs::read(&printed).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let text = text.trim_end();
        let colon = if text.is_empty() { "" } else { ": " };
        Err(format!("its `setup` {why}{colon}{text}"))
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes)
}

impl Drop for CaseTree {
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.root).is_err() {
            // A case may have locked its folders. The rest is removed with the suite's folder.
            unlock(&self.root);
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

fn unlock(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(PRIVATE));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}
