//! `hookrun hook state` and `hookrun hook send`: what outlives a hook.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::thread;

use hookrun::internals::session::{ENTRIES, EntryTexts, PATIENCE, Store};
use hookrun::internals::session::{folder, hook_folder, make_private, own_folder, shared_folder};

use crate::sandbox::{Ran, Sandbox};

/// A sandbox with a hook that runs this line, in which `hookrun` is the program that is tested.
fn with_hook(sandbox: Sandbox, name: &str, body: &str) -> Sandbox {
    let hookrun = env!("CARGO_BIN_EXE_hookrun");
    sandbox.hook(
        name,
        &format!("hookrun() {{ '{hookrun}' \"$@\"; }}\n{body}"),
    )
}

/// `hookrun` as a hook whose state folder is `state/s/hook` would call it.
fn in_hook(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let folder = sandbox.at("state/s/hook");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(sandbox.at("state/s"), PermissionsExt::from_mode(0o700)).unwrap();
    let set = |hookrun: &mut Command| {
        hookrun
            .env("HOOKRUN_STATE_DIR", &folder)
            .env("HOOKRUN_HOOK", "hook");
    };
    sandbox.hookrun_as(set, arguments, b"")
}

#[track_caller]
fn prints(sandbox: &Sandbox, arguments: &[&str], text: &str) {
    let ran = in_hook(sandbox, arguments);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (0, text),
        "{arguments:?}: {ran:?}"
    );
}

#[test]
fn sessions_in_which_nothing_has_changed_for_long_are_removed() {
    let sandbox = with_hook(
        Sandbox::new(),
        "hook",
        "echo x >\"$HOOKRUN_STATE_DIR/file\"",
    );
    let run = |session: &str| {
        let context = format!(r#"{{"sessionId":"{session}"}}"#);
        sandbox
            .hookrun(&["run", "tool.pre"], context.as_bytes())
            .exits(0);
    };
    let sessions = sandbox.at("home/.local/state/hookrun/sessions");
    for session in ["old", "used", "new", ""] {
        run(session);
    }
    let age = "cd home/.local/state/hookrun/sessions\n\
               find old used no-session -exec touch -d '31 days ago' {} +\n\
               touch used/hook/file; touch -d '2 days ago' .swept";
    sandbox.hookrun_by_shell(age, b"").exits(0);
    run("used");
    assert!(
        sessions.join("old").exists(),
        "it looks when there is a new session"
    );
    run("next");
    assert!(!sessions.join("old").exists());
    for kept in ["used", "new", "next", "no-session"] {
        assert!(sessions.join(kept).exists(), "{kept}");
    }
}

#[test]
fn a_text_is_there_in_the_next_run_of_the_hook_and_nowhere_else() {
    let body = "hookrun hook state get count || echo none; hookrun hook state set count \"$$ -x\"\n\
                hookrun hook state get count | grep -q -- -x || echo lost";
    let sandbox = with_hook(Sandbox::new(), "10-one", body);
    let sandbox = with_hook(
        sandbox,
        "20-two",
        "hookrun hook state get count && exit 1; exit 0",
    );
    let session = |id: &str| {
        let context = format!(r#"{{"sessionId":"{id}"}}"#);
        sandbox.hookrun(&["run", "tool.pre"], context.as_bytes())
    };
    session("a").exits(0).prints(r#""output":"none""#);
    let again = session("a");
    assert!(
        !again.stdout.contains("none") && again.stdout.contains(" -x"),
        "{again:?}"
    );
    session("b").exits(0).prints("none");
}

#[test]
fn what_is_shared_is_there_for_all_hooks_of_the_session() {
    let sandbox = with_hook(
        Sandbox::new(),
        "10-one",
        "hookrun hook state --shared set key text",
    );
    let sandbox = with_hook(sandbox, "20-two", "hookrun hook state get key --shared");
    sandbox
        .run("tool.pre")
        .allows_with(serde_json::json!({ "output": "text" }));
}

#[test]
fn entries_are_set_appended_listed_and_removed() {
    let sandbox = Sandbox::new();
    let missing = in_hook(&sandbox, &["hook", "state", "get", "key"]);
    assert_eq!(
        (missing.status, missing.stdout.as_str()),
        (1, ""),
        "{missing:?}"
    );
    assert_eq!(missing.stderr, "");
    prints(&sandbox, &["hook", "state", "list"], "");
    prints(&sandbox, &["hook", "state", "set", "key", "a b"], "");
    prints(
        &sandbox,
        &["hook", "state", "append", "key", "two\nlines"],
        "",
    );
    prints(
        &sandbox,
        &["hook", "state", "append", "other", "--force"],
        "",
    );
    prints(
        &sandbox,
        &["hook", "state", "get", "key"],
        "a b\ntwo\nlines\n",
    );
    prints(&sandbox, &["hook", "state", "list"], "key\nother\n");
    prints(&sandbox, &["hook", "state", "remove", "key"], "");
    in_hook(&sandbox, &["hook", "state", "remove", "key"]).exits(1);
    prints(&sandbox, &["hook", "state", "set", "other", ""], "");
    prints(&sandbox, &["hook", "state", "get", "other"], "\n");
    in_hook(&sandbox, &["hook", "state", "get", "other", "--shared"]).exits(1);
}

#[test]
fn no_entry_is_lost_among_many_writers() {
    let sandbox = Sandbox::new();
    in_hook(
        &sandbox,
        &["hook", "state", "--shared", "append", "log", "first"],
    )
    .exits(0);
    thread::scope(|scope| {
        for writer in 0..8 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for number in 0..10 {
                    let text = format!("{writer}-{number}");
                    in_hook(
                        sandbox,
                        &["hook", "state", "--shared", "append", "log", &text],
                    )
                    .exits(0);
                    in_hook(sandbox, &["hook", "state", "--shared", "set", &text, "x"]).exits(0);
                    in_hook(sandbox, &["hook", "send", &text]).exits(0);
                }
            });
        }
    });
    let log = in_hook(&sandbox, &["hook", "state", "--shared", "get", "log"]).stdout;
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 81, "{lines:?}");
    for writer in 0..8 {
        let own = lines
            .iter()
            .filter(|line| line.starts_with(&format!("{writer}-")));
        let wanted: Vec<String> = (0..10).map(|number| format!("{writer}-{number}")).collect();
        assert_eq!(own.collect::<Vec<_>>(), wanted.iter().collect::<Vec<_>>());
    }
    let keys = in_hook(&sandbox, &["hook", "state", "--shared", "list"]).stdout;
    assert_eq!(keys.lines().count(), 81);
    let taken = in_hook(&sandbox, &["hook", "send", "--take"]).stdout;
    assert_eq!(taken.lines().count(), 80);
}

