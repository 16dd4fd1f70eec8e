//! What a hook gets: its stdin, its working directory and its variables.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hookrun::internals::chain::VARIABLES;
use hookrun::internals::run::TraceContext;
use regex::Regex;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A hook that notes its `HOOKRUN_…` variables, sorted.
const NOTE: &str = "env | grep '^HOOKRUN_' | sort > variables";

/// The variables that it noted, without those that are different in every run.
fn noted(sandbox: &Sandbox) -> Vec<(String, String)> {
    let text = sandbox.read("variables");
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs
        .filter(|(name, _)| !["HOOKRUN_STATE_DIR", "HOOKRUN_RUN_ID"].contains(name))
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
    expected.iter().map(own).collect()
}

#[test]
fn the_context_comes_as_one_compact_line_and_then_the_end() {
    let sandbox = Sandbox::new().hook("hook", "cat > context");
    let context = b" {\r\n \"toolName\" : \"x\", \"sessionId\" : \"s 1\", \"n\": 1.50, \"u\": \"\\u00e9\\n \" }\n\n";
    sandbox.hookrun(&["run", "tool.pre"], context).allows();
    assert_eq!(
        sandbox.read("context"),
        "{\"event\":\"tool.pre\",\"toolName\":\"x\",\"sessionId\":\"s 1\",\"n\":1.50,\"u\":\"\\u00e9\\n \",\"action\":{\"kind\":\"other\"}}\n"
    );
}

#[test]
fn a_large_context_comes_whole() {
    let sandbox = Sandbox::new().hook("hook", "cat > context");
    let text = "x".repeat(3_000_000);
    let context =
        json!({ "event": "tool.pre", "toolName": "x", "text": text, "action": {"kind": "other"} });
    sandbox
        .hookrun(&["run", "tool.pre"], context.to_string().as_bytes())
        .allows();
    assert!(sandbox.read("context") == format!("{context}\n"));
}

#[test]
fn a_tool_event_says_what_the_tool_is_about_to_do() {
    let sandbox = Sandbox::new().hook("hook", "cat > context");
    sandbox.run_shell("ls src").allows();
    let context: Value = serde_json::from_str(&sandbox.read("context")).unwrap();
    assert_eq!(context["action"]["kind"], "shell");
    assert_eq!(context["action"]["command"], "ls src");
}

#[test]
fn a_shell_hook_needs_no_json_parser() {
    let sandbox = Sandbox::new().hook("hook", &format!("# hookrun: timeout=1m30s\n{NOTE}"));
    let context = json!({
        "sessionId": "s-1", "toolName": "bash", "toolInput": { "command": "a  'b' $c" },
    });
    sandbox
        .hookrun(&["run", "tool.pre"], context.to_string().as_bytes())
        .allows();
    let project = fs::canonicalize(sandbox.path()).unwrap();
    let own = project.join("hooks.d/tool.pre");
    let expected = [
        ("HOOKRUN_ACTION_COMMAND", "a  'b' $c"),
        ("HOOKRUN_ACTION_KIND", "shell"),
        ("HOOKRUN_ACTION_PROGRAMS", "a"),
        ("HOOKRUN_DEPTH", "1"),
        ("HOOKRUN_EVENT", "tool.pre"),
        ("HOOKRUN_HAS_UI", "0"),
        ("HOOKRUN_HOOK", "hook"),
        ("HOOKRUN_HOOK_DIR", own.to_str().unwrap()),
        ("HOOKRUN_HOST", "native"),
        ("HOOKRUN_PROJECT_DIR", project.to_str().unwrap()),
        ("HOOKRUN_SESSION_ID", "s-1"),
        ("HOOKRUN_TIMEOUT_MS", "90000"),
        ("HOOKRUN_TOOL_NAME", "bash"),
    ];
    assert_eq!(noted(&sandbox), pairs(&expected));
}

