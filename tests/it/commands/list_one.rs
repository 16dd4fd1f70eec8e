//! `hookrun list NAME`.

use crate::sandbox::Sandbox;

#[test]
fn a_hook_is_shown_with_all_its_settings() {
    let sandbox = Sandbox::new()
        .hook("a.sh", "")
        .file(
            "hookrun.toml",
            "[[hook]]\nname = \"policy\"\nevent = [\"tool.pre\", \"turn.start\"]\n\
             command = \"./check.sh --strict 'a b'\"\ntimeout = \"1m 30s\"\npriority = 7\n\
             parallel = true\nbackground = \"detach\"\n",
        )
        .script("check.sh", "#!/bin/sh\n");
    let root = sandbox.path().canonicalize().unwrap().display().to_string();

    let ran = sandbox.hookrun(&["list", "policy"], b"");

    let of_event = |event: &str, rules: &str| {
        format!(
            "\
policy
  event       {event}
  layer       project
  file        hookrun.toml
  line        1
  runs        ./check.sh --strict 'a b'
  program     {root}/check.sh
  wants       every event
  priority    7
  parallel    yes
  rules       event {event}, {rules}
  background  detach
  lives       event
  warm        off
  limits      none
  rewrite     no
  dialect     native
  enabled     yes

"
        )
    };
    let gate = "blocks yes, onFailure block, onFailureFrom event, timeoutMs 90000, schedule sequential, stop first";
    let start = "blocks no, onFailure allow, onFailureFrom event, timeoutMs 90000, schedule parallel, stop first";
    ran.exits(0);
    assert_eq!(
        ran.stdout,
        of_event("tool.pre", gate) + &of_event("turn.start", start),
        "every event that it is bound to"
    );
}

#[test]
fn what_keeps_a_hook_from_starting_is_told_with_its_cure() {
    let sandbox = Sandbox::new()
        .file("hooks.d/tool.pre/plain.sh", "#!/bin/sh\n")
        .file(
            "hookrun.toml",
            "[[hook]]\nname = \"gone\"\nevent = \"tool.pre\"\ncommand = \"./gone.sh\"\n\n\
             [[hook]]\nname = \"line\"\nevent = \"tool.pre\"\nshell = true\ncommand = \"a | b\"\n",
        );
    let show = |name: &str| sandbox.hookrun(&["list", name], b"");
    show("plain.sh")
        .exits(0)
        .prints("is not executable; run `chmod +x ");
    show("gone")
        .exits(0)
        .prints("no such file")
        .prints("create it, or correct the path");
    show("line")
        .exits(0)
        .prints("  runs        sh -c 'a | b'\n  program     /bin/sh\n");

    let json = sandbox.json(&["list", "plain.sh", "--format", "json"]);
    assert!(
        json["hooks"][0]["problem"]
            .as_str()
            .unwrap()
            .contains("chmod +x"),
        "{json}"
    );
    assert!(json["hooks"][0]["program"].is_null(), "{json}");
}

#[test]
fn an_unknown_hook_is_rejected_with_the_nearest_one() {
    let sandbox = Sandbox::new().hook("10-guard.sh", "");
    let said = |name: &str| {
        let ran = sandbox.hookrun(&["list", name], b"");
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        ran.stderr
    };
    assert_eq!(
        said("10-gaurd.sh"),
        "error: no hook is named `10-gaurd.sh`\n  help: did you mean `10-guard.sh`?\n"
    );
    assert_eq!(
        said("zzz"),
        "error: no hook is named `zzz`\n  help: `hookrun list` shows all hooks\n"
    );
    let sandbox = sandbox.hook("20-env.sh", "# hookrun: path=.env|.env.*");
    for command in [
        &["list", "20-env.sh"][..],
        &["test", "tool.pre", "--hook", "20-env.sh"],
    ] {
        let ran = sandbox.hookrun(command, b"{}");
        ran.exits(2)
            .says("20-env.sh:2:12: `.env|.env.*` is not a valid pattern");
        ran.says("help: write `{.env,.env.*}`");
        ran.says("error: the hook `20-env.sh` has an error, so it is not loaded");
        assert!(!ran.stderr.contains("no hook"), "{ran:?}");
    }
}

#[test]
fn hooks_of_one_name_in_two_layers_are_both_shown() {
    let sandbox = Sandbox::new()
        .script("home/.config/hookrun/hooks.d/tool.pre/a.sh", "#!/bin/sh\n")
        .hook("a.sh", "");
    sandbox
        .hookrun(&["list", "a.sh"], b"")
        .prints("layer       user")
        .prints("layer       project");
}

#[test]
fn a_name_without_its_ending_or_number_is_recognised() {
    let sandbox = Sandbox::new().hook("10-guard.sh", "").hook("b.py", "");
    for (name, meant) in [
        ("10-guard", "10-guard.sh"),
        ("guard", "10-guard.sh"),
        ("b", "b.py"),
    ] {
        let help = format!("did you mean `{meant}`?");
        sandbox.hookrun(&["list", name], b"").exits(2).says(&help);
        sandbox
            .hookrun(&["test", "tool.pre", "--hook", name], b"{}")
            .exits(2)
            .says(&help);
    }
    sandbox
        .hookrun(&["list", "x"], b"")
        .exits(2)
        .says("`hookrun list` shows");
}
