//! Entries of two hosts that run hookrun for the same calls.

use hookrun::hosts::install::OtherSettings;
use hookrun::hosts::installable;

use super::{installed, problems};
use crate::sandbox::Sandbox;

/// The switch of a host that reads other settings, as its file would have it.
fn switched(sandbox: Sandbox, read: &OtherSettings, value: bool) -> Sandbox {
    let Some(switch) = read.switch else {
        return sandbox;
    };
    let text = if switch.file.ends_with(".toml") {
        let (key, tables) = switch.key.split_last().unwrap();
        format!("[{}]\n{key} = {value}\n", tables.join("."))
    } else {
        let inner = value.to_string();
        switch
            .key
            .iter()
            .rfold(inner, |inner, key| format!("{{\"{key}\": {inner}}}"))
    };
    // The folder of a user's settings is the home folder's, or one of the sandbox.
    sandbox.file(&format!("home/{}", switch.file), &text)
}

fn overlaps(sandbox: &Sandbox, host: &str) -> Vec<String> {
    let (_, found) = problems(sandbox, host);
    found
        .into_iter()
        .filter(|one| one.contains("also runs the hooks of"))
        .collect()
}

#[test]
fn every_file_and_entry_that_a_host_reads_too_is_named_with_its_cure() {
    let mut pairs = 0;
    for known in installable() {
        for read in known.reads {
            pairs += 1;
            let host = known.name;
            let sandbox = switched(installed(host), read, true);
            sandbox.hookrun(&["install", read.host], b"").exits(0);
            let found = overlaps(&sandbox, host);
            assert_eq!(found.len(), 1, "{host} and {}: {found:?}", read.host);
            for part in [
                "warning ",
                "`hooks.",
                "runs hookrun for the same calls",
                "hookrun uninstall",
            ] {
                assert!(
                    found[0].contains(part),
                    "{host} and {}: {part}: {found:?}",
                    read.host
                );
            }
            let Some(switch) = read.switch else { continue };
            let told = format!(
                "set `{}` to false in ~/{}",
                switch.key.join("."),
                switch.file
            );
            assert!(found[0].contains(&told), "{found:?}");
            let sandbox = switched(sandbox, read, false);
            assert_eq!(
                overlaps(&sandbox, host),
                [""; 0],
                "{host} and {}",
                read.host
            );
        }
    }
    assert!(pairs >= 7, "{pairs}");
}

#[test]
fn entries_for_other_events_are_no_overlap() {
    let sandbox = installed("cursor");
    let start = r#"{"hooks": {"Notification": [{"hooks": [{"type": "command", "command": "hookrun run --host claude"}]}]}}"#;
    let sandbox = sandbox.file(".claude/settings.json", start);
    assert_eq!(overlaps(&sandbox, "cursor"), [""; 0]);
}

#[test]
fn where_the_other_host_alone_has_hookrun_nothing_overlaps() {
    let sandbox = installed("claude");
    assert_eq!(overlaps(&sandbox, "grok"), [""; 0]);
}

#[test]
fn settings_of_a_user_overlap_only_where_the_host_reads_them() {
    for (host, count) in [("copilot", 0), ("cursor", 1)] {
        let sandbox = installed(host);
        sandbox
            .hookrun(&["install", "claude", "--scope", "user"], b"")
            .exits(0);
        assert_eq!(overlaps(&sandbox, host).len(), count, "{host}");
    }
}
