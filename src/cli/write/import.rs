//! `hookrun import`: hooks of other tools become entries of hookrun.toml. Their own files stay.

mod git;
mod host;
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::discover::MANIFEST;
use crate::config::{Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog;
use crate::hosts::{HOSTS, git as git_table};
use crate::lab::report::style::counted;
use crate::lab::report::{Paths, plain};

use super::files::{FileWrite, WritePlan, choice, hooks_folder, tell_idle};
use crate::cli::args::ImportArgs;
use crate::cli::exit::{ExitStatus, Result};
use source::{FoundHook, ImportSource, SourceHooks};

/// Another tool, and how its hooks are read.
#[derive(Clone, Copy)]
pub(crate) struct ImportTool {
    /// What people call it, on the command line too.
    pub(crate) name: &'static str,
    /// Its files below the project. Of a folder it is every file in it.
    files: &'static [&'static str],
    read: fn(&ImportSource<'_>) -> Result<SourceHooks>,
}

/// Runners of git's hooks.
const OF_GIT: &[ImportTool] = &[
    ImportTool {
        name: "pre-commit",
        files: &[".pre-commit-config.yaml"],
        read: git::pre_commit,
    },
    ImportTool {
        name: "lefthook",
        files: &[
            "lefthook.yml",
            "lefthook.yaml",
            ".lefthook.yml",
            ".lefthook.yaml",
            "lefthook.json",
        ],
        read: git::lefthook,
    },
    ImportTool {
        name: "husky",
        files: &[".husky"],
        read: git::husky,
    },
];

/// Every tool whose hooks can be carried over: hosts, and runners of git's hooks.
pub(crate) fn tools() -> impl Iterator<Item = ImportTool> {
    let hosts = HOSTS.iter().filter(|host| !host.imports.is_empty());
    let of_hosts = hosts.map(|host| ImportTool {
        name: host.name,
        files: host.imports,
        read: host::read,
    });
    of_hosts.chain(OF_GIT.iter().copied())
}

/// Carries hooks over: 0 done or nothing to do, 2 could not.
pub(crate) fn import(args: &ImportArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let tool = &tools()
        .find(|tool| tool.name == args.tool)
        .ok_or_else(|| Complaint::new("no such tool"))?;
    let named = args.hooks.as_ref();
    let config = Config::load(&choice(named, env), env, ConfigScope::All);
    let paths = Paths::from(&env.cwd);
    let files: Vec<PathBuf> = match &args.file {
        Some(file) => vec![env.cwd.join(file)],
        None => tool
            .files
            .iter()
            .map(|file| config.nearest_folder().join(file))
            .collect(),
    };
    let files: Vec<PathBuf> = files.iter().flat_map(|file| files_in(file)).collect();
    if files.is_empty() {
        let help = format!("it looks for {}; name another file", tool.files.join(", "));
        let nothing = || format!("there is no file of {} here", tool.name);
        let cause = args
            .file
            .as_ref()
            .map(|file| format!("`{}` is not there", file.display()));
        return Err(Complaint::with_cure(cause.unwrap_or_else(nothing), help));
    }
    let mut found = SourceHooks::default();
    for file in &files {
        found.add((tool.read)(&ImportSource {
            tool: tool.name,
            file,
            paths: &paths,
            env,
        })?);
    }
    let (there, new): (Vec<_>, Vec<_>) = named_once(found.hooks)
        .into_iter()
        .partition(|hook| config.hooks.iter().any(|known| known.name == hook.name));
    let hooks = hooks_folder(named, &config, env)?;
    let mut plan = WritePlan {
        hooks: hooks.clone(),
        changes: Vec::new(),
        hints: Vec::new(),
    };
    if !new.is_empty() {
        let text: Vec<String> = new.iter().map(FoundHook::to_toml).collect();
        plan.changes.push(FileWrite::added(
            hooks.with_file_name(MANIFEST),
            &text.join("\n"),
        )?);
        plan.hints = hints(tool, &new);
    }
    if args.dry_run {
        plan.show(&paths, out)?;
    } else if !plan.changes.is_empty() {
        plan.write_and_offer(env, out)?;
    }
    writeln!(out, "{} carried over", counted(new.len(), "hook"))?;
    for hook in there {
        writeln!(out, "  {}: is here already", plain(&hook.name))?;
    }
    if !found.left.is_empty() {
        writeln!(out, "not carried over")?;
    }
    for (what, why) in &found.left {
        writeln!(out, "  {}: {}", plain(what), plain(why))?;
    }
    if named.is_none() && !args.dry_run {
        tell_idle(env, out)?;
    }
    Ok(ExitStatus::Yes)
}

/// The tools whose hooks are in this project, each with its files.
pub(super) fn in_project(config: &Config, env: &Environment) -> Vec<(ImportTool, Vec<PathBuf>)> {
    let paths = Paths::from(&env.cwd);
    let has_hooks = |tool: &ImportTool, file: &Path| {
        let source = ImportSource {
            tool: tool.name,
            file,
            paths: &paths,
            env,
        };
        // What cannot be read is somebody's hooks too, and `import` says what is wrong.
        (tool.read)(&source).map_or(true, |found| !found.hooks.is_empty())
    };
    let mut found = Vec::new();
    for tool in tools() {
        let mut files = Vec::new();
        for file in tool.files {
            files.extend(files_in(&config.nearest_folder().join(file)));
        }
        files.retain(|file| has_hooks(&tool, file));
        if !files.is_empty() {
            found.push((tool, files));
        }
    }
    found
}

/// The file, or the files in the folder, in the order of their names.
fn files_in(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return path
            .exists()
            .then(|| path.to_path_buf())
            .into_iter()
            .collect();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    files
}

/// Gives hooks of one name a number each: a second import counts them in the same way.
fn named_once(mut hooks: Vec<FoundHook>) -> Vec<FoundHook> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for hook in &mut hooks {
        let count = counts.entry(hook.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            hook.name = format!("{}-{count}", hook.name);
        }
    }
    hooks
}

fn hints(tool: &ImportTool, new: &[FoundHook]) -> Vec<String> {
    let of_git = new
        .iter()
        .any(|hook| git_table::find(&hook.event).is_some());
    let host = if of_git { git_table::NAME } else { tool.name };
    let first = new.first().and_then(|hook| catalog::find(&hook.event));
    let event = first.map_or("tool.pre", |spec| spec.name.as_ref());
    vec![
        format!(
            "`hookrun list --event {event}` shows them, `hookrun install {host}` makes them run"
        ),
        format!(
            "{} still runs its own: take them out there, or they run twice",
            tool.name
        ),
    ]
}
