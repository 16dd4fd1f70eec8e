//! The plugin for pi and oh-my-pi, run by node with a host that only pretends.

use serde_json::{Value, json};

use super::plugin::{NO_DECISION, drive, with_other};
use crate::sandbox::Sandbox;
use crate::ui::with_hookrun;

/// Loads the plugin, sends it events, and prints the result of each, then what was shown and sent.
/// In an event `+wait` waits for so many things that are sent or shown.
const DRIVER: &str = r#"
import { pathToFileURL } from "node:url";
const [file, hasUI, ...events] = process.argv.slice(2);
const { default: load } = await import(pathToFileURL(file));
const handlers = {};
const seen = [];
const shows = (name, answer, screen) => (...words) => {
  const { signal } = words.at(-1)?.signal ? words.pop() : {};
  seen.push([...screen, name, ...words]);
  if (answer !== "withdrawn") return Promise.resolve(answer);
  return new Promise((done) => signal.addEventListener("abort", () => (seen.push(["gone"]), done())));
};
const answers = { select: "two", confirm: true, editor: "edited", input: "withdrawn", notify: undefined, setStatus: undefined };
const screenOf = (...screen) =>
  Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, shows(name, answer, screen)]));
const ui = screenOf();
const sends = (name) => (...words) => void seen.push([name, ...words]);
const isFirst = hasUI === "first";
load({
  on: (name, handle) => (handlers[name] = handle),
  ...(isFirst
    ? { send: sends("send") }
    : { sendMessage: sends("sendMessage"), sendUserMessage: sends("sendUserMessage") }),
});
const sessionManager = { getSessionId: () => "s1", getSessionFile: () => undefined };
const ofSession = isFirst ? { sessionFile: "/s.jsonl" } : { sessionManager };
const ctx = { cwd: process.cwd(), hasUI: hasUI !== "false", ui, ...ofSession, mode: "print", abort: sends("abort") };
const printed = [];
for (const text of events) {
  const { wait = 0, together, ...one } = JSON.parse(text);
  const play = async ({ on, screen, ...event }) => {
    const result = await handlers[on]?.(event, screen === undefined ? ctx : { ...ctx, ui: screenOf(screen) });
    return { result, event };
  };
  printed.push(...(await Promise.all((together ?? [one]).map(play))));
  while (seen.length < wait) await new Promise((done) => setTimeout(done, 5));
}
await handlers.session_shutdown({ reason: "quit" }, ctx);
console.log(JSON.stringify({ printed, seen }));
"#;

const HOSTS: [&str; 2] = ["pi", "omp"];

fn file(host: &str) -> String {
    format!(".{host}/extensions/hookrun.js")
}

fn installed(host: &str, sandbox: Sandbox) -> Sandbox {
    sandbox
        .hookrun(&["install", host, "--all-events"], b"")
        .exits(0);
    sandbox
}

/// Waits for the server as long as it takes, on a machine that does much else.
fn patient(host: &str, sandbox: Sandbox) -> Sandbox {
    let text = sandbox
        .read(&file(host))
        .replace("START_MS = 5;", "START_MS = 60000;");
    sandbox.file(&file(host), &text)
}

/// What came of some events; `None` where there is no node.
fn play(sandbox: &Sandbox, host: &str, has_ui: bool, events: &[Value]) -> Option<Value> {
    play_in(sandbox, host, &has_ui.to_string(), events)
}

/// As [`play`], with or without a screen, or in the `first` pi, which has other words.
fn play_in(sandbox: &Sandbox, host: &str, has_ui: &str, events: &[Value]) -> Option<Value> {
    let file = file(host);
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    let mut words = vec![file.as_str(), has_ui];
    words.extend(events.iter().map(String::as_str));
    let said = drive(sandbox, DRIVER, &words)?;
    Some(serde_json::from_str(&said).unwrap())
}

fn tool_call() -> Value {
    let input = json!({ "command": "rm -rf /", "timeout": 5 });
    json!({ "on": "tool_call", "toolName": "bash", "toolCallId": "c1", "input": input })
}

fn tool_result() -> Value {
    let content = json!([{ "type": "text", "text": "secret" }]);
    json!({ "on": "tool_result", "toolName": "bash", "toolCallId": "c1", "input": {}, "content": content })
}

