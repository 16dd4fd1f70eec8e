//! `hookrun field PATH`: one value of the JSON document on stdin, so that a shell hook needs no
//! JSON parser.

use std::io::Write;

use crate::engine::event::Context;

use crate::cli::args::{FieldArgs, ValueFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::input::{self, Deadline};
use crate::cli::streams;

/// More keys than these are not listed.
const MOST_KEYS: usize = 12;

/// Prints the value: 0 if there is one, 1 if not, 2 if the document cannot be read.
pub(crate) fn field(args: &FieldArgs, out: &mut dyn Write) -> Result {
    let cure = "pipe in a JSON object";
    let context = input::needed(Deadline::soon(), None, "nothing on stdin", cure)?;
    let found = match args.format {
        ValueFormat::Text => context.text(&args.path),
        ValueFormat::Json => json(&context, &args.path),
    };
    let by_default = args.default.as_ref().map(|text| match args.format {
        ValueFormat::Text => text.clone(),
        ValueFormat::Json => serde_json::Value::from(text.as_str()).to_string(),
    });
    match found.or(by_default) {
        Some(text) => {
            writeln!(out, "{text}")?;
            Ok(ExitStatus::Yes)
        }
        None => {
            streams::remark(&format!("{}\n", missing(&context, &args.path)));
            Ok(ExitStatus::No)
        }
    }
}

/// What is there instead of the value: the last part of the path that exists, and its keys.
fn missing(context: &Context, path: &str) -> String {
    if context.lookup(path).is_some() {
        return format!("the value at `{path}` is null");
    }
    let ends = path.rmatch_indices('.').map(|(at, _)| &path[..at]);
    let parent = ends
        .into_iter()
        .find(|parent| context.lookup(parent).is_some());
    let keys = match parent {
        Some(parent) => context.keys_at(parent),
        None => Some(context.keys().map(str::to_string).collect()),
    };
    let place = parent.map_or("the document".to_string(), |parent| format!("`{parent}`"));
    let has = match keys {
        None => "is no object or list".to_string(),
        Some(keys) if keys.is_empty() => "is empty".to_string(),
        Some(keys) => {
            let more = if keys.len() > MOST_KEYS { ", …" } else { "" };
            let shown = keys[..keys.len().min(MOST_KEYS)].join("`, `");
            format!("has `{shown}`{more}")
        }
    };
    format!("no value at `{path}`; {place} {has}")
}

/// The value as compact JSON, its numbers as they were written.
fn json(context: &Context, path: &str) -> Option<String> {
    let raw = context.lookup(path)?;
    // A string has no space to drop, and `null` is no text.
    let is_compact = raw.starts_with('"') || raw == "null";
    if is_compact {
        Some(raw.to_string())
    } else {
        context.text(path)
    }
}
