//! Any text of a command line: what does it run?
#![no_main]

#[path = "../../tests/it/corpus/shell.rs"]
mod shell;

libfuzzer_sys::fuzz_target!(|input: &[u8]| shell::check(input));
