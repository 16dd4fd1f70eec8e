//! `hookrun man [PAGE]`: manual pages. Those of the commands are made from the arguments; those
//! of the contract and of `hookrun.toml` are written by hand.

use std::fs;
use std::io::Write;

use clap::CommandFactory;
use clap_mangen::Man;
use hookrun::spelling;

use crate::args::{Cli, ManArgs};
use crate::exit::{Exit, Failure, Result};

/// Pages written by hand: name, section, text.
const WRITTEN: &[(&str, &str, &str)] = &[
    ("hookrun-hook", "5", include_str!("../../man/hookrun-hook.5")),
    ("hookrun.toml", "5", include_str!("../../man/hookrun.toml.5")),
    ("hookrun-suite", "5", include_str!("../../man/hookrun-suite.5")),
];

/// A manual page.
struct Page {
    name: String,
    section: &'static str,
    text: Vec<u8>,
}

/// Prints one page, or writes all of them into a folder.
pub(crate) fn man(args: &ManArgs, out: &mut dyn Write) -> Result {
    let pages = pages()?;
    if let Some(folder) = &args.dir {
        let failed = |error: std::io::Error| {
            Failure::new(format!("cannot write into `{}`: {error}", folder.display()))
        };
        fs::create_dir_all(folder).map_err(failed)?;
        for page in &pages {
            let file = folder.join(format!("{}.{}", page.name, page.section));
            fs::write(file, &page.text).map_err(failed)?;
        }
        return Ok(Exit::Yes);
    }
    let wanted = args.page.as_deref().unwrap_or("hookrun");
    let is_wanted = |page: &&Page| {
        page.name == wanted || page.name.strip_prefix("hookrun-").is_some_and(|rest| rest == wanted)
    };
    let Some(page) = pages.iter().find(is_wanted) else {
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        let short = names.iter().filter_map(|name| name.strip_prefix("hookrun-"));
        let help = match spelling::nearest(wanted, names.iter().copied().chain(short)) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        return Err(Failure::with_help(format!("no manual page `{wanted}`"), help));
    };
    out.write_all(&page.text)?;
    Ok(Exit::Yes)
}

fn pages() -> Result<Vec<Page>> {
    let mut root = Cli::command();
    root.build();
    let mut pages = vec![page(&root, "hookrun".to_string())?];
    add_pages(&root, "hookrun", &mut pages)?;
    for (name, section, text) in WRITTEN {
        pages.push(Page { name: (*name).to_string(), section, text: text.as_bytes().to_vec() });
    }
    Ok(pages)
}

/// The pages of the commands below `parent`, and of theirs.
fn add_pages(parent: &clap::Command, name: &str, pages: &mut Vec<Page>) -> Result<()> {
    for command in parent.get_subcommands().filter(|command| !command.is_hide_set()) {
        if command.get_name() != "help" {
            let name = format!("{name}-{}", command.get_name());
            pages.push(page(command, name.clone())?);
            add_pages(command, &name, pages)?;
        }
    }
    Ok(())
}

fn page(command: &clap::Command, name: String) -> Result<Page> {
    let mut text = Vec::new();
    // clap names no date, so that the same arguments give the same page.
    let source = concat!("hookrun ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).title(name.clone()).section("1").source(source).render(&mut text)?;
    Ok(Page { name, section: "1", text })
}
