//! What hooks may use up: each limit strikes in its own words, and only where it is exceeded.

use hookrun::internals::names::{parse_size, size_text};
use serde_json::json;

use super::{asked, gate, notes, output};
use crate::nasty::running::Running;
use crate::sandbox::{Ran, Sandbox};

/// Holds this many MiB and waits.
pub(super) fn hold(mebibytes: u32) -> String {
    format!("perl -e 'vec($held, {mebibytes} << 20, 8) = 1; sleep 600'")
}

/// The limit struck; gives how much of how much was used.
#[track_caller]
pub(super) fn struck(ran: &Ran, limit: &str) -> String {
    let reason = ran.stderr.trim_end();
    ran.blocks(reason);
    let before = format!("hook `hook` failed: exceeded `limits.{limit}`: it ");
    let used = reason
        .strip_prefix(&before)
        .and_then(|rest| rest.strip_suffix(" (fail closed)"));
    used.unwrap_or_else(|| panic!("{ran:?}")).to_string()
}

#[test]
fn an_allocation_beyond_the_limit_on_memory_fails() {
    let report = gate(
        "limits.memory=64M timeout=1h",
        &format!("exec {}", hold(100)),
    )
    .report("tool.pre", "{}");
    assert_eq!(report["decision"], "block", "{report:#}");
    assert!(
        report["reason"].as_str().unwrap().contains("memory"),
        "{report:#}"
    );
    assert_eq!(
        notes(&report, 0),
        ["each process of the hook was limited to 64 MiB of memory"]
    );
}

#[test]
fn a_hook_that_uses_too_much_processor_time_is_killed_and_the_reason_names_the_limit() {
    let ran = asked("limits.cpu=1s timeout=1h", "while :; do :; done");
    assert_eq!(struck(&ran, "cpu"), "used all of its 1s of processor time");
    let deaf = asked(
        "limits.cpu=1s timeout=1h",
        "trap '' XCPU; while :; do :; done",
    );
    deaf.blocks("hook `hook` failed: killed by SIGKILL (fail closed)");
}

#[test]
fn a_limit_counts_for_each_process_and_its_children_have_it_too() {
    let body = "sh -c 'while :; do :; done' 2>/dev/null; echo $?; ulimit -t; ulimit -d";
    assert_eq!(
        output("limits.cpu=1s limits.memory=64M timeout=1h", body),
        "152\n1\n65536"
    );
    // Two that hold less than the limit each may hold more together.
    let two = "for n in 1 2; do perl -e 'vec($held, 40 << 20, 8) = 1' || exit 1; done & \
               perl -e 'vec($held, 40 << 20, 8) = 1; select undef, undef, undef, 0.1' || exit 1; \
               wait; echo both";
    assert_eq!(output("limits.memory=64M timeout=1h", two), "both");
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
        assert_eq!(used, "wrote 12 bytes, more than 10 bytes", "{body}");
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
    let settings = "limits.memory=64M limits.cpu=5s limits.files=64 limits.output=3B";
    let body = format!("{} & sleep 0.1; kill $!; wait; printf 123", hold(8));
    let ran = asked(settings, &body);
    ran.allows_with(json!({ "output": 123.to_string() }));
}

#[test]
fn each_parallel_hook_has_limits_of_its_own() {
    let body = "# hookrun: parallel limits.memory=64M\n\
                perl -e 'vec($held, 40 << 20, 8) = 1; open F, \">held-$ENV{HOOKRUN_HOOK}\"; close F; \
                select undef, undef, undef, 0.01 until -e \"held-a\" && -e \"held-b\"; \
                select undef, undef, undef, 0.1'";
    let sandbox = Sandbox::new().hook("a", body).hook("b", body);
    sandbox
        .hookrun(&["run", "tool.pre", "--jobs", "2"], b"{}")
        .allows();
}

