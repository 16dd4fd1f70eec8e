//! Help, mistakes on the command line, and the log.

use super::COMMANDS;
use crate::sandbox::{Ran, Sandbox};

fn hookrun(arguments: &[&str]) -> Ran {
    Sandbox::new().hookrun(arguments, b"")
}

#[test]
fn every_command_has_help_that_fits_into_80_columns() {
    let top = hookrun(&["--help"]);
    for name in COMMANDS {
        top.prints(&format!("\n  {name} "));
        for help in [&[*name, "--help"][..], &[*name, "-h"], &["help", *name]] {
            let ran = hookrun(help);
            ran.exits(0).prints(&format!("Usage: hookrun {name}"));
            assert_eq!(ran.stderr, "", "{help:?}");
            assert!(!ran.stdout.contains('\u{1b}'), "{help:?}");
            for line in ran.stdout.lines() {
                assert!(line.chars().count() <= 80, "{help:?}: {line}");
            }
        }
    }
    assert!(!top.stdout.contains("supervise"), "{}", top.stdout);
}

#[test]
fn the_first_help_is_one_screen_that_names_every_command() {
    let first = hookrun(&["-h"]);
    assert!(first.stdout.lines().count() <= 30, "{}", first.stdout);
    for name in COMMANDS {
        assert!(first.stdout.contains(name), "{name}: {}", first.stdout);
        let help = hookrun(&[name, "-h"]).stdout;
        assert!(help.lines().count() <= 40, "{help}");
    }
}

#[test]
fn the_paragraph_below_a_help_is_broken_only_where_a_line_is_full() {
    for name in COMMANDS {
        let help = hookrun(&[name, "--help"]).stdout;
        let Some(at) = help.find("Exit status: ") else {
            continue;
        };
        let lines = help[at..].lines().take_while(|line| *line != "Examples:");
        let lines: Vec<&str> = lines.collect();
        for two in lines.windows(2) {
            let next = two[1].split(' ').next().unwrap_or_default();
            let would_fit = two[0].chars().count() + 1 + next.chars().count() <= 80;
            assert!(!would_fit || next.is_empty(), "{name}: {two:?}");
        }
    }
}

#[test]
fn each_command_speaks_of_itself() {
    assert!(
        !hookrun(&["uninstall", "--help"])
            .stdout
            .contains("`install`")
    );
    hookrun(&["install", "--help"]).prints("Without a host, `install`");
}

#[test]
fn every_option_says_what_it_does() {
    for name in COMMANDS {
        let help = hookrun(&[name, "-h"]).stdout;
        let options = help
            .lines()
            .filter(|line| line.trim_start().starts_with('-'));
        for line in options {
            let mut parts = line.trim().splitn(2, "  ");
            parts.next();
            let about = parts.next().unwrap_or_default().trim().to_string();
            // The text may stand on the next line where the option is long.
            let after = help.split(line).nth(1).unwrap_or_default();
            let next = after.lines().nth(1).unwrap_or_default();
            let is_said = !about.is_empty() || next.starts_with("          ");
            let is_default = about.starts_with("[default") || about.starts_with("[possible");
            assert!(is_said && !is_default, "{name}: {line:?}");
        }
    }
}

#[test]
fn the_version_is_told() {
    for argument in ["--version", "-V"] {
        let ran = hookrun(&[argument]);
        ran.exits(0);
        assert_eq!(
            ran.stdout,
            format!("hookrun {}\n", env!("CARGO_PKG_VERSION"))
        );
    }
}

