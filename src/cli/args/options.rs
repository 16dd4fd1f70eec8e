//! Options that several commands share.

use std::path::PathBuf;

use crate::config::trust::TrustChoice;
use crate::config::{Choice, Environment};
pub(crate) use crate::engine::hook::parse_duration as duration;
use crate::hosts::{self, HostFolders, dialects, git, installable, native};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, ValueEnum};

use crate::cli::streams::OutputShape;
use crate::lab::report::CheckFormat;

#[derive(Default, Debug, Clone, PartialEq, Eq, Args)]
#[command(group = ArgGroup::new("named").args(["hooks", "settings"]).multiple(true))]
pub(crate) struct SourceArgs {
    /// Use only the hooks in this folder; repeatable
    ///
    /// The folder's hooks replace the system's, the user's and the project's. DIR is a folder with hooks.d/
    /// or hookrun.toml, or a hooks.d folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) hooks: Vec<PathBuf>,

    /// Use only this settings file of a host; repeatable
    ///
    /// The file's hooks replace the system's, the user's and the project's. FILE is a settings.json or
    /// hooks.json of Claude Code, Codex, Gemini CLI, Cursor or Copilot CLI, Codex's config.toml, or
    /// another agent's file. If the path does not identify the host, put its name first:
    /// claude:FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,

    /// Also use the system's, the user's and the project's hooks
    ///
    /// Requires --hooks or --settings, which otherwise replace these hooks.
    #[arg(long, requires = "named")]
    pub(crate) discover: bool,
}

impl SourceArgs {
    /// Where to find the hooks of a host.
    pub(crate) fn choice(&self, env: &Environment, host: &str) -> Choice {
        Choice {
            explicit: self.hooks.clone(),
            settings: self.settings.clone(),
            discover: self.discover,
            host_folders: HostFolders {
                roots: env.projects_of(host),
                cwd: None,
            },
            trust: None,
        }
    }

    /// As `choice`, for an event: project hooks need trust, or one of these `digests`.
    pub(crate) fn trusting(&self, digests: &[String], env: &Environment, host: &str) -> Choice {
        Choice {
            trust: Some(TrustChoice::Required {
                digests: digests.to_vec(),
            }),
            ..self.choice(env, host)
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct HooksArgs {
    /// Load the hooks as for an event of this host
    #[arg(long = "host", value_name = "NAME", value_parser = dialect_name(), default_value = native::NAME, hide_default_value = true, hide_possible_values = true)]
    pub(crate) dialect: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// For people
    Human,
    /// For programs
    Json,
}

impl TextFormat {
    pub(super) fn shape(self) -> OutputShape {
        match self {
            TextFormat::Human => OutputShape::People,
            TextFormat::Json => OutputShape::Json,
        }
    }
}

/// The formats of a run's report: each but the one for people.
pub(super) fn report_format() -> impl TypedValueParser<Value = CheckFormat> {
    let formats = CheckFormat::value_variants().iter();
    let formats = formats.filter(|format| **format != CheckFormat::Human);
    PossibleValuesParser::new(formats.filter_map(ValueEnum::to_possible_value))
        .try_map(|name| CheckFormat::from_str(&name, false))
}

pub(crate) fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs) if (1..=256).contains(&jobs) => Ok(jobs),
        _ => Err("use a number from 1 to 256".to_string()),
    }
}

/// Parses a full digest; a prefix proves nothing.
pub(crate) fn digest(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    if digits.len() == 64 && digits.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')) {
        return Ok(text.to_string());
    }
    Err("use `sha256:` and 64 hex digits, as printed by `hookrun trust --show`".to_string())
}

pub(super) fn dialect_name() -> PossibleValuesParser {
    names_of_dialects().into()
}

pub(super) fn dialect_or_git() -> PossibleValuesParser {
    let mut names = names_of_dialects();
    names.push(PossibleValue::new(git::NAME));
    names.into()
}

/// Dialects, and hosts that have a plugin instead.
pub(super) fn dialect_or_host() -> PossibleValuesParser {
    let mut names = names_of_dialects();
    let hosts = installable().filter(|host| hosts::find(host.name).is_none());
    names.extend(hosts.map(|host| PossibleValue::new(host.name)));
    names.into()
}

/// Agents with `install`.
pub(super) fn agent_name() -> PossibleValuesParser {
    let names = installable().map(|host| host.name);
    PossibleValuesParser::new(names)
}

/// Agents with `install`, and git.
pub(super) fn installable_name() -> PossibleValuesParser {
    let names = installable().map(|host| host.name);
    PossibleValuesParser::new(names.chain([git::NAME]))
}

fn names_of_dialects() -> Vec<PossibleValue> {
    let known = dialects()
        .map(|dialect| PossibleValue::new(dialect.name).aliases(dialect.aliases.iter().copied()));
    std::iter::once(PossibleValue::new(native::NAME))
        .chain(known)
        .collect()
}
