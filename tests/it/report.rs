//! `hookrun report`: the page, looked at in a browser and by its script alone; and what it says of
//! many decisions, of secrets, and of other people's texts.

pub(crate) mod browser;
pub(crate) mod exports;
mod pictures;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::nasty::running::skipped;
use crate::sandbox::{Ran, Sandbox};
use browser::{Browser, chromium, program};

/// A hook in a decision: its name, milliseconds, and `allow`, `ask`, `block` or a failure.
type HookFacts<'h> = (&'h str, f64, &'h str);

/// A line of the log.
pub(crate) fn line(second: u64, command: &str, hooks: &[HookFacts<'_>]) -> String {
    let mut after = 0.1;
    let mut made = Vec::new();
    let (mut decision, mut by, mut failed) = ("allow", None, false);
    for (name, took, verdict) in hooks {
        let mut hook = json!({
            "name": name, "file": format!("/p/{name}"), "layer": "project", "wants": "every event",
            "onFailure": "block", "fate": "ran", "timeoutMs": 5000.0, "ending": "answered",
            "status": 0, "afterMs": after, "tookMs": took,
            "stdout": { "text": "", "bytes": 0 }, "stderr": { "text": "", "bytes": 0 },
            "notes": [],
        });
        match *verdict {
            "allow" | "ask" | "block" => {
                hook["verdict"] = json!({ "decision": verdict, "rule": "structured" });
            }
            failure => {
                hook["ending"] = "timed-out".into();
                hook["failure"] = failure.into();
            }
        }
        after += took;
        made.push(hook);
        if *verdict != "allow" {
            decision = if *verdict == "ask" { "ask" } else { "block" };
            failed = *verdict != "ask" && *verdict != "block";
            by = (decision == "block").then_some(*name);
        }
    }
    let mut run = json!({
        "version": 1, "event": "tool.pre", "host": "claude", "decision": decision,
        "questions": [], "rewrites": [], "notices": [], "reminders": [], "hooks": made,
        "reply": { "stdout": "", "stderr": "", "status": 0 }, "tookMs": after,
    });
    if decision == "ask" {
        let asked_by = hooks.iter().find(|(_, _, verdict)| *verdict == "ask");
        let question = format!("Run `{command}`?");
        run["questions"] = json!([{ "hook": asked_by.unwrap().0, "question": question }]);
    }
    if let Some(by) = by {
        run["reason"] = format!("`{command}` is not for agents").into();
        run["decidedBy"] = by.into();
        run["cause"] = if failed { "failure" } else { "policy" }.into();
    }
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_795_312_800 + second);
    let time = humantime(time);
    json!({
        "hookrun": 1, "time": time, "event": "tool.pre", "host": "claude",
        "session": format!("s-{}", second / 600), "cwd": "/home/me/project",
        "context": {
            "toolName": "Bash", "toolInput": { "command": command },
            "action": { "kind": "shell", "command": command },
        },
        "run": run,
    })
    .to_string()
}

