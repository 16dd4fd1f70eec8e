//! Puts the questions of an outcome to a person.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use crate::config::Environment;
use crate::engine::event::Event;
use crate::engine::exec::{Abort, Budget};
use crate::engine::outcome::{Outcome, Settled};
use crate::engine::ui::{Asker, DialogAnswer, Outer, PATIENCE, Request, Ui, named};

use crate::cli::terminal::Terminal;

#[derive(Clone)]
pub(crate) enum Person {
    Here(Arc<Terminal>),
    /// At the client of a server.
    #[cfg_attr(
        not(feature = "serve"),
        expect(dead_code, reason = "only a server has clients")
    )]
    Client(Arc<dyn Ui>),
    /// Behind the program that started us: a host with dialogs, or the hookrun whose hook we are.
    Around(Arc<Outer>),
}

impl Person {
    pub(crate) fn find(env: &Environment) -> Option<Person> {
        if let Some(terminal) = Terminal::open(env) {
            return Some(Person::Here(Arc::new(terminal)));
        }
        let inside = Environment::inside();
        let address = inside.socket.filter(|_| inside.has_ui)?;
        Outer::at(&address).map(|outer| Person::Around(Arc::new(outer)))
    }

    /// For hooks that ask.
    pub(crate) fn ui(&self) -> Arc<dyn Ui> {
        match self {
            Person::Here(terminal) => Arc::clone(terminal) as Arc<dyn Ui>,
            Person::Client(ui) => Arc::clone(ui),
            Person::Around(outer) => Arc::clone(outer) as Arc<dyn Ui>,
        }
    }

    /// Asks for a yes; `None` if there was no answer.
    fn ask(&self, asker: &Asker<'_>, question: &str) -> Option<bool> {
        match self {
            Person::Here(terminal) => terminal.ask(asker, question),
            Person::Client(ui) => Some(ui.confirm(asker, &named(asker, question), "")),
            Person::Around(outer) => {
                let (title, message) = (named(asker, question), String::new());
                match outer.pass(asker, Request::Confirm { title, message }) {
                    DialogAnswer::Yes(yes) => Some(yes),
                    DialogAnswer::Nobody | DialogAnswer::Cancelled | DialogAnswer::Text(_) => None,
                    DialogAnswer::Done | DialogAnswer::Refused(_) => None,
                }
            }
        }
    }
}

/// Who is asked about an event, and until when.
pub(crate) struct Inquiry<'q> {
    pub(crate) event: &'q Event,
    /// What the program that shows it calls the decision.
    pub(crate) request: Option<&'q str>,
    pub(crate) person: Option<&'q Person>,
    pub(crate) budget: Option<Budget>,
    pub(crate) abort: &'q Abort,
}

/// Asks all questions of an outcome, and returns the outcome with the answer. The person has
/// [`PATIENCE`], or until the budget ends: a host must not wait for ever for somebody who has left.
pub(crate) fn settle(outcome: Outcome, about: &Inquiry<'_>) -> Outcome {
    let Inquiry {
        event,
        request,
        person,
        budget,
        abort,
    } = *about;
    let Settled::Asked { questions } = &outcome.settled else {
        return outcome;
    };
    let Some(person) = person else {
        return outcome.answered(false, "cannot ask: no terminal");
    };
    let session = event.context().string("sessionId").unwrap_or_default();
    let patience = Instant::now() + PATIENCE;
    let until = budget.map_or(patience, |budget| budget.until.min(patience));
    for question in questions.clone() {
        let asker = Asker::new(&question.hook, until, vec![abort.as_fd()]).about(&session, request);
        match person.ask(&asker, &question.question) {
            Some(true) => {}
            Some(false) => return outcome.answered(false, "answered no"),
            None => return outcome.answered(false, "no answer"),
        }
    }
    outcome.answered(true, "")
}
