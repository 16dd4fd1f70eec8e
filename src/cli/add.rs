//! `hookrun add`: writes built-in hooks, gates and rules with their test cases.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::files::{Becomes, FileWrite, WritePlan};
use crate::cli::args::AddArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::config::discover::MANIFEST;
use crate::config::{Config, ConfigScope, Environment};
use crate::engine::complaint::{self, Complaint};
use crate::lab::report::style::{BOLD, DIM};

/// Adds built-in hooks, or lists them: 0 done or nothing to do, 2 error.
pub(crate) fn add(args: &AddArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&args.place.choice(env), env, ConfigScope::Event(""));
    let hooks = args.place.folder(&config, env)?;
    if args.list {
        return list(&hooks, out);
    }
    if args.names.is_empty() {
        let help = "`hookrun add --list` lists what you can add";
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
        let mut changes = shipped.files;
        for change in &mut changes {
            change.path = hooks.join(&change.path);
        }
        let existing = changes
            .iter()
            .find(|change| change.path.symlink_metadata().is_ok());
        if changes.iter().all(FileWrite::is_done) {
            plan.hints
                .push(format!("`{name}` already exists, and was not changed"));
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
    let mut known = all();
    if let Some(at) = known.iter().position(|one| one.name == name) {
        return Ok(known.swap_remove(at));
    }
    let nearest = complaint::nearest(name, known.iter().map(|one| one.name.as_str()));
    let help = complaint::did_you_mean(nearest, || "`hookrun add --list` shows all".to_string());
    Err(Complaint::with_cure(
        format!("no built-in hook, gate or rule is named `{name}`"),
        help,
    ))
}

pub(super) fn is_here(shipped: &ShippedHook, hooks: &Path) -> bool {
    shipped
        .files
        .first()
        .is_some_and(|hook| hooks.join(&hook.path).exists())
}

fn list(hooks: &Path, out: &mut dyn Write) -> Result {
    let shipped = all();
    let widths = shipped.iter().map(|one| one.name.len());
    let widest = widths.max().unwrap_or_default();
    for (sort, title) in SORTS {
        writeln!(out, "{BOLD}{title}{BOLD:#}")?;
        for one in shipped.iter().filter(|one| one.sort == *sort) {
            let here = if is_here(one, hooks) { "(added) " } else { "" };
            let ShippedHook { name, about, .. } = one;
            writeln!(out, "  {name:<widest$}  {DIM}{here}{DIM:#}{about}")?;
        }
    }
    Ok(ExitStatus::Yes)
}

const SORTS: &[(&str, &str)] = &[
    ("hook", "hooks"),
    ("gate", "gates for CI"),
    ("rule", "rules"),
];

pub(super) struct ShippedHook {
    pub(super) name: String,
    sort: &'static str,
    /// The first sentence of its comment, or a rule's heading and description.
    pub(super) about: String,
    events: Vec<String>,
    /// The hook first, then its test cases and their data, with paths relative to hooks.d.
    pub(super) files: Vec<FileWrite>,
    /// The `[event]` table it needs in a hookrun.toml.
    declares: Option<&'static str>,
}

/// All built-in hooks (`hooks.d/`), gates (`gates/`) and rules (`docs/rules.md`), in the order of [`SORTS`].
fn all() -> Vec<ShippedHook> {
    HOOKS
        .iter()
        .map(of_row)
        .chain(RULES_PAGE.split("\n### ").skip(1).filter_map(of_page))
        .collect()
}

struct ShippedRow {
    /// Paths in the repository, with texts.
    files: &'static [(&'static str, &'static str)],
    /// Further paths of the hook in hooks.d, written as links.
    links: &'static [&'static str],
}

macro_rules! row {
    ($($path:literal)+ $(; $($link:literal)+)?) => {
        ShippedRow {
            files: &[$((
                $path,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path)),
            )),+],
            links: &[$($($link),+)?],
        }
    };
}

