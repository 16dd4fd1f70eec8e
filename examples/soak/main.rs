//! The soak: `cargo run --release --example soak [-- EVENTS] [--seed N]`.
//!
//! Decides events by the library, in this process, with well-behaved and hostile hooks, while
//! descriptors and processes run short, hooks are killed and hookrun is told to stop. Every
//! event has a known decision with a known reason, and after every event nothing may be left.
//! Exit status 0 only if that holds for all of them.
//!
//! `scenarios` says which hooks there are, `hook` what they do, `faults` in which ways an event
//! is decided, `judge` what is right, `watch` and `leaks` what may be left, `report` the table.
//! For a closer look at a finding, `--scenario` and `--way` keep to what has that in its name.

#[cfg(target_os = "linux")]
mod detached;
#[cfg(target_os = "linux")]
mod dice;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod filters;
#[cfg(target_os = "linux")]
mod hook;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod leaks;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod scenarios;
#[cfg(target_os = "linux")]
mod site;
#[cfg(target_os = "linux")]
mod soak;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    soak::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    use std::io::Write;
    let _ = writeln!(
        std::io::stderr(),
        "the soak looks into /proc: it runs on Linux only"
    );
    std::process::ExitCode::FAILURE
}
