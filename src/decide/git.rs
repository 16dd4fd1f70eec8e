//! Runs git for the decision of one event, within the event's time and until it is aborted.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::engine::complaint::Complaint;
use crate::engine::errand::{Errand, ErrandEnd};
use crate::engine::exec::{Abort, Budget, Heartbeat};
use crate::engine::hook::duration_text;
use crate::engine::names::words;
use crate::engine::run::interruption;

const LISTING: Duration = Duration::from_secs(30);

/// Time limit of a git call that writes files, which filters may fetch from a server.
const WRITING: Duration = Duration::from_secs(300);

const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// Time for hookrun's work between git calls.
pub(crate) const OWN_WORK: Duration = Duration::from_secs(30);

/// No needless locks, no altered history, no prompts, no translations.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// Disable anything that runs programs or fails because of line endings.
const SETTINGS: &[&str] = words!(
    "core.hooksPath=/dev/null" "core.safecrlf=false" "submodule.recurse=false" "gc.auto=0"
    "maintenance.auto=false"
);

#[derive(Debug, Clone)]
pub(crate) struct EventGit {
    pub(crate) abort: Abort,
    pub(crate) heartbeat: Heartbeat,
    pub(crate) budget: Option<Budget>,
}

pub(crate) struct GitCall<'g> {
    git: &'g EventGit,
    errand: Errand,
    limit: Duration,
    is_finished: bool,
}

impl EventGit {
    pub(crate) fn call<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> GitCall<'_> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let mut words: Vec<OsString> = settings.map(OsString::from).collect();
        words.extend(arguments.into_iter().map(|word| word.as_ref().to_owned()));
        let mut errand = Errand::new("git", words, Duration::ZERO);
        errand.command.envs(VARIABLES.iter().copied());
        errand.kept_bytes = MOST_BYTES + 1;
        GitCall {
            git: self,
            errand,
            limit: LISTING,
            is_finished: false,
        }
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.abort.times_raised() > 0
    }

    /// Returns the rest of the event's time, or `most` without a budget.
    pub(crate) fn left(&self, most: Duration) -> Duration {
        self.budget.map_or(most, |budget| {
            budget.until.saturating_duration_since(Instant::now())
        })
    }
}

impl GitCall<'_> {
    #[must_use]
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        self.errand.command.current_dir(folder);
        self
    }

    #[must_use]
    pub(crate) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.errand.command.env(name, value);
        self
    }

    #[must_use]
    pub(crate) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.errand.stdin = bytes;
        self
    }

    #[must_use]
    pub(crate) fn writing(mut self) -> Self {
        self.limit = WRITING;
        self
    }

    /// Does not kill it when the event is aborted, since it changes the user's index and would
    /// leave its lock.
    #[must_use]
    pub(crate) fn finished(mut self) -> Self {
        self.is_finished = true;
        self
    }

    /// Returns its stdout, or an error that git cannot do `what`.
    pub(crate) fn read(self, what: &str) -> Result<Vec<u8>, Complaint> {
        let output = self.run(what)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let printed = String::from_utf8_lossy(&output.stderr);
        let mut why = printed.trim_end();
        if printed.contains("usage: git diff --no-index") {
            why = "this is not a git repository";
        }
        if why.is_empty() {
            why = "no error message";
        }
        Err(Complaint::new(format!("git cannot {what}: {why}")))
    }

    /// Returns status and output. Fails if it cannot start, exceeds its time, or prints too much.
    pub(crate) fn run(mut self, what: &str) -> Result<Output, Complaint> {
        let git = self.git;
        let limit = git.budget.map_or(self.limit, |budget| budget.whole);
        git.heartbeat.expect_within(limit.saturating_add(OWN_WORK));
        self.errand.limit = git.left(self.limit);
        let is_finished = self.is_finished;
        let ended = self
            .errand
            .run(|| !is_finished && git.is_aborted())
            .map_err(|error| Complaint::new(format!("git cannot {what}: {error}")))?;
        git.heartbeat.expect_within(OWN_WORK);
        match ended {
            ErrandEnd::Exited(output) if output.stdout.len() as u64 <= MOST_BYTES => Ok(output),
            ErrandEnd::Exited(_) => {
                let cause = format!(
                    "git cannot {what}: the output exceeds {} MiB",
                    MOST_BYTES >> 20
                );
                Err(Complaint::new(cause))
            }
            ErrandEnd::Held | ErrandEnd::Killed if git.is_aborted() => {
                let cause = interruption(git.abort.signal());
                Err(Complaint::with_cure(cause, "run the git command again"))
            }
            ErrandEnd::Held | ErrandEnd::Killed => {
                let limit = duration_text(limit);
                Err(Complaint::new(format!("git did not {what} within {limit}")))
            }
        }
    }
}