#[test]
fn what_is_kept_is_for_its_owner_only() {
    let sandbox = Sandbox::new();
    in_hook(&sandbox, &["hook", "state", "set", "a", "b"]).exits(0);
    in_hook(&sandbox, &["hook", "state", "--shared", "set", "a", "b"]).exits(0);
    in_hook(&sandbox, &["hook", "send", "text"]).exits(0);
    let mode = |path: &str| sandbox.at(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("state/s/.shared"), 0o700);
    for file in [
        "hook/.entries.json",
        "hook/.entries.json.lock",
        ".shared/.entries.json",
        ".shared/.messages.jsonl",
    ] {
        assert_eq!(mode(&format!("state/s/{file}")), 0o600, "{file}");
    }
}

#[test]
fn outside_of_a_hook_it_says_so() {
    for arguments in [
        &["hook", "state", "get", "a"][..],
        &["hook", "state", "list", "--shared"],
    ] {
        let ran = Sandbox::new().hookrun(arguments, b"");
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        ran.says("no state folder: HOOKRUN_STATE_DIR is not set");
    }
}

#[test]
fn what_a_hook_has_broken_is_an_error_and_stays_as_it_is() {
    let sandbox = Sandbox::new().file("state/s/hook/.entries.json", "no entries");
    in_hook(&sandbox, &["hook", "state", "set", "a", "b"])
        .exits(2)
        .says("it is not a table of entries");
    assert_eq!(sandbox.read("state/s/hook/.entries.json"), "no entries");
}

