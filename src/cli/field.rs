//! `hookrun field PATH`: one value of the JSON document on stdin, so that a shell hook needs no
//! JSON parser.

use std::io::Write;
use std::time::{Duration, Instant};

use hookrun::event::Context;

use crate::args::{FieldArgs, FieldFormat};
use crate::exit::{Exit, Failure, Result};
use crate::input::{self, Deadline, Input};

/// Prints the value: 0 if there is one, 1 if not, 2 if the document cannot be read.
pub(crate) fn field(args: &FieldArgs, out: &mut dyn Write) -> Result {
    let deadline = Deadline::after(Instant::now(), Duration::from_secs(5));
    let Input::Event { context, .. } = input::read(deadline, None)? else {
        return Err(Failure::with_help("nothing on stdin", "pipe in a JSON object"));
    };
    let found = match args.format {
        FieldFormat::Text => context.text(&args.path),
        FieldFormat::Json => json(&context, &args.path),
    };
    let by_default = args.default.as_ref().map(|text| match args.format {
        FieldFormat::Text => text.clone(),
        FieldFormat::Json => serde_json::Value::from(text.as_str()).to_string(),
    });
    match found.or(by_default) {
        Some(text) => {
            writeln!(out, "{text}")?;
            Ok(Exit::Yes)
        }
        None => Ok(Exit::No),
    }
}

/// The value as compact JSON, its numbers as they were written.
fn json(context: &Context, path: &str) -> Option<String> {
    let raw = context.lookup(path)?;
    // A string has no space to drop, and `null` is no text.
    let is_compact = raw.starts_with('"') || raw == "null";
    if is_compact { Some(raw.to_string()) } else { context.text(path) }
}
