//! Settings in the comments of a script.

use hookrun::hosts::dialects as all_dialects;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The settings of `hook.sh` with these leading comments.
fn settings(comments: &str) -> Value {
    let text = format!("#!/bin/sh\n{comments}\nexit 0\n");
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/hook.sh", &text);
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    let mut hook = sandbox.json(&["list", "hook.sh", "--format", "json"])["hooks"][0].take();
    let hook = hook.as_object_mut().unwrap();
    assert!(hook.remove("program").is_some() && hook.remove("runs").is_some());
    Value::Object(hook.clone())
}

#[test]
fn without_directives_a_hook_has_the_defaults() {
    assert_eq!(
        settings("# Just a comment."),
        json!({
            "name": "hook.sh",
            "event": "tool.pre",
            "layer": "project",
            "file": "hooks.d/tool.pre/hook.sh",
            "wants": "every event",
            "priority": 100,
            "parallel": false,
            "rules": [{
                "event": "tool.pre", "blocks": true, "onFailure": "block", "onFailureFrom": "event",
                "timeoutMs": 5000, "schedule": "sequential", "stop": "first",
            }],
            "background": "kill",
            "lives": "event", "warm": "off",
            "limits": {},
            "rewrite": false,
            "dialect": "native",
            "enabled": true,
        })
    );
}

#[test]
fn every_key_can_stand_in_a_directive() {
    let hook = settings(
        "# Guards what matters.\n\
         #\n\
         # hookrun: timeout=1m30s priority=-5 parallel rewrite=true on_failure=allow\n\
         # More words.\n\
         ## hookrun: background=detach dialect=native enabled=false\n\
         # hookrun: limits.memory=64M limits.cpu=2s limits.files=64\n\
         # hookrun: limits.output=10K sandbox.read=src sandbox.read=docs sandbox.write=/tmp\n\
         # hookrun: sandbox.network sandbox.required=false\n\
         \n\
         #hookrun: tool='bash|write' path=src/** command=\"rm .*-rf\" where.toolInput.url=^https",
    );
    let wanted = json!({
        "priority": -5, "parallel": true, "rewrite": true,
        "rules": [{
                "event": "tool.pre", "blocks": true, "onFailure": "allow", "onFailureFrom": "hook",
                "timeoutMs": 90000, "schedule": "sequential", "stop": "first",
            }],
        "background": "detach", "dialect": "native", "enabled": false,
        "wants": "tool bash|write, path src/**, command /rm .*-rf/, toolInput.url /^https/",
        "limits": {
            "memoryBytes": 64 << 20, "cpuMs": 2000, "files": 64,
            "outputBytes": 10 << 10,
        },
        "sandbox": {
            "read": ["src", "docs"], "write": ["/tmp"], "network": true, "required": false,
        },
    });
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&hook[key], value, "{key}");
    }
}

#[test]
fn other_languages_have_other_comments() {
    for (interpreter, line) in [
        ("/usr/bin/env node", "// hookrun: priority=7"),
        ("/usr/bin/env lua", "-- hookrun: priority=7"),
        ("/usr/bin/env guile", "; hookrun: priority=7"),
        ("/usr/bin/env python3", "# hookrun: priority=7"),
    ] {
        let sandbox = Sandbox::new().script(
            "hooks.d/tool.pre/hook",
            &format!("#!{interpreter}\n{line}\n"),
        );
        let hooks = sandbox.json(&["list", "--format", "json"]);
        assert_eq!(hooks["hooks"][0]["priority"], 7, "{line}");
    }
}

#[test]
fn the_mark_may_be_in_any_case_of_letters() {
    for mark in ["HOOKRUN:", "Hookrun:", "HookRun:"] {
        assert_eq!(settings(&format!("# {mark} priority=7"))["priority"], 7);
    }
}

#[test]
fn a_script_with_crlf_has_its_directives_too() {
    assert_eq!(settings("# hookrun: priority=7 rewrite\r")["priority"], 7);
}