#[test]
fn mistakes_on_the_command_line_are_2_and_print_nothing_on_stdout() {
    for (arguments, part) in [
        (&[][..], "Usage: hookrun"),
        (&["lst"], "'list'"),
        (&["help", "lst"], "unrecognized subcommand 'lst'"),
        (&["run"], "no event on stdin"),
        (&["test"], "no test case files"),
        (&["hook", "field"], "<PATH>"),
        (&["completions"], "<SHELL>"),
        (&["run", "tool.pre", "--budgt", "1s"], "'--budget'"),
        (
            &["run", "tool.pre", "--budget", "1"],
            "`1` is not a duration",
        ),
        (
            &["run", "tool.pre", "--jobs", "0"],
            "use a number from 1 to 256",
        ),
        (
            &["run", "tool.pre", "--jobs", "many"],
            "use a number from 1 to 256",
        ),
        (
            &["run", "tool.pre", "--format", "xml"],
            "[possible values: json, junit, github, sarif, gitlab]",
        ),
        (&["run", "tool.pre", "--hooks"], "--hooks <DIR>"),
        (&["run", "--host=cluade"], "similar value exists: 'claude'"),
        (&["test", "tool.pre", "--host"], "for '--host <NAME>'"),
        (
            &["run", "--host", "claude", "--host", "codex"],
            "'--host <NAME>' cannot be used multiple",
        ),
        (&["events", "--host", "cluade"], "for '--host <NAME>'"),
        (&["run", "--host", "cluade"], "for '--host <NAME>'"),
        (
            &["validate", "--format", "xml"],
            "[possible values: human, json, junit, github, sarif, gitlab]",
        ),
        (
            &["list", "--format", "xml"],
            "[possible values: human, json]",
        ),
        (&["hook", "ui"], "Usage: hookrun hook ui"),
        (&["hook", "ui", "select", "Title"], "<OPTION>"),
        (&["hook", "ui", "confirm"], "<TITLE>"),
        (&["hook", "ui", "input", "a", "b", "c"], "'c'"),
        (
            &["hook", "ui", "notify", "x", "--type", "loud"],
            "[possible values: info, warning, error]",
        ),
        (&["hook", "ui", "selct", "a", "b"], "'select'"),
        (&["hook", "send"], "<TEXT"),
        (&["hook", "send", "--take", "text"], "cannot be used with"),
        (&["hook", "state", "get"], "<KEY>"),
        (&["hook", "state", "set", "key"], "<VALUE>"),
        (
            &["list", "--log", "loud"],
            "`loud` is not a log level\n  help: use error, warn, info,",
        ),
        (&["list", "--log", ""], "is not a log level"),
        (
            &["list", "--color", "red"],
            "[possible values: auto, always, never]",
        ),
    ] {
        let ran = hookrun(arguments);
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (2, ""),
            "{arguments:?}: {ran:?}"
        );
        assert!(
            ran.stderr.contains(part),
            "{arguments:?}: no {part} in {}",
            ran.stderr
        );
    }
}

#[test]
fn arguments_that_are_not_utf8_are_a_mistake_and_no_crash() {
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"tool\xff");
    for command in ["run", "test", "events", "list"] {
        let ran = Sandbox::new().hookrun_as(
            |hookrun| {
                hookrun.arg(odd);
            },
            &[command],
            b"{}",
        );
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (2, ""),
            "{command}: {ran:?}"
        );
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    }
}

#[test]
fn the_log_goes_to_stderr_only() {
    let sandbox = Sandbox::new().hook("x.sh", "echo '{\"additionalContext\":\"c\"}'");
    let quiet = sandbox.run("tool.pre");
    quiet.allows_with(serde_json::json!({ "additionalContext": "c" }));
    assert_eq!(quiet.stderr, "");

    let loud = sandbox.hookrun(&["run", "tool.pre", "--log", "debug"], b"{}");

    assert_eq!((loud.status, &loud.stdout), (0, &quiet.stdout));
    loud.says("x.sh");
    assert!(!loud.stderr.contains('\u{1b}'), "{loud:?}");
    let before = sandbox.hookrun(&["--log", "debug", "run", "tool.pre"], b"{}");
    before.says("x.sh");
    assert_eq!(
        sandbox
            .hookrun(&["run", "tool.pre", "--log", "error"], b"{}")
            .stderr,
        ""
    );
}

