//! `hookrun test EVENT`: decide one event and show everything.

mod expectations;
mod report;
mod screen;

use crate::sandbox::Sandbox;

#[test]
fn an_event_may_be_in_a_file_and_name_nothing() {
    let sandbox = Sandbox::new()
        .hook("guard", "cat >&2; exit 1")
        .file(
            "event.json",
            r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#,
        )
        .file("cut.json", r#"{"toolName":"#);
    for arguments in [
        &["event.json"][..],
        &["tool.pre", "event.json"],
        &["tool.pre", "./event.json"],
    ] {
        let ran = sandbox.hookrun(&[&["test"], arguments].concat(), b"");
        ran.exits(1).prints("command  ls").prints("event    ");
        assert_eq!(
            ran.stderr.contains("the native event `tool.pre`"),
            arguments.len() == 1,
            "{ran:?}"
        );
    }
    sandbox
        .hookrun(&["test", "cut.json"], b"")
        .exits(2)
        .says("its JSON object is not closed");
    sandbox
        .hookrun(&["test", "none.json"], b"")
        .exits(2)
        .says("cannot read `none.json`");
}
