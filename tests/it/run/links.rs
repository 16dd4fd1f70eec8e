//! Links in the paths of an event: what `path` matchers and hooks see of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// A project with a secret and links to it. Each link is `name -> target`.
fn project(hook: &str) -> Sandbox {
    let sandbox = Sandbox::new().hook("hook", hook);
    let sandbox = sandbox
        .file(".env", "")
        .file("secrets/a/key", "")
        .file("src/lib.rs", "");
    for (name, target) in [
        ("notes", ".env"),
        ("more", "notes"),
        ("src/up", "../.env"),
        ("shelf", "secrets"),
        ("dangling", "gone/.env"),
        ("loop", "loop"),
        ("out", "/etc"),
        ("inner", "secrets/a"),
    ] {
        symlink(target, sandbox.at(name)).unwrap();
    }
    sandbox
}

fn write(sandbox: &Sandbox, path: &str) -> Ran {
    let context = json!({ "toolName": "write", "toolInput": { "path": path } });
    sandbox.hookrun(&["run", "tool.pre"], context.to_string().as_bytes())
}

#[test]
fn a_path_matcher_sees_what_a_link_leads_to() {
    for (glob, paths, others) in [
        (
            ".env",
            &[
                "notes",
                "more",
                "./src/../notes",
                "src/up",
                "dangling",
                "inner/../../.env",
            ][..],
            &[
                "src/lib.rs",
                "shelf/x",
                "loop",
                "loop/x",
                "out/x",
                "new/notes",
                "",
            ][..],
        ),
        (
            "secrets/**",
            &["shelf/new/x", "shelf/a/key", "inner/key", "inner/../b"],
            &["notes"],
        ),
        (
            "/etc/",
            &["out/passwd", "out/not/there", "src/../out/x"],
            &["notes", "etc/x"],
        ),
        ("shelf/", &["shelf/x"], &["secrets/x"]),
        // Programs resolve `..` before links or after them.
        (
            "secrets",
            &["inner/../x", "src/../shelf/x"],
            &["inner/../../x"],
        ),
        (
            "src/lib.rs",
            &["inner/../src/lib.rs"],
            &["inner/src/lib.rs"],
        ),
    ] {
        let sandbox = project(&format!("# hookrun: path={glob}\necho no >&2; exit 1"));
        for path in paths {
            let ran = write(&sandbox, path);
            assert_eq!(ran.status, 2, "{glob} {path}: {ran:?}");
            let absolute = sandbox.at(path);
            assert_eq!(
                write(&sandbox, absolute.to_str().unwrap()).status,
                2,
                "{glob} {path}"
            );
        }
        for path in others {
            assert_eq!(write(&sandbox, path).status, 0, "{glob} {path}");
        }
    }
}

/// What a hook finds in `action.resolved`, which its variable holds too.
fn resolved(sandbox: &Sandbox, context: &Value) -> Vec<String> {
    sandbox
        .hookrun(&["run", "tool.pre"], context.to_string().as_bytes())
        .allows();
    let seen: Value = serde_json::from_str(&sandbox.read("context")).unwrap();
    let list: Vec<String> = serde_json::from_value(seen["action"]["resolved"].clone()).unwrap();
    assert_eq!(sandbox.read("variable"), list.join("\n"));
    list
}

const NOTE: &str = r#"cd "$HOOKRUN_PROJECT_DIR" && cat > context
printf %s "$HOOKRUN_ACTION_RESOLVED" > variable"#;

#[test]
fn a_hook_is_told_where_its_paths_lead() {
    let sandbox = project(NOTE);
    let root = fs::canonicalize(sandbox.path()).unwrap();
    for (path, ends) in [
        ("src/lib.rs", &["src/lib.rs"][..]),
        ("./new//x/", &["new/x"]),
        ("more", &[".env"]),
        ("shelf/new/x", &["secrets/new/x"]),
        ("dangling", &["gone/.env"]),
        ("loop", &["loop"]),
        ("loop/x/../y", &["loop/y"]),
        ("out/x", &["/etc/x"]),
        ("gone/../notes", &[".env"]),
        ("inner/../notes", &["secrets/notes", ".env"]),
        ("~/x", &["~/x", "home/x"]),
        ("~", &["~", "home"]),
        ("~x", &["~x"]),
    ] {
        let wanted: Vec<String> = ends
            .iter()
            .map(|end| root.join(end).to_str().unwrap().to_string())
            .collect();
        let of = |path: &str| json!({ "toolName": "write", "toolInput": { "path": path } });
        assert_eq!(resolved(&sandbox, &of(path)), wanted, "{path}");
        let absolute = sandbox.at(path);
        let absolute = resolved(&sandbox, &of(absolute.to_str().unwrap()));
        assert_eq!(absolute, wanted[..absolute.len()], "{path}");
    }
    // From the event's own folder, in the order of its paths.
    let context = json!({ "cwd": sandbox.at("shelf"), "toolName": "note",
        "action": { "kind": "edit", "paths": ["a/key", "../x", "../notes"] } });
    let wanted = ["secrets/a/key", "x", ".env"].map(|end| root.join(end).display().to_string());
    assert_eq!(resolved(&sandbox, &context), wanted);
    // A host whose files are elsewhere says itself where links lead.
    let context = json!({ "toolName": "note",
        "action": { "kind": "edit", "paths": ["notes"], "resolved": ["/there/x"] } });
    assert_eq!(resolved(&sandbox, &context), ["/there/x"]);
}

