//! The arguments of `install`, `uninstall` and `doctor`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::options::{duration, installable_name};
use crate::lab::report::CheckFormat;

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// Install for every event of the host, also those without a hook; always with
    /// `--scope user`
    #[arg(long)]
    pub(crate) all_events: bool,

    /// Only for git: the time limit of a whole run; after it hookrun blocks where git allows it
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) budget: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The host
    #[arg(value_parser = installable_name())]
    pub(crate) host: Option<String>,

    /// All hosts found here
    #[arg(long, conflicts_with = "host")]
    pub(crate) all: bool,

    /// The settings to change [default: the project's, if the host reads any there]
    #[arg(long, value_enum)]
    pub(crate) scope: Option<SettingsScope>,

    /// Print the changes as a unified diff, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsScope {
    /// The settings that the project shares
    Project,
    /// Your settings in this project, not committed
    Local,
    /// Your settings, in every project
    User,
}

impl SettingsScope {
    pub(crate) const ALL: [SettingsScope; 3] = [
        SettingsScope::Project,
        SettingsScope::Local,
        SettingsScope::User,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            SettingsScope::Project => "project",
            SettingsScope::Local => "local",
            SettingsScope::User => "user",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Check only this host
    #[arg(value_parser = installable_name())]
    pub(crate) host: Option<String>,

    /// The output format
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}
