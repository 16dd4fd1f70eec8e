//! Tools, paths, commands and fields: what a matcher takes.

mod shapes;

use hookrun::internals::event::catalog::Catalog;
use hookrun::internals::hook::matcher::{check_path, check_tool};
use hookrun::internals::hook::{Matcher, PathBase};
use hookrun::{Context, Event};

/// How deep braces may be nested in a glob.
const MOST_BRACES: usize = 50;

fn event(context: &str) -> Event {
    let spec = Catalog::default().find("tool.pre").unwrap();
    Event::new(spec, "native", Context::parse(context).unwrap()).unwrap()
}

fn wants(matcher: &Matcher, context: &str) -> bool {
    let place = PathBase {
        cwd: "/repo/sub".into(),
        project: "/repo".into(),
    };
    matcher.decide(&event(context), &place).is_ok()
}

#[test]
fn a_tool_word_is_a_sort_a_name_or_a_glob() {
    for (written, tool, wanted) in [
        ("bash|Write", "run_shell_command", true),
        ("bash|Write", "Shell", true),
        ("bash|Write", "create", true),
        ("bash|Write", "Read", false),
        ("deploy|mcp__git*", "Deploy", true),
        ("deploy|mcp__git*", "MCP__GitHub__push", true),
        ("deploy|mcp__git*", "mcp__slack__post", false),
    ] {
        let matcher = Matcher::default().tool(written).unwrap();
        assert_eq!(
            wants(
                &matcher,
                &format!(r#"{{"toolName":"{tool}","toolInput":{{"command":"ls"}}}}"#)
            ),
            wanted,
            "{tool}"
        );
    }
}

/// The guard in docs/hooks.md, docs/configuration.md and the tutorial.
const PUSH_GUARD: &str = r"git(\s+-\S+(\s+\S+)?)*\s+push\b.*\s(--force|-\w*f|\+)";

/// The guard for Codex in docs/hosts/codex.md.
const RUNNING_SHELL: &str = r"^\s*(\S*/)?(bash|sh|zsh|dash|python3?|node)(\s+-i)*\s*$";

#[test]
fn no_line_of_a_command_hides_from_an_expression() {
    for (form, command, wanted) in [
        (
            r"git.* push.* (--force|-f)\b",
            "git push --force\ngit status",
            true,
        ),
        (r"git.* push.* (--force|-f)\b", "cd x\ngit push -f\n", true),
        (
            r"git.* push.* (--force|-f)\b",
            "git push \\\n  --force",
            true,
        ),
        (r"git.* push.* (--force|-f)\b", "git pu\\\nsh -f", true),
        (r"git.* push.* (--force|-f)\b", "git push\nls -f", false),
        (r"^rm .*x$", "ls\nrm -r x\nls", true),
        (r"\Arm", "ls\nrm x", true),
        (PUSH_GUARD, "git push --force; ls", true),
        (PUSH_GUARD, "git -C sub push -fu origin x", true),
        (PUSH_GUARD, "git push origin +main", true),
        (PUSH_GUARD, "git push \\\n -f", true),
        (PUSH_GUARD, "git push --force-with-lease\nls", true),
        (PUSH_GUARD, "git commit -m \"push -f \"", false),
        (PUSH_GUARD, "git push --follow-tags origin feature-f", false),
        (RUNNING_SHELL, "bash -i", true),
        (RUNNING_SHELL, "cd x\n/usr/bin/python3", true),
        (RUNNING_SHELL, "bash -c ls", false),
        (r"a\\$", "echo a\\\nb", true),
    ] {
        let matcher = Matcher::default().command(form).unwrap();
        let input = serde_json::json!({"toolName": "bash", "toolInput": {"command": command}});
        assert_eq!(
            wants(&matcher, &input.to_string()),
            wanted,
            "{form}: {command}"
        );
    }
}

#[test]
fn a_path_cannot_hide_from_a_glob() {
    let write = |path: &str| format!(r#"{{"toolName":"write","toolInput":{{"path":"{path}"}}}}"#);
    let env = Matcher::default().path(".env").unwrap();
    for path in [
        ".env",
        "src/../.env",
        "/repo/.env",
        "./a/../../.env",
        "deep/.env/x",
    ] {
        assert!(wants(&env, &write(path)), "{path}");
    }
    assert!(!wants(&env, &write(".env.example")));
    let repo = Matcher::default().path("repo").unwrap();
    assert!(!wants(&repo, &write("/repo/a")) && wants(&repo, &write("/other/repo/a")));
    let source = Matcher::default().path("src/**").unwrap();
    assert!(wants(&source, &write("/repo/src/a/b.rs")));
    assert!(wants(&source, &write("src/a.rs")));
    assert!(!wants(&source, &write("src/../lib/a.rs")));
    assert!(wants(
        &Matcher::default().path("/etc/").unwrap(),
        &write("/etc/a/b")
    ));
}

#[test]
fn a_glob_for_nothing_is_an_error() {
    for nothing in ["", ".", "./", "././", "./."] {
        assert!(Matcher::default().path(nothing).is_err(), "{nothing}");
    }
}

#[test]
fn a_glob_that_is_too_large_is_an_error() {
    let nested = |depth: usize| format!("{}a,b{}", "{".repeat(depth), "}".repeat(depth));
    assert!(Matcher::default().path(&nested(MOST_BRACES)).is_ok());
    for depth in [MOST_BRACES + 1, 300, 100_000] {
        assert!(check_path(&nested(depth)).is_err() && check_tool(&nested(depth)).is_err());
        let error = Matcher::default().path(&nested(depth)).unwrap_err();
        assert_eq!(error.cause, "it has braces nested more than 50 levels deep");
    }
    let error = Matcher::default().path(&"?".repeat(300_000)).unwrap_err();
    assert!(error.cause.contains("size limit"), "{error}");
}

#[test]
fn a_command_and_fields_are_searched() {
    let matcher = Matcher::default()
        .command("rm .*-rf")
        .unwrap()
        .field("turnIndex", "^3$")
        .unwrap();
    for (turn, wanted) in [(3, true), (4, false)] {
        let input = serde_json::json!({"command": "sudo rm -rf /"});
        let context =
            serde_json::json!({"toolName": "Bash", "turnIndex": turn, "toolInput": input});
        assert_eq!(wants(&matcher, &context.to_string()), wanted);
    }
    assert!(Matcher::default().command("(").is_err());
}
