//! Executable files in `hooks.d/<event>/`.

use crate::sandbox::{Sandbox, TOOL};

#[test]
fn what_is_hidden_left_over_or_to_be_read_is_passed_over() {
    let sandbox = Sandbox::new().hook("guard.sh", "");
    let sandbox = [
        ".hidden",
        "guard.sh~",
        "guard.sh.bak",
        ".guard.sh.swp",
        "x.swp",
        "guard.sh.orig",
        "README",
        "README.txt",
        "notes.md",
    ]
    .into_iter()
    .fold(sandbox, |sandbox, name| {
        sandbox.file(&format!("hooks.d/tool.pre/{name}"), "junk")
    })
    .file("hooks.d/README.md", "junk")
    .file("hooks.d/.gitkeep", "")
    .file("hooks.d/tests/tool.pre/case.toml", "junk")
    .file("hooks.d/lib/common.sh", "junk");

    assert_eq!(sandbox.order("tool.pre", &[]), ["guard.sh"]);
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    sandbox.run("tool.pre").allows();
}

#[test]
fn a_file_directly_in_hooks_d_is_an_error_with_a_cure() {
    let sandbox = Sandbox::new().script("hooks.d/guard.sh", "#!/bin/sh\n");

    assert_eq!(
        sandbox.problems(&[]),
        [
            "error hooks.d/guard.sh: is directly in hooks.d, so it does not run \
          [move it into the folder of its event, for example hooks.d/tool.pre/]"
        ]
    );
    sandbox.run("tool.pre").blocks_saying("hooks.d/guard.sh");
}

#[test]
fn a_folder_may_have_a_hosts_name_for_the_event() {
    let sandbox = Sandbox::new()
        .hook_for(
            "PreToolUse",
            "20-claude.sh",
            "echo 'no from claude' >&2; exit 2",
        )
        .hook_for("tool.pre", "10-native.sh", "");

    assert_eq!(
        sandbox.order("tool.pre", &[]),
        ["10-native.sh", "20-claude.sh"]
    );
    assert_eq!(
        sandbox.order("PreToolUse", &[]),
        ["10-native.sh", "20-claude.sh"]
    );
    sandbox.run("tool.pre").blocks("no from claude");
    sandbox
        .hookrun(&["run", "before_tool_call"], TOOL.as_bytes())
        .blocks("no from claude");
}

#[test]
fn an_unknown_folder_is_an_error_that_names_the_nearest_event() {
    let sandbox = Sandbox::new()
        .hook_for("tool.per", "guard.sh", "")
        .hook_for("zzz", "a.sh", "");

    assert_eq!(
        sandbox.problems(&[]),
        [
            "error hooks.d/tool.per: unknown event `tool.per` [did you mean `tool.pre`?]",
            "error hooks.d/zzz: unknown event `zzz` [`hookrun events` lists all events; declare your \
             own with [event.\"zzz\"] in hookrun.toml]",
        ]
    );
    sandbox
        .run("tool.pre")
        .blocks_saying("unknown event `tool.per`");
}

#[test]
fn a_folder_named_by_an_event_of_ones_own_works() {
    let sandbox = Sandbox::new()
        .file(
            "hookrun.toml",
            "[event.\"deploy.pre\"]\nsummary = \"a deployment is near\"\n",
        )
        .hook_for("deploy.pre", "freeze.sh", "echo 'it is Friday' >&2; exit 1");

    sandbox.run("deploy.pre").blocks("it is Friday");
}

#[test]
fn a_folder_among_the_hooks_is_an_error() {
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/lib/common.sh", "");

    assert_eq!(
        sandbox.problems(&[]),
        [
            "error hooks.d/tool.pre/lib: is a folder among the hooks of `tool.pre` \
          [hooks are files; shared code belongs in hooks.d/lib/]"
        ]
    );
    sandbox
        .run("tool.pre")
        .blocks_saying("is a folder among the hooks");
}

#[test]
fn a_file_without_its_run_bit_is_a_start_error_with_its_cure() {
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/guard.sh", "#!/bin/sh\n");

    sandbox
        .run("tool.pre")
        .blocks_saying("hook `guard.sh` never ran")
        .blocks_saying("guard.sh` is not executable; run `chmod +x ");
    assert!(sandbox.problems(&[])[0].contains("`guard.sh` cannot start"));
}

#[test]
fn the_cure_for_a_path_with_spaces_can_be_pasted_into_a_shell() {
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/my guard.sh", "#!/bin/sh\n");
    let said = sandbox.problems(&[]).concat();
    let cure = said
        .split('`')
        .find(|part| part.starts_with("chmod"))
        .unwrap()
        .to_string();

    let status = std::process::Command::new("/bin/sh")
        .args(["-c", &cure])
        .status()
        .unwrap();

    assert!(status.success(), "{cure}");
    sandbox.run("tool.pre").allows();
}

#[test]
fn a_link_to_nothing_is_a_start_error() {
    let sandbox = Sandbox::new().hook("a.sh", "");
    std::os::unix::fs::symlink("nowhere", sandbox.at("hooks.d/tool.pre/b.sh")).unwrap();

    sandbox
        .run("tool.pre")
        .blocks_saying("b.sh` is a link to a file that does not exist");
}

#[test]
fn a_hook_may_be_a_link_to_a_file_elsewhere() {
    let sandbox = Sandbox::new()
        .script("shared.sh", "#!/bin/sh\necho shared >&2; exit 1\n")
        .hook("a.sh", "");
    std::os::unix::fs::symlink("../../shared.sh", sandbox.at("hooks.d/tool.pre/b.sh")).unwrap();

    sandbox.run("tool.pre").blocks("shared");
}

#[test]
fn the_same_name_in_two_folders_of_one_event_is_an_error() {
    let sandbox = Sandbox::new()
        .hook_for("tool.pre", "guard.sh", "")
        .hook_for("PreToolUse", "guard.sh", "");

    let problems = sandbox.problems(&[]);

    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].contains("two hooks of `tool.pre` are named `guard.sh`"),
        "{problems:?}"
    );
}

#[test]
fn the_same_name_in_two_layers_is_no_error() {
    let sandbox = Sandbox::new()
        .script(
            "home/.config/hookrun/hooks.d/tool.pre/guard.sh",
            "#!/bin/sh\n",
        )
        .hook("guard.sh", "");

    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    assert_eq!(sandbox.order("tool.pre", &[]), ["guard.sh", "guard.sh"]);
}

#[test]
fn a_name_that_is_not_utf8_is_no_reason_to_pass_a_hook_over() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new().hook("a.sh", "echo 'still asked' >&2; exit 1");
    let odd = std::ffi::OsStr::from_bytes(b"b\xff.sh");
    let folder = sandbox.at("hooks.d/tool.pre");
    std::fs::rename(folder.join("a.sh"), folder.join(odd)).unwrap();

    sandbox.run("tool.pre").blocks("still asked");
}