#[test]
fn relative_globs_hold_where_the_folder_itself_is_behind_a_link() {
    let sandbox = project("# hookrun: path=a/**\necho no >&2; exit 1");
    symlink("key", sandbox.at("secrets/a/link")).unwrap();
    symlink("a/link", sandbox.at("secrets/to")).unwrap();
    let context = json!({ "cwd": sandbox.at("shelf"), "toolName": "write",
        "toolInput": { "path": "to" } });
    sandbox
        .hookrun(&["run", "tool.pre"], context.to_string().as_bytes())
        .blocks("no");
}

#[test]
fn a_text_that_may_be_a_path_is_followed_too() {
    let sandbox = project("# hookrun: path=.env\necho no >&2; exit 1");
    let call = |input: Value| {
        let context = json!({ "toolName": "frobnicate", "toolInput": input });
        sandbox.hookrun(&["run", "tool.pre"], context.to_string().as_bytes())
    };
    call(json!({ "what": "notes" })).blocks("no");
    call(json!({ "what": "loop" })).allows();
}

#[test]
fn a_rewritten_path_is_followed_anew() {
    let update = r#"echo '{"update":{"toolInput":{"path":"notes"}}}'"#;
    let sandbox = project(update);
    let hook = sandbox.at("hooks.d/tool.pre/hook");
    let text = fs::read_to_string(&hook).unwrap();
    fs::write(&hook, text.replacen('\n', "\n# hookrun: rewrite=true\n", 1)).unwrap();
    let sandbox = sandbox.hook("zz", "# hookrun: path=.env\necho no >&2; exit 1");
    write(&sandbox, "src/lib.rs").blocks("no");
}

#[test]
fn where_there_are_too_many_paths_to_follow_a_gate_is_in_doubt() {
    let context = |count: usize| {
        let paths: Vec<String> = (0..count).map(|n| format!("x{n}")).collect();
        json!({ "toolName": "note", "action": { "kind": "edit", "paths": paths } }).to_string()
    };
    let run = |sandbox: &Sandbox, event: &str, count: usize| {
        sandbox.hookrun(&["run", event], context(count).as_bytes())
    };
    let sandbox = Sandbox::new()
        .hook(
            "hook",
            "# hookrun: path=.env reads=stdin\ncat > context; echo no >&2; exit 1",
        )
        .hook_for("tool.post", "hook", "# hookrun: path=.env\ntouch after");
    run(&sandbox, "tool.pre", 60_000).allows();
    run(&sandbox, "tool.pre", 100_000).blocks("no");
    let seen: Value = serde_json::from_str(&sandbox.read("context")).unwrap();
    assert_eq!(seen["action"]["resolved"], Value::Null);
    run(&sandbox, "tool.post", 100_000).allows();
    sandbox.has_no_file("after");
    // A hook that may look at the variable does not run without it.
    let sandbox = Sandbox::new().hook("hook", ": \"$HOOKRUN_ACTION_RESOLVED\"");
    let ran = run(&sandbox, "tool.pre", 100_000);
    assert!(
        ran.status == 2 && ran.stderr.contains("HOOKRUN_ACTION_RESOLVED"),
        "{ran:?}"
    );
}

#[test]
fn a_recorded_event_keeps_where_its_links_led() {
    let sandbox = project("# hookrun: path=.env\necho no >&2; exit 1");
    let context = json!({ "toolName": "write", "toolInput": { "path": "notes" } });
    let run = ["run", "tool.pre", "--record", "events.jsonl"];
    sandbox
        .hookrun(&run, context.to_string().as_bytes())
        .blocks("no");
    fs::remove_file(sandbox.at("notes")).unwrap();
    write(&sandbox, "notes").allows();
    let ran = sandbox.hookrun(&["replay", "events.jsonl"], b"");
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn a_link_is_shown_with_what_it_leads_to() {
    let sandbox = project("exit 0");
    let context = json!({ "toolName": "write", "toolInput": { "path": "notes" } });
    let ran = sandbox.hookrun(&["test", "tool.pre"], context.to_string().as_bytes());
    let real = fs::canonicalize(sandbox.path()).unwrap().join(".env");
    assert!(
        ran.stdout
            .contains(&format!("notes -> {}", Path::new(&real).display())),
        "{ran:?}"
    );
}

#[test]
fn a_guard_of_paths_runs_where_not_every_text_was_looked_at_and_says_so() {
    let sandbox = Sandbox::new()
        .hook("10-path", "# hookrun: path=.env\ntrue")
        .hook("20-all", "true");
    let said = |texts: usize| {
        let texts: Vec<String> = (0..texts).map(|number| format!("t{number}")).collect();
        let context = json!({"toolName": "mcp__x__y", "toolInput": {"pad": texts}});
        sandbox.report("tool.pre", &context.to_string())["hooks"].clone()
    };
    let note = "the tool's input has too many possible paths: every `path` matches";
    let cut = said(4097);
    assert_eq!(cut[0]["notes"], json!([note]), "{cut:#}");
    assert_eq!(cut[1]["notes"], json!([]), "{cut:#}");
    assert_ne!(said(4096)[0]["fate"], "ran");
}
