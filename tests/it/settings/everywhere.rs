//! A hook in the settings of one agent host decides in every other.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// A host: its settings, and how it asks.
pub(super) struct Host {
    pub(super) name: &'static str,
    /// The fixture, and where such a file lies.
    settings: &'static [(&'static str, &'static str)],
    /// Its shell, before it runs: event, keys of tool and input, tool.
    gate: (&'static str, &'static str, &'static str, &'static str),
    start: &'static str,
}

pub(super) const HOSTS: &[Host] = &[
    Host {
        name: "claude",
        settings: &[
            ("claude.json", ".claude/settings.json"),
            ("claude.json", ".claude/settings.local.json"),
        ],
        gate: ("PreToolUse", "tool_name", "tool_input", "Bash"),
        start: "SessionStart",
    },
    Host {
        name: "codex",
        settings: &[
            ("codex.json", ".codex/hooks.json"),
            ("codex.toml", ".codex/config.toml"),
        ],
        gate: ("PreToolUse", "tool_name", "tool_input", "Bash"),
        start: "SessionStart",
    },
    Host {
        name: "gemini",
        settings: &[("gemini.json", ".gemini/settings.json")],
        gate: ("BeforeTool", "tool_name", "tool_input", "run_shell_command"),
        start: "SessionStart",
    },
    Host {
        name: "cursor",
        settings: &[("cursor.json", ".cursor/hooks.json")],
        gate: ("preToolUse", "tool_name", "tool_input", "Shell"),
        start: "sessionStart",
    },
    Host {
        name: "copilot",
        settings: &[("copilot.json", ".github/hooks/guard.json")],
        gate: ("preToolUse", "toolName", "toolArgs", "bash"),
        start: "sessionStart",
    },
];

impl Host {
    fn session(&self) -> &'static str {
        match self.name {
            "copilot" => "sessionId",
            "cursor" => "conversation_id",
            _ => "session_id",
        }
    }

    /// What it sends before a shell command.
    pub(super) fn asks(&self, command: &str) -> Value {
        let (event, tool, input, shell) = self.gate;
        let given = json!({"command": command, "description": "d"});
        let given = if input == "toolArgs" {
            json!(given.to_string())
        } else {
            given
        };
        json!({"hook_event_name": event, self.session(): "s-1", tool: shell, input: given})
    }

    fn starts(&self) -> Value {
        json!({"hook_event_name": self.start, self.session(): "s-1", "source": "startup"})
    }

    /// What a hook of it prints to refuse, to let pass and to rewrite.
    fn words(&self) -> [Value; 3] {
        let new = json!({"command": "ls -l", "description": "d"});
        let named = |mut said: Value| {
            said["hookEventName"] = "PreToolUse".into();
            json!({ "hookSpecificOutput": said })
        };
        match self.name {
            "claude" | "codex" => [
                named(json!({"permissionDecision": "deny", "permissionDecisionReason": "no"})),
                json!({}),
                named(json!({"permissionDecision": "allow", "updatedInput": new})),
            ],
            "gemini" => [
                json!({"decision": "deny", "reason": "no"}),
                json!({"decision": "allow"}),
                json!({"hookSpecificOutput": {"tool_input": new}}),
            ],
            "cursor" => [
                json!({"permission": "deny", "user_message": "no"}),
                json!({"permission": "allow"}),
                json!({"permission": "allow", "updated_input": new}),
            ],
            _ => [
                json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}),
                json!({"permissionDecision": "allow"}),
                json!({"permissionDecision": "allow", "modifiedArgs": new}),
            ],
        }
    }

    /// What a hook of it prints for the model, and what the host is told.
    fn context(&self) -> Value {
        match self.name {
            "claude" | "codex" => {
                json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "hear"}})
            }
            "gemini" => json!({"hookSpecificOutput": {"additionalContext": "hear"}}),
            "cursor" => json!({"additional_context": "hear"}),
            _ => json!({"additionalContext": "hear"}),
        }
    }

    fn new_input(&self, stdout: &str) -> Value {
        let said: Value = serde_json::from_str(stdout).unwrap_or_default();
        let path = match self.name {
            "claude" | "codex" => "/hookSpecificOutput/updatedInput",
            "gemini" => "/hookSpecificOutput/tool_input",
            "cursor" => "/updated_input",
            _ => "/modifiedArgs",
        };
        said.pointer(path).cloned().unwrap_or_default()
    }

    /// Its settings in a sandbox, once for each kind of file, with the argument that names it.
    fn sandboxes(&self) -> Vec<(Sandbox, &'static str)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/settings");
        let with = |(fixture, place): &(&str, &'static str)| {
            let text = fs::read_to_string(folder.join(fixture)).unwrap();
            (Sandbox::new().file(place, &text), *place)
        };
        self.settings.iter().map(with).collect()
    }
}

