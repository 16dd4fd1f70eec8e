//! The arguments of `sets`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

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
    /// Fetch what is declared, show which recorded decisions would change, and lock it
    Update(UpdatedSets),
    /// Check the files of all locked sets, and fetch those that are missing; the lock stays as it is
    Verify,
    /// Copy the files of a set into a folder
    Vendor {
        /// The set
        #[arg(value_name = "SET")]
        name: String,

        /// The folder, which must not be there yet
        folder: PathBuf,
    },
    /// Show the sets, and whether they can be used
    List {
        /// How to show them
        #[arg(long, value_enum, default_value_t = TextFormat::Human)]
        format: TextFormat,
    },
    /// Show who declares a set, and which hooks and files it brings
    Why {
        /// The set
        #[arg(value_name = "SET")]
        name: String,
    },
}

impl SetsAction {
    pub(crate) fn shape(&self) -> OutputShape {
        match self {
            SetsAction::List { format } => format.shape(),
            SetsAction::Add(_)
            | SetsAction::Update(_)
            | SetsAction::Verify
            | SetsAction::Vendor { .. }
            | SetsAction::Why { .. } => OutputShape::People,
        }
    }
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("source").args(["git", "path", "archive"]).required(true))]
pub(crate) struct AddedSet {
    /// What to call it here
    pub(crate) name: String,

    /// The repository that it is in: an https, ssh, git or file URL, or a path
    #[arg(long, value_name = "URL", allow_hyphen_values = true, requires = "rev")]
    pub(crate) git: Option<String>,

    /// A tag, a branch or a whole commit of the repository
    #[arg(long, value_name = "REV", allow_hyphen_values = true, requires = "git")]
    pub(crate) rev: Option<String>,

    /// The folder that it is in
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,

    /// The `.tar` or `.tar.gz` that it is in: an https or file URL, or a path
    #[arg(long, value_name = "URL", allow_hyphen_values = true)]
    pub(crate) archive: Option<String>,

    /// Take it only if one of the SSH keys in this file has signed the tag or the commit
    #[arg(long, value_name = "FILE", requires = "git")]
    pub(crate) allowed_signers: Option<PathBuf>,

    /// Take it only if this key of minisign has signed its list of files
    #[arg(long, value_name = "KEY", conflicts_with = "allowed_signers")]
    pub(crate) minisign: Option<String>,

    /// Declare it in your own hookrun.toml, for all projects
    #[arg(long)]
    pub(crate) user: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpdatedSets {
    /// Only this set [default: all whose lock you may write]
    #[arg(value_name = "SET")]
    pub(crate) name: Option<String>,

    /// Take a tag that names another commit than the locked one, or another archive of a URL
    #[arg(long)]
    pub(crate) moved: bool,

    /// Show what would change, and write no lock
    #[arg(long)]
    pub(crate) dry_run: bool,
}
