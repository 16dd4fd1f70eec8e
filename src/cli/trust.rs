//! `hookrun trust`: shows a project's hooks to the user, who allows them to run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::config::git::GitRepository;
use crate::config::sets::LOCK;
use crate::config::trust::{
    ContentFile, FileMark, FollowedBranch, HookFiles, KeptTrust, TrustChoice, TrustRecord,
    TrustReport, TrustStore, TrustedBy, follow,
};
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::harmless::plain;
use crate::engine::hook::{Hook, LayerKind};
use crate::engine::ui::PATIENCE;
use crate::lab::report::Paths;
use crate::lab::report::problems::problem_text;
use crate::lab::report::style::counted;

use crate::cli::args::TrustArgs;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::problems;
use crate::cli::terminal::Terminal;

const SHOWN_LINES: usize = 60;

/// A hook set with the content that was shown, which is what gets trusted.
struct SeenSet {
    report: TrustReport,
    files: HookFiles,
    before: Option<TrustRecord>,
}

struct SeenProject {
    store: TrustStore,
    config: Config,
    sets: Vec<SeenSet>,
}

impl SeenProject {
    fn look(store: TrustStore, env: &Environment) -> Result<SeenProject> {
        let mut sets = Vec::new();
        for report in reports(env) {
            let files = report.read().map_err(failed("cannot review the hooks"))?;
            let before = store.latest(&report.repository, &report.folder, &files);
            sets.push(SeenSet {
                report,
                files,
                before,
            });
        }
        Ok(SeenProject {
            store,
            config: Config::load(&Choice::default(), env, ConfigScope::All),
            sets,
        })
    }

    fn is_trusted(&self) -> bool {
        self.sets.iter().all(|set| set.report.is_trusted())
    }
}

/// Manages trust: 0 trusted or done, 1 not trusted, 2 error.
pub(crate) fn trust(args: &TrustArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let Some(store) = TrustStore::of(env) else {
        let help = "set HOME: trust records are stored there";
        return Err(Complaint::with_cure(env.why_no_home(), help));
    };
    if args.revoke {
        return revoke(&store, env, out);
    }
    if let Some(branch) = &args.follow {
        return follow_branch(branch, &store, env, out);
    }
    let seen = SeenProject::look(store, env)?;
    if seen.sets.is_empty() {
        let help = "`hookrun list` shows the hooks; system and user hooks need no trust";
        return Err(Complaint::with_cure("this project has no hooks", help));
    }
    if let Some(digest) = &args.digest {
        return pinned(digest, &seen, out);
    }
    if args.show {
        return show(&seen, out);
    }
    let terminal = open_terminal()?;
    if seen.is_trusted() {
        writeln!(out, "the hooks of this project are already trusted")?;
        return Ok(ExitStatus::Yes);
    }
    ask(&seen, &terminal, env, out)
}

fn open_terminal() -> Result<Terminal> {
    Terminal::open().ok_or_else(|| {
        let help =
            "run it at a terminal, or pass the digest of the hooks that you have reviewed: `--digest DIGEST`";
        Complaint::with_cure("`hookrun trust` needs an interactive terminal", help)
    })
}

fn show(seen: &SeenProject, out: &mut dyn Write) -> Result {
    for set in &seen.sets {
        let report = &set.report;
        write!(out, "{}", set.screen(&seen.config))?;
        if let Some(FollowedBranch { branch, tip }) = seen.store.followed(&report.repository) {
            writeln!(out, "  follows {} at {}", plain(&branch), plain(&tip))?;
        }
        for file in &set.files.files {
            writeln!(out, "  {}", described(&file.mark))?;
        }
        write!(out, "{}", set.diff(&seen.store))?;
    }
    Ok(ExitStatus::yes_if(seen.is_trusted()))
}

fn follow_branch(
    branch: &str,
    store: &TrustStore,
    env: &Environment,
    out: &mut dyn Write,
) -> Result {
    let mut repositories: Vec<PathBuf> = reports(env)
        .into_iter()
        .map(|report| report.repository)
        .collect();
    repositories.dedup();
    let [repository] = repositories.as_slice() else {
        let found = repositories.len();
        let cause = format!(
            "`--follow` needs exactly one repository with hooks, but {found} were found here"
        );
        let help = "change to the repository with the hooks";
        return Err(Complaint::with_cure(cause, help));
    };
    let tip = follow::tip_of(&GitRepository::at(repository), branch)?;
    let shown_repository = shown(repository);
    let question = format!(
        "trust all hooks on {} of {shown_repository}, now and after each fetch?",
        plain(branch)
    );
    if !open_terminal()?.agrees(&question) {
        return Ok(ExitStatus::No);
    }
    let followed = FollowedBranch {
        branch: branch.to_string(),
        tip,
    };
    let written = store.follow(repository, &followed);
    written.map_err(failed("cannot record the followed branch"))?;
    writeln!(out, "follows {}: {shown_repository}", plain(branch))?;
    let mut exit = ExitStatus::Yes;
    for report in reports(env) {
        if let Some(why) = report.why_untrusted() {
            writeln!(out, "{}", plain(&why))?;
            exit = ExitStatus::No;
        }
    }
    Ok(exit)
}

