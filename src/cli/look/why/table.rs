//! `why --stats`: what hooks have decided and cost, as a table and as bars, in the columns of the terminal.

use std::io::Write;

use crate::lab::report::plain;
use crate::lab::report::style::{BOLD, counted};
use crate::log::stats::{HookStats, Latencies, Stats, by_cost};
use anstyle::{AnsiColor, Style};
use serde_json::json;

use crate::cli::exit::Result;

const BAR: Style = AnsiColor::Cyan.on_default();

const COLUMNS: usize = 80;

/// Columns of a hook's figures, and of those that a narrow terminal leaves out.
const FIGURES: usize = 60;
const LEFT_OUT: usize = 12;

/// Columns before a bar, without the name.
const BEFORE_BAR: usize = 13;

const NAMES: (usize, usize) = (10, 50);

/// How many hooks get a bar; the table has all.
const MOST_BARS: usize = 15;

/// The upper ends of the rows of the histogram, in milliseconds.
const BOUNDS: &[f64] = &[
    1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 5000.0,
];

/// How to draw: in Unicode if the terminal has it, and in its columns.
#[derive(Debug, Clone, Copy)]
struct Pen {
    is_utf8: bool,
    is_narrow: bool,
    name: usize,
    bar: usize,
}

impl Pen {
    fn of(is_utf8: bool, columns: Option<usize>) -> Pen {
        let columns = columns.unwrap_or(COLUMNS);
        let is_narrow = columns < COLUMNS;
        let figures = if is_narrow {
            FIGURES - LEFT_OUT
        } else {
            FIGURES
        };
        let name = columns.saturating_sub(figures).clamp(NAMES.0, NAMES.1);
        let bar = columns.saturating_sub(name + BEFORE_BAR).clamp(10, 40);
        Pen {
            is_utf8,
            is_narrow,
            name,
            bar,
        }
    }
}

pub(super) fn human(
    stats: &Stats,
    is_utf8: bool,
    columns: Option<usize>,
    out: &mut dyn Write,
) -> Result<()> {
    let pen = Pen::of(is_utf8, columns);
    let width = pen.name;
    let (allowed, refused, asked) = (stats.allowed, stats.refused, stats.asked);
    let decisions = counted(stats.decisions, "decision");
    writeln!(
        out,
        "{BOLD}{decisions}{BOLD:#}: {allowed} allowed, {refused} blocked, {asked} asked"
    )?;
    if let Some((first, last)) = &stats.span {
        writeln!(out, "from {} to {}", plain(first), plain(last))?;
    }
    let hooks = by_cost(&stats.hooks);
    if hooks.is_empty() {
        writeln!(out, "\nNo hook was run.")?;
        return Ok(());
    }
    let (asked, p90) = pen.left_out("asked", "p90");
    writeln!(
        out,
        "\n{BOLD}{:<width$}{:>7}{:>8}{asked}{:>7}{:>6}{p90}{:>6}{:>6}{:>8}{BOLD:#}",
        "hook", "calls", "blocked", "failed", "p50", "p99", "max", "total"
    )?;
    for (name, hook) in &hooks {
        let HookStats {
            calls,
            refusals,
            questions,
            failures,
            latencies,
        } = hook;
        let time = |share: f64| pen.time(latencies.percentile_ms(share));
        let (asked, p90) = pen.left_out(&questions.to_string(), &time(0.9));
        writeln!(
            out,
            "{:<width$}{calls:>7}{refusals:>8}{asked}{failures:>7}{:>6}{p90}{:>6}{:>6}{:>8}",
            pen.name(name),
            time(0.5),
            time(0.99),
            pen.time(latencies.max_ms()),
            pen.time(latencies.total_ms()),
        )?;
    }
    totals(&hooks, pen, out)?;
    histogram(&stats.latencies, pen, out)
}

fn totals(hooks: &[(&String, &HookStats)], pen: Pen, out: &mut dyn Write) -> Result<()> {
    let all: f64 = hooks
        .iter()
        .map(|(_, hook)| hook.latencies.total_ms())
        .sum();
    let most = hooks
        .first()
        .map_or(0.0, |(_, hook)| hook.latencies.total_ms());
    let width = pen.name;
    writeln!(out, "\n{BOLD}time in all{BOLD:#}")?;
    for (name, hook) in hooks.iter().take(MOST_BARS) {
        let total = hook.latencies.total_ms();
        let share = if all > 0.0 { 100.0 * total / all } else { 0.0 };
        let bar = pen.bar(total, most);
        writeln!(
            out,
            "{:<width$}{:>7} {:>3.0}% {BAR}{bar}{BAR:#}",
            pen.name(name),
            pen.time(total),
            share
        )?;
    }
    if hooks.len() > MOST_BARS {
        writeln!(out, "and {} more hooks", hooks.len() - MOST_BARS)?;
    }
    Ok(())
}

fn histogram(latencies: &Latencies, pen: Pen, out: &mut dyn Write) -> Result<()> {
    let counts = latencies.histogram(BOUNDS);
    let first = counts.iter().position(|count| *count > 0).unwrap_or(0);
    let last = counts.iter().rposition(|count| *count > 0).unwrap_or(0);
    let most = counts.iter().copied().max().unwrap_or(0);
    writeln!(out, "\n{BOLD}how long a call took{BOLD:#}")?;
    for (row, count) in counts.iter().enumerate().take(last + 1).skip(first) {
        let label = match (
            row.checked_sub(1).map(|below| BOUNDS[below]),
            BOUNDS.get(row),
        ) {
            (None, Some(above)) => format!("under {}", pen.time(*above)),
            (Some(below), Some(above)) => format!("{} to {}", pen.time(below), pen.time(*above)),
            (below, None) => format!("{} and more", pen.time(below.unwrap_or(0.0))),
        };
        #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
        let bar = pen.bar(*count as f64, most as f64);
        writeln!(
            out,
            "{label:<width$}{count:>7}      {BAR}{bar}{BAR:#}",
            width = pen.label()
        )?;
    }
    Ok(())
}

