//! `replay --partition` and `--merge`: the work of many jobs is that of one.

use std::fs;
use std::path::Path;
use std::process::Command;

use hookrun::internals::replay::Partition;
use hookrun::internals::replay::compare::ComparedOutcome;
use serde_json::{Value, json};

use super::{GUARD, OTHER_GUARD, lines, recorded, replay, totals};
use crate::sandbox::{Ran, Sandbox};

const PARTS: usize = 4;

fn many() -> Sandbox {
    let commands: Vec<String> = (0..24)
        .map(|n| format!("{} {n}", ["ls", "rm", "cat"][n % 3]))
        .collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let sandbox = recorded(GUARD, &commands).hook("10-guard.sh", OTHER_GUARD);
    // What cannot be read is in one of them too.
    let text = sandbox.read("events.jsonl");
    sandbox.file(
        "events.jsonl",
        &format!("{text}broken\n{{\"hookrun\":1,\"time\":"),
    )
}

/// Writes the reports of all parts, and returns their names.
fn report_parts(sandbox: Sandbox, files: &[&str]) -> (Sandbox, Vec<String>) {
    let mut names = Vec::new();
    let mut sandbox = sandbox;
    for part in 1..=PARTS {
        let partition = format!("{part}/{PARTS}");
        let all = [files, &["--format", "json", "--partition", &partition]].concat();
        let report = replay(&sandbox, &all).stdout;
        let name = format!("part-{part}.json");
        sandbox = sandbox.file(&name, &report);
        names.push(name);
    }
    (sandbox, names)
}

/// A report without what differs from run to run.
fn timeless(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        for set in ["hooks", "against"] {
            let Some(hooks) = line["totals"][set].as_object_mut() else {
                continue;
            };
            for hook in hooks.values_mut() {
                let steps = hook["latencies"]["steps"].as_array().unwrap().iter();
                let calls: u64 = steps.map(|step| step[1].as_u64().unwrap()).sum();
                hook["latencies"] = json!(calls);
            }
        }
        if line["totals"].is_null() {
            line.as_object_mut().unwrap().remove("totals");
        }
    }
    lines
}

#[test]
fn every_event_is_in_exactly_one_part() {
    let sandbox = many();
    let mut found: Vec<Value> = Vec::new();
    let mut events = 0;
    for part in 1..=PARTS {
        let own = lines(
            &sandbox,
            &["events.jsonl", "--partition", &format!("{part}/{PARTS}")],
        );
        events += own.last().unwrap()["totals"]["events"].as_u64().unwrap();
        found.extend(own.into_iter().filter(|line| line["finding"].is_string()));
    }
    assert_eq!(events, 24);
    found.sort_by_key(|line| line["line"].as_u64());
    let whole = lines(&sandbox, &["events.jsonl"]);
    let whole: Vec<Value> = whole
        .into_iter()
        .filter(|line| line["finding"].is_string())
        .collect();
    assert_eq!(found, whole);
    assert_eq!(found.len(), 8 + 8 + 2);
}

#[test]
fn the_merged_report_of_all_parts_is_that_of_the_whole() {
    let (sandbox, names) = report_parts(many(), &["events.jsonl", "gone.jsonl"]);
    let whole = timeless(lines(&sandbox, &["events.jsonl", "gone.jsonl"]));
    let names: Vec<&str> = names.iter().rev().map(String::as_str).collect();

    let merged = timeless(lines(&sandbox, &[&["--merge"], names.as_slice()].concat()));

    assert_eq!(merged, whole);
    let human = replay(&sandbox, &[&["--merge"], names.as_slice()].concat());
    human
        .exits(2)
        .prints("24 events: 8 as recorded, 16 changed, 3 not readable");
}

#[test]
fn the_exit_status_of_parts_is_that_of_the_worst() {
    let sandbox = recorded(GUARD, &["ls", "rm x", "cat y", "ls z"]);
    let (sandbox, names) = report_parts(sandbox, &["events.jsonl"]);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let merge = [&["--merge"], names.as_slice()].concat();
    replay(&sandbox, &merge)
        .exits(0)
        .prints("4 events: 4 as recorded");
    let (sandbox, _) = report_parts(sandbox.hook("10-guard.sh", OTHER_GUARD), &["events.jsonl"]);
    replay(&sandbox, &merge).exits(1).prints("2 changed");
}

