//! `hookrun ui`: dialogs, messages and the status line, from inside a hook.
//!
//! The hookrun that started the hook shows them; this one only passes them on. Started by hand at a
//! terminal it shows them itself.

use std::io::Write;
use std::os::fd::AsFd;
use std::time::Instant;

use crate::cli::terminal::status::StatusLine;
use crate::config::{Environment, Inside};
use crate::engine::complaint::Complaint;
use crate::engine::exec::Abort;
use crate::engine::session::SessionEntries;
use crate::engine::ui::{self, Asker, DialogAnswer, PATIENCE, Request};

use crate::cli::args::Dialog;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::inside::state::shared_folder;
use crate::cli::terminal::Terminal;

/// The width of a line without a terminal.
const USUAL_COLUMNS: usize = 80;

/// Exits with 0 and the answer on stdout, or with 1 if there is none.
pub(crate) fn ui(dialog: &Dialog, env: &Environment, out: &mut dyn Write) -> Result {
    let inside = &Environment::inside();
    let request = match dialog.clone() {
        Dialog::Select { title, options } => Request::Select { title, options },
        Dialog::Confirm { title, message } => Request::Confirm { title, message },
        Dialog::Input { title, placeholder } => Request::Input { title, placeholder },
        Dialog::Editor { title, text } => Request::Editor { title, text },
        Dialog::Notify { message, kind } => Request::Notify { message, kind },
        Dialog::Status {
            key: None,
            session,
            width,
            ..
        } => {
            return print_status(session.as_deref(), width, env, inside, out);
        }
        Dialog::Status {
            key: Some(key),
            text,
            session,
            ..
        } => {
            return Ok(set_status(
                &key,
                text.as_deref(),
                session.as_deref(),
                env,
                inside,
            ));
        }
    };
    let is_told = matches!(request, Request::Notify { .. });
    match ask(request, env, inside)? {
        DialogAnswer::Text(text) => {
            writeln!(out, "{text}")?;
            Ok(ExitStatus::Yes)
        }
        DialogAnswer::Yes(true) | DialogAnswer::Done => Ok(ExitStatus::Yes),
        DialogAnswer::Nobody | DialogAnswer::Cancelled if is_told => Ok(ExitStatus::Yes),
        DialogAnswer::Yes(false)
        | DialogAnswer::Nobody
        | DialogAnswer::Cancelled
        | DialogAnswer::Refused(_) => Ok(ExitStatus::No),
    }
}

/// Passes a request on, or shows it to the person who started us.
fn ask(request: Request, env: &Environment, inside: &Inside) -> Result<DialogAnswer> {
    if let Some(address) = &inside.socket {
        return Ok(ui::ask(address, request));
    }
    let Some(terminal) = Terminal::open(env) else {
        return Ok(DialogAnswer::Nobody);
    };
    // A signal must not end us while the terminal shows no keys.
    let abort = Abort::on_signals();
    let abort = abort.map_err(failed("cannot handle signals"))?;
    let hook = inside.hook.as_deref().unwrap_or("hookrun ui");
    let asker = Asker::new(hook, Instant::now() + PATIENCE, vec![abort.as_fd()]);
    Ok(ui::show(&terminal, &asker, &request))
}

/// Keeps a text of the status line, and shows it if the host has a status line. A hook does not fail
/// because the text cannot be kept.
fn set_status(
    key: &str,
    text: Option<&str>,
    session: Option<&str>,
    env: &Environment,
    inside: &Inside,
) -> ExitStatus {
    let kept = shared_folder(session, env, inside)
        .made()
        .and_then(|folder| {
            let kept = SessionEntries::of_status(&folder);
            let done = match text {
                Some(text) => kept.set(key, text),
                None => kept.remove(key).map(|_| ()),
            };
            done.map_err(Complaint::of)
        });
    if let Err(failure) = kept {
        tracing::warn!(problem = failure.cause, "the status line is not kept");
    }
    if let Some(address) = inside.socket.as_ref().filter(|_| session.is_none()) {
        let (key, text) = (key.to_string(), text.map(str::to_string));
        ui::ask(address, Request::Status { key, text });
    }
    ExitStatus::Yes
}

/// Prints the status line of a session; nothing if it is empty.
fn print_status(
    session: Option<&str>,
    width: Option<usize>,
    env: &Environment,
    inside: &Inside,
    out: &mut dyn Write,
) -> Result {
    let kept = SessionEntries::of_status(&shared_folder(session, env, inside).path).all();
    let kept = kept.map_err(Complaint::of)?;
    let mut status = StatusLine::default();
    for (key, texts) in &kept {
        status.set(key, texts.last().map(String::as_str));
    }
    let columns = width.or_else(|| Terminal::open(env).map(|terminal| terminal.size().0));
    let line = status.line(columns.unwrap_or(USUAL_COLUMNS));
    if !line.is_empty() {
        writeln!(out, "{line}")?;
    }
    Ok(ExitStatus::Yes)
}
