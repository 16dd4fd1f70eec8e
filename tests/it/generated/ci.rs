//! The page about CI, and the files of other runners that start hookrun: they name what there is.
//!
//! `action.yml` and `.pre-commit-hooks.yaml` are read line by line, in the plain form that they
//! have; a test fails if they get another.

mod release;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;

use super::{code, read, root, table, walk};
use crate::sandbox::{Ran, Sandbox};

/// An input of the action: its name, what it is, what it is if it is not given.
fn inputs() -> Vec<[String; 3]> {
    let text = read("action.yml");
    let (_, after) = text.split_once("\ninputs:\n").unwrap();
    let (inputs, _) = after.split_once("\n\n").unwrap();
    let form = r#"(?m)^  ([a-z-]+):\n    description: (.+)\n    required: (?:true|false)(?:\n    default: (.+))?$"#;
    let form = Regex::new(form).unwrap();
    let found = form.captures_iter(inputs).map(|found| {
        let default = found.get(3).map_or("required", |default| default.as_str());
        [1, 2]
            .map(|at| found[at].to_string())
            .into_iter()
            .chain([default.replace("\"\"", "")])
    });
    let rows: Vec<[String; 3]> = found
        .map(|row| row.collect::<Vec<_>>().try_into().unwrap())
        .collect();
    assert_eq!(
        rows.len(),
        inputs
            .lines()
            .filter(|line| !line.starts_with("   "))
            .count()
    );
    rows
}

pub(super) fn action_inputs() -> String {
    let rows = inputs().into_iter().map(|[name, about, default]| {
        let default = if default == "." {
            code(&default)
        } else {
            default
        };
        [code(&name), about, default]
    });
    table(["input", "what it is", "default"], rows)
}

/// An entry for pre-commit: its keys and values.
fn entries() -> Vec<Vec<(String, String)>> {
    let text = read(".pre-commit-hooks.yaml");
    let line = Regex::new(r"^(?:- |  )([a-z_]+): (.+)$").unwrap();
    let mut entries: Vec<Vec<(String, String)>> = Vec::new();
    for text in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let found = line
            .captures(text)
            .unwrap_or_else(|| panic!("not read: {text}"));
        if text.starts_with('-') {
            entries.push(Vec::new());
        }
        entries
            .last_mut()
            .unwrap()
            .push((found[1].to_string(), found[2].to_string()));
    }
    entries
}

fn value<'e>(entry: &'e [(String, String)], key: &str) -> &'e str {
    entry
        .iter()
        .find(|(known, _)| known == key)
        .map_or("", |(_, value)| value)
}

pub(super) fn pre_commit_hooks() -> String {
    let rows = entries().into_iter().map(|entry| {
        let what = value(&entry, "name")
            .trim_start_matches("hookrun ")
            .to_string();
        [
            code(value(&entry, "id")),
            code(value(&entry, "entry")),
            what,
        ]
    });
    table(["id", "command", "what it does"], rows)
}

#[test]
fn the_page_about_ci_shows_what_happens() {
    let place = tempfile::Builder::new().prefix("ci").tempdir().unwrap();
    let shop = place.path().canonicalize().unwrap().join("shop");
    fs::create_dir(&shop).unwrap();
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.at("home/hookrun")).unwrap();
    let mut copy = Command::new("/bin/cp");
    copy.arg("-a")
        .arg(root().join("gates"))
        .arg(sandbox.at("home/hookrun"));
    assert!(copy.status().unwrap().success());
    walk("docs/ci.md", &sandbox, &shop, "/home/you/shop");
}

#[test]
fn what_the_action_hands_over_is_what_its_script_takes() {
    let action = read("action.yml");
    let set = Regex::new(r"(?m)^        (ACTION_[A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}$").unwrap();
    let handed: Vec<(String, String)> = set
        .captures_iter(&action)
        .map(|set| (set[1].to_string(), set[2].to_string()))
        .collect();
    for (variable, input) in &handed {
        assert_eq!(
            *variable,
            format!("ACTION_{}", input.to_uppercase().replace('-', "_"))
        );
    }
    let mut used: BTreeSet<String> = handed.iter().map(|(_, input)| input.clone()).collect();
    used.insert("working-directory".to_string());
    assert_eq!(used, inputs().into_iter().map(|[name, ..]| name).collect());

    let script = read("ci/action.sh");
    let taken = Regex::new(r"ACTION_[A-Z_]+").unwrap();
    let taken: BTreeSet<&str> = taken
        .find_iter(&script)
        .map(|found| found.as_str())
        .filter(|name| *name != "ACTION_PATH")
        .collect();
    assert_eq!(
        taken,
        handed
            .iter()
            .map(|(variable, _)| variable.as_str())
            .collect()
    );
    // Inputs are never text of a script: they would be code.
    let run = action.split_once("      run: ").unwrap().1;
    assert!(!run.contains("${{"), "{run}");
}