#[test]
fn a_part_that_is_missing_or_there_twice_or_of_something_else_is_told() {
    let (sandbox, _) = report_parts(many(), &["events.jsonl"]);
    let says = |sandbox: &Sandbox, names: &[&str], part: &str| {
        let ran = replay(sandbox, &[&["--merge"], names].concat());
        ran.exits(2).says(part);
        assert_eq!(ran.stdout, "");
    };
    let all = ["part-1.json", "part-2.json", "part-3.json", "part-4.json"];
    says(&sandbox, &all[..3], "name also the report of part 4");
    says(&sandbox, &[all[0], all[1], all[2], all[2]], "so is");
    says(&sandbox, &["nothing.json"], "nothing.json: No such file");
    says(
        &sandbox,
        &["events.jsonl"],
        "events.jsonl:1: it is no report of a replay",
    );
    let text = sandbox.read("part-2.json");
    let sandbox = sandbox.file("part-2.json", text.rsplit_once("{\"totals\"").unwrap().0);
    says(
        &sandbox,
        &all,
        "part-2.json: it has no end: the job was interrupted",
    );
    let sandbox = sandbox.file(
        "part-2.json",
        &text.replacen("events.jsonl", "other.jsonl", 1),
    );
    says(&sandbox, &all, "part-2.json: it is of another replay than");
    let mut sandbox = sandbox;
    let part = ["events.jsonl", "--format", "json", "--partition", "2/4"];
    for option in [["--hooks", "hooks.d"], ["--allow-change", "10-guard.sh"]] {
        let other = replay(&sandbox, &[&part[..], &option].concat()).stdout;
        sandbox = sandbox.file("part-2.json", &other);
        says(&sandbox, &all, "part-2.json: it is of another replay than");
    }
    let newer = text.replacen("\"hookrunReplay\":1", "\"hookrunReplay\":2", 1);
    let sandbox = sandbox.file("part-2.json", &newer);
    says(
        &sandbox,
        &all,
        "part-2.json:1: it was written by a newer hookrun",
    );
    let lost: Vec<&str> = text
        .lines()
        .enumerate()
        .filter(|(n, _)| *n != 1)
        .map(|l| l.1)
        .collect();
    let sandbox = sandbox.file("part-2.json", &(lost.join("\n") + "\n"));
    replay(&sandbox, &[&["--merge"], all.as_slice()].concat())
        .exits(2)
        .says("part-2.json");
}

#[test]
fn one_report_of_the_whole_can_be_shown_in_another_format() {
    let sandbox = recorded(GUARD, &["ls", "rm x"]).hook("10-guard.sh", "");
    let report = replay(&sandbox, &["events.jsonl", "--format", "json"]).stdout;
    let sandbox = sandbox.file("report.json", &report);
    replay(&sandbox, &["--merge", "report.json", "--format", "tap"])
        .exits(1)
        .prints("not ok 1 - events.jsonl:2");
    assert_eq!(totals(&sandbox, &["--merge", "report.json"])["changed"], 1);
}

#[test]
fn a_part_is_that_of_the_hash_that_is_promised() {
    for wrong in ["", "3", "0/8", "9/8", "0/0", "a/b", "-1/2", "1/2/3"] {
        assert!(wrong.parse::<Partition>().is_err(), "{wrong}");
    }
    // From the page of the authors of FNV-1a.
    for (text, hash) in [
        ("", 0xcbf2_9ce4_8422_2325_u64),
        ("a", 0xaf63_dc4c_8601_ec8c),
        ("foobar", 0x8594_4171_f739_67e8),
    ] {
        for of in [1_000_003, u64::MAX] {
            let part = format!("{}/{of}", hash % of + 1);
            let partition: Partition = part.parse().unwrap();
            assert!(partition.takes(text.as_bytes()), "{text}: {part}");
            assert_eq!(partition.to_string(), part);
        }
    }
}

#[test]
fn long_texts_are_told_by_their_beginning() {
    let reason = Some("é".repeat(2048));
    let short = ComparedOutcome {
        reason,
        ..ComparedOutcome::default()
    }
    .shortened();
    let short = short.reason.unwrap();
    assert!(
        short.len() < 2100 && short.ends_with("bytes left out …]"),
        "{}",
        short.len()
    );
}

