//! `hookrun serve`: one engine that stays, behind several doors. Every door gives the decision that
//! `hookrun run` gives.

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

/// How many descriptors a server may have open, if the system lets it: each connection has one, each
/// event two, and each hook a few. Many systems allow 1,024.
const DESCRIPTORS: u64 = 16 * 1024;

/// Serves until the client is gone or a signal ends it.
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
