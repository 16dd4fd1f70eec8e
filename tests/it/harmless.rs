//! What hooks, events and files are called and say is data: every command in every format, with
//! hostile text in every place that can hold one.

use std::fs;
use std::process::Command;

use hookrun::internals::harmless::{
    is_hidden, json as harmless_json, lines, plain, without_commands,
};
use serde_json::json;

use crate::sandbox::{Ran, Sandbox};

/// What moves a cursor, turns a line around, hides in it, or commands a CI system. A line that
/// begins with FORGED must not begin one of ours.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}5n\u{7f}\u{8}\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\
    \r::add-mask::a\n::add-mask::b\n \u{a0}::stop-commands::c\u{2028}::add-mask::d\n\
    FORGED ##[add-mask]e ##vso[task.setvariable]f\nsection_start:1:g\r\u{1b}[0K\u{1b}[8mend";

/// The same as the name of a file.
fn name() -> String {
    HOSTILE.replace('/', "")
}

/// hostile text as a word of sh.
fn quoted() -> String {
    format!("'{HOSTILE}'")
}

fn answer(key: &str) -> String {
    let text = match key {
        "reason" => json!({ "continue": false, "reason": HOSTILE }),
        key => json!({ key: HOSTILE }),
    };
    format!("cat <<'E'\n{text}\nE")
}

fn finding() -> String {
    let found = json!([{ "path": HOSTILE, "line": 3, "message": HOSTILE, "level": "error" }]);
    format!("cat <<'E'\n{}\nE", json!({ "findings": found }))
}

/// Bodies of a hook, one for each place where one can say something.
fn sayings() -> Vec<(&'static str, String)> {
    vec![
        ("reason", answer("reason")),
        ("question", answer("ask")),
        ("output", answer("output")),
        ("context", answer("additionalContext")),
        ("finding", finding()),
        (
            "both",
            format!("printf %s {0}; printf %s {0} >&2", quoted()),
        ),
        (
            "rewrite",
            format!(
                "cat <<'E'\n{}\nE",
                json!({ "update": { "toolInput": { HOSTILE: HOSTILE } } })
            ),
        ),
        ("key", format!("cat <<'E'\n{}\nE", json!({ HOSTILE: 1 }))),
        (
            "killed",
            format!("printf %s {} >&2; kill -KILL $$", quoted()),
        ),
        ("kept", "exit 0".to_string()),
    ]
}

fn context() -> String {
    json!({
        "sessionId": HOSTILE,
        "toolName": HOSTILE,
        "toolInput": { "command": HOSTILE, "file_path": HOSTILE },
    })
    .to_string()
}

/// A hook, a suite and a recording, with hostile names.
fn sandbox(body: &str) -> Sandbox {
    let text = |text: &str| {
        serde_json::to_string(text)
            .unwrap()
            .replace("\\u007f", "\u{7f}")
    };
    let cases = format!(
        "[[case]]\nname = {0}\nevent = \"tool.pre\"\ncontext = {{ toolName = \"bash\", toolInput = {{ command = {0} }} }}\nexpect = {{ decision = \"block\", reason = \"^no$\", output = \"^no$\" }}\n",
        text(HOSTILE).replace('\u{7f}', "\\u007f"),
    );
    Sandbox::new()
        .script(
            &format!("hooks.d/tool.pre/{}", name()),
            &format!("#!/bin/sh\n# hookrun: rewrite reads=stdin\n{body}\n"),
        )
        .file(&format!("hooks.d/tests/{}.toml", name()), &cases)
        .file(&format!("hooks.d/tests/{}.txt", name()), "")
}

/// What may stand there: no hidden character, no command but our own annotations, no forged line.
#[track_caller]
fn is_harmless(text: &str, format: &str, what: &str) {
    let text = ["0", "1", "2", "4", "31", "32", "33", "34", "36"]
        .iter()
        .filter(|_| format == "human")
        .fold(text.to_string(), |text, number| {
            text.replace(&format!("\u{1b}[{number}m"), "")
        });
    let hidden = text
        .chars()
        .find(|c| !matches!(c, '\n' | '\t') && is_hidden(*c));
    assert_eq!(hidden, None, "{what}: {text:?}");
    for line in text.lines() {
        let is_own = ["::error ", "::warning ", "::notice "]
            .iter()
            .any(|own| line.starts_with(own));
        if format == "github" && is_own {
            continue;
        }
        assert!(!line.trim_start().starts_with("::"), "{what}: {line:?}");
        assert!(
            !line.contains("##[") && !line.contains("##vso["),
            "{what}: {line:?}"
        );
    }
}

#[track_caller]
fn no_line_is_forged(text: &str, what: &str) {
    assert!(
        !text.lines().any(|line| line.starts_with("FORGED")),
        "{what}: {text}"
    );
}

