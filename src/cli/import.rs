//! `hookrun import`: adds other tools' hooks to hookrun.toml. The tools' files stay unchanged.

mod git;
mod host;
mod lefthook;
mod pre_commit;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::discover::MANIFEST;
use crate::config::reader::read_file;
use crate::config::tree::{SyntaxError, Tree, yaml_documents};
use crate::config::{Config, ConfigScope, Environment, Problem, problem_in, relative};
use crate::engine::complaint::Complaint;
use crate::engine::names::words;
use crate::hosts::{HOSTS, find_installable, git as git_table};
use crate::lab::report::style::counted;
use crate::lab::report::{Paths, plain};
use regex::Regex;
use serde_json::Value;

use super::files::{FileWrite, WritePlan, print_idle, toml_text};
use crate::cli::args::ImportArgs;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::host::files::read_value;
use crate::cli::streams;
use crate::cli::trust::offer;

#[derive(Clone, Copy)]
struct ImportTool {
    /// The name, also on the command line.
    name: &'static str,
    /// Its files, or folders of files, in the project.
    files: &'static [&'static str],
    read: fn(&ImportSource<'_>, &mut ImportedHooks) -> Result<()>,
}

const OF_GIT: &[ImportTool] = &[
    ImportTool {
        name: "pre-commit",
        files: &[".pre-commit-config.yaml"],
        read: pre_commit::read,
    },
    ImportTool {
        name: "lefthook",
        files: words!(
            "lefthook.yml" "lefthook.yaml" ".lefthook.yml" ".lefthook.yaml" "lefthook.json"
            "lefthook-local.yml" "lefthook-local.yaml"
        ),
        read: lefthook::read,
    },
    ImportTool {
        name: "lint-staged",
        files: words!(
            "package.json" ".lintstagedrc" ".lintstagedrc.json" ".lintstagedrc.yaml"
            ".lintstagedrc.yml"
        ),
        read: git::lint_staged,
    },
    ImportTool {
        name: "husky",
        files: &[".husky"],
        read: git::husky,
    },
];

/// All tools with importable hooks: hosts, and runners of git hooks.
fn tools() -> impl Iterator<Item = ImportTool> {
    let hosts = HOSTS.iter().filter(|host| !host.imports.is_empty());
    let of_hosts = hosts.map(|host| ImportTool {
        name: host.name,
        files: host.imports,
        read: host::read,
    });
    of_hosts.chain(OF_GIT.iter().copied())
}

/// Imports hooks: 0 done or nothing to do, 2 error.
pub(crate) fn import(args: &ImportArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let tool = tools().find(|tool| tool.name == args.tool).ok_or_else(|| {
        let names: Vec<&str> = tools().map(|tool| tool.name).collect();
        let cause = format!("cannot import hooks from `{}`", args.tool);
        Complaint::with_cure(cause, format!("name one of {}", names.join(", ")))
    })?;
    let config = Config::load(&args.place.choice(env), env, ConfigScope::All);
    let paths = Paths::from(&env.cwd);
    let places: Vec<PathBuf> = match &args.file {
        Some(file) => vec![env.cwd.join(file)],
        None => {
            let files = tool.files.iter();
            files
                .map(|file| config.nearest_folder().join(file))
                .collect()
        }
    };
    let files: Vec<PathBuf> = places.iter().flat_map(|place| files_in(place)).collect();
    if files.is_empty() {
        return Err(no_files(args, &tool, env));
    }
    let mut imported = ImportedHooks::default();
    for file in &files {
        let source = ImportSource {
            tool: tool.name,
            file,
            paths: &paths,
            env,
        };
        (tool.read)(&source, &mut imported)?;
    }
    streams::problems(&imported.problems, &paths);
    let (known, new): (Vec<_>, Vec<_>) = imported
        .hooks
        .iter()
        .partition(|hook| config.hooks.iter().any(|known| known.name == hook.name));
    if !new.is_empty() {
        let hooks = args.place.folder(&config, env)?;
        let text: Vec<String> = new.iter().map(|hook| hook.to_toml()).collect();
        let manifest = hooks.with_file_name(MANIFEST);
        let plan = WritePlan {
            hooks,
            changes: vec![FileWrite::added(manifest, &text.join("\n"))?],
            hints: hints(&tool, &new),
        };
        if args.place.dry_run {
            plan.show(&paths, out)?;
        } else {
            plan.write_untrusted(&paths, out)?;
            offer(env, out)?;
        }
    }
    let done = if args.place.dry_run {
        "would be imported"
    } else {
        "imported"
    };
    writeln!(out, "{} {done}", counted(new.len(), "hook"))?;
    for hook in known {
        writeln!(out, "  {}: already exists", plain(&hook.name))?;
    }
    if !imported.left.is_empty() {
        writeln!(out, "not imported")?;
    }
    for (what, why) in &imported.left {
        writeln!(out, "  {}: {}", plain(what), plain(why))?;
    }
    if args.place.hooks.is_none() && !args.place.dry_run {
        print_idle(env, out)?;
    }
    Ok(ExitStatus::Yes)
}

