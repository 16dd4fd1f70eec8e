//! `hookrun hook field|json|ui|send|state`: commands that hooks call.

use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use crate::config::problem::LineIndex;
use crate::config::tree::{Tree, yaml_documents};
use crate::config::{Environment, Inside};
use crate::engine::complaint::Complaint;
use crate::engine::exec::Abort;
use crate::engine::session::{self, ENTRIES, EntryTexts, Message, Outbox, Store};
use crate::engine::ui::{self, Asker, DialogAnswer, PATIENCE, Request, Ui};

use serde_json::Value;

use crate::cli::args::{
    Dialog, DocumentFormat, FieldArgs, HookCommand, SendArgs, StateAction, StateArgs,
};
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::input;
use crate::cli::streams;
use crate::cli::terminal::Terminal;

pub(crate) fn hook(command: &HookCommand, env: &Environment, out: &mut dyn Write) -> Result {
    let inside = Environment::inside();
    match command {
        HookCommand::Field(args) => field(args, out),
        HookCommand::Json(args) => print_as_json(args.format, out),
        HookCommand::Ui { dialog } => show_dialog(dialog.clone(), &inside, out),
        HookCommand::Send(args) => send(args, env, &inside, out),
        HookCommand::State(args) => state(args, &inside, out),
    }
}

/// Prints the value: 0 printed, 1 no such value, 2 invalid document.
fn field(args: &FieldArgs, out: &mut dyn Write) -> Result {
    let cure = "pipe in a JSON object";
    let context = input::needed(input::soon(), None, "nothing on stdin", cure)?;
    let Some(text) = context.text(&args.path).or(args.default.clone()) else {
        streams::remark(&format!("no value at `{}`\n", args.path));
        return Ok(ExitStatus::No);
    };
    writeln!(out, "{text}")?;
    Ok(ExitStatus::Yes)
}

/// Prints documents as JSON, keeping every value on its line.
fn print_as_json(format: DocumentFormat, out: &mut dyn Write) -> Result {
    let bytes = input::read_lines(input::soon(), None)?;
    let text = String::from_utf8(bytes).map_err(|_| Complaint::new("stdin is not UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let read = match format {
        DocumentFormat::Yaml => yaml_documents(text),
        DocumentFormat::Toml => Tree::parse_toml(text).map(|tree| vec![tree]),
    };
    let documents = read.map_err(|error| {
        Complaint::new(format!("line {} of stdin: {}", error.line, error.message))
    })?;
    let mut json = JsonLines {
        lines: LineIndex::of(text),
        line: 1,
        text: String::new(),
    };
    for document in &documents {
        json.add(document);
        json.text.push(' ');
    }
    writeln!(out, "{}", json.text)?;
    Ok(ExitStatus::Yes)
}

/// JSON output that keeps the line numbers of a document.
struct JsonLines<'t> {
    lines: LineIndex<'t>,
    line: usize,
    text: String,
}

impl JsonLines<'_> {
    fn add(&mut self, tree: &Tree) {
        self.go_to(tree.offset);
        if let Some(items) = tree.items() {
            self.text.push('[');
            for (number, item) in items.iter().enumerate() {
                self.text.push_str(if number == 0 { "" } else { "," });
                self.add(item);
            }
            self.text.push(']');
        } else if let Some(entries) = tree.entries() {
            self.text.push('{');
            for (number, entry) in entries.iter().enumerate() {
                self.text.push_str(if number == 0 { "" } else { "," });
                self.go_to(entry.at);
                self.text
                    .push_str(&format!("{}:", Value::from(entry.key.as_str())));
                self.add(&entry.tree);
            }
            self.text.push('}');
        } else {
            self.text.push_str(&tree.to_json().to_string());
        }
    }

    fn go_to(&mut self, offset: usize) {
        let line = self.lines.line(offset);
        let breaks = line.saturating_sub(self.line);
        self.text.push_str(&"\n".repeat(breaks));
        self.line += breaks;
    }
}