#[test]
fn a_session_is_never_divided() {
    let sandbox = Sandbox::new().hook("10-guard.sh", GUARD);
    for number in 0..24 {
        let context = json!({
            "sessionId": format!("s-{}", number % 6), "toolName": "bash",
            "toolInput": { "command": format!("ls {number}") },
        });
        let arguments = ["run", "tool.pre", "--record", "events.jsonl"];
        sandbox.hookrun(&arguments, context.to_string().as_bytes());
    }
    // Every event of a part is counted there; each session has four.
    let counts: Vec<u64> = (1..=PARTS)
        .map(|part| {
            let own = lines(
                &sandbox,
                &["events.jsonl", "--partition", &format!("{part}/{PARTS}")],
            );
            own.last().unwrap()["totals"]["events"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), 24);
    assert!(counts.iter().all(|count| count % 4 == 0), "{counts:?}");
    assert!(
        counts.iter().filter(|count| **count > 0).count() > 1,
        "{counts:?}"
    );
}

/// The lines of a shell in the documents that decide all parts: GNU parallel's if it is here.
#[test]
fn the_recipes_for_many_parts_work() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/replay.md"));
    let page = page.unwrap();
    let recipes: Vec<&str> = page
        .split("```sh\n")
        .skip(1)
        .map(|part| part.split("```").next().unwrap())
        .collect();
    let argo = page
        .lines()
        .find(|line| line.contains("inputs.parameters.part}}/8"))
        .unwrap();
    let argo = argo
        .split("sh, -c, '")
        .nth(1)
        .unwrap()
        .trim_end_matches("']");
    let argo = format!(
        "for p in $(seq 8); do sh -c '{}'; done",
        argo.replace("{{inputs.parameters.part}}", "'$p'")
            .replace(" --hooks policies", "")
    );
    let mut lines: Vec<String> = vec![argo];
    let has = |name: &&str| {
        ["/usr/bin", "/bin", "/usr/local/bin"]
            .iter()
            .any(|folder| std::path::Path::new(folder).join(name).exists())
    };
    for program in ["parallel", "xargs"] {
        let found = recipes
            .iter()
            .find(|line| line.contains(&format!("{program} ")));
        let line = found.unwrap_or_else(|| panic!("no recipe for {program}"));
        match has(&program) {
            true => lines.push((*line).to_string()),
            false => crate::nasty::running::skipped(&format!("there is no {program}")),
        }
    }
    let sandbox = recorded(GUARD, &["ls", "rm x", "cat y", "ls z"]);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_hookrun"))
        .parent()
        .unwrap();
    for line in lines {
        let whole = format!("PATH={}:$PATH; rm -f part-*; {line}", program.display());
        let ran = sandbox.hookrun_by_shell(&whole, b"");
        assert_eq!(
            (ran.status, ran.stderr.as_str()),
            (0, ""),
            "{line}: {ran:?}"
        );
        let merged = sandbox.hookrun_by_shell("\"$0\" replay --merge part-*.json", b"");
        merged.exits(0).prints("4 events: 4 as recorded");
    }
}

/// Runs lines of docs/replay.md in a shell, as a machine that has only the recording and hookrun.
fn shell(sandbox: &Sandbox, line: &str) -> Ran {
    let binary = Path::new(env!("CARGO_BIN_EXE_hookrun")).parent().unwrap();
    let mut shell = Command::new("/bin/bash");
    shell
        .args(["-e", "-o", "pipefail", "-c", line])
        .current_dir(sandbox.path())
        .env_clear();
    shell.env(
        "PATH",
        format!("{}:/usr/local/bin:/usr/bin:/bin", binary.display()),
    );
    shell.env("HOME", sandbox.at("home"));
    Ran::from(shell.output().unwrap())
}

#[test]
fn the_recipes_for_many_processes_and_machines_split_a_recording_and_merge_it() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/replay.md")).unwrap();
    let line = |beginning: &str| {
        page.lines()
            .find(|line| line.starts_with(beginning))
            .unwrap()
    };
    let of_argo = |name: &str| {
        let (_, template) = page
            .rsplit_once(&format!("- name: {name}\n      "))
            .unwrap();
        let (_, command) = template.split_once("command: [sh, -c, '").unwrap();
        command
            .split_once("']\n")
            .unwrap()
            .0
            .replace("{{inputs.parameters.part}}", "$part")
    };
    let argo = format!("for part in $(seq 8); do\n{}\ndone", of_argo("part"));
    let mut recipes = vec![line("seq 8 | xargs").to_string(), argo];
    if Path::new("/usr/bin/parallel").exists() {
        recipes.push(line("parallel ").to_string());
    }
    let sandbox = recorded(GUARD, &["ls 1", "rm 2", "cat 3", "rm 4"]);
    let sandbox = sandbox.hook("10-guard.sh", OTHER_GUARD);
    shell(&sandbox, "mkdir policies && cp -r hooks.d policies").exits(0);
    let summary = |ran: &Ran| {
        ran.exits(1); // Decisions differ from those of the recording.
        let found = ran.stdout.lines().find(|line| line.contains(" events: "));
        found.unwrap_or_else(|| panic!("{ran:?}")).to_string()
    };
    let whole = summary(&replay(&sandbox, &["events.jsonl"]));
    for recipe in recipes {
        shell(&sandbox, &recipe).exits(0);
        shell(&sandbox, "ls part-*.json | wc -l")
            .exits(0)
            .prints("8\n");
        assert_eq!(
            summary(&shell(&sandbox, &of_argo("merge"))),
            whole,
            "{recipe}"
        );
        shell(&sandbox, "rm part-*.json").exits(0);
    }
}
