//! A tool is about to run, and the host does not say which.

use hookrun::hosts::dialects;
use hookrun::internals::event::catalog;

use crate::sandbox::Sandbox;

#[test]
fn an_event_that_names_no_tool_is_malformed_at_every_gate_of_every_system() {
    let sandbox = Sandbox::new().hook("a", "touch ran");
    let mut seen = 0;
    for (dialect, row) in dialects().flat_map(|d| d.events.iter().map(move |row| (d, row))) {
        let spec = catalog::find(row.event).unwrap();
        let is_of_tool = spec.required.iter().any(|key| key == "toolName");
        if !row.blocks || !is_of_tool || row.gather.is_some() {
            continue;
        }
        for name in [r#""x":"tools""#, r#""tool_name":null"#, r#""toolName":"""#] {
            let line = ["run", row.name, "--host", dialect.name];
            let ran = sandbox.hookrun(&line, format!("{{{name}}}").as_bytes());
            assert!(
                ran.stderr
                    .contains(", so hooks cannot tell which tool is called"),
                "{} {}: {ran:?}",
                dialect.name,
                row.name
            );
            assert!(
                ran.status == 2 || ran.stdout.contains("which tool is called"),
                "{} {}: {ran:?}",
                dialect.name,
                row.name
            );
        }
        seen += 1;
    }
    assert!(seen >= 10, "{seen}");
    sandbox.has_no_file("ran");
}