/// Hooks and gates, sorted by path. The first file is the hook.
#[rustfmt::skip]
const HOOKS: &[ShippedRow] = &[
    row!("hooks.d/command/handoff.sh" "hooks.d/tests/handoff.toml"),
    row!("hooks.d/commit.msg/10-conventional-commits.toml" "hooks.d/tests/conventional-commits.toml"),
    row!("hooks.d/commit.pre/10-format.sh" "hooks.d/tests/format.toml"),
    row!("hooks.d/commit.pre/20-lint.sh" "hooks.d/tests/lint.toml"),
    row!("hooks.d/commit.pre/30-no-large-files.sh" "hooks.d/tests/no-large-files.toml"),
    row!("hooks.d/compact.pre/10-summarize-requests.py" "hooks.d/tests/summarize-requests.toml"),
    row!("hooks.d/model.pre/10-drop-debug-messages.py" "hooks.d/tests/drop-debug-messages.toml"),
    row!("hooks.d/model.pre/20-trigger-file.sh" "hooks.d/tests/trigger-file.toml"),
    row!("hooks.d/session.end/10-archive-transcript.py" "hooks.d/tests/archive-transcript.toml"),
    row!("hooks.d/session.start/10-fresh-context.sh" "hooks.d/tests/fresh-context.toml"),
    row!("hooks.d/tool.post/05-audit.py" "hooks.d/tests/audit.toml";
        "error/05-audit.py" "message.out/05-audit.py" "notification/05-audit.py"
        "prompt.submit/05-audit.py" "session.end/05-audit.py" "session.start/05-audit.py"),
    row!("hooks.d/tool.post/10-redact-secrets.py" "hooks.d/tests/redact-secrets.toml"
        "hooks.d/tests/block-secrets.toml";
        "message.out/10-block-secrets.py" "prompt.submit/10-redact-secrets.py"),
    row!("hooks.d/tool.pre/05-guard-hookrun.toml" "hooks.d/tests/guard-hookrun.toml"),
    row!("hooks.d/tool.pre/10-guard-destructive.toml" "hooks.d/tool.pre/11-guard-deletions.py"
        "hooks.d/tests/guard-destructive.toml"),
    row!("hooks.d/tool.pre/15-ask-first.toml" "hooks.d/tests/ask-first.toml"),
    row!("hooks.d/tool.pre/20-production-paths.toml" "hooks.d/tests/production-paths.toml"),
    row!("hooks.d/tool.pre/30-protect-paths.toml" "hooks.d/tests/protect-paths.toml"),
    row!("hooks.d/turn.start/10-git-checkpoint.sh" "hooks.d/tests/git-checkpoint.toml";
        "agent.end/10-git-checkpoint.sh" "session.branch.pre/10-git-checkpoint.sh"),
    row!("gates/hooks.d/commits.pre/10-commit-range.py" "gates/hooks.d/tests/commit-range.toml"),
    row!("gates/hooks.d/dependencies.pre/10-package-lock.py"
        "gates/hooks.d/tests/package-lock.toml" "gates/hooks.d/tests/locks/after.json"
        "gates/hooks.d/tests/locks/bad.json" "gates/hooks.d/tests/locks/before.json"),
    row!("gates/hooks.d/deploy.pre/10-freeze.py" "gates/hooks.d/tests/freeze.toml"),
    row!("gates/hooks.d/manifest.pre/10-kubernetes-manifest.py"
        "gates/hooks.d/tests/kubernetes-manifest.toml" "gates/hooks.d/tests/manifests/bad.json"
        "gates/hooks.d/tests/manifests/bad.yaml" "gates/hooks.d/tests/manifests/crd.json"
        "gates/hooks.d/tests/manifests/shop.json" "gates/hooks.d/tests/manifests/shop.yaml"),
    row!("gates/hooks.d/plan.pre/10-terraform-plan.py" "gates/hooks.d/tests/terraform-plan.toml"
        "gates/hooks.d/tests/plans/db.tf" "gates/hooks.d/tests/plans/main.tf"
        "gates/hooks.d/tests/plans/network.json"),
];

const GATES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/gates/hookrun.toml"));

const RULES_PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules.md"));