#[test]
fn a_struck_limit_lets_through_where_failures_do() {
    let report =
        gate("limits.output=10B on_failure=allow", "printf 123456789012").report("tool.pre", "{}");
    assert_eq!(report["decision"], "allow", "{report}");
    assert_eq!(report["hooks"][0]["ending"], "over-limit");
    let told =
        "failed: exceeded `limits.output`: it wrote 12 bytes, more than 10 bytes (fail open)";
    assert_eq!(report["notices"][0]["text"], told, "{report:#}");
}

/// A hook that has exited with a refusal before hookrun, which it has stopped, can see that it is
/// over a limit.
fn blocks_unseen(limit: &str, excess: &str) {
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
fn no_limit_undoes_a_block() {
    blocks_unseen("limits.output=10B", "printf 123456789012 >&2");
    blocks_unseen("limits.output=10B", "printf 123456789012");
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
fn a_hook_that_blocks_under_a_limit_on_files_has_a_note() {
    let told = "each process of the hook was limited to 16 open files";
    let report = gate("limits.files=16", "echo no >&2; exit 3").report("tool.pre", "{}");
    assert_eq!(
        (&report["reason"], notes(&report, 0)),
        (&json!("no"), vec![told.to_string()])
    );
    let report = gate("limits.files=16", "true").report("tool.pre", "{}");
    assert_eq!(notes(&report, 0), Vec::<String>::new());
}

#[test]
fn tables_mean_the_same_as_directives() {
    let manifest = "[[hook]]\nname = \"hook\"\nevent = \"tool.pre\"\n\
                    command = \"printf 123456789012\"\n\
                    limits = { output = \"10B\", files = 32, memory = \"1G\", cpu = \"9s\" }\n";
    let sandbox = Sandbox::new().file("hookrun.toml", manifest);
    assert_eq!(
        struck(&sandbox.run("tool.pre"), "output"),
        "wrote 12 bytes, more than 10 bytes"
    );
}

#[test]
fn amounts_that_cannot_be_meant_are_mistakes() {
    for (written, directive, cause) in [
        ("memory = 64", "memory=64", "`limits.memory`"),
        ("memory = \"64\"", "memory=64", "`64` is not a size"),
        ("memory = \"0M\"", "memory=0M", "`0M` is zero"),
        (
            "memory = \"99999999999G\"",
            "memory=99999999999G",
            "is too large",
        ),
        ("memory = \"-1M\"", "memory=-1M", "`-1M` is not a size"),
        ("output = \"\"", "output=''", "output`"),
        ("output = true", "output", "output`"),
        ("cpu = 2", "cpu=2", "`limits.cpu`"),
        ("cpu = \"0s\"", "cpu=0s", "`limits.cpu`"),
        ("files = 3", "files=3", "`limits.files` cannot be 3"),
        (
            "files = -9223372036854775808",
            "files=-9223372036854775808",
            "`limits.files` cannot be -9223372036854775808",
        ),
        ("files = \"9\"", "files=nine", "takes a whole number"),
        ("files = 9.5", "files=9.5", "takes a whole number"),
        ("cpu = \"200ms\"", "cpu=200ms", "in whole seconds"),
        ("processes = 9", "processes=9", "processes`"),
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

#[test]
fn sizes_are_read_and_written_as_people_do() {
    assert_eq!(parse_size("64M"), Ok(64 << 20));
    assert_eq!(parse_size(" 512 KiB "), Ok(512 << 10));
    assert_eq!(parse_size("1MB"), Ok(1_000_000));
    assert_eq!(parse_size("10B"), Ok(10));
    for wrong in ["", "10", "M", "1.5M", "1T", "10 m", "99999999999G"] {
        assert!(parse_size(wrong).is_err(), "{wrong}");
    }
    assert_eq!(size_text(64 << 20), "64 MiB");
    assert_eq!(size_text(3 << 19), "1.5 MiB");
    assert_eq!(size_text(1000), "1000 bytes");
}