#[test]
fn paths_come_one_a_line_and_a_prompt_as_it_is() {
    let body =
        "printf %s \"$HOOKRUN_ACTION_PATHS\" > paths; printf %s \"$HOOKRUN_ACTION_KIND\" > kind";
    let sandbox = Sandbox::new().hook("hook", body).hook_for(
        "prompt.submit",
        "hook",
        "printf %s \"$HOOKRUN_PROMPT\" > prompt",
    );
    let context = br#"{"action":{"kind":"edit","paths":["a b.txt","c.txt"]}}"#;
    sandbox.hookrun(&["run", "tool.pre"], context).allows();
    assert_eq!(sandbox.read("paths"), "a b.txt\nc.txt");
    assert_eq!(sandbox.read("kind"), "edit");
    let context = "{\"prompt\":\"two\\nlines \u{e9}\"}";
    sandbox
        .hookrun(&["run", "prompt.submit"], context.as_bytes())
        .allows();
    assert_eq!(sandbox.read("prompt"), "two\nlines \u{e9}");
}

#[test]
fn changes_come_one_a_line_with_their_letters() {
    let sandbox = Sandbox::new().hook_for(
        "commit.pre",
        "hook",
        "printf %s \"$HOOKRUN_CHANGES\" > changes",
    );
    let changes = json!([{"path": "a b", "status": "M"}, {"path": "c", "status": "D"}, "d"]);
    let context = json!({ "changes": changes }).to_string();
    sandbox
        .hookrun(&["run", "commit.pre"], context.as_bytes())
        .allows();
    assert_eq!(sandbox.read("changes"), "M\ta b\nD\tc\n?\td");
}

#[test]
fn programs_come_one_a_line_and_what_only_a_run_can_tell_as_a_question_mark() {
    let sandbox = Sandbox::new().hook("hook", "printf %s \"$HOOKRUN_ACTION_PROGRAMS\" > programs");
    for (command, programs) in [
        ("cd x && sudo /bin/rm -rf y | tee z", "cd\nrm\ntee"),
        ("$X y; echo $(date)", "?\ndate\necho"),
        ("ls; echo 'x", "?"),
        ("# nothing", ""),
    ] {
        sandbox.run_shell(command).allows();
        assert_eq!(sandbox.read("programs"), programs, "{command}");
    }
    let context = br#"{"toolName":"write","toolInput":{"path":"a"}}"#;
    sandbox.hookrun(&["run", "tool.pre"], context).allows();
    assert_eq!(sandbox.read("programs"), "");
}

#[test]
fn hookruns_own_environment_is_passed_on() {
    let sandbox = Sandbox::new()
        .variable("MY_TOKEN", "t")
        .hook("hook", "echo $MY_TOKEN");
    sandbox
        .run("tool.pre")
        .allows_with(json!({ "output": "t" }));
}

#[test]
fn a_value_that_is_too_long_is_left_out_and_named() {
    let sandbox = Sandbox::new().hook("hook", &format!("# hookrun: reads=stdin\n{NOTE}"));
    sandbox
        .run_shell(&format!("echo {}", "x".repeat(130_000)))
        .allows();
    let noted = noted(&sandbox);
    assert!(
        !noted
            .iter()
            .any(|(name, _)| name == "HOOKRUN_ACTION_COMMAND"),
        "{noted:?}"
    );
    let truncated = (
        "HOOKRUN_TRUNCATED".to_string(),
        "HOOKRUN_ACTION_COMMAND".to_string(),
    );
    assert!(noted.contains(&truncated), "{noted:?}");
}

#[test]
fn a_value_with_a_nul_is_left_out_and_named() {
    let sandbox = Sandbox::new().hook("hook", &format!("# hookrun: reads=stdin\n{NOTE}"));
    sandbox.run_shell("echo \0-rf").allows();
    let truncated = (
        "HOOKRUN_TRUNCATED".to_string(),
        "HOOKRUN_ACTION_COMMAND".to_string(),
    );
    assert!(
        noted(&sandbox).contains(&truncated),
        "{:?}",
        noted(&sandbox)
    );
}

