//! `--format github`: what the runner of a job reads, and what a job shows on its page.

use crate::sandbox::{Ran, Sandbox};

const GITHUB: &[&str] = &["run", "tool.pre", "--format", "github"];

/// Whether the runner takes the line for a command: it trims first, and the older form may stand
/// anywhere.
fn is_command(line: &str) -> bool {
    line.trim_start().starts_with("::") || line.contains("##[")
}

#[test]
fn nothing_on_stderr_is_a_command() {
    let said = r"printf 'no\n::add-mask::x\n  ::stop-commands::y\nz ##[set-env name=A]b\n\r::error::w\n' >&2; exit 1";
    let ran = Sandbox::new().hook("guard", said).hookrun(GITHUB, b"{}");
    ran.exits(2);
    let commands: Vec<&str> = ran
        .stderr
        .split(['\n', '\r'])
        .filter(|line| is_command(line))
        .collect();
    assert!(commands.is_empty(), "{commands:?}");
    assert!(
        ran.stderr
            .contains(": :add-mask::x\n  : :stop-commands::y\n"),
        "{}",
        ran.stderr
    );
    // The annotation has it as it was said.
    ran.prints(
        "::no%0A::add-mask::x%0A  ::stop-commands::y%0Az ##[set-env name=A]b%0A\\r::error::w\n",
    );
    // To a host it is told as it is.
    let sandbox = Sandbox::new().hook("guard", said);
    assert!(sandbox.run("tool.pre").stderr.contains("\n::add-mask::x\n"));
}

#[test]
fn a_notice_a_remark_or_a_log_is_no_command_either() {
    let sandbox = Sandbox::new()
        .hook_for(
            "tool.post",
            "guard",
            r"printf 'no\n::error::x ##[add-mask]y\n' >&2; exit 1",
        )
        .hook_for("turn.end", "a ##[add-mask]b", "exit 0");
    for (arguments, said) in [
        (&["tool.post"][..], "no\n: :error::x ## [add-mask]y\n"),
        (
            &["tool.pre", "--record", "no\n::error::x/file"],
            "/no\n: :error::x/file`: No such file",
        ),
        (
            &["turn.end", "--log", "trace", "--jobs", "1"],
            "hook=\"a ## [add-mask]b\"",
        ),
    ] {
        let arguments = [&["run", "--format", "github"][..], arguments].concat();
        let ran = sandbox.hookrun(&arguments, b"{}");
        ran.says(said);
        let command = ran.stderr.split(['\n', '\r']).find(|line| is_command(line));
        assert_eq!(command, None, "{arguments:?}: {ran:?}");
    }
}

#[test]
fn the_last_line_says_what_was_decided() {
    let allowed = Sandbox::new().hook("a.sh", "").hookrun(GITHUB, b"{}");
    allowed.exits(0);
    assert_eq!(allowed.stdout, "hookrun: tool.pre is allowed\n");
    let refused = Sandbox::new().hookrun(&["run", "no.\n::error::x", "--format", "github"], b"{}");
    refused.exits(2);
    assert!(
        refused
            .stdout
            .ends_with("\nhookrun: no.\\n::error::x is blocked\n"),
        "{refused:?}"
    );
}

