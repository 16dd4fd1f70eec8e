//! The person at the terminal: the one place where hookrun asks them anything.
//!
//! Prompts are on the controlling terminal, even if stdin and stdout are files. Answers are lines,
//! which the terminal itself lets the person edit. Nothing that a hook wrote can move the cursor or
//! hide a part of itself.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cli::streams;
use crate::config::Environment;
use crate::engine::errand;
use crate::engine::harmless::plain;
use crate::engine::ui::{Asker, DialogAnswer, MessageKind, PATIENCE, Request, Ui, WaitEnd};
use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// More than a line on a terminal can have.
const LONGEST_LINE_BYTES: usize = 8192;

/// How much of one text is shown.
const LONGEST_TEXT: usize = 1000;

/// What edits a text if `$VISUAL` and `$EDITOR` are not set.
const EDITOR: &str = "vi";

/// Leaves the alternate screen of a killed editor, and shows the cursor.
const LEAVE_EDITOR: &str = "\x1b[?1049l\x1b[?25h";

/// The controlling terminal, with a person at it.
#[derive(Debug)]
pub(crate) struct Terminal {
    file: File,
    editor: String,
    /// The folder of texts that are being edited.
    drafts: PathBuf,
}

/// A terminal that takes an answer, until this is dropped.
struct OpenPrompt<'t> {
    file: &'t File,
    before: Termios,
}

impl Terminal {
    /// The terminal, if somebody can answer: we are in its foreground, and stderr is a terminal (a
    /// host that captures stderr uses the terminal itself).
    pub(crate) fn open(env: &Environment) -> Option<Terminal> {
        if !streams::is_stderr_a_terminal() {
            return None;
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/tty")
            .ok()?;
        let editor = env.editor.as_deref().unwrap_or(EDITOR).to_string();
        let terminal = Terminal {
            file,
            editor,
            drafts: env.temporary.clone(),
        };
        terminal.is_ours().then_some(terminal)
    }

    /// Whether we are in the foreground: reading a terminal from the background stops a process.
    fn is_ours(&self) -> bool {
        let ours = nix::unistd::getpgrp().as_raw();
        rustix::termios::tcgetpgrp(&self.file)
            .is_ok_and(|group| group.as_raw_nonzero().get() == ours)
    }

    /// Asks a question of hookrun's own. Without an answer in time it is a no.
    pub(crate) fn agrees(&self, question: &str) -> bool {
        let asker = Asker::new("", Instant::now() + PATIENCE, Vec::new());
        self.yes_or_no(&asker, question).unwrap_or(false)
    }

    /// Asks for a yes; `None` if there was no answer in time.
    pub(crate) fn ask(&self, asker: &Asker<'_>, question: &str) -> Option<bool> {
        let question = format!("hook {} asks: {}", plain(asker.hook()), lines(question));
        self.yes_or_no(asker, &question)
    }

    fn yes_or_no(&self, asker: &Asker<'_>, question: &str) -> Option<bool> {
        let line = self.read_line(asker, &format!("{question} [y/N] "))?;
        Some(matches!(line.trim(), "y" | "Y" | "yes" | "Yes"))
    }

    /// Shows a text, whose lines are harmless already, and takes a line as the answer to `question`.
    /// `None` if none came.
    pub(crate) fn answer(&self, text: &str, question: &str, until: Instant) -> Option<String> {
        let asker = Asker::new("hookrun", until, Vec::new());
        let line = self.read_line(&asker, &format!("{text}{question}"))?;
        Some(line.trim().to_string())
    }

    /// Shows a prompt, and reads the line that is typed after it. `None` if the time is over, or the
    /// person ends the input with Control-D.
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

    /// How many columns it has.
    pub(crate) fn columns(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(&self.file).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    }

    fn head(&self, asker: &Asker<'_>, title: &str) {
        self.write(&format!(
            "hook {} asks: {}\n",
            plain(asker.hook()),
            lines(title)
        ));
    }

    fn write(&self, text: &str) {
        let _ = (&self.file).write_all(text.as_bytes());
    }

    /// Lets the person edit a file. Whether to keep it.
    pub(crate) fn edit(&self, asker: &Asker<'_>, file: &Path) -> bool {
        let Ok(words) = shell_words::split(&self.editor) else {
            return false;
        };
        let before = rustix::termios::tcgetattr(&self.file);
        let ended = errand::open_at_terminal(&words, file, &self.file, || asker.is_over());
        if let (Ok(None), Ok(before)) = (&ended, before) {
            let _ = rustix::termios::tcsetattr(&self.file, OptionalActions::Flush, &before);
            self.write(LEAVE_EDITOR);
        }
        if let Err(error) = &ended {
            self.write(&format!(
                "cannot start the editor `{}`: {error}\n",
                plain(&self.editor)
            ));
        }
        matches!(ended, Ok(Some(status)) if status.success())
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
                let answer = self.ask(asker, question.trim_end());
                DialogAnswer::Yes(answer.unwrap_or(false))
            }
            Request::Input { title, placeholder } => {
                DialogAnswer::from(self.input(asker, title, placeholder))
            }
            Request::Editor { title, text } => {
                DialogAnswer::from(self.edit_text(asker, title, text))
            }
            Request::Notify { message, kind } => {
                self.notify(asker, message, *kind);
                DialogAnswer::Done
            }
            // `hookrun hook ui` keeps the session's status line.
            Request::Status { .. } => DialogAnswer::Done,
            Request::Send(_) => DialogAnswer::Nobody,
        }
    }
}

