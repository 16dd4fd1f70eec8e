//! Mistakes in the settings of agent hosts: all at once, each with its place and its cure.

use serde_json::json;

use crate::sandbox::Sandbox;

fn found(settings: &str, text: &str) -> Vec<String> {
    let file = settings.split_once(':').map_or(settings, |(_, file)| file);
    let sandbox = Sandbox::new().file(file, text);
    let all = sandbox.problems(&["--settings", settings]);
    all.iter()
        .map(|one| one.replace(&format!("{file}:"), ""))
        .collect()
}

#[test]
fn every_mistake_is_found_at_once_with_its_place() {
    let text = r#"{
"hooks": {
"PreToolUsee": [],
"Stop": {},
"SessionEnd": [ { "matcher": "x" }, 7 ],
"UserPromptSubmit": [ { "matcher": "Bash", "hooks": [] } ],
"PreToolUse": [
 { "matcher": "[", "hooks": [ { "type": "command", "command": "true" } ] },
 { "hooks": [
  { "type": "comand", "command": "true" },
  { "type": "command" },
  { "type": "command", "command": " " },
  { "type": "command", "command": "true", "timeout": "5" },
  { "type": "command", "command": "true", "timeout": 30000 },
  { "type": "command", "command": "true", "timout": 5 },
  { "type": "command", "command": "true", "onFailure": "explode" },
  { "type": "command", "command": "true", "if": "Bash(git" },
  { "type": "command", "command": "true", "args": "x" },
  { "type": "command", "command": "true", "shell": "powershell" },
  { "type": "command", "command": "true", "once": true },
  { "command": "x", "command": "true" }
 ] }
],
"PostCompact": [ { "hooks": [ { "command": "true", "if": "Bash(x)" } ] } ]
}
}
"#;
    let wanted = [
        "error 3:1: `PreToolUsee` is not an event of claude [did you mean `PreToolUse`?]",
        "error 4:9: `Stop` takes a list of hooks, not an object",
        "error 5:17: the group has no `hooks`",
        "error 5:37: a group of hooks must be an object, not 7",
        "error 8:15: `[` is not a valid pattern",
        "error 10:3: `comand` is not a hook type [did you mean `command`?]",
        "error 11:3: the hook has no `command`",
        "error 12:35: the command is empty",
        "error 13:54: `timeout` takes a number of seconds greater than 0, not \"5\"",
        "warning 15:43: unknown key `timout` [did you mean `timeout`?]",
        "error 16:56: `onFailure` takes \"block\" or \"allow\", not \"explode\"",
        "error 17:3: `Bash(git` is not a permission rule: its parenthesis is not closed",
        "error 18:51: `args` takes a list of strings, not \"x\"",
        "error 19:1: `hooks.PreToolUse[1].hooks[9]` cannot start: no program `powershell` in PATH",
        "warning 20:43: unknown key `once`",
        "error 21:21: `command` appears twice",
        "error 24:52: `if` matches tools, but `PostCompact` has none",
    ];
    let found = found(".claude/settings.json", text);
    for (found, wanted) in found.iter().zip(wanted) {
        let (start, end) = wanted.split_once(" [").unwrap_or((wanted, ""));
        assert!(
            found.starts_with(start) && found.ends_with(end),
            "{found}\n{wanted}"
        );
    }
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
}

