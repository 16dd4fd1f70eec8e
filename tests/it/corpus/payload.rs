//! What must hold for every payload of a host.

use hookrun::internals::config::{Config, ConfigScope};
use hookrun::internals::event::Context;

use super::event;
use hookrun::decide::request::EventRequest;

/// Reads the host's JSON as `hookrun run --host` does. Its gates can be blocked, and no command and
/// no path of its event is missed. The first line of a case is the host.
pub(crate) fn check(input: &[u8], config: &Config) {
    let Some(at) = input.iter().position(|byte| *byte == b'\n') else {
        return;
    };
    let host = String::from_utf8_lossy(&input[..at]);
    let Ok(context) = Context::from_bytes(input[at + 1..].to_vec()) else {
        return;
    };
    let Ok(request) = EventRequest::in_context(&context, Some(&host), "run") else {
        return;
    };
    let block = request.block("no");
    match request.event(config, context) {
        Ok(hosted) => {
            let spec = hosted.event.spec();
            if spec.blocks {
                let reply = hosted.binding.map_or(block, |binding| binding.block("no"));
                assert!(reply.status != 0 || !reply.stdout.is_empty(), "{reply:?}");
            }
            event::check(&hosted.event.context().to_json());
        }
        Err(complaint) => assert!(!complaint.to_string().trim().is_empty()),
    }
}

/// A configuration without hooks.
pub(crate) fn config() -> Config {
    let env = hookrun::Environment::default();
    Config::load(&Default::default(), &env, ConfigScope::All)
}
