//! Switches, trust and changes with which a host does not ask a hookrun that is installed.

use super::{accepted, installed, problems};
use crate::install::project;
use crate::sandbox::Sandbox;

#[test]
fn every_switch_in_every_file_is_named() {
    let off = "`disableAllHooks` is true, so hookrun does not run [remove `disableAllHooks`]";
    let local = ".claude/settings.local.json";
    let user = "home/.claude/settings.json";
    let gemini = "home/.gemini/settings.json";
    for (host, file, text, said) in [
        ("claude", local, "{\"disableAllHooks\": true}", off),
        ("claude", user, "{\"disableAllHooks\": true}", off),
        (
            "codex",
            ".codex/config.toml",
            "[features]\nhooks = false\n",
            "`features.hooks` is false",
        ),
        (
            "codex",
            ".codex/config.toml",
            "[features]\ncodex_hooks = false\n",
            "`features.codex_hooks` is false",
        ),
        (
            "gemini",
            gemini,
            "{\"hooksConfig\": {\"enabled\": false}}",
            "`hooksConfig.enabled` is false",
        ),
        (
            "gemini",
            gemini,
            "{ // mine\n\"hooksConfig\": {\"disabled\": [\"x\", \"hookrun\"]}}",
            "`hooksConfig.disabled` lists `hookrun`",
        ),
        (
            "copilot",
            "home/.copilot/hooks/hookrun.json",
            "{\"disableAllHooks\": true}",
            off,
        ),
    ] {
        let sandbox = installed(host).file(file, text);
        let (status, found) = problems(&sandbox, host);
        assert_eq!((status, found.len()), (1, 1), "{host} {text}: {found:?}");
        assert!(
            found[0].starts_with(&format!("error {file}: ")),
            "{found:?}"
        );
        assert!(found[0].contains(said), "{found:?}");
    }
    let sandbox = installed("gemini");
    let text = sandbox.read(".gemini/settings.json");
    let text = text.replacen('{', "{\"hooksConfig\": {\"enabled\": false},", 1);
    let (status, found) = problems(&sandbox.file(".gemini/settings.json", &text), "gemini");
    assert_eq!((status, found.len()), (1, 1), "{found:?}");
}

#[test]
fn the_nearest_file_decides_about_a_switch() {
    let sandbox = installed("claude");
    let text = sandbox.read(".claude/settings.json");
    let text = text.replacen('{', "{\"disableAllHooks\": true,", 1);
    let sandbox = sandbox.file(".claude/settings.json", &text).file(
        ".claude/settings.local.json",
        "{\"disableAllHooks\": false}",
    );
    assert_eq!(problems(&sandbox, "claude"), (0, Vec::new()));
}

#[test]
fn a_hook_that_nobody_accepted_in_codex_is_an_error() {
    let sandbox = project();
    sandbox.hookrun(&["install", "codex"], b"").exits(0);
    let (status, found) = problems(&sandbox, "codex");
    assert_eq!(status, 1);
    let said = [
        "the project is not trusted",
        "Codex skips hookrun for SessionStart, PreToolUse: the hook was never accepted",
    ];
    assert_eq!(found.len(), said.len(), "{found:?}");
    for (found, said) in found.iter().zip(said) {
        assert!(
            found.starts_with("error home/.codex/config.toml: "),
            "{found}"
        );
        assert!(found.contains(said), "{found}");
    }
    let sandbox = accepted::by_a_person(sandbox);
    assert_eq!(problems(&sandbox, "codex"), (0, Vec::new()));

    let config = sandbox.read("home/.codex/config.toml");
    let off = config.replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
    let (status, found) = problems(&sandbox.file("home/.codex/config.toml", &off), "codex");
    assert_eq!((status, found.len()), (1, 1), "{found:?}");
    assert!(found[0].contains("is disabled in `/hooks`"), "{found:?}");

    let sandbox = installed("codex");
    let text = sandbox.read(".codex/hooks.json");
    let text = text.replacen(" run --host codex", " run --host codex --budget 594s", 1);
    let (status, found) = problems(&sandbox.file(".codex/hooks.json", &text), "codex");
    assert_eq!(status, 1);
    assert!(
        found
            .iter()
            .any(|one| one.contains("has changed since it was accepted")),
        "{found:?}"
    );
}

#[test]
fn a_folder_that_is_not_trusted_in_gemini_is_an_error() {
    let sandbox = project();
    sandbox.hookrun(&["install", "gemini"], b"").exits(0);
    let place = sandbox.path().canonicalize().unwrap();
    let (here, above) = (
        place.display().to_string(),
        place.parent().unwrap().display().to_string(),
    );
    let mut sandbox = sandbox;
    for (rules, is_trusted) in [
        ("{}".to_string(), false),
        (format!("{{\"{here}\": \"TRUST_FOLDER\"}}"), true),
        (format!("{{\"{above}\": \"TRUST_FOLDER\"}}"), true),
        (
            format!("{{\"{above}\": \"TRUST_FOLDER\", \"{here}\": \"DO_NOT_TRUST\"}}"),
            false,
        ),
        (format!("{{\"{here}/x\": \"TRUST_PARENT\"}}"), true),
        (format!("{{\"{here}x\": \"TRUST_FOLDER\"}}"), false),
    ] {
        sandbox = sandbox.file("home/.gemini/trustedFolders.json", &rules);
        let (status, found) = problems(&sandbox, "gemini");
        assert_eq!(status == 0, is_trusted, "{rules}: {found:?}");
        let is_said = found
            .iter()
            .any(|one| one.contains("the folder is not trusted"));
        assert_eq!(is_said, !is_trusted, "{rules}: {found:?}");
    }
    let sandbox = sandbox.file("home/.gemini/trustedFolders.json", "{}").file(
        "home/.gemini/settings.json",
        "{\"security\": {\"folderTrust\": {\"enabled\": false}}}",
    );
    assert_eq!(problems(&sandbox, "gemini"), (0, Vec::new()));
    // What is installed for the user asks in every folder.
    let sandbox = project();
    sandbox
        .hookrun(&["install", "gemini", "--scope", "user"], b"")
        .exits(0);
    assert_eq!(problems(&sandbox, "gemini"), (0, Vec::new()));
}

