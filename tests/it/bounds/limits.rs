//! What hooks may use up: each limit strikes in its own words, and only where it is exceeded.

use serde_json::json;

use super::{asked, control_group, gate, has_namespaces, notes, output, skip};
use crate::nasty::running::Running;
use crate::sandbox::{Ran, Sandbox};

/// Holds this many MiB and waits.
fn hold(mebibytes: u32) -> String {
    format!("perl -e 'vec($held, {mebibytes} << 20, 8) = 1; sleep 600'")
}

/// The limit struck; gives how much of how much was used.
#[track_caller]
fn struck(ran: &Ran, limit: &str) -> String {
    let reason = ran.stderr.trim_end();
    ran.blocks(reason);
    let before = format!("hook `hook` failed: over its limit on {limit}: it ");
    let used = reason
        .strip_prefix(&before)
        .and_then(|rest| rest.strip_suffix(" (fail closed)"));
    used.unwrap_or_else(|| panic!("{ran:?}")).to_string()
}

#[test]
fn memory_is_limited() {
    let used = struck(&asked("limits.memory=64M timeout=1h", &hold(100)), "memory");
    let held = used
        .strip_prefix("held ")
        .and_then(|rest| rest.strip_suffix(" MiB of 64 MiB"));
    assert!(held.unwrap().parse::<f64>().unwrap() > 64.0, "{used}");
}

#[test]
fn processor_time_is_limited() {
    let used = struck(
        &asked("limits.cpu=200ms timeout=1h", "while :; do :; done"),
        "cpu",
    );
    let seconds = used
        .strip_prefix("used ")
        .and_then(|rest| rest.strip_suffix("s of 200ms"));
    assert!(seconds.unwrap().parse::<f64>().unwrap() > 0.2, "{used}");
}

#[test]
fn processes_are_limited() {
    let body = "sleep 600 & sleep 600 & sleep 600 & wait";
    assert_eq!(
        struck(&asked("limits.processes=3 timeout=1h", body), "processes"),
        "had 4 at once of 3"
    );
}

#[test]
fn output_is_limited_on_both_streams_together_and_after_the_exit_too() {
    for body in [
        "printf 123456789012; sleep 600",
        "printf 123456789012 >&2; sleep 600",
        "printf 123456; printf 123456 >&2; sleep 600",
        "printf 123456789012",
        "printf 123456789012 >&2",
        "{ sleep 0.02; printf 123456789012; } &",
    ] {
        let used = struck(&asked("limits.output=10B timeout=1h", body), "output");
        assert_eq!(used, "wrote 12 bytes of 10 bytes", "{body}");
    }
    struck(
        &asked("limits.output=1M timeout=1h", "cat /dev/zero"),
        "output",
    );
    struck(
        &asked("limits.output=1M timeout=1h", "cat /dev/zero >&2"),
        "output",
    );
}

#[test]
fn a_struck_limit_has_a_name_in_reports() {
    let report = gate("limits.output=10B", "printf 123456789012").report("tool.pre", "{}");
    assert_eq!(report["decision"], "block");
    assert_eq!(report["cause"], "failure");
    assert_eq!(report["hooks"][0]["ending"], "over-limit");
}

#[test]
fn a_hook_below_its_limits_is_untouched() {
    let settings = "limits.memory=64M limits.cpu=5s limits.files=64 limits.processes=3 \
                    limits.output=3B";
    let body = format!("{} & sleep 0.1; kill $!; wait; printf 123", hold(8));
    let ran = asked(settings, &body);
    ran.allows_with(json!({ "output": 123.to_string() }));
    let alone = "limits.processes=1 limits.output=1K";
    asked(
        alone,
        "n=0; while [ $n -lt 20000 ]; do n=$((n + 1)); done; echo hi",
    )
    .allows_with(json!({ "output": "hi" }));
}