#[test]
fn directives_end_with_the_first_line_of_code() {
    let sandbox = Sandbox::new().hook("hook.sh", "true\n# hookrun: priority=7 nonsense");
    assert_eq!(
        sandbox.problems(&[]),
        [
            "error hooks.d/tool.pre/hook.sh:3:1: this directive has no effect, because it is below the first line of code [move it above the first line that is not a comment]"
        ]
    );
}

#[test]
fn prose_about_hookrun_is_not_a_directive() {
    settings("# hookrun passes the event on stdin\n# hookrun-field reads one value\n# hookruns");
}

/// Comments that only speak of hookrun or of hooks.
const PROSE: &[&str] = &[
    "# --- hookrun: ---",
    "# hookrun runs: before each tool",
    "# hookrun description: blocks rm -rf",
    "# hookrun command: blocks rm -rf",
    "# hookrun - description: what it does and why",
    "# hook run: path=/usr/bin is set by cron",
    "# Hook run: timeout=5s was too short",
    "# hookrun, priority=5 in the toml",
    "# hookrun timeout=5s is the default",
    "# hookrun (tool=bash) is what this was written for",
    "# hookrun -- see tool=bash in hookrun.toml",
    "# hookrunner, path=.env: what it reads",
    "# hook-run: timeout=5s was too short",
    "# hook-run: path to the binary",
    "# hook run: path=x, and then it stops",
    "# hookrunner: tool that runs hooks",
    "# hookrunner: rewrite it in Rust",
    "# hook: tool=bash",
    "# hook tool=bash",
    "# Hooks: tool=bash",
    "# hook on tool=bash",
    "# hook in: path=x",
    "# hooks: see hookrun-hook(5)",
    "# hookup: call=1",
    "# hookrun.toml: timeout=10s",
    "# hookrun.toml tool=bash",
    "# hookrun/tool=bash",
    "# hookrun-field tool=bash",
    "# hookrun passes the event on stdin: path=x",
    "# hookrun's timeout=5s",
    "# hookrun https://example.org/?tool=bash",
    "# hookrun test tool.pre --hook=x",
    "# hookrun run tool.pre timeout=5s",
    "# hookrun list --event=tool.pre",
    "# hookrun HOME=/tmp",
    "# hookrun sandbox",
    "# HOOKRUN_TOOL=bash",
    "# HOOKRUN_TOOL_NAME=bash is in the environment",
    "# how to run: path=x",
    "# run hookrun: tool=bash",
    "# e.g. `# hookrun: tool=bash`",
    "# (see hookrun: tool=bash in the manual)",
    "# # hookrun: tool=bash",
    "# #hookrun: tool=bash",
    "#    # hook-run tool=bash",
    "# huckrin: tool=bash",
    "# h=1",
    "# h:",
    "# hookrun",
    "// hookrun is this: tool=bash",
    "-- hookrun; and path=x too",
    "; hookrun reads event=tool.pre",
];

/// The problems of a script in a language with every sort of comment.
fn problems_of(text: &str) -> Vec<String> {
    let text = format!("#!/bin/cat\n{text}\n");
    Sandbox::new()
        .script("hooks.d/tool.pre/x.sh", &text)
        .problems(&[])
}

#[test]
fn what_only_speaks_of_hookrun_is_no_mistake() {
    for place in ["", "true\n"] {
        let lines = format!("{place}{}", PROSE.join("\n"));
        assert_eq!(problems_of(&lines), [""; 0], "{place}");
    }
}

#[test]
fn only_a_comment_that_begins_with_the_mark_is_a_directive() {
    let comments = [
        "# hook-run: timeout=10s",
        "# hookrun : timeout=10s",
        "# hookrun timeout=3s",
        "# @hookrun: tool=bash",
        "/* hookrun: tool=bash */",
        "* hookrun: tool=bash",
        "\"\"\"hookrun: tool=bash\"\"\"",
    ];
    assert_eq!(problems_of(&comments.join("\n")), [""; 0]);
    for mark in ["#", "##", "//", "--", ";"] {
        let problems = problems_of(&format!("{mark} hookrun: this is prose"));
        assert!(
            problems[0].starts_with("error hooks.d/tool.pre/x.sh:2:"),
            "{mark}: {problems:#?}"
        );
    }
}

