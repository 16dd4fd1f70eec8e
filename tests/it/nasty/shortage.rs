//! A system that is short of everything: descriptors, processes, threads, memory, room for the
//! environment, a working directory. There is a decision, and it is never consent by accident.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::nasty::running::{Running, is_root, skipped};
use crate::sandbox::{Ran, Sandbox};

/// A decision by a shell line in which `"$@"` is hookrun.
#[track_caller]
fn decide_by(sandbox: &Sandbox, line: &str, arguments: &[&str]) -> Ran {
    let all: Vec<&str> = ["run", "tool.pre"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    Running::start_by(sandbox, line, &all)
        .feed(b"{}")
        .ended()
        .ran
}

#[test]
fn too_few_descriptors_block() {
    let sandbox = Sandbox::new().hook("hook", "touch ran");
    for limit in 3..=24 {
        let ran = decide_by(&sandbox, &format!("ulimit -n {limit}; exec \"$@\""), &[]);
        let has_run = fs::remove_file(sandbox.at("ran")).is_ok();
        match ran.status {
            0 => assert!(has_run, "{limit}: {ran:?}"),
            2 => assert!(!ran.stderr.is_empty(), "{limit}: {ran:?}"),
            status => panic!("{limit}: {status}: {ran:?}"),
        }
    }
}

/// The pipes of a hook are made while the hook before it runs, but not with the last descriptors.
#[test]
fn a_second_hook_needs_no_more_descriptors_than_the_first() {
    let guard = "# hookrun: on_failure=allow\nexit 1";
    let one = Sandbox::new().hook("20-guard", guard);
    // It leaves a process that is found and ended before the next hook starts.
    let leaver = "setsid sh -c 'sleep 60; touch late' </dev/null >/dev/null 2>&1 &";
    let two = Sandbox::new()
        .hook("10-first", leaver)
        .hook("20-guard", guard);
    // With fewer the shell of the hook cannot read its script.
    for limit in 11..=40 {
        let line = format!("ulimit -n {limit}; exec \"$@\"");
        if decide_by(&one, &line, &[]).status != 2 {
            continue;
        }
        let ran = decide_by(&two, &line, &[]);
        assert!(
            ran.status == 2 && ran.stderr.contains("20-guard"),
            "{limit}: {ran:?}"
        );
    }
}

#[test]
fn a_hook_that_takes_the_descriptors_of_hookrun_away_is_waited_for_no_longer() {
    for limit in ["0:", "2:", "3:3"] {
        let body = format!(
            "# hookrun: timeout=1h\nprlimit --pid $PPID --nofile={limit} || exit 7\necho no >&2; exit 1"
        );
        let ran = decide_by(&Sandbox::new().hook("hook", &body), "exec \"$@\"", &[]);
        if ran.stdout.contains("status 7") || ran.stderr.contains("prlimit") {
            return skipped("hookrun's limits cannot be set from a hook here");
        }
        ran.blocks_saying("no");
    }
}

#[test]
fn too_few_descriptors_for_many_hooks_block_and_do_not_hang() {
    let mut sandbox = Sandbox::new();
    for number in 10..40 {
        sandbox = sandbox.hook(&number.to_string(), "# hookrun: parallel\nsleep 0.05");
    }
    for limit in [16, 24, 40, 64] {
        let line = format!("ulimit -n {limit}; exec \"$@\"");
        let ran = decide_by(&sandbox, &line, &["--jobs", "30"]);
        ran.blocks_saying("out of file descriptors")
            .says("ulimit -n");
    }
}

#[test]
fn a_hundred_parallel_hooks_need_no_more_than_64_descriptors() {
    let mut sandbox = Sandbox::new();
    for number in 100..200 {
        sandbox = sandbox.hook(
            &number.to_string(),
            "# hookrun: parallel\necho $HOOKRUN_HOOK",
        );
    }
    let ran = decide_by(&sandbox, "ulimit -n 64; exec \"$@\"", &[]);
    let names: Vec<String> = (100..200).map(|number| number.to_string()).collect();
    ran.allows_with(serde_json::json!({ "output": names.join("\n") }));
}

/// hookrun for a user who may have only `limit` processes; `None` where that cannot be arranged.
fn decide_with_processes(limit: u32) -> Option<Ran> {
    let sandbox = Sandbox::new().hook("hook", "echo no >&2; exit 1");
    // A user of our own: what others run at the same time would count, too.
    let user = 7_400_000 + std::process::id() % 100_000;
    let prlimit = format!("prlimit --nproc={limit} \"$@\"");
    let line = if is_root() {
        // The build folder may be closed to others.
        for path in [".", "home"] {
            fs::set_permissions(sandbox.at(path), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let own = format!("setpriv --reuid={user} --regid={user} --clear-groups --inh-caps=-all");
        let copy = "cp -- \"$1\" hookrun; shift; set -- ./hookrun \"$@\"";
        format!("{copy}; {own} test -x ./hookrun || exit 99; exec {own} {prlimit}")
    } else {
        format!("exec {prlimit}")
    };
    let ran = decide_by(&sandbox, &line, &[]);
    if ran.status == 99 || ran.stderr.contains("prlimit:") {
        skipped("processes cannot be limited here");
        return None;
    }
    Some(ran)
}

#[test]
fn without_another_process_a_hook_blocks() {
    let Some(ran) = decide_with_processes(1) else {
        return;
    };
    ran.blocks_saying("hook `hook` never ran: the system cannot start another process");
    ran.says("ulimit -u");
}

#[test]
fn without_another_thread_there_is_a_decision() {
    // One for hookrun, and then a thread, a hook, a keeper, whatever comes first.
    for limit in 2..=5 {
        let Some(ran) = decide_with_processes(limit) else {
            return;
        };
        ran.blocks_saying("");
        assert!(
            ran.stderr.trim_end() == "no" || ran.stderr.contains("never ran"),
            "{ran:?}"
        );
    }
}

#[test]
fn a_small_address_space_never_allows() {
    let sandbox = Sandbox::new().hook("hook", "echo no >&2; exit 1");
    // From one in which no program can start to one in which all goes well.
    for kib in (2_000..16_000)
        .step_by(500)
        .chain([20_000, 24_000, 32_000, 64_000])
    {
        let ran = decide_by(&sandbox, &format!("ulimit -v {kib}; exec \"$@\""), &[]);
        assert!(ran.status != 0 && ran.status != 101, "{kib}: {ran:?}");
    }
    decide_by(&sandbox, "ulimit -v 1000000; exec \"$@\"", &[]).blocks("no");
}

#[test]
fn an_environment_that_is_too_long_blocks() {
    let sandbox = Sandbox::new().hook("hook", "touch ran");
    // The system's room for arguments and environment is a quarter of the stack's limit. It is
    // enough for hookrun, and not for a hook that gets some more.
    let line = "ulimit -s 512; LONG=$(head -c 100000 /dev/zero | tr '\\0' x) exec \"$@\"";
    let long = "x".repeat(30_000);
    let context = serde_json::json!({
        "toolName": "bash", "prompt": long, "toolInput": { "command": long },
    });
    let running = Running::start_by(&sandbox, line, &["run", "tool.pre"]);
    let ran = running.feed(context.to_string().as_bytes()).ended().ran;
    ran.blocks_saying("hook `hook` never ran: ")
        .says("longer than the system allows")
        .says("shorten");
    let of_event = format!(
        "the largest are `LONG` ({} bytes), `HOOKRUN_",
        100_000 + "LONG=\0".len()
    );
    ran.says(&of_event);
    sandbox.has_no_file("ran");
}

#[test]
fn no_event_is_allowed_in_a_folder_that_is_gone() {
    let sandbox = Sandbox::new()
        .hook("hook", r#"echo '{"continue":false,"reason":"no"}'"#)
        .file("gone/x", "");
    let line = "cd gone && rm -r ../gone && exec \"$@\"";
    decide_by(&sandbox, line, &[])
        .exits(2)
        .says("working directory");
}

#[test]
fn hooks_that_are_named_run_in_a_folder_that_is_gone() {
    let sandbox = Sandbox::new()
        .hook("hook", r#"echo '{"continue":false,"reason":"no"}'"#)
        .file("gone/x", "");
    let hooks = sandbox.at("hooks.d");
    let line = "cd gone && rm -r ../gone && exec \"$@\"";
    decide_by(&sandbox, line, &["--hooks", hooks.to_str().unwrap()]).blocks("no");
}
