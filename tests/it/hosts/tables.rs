//! The tables of hosts and systems hang together: each names what the others have.

use std::path::PathBuf;
use std::time::Duration;

use hookrun::Context;
use hookrun::hosts::git::{Argument, Changes, GIT_HOOKS};
use hookrun::hosts::settings::MatcherSubject;
use hookrun::hosts::signs;
use hookrun::hosts::{
    HostFolders, KeySpelling, SignedEvents, Wait, dialects, find, settings_files,
};
use hookrun::internals::event::catalog;

#[test]
fn every_row_is_over_the_catalog() {
    for dialect in dialects() {
        for row in dialect.events {
            let spec = catalog::find(row.event);
            let spec = spec.unwrap_or_else(|| panic!("{}: {}", dialect.name, row.event));
            assert_eq!(spec.name, row.event, "{}: {}", dialect.name, row.name);
            for (theirs, ours) in row.keys.iter().chain(row.also) {
                // A host's rows are over all keys of the catalog; a typing slip is found here.
                let is_known = spec.carries(ours) || dialect.spelling == KeySpelling::Camel;
                assert!(is_known, "{}: {}: {ours}", dialect.name, row.name);
                assert_ne!(theirs, ours, "{}: {}", dialect.name, row.name);
            }
            for one in row.stand_ins {
                assert_ne!(one.theirs, one.ours, "{}: {}", dialect.name, row.name);
            }
            for rewrite in row.results.rewrites() {
                let field = rewrite.field;
                assert!(
                    spec.carries(&field),
                    "{}: {}: {field}",
                    dialect.name,
                    row.name
                );
            }
        }
    }
}

#[test]
fn rows_of_one_name_are_told_apart_by_one_key() {
    for dialect in dialects() {
        for row in dialect.events {
            let same = dialect.events.iter().filter(|one| one.name == row.name);
            let same: Vec<_> = same.map(|one| one.when).collect();
            assert!(
                same.len() == 1 || same.iter().all(Option::is_some),
                "{}",
                row.name
            );
            let keys: Vec<_> = same.iter().flatten().map(|(key, _)| key).collect();
            assert!(keys.windows(2).all(|two| two[0] == two[1]), "{}", row.name);
        }
    }
}

#[test]
fn settings_files_are_over_the_events_of_their_dialects() {
    for file in settings_files() {
        let dialect = file.host();
        let known = |name: &str| dialect.events.iter().find(|row| row.name == name);
        let subjects = file.subjects.iter();
        for (subject, event) in
            subjects.flat_map(|(one, events)| events.split(' ').map(move |event| (one, event)))
        {
            // Hosts of one family share a table, and have not all of its events.
            let Some(row) = known(event) else { continue };
            let spec = catalog::find(row.event).unwrap();
            match subject {
                MatcherSubject::Tool | MatcherSubject::Command => {
                    assert!(spec.has_action(), "{event}")
                }
                MatcherSubject::Fact(key) => assert!(spec.carries(key), "{event}: {key}"),
            }
        }
    }
}

#[test]
fn every_hook_of_git_is_a_row_of_the_catalog_and_every_key_is_one_of_it() {
    for hook in GIT_HOOKS {
        let spec = catalog::find(hook.name).unwrap();
        assert_eq!(spec.name, hook.event, "{}", hook.name);
        let of_arguments = hook.arguments.iter().map(Argument::key);
        for key in of_arguments.chain(hook.lines.map(|lines| lines.key)) {
            assert!(spec.carries(key), "{}: {key}", hook.name);
        }
        let changes = hook.changes != Changes::Unknown;
        assert_eq!(spec.carries("changes"), changes, "{}", hook.name);
        let edits = hook.arguments.contains(&Argument::MessageFile);
        assert_eq!(spec.rewrite("message").is_some(), edits, "{}", hook.name);
    }
}

#[test]
fn every_event_of_a_host_has_a_budget_within_its_limit() {
    for dialect in dialects() {
        for row in dialect.events {
            let has_one = row.wait.is_some();
            assert_eq!(
                has_one,
                dialect.has_forms(),
                "{}: {}",
                dialect.name,
                row.name
            );
            let Some(wait) = row.wait else { continue };
            let budget = Wait::budget(wait.usual);
            assert!(
                !budget.is_zero() && Wait::last_word(budget) < wait.usual,
                "{}",
                row.name
            );
            assert!(
                wait.longest.is_none_or(|longest| longest > wait.usual),
                "{}",
                row.name
            );
        }
    }
}

#[test]
fn every_sign_is_of_a_dialect_and_asks_for_something() {
    for sign in signs::all().flat_map(|(_, signs)| signs) {
        if let SignedEvents::KnownNotIn(other) = sign.named {
            assert!(find(other).is_some(), "{sign:?}");
        }
        let is_by_name = matches!(sign.named, SignedEvents::Alone | SignedEvents::Ours);
        assert!(is_by_name || !sign.has.is_empty(), "{sign:?}");
        assert!(
            !sign.has.iter().any(|key| sign.lacks.contains(key)),
            "{sign:?}"
        );
    }
}

#[test]
fn a_budget_leaves_a_margin_and_the_last_word_falls_into_it() {
    let millis = |limit| {
        let budget = Wait::budget(Duration::from_millis(limit));
        (budget.as_millis(), Wait::last_word(budget).as_millis())
    };
    assert_eq!(millis(600_000), (595_000, 595_750));
    assert_eq!(millis(10_000), (5000, 5750));
    assert_eq!(millis(1500), (750, 1312));
    assert_eq!(millis(1000), (500, 875));
}

#[test]
fn an_event_that_is_not_known_yet_has_the_least_time_of_a_gate() {
    let shortest = |name: &str| find(name).unwrap().shortest_budget();
    assert_eq!(shortest("claude"), Some(Duration::from_secs(25)));
    assert_eq!(shortest("codex"), Some(Duration::from_secs(595)));
    assert_eq!(shortest("loom"), None);
}

#[test]
fn what_is_open_is_told_apart_from_where_a_command_runs() {
    let json = r#"{"cwd":"/c","workspace_roots":["/a","",7,"/b"]}"#;
    let context = Context::parse(json).unwrap();
    let cwd = Some(PathBuf::from("/c"));
    let roots = ["/a", "/b"].map(PathBuf::from).to_vec();
    assert_eq!(
        HostFolders::read("cursor", &context),
        HostFolders {
            roots,
            cwd: cwd.clone()
        }
    );
    assert_eq!(
        HostFolders::read("claude", &context),
        HostFolders {
            roots: Vec::new(),
            cwd
        }
    );
    assert_eq!(HostFolders::read("pi", &context), HostFolders::default());
}