/// The file itself, or a folder's files sorted by name.
fn files_in(path: &Path) -> Vec<PathBuf> {
    if !path.exists() {
        return Vec::new();
    }
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file() || file.is_symlink());
    files.sort();
    files
}

fn no_files(args: &ImportArgs, tool: &ImportTool, env: &Environment) -> Complaint {
    let usual = tool.files.join(", ");
    let Some(file) = &args.file else {
        let cause = format!("no {} settings found here", tool.name);
        let cure =
            format!("`hookrun import` looks for {usual}; if the file is elsewhere, pass its path");
        return Complaint::with_cure(cause, cure);
    };
    let shown = file.display();
    let cause = match env.cwd.join(file).metadata() {
        Ok(_) => format!("no files in `{shown}`"),
        Err(_) => format!("no such file: `{shown}`"),
    };
    let name = tool.name;
    let cure = format!("check the path; without a path, `hookrun import {name}` looks for {usual}");
    Complaint::with_cure(cause, cure)
}

fn hints(tool: &ImportTool, new: &[&ImportedHook]) -> Vec<String> {
    let of_git = new
        .iter()
        .any(|hook| git_table::find(&hook.event).is_some());
    let host = if of_git { git_table::NAME } else { tool.name };
    let mut shown = "`hookrun list` shows the hooks".to_string();
    if of_git || find_installable(host).is_some() {
        shown.push_str(&format!(", and `hookrun install {host}` makes them run"));
    }
    vec![
        shown,
        format!(
            "{} still runs the imported hooks, too: remove them from its settings, or they run twice",
            tool.name
        ),
    ]
}

struct ImportSource<'a> {
    tool: &'static str,
    file: &'a Path,
    paths: &'a Paths,
    env: &'a Environment,
}

/// Imported entries, and the rest with reasons.
#[derive(Default)]
struct ImportedHooks {
    hooks: Vec<ImportedHook>,
    /// How many hooks were given a name.
    counts: BTreeMap<String, usize>,
    left: Vec<(String, String)>,
    problems: Vec<Problem>,
}

struct ImportedHook {
    /// The file and the place in it.
    from: String,
    name: String,
    event: String,
    /// Further keys with TOML values.
    keys: Vec<(&'static str, String)>,
    /// The keys of `match` with TOML values.
    filter: Vec<String>,
}

type Entry = std::result::Result<ImportedHook, String>;

impl ImportSource<'_> {
    fn shown(&self) -> String {
        self.paths.show(self.file)
    }

    /// Parses the file as JSON or YAML.
    fn value(&self) -> Result<Value> {
        let text = self.text()?;
        if let Some(value) = read_value(self.file) {
            return Ok(value);
        }
        let documents =
            yaml_documents(&text).map_err(|SyntaxError { line, message, .. }| {
                let cause = format!("`{}`: line {line}: {message}", self.shown());
                Complaint::with_cure(cause, "fix its syntax")
            })?;
        Ok(documents.first().map(Tree::to_json).unwrap_or_default())
    }