#[test]
fn a_value_that_just_fits_is_not_left_out() {
    let sandbox = Sandbox::new().hook("hook", "echo ${#HOOKRUN_ACTION_COMMAND} $HOOKRUN_TRUNCATED");
    sandbox
        .run_shell(&"x".repeat(120 * 1024))
        .allows_with(json!({ "output": "122880" }));
}

#[test]
fn a_gate_blocks_where_the_environment_cannot_hold_what_a_hook_may_look_at() {
    let shell = |command: &str| json!({ "toolName": "bash", "toolInput": { "command": command } });
    let write = json!({ "toolName": "write", "toolInput": { "path": "a\nb" } });
    for (event, context, name) in [
        (
            "tool.pre",
            shell(&"x".repeat(120 * 1024 + 1)),
            "HOOKRUN_ACTION_COMMAND",
        ),
        ("tool.pre", shell("rm\0-rf"), "HOOKRUN_ACTION_COMMAND"),
        ("tool.pre", write, "HOOKRUN_ACTION_PATHS"),
        (
            "commit.pre",
            json!({ "changes": [{ "path": "a\nb", "status": "A" }] }),
            "HOOKRUN_CHANGES",
        ),
        (
            "prompt.submit",
            json!({ "prompt": "x".repeat(130_000) }),
            "HOOKRUN_PROMPT",
        ),
        ("tool.post", shell(&"x".repeat(130_000)), ""),
    ] {
        let of = |hook: &str| Sandbox::new().hook_for(event, "guard", hook);
        let run =
            |sandbox: &Sandbox| sandbox.hookrun(&["run", event], context.to_string().as_bytes());
        // It cannot look at what it does not mention.
        let silent = of("touch ran");
        run(&silent).exits(0);
        silent.has_file("ran");
        if name.is_empty() {
            continue;
        }
        let looking = of(&format!("touch ran; : \"${name}\""));
        let ran = run(&looking);
        ran.exits(2)
            .says(&format!("its environment cannot hold {name}"));
        ran.says("`# hookrun: reads=stdin`");
        looking.has_no_file("ran");
        run(&of("# hookrun: reads=stdin\ntrue")).allows();
        run(&of("# hookrun: on_failure=allow\ntrue")).exits(0);
        let table = format!(
            "[[hook]]\nname = \"guard\"\nevent = \"{event}\"\ncommand = \"true\"\nreads = \"stdin\"\n"
        );
        run(&Sandbox::new().file("hookrun.toml", &table)).allows();
    }
}

/// A commit of 2,000 files, whose names do not fit into a variable.
fn large_commit() -> Vec<u8> {
    let path = |number| format!("services/api/generated/client_model_with_a_long_name_{number}.py");
    let changes: Vec<_> = (0..2000)
        .map(|number| json!({ "path": path(number), "status": "A" }))
        .collect();
    json!({ "changes": changes }).to_string().into_bytes()
}

#[test]
fn a_guard_that_looks_through_another_file_is_not_run_without_what_it_looks_at() {
    let read = "case $HOOKRUN_CHANGES in *secret*) exit 1;; esac\n";
    let make = "check:\n\tsh scripts/guard.sh\n";
    let npm = r#"{"scripts": {"guard": "scripts/guard.sh"}}"#;
    for (hook, file, text) in [
        (
            ". \"$(dirname \"$0\")/../lib/guard.sh\"",
            "hooks.d/lib/guard.sh",
            read,
        ),
        ("sh scripts/guard.sh", "scripts/guard.sh", read),
        (
            "for one in checks/*; do sh $one; done",
            "checks/first",
            read,
        ),
        ("make check", "Makefile", make),
        ("npm run guard", "package.json", npm),
        ("env | grep -q secret", "unused", ""),
        ("name=CHANGES; eval \"echo \\$HOOKRUN_$name\"", "unused", ""),
        ("name=X; echo ${!name}", "unused", ""),
        (
            "python3 -c 'import guard'",
            "guard.py",
            "import os\nprint(os.environ['HOOKRUN_CHANGES'])\n",
        ),
        (
            "python3 -c 'import guards.all'",
            "guards/all.py",
            "import os\nfor name in os.environ:\n    print(name)\n",
        ),
        ("# hookrun: reads=environment\ntrue", "unused", ""),
    ] {
        let sandbox = Sandbox::new()
            .hook_for("commit.pre", "guard", &format!("{hook}\n"))
            .file("scripts/guard.sh", read)
            .file(file, text);
        let ran = sandbox.hookrun(&["run", "commit.pre"], &large_commit());
        ran.exits(2)
            .says("its environment cannot hold HOOKRUN_CHANGES");
    }
}