/// Asks the user to trust the project's hooks, if necessary. Returns whether they are trusted.
pub(crate) fn offer(env: &Environment, out: &mut dyn Write) -> Result<bool> {
    let Some(store) = TrustStore::of(env) else {
        return Ok(true);
    };
    let seen = SeenProject::look(store, env)?;
    if seen.is_trusted() {
        return Ok(true);
    }
    let Some(terminal) = Terminal::open() else {
        writeln!(
            out,
            "  to do: run `hookrun trust`; this project's hooks run only after you trust them"
        )?;
        return Ok(false);
    };
    Ok(ask(&seen, &terminal, env, out)? == ExitStatus::Yes)
}

/// Shows hooks and problems, and asks until there is an answer.
fn ask(seen: &SeenProject, terminal: &Terminal, env: &Environment, out: &mut dyn Write) -> Result {
    let SeenProject { store, config, .. } = seen;
    let mut wanted: Vec<&SeenSet> = seen.sets.iter().collect();
    wanted.retain(|set| !set.report.is_trusted());
    let mut text = String::new();
    for set in &wanted {
        text.push_str(&set.screen(config));
        text.push_str(&shortened(&set.diff(store)));
    }
    // Before the question, because fixing a problem changes the content.
    let paths = Paths::from(&env.cwd);
    for problem in problems::all_problems(config, env) {
        text.push_str(&format!("{}\n", problem_text(&problem, &paths)));
    }
    loop {
        let question = "Run these hooks from now on?\n  y  yes\n  d  show the files first\n  \
                        n  not now: their events stay blocked\ny, d or n: ";
        let answer = terminal.answer(&text, question, Instant::now() + PATIENCE);
        match answer.as_deref() {
            Some("y" | "Y" | "yes") => break,
            Some("d") => text = wanted.iter().map(|set| set.whole()).collect(),
            Some("" | "n" | "no") | None => {
                writeln!(out, "not trusted: the hooks do not run")?;
                return Ok(ExitStatus::No);
            }
            Some(_) => text = "Answer y, d or n.\n".to_string(),
        }
    }
    keep(&wanted, TrustedBy::Person, store, out)
}

fn keep(sets: &[&SeenSet], by: TrustedBy, store: &TrustStore, out: &mut dyn Write) -> Result {
    for SeenSet { report, files, .. } in sets {
        let kept = store.trust(&report.repository, &report.folder, files, by);
        kept.map_err(failed("cannot write the trust record"))?;
        writeln!(out, "trusted: {} {}", shown(&report.folder), files.digest())?;
    }
    Ok(ExitStatus::Yes)
}

/// Trusts the hooks with the caller's digest.
fn pinned(digest: &str, seen: &SeenProject, out: &mut dyn Write) -> Result {
    let mut sets: Vec<&SeenSet> = seen.sets.iter().collect();
    sets.retain(|set| set.files.digest() == digest);
    if !sets.is_empty() {
        return keep(&sets, TrustedBy::Digest, &seen.store, out);
    }
    let digests: Vec<String> = seen.sets.iter().map(|set| set.files.digest()).collect();
    let digests = digests.join(", ");
    let cause = format!("the hooks here do not have this digest, but {digests}");
    let cure = "`hookrun trust --show` shows the changes";
    Err(Complaint::with_cure(cause, cure))
}

/// Revokes trust, even if the hooks are unreadable.
fn revoke(store: &TrustStore, env: &Environment, out: &mut dyn Write) -> Result {
    for report in reports(env) {
        let count = store.forget(&report.repository, &report.folder);
        let count = count.map_err(failed("cannot revoke trust"))?;
        let repository = shown(&report.repository);
        let count = counted(count, "version");
        writeln!(
            out,
            "no longer trusted: {repository} ({count} of its hooks)"
        )?;
    }
    Ok(ExitStatus::Yes)
}

