//! The layers: user, project and explicit, alone and together.

use crate::sandbox::Sandbox;

const ALLOW: &str = "#!/bin/sh\n";

/// A hook in `home/.config`, one in the project, one in each of two more folders.
fn everywhere() -> Sandbox {
    Sandbox::new()
        .script("home/.config/hookrun/hooks.d/tool.pre/user", ALLOW)
        .hook("project", "")
        .script("one/hooks.d/tool.pre/one", ALLOW)
        .script("two/tool.pre/two", ALLOW)
}

#[test]
fn the_user_layer_runs_before_the_project_layer() {
    assert_eq!(everywhere().order("tool.pre", &[]), ["user", "project"]);
}

#[test]
fn xdg_config_home_goes_before_home() {
    let sandbox = everywhere().script("xdg/hookrun/hooks.d/tool.pre/xdg", ALLOW);
    let xdg = sandbox.at("xdg").display().to_string();

    let sandbox = sandbox.variable("XDG_CONFIG_HOME", &xdg);

    assert_eq!(sandbox.order("tool.pre", &[]), ["xdg", "project"]);
}

#[test]
fn an_empty_or_relative_xdg_config_home_counts_as_not_set() {
    for value in ["", "xdg"] {
        let sandbox = everywhere()
            .script("xdg/hookrun/hooks.d/tool.pre/xdg", ALLOW)
            .variable("XDG_CONFIG_HOME", value);
        assert_eq!(
            sandbox.order("tool.pre", &[]),
            ["user", "project"],
            "{value:?}"
        );
    }
}

#[test]
fn without_home_there_is_no_user_layer_and_everything_else_works() {
    let sandbox = everywhere();

    let ran = sandbox.hookrun_as(
        |command| {
            command.env_remove("HOME").env_remove("PATH");
        },
        &["list"],
        b"",
    );

    ran.exits(0).prints("project");
    assert!(!ran.stdout.contains("user layer"), "{ran:?}");
}

#[test]
fn the_user_layer_can_have_a_hookrun_toml() {
    let sandbox = Sandbox::new().file(
        "home/.config/hookrun/hookrun.toml",
        "[[hook]]\nname = \"mine\"\nevent = \"tool.pre\"\ncommand = \"true\"\n",
    );
    assert_eq!(sandbox.order("tool.pre", &[]), ["mine"]);
}

#[test]
fn every_folder_of_the_project_upwards_counts() {
    let sandbox = Sandbox::new()
        .hook("outer", "")
        .script("inner/hooks.d/tool.pre/inner", ALLOW)
        .file("inner/deep/er/file", "");

    let at = |folder: &str| {
        let path = sandbox.at(folder);
        let list = &["list", "--event", "tool.pre"];
        sandbox
            .hookrun_as(
                |command| {
                    command.current_dir(path);
                },
                list,
                b"",
            )
            .stdout
    };

    assert!(at("inner/deep/er").contains("inner/hooks.d/tool.pre/inner"));
    assert!(at("inner/deep/er").contains("outer"), "none hides another");
    assert!(at("home").contains("outer"));
}

#[test]
fn a_project_can_keep_its_hooks_in_a_hidden_folder() {
    let sandbox = Sandbox::new()
        .script(".hookrun/hooks.d/tool.pre/hidden", ALLOW)
        .file(
            ".hookrun/hookrun.toml",
            "[[hook]]\nname = \"toml\"\nevent = \"tool.pre\"\ncommand = \"./check\"\n",
        )
        .script(
            ".hookrun/check",
            "#!/bin/sh\necho 'from .hookrun' >&2; exit 1\n",
        );

    assert_eq!(sandbox.order("tool.pre", &[]), ["hidden", "toml"]);
    sandbox.run("tool.pre").blocks("from .hookrun");
}

#[test]
fn an_explicit_folder_is_used_alone() {
    assert_eq!(everywhere().order("tool.pre", &["--hooks", "one"]), ["one"]);
}

#[test]
fn an_explicit_folder_can_be_named_in_every_form() {
    let sandbox = everywhere()
        .script("three/hooks.d/tool.pre/three", ALLOW)
        .file(
            "four/hookrun.toml",
            "[[hook]]\nname = \"four\"\nevent = \"tool.pre\"\ncommand = \"true\"\n",
        );
    let absolute = sandbox.at("three").display().to_string();
    for (named, found) in [
        ("one", "one"),                // A folder with hooks.d in it.
        ("one/hooks.d", "one"),        // A hooks.d itself.
        ("two", "two"),                // A folder of drop-ins of another name.
        ("./one/../two/", "two"),      // However it is written.
        (absolute.as_str(), "three"),  // An absolute path.
        ("four", "four"),              // A folder with hookrun.toml in it.
        ("four/hookrun.toml", "four"), // A hookrun.toml itself.
    ] {
        assert_eq!(
            sandbox.order("tool.pre", &["--hooks", named]),
            [found],
            "{named}"
        );
    }
}

#[test]
fn explicit_folders_run_in_the_order_in_which_they_are_named() {
    let sandbox = everywhere();
    assert_eq!(
        sandbox.order("tool.pre", &["--hooks", "two", "--hooks", "one"]),
        ["two", "one"]
    );
    assert_eq!(
        sandbox.order("tool.pre", &["--hooks", "one", "--hooks", "two"]),
        ["one", "two"]
    );
}

#[test]
fn discover_adds_the_other_layers_before_the_explicit_ones() {
    let order = everywhere().order("tool.pre", &["--hooks", "one", "--discover"]);
    assert_eq!(order, ["user", "project", "one"]);
}

