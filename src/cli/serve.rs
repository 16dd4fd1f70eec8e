//! `hookrun serve`: an engine behind several protocols, with the same decisions as `hookrun run`.

mod decider;
pub(in crate::cli) mod helper;
mod http;
mod lines;
mod mcp;
mod question;
mod socket;
mod stdio;

use std::sync::Arc;

use rustix::process::{Resource, Rlimit};

use crate::cli::args::ServeArgs;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::run::hold_ground;
use crate::config::Environment;
use crate::decide::Door;
use decider::DecisionServer;
use http::HttpDoor;
use lines::LineDoor;
use mcp::McpProtocol;
use stdio::StdioProtocol;

/// Descriptors to request: one for a connection, two for an event, a few for a hook.
const DESCRIPTORS: u64 = 16 * 1024;

/// Serves until the client disconnects or a signal arrives.
pub(crate) fn serve(args: &ServeArgs, env: &Environment) -> Result {
    let (abort, subreaper) = hold_ground()?;
    raise_descriptors();
    let door = if args.mcp { Door::Mcp } else { Door::Stdio };
    let decider = DecisionServer::new(door, args.clone(), env, abort, subreaper)?;
    let http = HttpDoor::open(&decider, args, env)?;
    if args.stdio || args.mcp {
        let door = LineDoor::open(Arc::new(decider)).map_err(failed("cannot use stdout"))?;
        if args.mcp {
            door.serve(&McpProtocol);
        } else {
            door.serve(&StdioProtocol::default());
        }
    } else if let Some(http) = &http {
        http.wait();
    }
    if let Some(http) = http {
        http.close();
    }
    Ok(ExitStatus::Yes)
}

fn raise_descriptors() {
    let Rlimit { current, maximum } = rustix::process::getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(DESCRIPTORS, |most| most.min(DESCRIPTORS));
    if current.is_some_and(|current| current < wanted) {
        let raised = Rlimit {
            current: Some(wanted),
            maximum,
        };
        let _ = rustix::process::setrlimit(Resource::Nofile, raised);
    }
}

#[cfg(test)]
mod tests {
    //! More events in parallel than a server allows, over line protocols.

    use std::io::{self, BufRead, BufReader};
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::decider::DecisionServer;
    use super::lines::{LineDoor, UNAVAILABLE};
    use super::question::{ClientPlace, ClientQuestion};
    use crate::cli::args::ServeArgs;
    use crate::config::Environment;
    use crate::decide::Door;
    use crate::engine::event::Context;
    use crate::engine::exec::Abort;

    /// A server without hooks that allows so many events in parallel, and its folder.
    pub(super) fn idle_server(most_at_once: usize) -> (Arc<DecisionServer>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let env = Environment::apart(
            Vec::new(),
            folder.path().into(),
            folder.path().join("state"),
        );
        let env = Environment {
            system: folder.path().join("etc"),
            ..env
        };
        let args = ServeArgs::default();
        let abort = Abort::new().unwrap();
        let mut server = DecisionServer::new(Door::Http, args, &env, abort, None).unwrap();
        server.most_at_once = most_at_once;
        (Arc::new(server), folder)
    }

    #[test]
    fn one_event_too_many_is_rejected_and_the_next_is_decided_when_there_is_room() {
        let (server, _folder) = idle_server(1);
        let (reader, writer) = io::pipe().unwrap();
        let mut lines = BufReader::new(reader).lines();
        let door = LineDoor::of(server, writer.into());
        let id = serde_json::value::to_raw_value(&7).unwrap();
        let mut decide = || -> Value {
            let question = ClientQuestion {
                host: None,
                event: Some("tool.pre".to_string()),
                context: Context::parse(r#"{"toolName":"note"}"#).unwrap(),
                place: ClientPlace::OfServer,
                budget: None,
            };
            door.decide(question, Some(&id), |answer| json!(answer.reply.status));
            serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
        };
        let all = door.decider.slot();
        let rejected = decide();
        assert_eq!(
            (&rejected["id"], &rejected["error"]["code"]),
            (&json!(7), &json!(UNAVAILABLE))
        );
        assert!(
            rejected["error"]["message"]
                .as_str()
                .unwrap()
                .contains("too many events at the same time (1)"),
            "{rejected}"
        );
        drop(all);
        assert_eq!(decide()["result"], 0);
        assert_eq!(decide()["result"], 0);
    }
}