fn of_row(row: &ShippedRow) -> ShippedHook {
    let (path, text) = row.files[0];
    let own = below(path);
    let mut files = Vec::new();
    for (path, text) in row.files {
        files.push(FileWrite::new(PathBuf::from(below(path)), *text));
    }
    let mut events = vec![event_of(own)];
    for link in row.links {
        files.push(FileWrite {
            path: PathBuf::from(link),
            becomes: Becomes::Link(format!("../{own}")),
        });
        events.push(event_of(link));
    }
    let is_gate = path.starts_with("gates/");
    ShippedHook {
        name: subject(Path::new(own)),
        sort: if is_gate { "gate" } else { "hook" },
        about: first_sentence(&comment_of(text)),
        declares: is_gate.then(|| declaration(&events[0])).flatten(),
        events,
        files,
    }
}

/// A repository path, relative to the hooks' folder.
fn below(path: &'static str) -> &'static str {
    path.split_once("hooks.d/").map_or(path, |(_, below)| below)
}

/// A file's name without number and extension, which a hook shares with its test cases.
pub(super) fn subject(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-')
        .to_string()
}

/// The event of a hook's folder; a command's event is named after the file.
fn event_of(path: &str) -> String {
    match path.split_once('/') {
        Some(("command", _)) => format!("command.{}", subject(Path::new(path))),
        Some((event, _)) => event.to_string(),
        None => String::new(),
    }
}

fn declaration(event: &str) -> Option<&'static str> {
    let start = GATES.find(&format!("[event.\"{event}\"]\n"))?;
    let rest = &GATES[start..];
    Some(&rest[..rest.find("\n\n").map_or(rest.len(), |end| end + 1)])
}

fn comment_of(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| line.starts_with("#!"))
        .map_while(|line| line.strip_prefix('#'))
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    lines.join(" ")
}

fn first_sentence(paragraph: &str) -> String {
    paragraph
        .split_once(". ")
        .map_or(paragraph.to_string(), |(first, _)| format!("{first}."))
}

/// Parses a rule of the page: heading, description, block, and table of test cases.
fn of_page(section: &str) -> Option<ShippedHook> {
    let (head, rest) = section.split_once("```toml\n")?;
    let (rules, table) = rest.split_once("```\n")?;
    let (title, about) = head.split_once('\n')?;
    let about = about.trim();
    let name = rules.split_once("name = \"")?.1.split_once('"')?.0;
    let file = format!("50-{name}.toml");
    let block = if rules.contains("\nask = ") {
        "ask"
    } else {
        "block"
    };
    let mut cases =
        format!("# Test cases of {file}.\n\n[defaults]\nevent = \"tool.pre\"\nhook = \"{file}\"\n");
    for row in table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.strip_suffix("` |"))
    {
        let (blocked, passed) = row.split_once("` | `")?;
        for (cell, decision) in [(blocked, block), (passed, "allow")] {
            cases.push_str(&case_of(&cell.replace("\\|", "|"), decision));
        }
    }
    Some(ShippedHook {
        name: name.to_string(),
        sort: "rule",
        about: format!("{title}: {}", first_sentence(about)),
        events: vec!["tool.pre".to_string()],
        files: vec![
            FileWrite::new(
                Path::new("tool.pre").join(&file),
                format!("# {about}\n\n{rules}"),
            ),
            FileWrite::cases(Path::new(""), name, cases),
        ],
        declares: None,
    })
}

fn case_of(cell: &str, decision: &str) -> String {
    let call = cell.split_once(' ').and_then(|(tool, input)| {
        let input: Value = serde_json::from_str(input).ok()?;
        Some(json!({ "toolName": tool, "toolInput": input }))
    });
    let call =
        call.unwrap_or_else(|| json!({ "toolName": "Bash", "toolInput": { "command": cell } }));
    let name = Value::from(format!("{decision}: {cell}"));
    format!(
        "\n[[case]]\nname = {name}\ncontext = '''{call}'''\nexpect = {{ decision = \"{decision}\" }}\n"
    )
}
