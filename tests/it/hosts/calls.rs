//! Calls of every host in the words of every other.

use hookrun::hosts::find;
use hookrun::internals::event::catalog::Catalog;
use hookrun::internals::event::{Context, Event};
use hookrun::internals::hook::HostCall;
use serde_json::{Value, json};

fn event(host: &'static str, name: &str, input: &Value) -> Event {
    let spec = Catalog::default().find("tool.pre").unwrap();
    let context = json!({"toolName": name, "toolInput": input}).to_string();
    Event::new(spec, host, Context::parse(context.as_str()).unwrap()).unwrap()
}

fn call(name: &str, input: Value) -> HostCall {
    HostCall {
        name: name.to_string(),
        input,
    }
}

/// One call in the words of each host.
fn everywhere() -> Vec<Vec<(&'static str, HostCall)>> {
    let patch = |body: &str| json!({"command": format!("*** Begin Patch\n{body}\n*** End Patch")});
    let shell = json!({"command": "ls"});
    let (file, path) = (json!({"file_path": "a"}), json!({"path": "a"}));
    let write = json!({"file_path": "a", "content": "x\ny"});
    let edit = json!({"file_path": "a", "old_string": "x", "new_string": "y"});
    let (url, any) = (json!({"url": "https://a"}), json!({"x": 1}));
    let added = patch("*** Add File: a\n+x\n+y");
    let updated = patch("*** Update File: a\n@@\n-x\n+y");
    let rows: [&[(&'static str, &str, Value)]; 6] = [
        &[
            ("claude", "Bash", shell.clone()),
            ("codex", "Bash", shell.clone()),
            ("gemini", "run_shell_command", shell.clone()),
            ("cursor", "Shell", shell.clone()),
            ("copilot", "bash", shell),
        ],
        &[
            ("claude", "Read", file.clone()),
            ("gemini", "read_file", file.clone()),
            ("cursor", "Read", file),
            ("copilot", "view", path),
        ],
        &[
            ("claude", "Write", write.clone()),
            ("gemini", "write_file", write.clone()),
            ("cursor", "Write", write),
            (
                "copilot",
                "create",
                json!({"path": "a", "file_text": "x\ny"}),
            ),
            ("codex", "apply_patch", added),
        ],
        &[
            ("claude", "Edit", edit.clone()),
            ("gemini", "replace", edit.clone()),
            ("cursor", "Write", edit),
            (
                "copilot",
                "edit",
                json!({"path": "a", "old_str": "x", "new_str": "y"}),
            ),
            ("codex", "apply_patch", updated),
        ],
        &[
            ("claude", "WebFetch", url.clone()),
            ("gemini", "web_fetch", url.clone()),
            ("copilot", "web_fetch", url),
        ],
        &[
            ("claude", "mcp__github__push", any.clone()),
            ("codex", "mcp__github__push", any.clone()),
            ("gemini", "mcp_github_push", any.clone()),
            ("copilot", "github-push", any),
        ],
    ];
    let told =
        |(host, name, input): &(&'static str, &str, Value)| (*host, call(name, input.clone()));
    rows.iter()
        .map(|row| row.iter().map(told).collect())
        .collect()
}

#[test]
fn a_call_is_told_in_the_words_of_every_other_host() {
    for words in everywhere() {
        for (host, said) in &words {
            for (of, told) in &words {
                let event = event(host, &said.name, &said.input);
                let calls = find(of).unwrap().calls(&event);
                let wanted = if host == of {
                    vec![]
                } else {
                    vec![told.clone()]
                };
                assert_eq!(calls, wanted, "{host} to {of}");
                let names = find(of).unwrap().tool_names(&event);
                assert!(names.contains(&told.name), "{host} to {of}: {names:?}");
            }
        }
    }
}

#[test]
fn a_new_input_goes_back_into_the_words_that_came() {
    for words in everywhere() {
        for (host, said) in &words {
            for (of, told) in words.iter().filter(|(of, _)| of != host) {
                let event = event(host, &said.name, &said.input);
                let dialect = find(of).unwrap();
                let same = dialect.taken_back(&event, 0, told.input.clone());
                assert_eq!(same.as_ref(), Ok(&said.input), "{host} from {of}");
                let is_patch = |call: &HostCall| call.name == "apply_patch";
                let change = |input: &Value| {
                    let mut input = input.clone();
                    let first = input.as_object_mut().unwrap().values_mut().next().unwrap();
                    *first = json!("new");
                    input
                };
                let back = dialect.taken_back(&event, 0, change(&told.input));
                match is_patch(said) != is_patch(told) {
                    true => assert!(back.is_err(), "{host} from {of}: {back:?}"),
                    false => assert_eq!(back, Ok(change(&said.input)), "{host} from {of}"),
                }
            }
        }
    }
}

#[test]
fn a_patch_over_several_files_is_a_call_for_each() {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: .env\n@@\n c\n-d\n+e\n*** Delete File: f\n*** End Patch\n";
    let event = event("codex", "apply_patch", &json!({"command": patch}));
    let claude = find("claude").unwrap();
    let edit = |path: &str, old: &str, new: &str| {
        call(
            "Edit",
            json!({"file_path": path, "old_string": old, "new_string": new}),
        )
    };
    let wanted = [
        call("Write", json!({"file_path": "a", "content": "x"})),
        edit("b", "c\nd", "c\ne"),
        edit(".env", "c\nd", "c\ne"),
        edit("f", "", ""),
    ];
    assert_eq!(claude.calls(&event), wanted);
    assert!(
        claude
            .taken_back(&event, 1, json!({"file_path": "z"}))
            .is_err()
    );
    assert_eq!(
        find("codex").unwrap().tool_names(&event),
        ["apply_patch", "Edit", "Write"]
    );
}

#[test]
fn a_patch_inside_a_shell_command_is_told_as_both() {
    let command =
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: .env\n+x\n*** End Patch\nEOF";
    for (host, shell) in [
        ("codex", "Bash"),
        ("claude", "Bash"),
        ("gemini", "run_shell_command"),
        ("cursor", "Shell"),
        ("copilot", "bash"),
        ("native", "shell"),
    ] {
        let event = event(host, shell, &json!({ "command": command }));
        for (of, bash, write, key) in [
            ("claude", "Bash", "Write", "file_path"),
            ("gemini", "run_shell_command", "write_file", "file_path"),
            ("cursor", "Shell", "Write", "file_path"),
            ("copilot", "bash", "create", "path"),
            ("codex", "Bash", "apply_patch", "command"),
        ] {
            let dialect = find(of).unwrap();
            let parts = dialect.patch_calls(&event);
            assert_eq!(
                (parts.len(), parts[0].name.as_str()),
                (1, write),
                "{host} to {of}"
            );
            let text = parts[0].input[key].as_str().unwrap();
            assert!(
                text.ends_with(".env") || text == command,
                "{host} to {of}: {parts:?}"
            );
            let names = dialect.tool_names(&event);
            assert!(
                names.iter().any(|name| name == write),
                "{host} to {of}: {names:?}"
            );
            assert!(
                names.iter().any(|name| name == bash),
                "{host} to {of}: {names:?}"
            );
            let back = dialect.taken_back(&event, 1, json!({ "file_path": "other" }));
            assert!(back.is_err(), "{host} to {of}: {back:?}");
        }
    }
}

#[test]
fn several_edits_of_a_file_are_a_call_for_each() {
    let edits =
        json!([{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]);
    let event = event(
        "claude",
        "MultiEdit",
        &json!({"file_path": "f", "edits": edits}),
    );
    let calls = find("gemini").unwrap().calls(&event);
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1].input["old_string"], "c");
}

#[test]
fn what_could_be_two_tools_has_the_names_of_both() {
    let event = event(
        "cursor",
        "Write",
        &json!({"file_path": "a", "content": "x"}),
    );
    let names = find("claude").unwrap().tool_names(&event);
    assert_eq!(names, ["Write", "Edit"]);
}

#[test]
fn what_nobody_knows_stays_as_it_came() {
    let event = event("gemini", "save_memory", &json!({"fact": "x"}));
    let claude = find("claude").unwrap();
    assert_eq!(claude.calls(&event), []);
    assert_eq!(claude.tool_names(&event), ["save_memory"]);
    assert_eq!(
        claude.taken_back(&event, 0, json!({"y": 1})),
        Ok(json!({"y": 1}))
    );
}

#[test]
fn what_nobody_knows_and_is_given_a_command_is_a_shell() {
    let event = event("gemini", "terminal", &json!({"command": "rm -rf x"}));
    let calls = find("claude").unwrap().calls(&event);
    assert_eq!(calls, [call("Bash", json!({"command": "rm -rf x"}))]);
}

#[test]
fn a_command_in_words_is_told_as_a_line_and_takes_no_other() {
    let input = json!({"command": ["bash", "-lc", "rm -rf x"]});
    let event = event("native", "shell", &input);
    let claude = find("claude").unwrap();
    assert_eq!(
        claude.calls(&event),
        [call("Bash", json!({"command": "rm -rf x"}))]
    );
    assert!(
        claude
            .taken_back(&event, 0, json!({"command": "ls"}))
            .is_err()
    );
    assert_eq!(
        claude.taken_back(&event, 0, json!({"command": "rm -rf x"})),
        Ok(input)
    );
}
