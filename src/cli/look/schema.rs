//! `hookrun schema EVENT`: JSON Schema for the context and for the result.

use std::io::Write;

use crate::config::{Config, ConfigScope, Environment};
use crate::lab::report::schema::schema_of;

use crate::cli::args::SchemaArgs;
use crate::cli::decide::request::find_event;
use crate::cli::decide::startup::choice;
use crate::cli::exit::{ExitStatus, Result};

pub(crate) fn schema(args: &SchemaArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&choice(&args.source, env, "native"), env, ConfigScope::Event(""));
    let spec = find_event(&config, &args.event)?;
    writeln!(out, "{:#}", schema_of(&spec))?;
    Ok(ExitStatus::Yes)
}