impl SeenSet {
    fn screen(&self, config: &Config) -> String {
        let folder = shown(&self.report.folder);
        let state = if self.report.is_trusted() {
            "are trusted"
        } else if self.before.is_some() {
            "have changed since you trusted them"
        } else {
            "are not trusted yet"
        };
        let count = counted(self.files.files.len(), "file");
        let digest = self.files.digest();
        let mut text = format!("The hooks in {folder} {state}.\n  {count}, {digest}\n");
        let mut events: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for hook in self.hooks(config) {
            let name = match &hook.source.set {
                Some(set) => format!("{} (set {set})", hook.name),
                None => hook.name.clone(),
            };
            events.entry(&hook.event).or_default().push(plain(&name));
        }
        for (event, names) in events {
            let _ = writeln!(text, "  {:<16} {}", plain(event), names.join(", "));
        }
        text
    }

    /// The hooks of this folder, including those of its shared sets.
    fn hooks<'c>(&'c self, config: &'c Config) -> impl Iterator<Item = &'c Hook> {
        config.hooks.iter().filter(move |hook| {
            let own = hook.root.as_ref().unwrap_or(&config.project);
            let source = &hook.source;
            // A shared set's files are in the store, its lock is here.
            let file = match source.set {
                Some(_) => Path::new(LOCK),
                None => source.file.strip_prefix(own).unwrap_or(&source.file),
            };
            source.layer == LayerKind::Project
                && own.canonicalize().as_ref().unwrap_or(own) == &self.report.folder
                && self.report.parts.iter().any(|part| file.starts_with(part))
        })
    }

    /// The changes since the last trusted content; empty without one.
    fn diff(&self, store: &TrustStore) -> String {
        let Some(before) = &self.before else {
            return String::new();
        };
        let mut text = String::new();
        for path in before.changed(&self.files) {
            let old = before.files.iter().find(|mark| mark.path == path);
            let new = self.files.files.iter().find(|file| file.mark.path == path);
            let what = match (old, new.map(|file| &file.mark)) {
                (None, _) => "new".to_string(),
                (_, None) => "removed".to_string(),
                (Some(old), Some(new)) if old.mode == new.mode && old.link == new.link => {
                    "changed".to_string()
                }
                (Some(old), Some(new)) => format!("{} is now {}", described(old), described(new)),
            };
            let _ = writeln!(text, "{}: {what}", plain(path));
            let old = old
                .and_then(|old| store.trusted_text(&old.content))
                .unwrap_or_default();
            let new = new.map(text_of).unwrap_or_default();
            let diff = similar::udiff::unified_diff(similar::Algorithm::Myers, &old, &new, 3, None);
            for line in diff.lines() {
                let _ = writeln!(text, "  {}", plain(line));
            }
        }
        text
    }

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
    let link: String = mark.link.iter().map(|to| format!(" -> {to}")).collect();
    let content = &mark.content[..mark.content.len().min(12)];
    plain(&format!("{} {content} {}{link}", mark.mode, mark.path))
}

fn text_of(file: &ContentFile) -> String {
    match std::str::from_utf8(&file.bytes) {
        Ok(text) => text.to_string(),
        Err(_) => format!("({} bytes of binary data)\n", file.bytes.len()),
    }
}

fn shortened(diff: &str) -> String {
    let count = diff.lines().count();
    if count <= SHOWN_LINES {
        return diff.to_string();
    }
    let shown: String = diff.split_inclusive('\n').take(SHOWN_LINES).collect();
    let more = count - SHOWN_LINES;
    format!("{shown}({more} more lines: `hookrun trust --show`)\n")
}

fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy())
}

/// The note of commands that run or write untrusted project hooks.
pub(crate) fn untrusted_note(env: &Environment) -> Option<&'static str> {
    if reports(env).iter().all(TrustReport::is_trusted) {
        return None;
    }
    Some("agents and git do not run this project's hooks until you run `hookrun trust`")
}

/// The trust of each project folder with hooks.
fn reports(env: &Environment) -> Vec<TrustReport> {
    let choice = Choice {
        trust: Some(TrustChoice::Reported),
        ..Choice::default()
    };
    Config::load(&choice, env, ConfigScope::Events(&[]))
        .trust
        .reports
}

/// Runs `write`, which writes these files, and keeps trusted hooks trusted.
pub(crate) fn keeping(
    env: &Environment,
    written: &[PathBuf],
    write: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let kept = KeptTrust::before(&reports(env));
    write()?;
    let now = reports(env);
    let trusted = kept.after(&now, written, TrustStore::of(env).as_ref());
    trusted.map_err(failed("cannot write the trust record"))
}