#[test]
fn every_mistake_is_named_with_its_line_and_a_cure() {
    let dialects: Vec<&str> = ["native"]
        .into_iter()
        .chain(all_dialects().map(|dialect| dialect.name))
        .chain(["git"])
        .collect();
    let sandbox = Sandbox::new().script(
        "hooks.d/tool.pre/hook.sh",
        "#!/bin/sh\n\
         # A guard.\n\
         # hookrun: timout=10s\n\
         # hookrun: timeout=10\n\
         # hookrun: priority=high timeout=9s\n\
         # hookrun: parallel=yes on_failure=open background=kil dialect=clyde\n\
         # hookrun: tool=a||b command=( path=[ where.x=)\n\
         # hookrun: event=tool.pre colour=red\n\
         # hookrun: 'a\n\
         # hookrun:\n\
         # An empty line.\n\
         # hookrun: memory=64M limits.memory=64 limits.memroy=1M sandbox=yes\n\
         # hookrun: sandbox.write=*.txt sandbox.wirte=a limits.files=1\n",
    );
    let at = |line: usize, column: usize, text: &str| {
        format!("error hooks.d/tool.pre/hook.sh:{line}:{column}: {text}")
    };
    let regex =
        "[write a regular expression; in TOML, single quotes keep backslashes: 'rm\\s+-rf']";
    let duration = "write a number and a unit, for example `10s` or `500ms` []";
    let found = sandbox.problems(&[]);
    let mut wanted = vec![
        at(3, 12, "unknown setting `timout` [did you mean `timeout`?]"),
        at(
            4,
            12,
            &format!("`timeout`: `10` is not a duration; {duration}"),
        ),
        at(
            5,
            12,
            "`priority` takes a whole number, not \"high\" [write `priority=10`]",
        ),
        at(
            5,
            26,
            "`timeout` is set twice [keep one; only `path`, `not`, `type`, `runs`, `sandbox.read` and `sandbox.write` may be repeated]",
        ),
        at(
            6,
            12,
            "`parallel` takes true or false, not \"yes\" [write one of these values, for example `parallel=true`]",
        ),
        at(
            6,
            25,
            "`on_failure` takes one of \"block\", \"allow\", not \"open\" [write one of these values, for example `on_failure=block`]",
        ),
        at(
            6,
            41,
            "`background` takes one of \"kill\", \"detach\", not \"kil\" [write `background=kill`]",
        ),
        at(
            6,
            56,
            &format!(
                "`dialect` takes one of \"{}\", not \"clyde\" [write one of these values, for example `dialect=native`]",
                dialects.join("\", \"")
            ),
        ),
        at(
            7,
            22,
            &format!("`(` is not a valid pattern: unclosed group {regex}"),
        ),
        at(
            7,
            39,
            &format!("`)` is not a valid pattern: unopened group {regex}"),
        ),
        at(
            8,
            12,
            "unknown setting `event` [remove `event`; the hook's folder in hooks.d names the event]",
        ),
        at(
            9,
            10,
            "a quote in this directive is not closed [add the closing quote]",
        ),
        at(
            10,
            10,
            "the directive is empty [write settings, for example `timeout=10s`]",
        ),
        at(12, 12, "unknown setting `memory` [write `limits.memory=…`]"),
        at(
            12,
            23,
            "`limits.memory`: `64` is not a size; write a whole number and K, M or G, for \
             example `64M` []",
        ),
        at(
            12,
            40,
            "unknown setting `limits.memroy` [did you mean `limits.memory`?]",
        ),
        at(
            12,
            57,
            "`sandbox` takes true or false or a table, not \"yes\" [write `sandbox=true`]",
        ),
        at(
            13,
            12,
            "`*.txt` looks like a pattern, which the sandbox does not support [name a file or a folder: \
             `src`, `~/.cache`]",
        ),
        at(
            13,
            32,
            "unknown setting `sandbox.wirte` [did you mean `sandbox.write`?]",
        ),
        at(13, 48, "`limits.files` cannot be 1 [write 4 or more]"),
    ];
    for wanted in wanted.drain(..) {
        assert!(found.contains(&wanted), "no {wanted}\nin {found:#?}");
    }
    let lines: Vec<&str> = found
        .iter()
        .map(|one| one.split(':').nth(1).unwrap())
        .collect();
    assert!(
        lines.is_sorted_by_key(|line| line.parse::<usize>().unwrap()),
        "{found:#?}"
    );
    for part in [
        "unknown setting `colour`",
        "error parsing glob",
        "an alternative is empty",
    ] {
        assert!(
            found.iter().any(|one| one.contains(part)),
            "no {part} in {found:#?}"
        );
    }
}

