//! Dialogs: what a host shows, what a hook asks for, and who waits for an answer.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use serde::{Deserialize, Serialize};

/// Shows dialogs to a person. One at a time: dialogs of hooks that run together wait their turn.
///
/// A dialog is over when [`Asker::is_over`] says so: then its answer counts no longer, and it is
/// to be taken off the screen.
pub trait Ui: Send + Sync {
    /// Lets the person choose one of `options`; `None` if they do not want to.
    fn select(&self, asker: &Asker<'_>, title: &str, options: &[String]) -> Option<String>;

    /// Whether the person says yes. Everything else is no.
    fn confirm(&self, asker: &Asker<'_>, title: &str, message: &str) -> bool;

    /// Asks for a line of text; `None` if the person does not want to write one. `placeholder`
    /// shows what is wanted, and is no answer.
    fn input(&self, asker: &Asker<'_>, title: &str, placeholder: &str) -> Option<String>;

    /// Lets the person edit `text`; `None` if they leave without keeping it.
    fn editor(&self, asker: &Asker<'_>, title: &str, text: &str) -> Option<String>;

    /// Tells the person something.
    fn notify(&self, asker: &Asker<'_>, message: &str, kind: MessageKind);

    /// Shows `text` under `key` in the status line, or takes `key` out of it.
    fn status(&self, asker: &Asker<'_>, key: &str, text: Option<&str>);
}

/// What sort of message a person is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    /// Good to know.
    Info,
    /// Better to know.
    Warning,
    /// Something has gone wrong.
    Error,
}

/// What a hook asks for, as it goes over the socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// [`Ui::select`].
    Select {
        /// What it is about.
        title: String,
        /// What there is to choose from.
        options: Vec<String>,
    },
    /// [`Ui::confirm`].
    Confirm {
        /// What it is about.
        title: String,
        /// The question; may be empty.
        message: String,
    },
    /// [`Ui::input`].
    Input {
        /// What it is about.
        title: String,
        /// What an answer might look like; may be empty.
        placeholder: String,
    },
    /// [`Ui::editor`].
    Editor {
        /// What it is about.
        title: String,
        /// The text to begin with.
        text: String,
    },
    /// [`Ui::notify`].
    Notify {
        /// The message.
        message: String,
        /// Its sort.
        kind: MessageKind,
    },
    /// [`Ui::status`].
    Status {
        /// The key.
        key: String,
        /// Its text; `None` takes the key away.
        text: Option<String>,
    },
    /// [`crate::engine::session::Session::send`].
    Send {
        /// What it says.
        text: String,
        /// Files to go with it.
        attachments: Vec<String>,
        /// When it was sent.
        time: String,
    },
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DialogAnswer {
    /// There is nobody who could be asked, or told.
    Nobody,
    /// The person did not want to answer, or not in time.
    Cancelled,
    /// What the person chose or wrote.
    Text(String),
    /// What the person said to a question.
    Yes(bool),
    /// It was told, shown or sent.
    Done,
    /// It was refused, and why.
    Refused(String),
}

/// Who asks, and how long an answer counts.
#[derive(Debug)]
pub struct Asker<'a> {
    hook: &'a str,
    until: Instant,
    withdrawn_by: Vec<BorrowedFd<'a>>,
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// There is something to read.
    Ready,
    /// Nothing happened for as long as was to be waited.
    Quiet,
    /// The dialog is over: time is up, or it was withdrawn.
    Over,
}

impl<'a> Asker<'a> {
    /// `hook`, who asks until `until`, or until one of these descriptors is readable.
    pub fn new(hook: &'a str, until: Instant, withdrawn_by: Vec<BorrowedFd<'a>>) -> Asker<'a> {
        Asker { hook, until, withdrawn_by }
    }

    /// The hook's name.
    pub fn hook(&self) -> &str {
        self.hook
    }

    /// When an answer no longer counts.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// Whether the time for an answer is up, the hook has ended, or hookrun was interrupted.
    pub fn is_over(&self) -> bool {
        self.wait(None, Duration::ZERO) == Waited::Over
    }

    /// Waits until `input` can be read, but no longer than `at_most`.
    pub fn wait(&self, input: Option<BorrowedFd<'_>>, at_most: Duration) -> Waited {
        let waits_until = Instant::now().checked_add(at_most);
        loop {
            let now = Instant::now();
            if self.until <= now {
                return Waited::Over;
            }
            let own = waits_until.map_or(Duration::MAX, |end| end.saturating_duration_since(now));
            let left = Timespec::try_from(own.min(self.until - now)).ok();
            let all = self.withdrawn_by.iter().copied().chain(input);
            let mut fds: Vec<PollFd<'_>> =
                all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
            // A signal has arrived: it may have been the one that withdraws.
            let Ok(_) = rustix::event::poll(&mut fds, left.as_ref()) else { continue };
            let (ends, input) = fds.split_at(self.withdrawn_by.len());
            if ends.iter().any(|fd| !fd.revents().is_empty()) {
                return Waited::Over;
            }
            if input.iter().any(|fd| !fd.revents().is_empty()) {
                return Waited::Ready;
            }
            if waits_until.is_some_and(|end| end <= Instant::now()) {
                return Waited::Quiet;
            }
        }
    }
}

/// Shows one request to the person. A message to the session is not theirs to take.
pub fn show(ui: &dyn Ui, asker: &Asker<'_>, request: &Request) -> DialogAnswer {
    let text = |text: Option<String>| text.map_or(DialogAnswer::Cancelled, DialogAnswer::Text);
    match request {
        Request::Select { title, options } => text(ui.select(asker, title, options)),
        Request::Confirm { title, message } => DialogAnswer::Yes(ui.confirm(asker, title, message)),
        Request::Input { title, placeholder } => text(ui.input(asker, title, placeholder)),
        Request::Editor { title, text: before } => text(ui.editor(asker, title, before)),
        Request::Notify { message, kind } => {
            ui.notify(asker, message, *kind);
            DialogAnswer::Done
        }
        Request::Status { key, text } => {
            ui.status(asker, key, text.as_deref());
            DialogAnswer::Done
        }
        Request::Send { .. } => DialogAnswer::Nobody,
    }
}

/// A text with the hook that it comes from.
pub fn named(asker: &Asker<'_>, text: &str) -> String {
    format!("{}: {text}", asker.hook())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_dialog_is_over_when_its_time_is_up_or_it_is_withdrawn() {
        let (reader, writer) = std::io::pipe().unwrap();
        let (input, typed) = std::io::pipe().unwrap();
        let far = Instant::now() + Duration::from_secs(3600);
        let asker = Asker::new("hook", far, vec![reader.as_fd()]);
        assert!(!asker.is_over());
        assert_eq!(asker.wait(Some(input.as_fd()), Duration::ZERO), Waited::Quiet);
        rustix::io::write(&typed, b"x").unwrap();
        assert_eq!(asker.wait(Some(input.as_fd()), Duration::MAX), Waited::Ready);
        drop(writer);
        assert_eq!(asker.wait(Some(input.as_fd()), Duration::MAX), Waited::Over);
        assert!(Asker::new("hook", Instant::now(), Vec::new()).is_over());
    }

    #[test]
    fn a_request_is_one_short_line() {
        let request = Request::Confirm { title: "a\nb".to_string(), message: String::new() };
        let line = serde_json::to_string(&request).unwrap();
        assert_eq!(line, r#"{"confirm":{"title":"a\nb","message":""}}"#);
        assert_eq!(serde_json::to_string(&DialogAnswer::Yes(true)).unwrap(), r#"{"yes":true}"#);
    }
}
