//! Any exit status, any output: what does the hook say?
#![no_main]

#[path = "../../tests/it/corpus/answer.rs"]
mod answer;
#[path = "../../tests/it/corpus/json.rs"]
#[allow(dead_code, reason = "another target needs the rest")]
mod json;

libfuzzer_sys::fuzz_target!(|input: &[u8]| answer::check(input));
