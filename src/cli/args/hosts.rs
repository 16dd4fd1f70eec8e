//! The arguments of the commands that look after hosts: `install`, `uninstall` and `doctor`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::options::{SourceArgs, duration};
use crate::engine::complaint::Complaint;
use crate::lab::report::CheckFormat;

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// Install for every event of the host, not only for those that have a hook;
    /// `--scope user` always does
    #[arg(long)]
    pub(crate) all_events: bool,

    #[command(flatten)]
    pub(crate) git: GitArgs,
}

// Only for git's scripts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Only for git")]
pub(crate) struct GitArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// How long everything may take each time; then hookrun blocks what can be blocked
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) budget: Option<Duration>,
}

impl GitArgs {
    pub(crate) fn are_given(&self) -> bool {
        let source = &self.source;
        !source.hooks.is_empty() || !source.settings.is_empty() || self.budget.is_some()
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The host
    pub(crate) host: Option<String>,

    /// Every host that is found here
    #[arg(long, conflicts_with = "host")]
    pub(crate) all: bool,

    /// Whose settings: those of the project, or your own. Without it the project's, if the host reads
    /// any there
    #[arg(long, value_enum)]
    pub(crate) scope: Option<GivenScope>,

    /// Change nothing, but print what would change; settings as a unified diff
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GivenScope {
    /// The settings that the whole project shares; for git, the repository's hooks
    Project,
    /// Those of the user, in every project
    User,
    /// Only for git: the repository's hooks
    Repo,
    /// Only for git: those of all repositories of the user
    Global,
}

impl PlaceArgs {
    /// The scope that is meant where every host has it.
    pub(crate) fn scope(&self) -> GivenScope {
        self.scope.unwrap_or(GivenScope::Project)
    }
}

impl GivenScope {
    pub(crate) fn settings(self) -> SettingsScope {
        match self {
            GivenScope::Project | GivenScope::Repo => SettingsScope::Project,
            GivenScope::User | GivenScope::Global => SettingsScope::User,
        }
    }

    /// The scope that is meant where there is no git.
    pub(crate) fn of_host(self, host: &str) -> Result<SettingsScope, Complaint> {
        let (typed, meant) = match self {
            GivenScope::Project | GivenScope::User => return Ok(self.settings()),
            GivenScope::Repo => ("repo", "project"),
            GivenScope::Global => ("global", "user"),
        };
        Err(Complaint::with_cure(
            format!("`--scope {typed}` is a scope of git, and {host} has none"),
            format!("did you mean `--scope {meant}`?"),
        ))
    }
}

/// Which settings of a host: those that everybody in a project shares, or the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsScope {
    Project,
    User,
}

impl SettingsScope {
    pub(crate) const ALL: [SettingsScope; 2] = [SettingsScope::Project, SettingsScope::User];

    pub(crate) fn name(self) -> &'static str {
        match self {
            SettingsScope::Project => "project",
            SettingsScope::User => "user",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Look only at this host
    pub(crate) host: Option<String>,

    /// How to report
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}
