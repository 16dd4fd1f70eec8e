//! The command or plugin by which a host starts hookrun: writes and recognises it.
//!
//! A shared file contains no path of one machine: its command searches for hookrun, and blocks with
//! install instructions if it is missing. A personal file has the path. A host that runs no
//! commands gets a plugin; a host with a file for each event gets scripts.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::cli::args::SettingsScope;
use crate::cli::exit::Result;
use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::errand::Errand;
use crate::engine::hook::parse_duration;
use crate::engine::shell::{self, ShellWord};
use crate::hosts::settings::HostForm;
use crate::hosts::{Host, HostEvent};

pub(crate) const NAME: &str = "hookrun";

const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// Appended to a command if a failure blocks: if the shell cannot start hookrun, or it is killed,
/// the shell exits with 2, which blocks in every host with such an event. Normal blocks and allows
/// are unchanged.
const GUARD: &str = " || { s=$?; [ $s = 2 ] || \
     echo \"hookrun ended with status $s and no decision\" >&2; exit 2; }";

/// Finds hookrun in the absolute folders of PATH, then where cargo, npm and uv install programs,
/// but never inside the project, because a repository must not decide about itself. The project is
/// the nearest folder with `.git`, else the working directory; a project that contains the home
/// folder excludes nothing. Without single quotes, so that any shell can quote it.
pub(super) const SEARCH: &str = "c=$(pwd -P); r=$c; \
     until [ -z \"$r\" ] || [ -e \"$r/.git\" ]; do r=${r%/*}; done; r=${r:-$c}; \
     case $HOME/ in \"$r\"/*) r=/-;; esac; \
     p=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin:$HOME/.local/bin:$HOME/.npm-global/bin:\
     /usr/local/bin:/opt/homebrew/bin; IFS=:; set -f; for d in $p; do \
     case $d/ in /|[!/]*|*/node_modules/*) continue;; esac; \
     [ -f \"$d/hookrun\" ] && [ -x \"$d/hookrun\" ] || continue; \
     case $(cd \"$d\" && pwd -P)/ in \"$r\"/*) continue;; esac; ";

pub(super) const MISSING: &str = "the hooks here need hookrun, which was not found in PATH, ~/.cargo/bin \
     or ~/.local/bin: put it in one of these folders, or install it with cargo install --path . in a \
     checkout of hookrun";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Launch {
    Path(String),
    Search,
}

impl Launch {
    /// The launch for settings of this scope.
    pub(crate) fn of(scope: SettingsScope, env: &Environment) -> Result<Launch> {
        match scope {
            SettingsScope::Project => Ok(Launch::Search),
            SettingsScope::Local | SettingsScope::User => own_path(env).map(Launch::Path),
        }
    }

    /// The command line with these arguments; guarded, it blocks by status 2 if hookrun fails.
    pub(crate) fn line(&self, arguments: &str, is_guarded: bool) -> String {
        match self {
            Launch::Path(program) => {
                let guard = if is_guarded { GUARD } else { "" };
                format!("{} {arguments}{guard}", shell_words::quote(program))
            }
            Launch::Search => format!("/bin/sh -c '{}' {NAME} {arguments}", script(is_guarded)),
        }
    }

    /// The words before the arguments, to start without a shell.
    pub(crate) fn words(&self) -> Vec<String> {
        match self {
            Launch::Path(program) => vec![program.clone()],
            Launch::Search => ["/bin/sh", "-c", &script(false), NAME]
                .map(str::to_string)
                .to_vec(),
        }
    }

    /// Parses a launch, whether it is guarded, and the arguments.
    fn read(words: &[String]) -> Option<(Launch, bool, &[String])> {
        let (program, arguments) = words.split_first()?;
        if program != "/bin/sh" {
            return Some((Launch::Path(program.clone()), false, arguments));
        }
        let [flag, text, name, arguments @ ..] = arguments else {
            return None;
        };
        let is_guarded = *text == script(true);
        let is_ours = is_guarded || *text == script(false);
        (flag == "-c" && name == NAME && is_ours).then_some((Launch::Search, is_guarded, arguments))
    }

    /// Returns the version that runs in `folder`; the error is a sentence.
    pub(crate) fn version(&self, folder: &Path) -> std::result::Result<String, String> {
        let words = self.words();
        let name = match self {
            Launch::Path(program) => program,
            Launch::Search => NAME,
        };
        let mut errand = Errand::new(&words[0], &words[1..], PROBE_LIMIT);
        errand.command.arg("--version").current_dir(folder);
        let output = match errand.output() {
            Ok(Some(output)) => output,
            Ok(None) => return Err(format!("`{name} --version` did not end within 5s")),
            Err(error) => return Err(format!("`{name}`: {error}")),
        };
        if output.status.code() == Some(127) {
            return Err("it is not in PATH or the usual install folders".to_string());
        }
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_string();
        if printed.starts_with("hookrun ") {
            return Ok(printed);
        }
        Err(format!(
            "`{name} --version` does not print hookrun's version"
        ))
    }
}

fn script(is_guarded: bool) -> String {
    if is_guarded {
        let run = format!("\"$d/hookrun\" \"$@\"{GUARD}; exit 0");
        return format!("{SEARCH}{run}; done; echo \"{MISSING}\" >&2; exit 2");
    }
    format!("{SEARCH}exec \"$d/hookrun\" \"$@\"; done; echo \"{MISSING}\" >&2; exit 127")
}