#[test]
fn processor_time_between_the_last_look_and_the_end_counts() {
    // Whatever it is that notices: it used too much, and exits with 0.
    struck(
        &asked(
            "limits.cpu=10ms",
            "n=0; while [ $n -lt 300000 ]; do n=$((n+1)); done",
        ),
        "cpu",
    );
}

#[test]
fn all_processes_of_a_hook_count_together() {
    let two = format!("{} & {} & wait", hold(40), hold(40));
    struck(&asked("limits.memory=64M timeout=1h", &two), "memory");
    let three = "for n in 1 2 3; do sh -c 'while :; do :; done' & done; wait";
    struck(&asked("limits.cpu=300ms timeout=1h", three), "cpu");
    let waited = "while :; do head -c 30000000 /dev/zero | tail -c 1; done";
    struck(&asked("limits.cpu=300ms timeout=1h", waited), "cpu");
}

#[test]
fn what_has_left_the_group_counts_while_it_keeps_the_environment() {
    let daemon = |line: &str| format!("(setsid {line} >/dev/null 2>&1 &)\nsleep 600");
    struck(
        &asked("limits.memory=64M timeout=1h", &daemon(&hold(100))),
        "memory",
    );
    let busy = daemon("sh -c 'while :; do :; done'");
    struck(&asked("limits.cpu=200ms timeout=1h", &busy), "cpu");
    let many = daemon("sh -c 'sleep 600 & sleep 600 & sleep 600 & wait'");
    struck(&asked("limits.processes=4 timeout=1h", &many), "processes");
}

#[test]
fn a_hook_whose_processes_are_counted_leaves_the_processor_to_others() {
    let own = rustix::process::getpriority_process(None).unwrap();
    // Its priority is lowered just after its start, and its children have it too.
    let body = format!("until [ \"$(nice)\" != {own} ]; do sleep 0.01; done; sh -c nice");
    let lowered = (own + 10).min(19).to_string();
    asked("limits.processes=10", &body).allows_with(json!({ "output": lowered }));
    asked("limits.cpu=60s", "nice").allows_with(json!({ "output": own.to_string() }));
}

#[test]
fn each_parallel_hook_has_limits_of_its_own() {
    let body = "# hookrun: parallel limits.memory=64M limits.processes=3\n\
                perl -e 'vec($held, 40 << 20, 8) = 1; open F, \">held-$ENV{HOOKRUN_HOOK}\"; close F; \
                select undef, undef, undef, 0.01 until -e \"held-a\" && -e \"held-b\"; \
                select undef, undef, undef, 0.1'";
    let sandbox = Sandbox::new().hook("a", body).hook("b", body);
    sandbox
        .hookrun(&["run", "tool.pre", "--jobs", "2"], b"{}")
        .allows();
}

#[test]
fn memory_that_processes_have_in_common_counts_once() {
    let forks = "exec perl -e 'vec($held, 40 << 20, 8) = 1; \
                 for (1..4) { fork or do { select undef, undef, undef, 0.3; exit } } \
                 1 while wait > 0'";
    asked("limits.memory=64M", forks).allows();
    // Each of its own: four times as much.
    let own = "exec perl -e 'for (1..4) { fork or do { vec($held, 40 << 20, 8) = 1; sleep 600 } } \
               1 while wait > 0'";
    struck(&asked("limits.memory=64M timeout=1h", own), "memory");
}

#[test]
fn a_program_that_is_being_started_does_not_count_what_its_parent_holds() {
    // dash and bash start programs by vfork where they can, and Python does.
    let body = "held=$(head -c 40000000 /dev/zero | tr '\\0' x)\n\
                n=0; while [ $n -lt 200 ]; do /bin/true; n=$((n + 1)); done";
    asked("limits.memory=160M timeout=1h", body).allows();
    let python = "exec python3 -c '\n\
                  import subprocess\n\
                  held = bytearray(b\"x\") * (40 << 20)\n\
                  for _ in range(200): subprocess.run([\"/bin/true\"])'";
    if super::works(&["python3"], &["-c", "pass"]) {
        asked("limits.memory=64M timeout=1h", python).allows();
    }
}

