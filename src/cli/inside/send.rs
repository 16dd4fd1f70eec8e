//! `hookrun send`: messages into a session, and `--take` for the host that collects them.

use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::session::Message;
use crate::engine::session::Outbox;
use crate::engine::ui::{self, DialogAnswer, Request};

use crate::cli::args::SendArgs;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::inside::state::shared_folder;

/// Sends one message, or prints all that wait.
pub(crate) fn send(args: &SendArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let inside = Environment::inside();
    let named = args.session.as_deref();
    let message = message(args, inside.hook.clone())?;
    if let Some(address) = inside
        .socket
        .as_ref()
        .filter(|_| !args.take && named.is_none())
    {
        match ui::ask(address, Request::Send(message.clone())) {
            DialogAnswer::Done => return Ok(ExitStatus::Yes),
            DialogAnswer::Refused(why) => {
                return Err(Complaint::new(format!(
                    "the host did not take the message: {why}"
                )));
            }
            // The host takes no messages: this one waits.
            DialogAnswer::Nobody
            | DialogAnswer::Cancelled
            | DialogAnswer::Text(_)
            | DialogAnswer::Yes(_) => {}
        }
    }
    if !args.take && named.is_none() && inside.state.is_none() && inside.session.is_none() {
        return Err(Complaint::with_cure(
            "there is no session outside of a hook, so no agent would get the message",
            "name one: `--session ID`",
        ));
    }
    let folder = shared_folder(named, env, &inside);
    if args.take && !folder.path.exists() {
        return Ok(ExitStatus::Yes);
    }
    let outbox = Outbox::in_folder(&folder.made()?);
    let done = if args.take {
        outbox.take(|message| {
            serde_json::to_writer(&mut *out, message)?;
            writeln!(out)?;
            out.flush()
        })
    } else {
        outbox.put(&message)
    };
    done.map_err(Complaint::of)?;
    Ok(ExitStatus::Yes)
}

fn message(args: &SendArgs, hook: Option<String>) -> Result<Message> {
    let details = args
        .details
        .as_deref()
        .map(serde_json::from_str)
        .transpose();
    let attachments = args.attach.iter().map(|file| attachment(file));
    Ok(Message {
        text: args.text.clone().unwrap_or_default(),
        custom_type: args.custom_type.clone(),
        display: !args.hidden,
        details: details.map_err(|error| {
            let cause = format!("--details does not parse: {error}");
            Complaint::with_cure(cause, "give it JSON: --details '{\"exit\": 1}'")
        })?,
        attachments: attachments.collect::<Result<_>>()?,
        hook,
        request: None,
        time: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
    })
}

/// The absolute path of an attached file.
fn attachment(file: &Path) -> Result<String> {
    let shown = file.display();
    let path = file
        .canonicalize()
        .map_err(failed(format!("cannot attach `{shown}`")))?;
    if !path.is_file() {
        return Err(Complaint::new(format!(
            "cannot attach `{shown}`: it is not a file"
        )));
    }
    let path = path.into_os_string().into_string();
    path.map_err(|_| Complaint::new(format!("cannot attach `{shown}`: its path is not UTF-8")))
}
