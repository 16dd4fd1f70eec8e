//! The process's own streams. Only here is stdout known, and stdout is the reply.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

use crate::args::Color;

/// stdout, with colour where it is wanted.
pub(crate) fn stdout(color: Color) -> AutoStream<io::StdoutLock<'static>> {
    AutoStream::new(io::stdout().lock(), choice(color, io::stdout().is_terminal()))
}

fn choice(color: Color, is_terminal: bool) -> ColorChoice {
    match color {
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
        Color::Auto if is_terminal => AutoStream::choice(&io::stdout()),
        Color::Auto => ColorChoice::Never,
    }
}

/// Says something on stderr. A closed stderr is nobody to tell.
pub(crate) fn stderr(text: &str) {
    if !text.is_empty() {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}
