//! `hookrun add`: writes built-in hooks, gates and rules with their test cases.

pub(crate) mod shipped;

use std::io::Write;
use std::path::Path;

use crate::config::discover::MANIFEST;
use crate::config::{Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::spelling;
use crate::lab::report::style::{BOLD, DIM};
use serde_json::json;

use super::files::{Becomes, FileWrite, PLAIN, PROGRAM, WritePlan};
use crate::cli::args::{AddArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use shipped::{SORTS, ShippedContent, ShippedHook};

/// Adds built-in hooks, or lists them: 0 done or nothing to do, 2 error.
pub(crate) fn add(args: &AddArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&args.place.choice(env), env, ConfigScope::Event(""));
    let hooks = args.place.folder(&config, env)?;
    if args.list {
        return list(&hooks, args.format, out);
    }
    if args.names.is_empty() {
        let help = "`hookrun add --list` lists them";
        return Err(Complaint::with_cure("no hook, gate or rule given", help));
    }
    let mut plan = plan_of(&args.names, &config, &hooks)?;
    if !plan.changes.is_empty() {
        let option = args.place.option();
        plan.hints.push(format!(
            "`hookrun test --suite{option}` runs the test cases"
        ));
    }
    args.place.carry_out(&plan, env, out)?;
    Ok(ExitStatus::Yes)
}

/// The changes that add these hooks to `hooks`; none for unchanged files.
pub(super) fn plan_of(names: &[String], config: &Config, hooks: &Path) -> Result<WritePlan> {
    let mut plan = WritePlan {
        hooks: hooks.to_path_buf(),
        changes: Vec::new(),
        hints: Vec::new(),
    };
    let mut declared: Vec<&str> = Vec::new();
    for name in names {
        let shipped = find(name)?;
        let changes = changes_of(&shipped, hooks);
        let existing = changes
            .iter()
            .find(|change| change.path.symlink_metadata().is_ok());
        if changes.iter().all(FileWrite::is_done) {
            plan.hints.push(format!("{name} already exists, unchanged"));
        } else if let Some(existing) = existing {
            let cause = format!("`{}` already exists", existing.path.display());
            let help = "move it away to add the built-in version; nothing was written";
            return Err(Complaint::with_cure(cause, help));
        } else {
            plan.changes.extend(changes);
        }
        let is_declared = shipped
            .events
            .iter()
            .all(|event| config.catalog.find(event).is_ok());
        if !is_declared {
            declared.extend(shipped.declares);
        }
    }
    if !declared.is_empty() {
        let file = hooks.with_file_name(MANIFEST);
        plan.changes
            .push(FileWrite::added(file, &declared.join("\n"))?);
    }
    Ok(plan)
}

pub(super) fn find(name: &str) -> Result<ShippedHook> {
    let mut all = shipped::all();
    if let Some(at) = all.iter().position(|one| one.name == name) {
        return Ok(all.swap_remove(at));
    }
    let nearest = spelling::nearest(name, all.iter().map(|one| one.name.as_str()));
    let help = spelling::did_you_mean(nearest, || "`hookrun add --list` shows all".to_string());
    Err(Complaint::with_cure(
        format!("no built-in hook, gate or rule is named `{name}`"),
        help,
    ))
}

fn changes_of(shipped: &ShippedHook, hooks: &Path) -> Vec<FileWrite> {
    let mut changes = Vec::new();
    for file in &shipped.files {
        let path = hooks.join(&file.path);
        changes.push(match &file.content {
            ShippedContent::Text(text) if text.starts_with("#!") => {
                FileWrite::new(path, text.as_ref(), PROGRAM)
            }
            ShippedContent::Text(text) => FileWrite::new(path, text.as_ref(), PLAIN),
            ShippedContent::Link(to) => FileWrite {
                path,
                becomes: Becomes::Link { to: to.clone() },
            },
        });
    }
    changes
}

pub(super) fn is_here(shipped: &ShippedHook, hooks: &Path) -> bool {
    shipped
        .files
        .first()
        .is_some_and(|hook| hooks.join(&hook.path).exists())
}

fn list(hooks: &Path, format: TextFormat, out: &mut dyn Write) -> Result {
    let all = shipped::all();
    if format == TextFormat::Json {
        let mut rows = Vec::new();
        for one in &all {
            let files: Vec<&str> = one.files.iter().map(|file| file.path.as_str()).collect();
            rows.push(json!({
                "name": one.name, "sort": one.sort, "about": one.about, "events": one.events,
                "files": files, "isHere": is_here(one, hooks),
            }));
        }
        writeln!(out, "{:#}", json!({ "version": 1, "shipped": rows }))?;
        return Ok(ExitStatus::Yes);
    }
    let widest = all
        .iter()
        .map(|one| one.name.len())
        .max()
        .unwrap_or_default();
    for (sort, title) in SORTS {
        writeln!(out, "{BOLD}{title}{BOLD:#}")?;
        for one in all.iter().filter(|one| one.sort == *sort) {
            let here = if is_here(one, hooks) {
                "(written) "
            } else {
                ""
            };
            writeln!(
                out,
                "  {:<widest$}  {DIM}{here}{DIM:#}{}",
                one.name, one.about
            )?;
        }
    }
    Ok(ExitStatus::Yes)
}