#[test]
fn a_tool_is_blocked_with_the_reason_or_runs_as_hooks_want_it() {
    for host in HOSTS {
        let body = "grep -q 'rm -rf' && { echo 'not that' >&2; exit 1; }";
        let sandbox = installed(host, Sandbox::new().hook("guard", body));
        let doctor = || sandbox.hookrun(&["doctor", host], b"").stdout;
        assert!(
            doctor().contains("`hookrun why` shows the events that arrived"),
            "{}",
            doctor()
        );
        let Some(said) = play(&sandbox, host, false, &[tool_call()]) else {
            return;
        };
        assert_eq!(
            said["printed"][0]["result"],
            json!({ "block": true, "reason": "not that" })
        );
        let all = r#"{"update": {"toolInput": {"command": "ls"}}, "additionalContext": "why"}"#;
        let body = format!("# hookrun: rewrite\necho '{all}'");
        let sandbox = installed(host, Sandbox::new().hook("mend", &body));
        let said = play(&sandbox, host, false, &[tool_call(), tool_result()]).unwrap();
        assert_eq!(
            said["printed"][0]["event"]["input"],
            json!({ "command": "ls" })
        );
        let texts = &said["printed"][1]["result"]["content"];
        assert_eq!(
            (&texts[0]["text"], &texts[1]["text"]),
            (&"secret".into(), &"why".into())
        );
    }
}

#[test]
fn a_compaction_and_the_messages_are_what_hooks_make_of_them() {
    const COMPACT: &str = r#"# hookrun: rewrite
grep -q '"tokensBefore":7' && echo '{"update": {"compaction": {"summary": "short"}}}'"#;
    const FILTER: &str = r#"# hookrun: rewrite
grep -q first && echo '{"update": {"messages": []}}' || true"#;
    for host in HOSTS {
        let sandbox = Sandbox::new()
            .hook_for("compact.pre", "compact", COMPACT)
            .hook_for("model.pre", "filter", FILTER);
        let sandbox = installed(host, sandbox);
        let before =
            json!({ "on": "session_before_compact", "preparation": { "tokensBefore": 7 } });
        let messages = |text: &str| json!({ "on": "context", "messages": [{ "role": "user", "content": text }] });
        let events = [before, messages("first"), messages("second")];
        let Some(said) = play(&sandbox, host, false, &events) else {
            return;
        };
        let printed = &said["printed"];
        assert_eq!(
            printed[0]["result"],
            json!({ "compaction": { "summary": "short" } })
        );
        assert_eq!(printed[1]["result"], json!({ "messages": [] }));
        assert_eq!(printed[2]["result"], Value::Null, "{said}");
    }
}

#[test]
fn a_result_and_a_prompt_are_what_hooks_make_of_them() {
    for host in HOSTS {
        let redact = "# hookrun: rewrite\necho '{\"update\": {\"result\": \"***\"}}'";
        let sandbox = Sandbox::new()
            .hook_for("tool.post", "redact", redact)
            .hook_for("session.start", "hello", "echo of the session")
            .hook_for(
                "prompt.submit",
                "censor",
                "grep -q bad && { echo no >&2; exit 1; }; echo more",
            );
        let sandbox = installed(host, sandbox);
        let prompt = |on: &str, text: &str| json!({ "on": on, "text": text, "prompt": text });
        // oh-my-pi has `input` at a terminal only.
        let on = if host == "pi" {
            "input"
        } else {
            "before_agent_start"
        };
        let events = [
            json!({ "on": "session_start" }),
            prompt(on, "good"),
            prompt("before_agent_start", "good"),
            prompt(on, "bad"),
            tool_result(),
        ];
        let Some(said) = play(&sandbox, host, false, &events) else {
            return;
        };
        let result = |at: usize| &said["printed"][at]["result"];
        let told = if host == "pi" { 2 } else { 1 };
        assert_eq!(
            result(told)["message"]["content"],
            "of the session\n\nmore",
            "{said}"
        );
        let refused = match host {
            "pi" => result(3)["action"] == "handled",
            _ => said["seen"] == json!([["abort"]]),
        };
        assert!(refused, "{said}");
        assert_eq!(
            result(4)["content"],
            json!([{ "type": "text", "text": "***" }])
        );
    }
}

#[test]
fn what_may_be_cancelled_is_cancelled_and_a_command_of_the_person_gets_the_reason() {
    let refuse = "echo 'not now' >&2; exit 1";
    for host in HOSTS {
        let sandbox = Sandbox::new()
            .hook_for("compact.pre", "keep", refuse)
            .hook_for("session.switch.pre", "stay", "exit 0")
            .hook_for("user.bash", "guard", refuse);
        let sandbox = installed(host, sandbox);
        let events = [
            json!({ "on": "session_before_compact" }),
            json!({ "on": "session_before_switch", "reason": "new" }),
            json!({ "on": "user_bash", "command": "ls" }),
        ];
        let Some(said) = play(&sandbox, host, true, &events) else {
            return;
        };
        assert_eq!(said["printed"][0]["result"], json!({ "cancel": true }));
        assert_eq!(said["printed"][1].get("result"), None);
        assert_eq!(said["printed"][2]["result"]["result"]["output"], "not now");
        assert_eq!(said["seen"], json!([["notify", "not now", "warning"]]));
    }
}