#[test]
fn a_large_commit_does_not_block_hooks_that_look_at_nothing() {
    let sandbox = Sandbox::new()
        .hook_for(
            "commit.pre",
            "10-branch",
            "# Nothing of HOOKRUN_CHANGES.\n[ \"$(printf main)\" = main ] && grep -q x /dev/null || true",
        )
        .hook_for("commit.pre", "20-python", "python3 -c 'import json, sys'")
        .hook_for(
            "commit.pre",
            "30-none",
            "# hookrun: reads=none\n[ -z \"$HOOKRUN_CHANGES$HOOKRUN_TRUNCATED$(cat)\" ]",
        )
        .file(
            "hookrun.toml",
            "[[hook]]\nname = 'lint'\nevent = 'commit.pre'\ncommand = 'true'\n",
        );
    sandbox
        .hookrun(&["run", "commit.pre"], &large_commit())
        .allows();
}

#[test]
fn a_hookrun_inside_a_hook_does_not_see_the_outer_event() {
    let names = [
        "HOOKRUN_ACTION_COMMAND",
        "HOOKRUN_ACTION_KIND",
        "HOOKRUN_ACTION_PATHS",
        "HOOKRUN_ACTION_PROGRAMS",
        "HOOKRUN_CHANGES",
        "HOOKRUN_PROMPT",
        "HOOKRUN_SESSION_ID",
        "HOOKRUN_TOOL_NAME",
        "HOOKRUN_TRUNCATED",
    ];
    let mut sandbox = Sandbox::new()
        .variable("HOOKRUN", env!("CARGO_BIN_EXE_hookrun"))
        .script(
            "inner/hooks.d/session.start/hook",
            &format!("#!/bin/sh\n{NOTE}\n"),
        )
        .hook(
            "hook",
            "echo '{}' | \"$HOOKRUN\" run session.start --hooks inner",
        );
    for name in names {
        sandbox = sandbox.variable(name, "of somebody else");
    }
    sandbox.run_shell("rm -rf /").allows();
    let noted = noted(&sandbox);
    assert!(noted.contains(&("HOOKRUN_EVENT".to_string(), "session.start".to_string())));
    let leaked: Vec<_> = noted
        .iter()
        .filter(|(name, _)| names.contains(&name.as_str()))
        .collect();
    assert!(leaked.is_empty(), "{leaked:?}");
}