/// This program's absolute path, in PATH if possible, so that an update is found too.
pub(crate) fn own_path(env: &Environment) -> Result<String> {
    let own = env.program.as_ref();
    let own = own.ok_or_else(|| Complaint::new("cannot determine the path of this program"))?;
    let real = own.canonicalize().ok();
    let search = env.search.clone().unwrap_or_default();
    let mut candidates = std::env::split_paths(&search).map(|folder| folder.join(NAME));
    let in_path = candidates
        .find(|one| one.is_absolute() && real.is_some() && one.canonicalize().ok() == real);
    let path = in_path.as_ref().unwrap_or(own);
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => Ok(text.to_string()),
        _ => Err(Complaint::with_cure(
            format!(
                "hookrun's path `{}` contains control characters or is not UTF-8",
                path.display()
            ),
            "move hookrun to a folder with a simple name",
        )),
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InstalledCommand {
    pub(crate) launch: Launch,
    pub(crate) budget: Option<Duration>,
    pub(crate) is_guarded: bool,
}

impl InstalledCommand {
    /// Parses a command for `host`; `None` if `install` does not write such.
    pub(crate) fn read(text: &str, host: &Host, env: &Environment) -> Option<InstalledCommand> {
        let bare = text.strip_suffix(GUARD);
        let words = shell_words::split(bare.unwrap_or(text)).ok()?;
        let (launch, is_script_guarded, arguments) = Launch::read(&words)?;
        let [run, flag, name, rest @ ..] = arguments else {
            return None;
        };
        if run != "run" || flag != "--host" || name != host.name {
            return None;
        }
        let budget = match rest {
            [] => None,
            [event] if !event.starts_with('-') => None,
            [flag, budget] | [_, flag, budget] if flag == "--budget" => {
                Some(parse_duration(budget).ok()?)
            }
            _ => return None,
        };
        if let Launch::Path(program) = &launch
            && !is_hookrun(program, env)
        {
            return None;
        }
        Some(InstalledCommand {
            launch,
            budget,
            is_guarded: is_script_guarded || bare.is_some(),
        })
    }
}

fn is_hookrun(program: &str, env: &Environment) -> bool {
    let path = Path::new(program);
    path.ends_with(NAME) || env.program.as_deref() == Some(path)
}

/// Whether a command runs hookrun in any way.
pub(crate) fn runs_hookrun(text: &str, env: &Environment) -> bool {
    let words = shell_words::split(text).unwrap_or_default();
    if let Some((Launch::Search, ..)) = Launch::read(&words) {
        return true;
    }
    shell::read(text).commands.iter().any(|command| {
        let first = command.args.first().and_then(ShellWord::known);
        is_hookrun(command.program.shown(), env) && first == Some("run")
    })
}

const MARKS: [&str; 2] = [
    "// Written by `hookrun install`",
    "#!/bin/sh\n# Written by `hookrun install`",
];

const FAILED: &str = r#"{"cancel":true,"errorMessage":"hookrun ended without a decision"}"#;

const ASK: &str = include_str!("plugin/ask.js");

/// The text of a host's plugin, or of its script for an event.
pub(crate) fn write_plugin(host: &Host, rows: &[&HostEvent], launch: &Launch) -> String {
    let template = match host.install.form {
        HostForm::Plugin(plugin) => format!("{ASK}{}", plugin.text),
        HostForm::Scripts(text) => text.to_string(),
        HostForm::Settings | HostForm::Nothing => return String::new(),
    };
    let mut events = Map::new();
    for row in rows {
        let wait = u64::try_from(row.timeout().as_millis()).unwrap_or(u64::MAX);
        events.insert(row.name.to_string(), json!([row.event, wait]));
    }
    let is_closed = rows.iter().any(|row| row.fails_closed());
    let line = launch.line(&format!("run --host {}", host.name), false);
    template
        .replace("@COMMAND@", &line)
        .replace("@FAILED@", if is_closed { FAILED } else { "{}" })
        .replace("\"@HOST@\"", &json!(host.name).to_string())
        .replace("\"@LAUNCH@\"", &json!(launch.words()).to_string())
        .replace("\"@EVENTS@\"", &Value::Object(events).to_string())
}

/// Parses a plugin or script of ours: its launch, and its events with their timeouts. `None` for any
/// other text.
pub(crate) fn read_plugin(text: &str) -> Option<(Launch, Vec<(String, Duration)>)> {
    if !MARKS.iter().any(|mark| text.starts_with(mark)) {
        return None;
    }
    let mut events = Vec::new();
    for (name, event) in value(text, "EVENTS")?.as_object()? {
        let wait = event.get(1).and_then(Value::as_u64)?;
        events.push((name.clone(), Duration::from_millis(wait)));
    }
    let words: Vec<String> = serde_json::from_value(value(text, "LAUNCH")?).ok()?;
    match Launch::read(&words)? {
        (launch, _, []) => Some((launch, events)),
        _ => None,
    }
}

/// The value of a constant; in a script it is a comment.
fn value(text: &str, name: &str) -> Option<Value> {
    let script = format!("# {name} = ");
    let plugin = format!("const {name} = ");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&script).or(line.strip_prefix(&plugin)))?;
    serde_json::from_str(line.trim_end_matches(';')).ok()
}