pub(super) fn run(sandbox: &Sandbox, host: &str, settings: &str, payload: &Value) -> Ran {
    let arguments = ["run", "--host", host, "--settings", settings];
    sandbox.hookrun(&arguments, payload.to_string().as_bytes())
}

/// Each hook of one host, asked by each other one.
fn each(check: impl Fn(&Host, &Host, Sandbox, &str)) {
    for of in HOSTS {
        for host in HOSTS {
            for (sandbox, settings) in of.sandboxes() {
                check(of, host, sandbox, settings);
            }
        }
    }
}

#[test]
fn a_block_blocks_in_every_host() {
    each(|of, host, sandbox, settings| {
        let sandbox = sandbox.file("answer", &of.words()[0].to_string());
        let ran = run(&sandbox, host.name, settings, &host.asks("rm -rf /"));
        assert_eq!(
            (ran.status, ran.stderr.trim_end()),
            (2, "no"),
            "{} in {}",
            of.name,
            host.name
        );
    });
}

#[test]
fn what_it_lets_pass_passes_in_every_host() {
    each(|of, host, sandbox, settings| {
        let sandbox = sandbox.file("answer", &of.words()[1].to_string());
        let ran = run(&sandbox, host.name, settings, &host.asks("ls"));
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (0, ""),
            "{} in {}",
            of.name,
            host.name
        );
    });
}

#[test]
fn a_new_input_goes_to_every_host_in_its_own_words() {
    each(|of, host, sandbox, settings| {
        let sandbox = sandbox.file("answer", &of.words()[2].to_string());
        let ran = run(&sandbox, host.name, settings, &host.asks("ls"));
        let new = json!({"command": "ls -l", "description": "d"});
        assert_eq!(ran.status, 0, "{} in {}: {ran:?}", of.name, host.name);
        assert_eq!(
            host.new_input(&ran.stdout),
            new,
            "{} in {}: {ran:?}",
            of.name,
            host.name
        );
    });
}

#[test]
fn text_for_the_model_reaches_it_in_every_host() {
    each(|of, host, sandbox, settings| {
        let sandbox = sandbox.file("context", &of.context().to_string());
        let ran = run(&sandbox, host.name, settings, &host.starts());
        let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        assert_eq!(
            (ran.status, said),
            (0, host.context()),
            "{} in {}",
            of.name,
            host.name
        );
    });
}

#[test]
fn it_is_told_of_the_tool_as_its_own_host_tells() {
    each(|of, host, sandbox, settings| {
        let sandbox = sandbox.file("answer", "");
        let payload = host.asks("ls");
        run(&sandbox, host.name, settings, &payload).allows();
        let seen = sandbox.read_json("seen");
        if of.name == host.name {
            return assert_eq!(seen, payload, "{}", of.name);
        }
        let wanted = of.asks("ls");
        for (key, value) in wanted.as_object().unwrap() {
            let (seen, value) = (&seen[key], value);
            assert_eq!(seen, value, "{} in {}: {key}", of.name, host.name);
        }
    });
}

#[test]
fn a_hook_that_never_ran_blocks_in_every_host() {
    for of in HOSTS {
        for (sandbox, settings) in of.sandboxes() {
            let text = sandbox
                .read(settings)
                .replace("cat > seen; cat answer", "exit 127");
            let sandbox = sandbox.file(settings, &text);
            for host in HOSTS {
                run(&sandbox, host.name, settings, &host.asks("ls"))
                    .exits(2)
                    .says("127");
            }
        }
    }
}

#[test]
fn another_tool_is_none_of_its_business() {
    for of in HOSTS {
        for (sandbox, settings) in of.sandboxes() {
            let context = json!({"toolName": "read", "toolInput": {"path": "a"}}).to_string();
            let arguments = ["run", "tool.pre", "--settings", settings];
            sandbox.hookrun(&arguments, context.as_bytes()).allows();
            sandbox.has_no_file("seen");
        }
    }
}