#[test]
fn messages_wait_until_they_are_taken() {
    let body =
        "hookrun hook send 'CI has failed' --attach log.txt && hookrun hook send -- --really";
    let sandbox = with_hook(Sandbox::new(), "guard", body).file("log.txt", "");
    sandbox
        .hookrun(&["run", "tool.pre"], br#"{"sessionId":"s/1"}"#)
        .allows();
    sandbox
        .hookrun(&["hook", "send", "by hand", "--session", "s/1"], b"")
        .exits(0);
    let take =
        |session: &str| sandbox.hookrun(&["hook", "send", "--take", "--session", session], b"");
    assert_eq!(take("other").exits(0).stdout, "");

    let taken = take("s/1").stdout;

    let messages: Vec<serde_json::Value> = taken
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let texts: Vec<&str> = messages
        .iter()
        .map(|one| one["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["CI has failed", "--really", "by hand"]);
    let file = sandbox.at("log.txt").canonicalize().unwrap();
    assert_eq!(messages[0]["attachments"], serde_json::json!([file]));
    assert_eq!(
        (&messages[0]["hook"], messages[2].get("hook")),
        (&"guard".into(), None)
    );
    assert_eq!(take("s/1").exits(0).stdout, "");
}

#[test]
fn a_message_says_its_sort_who_sees_it_and_what_is_for_the_host() {
    let sandbox = Sandbox::new();
    let details = r#"{"exit": [1, null]}"#;
    let all = [
        "hook",
        "send",
        "text",
        "--type",
        "ci",
        "--hidden",
        "--details",
        details,
    ];
    in_hook(&sandbox, &all).exits(0);
    in_hook(&sandbox, &["hook", "send", "plain"]).exits(0);
    let ran = in_hook(&sandbox, &["hook", "send", "text", "--details", "{exit}"]);
    ran.exits(2)
        .says("`--details` is not valid JSON")
        .says("pass JSON");
    let taken = in_hook(&sandbox, &["hook", "send", "--take"]).stdout;
    let messages: Vec<serde_json::Value> = taken
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let keys = |at: usize| {
        let message = messages[at].as_object().unwrap();
        ["customType", "display", "details"].map(|key| message.get(key).cloned())
    };
    let told = serde_json::json!({ "exit": [1, null] });
    assert_eq!(keys(0), [Some("ci".into()), Some(false.into()), Some(told)]);
    assert_eq!(keys(1), [None, Some(true.into()), None]);
    assert_eq!(messages.len(), 2);
}

#[test]
fn messages_that_nobody_reads_are_not_lost() {
    let sandbox = Sandbox::new();
    in_hook(&sandbox, &["hook", "send", "text"]).exits(0);
    let hookrun = env!("CARGO_BIN_EXE_hookrun");
    let broken = Command::new("/bin/sh")
        .args(["-c", "exec \"$0\" hook send --take > /dev/full", hookrun])
        .env("HOOKRUN_STATE_DIR", sandbox.at("state/s/hook"))
        .output()
        .unwrap();
    assert_eq!(broken.status.code(), Some(2), "{broken:?}");
    in_hook(&sandbox, &["hook", "send", "--take"])
        .exits(0)
        .prints("text");
}

#[test]
fn a_file_that_is_not_there_is_not_sent() {
    let sandbox = Sandbox::new();
    let ran = in_hook(&sandbox, &["hook", "send", "text", "--attach", "none.txt"]);
    ran.exits(2).says("cannot attach `none.txt`");
    let ran = in_hook(&sandbox, &["hook", "send", "text", "--attach", "."]);
    ran.exits(2)
        .says("cannot attach `.`: it is not a regular file");
    assert_eq!(in_hook(&sandbox, &["hook", "send", "--take"]).stdout, "");
}

#[test]
fn a_key_that_could_not_be_listed_on_a_line_is_rejected() {
    let sandbox = Sandbox::new();
    for key in ["", "a\nb", "a\r"] {
        for arguments in [
            &["get", key][..],
            &["set", key, "text"],
            &["append", key, "text"],
            &["remove", key],
        ] {
            let ran = in_hook(&sandbox, &[&["hook", "state"], arguments].concat());
            ran.exits(2).says("a key must be a single non-empty line");
        }
    }
    prints(&sandbox, &["hook", "state", "list"], "");
}

#[test]
fn a_message_that_nobody_would_get_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox
        .hookrun(&["hook", "send", "hi"], b"")
        .exits(2)
        .says("no session:")
        .says("--session ID");
    sandbox
        .hookrun(&["hook", "send", "hi", "--session", "s"], b"")
        .exits(0);
}

#[test]
fn no_name_of_a_session_or_a_hook_escapes_its_folder() {
    let root = Path::new("/r");
    let name = |text: &str| hook_folder(root, text).to_str().unwrap()["/r/".len()..].to_string();
    for (text, wanted) in [
        ("10-guard.sh", "10-guard.sh"),
        ("../../etc", "%2E.%2F..%2Fetc"),
        ("..", "%2E."),
        ("", "%"),
    ] {
        assert_eq!(name(text), wanted);
    }
    let long = |letters: usize| name(&"x".repeat(letters));
    assert!(long(1000).len() < 255 && long(1000) != long(1001));
    for own in [shared_folder(root), own_folder(root)] {
        assert_ne!(
            hook_folder(root, own.file_name().unwrap().to_str().unwrap()),
            own
        );
    }
    assert_eq!(folder(root, Some("")), folder(root, None));
}

#[test]
fn a_folder_that_others_can_look_into_is_not_used() {
    let sandbox = Sandbox::new();
    let (root, folder) = (sandbox.at("root"), sandbox.at("root/a/b"));
    make_private(&root, &folder).unwrap();
    assert_eq!(
        folder.metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    assert!(make_private(&root, &folder).is_err());
}

#[test]
fn links_in_place_of_what_is_kept_are_not_followed_and_too_much_is_rejected() {
    for ending in ["", ".new", ".lock"] {
        let sandbox = Sandbox::new()
            .file("victim", "{}")
            .file("state/s/hook/x", "");
        let link = sandbox.at(&format!("state/s/hook/.entries.json{ending}"));
        symlink(sandbox.at("victim"), link).unwrap();
        let ran = in_hook(&sandbox, &["hook", "state", "set", "a", "b"]);
        assert_eq!(
            ran.status,
            if ending == ".new" { 0 } else { 2 },
            "{ending}: {ran:?}"
        );
        assert_eq!(sandbox.read("victim"), "{}", "{ending}");
    }
    let sandbox = Sandbox::new();
    let entries = Store::new(sandbox.path(), ENTRIES);
    let set = |key: &str, text: String| {
        entries.change_table(PATIENCE, |kept| {
            kept.insert(key.to_string(), vec![text]);
        })
    };
    set("a", "text".to_string()).unwrap();
    assert!(set("b", "x".repeat(4 << 20)).is_err());
    let kept: EntryTexts = entries.read_table().unwrap();
    assert_eq!(kept.get("a"), Some(&vec!["text".to_string()]));
    assert_eq!(kept.get("b"), None);
}