/// The dialogs.
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
            self.write("(no answer)\n");
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

    fn edit_text(&self, asker: &Asker<'_>, title: &str, text: &str) -> Option<String> {
        if !self.is_ours() {
            return None;
        }
        self.head(asker, title);
        let mut draft = tempfile::Builder::new();
        let mut file = draft
            .prefix("hookrun-")
            .suffix(".txt")
            .tempfile_in(&self.drafts)
            .ok()?;
        writeln!(file, "{text}").ok()?;
        let is_kept = self.edit(asker, file.path());
        // An editor may put another file in its place.
        let text = std::fs::read(file.path()).ok().filter(|_| is_kept)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        // Editors end the last line, and so does the command that prints the answer.
        Some(text.strip_suffix('\n').map(str::to_string).unwrap_or(text))
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
                plain(asker.hook()),
                lines(message)
            ));
        }
    }
}

impl OpenPrompt<'_> {
    fn enter(file: &File) -> Option<OpenPrompt<'_>> {
        let before = rustix::termios::tcgetattr(file).ok()?;
        let mut open = before.clone();
        // Control-C still ends us. Control-Z is off: it would stop hookrun, and all deadlines pass.
        open.special_codes[SpecialCodeIndex::VSUSP] = 0;
        // What was typed before the question is no answer to it.
        rustix::termios::tcsetattr(file, OptionalActions::Flush, &open).ok()?;
        Some(OpenPrompt { file, before })
    }
}

impl Drop for OpenPrompt<'_> {
    fn drop(&mut self) {
        let _ = rustix::termios::tcsetattr(self.file.as_fd(), OptionalActions::Flush, &self.before);
    }
}

/// As much of a line as `columns` of a terminal hold, with a mark where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_string();
    }
    let mut cut = String::new();
    let mut left = columns;
    for c in text.chars() {
        // The mark takes a column.
        let width = c.width().unwrap_or(0);
        if width >= left {
            break;
        }
        left -= width;
        cut.push(c);
    }
    if columns > 0 {
        cut.push('…');
    }
    cut
}

/// A text of several lines, made harmless. Every line but the first is indented, so that none looks
/// like a prompt of hookrun.
fn lines(text: &str) -> String {
    let mut shown = String::new();
    let characters: Vec<char> = text.trim_end().chars().collect();
    let kept: String = characters.iter().take(LONGEST_TEXT).collect();
    for (number, line) in kept.lines().enumerate() {
        shown.push_str(if number == 0 { "" } else { "\n  " });
        shown.push_str(&plain(line));
    }
    // Nobody should agree to text that they cannot see without knowing it.
    let hidden = characters.len().saturating_sub(LONGEST_TEXT);
    if hidden > 0 {
        shown.push_str(&format!(" … ({hidden} characters are not shown)"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_text_keeps_its_lines_and_cannot_move_the_cursor() {
        assert_eq!(lines("a\r\nb\u{1b}[2J\u{7}c\n"), "a\n  b\\u{1b}[2J\\u{7}c");
        let long = lines(&"x".repeat(2000));
        assert!(
            long.ends_with("xx … (1000 characters are not shown)"),
            "{long}"
        );
    }
}