#[test]
fn discover_alone_is_a_mistake_on_the_command_line() {
    let ran = everywhere().hookrun(&["list", "--discover"], b"");
    ran.exits(2).says("--hooks");
    assert_eq!(ran.stdout, "");
}

#[test]
fn an_explicit_folder_that_is_not_there_closes_gates() {
    let sandbox = Sandbox::new();

    sandbox
        .hookrun(&["run", "tool.pre", "--hooks", "nowhere"], b"{}")
        .blocks_saying("nowhere: no such file or folder");
    sandbox
        .hookrun(&["list", "--hooks", "nowhere"], b"")
        .exits(1)
        .says("error: nowhere: no such file or folder\n  help: name a folder with hooks.d/");
}

#[test]
fn the_order_is_priority_then_layer_then_file_then_declaration() {
    let toml = |names: [(&str, i64); 3]| {
        let hook = |(name, priority): (&str, i64)| {
            format!(
                "[[hook]]\nname = \"{name}\"\nevent = \"tool.pre\"\ncommand = \"true\"\npriority = {priority}\n"
            )
        };
        names.map(hook).join("\n")
    };
    let sandbox = Sandbox::new()
        .script("home/.config/hookrun/hooks.d/tool.pre/u-file", ALLOW)
        .file(
            "home/.config/hookrun/hookrun.toml",
            &toml([("u-z", 100), ("u-a", 100), ("u-late", 900)]),
        )
        .hook("B-file", "")
        .hook("a-file", "")
        .hook("10-file", "")
        .hook("9-file", "")
        .hook("z-first", "# hookrun: priority=-1")
        .file(
            "hookrun.toml",
            &toml([("p-z", 100), ("p-first", -1), ("p-a", 100)]),
        );

    assert_eq!(
        sandbox.order("tool.pre", &[]),
        [
            "z-first", "p-first", // Priority before layer; drop-ins before hookrun.toml.
            "u-file", "u-z", "u-a", // Then the user layer, as declared.
            "10-file", "9-file", "B-file", "a-file", // Byte order, not numbers.
            "p-z", "p-a", "u-late",
        ]
    );
}

#[test]
fn the_order_in_list_is_the_order_in_run() {
    let mark = |name: &str| format!("#!/bin/sh\necho {name} >> {{}}/marks\n");
    let sandbox = Sandbox::new();
    let root = sandbox.path().display().to_string();
    let script = |name: &str| mark(name).replace("{}", &root);
    let sandbox = sandbox
        .script(
            "home/.config/hookrun/hooks.d/tool.pre/user",
            &script("user"),
        )
        .script("hooks.d/tool.pre/20", &script("20"))
        .script("hooks.d/PreToolUse/15", &script("15"))
        .script("hooks.d/tool.pre/10", &script("10"));

    sandbox.run("tool.pre").allows();

    assert_eq!(sandbox.read("marks"), "user\n10\n15\n20\n");
    assert_eq!(sandbox.order("tool.pre", &[]), ["user", "10", "15", "20"]);
}

#[test]
fn a_lower_layer_cannot_disable_a_hook_of_a_higher_one() {
    let sandbox = Sandbox::new()
        .script(
            "home/.config/hookrun/hooks.d/tool.pre/guard",
            "#!/bin/sh\necho 'the user says no' >&2; exit 1\n",
        )
        .hook("guard", "# hookrun: enabled=false");

    sandbox.run("tool.pre").blocks("the user says no");
}

#[test]
fn a_link_to_nothing_in_place_of_hookrun_toml_closes_gates() {
    let sandbox = Sandbox::new().hook("allow", "");
    std::os::unix::fs::symlink("nowhere", sandbox.at("hookrun.toml")).unwrap();

    sandbox
        .run("tool.pre")
        .blocks_saying("hookrun.toml: cannot be read: No such file");
}

#[test]
fn a_folder_in_place_of_hookrun_toml_closes_gates() {
    let sandbox = Sandbox::new().file("hookrun.toml/file", "");

    sandbox
        .run("tool.pre")
        .blocks_saying("hookrun.toml: cannot be read: Is a directory");
}

#[test]
fn a_file_in_place_of_hooks_d_closes_gates() {
    let sandbox = Sandbox::new().file("hooks.d", "");

    sandbox
        .run("tool.pre")
        .blocks_saying("hooks.d: cannot be read: Not a directory");
}

#[test]
fn nothing_configured_allows_and_says_so() {
    let sandbox = Sandbox::new().without_trust();
    sandbox
        .run("tool.pre")
        .allows()
        .says("no hook runs for tool.pre; `hookrun doctor` shows where hookrun looks for hooks");
}

#[test]
fn a_folder_that_is_named_twice_or_found_anyway_counts_once() {
    let sandbox = Sandbox::new().hook("count.sh", "echo x >> count");
    for arguments in [
        &["run", "tool.pre", "--hooks", ".", "--hooks", "hooks.d"][..],
        &["run", "tool.pre", "--hooks", "hooks.d", "--discover"],
    ] {
        sandbox.hookrun(arguments, b"{}").allows();
    }
    assert_eq!(sandbox.read("count"), "x\nx\n");
}

#[test]
fn two_folders_may_both_have_a_hook_of_one_name() {
    let sandbox = Sandbox::new()
        .script("a/tool.pre/guard.sh", "#!/bin/sh\necho a >> ran\n")
        .script("b/tool.pre/guard.sh", "#!/bin/sh\necho b >> ran\n");
    sandbox
        .hookrun(&["run", "tool.pre", "--hooks", "a", "--hooks", "b"], b"{}")
        .allows();
    assert_eq!(sandbox.read("ran"), "a\nb\n");
}