#[track_caller]
fn harmless(ran: &Ran, arguments: &[&str]) {
    let what = format!("{:?}", arguments);
    let format = arguments
        .iter()
        .skip_while(|argument| **argument != "--format")
        .nth(1);
    let format = format.copied().unwrap_or("human");
    is_harmless(&ran.stdout, format, &what);
    is_harmless(&ran.stderr, "human", &what);
    if arguments[0] != "run" {
        no_line_is_forged(&ran.stderr, &what);
    }
    if format != "junit" {
        no_line_is_forged(&ran.stdout, &what);
    }
}

/// A command, and its formats.
type Row = (&'static [&'static str], &'static [&'static str]);

const ALL: &[&str] = &["human", "json", "junit", "github"];

/// Commands that show what hooks said.
const OF_ANSWERS: &[Row] = &[
    (&["run", "tool.pre"], &["json", "github"]),
    (&["test", "tool.pre"], &["human", "json"]),
    (&["test", "--suite"], ALL),
    (&["why"], &["human", "json"]),
    (&["why", "--brief", "--all"], &["human"]),
    (&["replay", "--all", "recording"], &[]),
];

/// Commands that show what there is.
const OF_FILES: &[Row] = &[
    (&["why", "--stats"], &["human", "json"]),
    (&["test", "--suite", "--coverage"], ALL),
    (&["list"], &["human", "json"]),
    (&["validate"], ALL),
    (&["sets", "list"], &["human", "json"]),
    (&["doctor"], ALL),
    (&["events"], &["human", "json"]),
    (&["schema", "tool.pre"], &[]),
    (&["list", HOSTILE], &["human", "json"]),
    (
        &["explain", "cat \u{1b}[2J\u{202e} > \"no\n::error::x\""],
        &["human", "json"],
    ),
    (&["list", "no\n::error::x\u{1b}"], &[]),
    (&["install", "claude", "--dry-run"], &[]),
    (&["install", "claude"], &[]),
    (&["run", "tool.pre", "--hooks", "no\n::error::x\u{1b}"], &[]),
    (&["::error::\u{1b}[2J"], &[]),
    (&["list", "--event", "a\n::error::\u{1b}"], &[]),
];

fn walk(sandbox: &Sandbox, rows: &[Row]) {
    for (command, formats) in rows {
        let shown = if formats.is_empty() {
            &[""][..]
        } else {
            formats
        };
        for format in shown {
            let mut arguments = command.to_vec();
            if !format.is_empty() {
                arguments.extend(["--format", format]);
            }
            arguments.extend(["--color", "always"]);
            let in_a_job = |command: &mut Command| {
                command.env("GITHUB_ACTIONS", "true");
            };
            let ran = sandbox.hookrun_as(in_a_job, &arguments, context().as_bytes());
            assert!(ran.status >= 0, "{ran:?}");
            harmless(&ran, &arguments);
        }
    }
}