/// The action's script with these variables, and what it put out.
fn action(sandbox: &Sandbox, variables: &[(&str, &str)]) -> (Ran, String) {
    let output = sandbox.at("output");
    fs::write(&output, "").unwrap();
    let mut script = Command::new(root().join("ci/action.sh"));
    script.current_dir(sandbox.path()).env_clear();
    script.envs(
        sandbox
            .command(&[])
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    script
        .env("GITHUB_OUTPUT", &output)
        .env("ACTION_BINARY", env!("CARGO_BIN_EXE_hookrun"));
    let ran = Ran::from(script.envs(variables.iter().copied()).output().unwrap());
    (ran, fs::read_to_string(output).unwrap())
}

/// What the runner takes for commands in a step's output: not between `::stop-commands::TOKEN` and
/// `::TOKEN::`.
fn commands(output: &str) -> Vec<String> {
    let mut stopped: Option<String> = None;
    let mut taken = Vec::new();
    for line in output.split(['\n', '\r']).map(str::trim_start) {
        let token = stopped.as_ref().map(|token| format!("::{token}::"));
        if let Some(token) = token {
            if line == token {
                stopped = None;
            }
        } else if let Some(token) = line.strip_prefix("::stop-commands::") {
            stopped = Some(token.to_string());
        } else if line.starts_with("::") || line.contains("##[") {
            taken.push(line.to_string());
        }
    }
    assert_eq!(stopped, None, "commands are on again: {output}");
    taken
}

#[test]
fn the_action_goes_on_or_stops_the_job() {
    let look = r#"case $(hookrun hook field service --default '') in shop) echo 'not the shop' >&2; exit 1; esac"#;
    let sandbox = Sandbox::new()
        .hook_for("own.pre", "look", look)
        .file(
            "hookrun.toml",
            "[event.\"own.pre\"]\nsummary = \"it starts\"\n",
        )
        .file("shop.json", r#"{"service": "shop"}"#);
    let own = ("ACTION_EVENT", "own.pre");

    let allowed = "hookrun: own.pre is allowed\n";
    let (ran, output) = action(
        &sandbox,
        &[own, ("ACTION_CONTEXT", r#"{"service": "bank"}"#)],
    );
    assert_eq!(
        (ran.status, ran.stdout.as_str(), output.as_str()),
        (0, allowed, "allowed=true\n")
    );
    let (ran, _) = action(&sandbox, &[own]);
    assert_eq!(ran.status, 0, "an empty context: {ran:?}");

    let (ran, output) = action(&sandbox, &[own, ("ACTION_CONTEXT_FILE", "shop.json")]);
    ran.exits(2);
    assert_eq!(
        commands(&ran.stdout),
        ["::error title=look blocked own.pre::not the shop"]
    );
    assert_eq!(output, "allowed=false\n");

    let arguments = "--budget\n10s\n--jobs=1\n";
    let more = [("ACTION_HOOKS", "hooks.d\n"), ("ACTION_ARGS", arguments)];
    let (ran, _) = action(&sandbox, &[&[own], &more[..]].concat());
    ran.exits(2).prints("unknown event `own.pre`");
}

/// Each of these is a refusal: a status, `allowed=false`, and exactly one annotation.
#[test]
fn a_mistake_in_the_action_stops_the_job() {
    let sandbox = Sandbox::new()
        .file("a.json", "{}")
        .script("true", "#!/bin/sh\n")
        .script(
            "fails",
            "#!/bin/sh\nprintf '::error::%s\\n' no >&2\nexit 7\n",
        );
    for (variables, said) in [
        (
            &[("ACTION_CONTEXT", "{}"), ("ACTION_CONTEXT_FILE", "a.json")][..],
            "exclude each other",
        ),
        (
            &[("ACTION_CONTEXT_FILE", "b.json")],
            "context-file cannot be read: b.json",
        ),
        (
            &[("ACTION_CONTEXT_FILE", "/tmp")],
            "context-file cannot be read: /tmp",
        ),
        (
            &[("ACTION_CONTEXT_FILE", "x\n::warning::hey%")],
            "read: x%0A::warning::hey%25",
        ),
        (
            &[("ACTION_BINARY", "/nowhere/hookrun")],
            "the input binary is no program",
        ),
        (
            &[("ACTION_BINARY", "/tmp")],
            "the input binary is no program: /tmp",
        ),
        (
            &[("ACTION_BINARY", "x\r::warning::hey%")],
            "no program: x%0D::warning::hey%25",
        ),
        (
            &[("ACTION_BINARY", "true")],
            "nothing was decided: hookrun ended with status 0%0A",
        ),
        (
            &[("ACTION_BINARY", "fails")],
            "hookrun ended with status 7 and said: ::error::no%0A",
        ),
        (
            &[("ACTION_CONTEXT", "no JSON")],
            "the event is not a JSON object",
        ),
        (
            &[("ACTION_ARGS", "--no-such-option")],
            "unexpected argument '--no-such-option'",
        ),
        (
            &[("ACTION_ARGS", "--budget 60s")],
            "The input args has one argument a line",
        ),
        (
            &[("ACTION_ARGS", "--format=json")],
            "cannot be used multiple times",
        ),
        (
            &[("ACTION_ARGS", "--help")],
            "nothing was decided: hookrun ended with status 0%0A",
        ),
        (&[("ACTION_ARGS", "two")], "unexpected argument `two`"),
        (
            &[("ACTION_EVENT", "--help")],
            "the input event is no name of an event: --help",
        ),
        (&[("ACTION_EVENT", "")], "the input event is empty"),
        (
            &[("ACTION_EVENT", "no.such%\n::event")],
            "unknown event `no.such%25%0A::event`",
        ),
        (&[("RUNNER_TEMP", "/nowhere")], "the action itself failed"),
    ] {
        let (ran, output) = action(
            &sandbox,
            &[&[("ACTION_EVENT", "gc.pre")], variables].concat(),
        );
        assert_ne!(ran.status, 0, "{said}: {ran:?}");
        assert_eq!(output, "allowed=false\n", "{said}");
        let commands = commands(&ran.stdout);
        assert_eq!(commands.len(), 1, "{said}: {commands:?}");
        assert!(
            commands[0].starts_with("::error title=hookrun"),
            "{said}: {commands:?}"
        );
        assert!(commands[0].contains(said), "{said}: {commands:?}");
    }
}

#[test]
fn what_a_hook_says_is_no_command_of_the_action() {
    let said = r"printf 'no\n::stop-commands::x\n::add-mask::y\nz ##[add-mask]z' >&2; exit 1";
    let sandbox = Sandbox::new().hook_for("compact.pre", "look", said);
    let (ran, output) = action(
        &sandbox,
        &[("ACTION_EVENT", "compact.pre"), ("HOOKRUN_LOG", "trace")],
    );
    ran.exits(2);
    let commands = commands(&ran.stdout);
    assert_eq!(commands.len(), 1, "{commands:?}");
    assert!(
        commands[0].starts_with("::error title=look blocked compact.pre::no%0A"),
        "{commands:?}"
    );
    assert_eq!(
        (output.as_str(), ran.stderr.as_str()),
        ("allowed=false\n", "")
    );
}

/// A host is refused with the status 0 where it reads a refusal; a job reads none.
#[test]
fn a_question_in_the_words_of_a_host_stops_the_job() {
    let sandbox = Sandbox::new().hook("look", r#"echo '{"ask":"really?"}'"#);
    let payload = r#"{"hook_event_name":"PreToolUse","session_id":"1","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let asked = [
        ("ACTION_EVENT", "PreToolUse"),
        ("ACTION_ARGS", "--host=claude"),
    ];
    let (ran, output) = action(
        &sandbox,
        &[&asked[..], &[("ACTION_CONTEXT", payload)]].concat(),
    );
    ran.exits(2);
    assert_eq!(
        commands(&ran.stdout),
        ["::error title=look asks about tool.pre::really?"]
    );
    assert_eq!(output, "allowed=false\n");
}

#[test]
fn the_action_is_built_in_its_own_folder() {
    let cargo = r#"#!/bin/sh
{ pwd; echo "${RUSTUP_TOOLCHAIN-none} ${RUSTFLAGS-none}"; echo "$@"; } > "$RUNNER_TEMP/asked"
echo '::add-mask::x'
while [ "$1" != --root ]; do shift; done
[ -z "$INSTALLS" ] || { mkdir -p "$2/bin"; cp "$INSTALLS" "$2/bin/hookrun"; }
"#;
    let sandbox = Sandbox::new()
        .script("tools/cargo", cargo)
        .file("rust-toolchain.toml", "no");
    let tools = format!("{}:/usr/bin:/bin", sandbox.at("tools").display());
    let temporary = sandbox.path().canonicalize().unwrap();
    let source = root();
    let variables = [
        ("ACTION_EVENT", "gc.pre"),
        ("ACTION_BINARY", ""),
        ("PATH", tools.as_str()),
        ("RUNNER_TEMP", temporary.to_str().unwrap()),
        ("GITHUB_ACTION_PATH", source.to_str().unwrap()),
        ("RUSTUP_TOOLCHAIN", "nightly"),
        ("RUSTFLAGS", "-Dwarnings"),
    ];
    let (ran, output) = action(&sandbox, &variables);
    ran.exits(2);
    let none = format!("there is no {}/hookrun/bin/hookrun", temporary.display());
    let said = format!("::error title=hookrun::cargo has built no hookrun: {none}");
    assert_eq!(commands(&ran.stdout), [said]);
    assert_eq!(output, "allowed=false\n");
    let asked = sandbox.read("asked");
    let asked: Vec<&str> = asked.lines().collect();
    assert_eq!(asked[..2], [source.to_str().unwrap(), "none none"]);
    assert!(asked[2].contains("--locked --path . --root "), "{asked:?}");

    let installs = [("INSTALLS", env!("CARGO_BIN_EXE_hookrun"))];
    let (ran, output) = action(&sandbox, &[&variables[..], &installs].concat());
    assert_eq!(
        (ran.status, output.as_str()),
        (0, "allowed=true\n"),
        "{ran:?}"
    );
    // What the action needed for a while is gone.
    let left = fs::read_dir(&temporary)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let left: Vec<String> = left.filter(|name| name.contains("action")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_entries_for_pre_commit_are_command_lines_of_hookrun() {
    let sandbox = Sandbox::new()
        .hook_for("commit.msg", "look", "exit 0")
        .file("message", "Say why\n");
    sandbox
        .hookrun(&["new", "first", "--event", "tool.pre"], b"")
        .exits(0);
    let mut init = Command::new("git");
    init.args(["init", "-q"])
        .current_dir(sandbox.path())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    assert!(init.status().unwrap().success());
    let ids: Vec<String> = entries()
        .iter()
        .map(|entry| value(entry, "id").to_string())
        .collect();
    assert_eq!(
        ids.len(),
        ids.iter().collect::<BTreeSet<_>>().len(),
        "{ids:?}"
    );
    for entry in entries() {
        assert_eq!(value(&entry, "language"), "system");
        // Filters see no file that is deleted.
        assert_eq!(
            (value(&entry, "always_run"), value(&entry, "files")),
            ("true", "")
        );
        let words: Vec<&str> = value(&entry, "entry").split(' ').collect();
        let (first, mut arguments) = words.split_first().map(|(a, b)| (*a, b.to_vec())).unwrap();
        assert_eq!(first, "hookrun");
        // The runner adds what was changed, or the file with the message.
        if value(&entry, "pass_filenames") != "false" {
            arguments.push("message");
        }
        let ran = sandbox.hookrun(&arguments, b"");
        assert_eq!(ran.status, 0, "{arguments:?}: {ran:?}");
    }
}

/// The blocks of YAML on the page, in its order.
fn yaml() -> Vec<String> {
    let text = read("docs/ci.md");
    let blocks = text.split("```yaml\n").skip(1);
    blocks
        .map(|block| block.split_once("```").unwrap().0.to_string())
        .collect()
}

/// The jobs of a workflow: their names and what is below them.
fn jobs(workflow: &str) -> Vec<(String, Vec<&str>)> {
    let mut jobs: Vec<(String, Vec<&str>)> = Vec::new();
    let (_, all) = workflow.split_once("\njobs:\n").unwrap();
    for line in all.lines() {
        match line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '))
        {
            Some(name) => jobs.push((name.trim_end_matches(':').to_string(), Vec::new())),
            None => jobs.last_mut().unwrap().1.push(line),
        }
    }
    jobs
}

#[test]
fn the_workflows_on_the_page_are_whole() {
    let workflows: Vec<String> = yaml()
        .into_iter()
        .filter(|block| block.contains("\njobs:\n"))
        .collect();
    assert_eq!(workflows.len(), 2);
    for (name, lines) in workflows.iter().flat_map(|workflow| jobs(workflow)) {
        for key in ["    runs-on: ", "    steps:"] {
            assert!(
                lines.iter().any(|line| line.starts_with(key)),
                "{name} has no {key}"
            );
        }
        let first = |word: &str| lines.iter().position(|line| line.contains(word));
        // Before something is used, a step brings it.
        for (used, brought) in [
            ("run: hookrun", "cargo install"),
            ("run: hookrun replay events.jsonl", "actions/checkout@"),
            ("run: terraform", "hashicorp/setup-terraform@"),
            ("hooks: gates", "actions/checkout@"),
        ] {
            let Some(used_at) = first(used) else { continue };
            assert!(
                first(brought).is_some_and(|at| at < used_at),
                "{name}: {used} lacks {brought}"
            );
        }
    }
    for workflow in &workflows {
        assert!(
            workflow.starts_with("on: ") || workflow.contains("\non: "),
            "{workflow}"
        );
    }
}

/// Where Python has a parser.
#[test]
fn the_yaml_on_the_page_and_of_the_action_is_yaml() {
    let mut python = Command::new("python3");
    python
        .args(["-c", "import yaml"])
        .stderr(std::process::Stdio::null());
    if !python.status().is_ok_and(|status| status.success()) {
        return;
    }
    let files = [read("action.yml"), read(".pre-commit-hooks.yaml")];
    for text in yaml().into_iter().chain(files) {
        let mut python = Command::new("python3");
        python.args([
            "-c",
            "import sys, yaml; assert yaml.safe_load(sys.argv[1])",
            &text,
        ]);
        assert!(python.status().unwrap().success(), "{text}");
    }
}

/// The command lines of hookrun in those blocks.
fn recipes() -> Vec<String> {
    let blocks = yaml().join("\n");
    let lines = blocks
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.contains("cargo install"));
    let lines = lines.filter_map(|line| {
        if let Some(command) = line.strip_prefix("command: [sh, -c, '") {
            return command.strip_suffix("']");
        }
        let line = line.trim_start_matches("- ");
        let line = line
            .strip_prefix("run: ")
            .or(line.strip_prefix("script: "))
            .unwrap_or(line);
        (line.starts_with("hookrun ") || line.contains("| hookrun ")).then_some(line)
    });
    lines.map(str::to_string).collect()
}

#[test]
fn the_recipes_on_the_page_run_where_gates_lies_in_the_project() {
    let sandbox = Sandbox::new().file(
        "package-lock.json",
        r#"{"lockfileVersion":3,"packages":{}}"#,
    );
    let here = sandbox.path().display().to_string();
    let binary = Path::new(env!("CARGO_BIN_EXE_hookrun")).parent().unwrap();
    let shell = |line: &str| {
        let mut shell = Command::new("/bin/bash");
        shell
            .args(["-e", "-o", "pipefail", "-c", line])
            .current_dir(&here)
            .env_clear();
        shell.env(
            "PATH",
            format!("{}:/usr/local/bin:/usr/bin:/bin", binary.display()),
        );
        shell
            .env("HOME", sandbox.at("home"))
            .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", "base");
        Ran::from(shell.output().unwrap())
    };
    let gates = root().join("gates").display().to_string();
    // The cases of one gate will do.
    let layout = format!(
        "cp -r '{gates}' . && find gates/hooks.d/tests -name '*.toml' ! -name freeze.toml -delete
         git init -q -b main && git config user.name Ann && git config user.email ann@example.com
         git add -A && git commit -qsm 'Add gates' && git tag base
         echo x > x && git add x && git commit -qsm 'Add x'
         echo '{{\"base\": \"base\"}}' | hookrun run commits.pre --hooks gates --record events.jsonl"
    );
    shell(&layout).exits(0);
    assert!(
        sandbox.at("gates/hooks.d/tests/freeze.toml").exists(),
        "one file of cases"
    );
    let recipes = recipes();
    assert_eq!(recipes.len(), 4, "{recipes:#?}");
    for line in recipes {
        let ran = shell(&line);
        assert_eq!(ran.status, 0, "{line}: {ran:?}");
    }
}
