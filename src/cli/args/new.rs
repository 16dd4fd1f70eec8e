//! What `hookrun new` takes.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::new::templates::LANGUAGES;

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// What the hook is called; the ending comes from the language
    pub(crate) name: String,

    /// The event that it is asked about, by its name or a host's name for it, or one of your own
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: String,

    /// The language that it is written in
    #[arg(long, value_name = "LANG", value_parser = language(), default_value = LANGUAGES[0].name)]
    pub(crate) lang: String,

    /// Write it into this folder (with hooks.d/ or hookrun.toml, or a hooks.d itself) instead of
    /// the project's; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub(crate) hooks: Option<PathBuf>,

    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

fn language() -> PossibleValuesParser {
    LANGUAGES.iter().map(|language| language.name).into()
}
