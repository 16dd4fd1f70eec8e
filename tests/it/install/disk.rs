//! Files, links, modes and folders around an install.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{HOSTS, hooks, install, named, project, uninstall};

#[test]
fn a_file_that_is_not_text_is_rejected() {
    let sandbox = project();
    fs::create_dir(sandbox.at(".claude")).unwrap();
    fs::write(sandbox.at(HOSTS[0].project), b"{\n\"a\": \"\xff\"}").unwrap();
    install(&sandbox, &HOSTS[0], "project")
        .exits(2)
        .says("is not UTF-8: line 2, column 7");
}

#[test]
fn an_empty_file_is_filled_and_removed() {
    let sandbox = project().file(HOSTS[0].project, "");
    install(&sandbox, &HOSTS[0], "project").exits(0);
    assert_eq!(hooks(&sandbox, HOSTS[0].project, "PreToolUse").len(), 1);
    uninstall(&sandbox, &HOSTS[0], "project").exits(0);
    sandbox.has_no_file(HOSTS[0].project);
}

#[test]
fn a_read_only_file_is_left_alone() {
    let sandbox = project().file(HOSTS[0].project, HOSTS[0].existing);
    let file = sandbox.at(HOSTS[0].project);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    install(&sandbox, &HOSTS[0], "project")
        .exits(2)
        .says("is read-only")
        .says("chmod u+w");
    assert_eq!(sandbox.read(HOSTS[0].project), HOSTS[0].existing);
}

#[test]
fn the_mode_of_a_file_is_kept() {
    let sandbox = project().file(HOSTS[0].project, HOSTS[0].existing);
    let file = sandbox.at(HOSTS[0].project);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let mode = || file.metadata().unwrap().permissions().mode() & 0o7777;
    install(&sandbox, &HOSTS[0], "project").exits(0);
    assert_eq!(mode(), 0o600);
    uninstall(&sandbox, &HOSTS[0], "project").exits(0);
    assert_eq!(mode(), 0o600);
}

#[test]
fn a_link_to_the_settings_stays_a_link() {
    let sandbox = project().file("dotfiles/claude.json", HOSTS[0].existing);
    fs::create_dir(sandbox.at("home/.claude")).unwrap();
    let link = sandbox.at(HOSTS[0].user);
    symlink(sandbox.at("dotfiles/claude.json"), &link).unwrap();
    install(&sandbox, &HOSTS[0], "user").exits(0);
    assert!(
        link.is_symlink()
            && sandbox
                .read("dotfiles/claude.json")
                .contains("--host claude")
    );
    uninstall(&sandbox, &HOSTS[0], "user").exits(0);
    assert!(link.is_symlink());
    let left = sandbox.read("dotfiles/claude.json");
    assert!(left.contains("mine.sh") && !left.contains("hookrun"));
}

#[test]
fn a_user_whose_settings_were_moved_is_served_there() {
    for (host, variable, file) in [
        (&HOSTS[0], "CLAUDE_CONFIG_DIR", "settings.json"),
        (&HOSTS[1], "CODEX_HOME", "hooks.json"),
        (
            named("opencode"),
            "XDG_CONFIG_HOME",
            "opencode/plugins/hookrun.js",
        ),
        (named("openclaw"), "OPENCLAW_STATE_DIR", "hookrun.js"),
        (named("pi"), "PI_CODING_AGENT_DIR", "extensions/hookrun.js"),
    ] {
        let sandbox = project();
        let folder = sandbox.at("moved");
        let sandbox = sandbox.variable(variable, folder.to_str().unwrap());
        install(&sandbox, host, "user").exits(0);
        assert!(folder.join(file).exists(), "{}", host.name);
        sandbox.has_no_file(host.user);
        sandbox
            .hookrun(&["doctor", host.name], b"")
            .prints("in user scope");
        uninstall(&sandbox, host, "user").exits(0);
        sandbox.has_no_file("moved");
    }
}

#[test]
fn a_link_to_nothing_is_named() {
    let sandbox = project();
    fs::create_dir(sandbox.at(".claude")).unwrap();
    symlink("gone.json", sandbox.at(HOSTS[0].project)).unwrap();
    install(&sandbox, &HOSTS[0], "project")
        .exits(2)
        .says("is a dangling link");
}

#[test]
fn without_a_home_there_is_only_the_project() {
    for command in ["install", "uninstall"] {
        let sandbox = project().variable("TMPDIR", "/nonexistent");
        let arguments = [command, "claude", "--scope", "user"];
        let homeless = |command: &mut std::process::Command| {
            command.env_remove("HOME");
        };
        let ran = sandbox.hookrun_as(homeless, &arguments, b"");
        ran.exits(2).says("HOME is not set").says("--scope project");
    }
    let sandbox = project();
    let temporary = sandbox.at("tmp");
    fs::create_dir(&temporary).unwrap();
    let homeless = |arguments: &[&str]| {
        let change = |command: &mut std::process::Command| {
            command.env_remove("HOME").env("TMPDIR", &temporary);
        };
        sandbox.hookrun_as(change, arguments, b"")
    };
    homeless(&["install", "claude"]).exits(0);
    homeless(&["uninstall", "claude"])
        .exits(0)
        .prints("was removed");
}

#[test]
fn a_new_file_in_a_folder_that_is_a_link_goes_again() {
    for name in ["claude", "kimi", "cline", "amp"] {
        let host = named(name);
        let sandbox = project().file("dotfiles/kept", "");
        let folder = sandbox.at(host.user).parent().unwrap().to_path_buf();
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        symlink(sandbox.at("dotfiles"), &folder).unwrap();
        install(&sandbox, host, "user").exits(0);
        assert!(
            fs::read_dir(sandbox.at("dotfiles")).unwrap().count() > 1,
            "{name}"
        );
        uninstall(&sandbox, host, "user").exits(0);
        assert_eq!(
            fs::read_dir(sandbox.at("dotfiles")).unwrap().count(),
            1,
            "{name}"
        );
        assert!(folder.is_symlink(), "{name}");
    }
}
