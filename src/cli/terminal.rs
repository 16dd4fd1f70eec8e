//! The user at the terminal: the only file that asks questions.
//!
//! Prompts use the controlling terminal, even if stdin and stdout are files. Answers are lines,
//! edited by the terminal itself. Hooks' text cannot move the cursor or hide parts of itself.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::harmless::plain;
use crate::engine::ui::{Asker, DialogAnswer, MessageKind, PATIENCE, Request, Ui, WaitEnd};
use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios};

const LONGEST_LINE_BYTES: usize = 8192;

const LONGEST_TEXT: usize = 1000;

#[derive(Debug)]
pub(crate) struct Terminal {
    file: File,
}

/// Sets the terminal up for an answer, until it is dropped.
struct OpenPrompt<'t> {
    file: &'t File,
    before: Termios,
}

impl Terminal {
    /// Returns the dialogs of the terminal, if [`Terminal::open`] opens it.
    pub(crate) fn ui() -> Option<Arc<dyn Ui>> {
        Some(Arc::new(Terminal::open()?))
    }

    /// Opens the terminal if hookrun is in the foreground, and no host captures stderr.
    pub(crate) fn open() -> Option<Terminal> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/tty")
            .ok()?;
        let terminal = Terminal { file };
        terminal.is_ours().then_some(terminal)
    }

    /// Whether hookrun is in the foreground; reading from the background would stop it.
    fn is_ours(&self) -> bool {
        let ours = nix::unistd::getpgrp().as_raw();
        rustix::termios::tcgetpgrp(&self.file)
            .is_ok_and(|group| group.as_raw_nonzero().get() == ours)
    }

    /// Asks a question of hookrun; no answer in time means no.
    pub(crate) fn agrees(&self, question: &str) -> bool {
        let asker = Asker::new("", Instant::now() + PATIENCE, Vec::new());
        self.yes_or_no(&asker, question).unwrap_or(false)
    }

    /// Asks for a yes or no; `None` without an answer in time.
    fn yes_or_no(&self, asker: &Asker<'_>, question: &str) -> Option<bool> {
        let line = self.read_line(asker, &format!("{question} [y/N] "))?;
        Some(matches!(line.trim(), "y" | "Y" | "yes" | "Yes"))
    }

    /// Shows an escaped text, and reads a line as the answer to `question`; `None` without one.
    pub(crate) fn answer(&self, text: &str, question: &str, until: Instant) -> Option<String> {
        let asker = Asker::new("hookrun", until, Vec::new());
        let line = self.read_line(&asker, &format!("{text}{question}"))?;
        Some(line.trim().to_string())
    }

    /// Shows a prompt and reads a line. `None` at the deadline, or if the user presses Control-D.
    fn read_line(&self, asker: &Asker<'_>, prompt: &str) -> Option<String> {
        if !self.is_ours() {
            return None;
        }
        let _prompt = OpenPrompt::enter(&self.file)?;
        self.write(prompt);
        let mut line = vec![0; LONGEST_LINE_BYTES];
        let length = match asker.wait(Some(self.file.as_fd()), Duration::MAX) {
            WaitEnd::Ready => rustix::io::read(&self.file, &mut line[..]).unwrap_or(0),
            WaitEnd::Over | WaitEnd::Quiet => 0,
        };
        line.truncate(length);
        if line.last() != Some(&b'\n') {
            self.write("\n");
        }
        if line.is_empty() {
            return None;
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        Some(line.trim_end_matches(['\r', '\n']).to_string())
    }

    fn head(&self, asker: &Asker<'_>, title: &str) {
        self.write(&format!(
            "hook {} asks: {}\n",
            plain(asker.hook),
            lines(title)
        ));
    }

    fn write(&self, text: &str) {
        let _ = (&self.file).write_all(text.as_bytes());
    }
}

impl Ui for Terminal {
    fn show(&self, asker: &Asker<'_>, request: &Request) -> DialogAnswer {
        match request {
            Request::Select { title, options } => {
                DialogAnswer::from(self.select(asker, title, options))
            }
            Request::Confirm { title, message } => {
                let question = format!("{title}\n{message}");
                let question = lines(question.trim_end());
                let question = format!("hook {} asks: {question}", plain(asker.hook));
                match self.yes_or_no(asker, &question) {
                    Some(yes) => DialogAnswer::Yes(yes),
                    None => DialogAnswer::Cancelled,
                }
            }
            Request::Input { title, placeholder } => {
                DialogAnswer::from(self.input(asker, title, placeholder))
            }
            Request::Notify { message, kind } => {
                self.notify(asker, message, *kind);
                DialogAnswer::Done
            }
            // Only hosts have a status line and an editor.
            Request::Status { .. } | Request::Editor { .. } | Request::Send(_) => {
                DialogAnswer::Nobody
            }
        }
    }
}

impl Terminal {
    fn select(&self, asker: &Asker<'_>, title: &str, options: &[String]) -> Option<String> {
        self.head(asker, title);
        let mut prompt = String::new();
        for (number, option) in options.iter().enumerate() {
            prompt.push_str(&format!("  {}. {}\n", number + 1, plain(option)));
        }
        let line = self.read_line(asker, &format!("{prompt}number> "));
        let number = line.and_then(|line| line.trim().parse::<usize>().ok());
        let chosen = options.get(number.unwrap_or(0).wrapping_sub(1)).cloned();
        if chosen.is_none() {
            self.write("(no option chosen)\n");
        }
        chosen
    }

    fn input(&self, asker: &Asker<'_>, title: &str, placeholder: &str) -> Option<String> {
        self.head(asker, title);
        let prompt = match plain(placeholder.trim()) {
            text if text.is_empty() => "> ".to_string(),
            text => format!("({text}) > "),
        };
        self.read_line(asker, &prompt)
    }

    fn notify(&self, asker: &Asker<'_>, message: &str, kind: MessageKind) {
        let sort = match kind {
            MessageKind::Info => "",
            MessageKind::Warning => "warning: ",
            MessageKind::Error => "error: ",
        };
        if self.is_ours() {
            self.write(&format!(
                "hook {}: {sort}{}\n",
                plain(asker.hook),
                lines(message)
            ));
        }
    }
}

impl OpenPrompt<'_> {
    fn enter(file: &File) -> Option<OpenPrompt<'_>> {
        let before = rustix::termios::tcgetattr(file).ok()?;
        let mut open = before.clone();
        // Control-C still ends hookrun. Control-Z would stop it, and deadlines would pass.
        open.special_codes[SpecialCodeIndex::VSUSP] = 0;
        // Discard input typed before the question.
        rustix::termios::tcsetattr(file, OptionalActions::Flush, &open).ok()?;
        Some(OpenPrompt { file, before })
    }
}

impl Drop for OpenPrompt<'_> {
    fn drop(&mut self) {
        let _ = rustix::termios::tcsetattr(self.file.as_fd(), OptionalActions::Flush, &self.before);
    }
}

/// Escapes and indents a text, so that no line looks like a prompt of hookrun.
fn lines(text: &str) -> String {
    let mut shown = String::new();
    let characters: Vec<char> = text.trim_end().chars().collect();
    let kept: String = characters.iter().take(LONGEST_TEXT).collect();
    for (number, line) in kept.lines().enumerate() {
        shown.push_str(if number == 0 { "" } else { "\n  " });
        shown.push_str(&plain(line));
    }
    // Report cut text, so that nobody agrees to something unseen.
    let hidden = characters.len().saturating_sub(LONGEST_TEXT);
    if hidden > 0 {
        shown.push_str(&format!(" … ({hidden} more characters)"));
    }
    shown
}
