//! `hookrun trust`: a person sees what a project's hooks are, and lets them run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::config::sets::lock::{LOCK, Lock, LockedSet};
use crate::config::trust::{
    ContentFile, FileMark, HookFiles, KeptTrust, TrustChoice, TrustRecord, TrustReport, TrustStore,
    TrustedBy,
};
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::duration::DEFAULT_TIMEOUT;
use crate::engine::event::OnFailure;
use crate::engine::harmless::plain;
use crate::engine::hook::{Background, Hook, LayerKind, duration_text};
use crate::engine::ui::PATIENCE;
use crate::hosts::folders;
use crate::lab::report::Paths;
use crate::lab::report::diff::LineDiff;
use crate::lab::report::problems::problem_text;
use crate::lab::report::style::counted;

use crate::cli::args::TrustArgs;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::problems;
use crate::cli::terminal::Terminal;

/// Lines of a diff that are shown with the question.
const SHOWN_LINES: usize = 60;

/// A set with its content as it is shown, which is what is trusted.
struct SeenSet {
    report: TrustReport,
    files: HookFiles,
    before: Option<TrustRecord>,
}

/// The hooks of the project, as a person sees them.
struct SeenProject {
    store: TrustStore,
    config: Config,
    sets: Vec<SeenSet>,
}

impl SeenProject {
    /// Looks at the files too if `reads`: those of what is forgotten need not be readable. Hooks in
    /// the folders of hosts count, whichever host will ask.
    fn look(store: TrustStore, reads: bool, env: &Environment) -> Result<SeenProject> {
        let choice = Choice {
            hosts: folders::all().collect(),
            trust: Some(TrustChoice::Told),
            ..Choice::default()
        };
        let reports = Config::load(&choice, env, ConfigScope::Events(&[]))
            .trust
            .reports;
        let mut sets = Vec::new();
        for report in reports {
            let files = if reads {
                report.read()
            } else {
                Ok(HookFiles::default())
            };
            let files = files.map_err(failed("the hooks cannot be read"))?;
            let before = store.latest(&report.repository, &report.folder, &files);
            sets.push(SeenSet {
                report,
                files,
                before,
            });
        }
        let config = Config::load(
            &Choice {
                trust: None,
                ..choice
            },
            env,
            ConfigScope::All,
        );
        Ok(SeenProject {
            store,
            config,
            sets,
        })
    }

    fn is_trusted(&self) -> bool {
        self.sets.iter().all(|set| set.report.is_trusted())
    }
}

/// The hooks of the project: 0 trusted or done, 1 not trusted, 2 could not.
pub(crate) fn trust(args: &TrustArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let Some(store) = TrustStore::of(env) else {
        let help = "set HOME: what is trusted is kept there";
        return Err(Complaint::with_cure(env.why_no_home(), help));
    };
    if args.list {
        return list(&store, out);
    }
    let seen = SeenProject::look(store, !args.never && !args.revoke, env)?;
    if seen.sets.is_empty() {
        let help = "`hookrun list` shows the hooks; those of the system and the user need no trust";
        return Err(Complaint::with_cure("this project has no hooks", help));
    }
    let state = if seen.is_trusted() {
        ExitStatus::Yes
    } else {
        ExitStatus::No
    };
    if args.revoke {
        return revoke(&seen, out);
    }
    if let Some(digest) = &args.digest {
        return pinned(digest, &seen, out);
    }
    if args.diff {
        let diffs: String = seen.sets.iter().map(|set| set.diff(&seen.store)).collect();
        let nothing = if seen.sets.iter().all(|set| set.before.is_none()) {
            "nothing of these hooks was trusted before: `hookrun trust --show`\n"
        } else {
            "nothing has changed since it was last trusted\n"
        };
        write!(out, "{}", if diffs.is_empty() { nothing } else { &diffs })?;
        return Ok(state);
    }
    if args.show {
        for set in &seen.sets {
            write!(out, "{}", set.screen(&seen.config))?;
            set.files
                .files
                .iter()
                .try_for_each(|file| writeln!(out, "  {}", described(&file.mark)))?;
        }
        return Ok(state);
    }
    let Some(terminal) = Terminal::open(env) else {
        let help = "run it in a terminal, or name the digest that you have seen: `--digest DIGEST`";
        return Err(Complaint::with_cure(
            "`hookrun trust` needs an interactive terminal",
            help,
        ));
    };
    if args.never {
        let question = "never run the hooks here, and let pass what they would block?";
        let all = seen.sets.iter().collect::<Vec<_>>();
        return if terminal.agrees(question) {
            forget(&all, &seen.store, out)
        } else {
            Ok(state)
        };
    }
    if seen.is_trusted() {
        writeln!(out, "the hooks of this project are trusted already")?;
        return Ok(ExitStatus::Yes);
    }
    ask(&seen, &terminal, env, out)
}