#[test]
fn the_log_can_be_switched_on_by_the_environment() {
    let sandbox = Sandbox::new()
        .hook("x.sh", "")
        .variable("HOOKRUN_LOG", "debug");
    sandbox.run("tool.pre").allows().says("x.sh");
    let typed = sandbox.hookrun(&["run", "tool.pre", "--log", "error"], b"{}");
    assert_eq!(typed.stderr, "", "what is typed goes first");

    let empty = Sandbox::new().hook("x.sh", "").variable("HOOKRUN_LOG", "");
    assert_eq!(empty.run("tool.pre").allows().stderr, "");
}

#[test]
fn a_log_level_that_is_none_blocks_instead_of_logging_nothing() {
    let sandbox = Sandbox::new()
        .hook("x.sh", "")
        .variable("HOOKRUN_LOG", "loud");
    sandbox
        .run("tool.pre")
        .exits(2)
        .says("`loud` is not a log level");
}

#[test]
fn words_of_other_tools_lead_here() {
    for (word, command) in [
        ("lint", "validate"),
        ("verify", "validate"),
        ("ls", "list"),
        ("log", "why"),
        ("try", "test"),
    ] {
        let of_alias = hookrun(&[word, "--help"]);
        of_alias
            .exits(0)
            .prints(&format!("Usage: hookrun {command}"));
        assert!(
            !hookrun(&["--help"])
                .stdout
                .contains(&format!("\n  {word} ")),
            "{word} is hidden"
        );
    }
    for (word, tip) in [("tset", "'test'"), ("vlidate", "'validate'")] {
        hookrun(&[word]).exits(2).says(tip);
    }
}

/// The commands of the first screen.
const SIXTEEN: [&str; 16] = [
    "init",
    "add",
    "new",
    "install",
    "uninstall",
    "trust",
    "doctor",
    "test",
    "explain",
    "list",
    "why",
    "report",
    "replay",
    "run",
    "serve",
    "sets",
];

#[test]
fn help_groups_the_commands_and_ends_with_examples() {
    let help = hookrun(&["--help"]).stdout;
    for name in COMMANDS {
        let count = help
            .lines()
            .filter(|line| line.starts_with(&format!("  {name} ")))
            .count();
        assert_eq!(count, 1, "{name} stands in one group:\n{help}");
    }
    let at = |text: &str| {
        help.find(text)
            .unwrap_or_else(|| panic!("no {text:?} in {help}"))
    };
    assert!(
        at("Start:") < at("  new ") && at("  new ") < at("  run ") && at("  run ") < at("Options:")
    );
    assert!(at("Options:") < at("Examples:"), "{help}");
    for (command, least) in SIXTEEN.iter().map(|name| (*name, 3)).chain([("", 0)]) {
        let option = if least == 0 { "--help" } else { "-h" };
        let help = hookrun(&[command, option][usize::from(command.is_empty())..]).stdout;
        assert!(
            least == 0 || help.lines().count() <= 40,
            "{command}: {help}"
        );
        let (_, examples) = help
            .split_once("Examples:")
            .unwrap_or_else(|| panic!("{command}: {help}"));
        let examples = examples
            .lines()
            .skip_while(|line| line.is_empty())
            .take_while(|line| !line.is_empty())
            .filter(|line| line.contains("hookrun "));
        let examples: Vec<&str> = examples.collect();
        assert!(examples.len() >= least, "{command}: {help}");
        // What an example types is understood.
        for line in examples {
            let typed = &line[line.find("hookrun").unwrap()..];
            let typed = typed.split(['<', '>']).next().unwrap_or_default();
            let typed = typed.split("   ").next().unwrap_or_default();
            let words = shell_words::split(typed).unwrap();
            let words = words.iter().skip(1).map(String::as_str).chain(["--help"]);
            hookrun(&words.collect::<Vec<_>>()).exits(0);
        }
    }
    // Short help has a line for an option that has a paragraph in the long one.
    assert!(!hookrun(&["list", "-h"]).stdout.contains("claude:FILE"));
    assert!(hookrun(&["list", "--help"]).stdout.contains("claude:FILE"));
}