/// Hosts that read what stands on stdout are refused with the status 0, or ask their user.
#[test]
fn a_job_stops_where_a_host_would_read_the_block() {
    let payload = br#"{"hook_event_name":"PreToolUse","session_id":"1","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let arguments = ["run", "--host", "claude", "--format", "github"];
    let sandbox = Sandbox::new().hook("guard", r#"echo '{"ask":"really?"}'"#);
    let ran = sandbox.hookrun(&arguments, payload);
    ran.exits(2)
        .prints("::error title=guard asks about tool.pre::really?\n");
    assert!(
        ran.stdout.ends_with("hookrun: tool.pre is blocked\n"),
        "{ran:?}"
    );
    sandbox.hookrun(&arguments[..3], payload).exits(0);

    let mistake = ran_with_a_mistake();
    mistake
        .exits(0)
        .prints("::warning title=hookrun::the hooks have an error");
    assert!(
        mistake.stdout.ends_with("hookrun: tool.post is allowed\n"),
        "{mistake:?}"
    );
}

/// An event that cannot be refused, where the configuration is broken.
fn ran_with_a_mistake() -> Ran {
    let sandbox = Sandbox::new().file("hookrun.toml", "nonsense");
    sandbox.hookrun(&["run", "tool.post", "--format", "github"], b"{}")
}

/// A finding at each of these paths, as a job whose workspace is the sandbox sees them.
fn files(folder: &str, context: &str, paths: &[&str]) -> Vec<String> {
    let findings: Vec<String> = paths
        .iter()
        .map(|path| format!(r#"{{"path":"{path}","message":"m"}}"#))
        .collect();
    let sandbox = Sandbox::new();
    let workspace = sandbox.path().canonicalize().unwrap();
    let findings = findings
        .join(",")
        .replace("{workspace}", workspace.to_str().unwrap());
    let print = format!("printf '%s\\n' '{{\"findings\":[{findings}]}}'");
    let sandbox = sandbox
        .file("src/hookrun.toml", "")
        .file("src/main.tf", "")
        .file("src/infra/main.tf", "")
        .file("src/infra/deep/a.tf", "")
        .file("top.tf", "")
        .script("hooks.d/tool.pre/guard", &format!("#!/bin/sh\n{print}\n"));
    let hooks = workspace.join("hooks.d/..");
    let arguments = [GITHUB, &["--hooks", hooks.to_str().unwrap()]].concat();
    let ran = sandbox.hookrun_as(
        |hookrun| {
            hookrun
                .current_dir(workspace.join(folder))
                .env("GITHUB_WORKSPACE", &workspace);
        },
        &arguments,
        context.as_bytes(),
    );
    ran.exits(0);
    let shown = ran
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("::error file="));
    shown
        .map(|line| line.split_once(",title=").unwrap().0.to_string())
        .collect()
}

#[test]
fn the_files_of_annotations_are_named_from_the_workspace() {
    let paths = [
        "main.tf",
        "infra/main.tf",
        "{workspace}/src/main.tf",
        "../top.tf",
    ];
    let shown = ["src/main.tf", "src/infra/main.tf", "src/main.tf", "top.tf"];
    assert_eq!(files("src", "{}", &paths), shown);
    // What is not there, or outside, stays as it is.
    let paths = [
        "gone.tf",
        "/etc/passwd",
        "../../../../../../../../etc/passwd",
        "src/main.tf",
    ];
    assert_eq!(files("src", "{}", &paths), paths);
    // The event's folder, and what is around it, where the project has no such file.
    assert_eq!(
        files("src", r#"{"cwd":"infra/deep"}"#, &["a.tf", "main.tf"]),
        ["src/infra/deep/a.tf", "src/infra/main.tf"]
    );
    assert_eq!(
        files("", r#"{"cwd":"src/infra"}"#, &["main.tf", "infra/main.tf"]),
        ["src/infra/main.tf", "src/infra/main.tf"]
    );
}

#[test]
fn without_a_workspace_files_are_named_as_the_hook_does() {
    let print = r#"echo '{"findings":[{"path":"../a","message":"m"}]}'"#;
    for workspace in ["", "not/whole", "/nowhere/at/all"] {
        let sandbox = Sandbox::new()
            .hook("guard", print)
            .variable("GITHUB_WORKSPACE", workspace);
        sandbox
            .hookrun(GITHUB, b"{}")
            .prints("::error file=../a,title=guard::m\n");
    }
}

#[test]
fn other_reports_name_files_from_the_workspace_too() {
    let case = "[[case]]\nname = 'x'\nevent = 'tool.pre'\nexpect = { decision = 'block' }\n";
    let sandbox = Sandbox::new()
        .script(
            "src/hooks.d/tool.pre/guard",
            "#!/bin/sh\n# hookrun: 100=1\n",
        )
        .script("src/gates/hooks.d/tool.pre/guard", "#!/bin/sh\n")
        .file("src/gates/hooks.d/tests/x.toml", case);
    let workspace = sandbox.path().canonicalize().unwrap();
    let shown = |format: &str, arguments: &[&str]| {
        let arguments = [arguments, &["--format", format]].concat();
        let ran = sandbox.hookrun_as(
            |hookrun| {
                hookrun
                    .current_dir(workspace.join("src"))
                    .env("GITHUB_WORKSPACE", &workspace);
            },
            &arguments,
            b"",
        );
        ran.exits(1);
        ran.stdout
    };
    let file = "::error file=src/hooks.d/tool.pre/guard,";
    assert!(
        shown("github", &["validate"]).starts_with(file),
        "{}",
        shown("github", &["validate"])
    );
    let suite = ["test", "--suite", "--hooks", "gates"];
    let file = "::error file=src/gates/hooks.d/tests/x.toml,";
    assert!(
        shown("github", &suite).starts_with(file),
        "{}",
        shown("github", &suite)
    );
    // A person stands in the folder.
    assert!(shown("human", &suite).contains(" gates/hooks.d/tests/x.toml"));
}