/// Prints the answer and exits with 0, or with 1 without one.
///
/// The hookrun that started the hook shows the dialog; started by hand, this one does.
fn show_dialog(dialog: Dialog, inside: &Inside, out: &mut dyn Write) -> Result {
    let request = match dialog {
        Dialog::Select { title, options } => Request::Select { title, options },
        Dialog::Confirm { title, message } => Request::Confirm { title, message },
        Dialog::Input { title, placeholder } => Request::Input { title, placeholder },
        Dialog::Editor { title, text } => Request::Editor { title, text },
        Dialog::Notify { message, kind } => Request::Notify { message, kind },
        Dialog::Status { key, text } => Request::Status { key, text },
    };
    let is_notice = matches!(request, Request::Notify { .. } | Request::Status { .. });
    match ask(request, inside)? {
        DialogAnswer::Text(text) => {
            writeln!(out, "{text}")?;
            Ok(ExitStatus::Yes)
        }
        DialogAnswer::Yes(true) | DialogAnswer::Done => Ok(ExitStatus::Yes),
        DialogAnswer::Nobody | DialogAnswer::Cancelled if is_notice => Ok(ExitStatus::Yes),
        DialogAnswer::Yes(false)
        | DialogAnswer::Nobody
        | DialogAnswer::Cancelled
        | DialogAnswer::Rejected(_) => Ok(ExitStatus::No),
    }
}

/// Forwards a request, or shows it at the terminal.
fn ask(request: Request, inside: &Inside) -> Result<DialogAnswer> {
    if let Some(address) = &inside.socket {
        return Ok(ui::ask(address, request));
    }
    let Some(terminal) = Terminal::open() else {
        return Ok(DialogAnswer::Nobody);
    };
    // No signal may end hookrun while the terminal's settings are changed.
    let abort = Abort::on_signals().map_err(failed("cannot handle signals"))?;
    let hook = inside.hook.as_deref().unwrap_or("hookrun");
    let asker = Asker::new(hook, Instant::now() + PATIENCE, vec![abort.as_fd()]);
    Ok(terminal.show(&asker, &request))
}

fn send(args: &SendArgs, env: &Environment, inside: &Inside, out: &mut dyn Write) -> Result {
    let named = args.session.as_deref();
    let folder = shared_folder(named, env, inside);
    if args.take {
        if !folder.path.exists() {
            return Ok(ExitStatus::Yes);
        }
        let taken = Outbox::in_folder(&folder.made()?).take(|message| {
            serde_json::to_writer(&mut *out, message)?;
            writeln!(out)?;
            out.flush()
        });
        taken.map_err(Complaint::of)?;
        return Ok(ExitStatus::Yes);
    }
    let message = message(args, inside.hook.clone())?;
    if named.is_none()
        && let Some(address) = &inside.socket
    {
        match ui::ask(address, Request::Send(message.clone())) {
            DialogAnswer::Done => return Ok(ExitStatus::Yes),
            DialogAnswer::Rejected(why) => {
                return Err(Complaint::new(format!(
                    "the host did not accept the message: {why}"
                )));
            }
            // The host takes no messages, so it stays pending.
            DialogAnswer::Nobody
            | DialogAnswer::Cancelled
            | DialogAnswer::Text(_)
            | DialogAnswer::Yes(_) => {}
        }
    }
    if named.is_none() && inside.state.is_none() && inside.session.is_none() {
        return Err(Complaint::with_cure(
            "no session: `hookrun hook send` was not called by a hook",
            "call it in a hook, or pass `--session ID`",
        ));
    }
    let sent = Outbox::in_folder(&folder.made()?).put(&message);
    sent.map_err(Complaint::of)?;
    Ok(ExitStatus::Yes)
}