#[test]
fn a_mistake_in_a_directive_closes_the_gate_and_names_the_line() {
    let sandbox = Sandbox::new().hook("hook.sh", "# hookrun: tol=bash");

    sandbox
        .run("tool.pre")
        .blocks_saying("hooks.d/tool.pre/hook.sh:2:12: unknown setting `tol`")
        .blocks_saying("`hookrun validate` shows how to fix it");
}

#[test]
fn a_program_in_machine_code_is_not_searched_for_directives() {
    let sandbox = Sandbox::new().hook("a", "");
    let text = b"\x7fELF\0# hookrun: nonsense\n";
    std::fs::write(sandbox.at("hooks.d/tool.pre/a"), text).unwrap();

    assert_eq!(sandbox.order("tool.pre", &[]), ["a"]);
    sandbox.hookrun(&["list"], b"").exits(0);
}

#[test]
fn a_directive_is_read_whole_or_not_at_all() {
    // How much of a script is searched.
    const HEAD_BYTES: usize = 16 * 1024;
    let comment = "# A licence, and what it says.\n";
    let above = format!(
        "#!/bin/sh\n{}",
        comment.repeat(HEAD_BYTES / comment.len() - 1)
    );
    let directive = format!("# hookrun: path=src/{}", "x".repeat(HEAD_BYTES));
    let (whole, cut) = directive.split_at(HEAD_BYTES - above.len());
    let problems = |below: &str| {
        Sandbox::new()
            .script("hooks.d/tool.pre/hook", &format!("{above}{below}"))
            .problems(&[])
    };
    for end in ["", "\n", "\nexit 0\n"] {
        assert_eq!(problems(&format!("{whole}{end}")), [""; 0]);
    }
    let wanted = "this directive does not end in the first 16 KiB of the file";
    let place = format!(
        "hooks.d/tool.pre/hook:{}:10",
        HEAD_BYTES / comment.len() + 1
    );
    let wanted = format!("error {place}: {wanted} [move it to the beginning]");
    assert_eq!(problems(&format!("{whole}{cut}\n")), [wanted]);
}

/// The sign would be part of the value: a guard of files whose names end in a comma.
#[test]
fn a_sign_between_settings_is_a_mistake() {
    for (directive, word, meant) in [
        ("path=*.env, tool=bash", "path=*.env,", "path=*.env"),
        ("tool=bash;", "tool=bash;", "tool=bash"),
        ("runs=git, tool=bash", "runs=git,", "runs=git"),
    ] {
        let hook = Sandbox::new().hook("x", &format!("# hookrun: {directive}\nexit 1"));
        hook.run("tool.pre").blocks_saying(&format!(
            "the `,` or `;` at the end of `{word}` would be part of the value"
        ));
        let problems = hook.problems(&[]).join("\n");
        assert!(problems.contains(&format!("write `{meant}`")), "{problems}");
    }
    let text = "# hookrun: description='one, two;' command='a;'";
    assert_eq!(Sandbox::new().hook("x", text).problems(&[]), [""; 0]);
}