#[test]
fn the_first_pi_is_served_in_its_own_words() {
    let keep = "printf '%s %s\\n' \"$HOOKRUN_EVENT\" \"$HOOKRUN_SESSION_ID\" >> seen";
    let sandbox = Sandbox::new()
        .hook_for("session.start", "start", keep)
        .hook_for("session.end", "end", keep)
        .hook_for("session.switch.pre", "stay", "echo 'not now' >&2; exit 1")
        .hook_for("tool.pre", "guard", "echo no >&2; exit 1");
    let sandbox = installed("pi", sandbox);
    let events = [
        json!({ "on": "session", "reason": "start" }),
        json!({ "on": "session", "reason": "before_switch" }),
        json!({ "on": "session", "reason": "clear" }),
        tool_call(),
    ];
    let Some(said) = play_in(&sandbox, "pi", "first", &events) else {
        return;
    };
    assert_eq!(said["printed"][1]["result"], json!({ "cancel": true }));
    assert_eq!(said["printed"][3]["result"]["block"], true);
    assert_eq!(
        sandbox.read("seen"),
        "session.start /s.jsonl\nsession.end /s.jsonl\n"
    );
}

#[test]
fn hooks_ask_and_tell_the_person_by_the_screen_of_the_host() {
    let body = "set -e
        hookrun hook ui confirm Sure text
        test \"$(hookrun hook ui select Which one two)\" = two
        test \"$(hookrun hook ui editor Text old)\" = edited
        hookrun hook ui notify 'a note' --type warning
        hookrun hook ui status key text
        $HOOKRUN hook ui input Name who & sleep 0.5; kill $!; wait; true";
    let body = with_hookrun(body).replace("$HOOKRUN", env!("CARGO_BIN_EXE_hookrun"));
    for host in HOSTS {
        let sandbox = patient(host, installed(host, Sandbox::new().hook("guard", &body)));
        let start = json!({ "on": "session_start" });
        let Some(said) = play(&sandbox, host, true, &[start, tool_call()]) else {
            return;
        };
        let seen = json!([
            ["confirm", "guard: Sure", "text"],
            ["select", "guard: Which", ["one", "two"]],
            ["editor", "guard: Text", "old"],
            ["notify", "guard: a note", "warning"],
            ["setStatus", "key", "text"],
            ["input", "guard: Name", "who"],
            ["gone"],
        ]);
        assert_eq!(said["seen"], seen, "{said}");
        assert_eq!(said["printed"][1]["result"].get("block"), None, "{said}");
    }
}

#[test]
fn a_dialog_is_shown_where_its_event_is() {
    for host in HOSTS {
        let ask = "hookrun hook ui confirm \"$HOOKRUN_ACTION_COMMAND\" || exit 1";
        let sandbox = Sandbox::new().hook("guard", &with_hookrun(ask));
        let sandbox = patient(host, installed(host, sandbox));
        let call = |screen: &str| {
            let input = json!({ "command": format!("for {screen}") });
            json!({ "on": "tool_call", "screen": screen, "toolName": "bash", "toolCallId": screen, "input": input })
        };
        let both = json!({ "together": [call("left"), call("right")] });
        let Some(said) = play(&sandbox, host, true, &[both]) else {
            return;
        };
        let mut seen = said["seen"].as_array().unwrap().clone();
        seen.sort_by_key(Value::to_string);
        let shown = |screen: &str| json!([screen, "confirm", format!("guard: for {screen}"), ""]);
        assert_eq!(seen, [shown("left"), shown("right")], "{host}");
        assert_eq!(said["printed"][1]["result"], Value::Null);
    }
}