impl Pen {
    /// The two figures that a narrow terminal leaves out, each in its columns.
    fn left_out(self, asked: &str, p90: &str) -> (String, String) {
        match self.is_narrow {
            true => (String::new(), String::new()),
            false => (format!("{asked:>6}"), format!("{p90:>6}")),
        }
    }

    fn label(self) -> usize {
        self.name.max(15)
    }

    /// A bar for a part of the most, of eighths of a column where there are such signs. What is
    /// not nothing is seen.
    fn bar(self, value: f64, most: f64) -> String {
        if value <= 0.0 || most <= 0.0 {
            return String::new();
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "at most 320 eighths"
        )]
        let eighths = ((value / most * (self.bar * 8) as f64).round() as usize).max(1);
        if !self.is_utf8 {
            return "#".repeat(eighths.div_ceil(8));
        }
        let part = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8];
        let mut bar = "█".repeat(eighths / 8);
        if part != ' ' {
            bar.push(part);
        }
        bar
    }

    fn name(self, name: &str) -> String {
        let name = plain(name);
        if name.chars().count() < self.name {
            return name;
        }
        let (end, kept) = if self.is_utf8 {
            ("…", self.name - 2)
        } else {
            ("..", self.name - 3)
        };
        let mut short: String = name.chars().take(kept).collect();
        short.push_str(end);
        short
    }

    /// A time in at most five columns.
    fn time(self, ms: f64) -> String {
        let us = if self.is_utf8 { "µs" } else { "us" };
        match ms {
            ms if ms <= 0.0 => "0".to_string(),
            ms if ms < 0.9995 => format!("{:.0}{us}", ms * 1e3),
            ms if ms < 9.95 => format!("{}ms", short(ms)),
            ms if ms < 999.5 => format!("{ms:.0}ms"),
            ms if ms < 9_950.0 => format!("{}s", short(ms / 1e3)),
            ms if ms < 999_500.0 => format!("{:.0}s", ms / 1e3),
            ms if ms < 5_970_000.0 => format!("{:.0}min", ms / 60e3),
            ms => format!("{:.0}h", ms / 3600e3),
        }
    }
}

/// One decimal, unless it is 0.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0")
        .map_or_else(|| text.clone(), str::to_string)
}

pub(super) fn json(stats: &Stats, out: &mut dyn Write) -> Result<()> {
    let hook = |(name, hook): (&String, &HookStats)| {
        let times = &hook.latencies;
        json!({
            "name": name,
            "calls": hook.calls,
            "refusals": hook.refusals,
            "questions": hook.questions,
            "failures": hook.failures,
            "p50Ms": times.percentile_ms(0.5),
            "p90Ms": times.percentile_ms(0.9),
            "p99Ms": times.percentile_ms(0.99),
            "maxMs": times.max_ms(),
            "totalMs": times.total_ms(),
        })
    };
    let (from, to) = stats.span.clone().unzip();
    let all = json!({
        "version": 1,
        "decisions": stats.decisions,
        "allowed": stats.allowed,
        "refused": stats.refused,
        "asked": stats.asked,
        "from": from,
        "to": to,
        "hooks": by_cost(&stats.hooks).into_iter().map(hook).collect::<Vec<_>>(),
    });
    writeln!(out, "{all:#}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_five_columns() {
        let pen = Pen::of(true, None);
        let shown: Vec<String> = [
            0.0, 0.0123, 0.85, 0.9999, 1.0, 3.12, 9.96, 120.4, 999.9, 1234.0, 65_000.0, 7.2e6,
        ]
        .into_iter()
        .map(|ms| pen.time(ms))
        .collect();
        assert_eq!(
            shown,
            [
                "0", "12µs", "850µs", "1ms", "1ms", "3.1ms", "10ms", "120ms", "1s", "1.2s", "65s",
                "2h"
            ]
        );
        for power in 0..60 {
            assert!(
                pen.time(1.37_f64.powi(power) / 1e3).chars().count() <= 5,
                "{power}"
            );
        }
    }

    #[test]
    fn the_table_fits_into_the_terminal() {
        let stats = || {
            let hook = HookStats {
                calls: 3,
                ..HookStats::default()
            };
            let hooks = [("a".repeat(70), hook)].into_iter().collect();
            Stats {
                decisions: 3,
                hooks,
                ..Stats::default()
            }
        };
        for (columns, shown) in [(60, 12), (79, 31), (80, 20), (100, 40), (300, 50)] {
            let mut out = Vec::new();
            human(&stats(), true, Some(columns), &mut out).unwrap();
            let text = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
            assert!(
                text.lines().all(|line| line.chars().count() <= columns),
                "{columns}: {text}"
            );
            let name = format!("{}… ", "a".repeat(shown - 2));
            assert!(text.contains(&name), "{columns}: {text}");
        }
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        let (blocks, ascii) = (Pen::of(true, None), Pen::of(false, None));
        assert_eq!(blocks.bar(10.0, 10.0), "█".repeat(40));
        assert_eq!(blocks.bar(1.0, 64.0), "▋");
        assert_eq!(blocks.bar(0.0001, 10.0), "▏");
        assert_eq!(
            (ascii.bar(5.0, 10.0), ascii.bar(0.0, 10.0)),
            ("#".repeat(20), String::new())
        );
    }
}
