//! A text for which a host drops its settings as a whole is an error, and nothing else is.

use super::{accepted, installed, problems};
use crate::sandbox::Sandbox;

/// Puts `text` for `was` into the settings of a host that hookrun is installed into.
fn changed(host: &str, file: &str, (was, text): (&str, &str)) -> Sandbox {
    let sandbox = installed(host);
    let settings = sandbox.read(file);
    assert!(settings.contains(was), "{settings}");
    accepted::by_a_person(sandbox.file(file, &settings.replacen(was, text, 1)))
}

#[test]
fn every_mistake_for_which_a_host_drops_its_file_is_an_error() {
    let claude = [("{", "{ // mine\n", "is not plain JSON")];
    let codex = [
        ("{", "\u{feff}{", "the file begins with a byte order mark"),
        ("{", "{ // mine\n", "is not plain JSON"),
    ];
    let gemini = [
        ("{", "\u{feff}{", "the file begins with a byte order mark"),
        ("{", "{\"x\": [1,],", "trailing commas are not allowed"),
    ];
    for (host, file, mistakes) in [
        ("claude", ".claude/settings.json", &claude[..]),
        ("codex", ".codex/hooks.json", &codex),
        ("gemini", ".gemini/settings.json", &gemini),
    ] {
        for (was, text, said) in mistakes {
            let sandbox = changed(host, file, (was, text));
            let (status, found) = problems(&sandbox, host);
            assert_eq!(status, 1, "{host} {text}: {found:?}");
            let is_said = |one: &&String| {
                one.starts_with("error ")
                    && one.contains(said)
                    && one.contains("ignores the whole file")
            };
            assert!(
                found.iter().any(|one| is_said(&one)),
                "{host} {text}: {found:?}"
            );
            let before = sandbox.read(file);
            sandbox
                .hookrun(&["install", host], b"")
                .exits(2)
                .says("ignores the whole file");
            assert_eq!(sandbox.read(file), before);
        }
    }
}

#[test]
fn a_value_of_a_wrong_type_for_which_a_host_drops_its_file_is_an_error() {
    for (host, file, key, what) in [
        (
            "claude",
            ".claude/settings.json",
            "\"statusLine\": 5",
            "`statusLine` must be an object",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"cleanupPeriodDays\": \"x\"",
            "must be a number",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"sandbox\": 5",
            "must be an object",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"enabledPlugins\": []",
            "must be an object",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"apiKeyHelper\": 5",
            "must be a string",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"includeCoAuthoredBy\": \"yes\"",
            "must be true or false",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"outputStyle\": 5",
            "must be a string",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"permissions\": {\"defaultMode\": 5}",
            "`permissions.defaultMode` must be",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"permissions\": {\"defaultMode\": \"frob\"}",
            "`permissions.defaultMode` must be one of \"acceptEdits\", \"auto\",",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "\"hooksConfig\": {\"enabled\": \"false\"}",
            "must be true or false",
        ),
    ] {
        let sandbox = changed(host, file, ("{", &format!("{{{key},")));
        let (status, found) = problems(&sandbox, host);
        assert_eq!((status, found.len()), (1, 1), "{key}: {found:?}");
        assert!(
            found[0].starts_with("error ") && found[0].contains(what),
            "{found:?}"
        );
        assert!(
            found[0].contains("runs none of the hooks in this file"),
            "{found:?}"
        );
    }
}

#[test]
fn what_a_host_passes_over_is_no_error() {
    for (host, file, was, text) in [
        ("claude", ".claude/settings.json", "{", "\u{feff}{"),
        (
            "claude",
            ".claude/settings.json",
            "{",
            "{\"x\": 1, \"permissions\": {\"defaultMode\": \"plan\", \"allow\": [\"Nonsense(\"]},",
        ),
        (
            "codex",
            ".codex/hooks.json",
            "\"timeout\"",
            "\"x\": 1, \"timeout\"",
        ),
        ("gemini", ".gemini/settings.json", "{", "{ // mine\n"),
        (
            "gemini",
            ".gemini/settings.json",
            "\"timeout\"",
            "\"async\": true, \"timeout\"",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "\"hooks\": {",
            "\"hooks\": { \"enabled\": false, \"disabled\": [\"hookrun\"],",
        ),
    ] {
        let sandbox = changed(host, file, (was, text));
        assert_eq!(problems(&sandbox, host), (0, Vec::new()), "{host} {text}");
    }
}
