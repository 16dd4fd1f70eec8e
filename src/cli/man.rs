//! `hookrun man [PAGE]`: manual pages. Those of the commands are made from the arguments; those
//! of the contract and of `hookrun.toml` are written by hand.

mod readable;

use std::fs::{self, OpenOptions};
use std::io::{IsTerminal, Write};

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::spelling;
use clap_mangen::Man;

use crate::cli::args::ManArgs;
use crate::cli::errand;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::help;
use crate::cli::streams;

use readable::readable;

/// How long lines are in a pipe, and at most at a terminal.
const WIDTH: usize = 100;

/// Pages written by hand: name, section, text.
const WRITTEN: &[(&str, &str, &str)] = &[
    (
        "hookrun-hook",
        "5",
        include_str!("../../man/hookrun-hook.5"),
    ),
    (
        "hookrun.toml",
        "5",
        include_str!("../../man/hookrun.toml.5"),
    ),
    (
        "hookrun-suite",
        "5",
        include_str!("../../man/hookrun-suite.5"),
    ),
];

struct ManualPage {
    name: String,
    section: &'static str,
    /// For `man`.
    text: String,
}

/// Shows one page as text, or writes all of them into a folder.
pub(crate) fn man(args: &ManArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let pages = pages()?;
    if let Some(folder) = &args.dir {
        let cannot = failed(format!("cannot write into `{}`", folder.display()));
        fs::create_dir_all(folder).map_err(&cannot)?;
        for page in &pages {
            let file = folder.join(format!("{}.{}", page.name, page.section));
            fs::write(file, &page.text).map_err(&cannot)?;
        }
        return Ok(ExitStatus::Yes);
    }
    let wanted = args.page.as_deref().unwrap_or("hookrun");
    let is_wanted = |page: &&ManualPage| {
        page.name == wanted
            || page
                .name
                .strip_prefix("hookrun-")
                .is_some_and(|rest| rest == wanted)
    };
    let Some(page) = pages.iter().find(is_wanted) else {
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        let short = names
            .iter()
            .filter_map(|name| name.strip_prefix("hookrun-"));
        let help = spelling::did_you_mean(
            spelling::nearest(wanted, names.iter().copied().chain(short)),
            || format!("there are {}", names.join(", ")),
        );
        return Err(Complaint::with_cure(
            format!("no manual page `{wanted}`"),
            help,
        ));
    };
    if !std::io::stdout().is_terminal() || !is_read(page, env) {
        let width = streams::columns().map_or(WIDTH, |columns| columns.min(WIDTH));
        out.write_all(readable(&page.text, width).as_bytes())?;
    }
    Ok(ExitStatus::Yes)
}

/// Shows the page with `man`. Whether that worked.
fn is_read(page: &ManualPage, env: &Environment) -> bool {
    let Ok(folder) = tempfile::Builder::new()
        .prefix("hookrun-man")
        .tempdir_in(&env.temporary)
    else {
        return false;
    };
    let file = folder
        .path()
        .join(format!("{}.{}", page.name, page.section));
    let Ok(terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty") else {
        return false;
    };
    let is_written = fs::write(&file, &page.text).is_ok();
    let words = ["man".to_string()];
    let ended = is_written.then(|| errand::open_at_terminal(&words, &file, &terminal, || false));
    matches!(ended, Some(Ok(Some(status))) if status.success())
}

pub(crate) fn names() -> Vec<String> {
    pages()
        .unwrap_or_default()
        .into_iter()
        .map(|page| page.name)
        .collect()
}

fn pages() -> Result<Vec<ManualPage>> {
    let mut root = help::command_line();
    root.build();
    let mut pages = vec![page(&root, "hookrun".to_string())?];
    add_pages(&root, "hookrun", &mut pages)?;
    for (name, section, text) in WRITTEN {
        pages.push(ManualPage {
            name: (*name).to_string(),
            section,
            text: (*text).to_string(),
        });
    }
    Ok(pages)
}

/// The pages of the commands below `parent`, and of theirs.
fn add_pages(parent: &clap::Command, name: &str, pages: &mut Vec<ManualPage>) -> Result<()> {
    for command in parent
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        if command.get_name() != "help" {
            let name = format!("{name}-{}", command.get_name());
            pages.push(page(command, name.clone())?);
            add_pages(command, &name, pages)?;
        }
    }
    Ok(())
}

fn page(command: &clap::Command, name: String) -> Result<ManualPage> {
    let mut text = Vec::new();
    // clap names no date, so that the same arguments give the same page.
    let source = concat!("hookrun ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone())
        .title(name.clone())
        .section("1")
        .source(source)
        .render(&mut text)?;
    let text = String::from_utf8_lossy(&text).replace(".SH EXTRA\n", ".SH NOTES\n");
    let usage = command.clone().render_usage().to_string();
    let usage = usage
        .trim_start_matches("Usage:")
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let usage = usage.map(escaped).collect::<Vec<_>>().join("\n.br\n");
    let command = name.strip_prefix("hookrun-").unwrap_or(&name);
    let text = with_synopsis(&text, &usage) + &examples(command);
    Ok(ManualPage {
        name,
        section: "1",
        text,
    })
}

/// The page with the usage line of the help instead of a list of all options.
fn with_synopsis(text: &str, usage: &str) -> String {
    const BEGIN: &str = ".SH SYNOPSIS\n";
    let Some((before, rest)) = text.split_once(BEGIN) else {
        return text.to_string();
    };
    let after = rest.find(".SH ").map_or("", |at| &rest[at..]);
    format!("{before}{BEGIN}{usage}\n{after}")
}

fn examples(name: &str) -> String {
    let line = |(line, about)| format!(".TP\n.B {}\n{about}\n", escaped(line));
    let lines: String = help::examples_of(name).map(line).collect();
    if lines.is_empty() {
        lines
    } else {
        format!(".SH EXAMPLES\n{lines}")
    }
}

fn escaped(line: &str) -> String {
    line.replace('\\', "\\e").replace('-', "\\-")
}