/// RFC 3339 with milliseconds, of the day of the fixture.
fn humantime(time: std::time::SystemTime) -> String {
    let seconds = time
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs()
        - 1_795_305_600;
    let (day, second) = (22 + seconds / 86_400, seconds % 86_400);
    format!(
        "2026-11-{day}T{:02}:{:02}:{:02}.000Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Decisions of some hours: allowed, blocked, asked and failed.
pub(super) fn some(count: u64) -> String {
    let mut text = String::new();
    for number in 0..count {
        let guard = 2.0 + f64::from(u32::try_from(number % 17).unwrap());
        let (command, verdict) = match number % 12 {
            3 => ("git push --force origin main", "block"),
            7 => ("curl https://example.org", "ask"),
            _ => ("cargo test", "allow"),
        };
        let mut hooks = vec![("10-guard.sh", guard, verdict)];
        if verdict == "allow" {
            let is_late = number % 100 == 50;
            let (took, said) = if is_late {
                (5000.0, "timed out after 5s")
            } else {
                (31.5, "allow")
            };
            hooks.push(("20-secrets.py", took, said));
        }
        text.push_str(&line(number * 7 % 80_000, command, &hooks));
        text.push('\n');
    }
    text
}

/// `hookrun report >FILE`.
fn report_to(file: &str, sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let ran = report(sandbox, arguments);
    fs::write(sandbox.at(file), &ran.stdout).unwrap();
    ran
}

fn report(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let all: Vec<&str> = ["report"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    sandbox.hookrun(&all, b"")
}

/// What the page shows after these keys, searches and clicks; `None` without node.
fn drawn(sandbox: &Sandbox, page: &str, doing: &[&str]) -> Option<String> {
    let Some(node) = program("HOOKRUN_NODE", &["node"]) else {
        skipped("there is no node to run the page's script with");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/report/dom.js");
    let ran = Command::new(node)
        .arg(script)
        .arg(sandbox.at(page))
        .args(doing)
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    Some(String::from_utf8(ran.stdout).unwrap())
}

#[test]
fn the_page_shows_what_was_decided_and_what_it_cost() {
    let sandbox = Sandbox::new().file("log.jsonl", &some(600));
    let ran = report_to("report.html", &sandbox, &["--file", "log.jsonl"]);
    ran.exits(0);
    assert_eq!(ran.stderr, "");
    let Some(text) = drawn(&sandbox, "report.html", &[]) else {
        return;
    };
    for part in [
        "600 decisions, from 2026-11-22 02:00:00",
        "50 blocked",
        "6 failed",
        "50 asked",
        "10-guard.sh 600 50 50 0",
        "50 10-guard.sh `git push --force origin main` is not for agents",
        "20-secrets.py 500 0 0 ",
        "100 of 600 decisions",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn cards_chart_and_table_agree_and_a_hook_has_one_row_of_blocks() {
    let rule = |command| line(1, command, &[("no-rm", 0.0, "block")]);
    let mut untrusted: Value = serde_json::from_str(&line(1, "id", &[])).unwrap();
    for (key, value) in [
        ("decision", "block"),
        ("cause", "policy"),
        ("reason", "hooks changed: run `hookrun trust`; a.sh is new"),
    ] {
        untrusted["run"][key] = value.into();
    }
    let log = [
        rule("rm a"),
        rule("rm b"),
        rule("rm c"),
        rule("rm d"),
        line(1, "make", &[("script.sh", 1.0, "block")]),
        untrusted.to_string(),
        line(1, "sleep", &[("killed.sh", 1.0, "killed by SIGKILL")]),
        line(1, "curl x", &[("net.sh", 1.0, "ask")]),
        line(1, "ls", &[("net.sh", 1.0, "allow")]),
    ];
    let sandbox = Sandbox::new().file("log.jsonl", &(log.join("\n") + "\n"));
    report_to("report.html", &sandbox, &["--file", "log.jsonl"]).exits(0);
    let Some(text) = drawn(&sandbox, "report.html", &[]) else {
        return;
    };
    for part in [
        "1 allowed",
        "6 blocked",
        "1 asked",
        "1 failed",
        "allow 1, ask 1, block 6, failed 1",
        "no-rm 4 4 0 0",
        "script.sh 1 1 0 0",
        "hookrun 1 1 0 0",
        "killed.sh 1 0 0 1",
        "net.sh 2 0 1 0",
        "4 no-rm `rm d` is not for agents",
        "1 hookrun hooks changed: run `hookrun trust`; a.sh is new",
        "net.sh: Run `curl x`?",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("4 no-rm `rm a`"), "{text}");
}

#[test]
fn the_list_is_searched_and_sections_are_reached_by_keys() {
    let sandbox = Sandbox::new().file("log.jsonl", &some(600));
    report_to("report.html", &sandbox, &["--file", "log.jsonl"]).exits(0);
    let doing = ["key:j", "key:j", "key:k", "key:/", "type:FORCE push"];
    let Some(text) = drawn(&sandbox, "report.html", &doing) else {
        return;
    };
    assert!(
        text.starts_with("focus time\nfocus hooks\nfocus time\nfocus search\n"),
        "{text}"
    );
    assert!(text.contains("50 of 50 decisions"), "{text}");
    let more = drawn(&sandbox, "report.html", &["click:Show more", "click:p99"]).unwrap();
    assert!(more.contains("600 of 600 decisions"), "{more}");
}

#[test]
fn without_decisions_there_is_no_report() {
    let sandbox = Sandbox::new().file("log.jsonl", &some(3));
    report(&sandbox, &["--file", "none.jsonl"])
        .exits(2)
        .says("cannot read none.jsonl");
    let none = report(&sandbox, &["--file", "log.jsonl", "--session", "x"]);
    none.exits(1)
        .says("no decision matches (3 decisions searched)\n");
    assert_eq!(none.stdout, "");
    report(&sandbox, &[]).exits(1).says("no decisions in `");
    let sandbox = sandbox.file("log.jsonl", &format!("{}not JSON\n", some(3)));
    report(&sandbox, &["--file", "log.jsonl"])
        .exits(0)
        .says("skipped log.jsonl:4");
}

#[test]
fn the_report_is_of_this_project_and_of_the_filters() {
    let sandbox = Sandbox::new().hook("10-guard.sh", "exit 1");
    sandbox.run_shell("ls");
    let all = report(&sandbox, &["--format", "jsonl"]);
    assert_eq!((all.status, all.stdout.lines().count()), (0, 1));
    let none = ["--format", "jsonl", "--decision", "allow"];
    report(&sandbox, &none).exits(1);
    let elsewhere = sandbox.hookrun_as(
        |command| {
            command.current_dir("/usr");
        },
        &["report", "--format", "jsonl"],
        b"",
    );
    elsewhere.exits(1).says("--everywhere searches all");
}

#[test]
fn secrets_are_replaced_also_by_rules_that_came_later() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let text = line(
        0,
        &format!("curl -H 'x: {token}' TICKET-77"),
        &[("a.sh", 1.0, "block")],
    );
    let sandbox = Sandbox::new().file("log.jsonl", &text);
    let config = format!(
        "{}[log]\nredact = 'TICKET-\\d+'\n",
        sandbox.read(crate::sandbox::USER_FILE)
    );
    let sandbox = sandbox.file(crate::sandbox::USER_FILE, &config);
    report_to("report.html", &sandbox, &["--file", "log.jsonl"]).exits(0);
    let flat = ["--format", "jsonl", "--file", "log.jsonl"];
    report_to("flat", &sandbox, &flat).exits(0);
    for file in ["flat", "report.html"] {
        let made = sandbox.read(file);
        assert!(
            !made.contains(&token) && !made.contains("TICKET-77"),
            "{file}: {made}"
        );
    }
    assert!(sandbox.read("flat").contains("[redacted:github-token]"));
}

#[test]
fn texts_of_hooks_are_never_markup() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>{{nonce}}\u{202e}";
    let sandbox = Sandbox::new().file("log.jsonl", &line(0, evil, &[("a.sh", 1.0, "block")]));
    report_to("report.html", &sandbox, &["--file", "log.jsonl"]).exits(0);
    let page = sandbox.read("report.html");
    assert!(
        !page.contains("<script>alert") && !page.contains("<img") && !page.contains('\u{202e}')
    );
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("default-src 'none'"));
    let Some(text) = drawn(&sandbox, "report.html", &[]) else {
        return;
    };
    assert!(
        text.contains("<img src=x onerror=alert(1)>{{nonce}}"),
        "{text}"
    );
}

#[test]
fn ten_thousand_decisions_make_two_mebibytes_at_most() {
    // Different words everywhere: the worst case.
    let mut text = String::new();
    for number in 0..10_500 {
        let command = format!("deploy {number} {}", "x".repeat(300));
        text.push_str(&line(number, &command, &[("guard.sh", 1.0, "block")]));
        text.push('\n');
    }
    let sandbox = Sandbox::new().file("log.jsonl", &text);
    report_to("report.html", &sandbox, &["--file", "log.jsonl"]).exits(0);
    let page = sandbox.read("report.html");
    assert!(page.len() < 2 * 1024 * 1024, "{} bytes", page.len());
    let Some(text) = drawn(&sandbox, "report.html", &[]) else {
        return;
    };
    assert!(
        text.contains("The figures above count all 10,500."),
        "{text}"
    );
}

#[test]
fn a_browser_shows_the_page_at_three_widths_without_an_error() {
    let Some(program) = chromium() else {
        skipped("there is no Chromium; HOOKRUN_CHROMIUM can name one");
        return;
    };
    let sandbox = Sandbox::new().file("log.jsonl", &some(10_000));
    report_to("report.html", &sandbox, &["--file", "log.jsonl"]).exits(0);
    let mut browser = Browser::start(&program, sandbox.path());
    for (width, is_dark) in [(1280, false), (768, true), (390, false)] {
        browser.open(&sandbox.at("report.html"), width, is_dark);
        assert_eq!(
            browser.value("document.querySelectorAll('section').length"),
            4
        );
        let wide = browser
            .value("document.documentElement.scrollWidth")
            .as_u64()
            .unwrap();
        assert!(
            wide <= u64::from(width),
            "{wide} of {width}: the page scrolls sideways"
        );
        let dark = browser.value("getComputedStyle(document.body).backgroundColor");
        assert_eq!(dark != "rgb(255, 255, 255)", is_dark, "{dark}");
        browser.press("/");
        assert_eq!(browser.value("document.activeElement.id"), "search");
        assert_eq!(browser.troubles(), Vec::<&Value>::new());
    }
}

#[test]
fn rules_for_secrets_that_cannot_be_read_are_no_reason_to_show_secrets() {
    for rules in [
        "[log]\nredact = [\"my-(\"]\n",
        "[log]\nredact = [\"my-\\d+\"\n",
    ] {
        let log = format!("{}\n", line(5, "login my-1234", &[]));
        let sandbox = Sandbox::new()
            .file("log.jsonl", &log)
            .file("hookrun.toml", rules);
        let ran = report(&sandbox, &["--file", "log.jsonl"]);
        ran.exits(2)
            .says("hookrun.toml:2")
            .says("a redaction expression may be missing, and the report could contain secrets");
        assert_eq!(ran.stdout, "");
    }
}