/// Asks a person at the terminal whether the hooks of the project may run, if they may not yet.
pub(crate) fn offer(env: &Environment, out: &mut dyn Write) -> Result<()> {
    let Some(store) = TrustStore::of(env) else {
        return Ok(());
    };
    let seen = SeenProject::look(store, true, env)?;
    if seen.is_trusted() {
        return Ok(());
    }
    match Terminal::open(env) {
        Some(terminal) => ask(&seen, &terminal, env, out).map(drop),
        None => Ok(writeln!(
            out,
            "  to do: `hookrun trust`: the hooks of this project do not run before you trust them"
        )?),
    }
}

/// Shows what would run and what is wrong with it, and asks until there is an answer.
fn ask(seen: &SeenProject, terminal: &Terminal, env: &Environment, out: &mut dyn Write) -> Result {
    let SeenProject {
        store,
        config,
        sets,
    } = seen;
    let wanted: Vec<&SeenSet> = sets.iter().filter(|set| !set.report.is_trusted()).collect();
    let mut text = String::new();
    for set in &wanted {
        let diff = set.diff(store);
        text.push_str(&set.screen(config));
        text.push_str(&shortened(&diff));
    }
    // Before the question: to mend it changes what would be trusted.
    let paths = Paths::from(&env.cwd);
    for problem in problems::all_problems(config, env) {
        text.push_str(&format!("{}\n", problem_text(&problem, &paths)));
    }
    loop {
        let question = "Run these hooks from now on?\n  y      yes\n  d      show the files first\n  \
                        n      not now: what they would decide is blocked\n  \
                        never  they never run here: what they would decide is allowed\n\
                        y, d, n or never: ";
        let answer = terminal.answer(&text, question, Instant::now() + PATIENCE);
        match answer.as_deref() {
            Some("y" | "Y" | "yes") => break,
            Some("d") => text = wanted.iter().map(|set| set.whole()).collect(),
            Some("never") => return forget(&wanted, store, out),
            Some("" | "n" | "no") | None => {
                writeln!(out, "not trusted: the hooks do not run")?;
                return Ok(ExitStatus::No);
            }
            Some(_) => text = "Answer y, d, n or never.\n".to_string(),
        }
    }
    keep(&wanted, TrustedBy::Person, store, out)
}

fn keep(sets: &[&SeenSet], by: TrustedBy, store: &TrustStore, out: &mut dyn Write) -> Result {
    for SeenSet { report, files, .. } in sets {
        let kept = store.trust(&report.repository, &report.folder, files, by);
        kept.map_err(failed("cannot keep what is trusted"))?;
        writeln!(out, "trusted: {} {}", shown(&report.folder), files.digest())?;
    }
    Ok(ExitStatus::Yes)
}

/// Trusts what has the digest that the caller knows.
fn pinned(digest: &str, seen: &SeenProject, out: &mut dyn Write) -> Result {
    let meant: Vec<&SeenSet> = seen
        .sets
        .iter()
        .filter(|set| set.files.digest() == digest)
        .collect();
    if !meant.is_empty() {
        return keep(&meant, TrustedBy::Digest, &seen.store, out);
    }
    let digests: Vec<String> = seen.sets.iter().map(|set| set.files.digest()).collect();
    let cause = format!("the hooks here have another digest: {}", digests.join(", "));
    Err(Complaint::with_cure(
        cause,
        "`hookrun trust --diff` shows what has changed",
    ))
}

fn revoke(seen: &SeenProject, out: &mut dyn Write) -> Result {
    for SeenSet { report, .. } in &seen.sets {
        let count = seen.store.forget(&report.repository, &report.folder, false);
        let count = count.map_err(failed("cannot forget what is trusted"))?;
        let repository = shown(&report.repository);
        let count = counted(count, "version");
        writeln!(
            out,
            "no longer trusted: {repository} ({count} of its hooks)"
        )?;
    }
    Ok(ExitStatus::Yes)
}

fn forget(sets: &[&SeenSet], store: &TrustStore, out: &mut dyn Write) -> Result {
    for SeenSet { report, .. } in sets {
        let kept = store.forget(&report.repository, &report.folder, true);
        kept.map_err(failed("cannot keep that"))?;
        writeln!(out, "never: no hook of {} runs", shown(&report.repository))?;
    }
    Ok(ExitStatus::Yes)
}

