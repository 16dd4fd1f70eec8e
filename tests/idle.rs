//! What an event costs to which no hook is bound: no allocation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hookrun::internals::chain::Surroundings;
use hookrun::internals::event::catalog::Catalog;
use hookrun::internals::event::{Context, Event};
use hookrun::internals::exec::Abort;
use hookrun::internals::hook::Hook;
use hookrun::internals::registry::Registry;
use hookrun::internals::runner::Runner;

fn surroundings() -> Surroundings {
    Surroundings {
        cwd: "/".into(),
        project: "/".into(),
        state: "/nonexistent".into(),
        run_id: "idle".to_string(),
        ..Surroundings::default()
    }
}

fn event(name: &str) -> Event {
    let spec = Catalog::default().find(name).unwrap();
    let context = Context::parse(r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#).unwrap();
    Event::new(spec, "native", context).unwrap()
}

#[test]
fn an_event_without_hooks_allocates_nothing() {
    let registry = Registry::new([Hook::function("end", "session.end", |_| ())]).unwrap();
    let abort = Abort::new().unwrap();
    let runner = Runner::new(registry.clone(), surroundings()).abort(abort.clone());
    for name in ["tool.pre", "tool.post", "message.sent"] {
        let event = event(name);
        let counted = allocation_counter::measure(|| {
            let run = runner.handle(&event);
            assert!(run.outcome.is_allowed() && run.hooks.is_empty());
        });
        assert_eq!((counted.count_total, counted.bytes_total), (0, 0), "{name}");
    }

    // It is the missing hook that makes it free, and an abort refuses all the same.
    registry
        .register(Hook::function("guard", "tool.pre", |_| ()))
        .unwrap();
    let bound = event("tool.pre");
    let counted = allocation_counter::measure(|| drop(runner.handle(&bound)));
    assert!(counted.count_total > 0);
    registry.remove("guard");
    abort.raise();
    assert!(runner.handle(&bound).outcome.block().is_some());
}
