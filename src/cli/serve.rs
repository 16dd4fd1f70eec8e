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
        let door = LineDoor::open(Arc::new(decider)).map_err(failed("stdout cannot be used"))?;
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
mod tests;
