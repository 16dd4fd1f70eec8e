//! A hook that runs hookrun with the hooks that it is one of.

use crate::sandbox::Sandbox;

#[test]
fn a_hook_set_that_is_its_own_hook_is_blocked() {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let body = format!("echo x >> runs; exec '{own}' run tool.pre --hooks hooks.d");
    let sandbox = Sandbox::new().hook("again", &body);
    sandbox
        .run("tool.pre")
        .blocks_saying("hookrun calls itself: more than 8 runs are nested");
    assert_eq!(sandbox.read("runs").lines().count(), 9);
}

#[test]
fn hook_sets_may_be_hooks_of_each_other() {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let sandbox = Sandbox::new()
        .hook(
            "outer",
            &format!("exec '{own}' run tool.pre --hooks inner/hooks.d"),
        )
        .script(
            "inner/hooks.d/tool.pre/guard",
            "#!/bin/sh\necho \"$HOOKRUN_DEPTH\" >&2; exit 1\n",
        );
    sandbox.run("tool.pre").blocks("2");
}
