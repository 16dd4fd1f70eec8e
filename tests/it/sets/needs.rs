//! What a set needs is what its hooks may touch at most.

use super::{ABOUT, Sets};

fn with(needs: &str, head: &str) -> Sets {
    let hook =
        format!("#!/bin/sh\n{head}\necho x > \"$HOOKRUN_PROJECT_DIR/build/out\" || exit 1\n");
    let sets = Sets::new().file("r", "hookset.toml", &format!("{ABOUT}{needs}"));
    let sets = sets.file("r", "hooks.d/tool.pre/10-write.sh", &hook);
    sets.commit("r");
    sets.add("base", "r", "main").exits(0);
    sets.file("build", "in", "")
}

fn sandbox_of(sets: &Sets) -> String {
    let list = sets
        .sandbox
        .json(&["list", "10-write.sh", "--format", "json"]);
    list["hooks"][0]["sandbox"].to_string()
}

#[test]
fn a_hook_gets_what_both_it_and_its_set_allow() {
    for (needs, head, wanted) in [
        ("", "", "null"),
        ("needs = {}", "", r#""write":[]"#),
        ("needs.write = ['build']", "", r#""write":["build"]"#),
        (
            "needs.write = ['build']",
            "# hookrun: sandbox",
            r#""write":[]"#,
        ),
        (
            "needs.write = ['build']",
            "# hookrun: sandbox.write=.",
            r#""write":["build"]"#,
        ),
        (
            "needs.write = []",
            "# hookrun: sandbox.write=build",
            r#""write":[]"#,
        ),
        ("needs.net = ['a.example']", "", r#""network":true"#),
        (
            "needs.net = []",
            "# hookrun: sandbox.network",
            r#""network":false"#,
        ),
        (
            "needs.net = ['a']",
            "# hookrun: sandbox",
            r#""network":false"#,
        ),
        (
            "needs.required = true",
            "# hookrun: sandbox.required=false",
            r#""required":true"#,
        ),
    ] {
        let found = sandbox_of(&with(needs, head));
        assert!(found.contains(wanted), "{needs} {head}: {found}");
    }
}

#[test]
fn what_a_set_does_not_need_its_hook_cannot_write() {
    let sets = with("needs.write = ['build']\nneeds.required = false", "");
    let lacks = sets
        .sandbox
        .report("tool.pre", "{}")
        .to_string()
        .contains("not in force");
    if lacks {
        return;
    }
    sets.sandbox.run("tool.pre").allows();
    sets.sandbox.has_file("build/out");
    let sets = with("needs = {}", "");
    sets.sandbox.run("tool.pre").blocks_saying("10-write.sh");
    sets.sandbox.has_no_file("build/out");
}

#[test]
fn a_wish_that_is_not_granted_and_a_program_that_is_missing_are_warnings() {
    let sets = with(
        "needs = { exec = ['sh', 'no-such-program'] }",
        "# hookrun: sandbox.write=build",
    );
    let problems = sets.sandbox.problems(&[]).join("\n");
    assert!(
        problems.contains("`10-write.sh` may not write build: its set does not need it"),
        "{problems}"
    );
    assert!(
        problems.contains("hookset.toml: its hooks start `no-such-program`"),
        "{problems}"
    );
    assert!(!problems.contains("`sh`"), "{problems}");
}

#[test]
fn mistakes_of_a_hookset_are_found_when_it_is_added() {
    let wrongs = [
        ("hookrun = '>=99'", "needs hookrun >=99"),
        ("hookrun = '1'", "takes the oldest version"),
        ("needs.disk = 1", "unknown key `disk`"),
        ("description = ''", "must be text on one line"),
        ("needs = 3", "`needs` takes a table"),
    ];
    for (line, cause) in wrongs {
        let sets = Sets::new().file("r", "hookset.toml", &format!("{ABOUT}{line}\n"));
        sets.commit("r");
        sets.add("base", "r", "main")
            .exits(2)
            .says(cause)
            .says("hookset.toml");
    }
    for (text, cause) in [
        ("", "has no `name`"),
        ("name = '../x'", "cannot be the name of a set"),
    ] {
        let sets = Sets::new().file("r", "hookset.toml", text);
        sets.commit("r");
        sets.add("base", "r", "main").exits(2).says(cause);
    }
}