#[test]
fn a_struck_limit_lets_through_where_failures_do() {
    let report =
        gate("limits.output=10B on_failure=allow", "printf 123456789012").report("tool.pre", "{}");
    assert_eq!(report["decision"], "allow", "{report}");
    assert_eq!(report["hooks"][0]["ending"], "over-limit");
    let told = "failed: over its limit on output: it wrote 12 bytes of 10 bytes (fail open)";
    assert_eq!(report["notices"][0]["text"], told, "{report:#}");
}

/// A hook that has exited with a refusal before hookrun, which it has stopped, can see that it is
/// over a limit.
fn refuses_unseen(limit: &str, excess: &str) {
    let body = format!(
        "kill -STOP $PPID; {excess}\n\
         {{ until grep -q ') Z' /proc/$$/stat; do sleep 0.01; done; kill -CONT $PPID; }} \
         </dev/null >/dev/null 2>&1 &\n\
         echo no >&2; exit 1"
    );
    let ran = asked(&format!("{limit} on_failure=allow timeout=1h"), &body);
    assert_eq!(ran.status, 2, "{limit}: {ran:?}");
    assert!(ran.stderr.ends_with("no\n"), "{limit}: {ran:?}");
}

#[test]
fn no_limit_undoes_a_refusal() {
    refuses_unseen("limits.output=10B", "printf 123456789012 >&2");
    refuses_unseen("limits.output=10B", "printf 123456789012");
    refuses_unseen(
        "limits.cpu=10ms",
        "n=0; while [ $n -lt 200000 ]; do n=$((n+1)); done",
    );
    refuses_unseen(
        "limits.processes=1",
        "sleep 600 >/dev/null 2>&1 & sleep 600 >/dev/null 2>&1 &",
    );
}

#[test]
fn the_number_of_open_files_is_exact_and_inherited() {
    assert_eq!(
        output(
            "limits.files=16",
            "ulimit -n; ulimit -Hn; sh -c 'ulimit -n'"
        ),
        "16\n16\n16"
    );
    let body = "exec perl -e 'while (open my $file, \"<\", \"/dev/null\") { push @all, $file } \
                print fileno $all[-1], \" $!\"'";
    assert_eq!(output("limits.files=16", body), "15 Too many open files");
    let least = "[[hook]]\nname = \"hook\"\nevent = \"tool.pre\"\ncommand = \"echo hi\"\n\
                 limits = { files = 4 }\n";
    Sandbox::new()
        .file("hookrun.toml", least)
        .run("tool.pre")
        .allows_with(json!({ "output": "hi" }));
}

