//! The log of what hookrun does, on stderr. Built only if `--log` or HOOKRUN_LOG wants it.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::cli::exit::{CommandFailure, Result, failed};
use crate::cli::streams::LogStream;

/// Logs at `level`, or by the directives of tracing's filters (`crate::engine::exec=debug`).
pub(crate) fn subscribe(level: Option<&str>) -> Result<()> {
    let Some(level) = level else { return Ok(()) };
    let wrong = || {
        CommandFailure::with_help(
            format!("`{level}` is not a log level"),
            "use error, warn, info, debug or trace",
        )
    };
    // tracing takes a word that is no level for the name of a module, and logs nothing.
    let is_level = |word: &str| !word.is_empty() && word.parse::<LevelFilter>().is_ok();
    let is_known = |word: &str| word.contains(['=', ':']) || is_level(word);
    if !level.split(',').all(is_known) {
        return Err(wrong());
    }
    let filter = EnvFilter::builder().parse(level).map_err(|_| wrong())?;
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| LogStream);
    let ready = subscriber.with_ansi(false).try_init();
    ready.map_err(failed("cannot log"))
}
