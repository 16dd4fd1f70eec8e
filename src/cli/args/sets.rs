//! The arguments of `sets`.

use std::path::PathBuf;

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
    /// Fetch the declared revisions, and lock them
    Update(UpdatedSets),
    /// Check the files of all locked sets, and fetch missing ones; the lock does not change
    Verify,
    /// Show which locked sets are behind their newest version, in these projects: 1 if one is
    Outdated(OutdatedSets),
    /// Show the sets, and whether they are usable
    List {
        /// The output format
        #[arg(long, value_enum, default_value_t = TextFormat::Human)]
        format: TextFormat,
    },
}

impl SetsAction {
    pub(crate) fn shape(&self) -> OutputShape {
        match self {
            SetsAction::List { format } => format.shape(),
            SetsAction::Outdated(args) if args.json => OutputShape::Json,
            SetsAction::Add(_) | SetsAction::Update(_) => OutputShape::People,
            SetsAction::Verify | SetsAction::Outdated(_) => OutputShape::People,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct AddedSet {
    /// The name of the set here
    pub(crate) name: String,

    /// Its repository: an https, ssh, git or file URL, or a path
    #[arg(long, value_name = "URL", allow_hyphen_values = true)]
    pub(crate) git: String,

    /// A tag, a branch or a full commit id
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    pub(crate) rev: String,

    /// Require a commit signature that `git verify-commit` accepts
    #[arg(long)]
    pub(crate) signed: bool,

    /// Declare it in your own hookrun.toml, for all projects
    #[arg(long)]
    pub(crate) user: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutdatedSets {
    /// Folders of projects [default: the working directory]
    #[arg(value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpdatedSets {
    /// Only this set [default: all sets whose lock you can write]
    #[arg(value_name = "SET")]
    pub(crate) name: Option<String>,

    /// Accept a tag that was moved to another commit
    #[arg(long)]
    pub(crate) moved: bool,
}
