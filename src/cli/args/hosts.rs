//! The arguments of the commands that look after hosts: `install`, `uninstall` and `doctor`.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::problem_format;
use crate::install::hosts::HOSTS;

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// Install for every event that the host tells, not only for those that a hook wants
    #[arg(long)]
    pub(crate) all_events: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The host
    #[arg(value_parser = host_name())]
    pub(crate) host: String,

    /// Whose settings: those of the project, or your own
    #[arg(long, value_enum, default_value_t = SettingsScope::Project)]
    pub(crate) scope: SettingsScope,

    /// Change nothing; print what would change, as a unified diff
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Whose settings a host reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsScope {
    /// Those of everybody who works in the project
    Project,
    /// Those of the user, in every project
    User,
}

impl SettingsScope {
    /// Both.
    pub(crate) const ALL: [SettingsScope; 2] = [SettingsScope::Project, SettingsScope::User];

    /// The word for it.
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
    #[arg(value_parser = host_name())]
    pub(crate) host: Option<String>,

    /// How to report
    #[arg(long, default_value = "human", value_parser = problem_format())]
    pub(crate) format: String,
}

fn host_name() -> PossibleValuesParser {
    HOSTS.iter().map(|host| host.name).into()
}
