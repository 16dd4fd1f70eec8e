//! `hookrun act`: what the actions of a settings file do, as hooks.
//!
//! Actions that only observe never block: they exit with 0, and report errors on stderr.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::event::Context;
use crate::hosts::settings::summary;
use rustix::fs::OFlags;
use serde_json::json;

use crate::cli::args::{ActArgs, HiddenCommand};
use crate::cli::decide::input::{self, Deadline};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;

const LOG: &str = "actions.log";

pub(crate) fn act(args: &ActArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let cure = "it is a hook: hookrun starts it";
    let context = input::needed(Deadline::soon(), None, "no event on stdin", cure)?;
    match &args.action {
        HiddenCommand::Log { level } => {
            let line = log_line(level, &args.profile, &context);
            streams::remark(&line);
            tell(log(env, &line), "the log of actions");
        }
        HiddenCommand::Save { folder, file } => {
            let file = folder.join(file);
            let line = payload(&args.profile, &context)?;
            tell(save(folder, &file, &line), &file.to_string_lossy());
        }
        HiddenCommand::Payload => out.write_all(payload(&args.profile, &context)?.as_bytes())?,
        HiddenCommand::Ask => {
            let tool = context.string("toolName").unwrap_or_default();
            let question = format!("profile `{}` asks: may `{tool}` run?", args.profile);
            writeln!(out, "{}", json!({ "ask": question }))?;
        }
    }
    Ok(ExitStatus::Yes)
}

fn tell(done: io::Result<()>, what: &str) {
    if let Err(error) = done {
        streams::remark(&format!("{what} cannot be written: {error}\n"));
    }
}

/// One line: when, how much it matters, for whom, what.
fn log_line(level: &str, profile: &str, context: &Context) -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now());
    let summary = summary(&context.string("event").unwrap_or_default(), context);
    let line = format!("{now} {level} [{profile}] {summary}");
    format!("{}\n", line.replace(|c: char| c.is_control(), " "))
}

/// The event as it is saved and sent: one line of JSON.
fn payload(profile: &str, context: &Context) -> Result<String> {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let event = context.string("event").unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let head = json!({ "v": 1, "ts": millis, "profile": profile, "event": event }).to_string();
    let body = String::from_utf8(context.to_json())
        .map_err(|_| Complaint::new("the event on stdin is not UTF-8"))?;
    // The context keeps the bytes of its numbers and strings as they came.
    Ok(format!(
        "{},\"context\":{body}}}\n",
        head.trim_end_matches('}')
    ))
}

/// Adds a line to the log, in a folder that only we may write.
fn log(env: &Environment, line: &str) -> io::Result<()> {
    let folder = env.state_root();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)?;
    let meta = folder.metadata()?;
    let is_own = meta.uid() == rustix::process::getuid().as_raw() && meta.mode() & 0o022 == 0;
    if !is_own {
        return Err(io::Error::other(format!(
            "others may write {}",
            folder.display()
        )));
    }
    append(&folder.join(LOG), 0o600, line)
}

/// Adds a line to a file below a folder; no link leads out of it.
fn save(folder: &Path, file: &Path, line: &str) -> io::Result<()> {
    let whole = folder.canonicalize()?;
    let there = file
        .ancestors()
        .skip(1)
        .find(|above| above.symlink_metadata().is_ok());
    if !there.unwrap_or(folder).canonicalize()?.starts_with(&whole) {
        return Err(io::Error::other(format!(
            "a link leads out of {}",
            folder.display()
        )));
    }
    if let Some(above) = file.parent() {
        DirBuilder::new().recursive(true).create(above)?;
    }
    append(file, 0o666, line)
}

/// Adds a line to a file, in one piece. It follows no link, and waits for no pipe.
fn append(file: &Path, mode: u32, line: &str) -> io::Result<()> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    let mut file = options
        .append(true)
        .create(true)
        .mode(mode)
        .custom_flags(flags)
        .open(file)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    file.write_all(line.as_bytes())
}
