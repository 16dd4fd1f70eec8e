//! What `hookrun sets` shows: the sets, and what one brings.

use std::io::Write;

use crate::cli::args::TextFormat;
use crate::cli::exit::{ExitStatus, Result};
use crate::config::set_store;
use crate::config::sets::hookset;
use crate::config::{Config, Environment, UsedSet};
use crate::lab::report::style::{BOLD, DIM};
use crate::lab::report::{Paths, plain};
use crate::log::report::present;
use serde_json::{Value, json};

/// Shows all sets: 0 all can be used, 1 not all.
pub(super) fn list(
    config: &Config,
    format: TextFormat,
    env: &Environment,
    out: &mut dyn Write,
) -> Result {
    let paths = Paths::from(&env.cwd);
    match format {
        TextFormat::Json => {
            let sets: Vec<Value> = config.sets.iter().map(|set| json_of(set, &paths)).collect();
            writeln!(out, "{:#}", json!({ "version": 1, "sets": sets }))?;
        }
        TextFormat::Human if config.sets.is_empty() => {
            writeln!(
                out,
                "No sets are declared. `hookrun sets add NAME` declares one."
            )?;
        }
        TextFormat::Human => {
            config
                .sets
                .iter()
                .try_for_each(|set| human(set, &paths, out))?;
        }
    }
    let is_ok = config.sets.iter().all(|set| set.folder.is_ok());
    Ok(if is_ok {
        ExitStatus::Yes
    } else {
        ExitStatus::No
    })
}

fn json_of(set: &UsedSet, paths: &Paths) -> Value {
    let locked = set.locked.as_ref();
    present(json!({
        "name": set.declared.name,
        "source": set.declared.source.locked(),
        "rev": set.declared.source.rev(),
        "commit": locked.and_then(|locked| locked.commit.as_ref()),
        "tree": locked.map(|locked| format!("sha256:{}", locked.tree)),
        "files": locked.map(|locked| locked.files),
        "signed": locked.is_some_and(|locked| locked.is_signed),
        "layer": set.layer.name(),
        "file": paths.show(&set.file),
        "line": set.declared.at.line,
        "folder": set.folder.as_ref().ok(),
        "problem": set.folder.as_ref().err(),
    }))
}

fn human(set: &UsedSet, paths: &Paths, out: &mut dyn Write) -> Result<()> {
    let declared = &set.declared;
    let locked = set.locked.as_ref();
    let rev = declared.source.rev().unwrap_or_default();
    writeln!(out, "{BOLD}{}{BOLD:#} {rev}", declared.name)?;
    let file = format!("{}:{}", paths.show(&set.file), declared.at.line);
    let needs = set.folder.as_ref().ok().map(|folder| {
        let about = hookset::load(folder, &mut Vec::new());
        let needs = about.needs.map(|needs| needs.to_string());
        needs.unwrap_or_else(|| "not said, so its hooks have no sandbox but their own".to_string())
    });
    let rows = [
        (
            "declared",
            Some(format!("{file} ({} layer)", set.layer.name())),
        ),
        ("from", Some(declared.source.locked())),
        ("commit", locked.and_then(|locked| locked.commit.clone())),
        (
            "tree",
            locked.map(|locked| format!("sha256:{}, {} files", locked.tree, locked.files)),
        ),
        (
            "signed",
            locked
                .filter(|locked| locked.is_signed)
                .map(|_| "git has verified the signature of the commit".to_string()),
        ),
        ("needs", needs),
        ("problem", set.folder.as_ref().err().cloned()),
    ];
    for (name, value) in rows
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    {
        writeln!(out, "  {DIM}{name:<8}{DIM:#} {}", plain(&value))?;
    }
    Ok(())
}

/// Shows one set with its hooks and files.
pub(super) fn why(
    set: &UsedSet,
    config: &Config,
    env: &Environment,
    out: &mut dyn Write,
) -> Result<()> {
    human(set, &Paths::from(&env.cwd), out)?;
    let Ok(folder) = &set.folder else {
        return Ok(());
    };
    writeln!(out, "  {DIM}hooks{DIM:#}")?;
    for hook in config
        .hooks
        .iter()
        .filter(|hook| hook.source.file.starts_with(folder))
    {
        let name = plain(&hook.name);
        let wants = plain(&hook.matcher.to_string());
        writeln!(out, "    {name}  {DIM}{}{DIM:#}  {wants}", hook.event)?;
    }
    writeln!(out, "  {DIM}files{DIM:#}")?;
    for file in set_store::files_in(folder).unwrap_or_default().files {
        writeln!(out, "    {}", plain(&file.mark.path))?;
    }
    Ok(())
}
