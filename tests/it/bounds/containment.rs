//! How surely all that hooks start is ended with them, and that nothing else changes for them.

use std::time::Duration;

use serde_json::json;

use super::{
    asked, gate, has_namespaces, is_root, notes, output, ran_without_privileges, skip,
    without_privileges, works,
};
use crate::nasty::running::{Running, end, wait_until};
use crate::sandbox::Sandbox;

/// A daemon that keeps nothing of the hook but a word by which the test finds it.
const DAEMON: &str = "env -i PATH=\"$PATH\" setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' \
                      $IT_COOKIE </dev/null >/dev/null 2>&1 &";

/// What can be had here beside the process group.
fn strong() -> Vec<&'static str> {
    if !has_namespaces() {
        skip("no process namespace can be made here");
        return Vec::new();
    }
    vec!["pidns"]
}

#[test]
fn reports_name_what_was_in_force() {
    let mut cases = vec![("auto", "sweep"), ("group", "group")];
    cases.extend(strong().into_iter().map(|name| (name, name)));
    for (containment, level) in cases {
        let report =
            gate(&format!("containment={containment}"), "echo hi").report("tool.pre", "{}");
        assert_eq!(
            (&report["output"], &report["hooks"][0]["containment"]),
            (&json!("hi"), &json!(level))
        );
        assert_eq!(notes(&report, 0), Vec::<String>::new(), "{containment}");
    }
}

#[test]
fn nothing_is_left_however_the_hook_ends() {
    for containment in strong() {
        let with = |body: &str| {
            asked(
                &format!("containment={containment} timeout=300ms"),
                &format!("{DAEMON}\n{body}"),
            )
        };
        with("exit 0").allows();
        with("echo no >&2; exit 1").blocks("no");
        with("kill -9 $$").blocks("hook `hook` failed: killed by SIGKILL (fail closed)");
        let late = "hook `hook` failed: timed out after 300ms (fail closed)";
        with("sleep 600").blocks(late);
        with("trap '' TERM; while :; do sleep 600; done").blocks(late);
        with("(setsid setsid sleep 600 &); kill -STOP $$").blocks(late);
    }
}

#[test]
fn a_hook_has_a_moment_to_clean_up_at_its_timeout() {
    for containment in strong() {
        let body = "trap 'touch cleaned; exit 0' TERM; sleep 600 & wait";
        let sandbox = gate(&format!("containment={containment} timeout=300ms"), body);
        sandbox.run("tool.pre").blocks_saying("timed out");
        sandbox.has_file("cleaned");
    }
}

#[test]
fn a_chain_of_forks_cannot_outrun_it() {
    let body = "n=${1:-0}; [ $n -lt 60 ] || exec sleep 600\n\
                setsid \"$0\" $((n + 1)) >/dev/null & exit 0";
    for containment in strong() {
        asked(&format!("containment={containment}"), body).allows();
    }
}

#[test]
fn a_namespace_can_be_had_without_privileges() {
    let Some(words) = without_privileges() else {
        return skip("this build cannot be run without privileges");
    };
    if !works(&[&words[..], &["unshare"]].concat(), &["-Upf", "true"]) {
        return skip("users may make no user namespaces here");
    }
    for settings in [
        "containment=pidns",
        "containment=pidns sandbox limits.files=32",
    ] {
        let body = format!("echo $$ $(id -u) $(id -g); {DAEMON}");
        let ran = ran_without_privileges(&gate(settings, &body), &words);
        let (user, group) = if is_root() {
            (super::NOBODY.to_string(), super::NOBODY.to_string())
        } else {
            let ids = (rustix::process::getuid(), rustix::process::getgid());
            (ids.0.to_string(), ids.1.to_string())
        };
        ran.allows_with(json!({ "output": format!("2 {user} {group}") }));
        let ran = ran_without_privileges(&gate(settings, "echo no >&2; exit 255"), &words);
        ran.blocks("no");
    }
}

#[test]
fn in_a_namespace_a_hook_is_the_second_process_and_ends_as_it_ended() {
    if !has_namespaces() {
        return skip("no process namespace can be made here");
    }
    assert_eq!(output("containment=pidns", "echo $$"), "2");
    for status in [1, 2, 3, 126, 127, 128, 137, 254, 255] {
        let report = gate("containment=pidns", &format!("exit {status}")).report("tool.pre", "{}");
        assert_eq!(report["hooks"][0]["status"], status, "{report:#}");
        let ending = if [126, 127].contains(&status) {
            "crashed"
        } else {
            "answered"
        };
        assert_eq!(report["hooks"][0]["ending"], ending, "{report:#}");
    }
    // All that end a process: no core is dumped, nothing is told in place of the signal.
    let signals = (1..=31).filter(|signal| ![17, 18, 19, 20, 21, 22, 23, 28].contains(signal));
    for signal in signals.chain([34, 40, 64]) {
        let body = format!("kill -{signal} $$; sleep 600");
        let ways = ["", "containment=pidns"].map(|settings| {
            let report = gate(&format!("timeout=9s {settings}"), &body).report("tool.pre", "{}");
            assert_eq!(
                report["hooks"][0]["ending"], "killed",
                "{signal}: {report:#}"
            );
            report["reason"].to_string()
        });
        assert_eq!(ways[0], ways[1]);
    }
}