#[test]
fn nothing_that_a_hook_said_comes_out_of_any_command_in_any_format() {
    for (said, body) in sayings() {
        let sandbox = sandbox(&body);
        let ran = sandbox.hookrun(
            &["run", "tool.pre", "--record", "recording"],
            context().as_bytes(),
        );
        let recorded = sandbox.read("recording").replace("\"allow\"", "\"block\"");
        assert!(
            recorded.contains(r#""fate":"ran""#),
            "{said} does not run: {ran:?}"
        );
        fs::write(sandbox.at("recording"), format!("{recorded}{HOSTILE}\n")).unwrap();
        walk(&sandbox, OF_ANSWERS);
    }
}

#[test]
fn nothing_that_a_file_is_called_comes_out_of_any_command_in_any_format() {
    let sandbox = sandbox("exit 0");
    sandbox
        .hookrun(&["run", "tool.pre"], context().as_bytes())
        .exits(0);
    walk(&sandbox, OF_FILES);
}

#[test]
fn nothing_that_a_file_holds_comes_out_of_a_problem() {
    let text = json!(HOSTILE).to_string().replace('\u{7f}', "\\u007f");
    for manifest in [
        format!("[[hook]]\nname = {text}\nevent = {text}\ncommand = \"true\"\n"),
        format!("[[hook]]\nname = \"a\"\nevent = \"tool.pre\"\ncommand = {text}\n"),
        format!("[[hook]]\n{text} = 1\n"),
        format!("[[hook]]\nname = \"a\"\nevent = \"tool.pre\"\ntool = {text}\ntimeout = {text}\n"),
        HOSTILE.to_string(),
    ] {
        let sandbox = sandbox("exit 0")
            .file("hookrun.toml", &manifest)
            .script(
                "hooks.d/tool.pre/b",
                &format!("#!/bin/sh\n# hookrun: {HOSTILE}=1\n"),
            )
            .file(
                ".claude/settings.json",
                &format!("{{\"hooks\": {{{text}: 1}}}}"),
            );
        walk(&sandbox, OF_FILES);
        walk(&sandbox, &OF_ANSWERS[..3]);
    }
}

/// To the program that started hookrun, a reason is what the hook wrote.
#[test]
fn a_host_gets_the_reason_byte_by_byte() {
    let sandbox = sandbox(&format!("printf %s {} >&2; exit 1", quoted()));
    assert_eq!(sandbox.run("tool.pre").stderr.trim_end(), HOSTILE);
}

/// Whose log obeys commands, and who asked for a report, read stderr as people do.
#[test]
fn commands_of_a_log_take_no_effect_in_teamcity_and_beside_a_report() {
    let say = "printf '##teamcity[buildStop]\\n::add-mask::a\\n##vso[x]y\\n' >&2; exit 1";
    for (variable, arguments) in [
        (("TEAMCITY_VERSION", "2026.1"), &["run", "tool.pre"][..]),
        (("X", ""), &["run", "tool.pre", "--format", "json"]),
        (("X", ""), &["run", "tool.pre", "--format", "github"]),
    ] {
        let sandbox = Sandbox::new()
            .hook("h", say)
            .variable(variable.0, variable.1);
        let ran = sandbox.hookrun(arguments, b"{}");
        for command in ["##teamcity[", "##vso["] {
            assert!(!ran.stderr.contains(command), "{arguments:?}: {ran:?}");
        }
        assert!(
            !ran.stderr.lines().any(|line| line.starts_with("::")),
            "{arguments:?}: {ran:?}"
        );
        assert!(ran.stderr.contains("buildStop"), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn everything_in_a_plain_text_can_be_seen() {
    for (text, made) in [
        ("a\u{1b}[31mb\tc", "a\\u{1b}[31mb\tc"),
        ("a\nb\r\u{7f}\u{9b}2J", "a\\nb\\r\\u{7f}\\u{9b}2J"),
        ("rm \u{202e}txt.hs\u{2066}", "rm \\u{202e}txt.hs\\u{2066}"),
        (
            "a\u{200b}b\u{feff}\u{2028}\u{e0041}",
            "a\\u{200b}b\\u{feff}\\u{2028}\\u{e0041}",
        ),
        ("naïve 日本語 ⚠\u{fe0f}", "naïve 日本語 ⚠\u{fe0f}"),
    ] {
        assert_eq!(plain(text), made, "{text:?}");
    }
}

#[test]
fn lines_stay_lines() {
    for (text, made) in [
        ("a\nb\r\nc\rd\u{1b}[2J\n", "a\nb\r\nc\\rd\\u{1b}[2J\n"),
        ("a\n \u{200b}::error::x\n", "a\n \\u{200b}::error::x\n"),
        (
            "section_start:1:a\r\u{1b}[0K",
            "section_start:1:a\\r\\u{1b}[0K",
        ),
    ] {
        assert_eq!(lines(text), made);
    }
}

#[test]
fn no_line_is_a_command() {
    for (text, made) in [
        ("::add-mask::x\n", ": :add-mask::x\n"),
        (
            "no\n::error::x\n \t::error::x",
            "no\n: :error::x\n \t: :error::x",
        ),
        (
            "no\r::error::x\r\n\u{feff}::error::x",
            "no\r: :error::x\r\n\u{feff}: :error::x",
        ),
        ("no ##[add-mask]x ###[a]", "no ## [add-mask]x ### [a]"),
        (
            "##vso[task]x ##teamcity[a] ##-x[",
            "## vso[task]x ## teamcity[a] ## -x[",
        ),
        (":::::", ": ::::"),
        (
            "std::fs and a::b\n:\n## Title [1]\n##",
            "std::fs and a::b\n:\n## Title [1]\n##",
        ),
    ] {
        assert_eq!(without_commands(text), made, "{text:?}");
    }
}

#[test]
fn json_keeps_its_meaning() {
    for value in [
        "\u{9b}2J \u{202e} \u{e0041} \u{7f}",
        "##[error]x ###vso[y] ##",
        "plain",
    ] {
        let written = json!({ "a": value, "b": [value] });
        for text in [written.to_string(), format!("{written:#}")] {
            let made = harmless_json(&text);
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&made).unwrap(),
                written
            );
            assert!(!made.contains(|c| c != '\n' && is_hidden(c)), "{made}");
            assert_eq!(without_commands(&made), made);
        }
    }
}

proptest::proptest! {
    #[test]
    fn whatever_is_written_is_harmless(
        text in "[ \\t\\r\\n:#\\[\\]av\u{a0}\u{2028}\u{feff}\u{1b}\u{9b}\u{202e}]{0,40}"
    ) {
        let made = without_commands(&text).into_owned();
        // What .NET trims, and the mark at the beginning of a stream.
        let begins = |line: &str| line.trim_start_matches('\u{feff}').trim_start().starts_with("::");
        proptest::prop_assert!(!made.split(['\n', '\r']).any(begins), "{:?}", made);
        proptest::prop_assert!(!made.contains("##["), "{:?}", made);
        proptest::prop_assert!(!made.contains("##vso["), "{:?}", made);
        proptest::prop_assert_eq!(without_commands(&made), made.clone(), "once is enough");
        let shown = lines(&text).into_owned();
        let is_seen = |c: char| matches!(c, '\n' | '\r' | '\t') || !is_hidden(c);
        proptest::prop_assert!(shown.chars().all(is_seen), "{:?}", shown);
        proptest::prop_assert_eq!(lines(&shown), shown.clone(), "once is enough");
    }
}