#[test]
fn a_file_is_known_by_its_path_or_by_the_host_before_it() {
    let nested = |event: &str| {
        format!("{{\"hooks\":{{\"{event}\":[{{\"hooks\":[{{\"command\":\"true\"}}]}}]}}}}")
    };
    let flat = |key: &str| format!("{{\"hooks\":{{\"preToolUse\":[{{\"{key}\":\"true\"}}]}}}}");
    for (settings, text, host) in [
        ("x.json", nested("BeforeTool"), None),
        (".codex/hooks.json", nested("PreToolUse"), Some("codex")),
        (
            "home/.claude/settings.json",
            nested("PreToolUse"),
            Some("claude"),
        ),
        ("codex:x.json", nested("PreToolUse"), Some("codex")),
        (
            "claude:.codex/hooks.json",
            nested("PreToolUse"),
            Some("claude"),
        ),
        ("cursor:x.json", flat("command"), Some("cursor")),
        (".cursor/hooks.json", flat("command"), Some("cursor")),
        (".github/hooks/x.json", flat("bash"), Some("copilot")),
        (
            ".github/hooks/x.json",
            "{\"hooks\":{\"PreToolUse\":[{\"command\":\"true\"}]}}".to_string(),
            Some("vscode"),
        ),
    ] {
        let file = settings.split_once(':').map_or(settings, |(_, file)| file);
        let sandbox = Sandbox::new().file(file, &text);
        let list = sandbox.json(&["list", "--format", "json", "--settings", settings]);
        assert_eq!(
            list["hooks"][0]["dialect"].as_str(),
            host,
            "{settings}: {text}"
        );
        if host.is_none() {
            let problems = sandbox.problems(&["--settings", settings]).join("\n");
            assert!(problems.contains("`--settings HOST:"), "{problems}");
            sandbox
                .hookrun(&["run", "tool.pre", "--settings", settings], b"{}")
                .exits(2);
        }
    }
}

#[test]
fn comments_are_read_where_the_host_reads_them() {
    let text = |event: &str| {
        format!("{{ // why\n\"hooks\":{{\"{event}\":[{{\"hooks\":[{{\"command\":\"true\"}}]}}]}}}}")
    };
    assert_eq!(found(".gemini/settings.json", &text("BeforeTool")), [""; 0]);
    let claude = found(".claude/settings.json", &text("PreToolUse")).join("\n");
    assert!(claude.starts_with("error 1:3: not valid JSON"), "{claude}");
}

#[test]
fn a_toml_file_names_its_lines() {
    let text = "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 7\n[[hooks.Stopp]]\n";
    let found = found(".codex/config.toml", text);
    assert!(
        found[0].starts_with("error 3:11: `command` takes a string, not 7"),
        "{found:?}"
    );
    assert!(found[1].ends_with("[did you mean `Stop`?]"), "{found:?}");
    let broken = self::found(".codex/config.toml", "[[hooks.PreToolUse]\n").join("\n");
    assert!(broken.contains("not valid TOML"), "{broken}");
}

#[test]
fn an_event_of_copilot_in_other_words_is_an_error_with_the_name_to_write() {
    let text = json!({"hooks": {"PreToolUse": [{"bash": "true"}]}}).to_string();
    let found = found("copilot:.github/hooks/x.json", &text).join("\n");
    assert!(
        found.contains("`PreToolUse` is not an event of copilot"),
        "{found}"
    );
    assert!(found.contains("did you mean `preToolUse`?"), "{found}");
}

#[test]
fn a_mistake_closes_gates() {
    let text = r#"{"hooks":{"PreToolUsee":[]}}"#;
    let sandbox = Sandbox::new().file(".claude/settings.json", text);
    let ran = sandbox.hookrun(
        &["run", "tool.pre", "--settings", ".claude/settings.json"],
        b"{}",
    );
    ran.blocks_saying("`PreToolUsee` is not an event of claude");
}

#[test]
fn a_file_in_toml_that_is_nearly_settings_closes_gates() {
    for (file, text, said) in [
        (
            "hookrun.toml",
            "[[hook]]\nname = \"a\"\n",
            "the path of this file does not show which agent reads it",
        ),
        (
            ".codex/config.toml",
            "[[hook.PreToolUse]]\n",
            "unknown key `hook`",
        ),
        (
            ".codex/config.toml",
            "hooks = \"x\"\n",
            "`hooks` takes a table, not \"x\"",
        ),
    ] {
        let sandbox = Sandbox::new().file(file, text);
        let ran = sandbox.hookrun(&["run", "tool.pre", "--settings", file], b"{}");
        ran.blocks_saying(said);
    }
    let other = Sandbox::new().file(".codex/config.toml", "model = \"m\"\n");
    other
        .hookrun(
            &["run", "tool.pre", "--settings", ".codex/config.toml"],
            b"{}",
        )
        .allows();
}