fn list(store: &TrustStore, out: &mut dyn Write) -> Result {
    let (records, never) = store.all();
    if records.is_empty() && never.is_empty() {
        writeln!(out, "nothing is trusted yet")?;
    }
    for record in &records {
        let count = counted(record.files.len(), "file");
        writeln!(out, "{}  {count}  {}", shown(&record.folder), record.digest)?;
    }
    for repository in &never {
        writeln!(out, "{}  never", shown(repository))?;
    }
    Ok(ExitStatus::Yes)
}

impl SeenSet {
    /// What would run, on which events, and what loosens a default.
    fn screen(&self, config: &Config) -> String {
        let mut text = String::new();
        let folder = shown(&self.report.folder);
        let state = match (
            self.report.is_trusted(),
            self.report.is_never(),
            &self.before,
        ) {
            (true, ..) => "are trusted",
            (_, true, _) => "never run",
            (.., Some(_)) => "have changed since you trusted them",
            (.., None) => "are not trusted yet",
        };
        let count = counted(self.files.files.len(), "file");
        let digest = self.files.digest();
        let _ = writeln!(text, "The hooks in {folder} {state}.\n  {count}, {digest}");
        if self.before.is_none() {
            let sets = self.lock().sets;
            sets.iter()
                .for_each(|set| text.push_str(&format!("  set {}\n", plain(&set.to_string()))));
        }
        let mut events: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut loosened = Vec::new();
        for hook in self.hooks(config) {
            let of_set = hook.source.set.as_ref().map(|set| format!(" (set {set})"));
            let name = plain(&format!("{}{}", hook.name, of_set.unwrap_or_default()));
            events.entry(&hook.event).or_default().push(name);
            loosened.extend(looser(hook, config).map(|how| format!("{} {how}", plain(&hook.name))));
        }
        for (event, names) in events {
            let _ = writeln!(text, "  {:<16} {}", plain(event), names.join(", "));
        }
        loosened.sort();
        loosened.dedup();
        for how in loosened {
            let _ = writeln!(text, "  note: {how}");
        }
        text
    }

    /// The hooks of this folder, also those of the shared sets that it declares.
    fn hooks<'c>(&self, config: &'c Config) -> impl Iterator<Item = &'c Hook> {
        let folder = self.report.folder.clone();
        let of_project = config
            .hooks
            .iter()
            .filter(|hook| hook.source.layer == LayerKind::Project);
        let is_part = |path: &Path| self.report.parts.iter().any(|part| path.starts_with(part));
        of_project.filter(move |hook| {
            let own = hook.root.as_ref().unwrap_or(&config.project);
            // The files of a shared set are in the store, and its lock is here.
            let file = match hook.source.set {
                Some(_) => Path::new(LOCK),
                None => hook
                    .source
                    .file
                    .strip_prefix(own)
                    .unwrap_or(&hook.source.file),
            };
            own.canonicalize().unwrap_or_else(|_| own.clone()) == folder && is_part(file)
        })
    }

    /// What has changed since this repository's hooks were last trusted; nothing if they never were.
    fn diff(&self, store: &TrustStore) -> String {
        let Some(before) = &self.before else {
            return String::new();
        };
        let mut text = self.changed_sets(before, store);
        let now = |path: &str| self.files.files.iter().find(|file| file.mark.path == path);
        let then = |path: &str| before.files.iter().find(|mark| mark.path == path);
        for path in before.changed(&self.files) {
            let old = then(path);
            let new = now(path);
            let what = match (old, new.map(|file| &file.mark)) {
                (None, _) => "new".to_string(),
                (_, None) => "removed".to_string(),
                (Some(old), Some(new)) => changed(old, new),
            };
            let _ = writeln!(text, "{}: {what}", plain(path));
            let old = old
                .and_then(|old| store.trusted_text(&old.content))
                .unwrap_or_default();
            let new = new.map(text_of).unwrap_or_default();
            let diff = LineDiff::of(&old, &new).unified();
            diff.lines()
                .for_each(|line| text.push_str(&format!("  {}\n", plain(line))));
        }
        text
    }

    /// The shared sets that are locked now.
    fn lock(&self) -> Lock {
        let lock = self.files.files.iter().find(|file| file.mark.path == LOCK);
        Lock::read(&lock.map(text_of).unwrap_or_default(), Path::new(LOCK)).0
    }

    /// Which of them are others than before: what their files are is in no diff of the lock.
    fn changed_sets(&self, before: &TrustRecord, store: &TrustStore) -> String {
        let kept = before.files.iter().find(|mark| mark.path == LOCK);
        let kept = kept
            .and_then(|mark| store.trusted_text(&mark.content))
            .unwrap_or_default();
        let then = Lock::read(&kept, Path::new(LOCK)).0;
        let now = self.lock();
        let names = then.sets.iter().chain(&now.sets).map(|set| &set.name);
        let mut text = String::new();
        for name in names.collect::<BTreeSet<_>>() {
            let shown = |set: Option<&LockedSet>| {
                set.map_or("none".to_string(), |set| {
                    plain(&format!("{set} from {}", set.source))
                })
            };
            let then = then.find(name);
            let now = now.find(name);
            if then != now {
                let then = shown(then);
                let now = shown(now);
                let _ = writeln!(text, "set {}\n  was {then}\n  is  {now}", plain(name));
            }
        }
        text
    }

    /// All files.
    fn whole(&self) -> String {
        let mut text = String::new();
        for file in &self.files.files {
            let _ = writeln!(text, "--- {}", described(&file.mark));
            for line in text_of(file).lines() {
                let _ = writeln!(text, "  {}", plain(line));
            }
        }
        text
    }
}

