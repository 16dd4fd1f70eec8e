//! `hookrun man --dir DIR`: the manual pages, for packages. Those of the commands are made from the
//! arguments; those of the contract and of `hookrun.toml` are written by hand.

use std::fs;

use clap_mangen::Man;

use crate::cli::args::ManArgs;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::help;

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
    text: String,
}

/// Writes all pages into a folder.
pub(crate) fn man(args: &ManArgs) -> Result {
    let cannot = failed(format!("cannot write into `{}`", args.dir.display()));
    fs::create_dir_all(&args.dir).map_err(&cannot)?;
    for page in pages()? {
        let file = args.dir.join(format!("{}.{}", page.name, page.section));
        fs::write(file, &page.text).map_err(&cannot)?;
    }
    Ok(ExitStatus::Yes)
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
