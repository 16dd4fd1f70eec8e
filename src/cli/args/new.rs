//! What `hookrun new` takes.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// What the hook is called, without the ending that its language has; or the case
    pub(crate) name: String,

    /// The event that it runs on, by its name or a host's name for it, or one that you declare
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// Write no hook, but a case that expects what was decided last, as `hookrun why` shows it
    #[arg(long, conflicts_with_all = ["event", "lang"])]
    pub(crate) from_last: bool,

    /// Take the last decision of this file, a recording for example, instead of the decision log
    #[arg(long, value_name = "FILE", requires = "from_last", conflicts_with = "event")]
    pub(crate) file: Option<PathBuf>,

    /// What it does to begin with: guard commands, ask a person, rewrite a command, redact what a
    /// tool said, give the model context, have the tests pass first, or report findings [default:
    /// what most hooks of the event do]
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "from_last")]
    pub(crate) template: Option<String>,

    /// The language that it is written in [default: sh; python for what a shell cannot write]
    #[arg(long, value_name = "LANG")]
    pub(crate) lang: Option<String>,

    /// Write into this folder (with hooks.d/ or hookrun.toml, or a hooks.d itself) instead of
    /// the project's; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub(crate) hooks: Option<PathBuf>,

    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