#[test]
fn a_hook_gets_the_callers_settings_and_no_other_names_of_ours() {
    let is_script = |path: &Path| path.extension().is_none_or(|it| it != "toml" && it != "rs");
    let names = Regex::new("HOOKRUN_[A-Z_]+").unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut settings: BTreeSet<String> = BTreeSet::new();
    let mut paths = ["hooks.d", "gates/hooks.d", "src/cli/new/templates"]
        .map(|it| here.join(it))
        .to_vec();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(
                fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if is_script(&path) {
            let text = fs::read_to_string(&path).unwrap();
            settings.extend(names.find_iter(&text).map(|it| it.as_str().to_string()));
        }
    }
    assert!(settings.len() > 30, "{settings:?}");
    settings.retain(|name| VARIABLES.iter().all(|(known, _)| known != name));
    settings.extend(["HOOKRUN_LOG", "HOOKRUN_DECISIONS", "HOOKRUN_RECORD"].map(str::to_string));
    let others = [
        "HOOKRUN_ACTION_PATH",
        "HOOKRUN_REASON",
        "HOOKRUN_",
        "HOOKRUN_LOGS",
    ];
    let mut sandbox = Sandbox::new().hook("hook", "env | grep '=error' > variables");
    for name in settings.iter().map(String::as_str).chain(others) {
        sandbox = sandbox.variable(name, "error");
    }
    sandbox.run_shell("ls").allows();
    let wanted: BTreeSet<String> = settings
        .iter()
        .map(|name| format!("{name}=error"))
        .collect();
    let noted = sandbox.read("variables");
    let noted: BTreeSet<String> = noted.lines().map(str::to_string).collect();
    assert_eq!(noted, wanted);
}

#[test]
fn the_state_folder_is_private_and_belongs_to_the_session_and_the_hook() {
    let note = "echo \"$HOOKRUN_STATE_DIR\" >> folders; echo x >> \"$HOOKRUN_STATE_DIR/count\"";
    let sandbox = Sandbox::new()
        .hook("a", note)
        .hook_for("tool.post", "a", note)
        .hook_for("tool.post", "b", note);
    let run = |event: &str, session: &str| {
        let context = json!({ "sessionId": session }).to_string();
        sandbox
            .hookrun(&["run", event], context.as_bytes())
            .exits(0);
    };
    run("tool.pre", "s1");
    run("tool.post", "s1");
    run("tool.pre", "s2");
    run("tool.pre", "../../escape");
    let text = sandbox.read("folders");
    let folders: Vec<&str> = text.lines().collect();
    let [a1, again, b1, a2, odd] = folders[..] else {
        panic!("{folders:?}")
    };
    assert_eq!(a1, again);
    assert!(a1 != b1 && a1 != a2 && b1 != a2, "{folders:?}");
    assert_eq!(fs::read_to_string(format!("{a1}/count")).unwrap(), "x\nx\n");
    for folder in [a1, b1, a2, odd] {
        let mode = fs::metadata(folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700, "{folder}");
        let home = sandbox.at("home/.local/state/hookrun");
        let real = fs::canonicalize(folder).unwrap();
        assert!(
            real.starts_with(fs::canonicalize(home).unwrap()),
            "{folder}"
        );
    }
}

#[test]
fn state_is_kept_below_xdg_state_home() {
    let sandbox = Sandbox::new().hook("hook", "echo \"$HOOKRUN_STATE_DIR\"");
    let home = sandbox.at("state");
    let sandbox = sandbox.variable("XDG_STATE_HOME", home.to_str().unwrap());
    let ran = sandbox.run("tool.pre");
    ran.exits(0).prints(home.join("hookrun").to_str().unwrap());
}

#[test]
fn a_hook_runs_in_the_folder_of_the_event() {
    let sandbox = Sandbox::new()
        .hook("hook", "pwd -P")
        .file("sub folder/x", "");
    let folder = fs::canonicalize(sandbox.at("sub folder")).unwrap();
    let context = json!({ "cwd": folder });
    let ran = sandbox.hookrun(&["run", "tool.pre"], context.to_string().as_bytes());
    ran.allows_with(json!({ "output": folder }));
}

