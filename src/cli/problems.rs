//! Problems of hooks beyond their configuration: missing programs, syntax errors, misspelled tools;
//! and misnamed hook folders.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::discover;
use crate::config::{Choice, Config, Environment, Position, Problem, Severity, line_of_directive};
use crate::engine::complaint::{self, Complaint};
use crate::engine::event::action::TOOLS;
use crate::engine::exec::command;
use crate::engine::hook::matcher::kind;
use crate::engine::hook::{Handler, Hook, Lives};

use crate::engine::errand::Errand;

/// The timeout of a syntax check. Python alone starts in 10 to 80 ms.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// Syntax checks by interpreter (a prefix of its name), which do not run the script.
const SYNTAX_CHECKS: &[(&str, &[&str])] = &[
    ("sh", &["-n"]),
    ("bash", &["-n"]),
    ("dash", &["-n"]),
    ("zsh", &["-n"]),
    ("ksh", &["-n"]),
    (
        "python",
        &[
            "-I",
            "-S",
            "-c",
            "import sys\ntry: compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')\n\
             except SyntaxError as e: sys.exit(f'line {e.lineno or 1}: syntax error: {e.msg}')",
        ],
    ),
    ("ruby", &["-c"]),
    // Not Perl: `perl -c` runs BEGIN blocks and `use`.
    ("node", &["--check"]),
];

pub(crate) fn all_problems(config: &Config, env: &Environment) -> Vec<Problem> {
    let of_hooks = config.hooks.iter().flat_map(|hook| problems_of(hook, env));
    let found = of_hooks.chain(config.problems.clone());
    found
        .filter(|problem| problem.severity != Severity::Note)
        .collect()
}

/// The error for a named hook that was not loaded because of an error in its file, printed before.
pub(crate) fn not_loaded(name: &str, config: &Config) -> Option<Complaint> {
    config.problems.iter().find(|problem| {
        problem.severity == Severity::Error
            && problem.file.file_name().is_some_and(|file| file == name)
    })?;
    let cause = format!("the hook `{name}` has an error, so it is not loaded");
    Some(Complaint::with_cure(cause, "fix the error above"))
}

pub(crate) fn problems_of(hook: &Hook, env: &Environment) -> Vec<Problem> {
    let line = hook.source.line;
    let mut found = Vec::new();
    match command::resolve(&hook.handler, env.search.as_deref()) {
        Err(_) if hook.is_rule() => {}
        Err(error) => {
            let complaint = cannot_start(hook, error);
            found.push(problem(hook, Severity::Error, line, complaint));
        }
        Ok(program) if matches!(hook.handler, Handler::File(_)) => {
            found.extend(script_problem(hook, &program, env));
        }
        Ok(_) => {}
    }
    found.extend(tool_problems(hook));
    if hook.lives == Lives::Session {
        let cause = format!(
            "`hookrun run` does not start `{}`, because the hook runs for a whole session (`lives = \"session\"`)",
            hook.name
        );
        let cure = "use a program that runs for the whole session, such as `hookrun serve`";
        let line = line.or_else(|| line_of_directive(&hook.source.file, "lives"));
        let complaint = Complaint::with_cure(cause, cure);
        found.push(problem(hook, Severity::Note, line, complaint));
    }
    found
}

fn problem(hook: &Hook, severity: Severity, line: Option<usize>, complaint: Complaint) -> Problem {
    let at = line.map(|line| Position { line, column: 1 });
    Problem {
        severity,
        events: vec![hook.event.clone()],
        ..complaint.in_file(&hook.source.file, at)
    }
}

fn cannot_start(hook: &Hook, error: Complaint) -> Complaint {
    Complaint {
        cause: format!("`{}` cannot start: {}", hook.name, error.cause),
        ..error
    }
}

/// Reports probably misspelled names in a tool matcher, which match nothing.
pub(crate) fn tool_problems(hook: &Hook) -> Vec<Problem> {
    let line = hook
        .source
        .line
        .or_else(|| line_of_directive(&hook.source.file, "tool"));
    let mut found = Vec::new();
    for tool in hook.matcher.literal_tools() {
        let known = TOOLS
            .iter()
            .flat_map(|class| class.names.iter().copied().chain([class.word]));
        let Some(nearest) = complaint::nearest(tool, known) else {
            continue;
        };
        let cause = format!("no known agent has a tool `{tool}`");
        let cure = format!("did you mean `{nearest}`?");
        let complaint = Complaint::with_cure(cause, cure);
        found.push(problem(hook, Severity::Warning, line, complaint));
    }
    found
}

