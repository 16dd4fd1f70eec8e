//! The arguments of the commands that look after hosts: `install`, `uninstall` and `doctor`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::options::{duration, installable_name};
use crate::lab::report::CheckFormat;

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// Install for every event of the host, not only for those that have a hook;
    /// `--scope user` always does
    #[arg(long)]
    pub(crate) all_events: bool,

    /// Only for git: how long everything may take each time; then hookrun blocks what can be blocked
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) budget: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The host
    #[arg(value_parser = installable_name())]
    pub(crate) host: Option<String>,

    /// Every host that is found here
    #[arg(long, conflicts_with = "host")]
    pub(crate) all: bool,

    /// Whose settings. Without it the project's, if the host reads any there
    #[arg(long, value_enum)]
    pub(crate) scope: Option<SettingsScope>,

    /// Change nothing, but print what would change; settings as a unified diff
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Which settings of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsScope {
    /// The settings that everybody in the project shares
    Project,
    /// Your own settings in this project, which are not committed
    Local,
    /// Your own settings, in every project
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
    /// Look only at this host
    #[arg(value_parser = installable_name())]
    pub(crate) host: Option<String>,

    /// How to report
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}