#[test]
fn a_project_that_is_not_trusted_in_pi_is_an_error() {
    let mut sandbox = project();
    sandbox.hookrun(&["install", "pi"], b"").exits(0);
    let place = sandbox.path().canonicalize().unwrap();
    let here = place.display().to_string();
    let above = place.parent().unwrap().display().to_string();
    for (trust, default, is_trusted) in [
        ("{}".to_string(), "ask", false),
        ("{}".to_string(), "always", true),
        (format!("{{\"{here}\": true}}"), "never", true),
        (format!("{{\"{above}\": true}}"), "ask", true),
        (
            format!("{{\"{above}\": true, \"{here}\": false}}"),
            "always",
            false,
        ),
        (format!("{{\"{here}x\": true}}"), "ask", false),
    ] {
        let settings = format!("{{\"defaultProjectTrust\": \"{default}\"}}");
        sandbox = sandbox
            .file("home/.pi/agent/trust.json", &trust)
            .file("home/.pi/agent/settings.json", &settings);
        let (status, found) = problems(&sandbox, "pi");
        assert_eq!(status == 0, is_trusted, "{trust} {default}: {found:?}");
        let mut errors = found.iter();
        let is_named = errors.any(|one| one.contains("the project is not trusted"));
        assert_eq!(is_named, !is_trusted, "{trust} {default}: {found:?}");
    }
    // A plugin of the user loads in every project.
    let sandbox = project();
    sandbox
        .hookrun(&["install", "pi", "--scope", "user"], b"")
        .exits(0);
    assert_eq!(problems(&sandbox, "pi"), (0, Vec::new()));
}

#[test]
fn a_hook_of_hookruns_that_was_changed_by_hand_is_an_error() {
    for (host, file, was, is, said) in [
        (
            "claude",
            ".claude/settings.json",
            "\"hooks\": [\n",
            "\"matcher\": \"Edit\", \"hooks\": [\n",
            "the matcher `Edit` excludes",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"timeout\"",
            "\"if\": \"Bash(git *)\", \"timeout\"",
            "`if` is `\"Bash(git *)\"`",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"timeout\"",
            "\"async\": true, \"timeout\"",
            "`async` is `true`, so the agent does not wait",
        ),
        (
            "claude",
            ".claude/settings.json",
            "\"timeout\"",
            "\"args\": [], \"timeout\"",
            "`args` is `[]`, so it runs without the shell",
        ),
        (
            "codex",
            ".codex/hooks.json",
            "\"timeout\"",
            "\"async\": true, \"timeout\"",
            "`async` is `true`, so the agent does not wait",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "\"hooks\": [\n",
            "\"matcher\": \"write_file\", \"hooks\": [\n",
            "the matcher `write_file` excludes",
        ),
        (
            "cursor",
            ".cursor/hooks.json",
            "\"timeout\"",
            "\"matcher\": \"Shell\", \"timeout\"",
            "the matcher `Shell` excludes",
        ),
    ] {
        let sandbox = project_with_a_gate();
        sandbox.hookrun(&["install", host], b"").exits(0);
        let text = sandbox.read(file);
        assert!(text.contains(was), "{text}");
        let sandbox = accepted::by_a_person(sandbox.file(file, &text.replacen(was, is, 1)));
        let (status, found) = problems(&sandbox, host);
        assert_eq!(status, 1, "{host} {is}: {found:?}");
        let cure = format!("[`hookrun install {host}` repairs it]");
        let is_named =
            |one: &String| one.starts_with("error ") && one.contains(said) && one.ends_with(&cure);
        assert!(found.iter().any(is_named), "{host} {is}: {found:?}");
        sandbox.hookrun(&["install", host], b"").exits(0);
        let (_, found) = problems(&accepted::by_a_person(sandbox), host);
        assert_eq!(found, Vec::<String>::new());
    }
}

fn project_with_a_gate() -> crate::sandbox::Sandbox {
    crate::sandbox::Sandbox::new().hook("guard", "exit 0")
}

#[test]
fn what_switches_hooks_off_is_left_to_do_after_an_installation() {
    for (host, file, text, switch) in [
        (
            "claude",
            ".claude/settings.json",
            "{\"disableAllHooks\": true}",
            "`disableAllHooks` is true",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"hooksConfig\": {\"enabled\": false}}",
            "`hooksConfig.enabled` is false",
        ),
    ] {
        let sandbox = Sandbox::new().hook("10-a.sh", "true").file(file, text);
        let ran = sandbox.hookrun(&["install", host], b"");
        ran.exits(0).prints(&format!(
            "to do: {file}: {switch}, so hookrun does not run; remove `"
        ));
    }
}