#[test]
fn a_limit_on_files_can_only_lower_what_hookrun_has() {
    let sandbox = gate("limits.files=1000", "ulimit -n");
    let line = "ulimit -n 64; exec \"$@\"";
    let ran = Running::start_by(&sandbox, line, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran;
    ran.allows_with(json!({ "output": "64" }));
}

#[test]
fn a_hook_that_refuses_under_a_limit_on_files_has_a_note() {
    let told = "each of its processes could have 16 files open";
    let report = gate("limits.files=16", "echo no >&2; exit 3").report("tool.pre", "{}");
    assert_eq!(
        (&report["reason"], notes(&report, 0)),
        (&json!("no"), vec![told.to_string()])
    );
    let report = gate("limits.files=16", "true").report("tool.pre", "{}");
    assert_eq!(notes(&report, 0), Vec::<String>::new());
}

#[test]
fn in_a_namespace_and_in_a_control_group_limits_are_the_same() {
    let mut containments = Vec::new();
    containments.extend(has_namespaces().then_some("pidns"));
    containments.extend(control_group().map(|_| "cgroup"));
    if containments.len() < 2 {
        skip("not all of namespaces and control groups can be made here");
    }
    for containment in containments {
        let with = |limit: &str| format!("containment={containment} {limit} timeout=1h");
        struck(&asked(&with("limits.memory=64M"), &hold(100)), "memory");
        let busy = "while :; do :; done";
        struck(&asked(&with("limits.cpu=200ms"), busy), "cpu");
        let busy = "n=0; while [ $n -lt 300000 ]; do n=$((n+1)); done";
        struck(&asked(&with("limits.cpu=10ms"), busy), "cpu");
        let many = "sleep 600 & sleep 600 & (setsid sleep 600 &) & wait; sleep 600";
        let used = struck(&asked(&with("limits.processes=3"), many), "processes");
        // The subshell that starts the third may still be there.
        assert!(
            ["had 4 at once of 3", "had 5 at once of 3"].contains(&used.as_str()),
            "{used}"
        );
        // What hookrun puts around the hook is not the hook's.
        asked(
            &with("limits.processes=1 limits.memory=8M limits.cpu=1s"),
            "echo hi; read line",
        )
        .allows_with(json!({ "output": "hi" }));
        // The dead are not counted.
        let brief = "n=0; while [ $n -lt 40 ]; do (true &); n=$((n + 1)); done; sleep 0.1";
        asked(&with("limits.processes=20"), brief).allows();
        let all = with("limits.files=19 sandbox limits.memory=64M limits.output=1K");
        let body = "ulimit -n; touch x 2>/dev/null || echo denied";
        assert_eq!(output(&all, body), "19\ndenied", "{containment}");
    }
}

#[test]
fn tables_mean_the_same_as_directives() {
    let manifest = "[[hook]]\nname = \"hook\"\nevent = \"tool.pre\"\n\
                    command = \"printf 123456789012\"\n\
                    limits = { output = \"10B\", files = 32, memory = \"1G\", cpu = \"9s\", processes = 9 }\n";
    let sandbox = Sandbox::new().file("hookrun.toml", manifest);
    assert_eq!(
        struck(&sandbox.run("tool.pre"), "output"),
        "wrote 12 bytes of 10 bytes"
    );
}

#[test]
fn amounts_that_cannot_be_meant_are_mistakes() {
    for (written, directive, cause) in [
        ("memory = 64", "memory=64", "`limits.memory`"),
        ("memory = \"64\"", "memory=64", "`64` is not a size"),
        ("memory = \"0M\"", "memory=0M", "`0M` leaves nothing at all"),
        (
            "memory = \"99999999999G\"",
            "memory=99999999999G",
            "more than any machine has",
        ),
        ("memory = \"-1M\"", "memory=-1M", "`-1M` is not a size"),
        ("output = \"\"", "output=''", "output`"),
        ("output = true", "output", "output`"),
        ("cpu = 2", "cpu=2", "`limits.cpu`"),
        ("cpu = \"0s\"", "cpu=0s", "`limits.cpu`"),
        ("files = 3", "files=3", "nothing can run with fewer than 4"),
        (
            "files = -9223372036854775808",
            "files=-9223372036854775808",
            "fewer than 4",
        ),
        ("files = \"9\"", "files=nine", "takes a whole number"),
        (
            "processes = 0",
            "processes=0",
            "nothing can run with fewer than 1",
        ),
        ("processes = 1.5", "processes=1.5", "takes a whole number"),
        ("memroy = \"1M\"", "memroy=1M", "memroy`"),
    ] {
        let manifest = format!(
            "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"true\"\nlimits = {{ {written} }}\n"
        );
        let tables = Sandbox::new().file("hookrun.toml", &manifest).problems(&[]);
        let directives = gate(&format!("limits.{directive}"), "true").problems(&[]);
        for problems in [tables, directives] {
            assert_eq!(problems.len(), 1, "{written}: {problems:?}");
            assert!(
                problems[0].starts_with("error ") && problems[0].contains(cause),
                "{problems:?}"
            );
        }
    }
}