fn described(mark: &FileMark) -> String {
    let FileMark {
        path,
        mode,
        content,
        link,
    } = mark;
    let link = link
        .as_ref()
        .map(|to| format!(" -> {to}"))
        .unwrap_or_default();
    plain(&format!(
        "{mode} {} {path}{link}",
        &content[..content.len().min(12)]
    ))
}

/// What has changed beside the text.
fn changed(old: &FileMark, new: &FileMark) -> String {
    let mut what = Vec::new();
    if old.content != new.content {
        what.push("changed".to_string());
    }
    if old.mode != new.mode {
        what.push(format!("mode {} is {} now", old.mode, new.mode));
    }
    if old.link != new.link {
        let to = |link: &Option<String>| {
            link.as_deref().map_or("no link".to_string(), |to| {
                format!("a link to {}", plain(to))
            })
        };
        what.push(format!("{} is {} now", to(&old.link), to(&new.link)));
    }
    what.join(", ")
}

fn text_of(file: &ContentFile) -> String {
    let otherwise = || format!("({} bytes that are no text)\n", file.bytes.len());
    std::str::from_utf8(&file.bytes).map_or_else(|_| otherwise(), str::to_string)
}

/// How a hook loosens what is the default.
fn looser(hook: &Hook, config: &Config) -> impl Iterator<Item = String> {
    let spec = config.catalog.find(&hook.event).ok();
    let spec = spec.filter(|spec| spec.blocks);
    let closes = spec
        .as_ref()
        .is_some_and(|spec| spec.on_failure == OnFailure::Block);
    let lets_through = spec
        .as_ref()
        .is_some_and(|spec| hook.on_failure(spec) == OnFailure::Allow);
    let timeout = hook.usual_timeout();
    let is_slow = timeout > DEFAULT_TIMEOUT && spec.is_some();
    [
        (closes && lets_through).then(|| "lets events through when it fails".to_string()),
        is_slow.then(|| format!("may take {}", duration_text(timeout))),
        (hook.background == Background::Detach).then(|| "leaves processes running".to_string()),
    ]
    .into_iter()
    .flatten()
}

fn shortened(diff: &str) -> String {
    let count = diff.lines().count();
    if count <= SHOWN_LINES {
        return diff.to_string();
    }
    let shown: Vec<&str> = diff.lines().take(SHOWN_LINES).collect();
    let more = count - SHOWN_LINES;
    format!(
        "{}\n({more} more lines: `hookrun trust --diff`)\n",
        shown.join("\n")
    )
}

fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy())
}

/// What commands say that run or write hooks of the project, if they are not trusted.
pub(crate) fn untrusted_note(env: &Environment) -> Option<&'static str> {
    let note = "an agent or git does not run the hooks of this project until `hookrun trust`";
    (!is_trusted(env)).then_some(note)
}

/// Whether the hooks of the project may run.
pub(crate) fn is_trusted(env: &Environment) -> bool {
    let choice = Choice {
        trust: Some(TrustChoice::Told),
        ..Choice::default()
    };
    let reports = Config::load(&choice, env, ConfigScope::Events(&[]))
        .trust
        .reports;
    reports.iter().all(TrustReport::is_trusted)
}

/// Does `write`, and keeps what was trusted trusted.
pub(crate) fn keeping<T>(
    env: &Environment,
    write: impl FnOnce() -> Result<(T, Vec<PathBuf>)>,
) -> Result<T> {
    let choice = Choice {
        trust: Some(TrustChoice::Told),
        ..Choice::default()
    };
    let reports = || {
        Config::load(&choice, env, ConfigScope::Events(&[]))
            .trust
            .reports
    };
    let kept = KeptTrust::before(&reports());
    let (done, written) = write()?;
    let after = kept.after(&reports(), &written, TrustStore::of(env).as_ref());
    after.map_err(failed("cannot keep what is trusted"))?;
    Ok(done)
}