fn message(args: &SendArgs, hook: Option<String>) -> Result<Message> {
    let details = match &args.details {
        Some(text) => Some(serde_json::from_str(text).map_err(|error| {
            let cause = format!("`--details` is not valid JSON: {error}");
            Complaint::with_cure(cause, "pass JSON: --details '{\"exit\": 1}'")
        })?),
        None => None,
    };
    let mut attachments = Vec::new();
    for file in &args.attach {
        attachments.push(attachment(file)?);
    }
    Ok(Message {
        text: args.text.clone().unwrap_or_default(),
        custom_type: args.custom_type.clone(),
        display: !args.hidden,
        details,
        attachments,
        hook,
        request: None,
        time: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
    })
}

fn attachment(file: &Path) -> Result<String> {
    let shown = file.display();
    let path = file
        .canonicalize()
        .map_err(failed(format!("cannot attach `{shown}`")))?;
    match path.to_str() {
        _ if !path.is_file() => Err(Complaint::new(format!(
            "cannot attach `{shown}`: it is not a regular file"
        ))),
        Some(text) => Ok(text.to_string()),
        None => Err(Complaint::new(format!(
            "cannot attach `{shown}`: its path is not UTF-8"
        ))),
    }
}

/// Reads or changes a hook's or session's state: 0 done, 1 no such key, 2 error.
fn state(args: &StateArgs, inside: &Inside, out: &mut dyn Write) -> Result {
    let Some(own) = &inside.state else {
        return Err(Complaint::with_cure(
            "no state folder: HOOKRUN_STATE_DIR is not set",
            "run `hookrun hook state` in a hook",
        ));
    };
    let folder = if args.shared {
        beside(own).made()?
    } else {
        own.clone()
    };
    let store = Store::new(&folder, ENTRIES);
    let mut shown = Some(Vec::new());
    let done = match &args.action {
        StateAction::Get(at) => store
            .read_table()
            .map(|mut kept| shown = kept.remove(&at.key)),
        StateAction::List => store
            .read_table()
            .map(|kept: EntryTexts| shown = Some(kept.into_keys().collect())),
        StateAction::Set(new) => store.change_table(session::PATIENCE, |kept: &mut EntryTexts| {
            kept.insert(new.at.key.clone(), vec![new.value.clone()]);
        }),
        StateAction::Append(new) => {
            store.change_table(session::PATIENCE, |kept: &mut EntryTexts| {
                let texts = kept.entry(new.at.key.clone()).or_default();
                texts.push(new.value.clone());
            })
        }
        StateAction::Remove(at) => {
            store.change_table(session::PATIENCE, |kept: &mut EntryTexts| {
                shown = kept.remove(&at.key).map(|_| Vec::new());
            })
        }
    };
    done.map_err(Complaint::of)?;
    let Some(shown) = shown else {
        return Ok(ExitStatus::No);
    };
    for text in shown {
        writeln!(out, "{text}")?;
    }
    Ok(ExitStatus::Yes)
}

/// The shared folder of the named session, else of the hook's. It may not exist yet.
fn shared_folder(named: Option<&str>, env: &Environment, inside: &Inside) -> SharedFolder {
    if named.is_none()
        && let Some(own) = &inside.state
    {
        return beside(own);
    }
    let root = env.state_root();
    let id = named.or(inside.session.as_deref());
    let path = session::shared_folder(&session::folder(&root, id));
    SharedFolder { root, path }
}

/// The shared folder of the session that contains a hook's folder.
fn beside(own: &Path) -> SharedFolder {
    let session = own.parent().unwrap_or(own);
    SharedFolder {
        root: session.to_path_buf(),
        path: session::shared_folder(session),
    }
}

/// A shared folder; usable only if `root` has the right owner.
struct SharedFolder {
    root: PathBuf,
    path: PathBuf,
}

impl SharedFolder {
    fn made(self) -> Result<PathBuf> {
        let made = session::make_private(&self.root, &self.path);
        made.map_err(failed(format!("cannot use `{}`", self.path.display())))?;
        Ok(self.path)
    }
}
