//! Hooks with limits, sandboxes and namespaces are like others in all else.

use serde_json::json;

use super::{asked, gate, has_namespaces};
use crate::nasty::running::{Running, end, wait_until};
use crate::sandbox::Sandbox;

/// The ways into a hook's process that go through one of hookrun's own.
fn ways() -> Vec<String> {
    let mut ways = vec!["limits.files=64".to_string(), "sandbox.write=.".to_string()];
    if has_namespaces() {
        ways.push("containment=pidns".to_string());
    }
    ways.push(ways.join(" "));
    ways
}

/// The same, as tables of a manifest.
fn tables() -> Vec<&'static str> {
    let mut tables = vec!["limits = { files = 64 }", "sandbox = true"];
    if has_namespaces() {
        tables.push("containment = \"pidns\"");
    }
    tables
}

#[test]
fn what_cannot_be_started_is_told_in_the_same_words_every_way() {
    type Make = fn(Sandbox) -> Sandbox;
    let cases: &[(&str, Make, &str)] = &[
        (
            "empty",
            |sandbox| sandbox.script("program", ""),
            "neither a program for this system nor a script",
        ),
        (
            "text",
            |sandbox| sandbox.script("program", "exit 0\n"),
            "neither a program for this system nor a script",
        ),
        (
            "no interpreter",
            |s| s.script("program", "#!/none/sh\n"),
            "interpreter of",
        ),
        (
            "CR LF",
            |s| s.script("program", "#!/bin/sh\r\nexit 0\r\n"),
            "ends in CR LF",
        ),
        (
            "closed",
            |s| s.file("plain", "").script("program", "#!plain\n"),
            "permission denied",
        ),
        (
            "an interpreter that is none",
            |s| s.script("text", "exit 0\n").script("program", "#!text\n"),
            "neither a program for this system nor a script",
        ),
        (
            "not executable",
            |sandbox| sandbox.file("program", ""),
            "is not executable",
        ),
        ("missing", |sandbox| sandbox, "no such file"),
        ("broken", |s| s.script("program", "\u{7f}ELF"), "never ran"),
    ];
    for (what, make, words) in cases {
        let reason = |tables: &str| {
            let manifest = format!(
                "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"./program\"\n{tables}"
            );
            let sandbox = make(Sandbox::new().file("hookrun.toml", &manifest));
            let ran = sandbox.run("tool.pre");
            ran.exits(2).says("hook `h` never ran: ").says(words);
            ran.stderr.replace(sandbox.path().to_str().unwrap(), "")
        };
        let plain = reason("");
        for table in tables() {
            assert_eq!(reason(table), plain, "{what}: {table}");
        }
    }
}

#[test]
fn a_hook_finds_the_same_around_it_every_way() {
    let body = "printf '%s\\n' \"$0\" \"$#\" \"$@\"; cat; pwd; umask; ulimit -c\n\
                env | grep -v '^TRACEPARENT=\\|^HOOKRUN_RUN_ID=\\|^HOOKRUN_STATE_DIR=\\|^HOOKRUN_PROJECT_DIR=\\|^HOME=\\|^PWD=' | sort\n\
                grep '^SigIgn\\|^SigBlk' /proc/self/status; readlink /proc/self/fd/0 | cut -c1-4";
    let seen = |tables: &str| {
        let manifest = format!(
            "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"tools/../program 'a b' '' --x\"\n{tables}"
        );
        let sandbox = Sandbox::new()
            .file("hookrun.toml", &manifest)
            .file("tools/x", "")
            .script("program", &format!("#!/bin/sh\n{body}\n"))
            .variable("IT_VARIABLE", "variable")
            .file("else/where", "");
        let context =
            json!({ "cwd": "else", "toolName": "bash", "toolInput": { "command": "ls" } })
                .to_string();
        let report = sandbox.report("tool.pre", &context);
        assert_eq!(report["decision"], "allow", "{tables}: {report:#}");
        report["output"]
            .as_str()
            .unwrap()
            .replace(sandbox.path().to_str().unwrap(), "")
    };
    let plain = seen("");
    assert!(
        plain.contains("\n3\na b\n\n--x\n") && plain.contains("IT_VARIABLE=variable"),
        "{plain}"
    );
    for table in tables() {
        assert_eq!(seen(table), plain, "{table}");
    }
    let name = "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"perl -e 'open F, q(/proc/self/cmdline); print <F>'\"\n";
    let told = |tables: &str| {
        super::said(&Sandbox::new().file("hookrun.toml", &format!("{name}{tables}")))
    };
    assert_eq!(told("limits = { files = 64 }"), told(""));
}

