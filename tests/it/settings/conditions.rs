//! Matchers and conditions of hooks in settings, held against an event without running a hook.

use hookrun::hosts;
use hookrun::hosts::rules::{HostMatch, WantedEvents};
use hookrun::hosts::settings::MatcherSubject;
use hookrun::internals::event::catalog::Catalog;
use hookrun::internals::hook::{Condition, PathBase};
use hookrun::{Complaint, Context, Event};
use serde_json::json;

/// What a hook in a host's settings says about the tools that it wants.
#[derive(Debug, Clone, Copy)]
enum Says<'s> {
    Matcher(MatcherSubject, &'s str),
    If(&'s str),
}

/// A call of a tool in the words of `asker`; on a gate, it can still be blocked.
fn call(asker: &'static str, tool: &str, command: &str, is_gate: bool) -> Event {
    let event = if is_gate { "tool.pre" } else { "tool.post" };
    let context = json!({ "toolName": tool, "toolInput": { "command": command } });
    let context = Context::parse(context.to_string()).unwrap();
    Event::new(Catalog::default().find(event).unwrap(), asker, context).unwrap()
}

/// Whether a hook in the settings of `host` wants the call.
fn wants(host: &str, says: Says<'_>, call: &Event) -> Result<bool, Complaint> {
    let dialect = hosts::find(host).unwrap();
    let (matcher, condition) = match says {
        Says::Matcher(subject, written) => (
            Some((
                hosts::settings_file(host).unwrap().matching,
                subject,
                written.to_string(),
            )),
            None,
        ),
        Says::If(written) => (None, Some(written.to_string())),
    };
    let row = dialect
        .events
        .iter()
        .find(|row| row.event == "tool.pre")
        .unwrap();
    let wanted = WantedEvents {
        dialect,
        event: row.name,
        matcher,
        condition,
    };
    let place = PathBase {
        cwd: "/".into(),
        project: "/".into(),
    };
    Ok(HostMatch::read(&wanted)?.decide(call, &place).is_ok())
}

/// Whether a matcher takes a tool that its own host names so; `None` if it cannot be read.
fn takes(host: &'static str, written: &str, tool: &str) -> Option<bool> {
    wants(
        host,
        Says::Matcher(MatcherSubject::Tool, written),
        &call(host, tool, "", true),
    )
    .ok()
}

/// Whether a condition about commands takes this one.
fn fits(rule: &str, command: &str, is_gate: bool) -> bool {
    let says = format!("Bash({rule})");
    wants(
        "claude",
        Says::If(&says),
        &call("native", "bash", command, is_gate),
    )
    .unwrap()
}

/// Claude Code 2.1.329, Codex CLI 0.169.0 and Gemini CLI 0.61.0 were measured.
#[test]
fn a_matcher_is_read_as_its_host_reads_it() {
    let any = [
        "Bash",
        "^Ba",
        "Ba.*",
        "Write|Bash",
        "Write, Bash",
        "B*",
        "*",
        "",
        ".*",
    ];
    let rows: [(&'static str, &str, &[&str], &[&str]); 7] = [
        (
            "claude",
            "Bash",
            &any,
            &["bash", "Ba", "Bash-x", "Write|Read"],
        ),
        ("claude", "mcp__github__push", &["mcp__git.*"], &[]),
        // A blank makes it an expression there.
        (
            "codex",
            "Bash",
            &["Bash", "^Ba", "*", ""],
            &["exec_command", "Write, Bash"],
        ),
        (
            "gemini",
            "run_shell_command",
            &["shell", "*"],
            &["Shell", "run_["],
        ),
        ("gemini", "run_[", &["run_["], &[]),
        ("copilot", "bash", &["bash", "ba.h|view"], &["ba"]),
        ("cursor", "curl -s x", &["curl|wget"], &[]),
    ];
    for (host, tool, fitting, others) in rows {
        let fitting = fitting.iter().map(|written| (written, true));
        for (written, wanted) in fitting.chain(others.iter().map(|written| (written, false))) {
            assert_eq!(
                takes(host, written, tool),
                Some(wanted),
                "{host}: {written}"
            );
        }
    }
    assert_eq!(takes("claude", "[", "Bash"), None);
}

#[test]
fn a_server_that_cursor_does_not_name_may_be_any() {
    let call = call("cursor", "MCP:create_issue", "", true);
    let tool = |written| Says::Matcher(MatcherSubject::Tool, written);
    let fitting = [
        tool("mcp__github__.*"),
        tool("mcp__github__create_issue"),
        tool("^mcp__github__create_.*$"),
        tool("mcp__my_server__create.*"),
        tool("mcp__.*__create.*"),
        tool("mcp__git[hl].b__create.*"),
        tool("mcp__(github|gitlab)__.*"),
        tool("Bash|mcp__github__.*"),
        tool(".*github.*"),
        tool("mcp__git.*"),
        Says::If("mcp__*"),
        Says::If("mcp__git*"),
        Says::If("mcp__github__*"),
        Says::If("mcp__github__create_*"),
    ];
    let others = [tool("Bash|Write"), tool("Ba.*"), Says::If("Ba*")];
    for (says, wanted) in fitting
        .map(|says| (says, true))
        .into_iter()
        .chain(others.map(|says| (says, false)))
    {
        assert_eq!(wants("claude", says, &call).unwrap(), wanted, "{says:?}");
    }
}

#[test]
fn what_is_no_rule_is_a_mistake() {
    let call = call("native", "bash", "", true);
    for wrong in ["Bash(git *", "(git *)", "", "Task(x)"] {
        assert!(wants("claude", Says::If(wrong), &call).is_err(), "{wrong}");
    }
}

#[test]
fn a_rule_sees_every_command_of_a_line() {
    for (rule, command, wanted) in [
        ("git *", "git push", true),
        ("git *", "git", true),
        ("git *", "gitk", false),
        ("git:*", "git push", true),
        ("rm *", "cd /tmp && rm -rf x", true),
        ("rm *", "echo $(rm -rf x)", true),
        ("rm *", "A=1 B=2 rm -rf x", true),
        ("npm run test*", "npm run test:unit", true),
        ("npm run test*", "npm run build", false),
        ("* --force", "git push --force", true),
    ] {
        for is_gate in [false, true] {
            assert_eq!(fits(rule, command, is_gate), wanted, "{rule}: {command}");
        }
    }
}

#[test]
fn a_gate_is_asked_whatever_hides_a_command() {
    for command in [
        "for i in a; do rm x; done",
        "while true; do rm x; done",
        "if true; then rm x; fi",
        "case a in b) rm x;; esac",
        "f() { rm x; }; f",
        "function f { rm x; }; f",
        "! rm x",
        "time rm x",
        "time -p rm x",
        ">/dev/null rm x",
        "2>&1 rm x",
        "A='b c' rm x",
        "\"rm\" x",
        "r''m x",
        "\\rm x",
        "r\\\nm x",
        "/bin/rm x",
        "command rm x",
        "exec rm x",
        "eval rm x",
        "sudo rm x",
        "/usr/bin/env -i rm x",
        "bash -c 'rm x'",
        "xargs rm",
        "ls | xargs rm",
        "find . -exec rm {} +",
        "x=rm; $x y",
        "${x} y",
        "$'\\x72m' x",
        "{rm,x}",
        "/bin/r? x",
        "echo `rm x`",
        "echo \"$(rm x)\"",
        "diff <(rm x) y",
        "bash <<E\nrm x\nE",
        "echo 'not closed",
        "\"$HOME\"/bin/rm x",
        "alias l='rm x'\nl",
        "systemd-run --scope rm x",
        "setpriv --odd rm x",
        "taskset -c 1 rm x",
        "fish -c 'rm x'",
        "fd . -x rm",
    ] {
        for rule in ["rm *", "rm:*"] {
            assert!(fits(rule, command, true), "{rule}: {command}");
        }
    }
    for command in [
        "git -C . push",
        "git -C . -c a=b push x",
        "git $x",
        "git p{us,}h",
    ] {
        assert!(fits("git push *", command, true), "{command}");
    }
    assert!(fits("* --force", "git push $x", true));
    assert!(fits(
        "git push * main",
        &format!("git {} $x", "-c a=b ".repeat(40)),
        true
    ));
}

#[test]
fn a_rule_may_name_what_a_command_runs_through_and_what_it_is_given() {
    for (rule, command, wanted) in [
        ("sudo *", "cd x; sudo -u root rm x", true),
        ("sudo rm *", "sudo -n rm x", true),
        ("sudo rm *", "sudo -u root rm x", true),
        ("sudo -u root *", "ls; sudo -u root rm x", true),
        ("sudo apt *", "sudo rm x", false),
        ("ssh prod *", "ls; ssh -p 22 prod ls", true),
        ("ssh prod *", "ls; ssh test ls", false),
        ("bash -c *", "ls; bash -c 'ls -l'", true),
        ("env A=1 *", "ls; env A=1 ls", true),
        ("timeout *", "sudo timeout 5 rm x", true),
        ("/bin/rm *", "ls; sudo /bin/rm x", true),
        ("LANG=C sort *", "ls; LANG=C sort x", true),
        (
            "git commit -m \"wip*",
            "cd x && git commit -m \"wip: x\"",
            true,
        ),
        (
            "git commit -m wip*",
            "cd x && git commit -m \"wip: x\"",
            true,
        ),
        ("cd * && rm *", "cd x && rm y", true),
        ("git push *", "git -C . status push", false),
    ] {
        for is_gate in [false, true] {
            assert_eq!(fits(rule, command, is_gate), wanted, "{rule}: {command}");
        }
    }
    // A sign of the shell is about the line.
    for (rule, command) in [
        ("curl * | sh", "cd x; curl y | sh && ls"),
        ("echo * > /etc/*", "cd x; echo y > /etc/passwd"),
    ] {
        assert!(fits(rule, command, true), "{rule}: {command}");
        assert!(!fits(rule, command, false), "{rule}: {command}");
    }
}

#[test]
fn a_gate_is_not_asked_about_what_is_plainly_another_command() {
    for command in [
        "ls",
        "git status",
        "git rm x",
        "ls *.txt ~/a $HOME",
        "echo 'rm x' \"rm $y\"",
        "if [ -f rm ]; then ls > rm; fi",
        "for rm in a b; do echo $rm; done",
        "cat /bin/rm # rm x",
        "find . -name 'rm'",
        "echo `date`",
        "echo $(date)",
        "cargo test --test it -- rm 2>&1 | tail -5",
        "git commit -m 'x; rm y' -m \"(rm z)\"",
        "command -v rm",
        "cat <<E\nrm x\nE",
    ] {
        assert!(!fits("rm *", command, true), "{command}");
    }
    for command in [
        "git -C . status",
        "git add *",
        "git",
        "sudoku $x",
        "git status $x",
    ] {
        assert!(!fits("git push *", command, true), "{command}");
    }
}

#[test]
fn what_cannot_be_blocked_is_asked_only_about_what_it_is() {
    for (command, wanted) in [
        ("for i in a; do rm x; done", true),
        ("eval $x", false),
        ("'; rm x", false),
    ] {
        assert_eq!(fits("rm *", command, false), wanted, "{command}");
    }
}
