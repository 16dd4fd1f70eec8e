//! `hookrun serve`: one engine that stays, behind several doors. Every door gives the decision that
//! `hookrun run` gives.

mod client;
mod decider;
mod loaded;
mod question;
mod rpc;
mod stdio;

use std::sync::Arc;

use crate::config::Environment;

use crate::cli::args::ServeArgs;
use crate::cli::decide::startup::hold_ground;
use crate::cli::exit::{ExitStatus, Result, failed};
use decider::{Decider, ServeSource};
use stdio::StdioDoor;

/// Serves until the client is gone or a signal ends it.
pub(crate) fn serve(args: &ServeArgs, env: &Environment) -> Result {
    let (abort, subreaper) = hold_ground()?;
    let source = ServeSource {
        source: args.source.clone(),
        trust: args.trust.clone(),
        jobs: args.jobs,
        record: args.record.clone(),
    };
    let decider = Arc::new(Decider::new(source, env, abort, subreaper)?);
    if args.stdio {
        StdioDoor::open(Arc::clone(&decider)).map_err(failed("stdout cannot be used"))?.serve();
    }
    Ok(ExitStatus::Yes)
}
