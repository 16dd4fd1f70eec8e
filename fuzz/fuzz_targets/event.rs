//! Any bytes on stdin: where does the event end, and what does it say?
#![no_main]

#[path = "../../tests/it/corpus/event.rs"]
mod event;
#[path = "../../tests/it/corpus/json.rs"]
#[allow(dead_code, reason = "another target needs the rest")]
mod json;

libfuzzer_sys::fuzz_target!(|input: &[u8]| event::check(input));
