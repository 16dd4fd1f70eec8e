//! The plugin for OpenCode, run by node as OpenCode runs it.

use std::path::Path;
use std::process::Command;

use crate::nasty::running::skipped;
use crate::sandbox::{Sandbox, path_with_hookrun, with_program};

/// Loads the plugin, calls one of its hooks, and prints what came of it.
const DRIVER: &str = r#"
import { pathToFileURL } from "node:url";
const [file, hook, input, output] = process.argv.slice(2);
const { Hookrun } = await import(pathToFileURL(file));
const tui = { showToast: ({ body }) => console.log(`toast: ${body.message}`) };
const hooks = await Hookrun({ client: { tui }, directory: process.cwd() });
const given = JSON.parse(output);
try {
  if (hooks[hook] === undefined) throw new Error("no such hook");
  await hooks[hook](JSON.parse(input), given);
  console.log(JSON.stringify(given));
} catch (error) {
  console.log(`thrown: ${error.message}`);
}
"#;

/// What `driver` printed; `None` where there is no node.
pub(super) fn drive(sandbox: &Sandbox, driver: &str, words: &[&str]) -> Option<String> {
    let node = ["/usr/bin/node", "/usr/local/bin/node"];
    let Some(node) = node.into_iter().find(|file| Path::new(file).exists()) else {
        skipped("there is no node to run the plugin with");
        return None;
    };
    std::fs::write(sandbox.at("driver.mjs"), driver).unwrap();
    std::fs::write(sandbox.at("package.json"), r#"{"type": "module"}"#).unwrap();
    let ran = Command::new(node)
        .arg("driver.mjs")
        .args(words)
        .current_dir(sandbox.path())
        .env("HOME", sandbox.at("home"))
        .env("PATH", path_with_hookrun())
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    Some(
        String::from_utf8(ran.stdout)
            .unwrap()
            .trim_end()
            .to_string(),
    )
}

fn call(sandbox: &Sandbox, hook: &str, input: &str, output: &str) -> Option<String> {
    drive(sandbox, DRIVER, &[PLUGIN, hook, input, output])
}

/// What a hookrun does that decides nothing, and what is said of it.
pub(super) const NO_DECISION: [(&str, &str); 7] = [
    ("kill -9 $$", "hookrun ended with SIGKILL and no decision"),
    (
        "echo 'thread panicked' >&2; exit 101",
        "hookrun ended with status 101 and no decision",
    ),
    (
        "echo '{}'; exit 1",
        "hookrun ended with status 1 and no decision",
    ),
    ("echo no >&2; exit 2", "no"),
    ("exit 2", "hookrun gave no reason"),
    ("echo garbage", "cannot read hookrun's reply"),
    ("kill -STOP $$", "hookrun did not answer within 0.5 s"),
];

/// Puts a script in the place of hookrun, into the plugin in `file`.
pub(super) fn with_other(sandbox: Sandbox, file: &str, body: &str) -> Sandbox {
    let sandbox = sandbox.script("other/hookrun", &format!("#!/bin/sh\n{body}\n"));
    let other = sandbox.at("other/hookrun").display().to_string();
    let text = with_program(&sandbox.read(file), &other);
    // Only the one that never answers waits for it.
    let text = if body.contains("STOP") {
        text.replace("600000", "500")
    } else {
        text
    };
    sandbox.file(file, &text)
}

/// The sandbox with the plugin in it.
fn installed(sandbox: Sandbox) -> Sandbox {
    sandbox.hookrun(&["install", "opencode"], b"").exits(0);
    sandbox
}

const PLUGIN: &str = ".opencode/plugins/hookrun.js";
const TOOL: &str = r#"{"tool": "bash", "sessionID": "s1", "callID": "c1"}"#;
const ARGUMENTS: &str = r#"{"args": {"command": "rm -rf /", "timeout": 5}}"#;

#[test]
fn a_blocked_tool_throws_the_reason() {
    let body = "grep -q 'rm -rf' && { echo 'not that' >&2; exit 1; }";
    let sandbox = installed(Sandbox::new().hook("guard", body));
    let Some(said) = call(&sandbox, "tool.execute.before", TOOL, ARGUMENTS) else {
        return;
    };
    assert_eq!(said, "thrown: not that");
}

#[test]
fn an_allowed_tool_goes_on_with_what_a_hook_wrote_anew() {
    let hook = "# hookrun: rewrite\necho '{\"update\": {\"toolInput\": {\"command\": \"ls\"}}}'";
    let sandbox = installed(Sandbox::new().hook("mend", hook));
    let Some(said) = call(&sandbox, "tool.execute.before", TOOL, ARGUMENTS) else {
        return;
    };
    assert_eq!(said, r#"{"args":{"command":"ls"}}"#);
}

#[test]
fn a_result_is_what_a_hook_made_of_it() {
    let hook = "# hookrun: rewrite\necho '{\"update\": {\"result\": \"***\"}, \"additionalContext\": \"seen\"}'";
    let sandbox = installed(Sandbox::new().hook_for("tool.post", "redact", hook));
    let output = r#"{"title": "t", "output": "secret"}"#;
    let Some(said) = call(&sandbox, "tool.execute.after", TOOL, output) else {
        return;
    };
    assert_eq!(said, r#"{"title":"t","output":"***\n\nseen"}"#);
}

#[test]
fn a_hookrun_that_is_gone_blocks_tools() {
    let sandbox = installed(Sandbox::new().hook("guard", "exit 0"));
    let gone = with_program(&sandbox.read(PLUGIN), "/gone/hookrun");
    let sandbox = sandbox.file(PLUGIN, &gone);
    let Some(said) = call(&sandbox, "tool.execute.before", TOOL, ARGUMENTS) else {
        return;
    };
    assert!(said.starts_with("thrown: cannot start hookrun"), "{said}");
}

#[test]
fn a_hookrun_that_decides_nothing_blocks_tools_and_says_how_it_ended() {
    for (body, said) in NO_DECISION {
        let sandbox = installed(Sandbox::new().hook("guard", "exit 0"));
        let sandbox = with_other(sandbox, PLUGIN, body);
        let Some(all) = call(&sandbox, "tool.execute.before", TOOL, ARGUMENTS) else {
            return;
        };
        assert!(all.starts_with(&format!("thrown: {said}")), "{all}");
    }
}

#[test]
fn a_prompt_is_blocked_or_gets_context() {
    let session = r#"{"sessionID": "s"}"#;
    let prompt = r#"{"parts": [{"type": "text", "text": "hello"}]}"#;
    let censor = Sandbox::new().hook_for("prompt.submit", "censor", "echo no >&2; exit 1");
    let Some(said) = call(&installed(censor), "chat.message", session, prompt) else {
        return;
    };
    assert_eq!(said, "toast: no\nthrown: no");
    let body = "echo '{\"additionalContext\": \"be brief\"}'";
    let teller = Sandbox::new().hook_for("prompt.submit", "tell", body);
    let said = call(&installed(teller), "chat.message", session, prompt);
    assert_eq!(
        said.unwrap(),
        r#"{"parts":[{"type":"text","text":"hello\n\nbe brief"}]}"#
    );
}

#[test]
fn what_the_host_tells_of_a_session_reaches_its_hooks() {
    let sandbox = installed(Sandbox::new().hook_for("session.start", "note", "cat > seen"));
    let event = r#"{"event": {"type": "session.created", "properties": {"info": {"id": "s7"}}}}"#;
    let Some(_) = call(&sandbox, "event", event, "{}") else {
        return;
    };
    let text = sandbox.read("seen");
    assert!(text.contains(r#""sessionId":"s7""#), "{text}");
}

#[test]
fn a_plugin_of_somebody_else_is_left_alone() {
    let mine = "export const Mine = async () => ({});\n";
    let sandbox = Sandbox::new().hook("guard", "exit 0");
    let sandbox = sandbox.file(PLUGIN, mine);
    for command in ["install", "uninstall"] {
        sandbox
            .hookrun(&[command, "opencode"], b"")
            .exits(2)
            .says("was not written by hookrun");
        assert_eq!(sandbox.read(PLUGIN), mine);
    }
}