#[test]
fn messages_come_into_the_session_and_no_hook_is_asked_about_them() {
    let body = "hookrun hook send again; hookrun hook send data --type ci --hidden --details '{\"exit\": 1}'";
    let sandbox = Sandbox::new().hook("guard", &with_hookrun(body)).hook_for(
        "prompt.submit",
        "never",
        "exit 1",
    );
    let sandbox = patient("pi", installed("pi", sandbox));
    let mut sends = tool_call();
    sends["wait"] = 2.into();
    let echo = json!({ "on": "input", "text": "again", "source": "extension" });
    let events = [json!({ "on": "session_start" }), sends, echo];
    let Some(said) = play(&sandbox, "pi", false, &events) else {
        return;
    };
    let data = json!({ "customType": "ci", "content": "data", "display": false, "details": { "exit": 1 } });
    let busy = json!({ "deliverAs": "followUp" });
    let starts = json!({ "deliverAs": "followUp", "triggerTurn": true });
    let seen = json!([
        ["sendUserMessage", "again", busy],
        ["sendMessage", data, starts]
    ]);
    assert_eq!(said["seen"], seen, "{said}");
    assert_eq!(said["printed"][2].get("result"), None, "{said}");
}

#[test]
fn a_hookrun_that_decides_nothing_blocks_tools_and_lets_agents_stop() {
    let stop = json!({ "on": "session_stop", "stop_hook_active": false });
    for (body, reason) in NO_DECISION {
        let sandbox = installed("omp", Sandbox::new().hook("guard", "exit 0"));
        let sandbox = with_other(sandbox, &file("omp"), body);
        let text = sandbox.read(&file("omp")).replace("28000", "500");
        let sandbox = sandbox.file(&file("omp"), &text);
        let events = [tool_call(), stop.clone()];
        let Some(said) = play(&sandbox, "omp", false, &events) else {
            return;
        };
        let result = &said["printed"][0]["result"];
        assert_eq!(result["block"], true, "{said}");
        assert!(
            result["reason"].as_str().unwrap().starts_with(reason),
            "{said}"
        );
        // Status 2 is a block, and not a failure.
        let is_block = body.ends_with("exit 2");
        assert_eq!(
            said["printed"][1].get("result").is_some(),
            is_block,
            "{body}: {said}"
        );
    }
}

#[test]
fn where_the_server_is_no_help_the_event_is_decided_by_a_run() {
    let real = env!("CARGO_BIN_EXE_hookrun");
    let kill = "[ $1 = run ] || echo $$ > serve.pid";
    for (serve, guard) in [
        // Not in this build, gone at once, and garbage.
        ("[ $1 = run ] || exit 2", ":"),
        ("[ $1 = run ] || kill -9 $$", ":"),
        (
            "[ $1 = run ] || { read -r line; echo garbage; exec cat; }",
            ":",
        ),
        // Killed while it decides, and without an answer to what it took.
        (
            kill,
            "[ -e once ] || { touch once; kill -9 $(cat serve.pid); sleep 5; }",
        ),
        (
            "[ $1 = run ] || { read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read -r line; exit; }",
            ":",
        ),
    ] {
        let guard = format!("{guard}\necho 'by a run' >&2; exit 1");
        let sandbox = installed("pi", Sandbox::new().hook("guard", &guard));
        let body = format!("{serve}\n[ $1 != run ] || touch ran\nexec {real} \"$@\"");
        let sandbox = patient("pi", with_other(sandbox, &file("pi"), &body));
        let events = [json!({ "on": "session_start" }), tool_call()];
        let Some(said) = play(&sandbox, "pi", false, &events) else {
            return;
        };
        let result = json!({ "block": true, "reason": "by a run" });
        assert_eq!(said["printed"][1]["result"], result, "{serve}: {said}");
        assert_eq!(sandbox.read("ran"), "", "{serve}");
    }
}

#[test]
fn a_server_that_does_not_answer_holds_no_event_up() {
    let sandbox = installed("pi", Sandbox::new().hook("guard", "echo no >&2; exit 1"));
    let real = env!("CARGO_BIN_EXE_hookrun");
    let body = format!("[ $1 = run ] || exec cat > heard\nexec {real} \"$@\"");
    let sandbox = with_other(sandbox, &file("pi"), &body);
    let Some(said) = play(&sandbox, "pi", false, &[tool_call()]) else {
        return;
    };
    assert_eq!(said["printed"][0]["result"]["reason"], "no", "{said}");
}

#[test]
fn what_was_interrupted_in_the_host_is_blocked_and_its_hooks_end() {
    let sandbox = installed("pi", Sandbox::new().hook("guard", "touch began; sleep 600"));
    let driver = DRIVER.replace(
        "abort: sends",
        "signal: AbortSignal.timeout(300), abort: sends",
    );
    let file = file("pi");
    let call = tool_call().to_string();
    let Some(said) = drive(&sandbox, &driver, &[&file, "false", &call]) else {
        return;
    };
    assert!(said.contains("hookrun was interrupted"), "{said}");
}
