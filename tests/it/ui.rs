//! Hooks that ask and tell a person while they run.

mod clock;
mod headless;
mod library;
pub(crate) mod screen;
mod terminal;

/// A line of shell in which `hookrun` is the program that is tested.
pub(crate) fn with_hookrun(body: &str) -> String {
    format!(
        "hookrun() {{ '{}' \"$@\"; }}\n{body}",
        env!("CARGO_BIN_EXE_hookrun")
    )
}