    fn text(&self) -> Result<String> {
        let what = format!("cannot read `{}`", self.shown());
        let bytes = read_file(self.file).map_err(failed(&what))?;
        String::from_utf8(bytes).map_err(|_| Complaint::new(format!("{what}: it is not UTF-8")))
    }
}

/// A command line with relative programs and scripts resolved from the project.
fn anchored(line: &str) -> std::result::Result<String, String> {
    const MOST_WORDS: usize = 20;
    let mut line = line.to_string();
    for _ in 0..MOST_WORDS {
        let Some(word) = relative::adrift(&line) else {
            return Ok(line);
        };
        // A whole word; a variable in single quotes would stay as it is.
        let form = format!(r"(?:^|[^\w/.$}}~'-])({})", regex::escape(&word));
        let form = Regex::new(&form).expect("the word is escaped");
        let found = form.captures(&line).and_then(|found| found.get(1));
        let Some(range) = found.map(|word| word.range()) else {
            break;
        };
        let project = match line[..range.start].ends_with('"') {
            true => "$HOOKRUN_PROJECT_DIR",
            false => "\"$HOOKRUN_PROJECT_DIR\"",
        };
        let path = word.trim_start_matches("./");
        line.replace_range(range, &format!("{project}/{path}"));
    }
    Err("hookrun cannot convert the relative paths in this command".to_string())
}

impl ImportedHooks {
    fn leave(&mut self, what: String, why: &str) {
        self.left.push((what, why.to_string()));
    }

    fn take(&mut self, from: String, found: Entry) {
        let found = found.and_then(|hook| match hook.problem() {
            Some(problem) => Err(problem),
            None => Ok(hook),
        });
        match found {
            Ok(hook) => {
                // In the same way for each import.
                let count = self.counts.entry(hook.name.clone()).or_default();
                *count += 1;
                let name = match *count {
                    1 => hook.name,
                    count => format!("{}-{count}", hook.name),
                };
                self.hooks.push(ImportedHook { from, name, ..hook });
            }
            Err(why) => self.left.push((from, why)),
        }
    }
}

impl ImportedHook {
    /// An entry named after the tool and its command.
    fn new(tool: &str, what: &str, event: &str, command: &str) -> ImportedHook {
        let plain = what.replace(
            |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'),
            "-",
        );
        ImportedHook {
            from: String::new(),
            name: format!("{tool}-{}", plain.trim_matches('-')),
            event: event.to_string(),
            keys: vec![("command", toml_text(command))],
            filter: Vec::new(),
        }
    }

    fn with(mut self, key: &'static str, value: impl Into<String>) -> ImportedHook {
        self.keys.retain(|(known, _)| *known != key);
        self.keys.push((key, value.into()));
        self
    }

    /// Adds a key to `match`, unless there are no values.
    fn matching(mut self, key: &str, values: &[String]) -> ImportedHook {
        let values: Vec<String> = values.iter().map(|value| toml_text(value)).collect();
        match values.as_slice() {
            [] => {}
            [one] => self.filter.push(format!("{key} = {one}")),
            several => self
                .filter
                .push(format!("{key} = [{}]", several.join(", "))),
        }
        self
    }

    /// Whether they run the same for the same files.
    fn is_same(&self, other: &ImportedHook) -> bool {
        self.event == other.event && self.keys == other.keys && self.filter == other.filter
    }

    fn problem(&self) -> Option<String> {
        problem_in(&self.to_toml())
    }

    fn to_toml(&self) -> String {
        let from = plain(&self.from);
        let name = toml_text(&self.name);
        let event = toml_text(&self.event);
        let mut text = format!("# From {from}\n[[hook]]\nname = {name}\nevent = {event}\n");
        for (key, value) in &self.keys {
            text.push_str(&format!("{key} = {value}\n"));
        }
        if !self.filter.is_empty() {
            text.push_str(&format!("match = {{ {} }}\n", self.filter.join(", ")));
        }
        text
    }
}
