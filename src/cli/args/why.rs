//! The arguments of `why`.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;

use super::options::{Expected, TextFormat, duration};

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// So many decisions, the newest first [default: 1]
    #[arg(short = 'n', long = "number", value_name = "N", value_parser = number)]
    pub(crate) number: Option<usize>,

    /// All of them; with -n the newest so many
    #[arg(long)]
    pub(crate) all: bool,

    /// A line for each, and not a page
    #[arg(long, conflicts_with = "stats")]
    pub(crate) brief: bool,

    /// Count all of them: what each hook has decided, how long it took, and what it has cost
    #[arg(long)]
    pub(crate) stats: bool,

    /// Read this file, a recording for example, instead of the decision log; can be given several
    /// times, the newest first
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,

    /// How to report; as JSON a decision is the line that was kept
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

/// Which decisions are meant.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which decisions")]
pub(crate) struct FilterArgs {
    /// Those of all projects, and not only of this one. With --file it is so
    #[arg(long)]
    pub(crate) everywhere: bool,

    /// Those of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Those for which this hook was run
    #[arg(long, value_name = "HOOK")]
    pub(crate) hook: Option<String>,

    /// Those of this event, by its name or a host's name for it
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// Those with this outcome
    #[arg(long, value_enum, value_name = "DECISION")]
    pub(crate) decision: Option<Expected>,

    /// Those for events of this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,

    /// Those since then: a time like `2h` before now, or a moment like 2026-01-31T09:30:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<SystemTime>,

    /// Those until then
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<SystemTime>,

    /// Those with a hook that failed, or a failure of hookrun's own
    #[arg(long)]
    pub(crate) failed: bool,
}

fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("write a number from 1 on".to_string()),
    }
}

/// A time before now, or a moment.
fn moment(text: &str) -> Result<SystemTime, String> {
    if let Ok(before) = duration(text) {
        let moment = SystemTime::now().checked_sub(before);
        let moment = moment.filter(|moment| *moment >= SystemTime::UNIX_EPOCH);
        return moment.ok_or_else(|| "that is before 1970, when nothing was kept".to_string());
    }
    let whole = [text.to_string(), format!("{text}Z"), format!("{text}T00:00:00Z")];
    let found = whole.iter().find_map(|text| humantime::parse_rfc3339_weak(text).ok());
    found.ok_or_else(|| "write `2h`, `2026-01-31` or `2026-01-31T09:30:00Z` (UTC)".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_moment_is_a_date_a_time_or_so_long_ago() {
        let at = |text| humantime::format_rfc3339_seconds(moment(text).unwrap()).to_string();
        assert_eq!(at("2026-01-31"), "2026-01-31T00:00:00Z");
        assert_eq!(at("2026-01-31T09:30:00"), "2026-01-31T09:30:00Z");
        assert_eq!(at("2026-01-31 09:30:00"), "2026-01-31T09:30:00Z");
        assert_eq!(at("2026-01-31T09:30:00.5Z"), "2026-01-31T09:30:00Z");
        let ago = moment("2h").unwrap().elapsed().unwrap();
        assert!(ago >= Duration::from_secs(7200) && ago < Duration::from_secs(7300));
        assert!(moment("yesterday").is_err());
        for long in ["60y", "500000h", "99999999999999h"] {
            assert!(moment(long).is_err(), "{long}");
        }
    }
}
