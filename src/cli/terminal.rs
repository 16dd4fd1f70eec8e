//! The person at the terminal: the one place where hookrun asks them anything.
//!
//! Prompts are on the controlling terminal, even if stdin and stdout are files. Keys are read one
//! by one, and the settings of the terminal are always restored. Nothing that a hook wrote can move
//! the cursor or hide a part of itself.

mod keyboard;
pub(crate) mod status;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cli::streams;
use crate::config::Environment;
use crate::engine::errand;
use crate::engine::harmless::plain;
use crate::engine::ui::{Asker, MessageKind, PATIENCE, Ui};
use console::measure_text_width;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios};

use keyboard::{Keyboard, LineInput};
use status::cut;

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

/// A terminal that gives every key at once and shows none, until this is dropped.
struct Raw<'t> {
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
        let raw = self.begin()?;
        let prompt = format!("{question} [y/N] ");
        match self.read_line(raw, asker, &prompt) {
            LineInput::Line(line) => Some(matches!(line.trim(), "y" | "Y" | "yes" | "Yes")),
            LineInput::Left => Some(false),
            LineInput::Over => None,
        }
    }

    /// Shows a prompt, and reads the line that is typed after it.
    fn read_line(&self, raw: Raw<'_>, asker: &Asker<'_>, prompt: &str) -> LineInput {
        self.write(prompt);
        let (columns, _) = self.size();
        let last_line = prompt.rsplit('\n').next().unwrap_or_default();
        let start = measure_text_width(last_line) % columns;
        let read = Keyboard::new(&self.file, asker).read_line(start, columns);
        drop(raw);
        self.write("\n");
        read
    }

    /// Shows a text, whose lines are harmless already, and takes a line as the answer to `question`.
    /// `None` if none came.
    pub(crate) fn answer(&self, text: &str, question: &str, until: Instant) -> Option<String> {
        let raw = self.begin()?;
        self.write(text);
        let asker = Asker::new("hookrun", until, Vec::new());
        match self.read_line(raw, &asker, question) {
            LineInput::Line(line) => Some(line.trim().to_string()),
            LineInput::Left | LineInput::Over => None,
        }
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size = rustix::termios::tcgetwinsize(&self.file).ok();
        let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
    }

    fn begin(&self) -> Option<Raw<'_>> {
        if self.is_ours() {
            Raw::enter(&self.file)
        } else {
            None
        }
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
    fn select(&self, asker: &Asker<'_>, title: &str, options: &[String]) -> Option<String> {
        let _raw = self.begin()?;
        self.head(asker, title);
        let (columns, rows) = self.size();
        let place = Keyboard::new(&self.file, asker).choose(columns, rows, options);
        let place = place.filter(|_| !asker.is_over());
        let chosen = place.and_then(|place| options.get(place));
        self.write(&chosen.map_or("(no answer)\n".to_string(), |text| {
            format!("> {}\n", plain(text))
        }));
        chosen.cloned()
    }

    fn confirm(&self, asker: &Asker<'_>, title: &str, message: &str) -> bool {
        self.ask(asker, format!("{title}\n{message}").trim_end())
            .unwrap_or(false)
    }

    fn input(&self, asker: &Asker<'_>, title: &str, placeholder: &str) -> Option<String> {
        let raw = self.begin()?;
        self.head(asker, title);
        let prompt = match plain(placeholder.trim()) {
            text if text.is_empty() => "> ".to_string(),
            text => format!("({}) > ", cut(&text, self.size().0 / 2)),
        };
        match self.read_line(raw, asker, &prompt) {
            LineInput::Line(line) => Some(line),
            LineInput::Left | LineInput::Over => None,
        }
    }

    fn editor(&self, asker: &Asker<'_>, title: &str, text: &str) -> Option<String> {
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

    /// `hookrun ui` keeps the session's status line.
    fn status(&self, _asker: &Asker<'_>, _key: &str, _text: Option<&str>) {}
}

impl Raw<'_> {
    fn enter(file: &File) -> Option<Raw<'_>> {
        let before = rustix::termios::tcgetattr(file).ok()?;
        let mut raw = before.clone();
        // Control-C still ends us. Control-Z is off: it would stop hookrun, and all deadlines pass.
        raw.local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO);
        raw.special_codes[SpecialCodeIndex::VSUSP] = 0;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        // What was typed before the question is no answer to it.
        rustix::termios::tcsetattr(file, OptionalActions::Flush, &raw).ok()?;
        Some(Raw { file, before })
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        let _ = rustix::termios::tcsetattr(self.file.as_fd(), OptionalActions::Now, &self.before);
    }
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
