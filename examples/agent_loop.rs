//! A small agent loop with hooks: `cargo run --example agent_loop`.
//!
//! The model is a script. What matters is where the loop asks: at the session's start, before
//! and after the model, before and after each tool, and at the end on every way out.

use std::io::{self, Write};

use hookrun::{Complaint, Event, Hook, Reminders, Runner, Verdict, blocked_result};
use serde_json::{Value, json};

const SESSION: &str = "s-1";
const MODEL: &str = "scripted";

/// What the model wants next.
enum Turn {
    Calls(&'static str, Value),
    Says(&'static str),
}

/// Stands for a model: it asks for production and for a mail, is blocked, and does something else.
fn model(turn: u64) -> Result<Turn, &'static str> {
    match turn {
        0 => Ok(Turn::Calls(
            "read",
            json!({ "path": "/srv/prod/users.csv" }),
        )),
        1 => Ok(Turn::Calls("send", json!({ "to": "everybody" }))),
        2 => Ok(Turn::Calls("read", json!({ "path": "notes.txt" }))),
        3 => Ok(Turn::Says("The notes say hello.")),
        _ => Err("nobody is there"),
    }
}

/// A runner with the hooks of this program. Those of a person would come from `hooks_dir`.
fn runner() -> Result<Runner, Box<dyn std::error::Error>> {
    let runner = Runner::builder().build()?;
    runner.register(Hook::function("no-prod", "tool.pre", |event| {
        let paths = event
            .action()
            .map(|action| action.paths.as_slice())
            .unwrap_or_default();
        match paths.iter().find(|path| path.starts_with("/srv/prod")) {
            Some(path) => Verdict::block(format!("{path} is production")),
            None => Verdict::allow(),
        }
    }))?;
    runner.register(Hook::function("mail", "tool.pre", |event| {
        match event.context().string("toolName").as_deref() {
            Some("send") => Verdict::ask("send this mail?"),
            _ => Verdict::allow(),
        }
    }))?;
    runner.register(Hook::function("branch", "session.start", |_| {
        Verdict::allow().with_context("The branch is main.")
    }))?;
    Ok(runner)
}

struct Agent<'o> {
    runner: Runner,
    reminders: Reminders,
    messages: Vec<String>,
    out: &'o mut dyn Write,
}

impl Agent<'_> {
    /// Runs the hooks of an event; why it is blocked, if it is. Without hooks this costs nothing.
    ///
    /// Nobody can answer questions here, so `permit` makes a block of them.
    fn asks(&mut self, event: &Event) -> io::Result<Option<String>> {
        let blocked = self
            .runner
            .handle(event)
            .permit()
            .err()
            .map(|blocked| blocked.reason);
        let verdict = if blocked.is_some() {
            "blocked"
        } else {
            "allowed"
        };
        writeln!(self.out, "{:<13} {verdict}", event.spec().name)?;
        Ok(blocked)
    }

    /// One request: the hooks may say something to the model, which is then drained.
    fn request(&mut self, turn: u64) -> Result<Turn, Box<dyn std::error::Error>> {
        let count = self.messages.len();
        self.asks(
            &Event::of("model.pre", json!({ "model": MODEL, "messageCount": count, "sessionId": SESSION, "turnIndex": turn }))?,
        )?;
        for reminder in self.reminders.drain() {
            writeln!(
                self.out,
                "  to the model: {}",
                reminder.text.replace('\n', " ")
            )?;
            self.messages.push(reminder.text);
        }
        let answer = model(turn)?;
        let stop = if matches!(answer, Turn::Says(_)) {
            "end_turn"
        } else {
            "tool_use"
        };
        self.asks(&Event::of(
            "model.post",
            json!({ "model": MODEL, "stopReason": stop, "sessionId": SESSION, "turnIndex": turn }),
        )?)?;
        Ok(answer)
    }

    /// One call of a tool: what the model gets.
    fn tool(&mut self, turn: u64, name: &str, input: Value) -> Result<String, io::Error> {
        let mut context = json!({ "toolName": name, "toolInput": input, "sessionId": SESSION, "turnIndex": turn });
        let before = Event::of("tool.pre", context.clone());
        // A call that cannot be judged does not run.
        let refused = match before {
            Ok(event) => self.asks(&event)?,
            Err(problem) => Some(problem.to_string()),
        };
        if let Some(reason) = refused {
            return Ok(blocked_result(&reason));
        }
        let result = "hello".to_string();
        context["result"] = result.as_str().into();
        context["isError"] = false.into();
        let after = Event::of("tool.post", context).map_err(io::Error::other)?;
        self.asks(&after)?;
        Ok(result)
    }

    fn turns(&mut self, first: u64) -> Result<&'static str, Box<dyn std::error::Error>> {
        for turn in first.. {
            match self.request(turn)? {
                Turn::Says(text) => {
                    writeln!(self.out, "  the model says: {text}")?;
                    return Ok("completed");
                }
                Turn::Calls(name, input) => {
                    let result = self.tool(turn, name, input)?;
                    writeln!(self.out, "  the tool gives: {result}")?;
                    self.messages.push(result);
                }
            }
        }
        Ok("out of turns")
    }

    /// A session. However it ends, its end is told.
    fn session(&mut self, first: u64) -> Result<(), Box<dyn std::error::Error>> {
        let start = json!({ "model": MODEL, "sessionId": SESSION });
        self.asks(&Event::of("session.start", start)?)?;
        let reason = match self.turns(first) {
            Ok(reason) => reason,
            Err(problem) => {
                self.asks(&error(&problem.to_string())?)?;
                "error"
            }
        };
        let end = json!({ "reason": reason, "sessionId": SESSION });
        self.asks(&Event::of("session.end", end)?)?;
        writeln!(self.out, "  ended: {reason}")?;
        Ok(())
    }
}

fn error(message: &str) -> Result<Event, Complaint> {
    Event::of(
        "error",
        json!({ "code": "model", "message": message, "sessionId": SESSION }),
    )
}

/// Two sessions: one that completes, and one whose model fails.
pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    let reminders = Reminders::default();
    let runner = runner()?.reminders(reminders.clone());
    for first in [0, 4] {
        let messages = vec!["Read the notes.".to_string()];
        let (runner, reminders) = (runner.clone(), reminders.clone());
        Agent {
            runner,
            reminders,
            messages,
            out,
        }
        .session(first)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run(&mut io::stdout())
}