#[test]
fn a_hook_that_signals_its_group_is_alone_in_it() {
    for containment in strong() {
        let with = format!("containment={containment} timeout=1h");
        for signal in [
            "USR1", "USR2", "ALRM", "TERM", "INT", "HUP", "QUIT", "PIPE", "PROF", "WINCH",
        ] {
            let body = format!("trap 'echo got' {signal}; kill -{signal} 0; exit 0");
            assert_eq!(output(&with, &body), "got", "{signal}");
        }
        asked(&with, "kill -9 0; sleep 600").blocks_saying("killed by SIGKILL");
    }
}

#[test]
fn a_namespace_ends_at_the_very_moment_at_which_hookrun_is_killed() {
    if !has_namespaces() {
        return skip("no process namespace can be made here");
    }
    let body = format!("{DAEMON}\nsetsid sleep 600 & touch up; sleep 600");
    for moment in 0..40 {
        let sandbox = gate("containment=pidns timeout=1h", &body);
        let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
        // From before its start until the hook runs: none of these moments is special.
        std::thread::sleep(Duration::from_micros(moment * 500));
        end(running.pid(), "KILL");
        assert_eq!(running.ended().ran.status, -1);
    }
    let sandbox = gate("containment=pidns timeout=1h", &body);
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
    wait_until("the hook runs", || sandbox.at("up").exists());
    end(running.pid(), "KILL");
    running.ended();
}

/// The ways into a hook's process that go through one of hookrun's own.
fn ways() -> Vec<String> {
    let mut ways = vec!["limits.files=64".to_string(), "sandbox.write=.".to_string()];
    ways.extend(strong().iter().map(|name| format!("containment={name}")));
    ways.push(ways.join(" "));
    ways
}

#[test]
fn what_cannot_be_started_is_told_in_the_same_words_every_way() {
    type Make = fn(Sandbox) -> Sandbox;
    let cases: &[(&str, Make, &str)] = &[
        (
            "empty",
            |sandbox| sandbox.script("program", ""),
            "neither a program nor a script",
        ),
        (
            "text",
            |sandbox| sandbox.script("program", "exit 0\n"),
            "neither a program nor a script",
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
            "neither a program nor a script",
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
            ran.exits(2)
                .says("hook `h` failed: never ran: ")
                .says(words);
            ran.stderr.replace(sandbox.path().to_str().unwrap(), "")
        };
        let plain = reason("");
        let mut tables = vec![
            "limits = { files = 64 }".to_string(),
            "sandbox = true".to_string(),
        ];
        tables.extend(
            strong()
                .iter()
                .map(|name| format!("containment = \"{name}\"")),
        );
        for table in tables {
            assert_eq!(reason(&table), plain, "{what}: {table}");
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
        let context = json!({ "cwd": "else", "toolName": "bash" }).to_string();
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
    let mut tables = vec![
        "limits = { files = 64 }".to_string(),
        "sandbox = true".to_string(),
    ];
    tables.extend(
        strong()
            .iter()
            .map(|name| format!("containment = \"{name}\"")),
    );
    for table in tables {
        assert_eq!(seen(&table), plain, "{table}");
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
fn a_process_that_has_left_the_group_lives_on_where_that_is_all_there_is() {
    let body = "setsid sh -c 'touch up; exec sleep 600' >/dev/null 2>&1 &\nuntil [ -e up ]; do sleep 0.01; done";
    let sandbox = gate("containment=group", body);
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
    let cookie = running.cookie.clone();
    running.ended_alone().ran.allows();
    let left = cookie.holders();
    left.iter().for_each(|pid| end(*pid, "KILL"));
    assert_eq!(left.len(), 1, "{left:?}");
    cookie.has_nobody();
    asked("containment=group", "sleep 600 >/dev/null & exit 0").allows();
    asked("containment=group timeout=300ms", "sleep 600 & sleep 600").blocks_saying("timed out");
}

#[test]
fn hookrun_in_a_hook_can_do_the_same() {
    let program = env!("CARGO_BIN_EXE_hookrun");
    for containment in strong() {
        let body = format!(
            "[ -n \"$INNER\" ] && {{ {DAEMON}\n echo inner $$ >&2; exit 1; }}\n\
             echo '{{\"toolName\":\"note\"}}' | INNER=1 {program} run tool.pre 2>&1 | grep -c '^inner'"
        );
        let ran = asked(&format!("containment={containment}"), &body);
        ran.allows_with(json!({ "output": "1" }));
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

#[test]
fn containments_that_are_none_are_mistakes() {
    let manifest =
        "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"true\"\ncontainment = ";
    for (written, directive) in [("\"cgroups\"", "cgroups"), ("true", "true"), ("[]", "''")] {
        let tables = Sandbox::new()
            .file("hookrun.toml", &format!("{manifest}{written}\n"))
            .problems(&[]);
        let directives = gate(&format!("containment={directive}"), "true").problems(&[]);
        for problems in [tables, directives] {
            assert!(
                problems.len() == 1 && problems[0].contains("`containment`"),
                "{problems:?}"
            );
        }
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
