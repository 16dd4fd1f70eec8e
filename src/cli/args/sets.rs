//! The arguments of `sets`.

use clap::{Args, Subcommand};

use super::options::TextFormat;
use crate::cli::streams::OutputShape;

#[derive(Debug, Args)]
pub(crate) struct SetsArgs {
    #[command(subcommand)]
    pub(crate) action: SetsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SetsAction {
    /// Declare a set in hookrun.toml, fetch it and lock it
    Add(AddedSet),
    /// Fetch what is declared, and lock it
    Update(UpdatedSets),
    /// Check the files of all locked sets, and fetch those that are missing; the lock stays as it is
    Verify,
    /// Show the sets, and whether they can be used
    List {
        /// How to show them
        #[arg(long, value_enum, default_value_t = TextFormat::Human)]
        format: TextFormat,
    },
}

impl SetsAction {
    pub(crate) fn shape(&self) -> OutputShape {
        match self {
            SetsAction::List { format } => format.shape(),
            SetsAction::Add(_) | SetsAction::Update(_) | SetsAction::Verify => OutputShape::People,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct AddedSet {
    /// What to call it here
    pub(crate) name: String,

    /// The repository that it is in: an https, ssh, git or file URL, or a path
    #[arg(long, value_name = "URL", allow_hyphen_values = true)]
    pub(crate) git: String,

    /// A tag, a branch or a whole commit of the repository
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    pub(crate) rev: String,

    /// Take it only if `git verify-commit` accepts the signature of the commit
    #[arg(long)]
    pub(crate) signed: bool,

    /// Declare it in your own hookrun.toml, for all projects
    #[arg(long)]
    pub(crate) user: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpdatedSets {
    /// Only this set [default: all whose lock you may write]
    #[arg(value_name = "SET")]
    pub(crate) name: Option<String>,

    /// Take a tag that names another commit than the locked one
    #[arg(long)]
    pub(crate) moved: bool,
}