#[test]
fn a_hook_runs_in_hookruns_folder_where_the_event_names_none_that_exists() {
    let sandbox = Sandbox::new().hook("hook", "pwd -P");
    let folder = fs::canonicalize(sandbox.path()).unwrap();
    for context in [
        "{}",
        r#"{"cwd":"/no/such/folder"}"#,
        r#"{"cwd":"hookrun.toml"}"#,
        r#"{"cwd":""}"#,
        r#"{"cwd":7}"#,
    ] {
        let ran = sandbox.hookrun(&["run", "tool.pre"], context.as_bytes());
        ran.allows_with(json!({ "output": folder }));
    }
    let report = sandbox.report("tool.pre", r#"{"cwd":"/no/such/folder"}"#);
    assert!(
        report["hooks"][0]["notes"][0]
            .as_str()
            .unwrap()
            .contains("/no/such/folder")
    );
}

#[test]
fn the_arguments_of_a_command_are_split_as_a_shell_splits_words() {
    let config =
        "[[hook]]\nname = 'hook'\nevent = 'tool.pre'\ncommand = '''./say 'a b' \"c\" d\\ e'''\n";
    let sandbox = Sandbox::new()
        .file("hookrun.toml", config)
        .script("say", "#!/bin/sh\nprintf '<%s>' \"$@\"\n");
    sandbox
        .run("tool.pre")
        .allows_with(json!({ "output": "<a b><c><d e>" }));
}

#[test]
fn a_session_is_one_trace_and_a_trace_from_outside_goes_on() {
    let given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let sandbox = Sandbox::new().hook("hook", "echo $TRACEPARENT >> traces");
    let run = |session: &str, outer: Option<&str>| {
        let context = format!(r#"{{"toolName":"x","sessionId":"{session}"}}"#);
        let set = |command: &mut std::process::Command| {
            command.envs(outer.map(|outer| ("TRACEPARENT", outer)));
        };
        sandbox
            .hookrun_as(set, &["run", "tool.pre"], context.as_bytes())
            .allows();
    };
    run("s-1", None);
    run("s-1", None);
    run("s-2", None);
    run("s-1", Some(given));
    run("s-1", Some("nonsense"));
    let text = sandbox.read("traces");
    let traces: Vec<&str> = text.lines().collect();
    let part = |line: usize, at: usize| traces[line].split('-').nth(at).unwrap();
    assert_eq!(
        (part(0, 0), part(0, 1).len(), part(0, 2).len()),
        ("00", 32, 16)
    );
    assert_eq!((part(1, 1), part(4, 1)), (part(0, 1), part(0, 1)));
    assert_ne!(part(2, 1), part(0, 1));
    assert_ne!(part(1, 2), part(0, 2));
    assert_eq!(traces[3], given);
    // The log knows the event's own span, and the one around it.
    let log = sandbox.read("home/.local/state/hookrun/log/decisions.jsonl");
    let logged: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        logged[0]["trace"],
        json!({ "id": part(0, 1), "span": part(0, 2) })
    );
    assert_eq!(logged[3]["trace"]["id"], part(3, 1));
    assert_eq!(logged[3]["trace"]["parent"], part(3, 2));
    assert_ne!(logged[3]["trace"]["span"], part(3, 2));
}

#[test]
fn only_a_valid_traceparent_is_kept() {
    let given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let is_kept = |text: &str| {
        let made = TraceContext::of(Some(text), Some("s-1"), "1");
        made.incoming.is_some() && made.traceparent() == text && made.parent().is_some()
    };
    let later = format!("01{}-more", &given[2..]);
    assert!(is_kept(given) && is_kept(&later));
    let zeros = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
    let [upper, longer] = [given.to_uppercase(), format!("{given}-x")];
    for other in ["", "00", zeros, &upper, &given[..54], &longer, "é-é-é-é"] {
        assert!(!is_kept(other), "{other}");
        let made = TraceContext::of(Some(other), Some("s-1"), "1");
        assert_eq!(made.parent(), None, "{other}");
        assert!(is_kept(&made.traceparent()), "{made:?}");
    }
}

#[test]
fn spans_differ_and_an_event_without_a_session_is_a_trace() {
    let of = |unique: &str| TraceContext::of(None, None, unique);
    let spans: HashSet<String> = (0..50_000).map(|_| of("1").span).collect();
    assert_eq!(spans.len(), 50_000);
    assert_ne!(of("1").id, of("2").id);
}