#[test]
fn a_large_event_goes_every_way() {
    for way in ways() {
        let sandbox = gate(&format!("reads=stdin {way}"), "wc -c");
        let context = json!({ "prompt": "x".repeat(3 << 20) }).to_string();
        let report = sandbox.report("tool.pre", &context);
        let count: usize = report["output"].as_str().unwrap().trim().parse().unwrap();
        assert!(count > 3 << 20, "{way}: {report}");
    }
}

#[test]
fn a_status_of_126_is_a_crash_with_its_words() {
    for way in ways() {
        let ran = asked(&way, "echo no >&2; exit 126");
        ran.blocks("hook `hook` crashed: no (status 126) (fail closed)");
        asked(&way, "printf '\\0hookrun confine: no\\n' >&2; exit 126").exits(2);
    }
}

#[test]
fn told_to_stop_hookrun_ends_every_way() {
    for way in ways() {
        let sandbox = gate(
            &format!("timeout=1h {way}"),
            "touch started; setsid sleep 600 & sleep 600",
        );
        let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
        wait_until("the hook has started", || sandbox.at("started").exists());
        end(running.pid(), "TERM");
        running.ended().ran.blocks_saying("hookrun was interrupted");
    }
}

/// What an earlier hook may do to the file of hookrun.
const DONE_TO_THE_BINARY: &[&str] = &[
    "rm hookrun",
    "printf '#!/bin/sh\\nexit 0\\n' >new; chmod +x new; mv new hookrun",
];

/// A copy of hookrun in the sandbox.
fn with_copy(sandbox: Sandbox) -> Sandbox {
    let (built, own) = (env!("CARGO_BIN_EXE_hookrun"), sandbox.at("hookrun"));
    let copied = std::fs::hard_link(built, &own);
    copied
        .or_else(|_| std::fs::copy(built, &own).map(|_| ()))
        .unwrap();
    sandbox
}

#[test]
fn what_becomes_of_the_binary_does_not_change_what_hookrun_starts() {
    for done in DONE_TO_THE_BINARY {
        for way in ways() {
            let sandbox = with_copy(Sandbox::new()).hook("10-replaces", done).hook(
                "20-guard",
                &format!("# hookrun: {way}\necho no >&2; exit 1"),
            );
            let line = "shift; exec ./hookrun \"$@\"";
            let running = Running::start_by(&sandbox, line, &["run", "tool.pre"]);
            running.feed(b"{}").ended().ran.blocks("no");
        }
    }
}

#[test]
fn hooks_of_a_detached_event_run_whatever_has_become_of_the_binary() {
    for done in DONE_TO_THE_BINARY {
        let sandbox = with_copy(Sandbox::new()).hook_for("message.sent", "hook", "touch ran");
        // It runs, and gets its event only when the binary is gone.
        let line = format!(
            "shift; mkfifo event; ./hookrun \"$@\" <event & exec 3>event\n\
             until readlink /proc/$!/exe | grep -q hookrun; do sleep 0.01; done\n\
             sleep 0.3; {done}; echo '{{}}' >&3; exec 3>&-; wait $!"
        );
        let running = Running::start_by(&sandbox, &line, &["run", "message.sent"]);
        running.ended_alone().ran.exits(0);
        wait_until("the hook has run", || sandbox.at("ran").exists());
    }
}