fn script_problem(hook: &Hook, program: &command::Program, env: &Environment) -> Option<Problem> {
    let wrong = |line, complaint| problem(hook, Severity::Error, line, complaint);
    if let Err(error) = command::check_format(program) {
        return Some(wrong(None, cannot_start(hook, error)));
    }
    let line = command::interpreter_of(&program.path)?;
    let interpreter = kind::program_of_line(&line)?;
    let search = env.search.as_deref();
    if !interpreter.contains('/') && command::find_in_path(interpreter, search).is_none() {
        let cause = format!("its first line names `{interpreter}`, which is not in PATH");
        let near = command::near_program(interpreter, |name| {
            command::find_in_path(name, search).is_some()
        });
        let error = Complaint::with_cure(cause, command::interpreter_cure(near.as_deref()));
        return Some(wrong(Some(1), cannot_start(hook, error)));
    }
    let (at, message) = syntax_error(&program.path, interpreter)?;
    let cause = format!("`{}` does not parse: {message}", hook.name);
    Some(wrong(at, Complaint::with_cure(cause, "fix its syntax")))
}

/// The line and message of a script's first syntax error, from its interpreter.
fn syntax_error(script: &Path, program: &str) -> Option<(Option<usize>, String)> {
    let name = Path::new(program)
        .file_name()?
        .to_string_lossy()
        .into_owned();
    let (_, arguments) = SYNTAX_CHECKS.iter().find(|(known, _)| {
        name.strip_prefix(known)
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
    })?;
    // Do not run a program that comes with the hooks.
    let folder = Path::new(program).parent().and_then(Path::to_str);
    if program.contains('/') && !matches!(folder, Some("/bin" | "/usr/bin" | "/usr/local/bin")) {
        return None;
    }
    let script = script.to_str()?;
    let mut all: Vec<&str> = arguments.to_vec();
    all.push(script);
    // A check that cannot run is not the hook's problem.
    let output = Errand::new(program, &all, PROBE_LIMIT)
        .output()
        .ok()
        .flatten()?;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    // bash exits with 0 after some errors, and so would the hook.
    let lines: Vec<&str> = message.trim().lines().collect();
    let of_script = lines
        .iter()
        .find(|line| line.starts_with(script) && !line.contains(" warning: "));
    if output.status.success() && of_script.is_none() {
        return None;
    }
    // bash quotes the line below its message, node prints its version below that.
    let message = lines
        .iter()
        .find(|line| line.to_ascii_lowercase().contains("error"))
        .or(of_script)
        .or(lines.last())
        .copied()
        .unwrap_or("no message");
    let (mut at, message) = numbered(message, script);
    if at.is_none() {
        at = lines.iter().find_map(|other| numbered(other, script).0);
    }
    Some((at, message.into()))
}

/// Splits `path: line 3: message` and similar formats.
fn numbered<'m>(message: &'m str, script: &str) -> (Option<usize>, &'m str) {
    let message = message.trim();
    let rest = message
        .strip_prefix(script)
        .unwrap_or(message)
        .trim_start_matches([':', ' ']);
    let rest = rest.strip_prefix("line ").unwrap_or(rest);
    let (number, text) = rest.split_once(':').unwrap_or((rest, ""));
    match number.parse() {
        Ok(line) => (Some(line), text.trim()),
        Err(_) => (None, rest),
    }
}

/// Returns where hooks are looked for.
pub(crate) fn searched_places(choice: &Choice, env: &Environment) -> Vec<PathBuf> {
    let named = choice.explicit.iter().chain(&choice.settings);
    let mut places: Vec<PathBuf> = named.map(|path| env.cwd.join(path)).collect();
    if places.is_empty() || choice.discover {
        places.extend(discover::places(choice, env));
    }
    places
}

/// Reports that there are no hooks, which allows everything.
pub(crate) fn no_hooks(config: &Config, choice: &Choice, env: &Environment) -> Option<Problem> {
    if !config.hooks.is_empty() || config.has_errors() {
        return None;
    }
    let places = searched_places(choice, env);
    let shown = places.iter().map(|place| place.display().to_string());
    let shown = shown.collect::<Vec<_>>().join(", ");
    let cause = format!("no hooks were found; looked in {shown}");
    let cure = "put an executable file in hooks.d/EVENT/; `hookrun init` adds starter guards";
    let complaint = Complaint::with_cure(cause, cure);
    Some(complaint.warning(places.first()?, None))
}
