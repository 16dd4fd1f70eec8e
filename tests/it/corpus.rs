//! The corpus of the fuzz targets: every file in `fuzz/corpus/` holds to the same invariants,
//! on a stable tool-chain. The targets in `fuzz/` include the files of this module.

pub(crate) mod answer;
pub(crate) mod event;
pub(crate) mod json;
pub(crate) mod manifest;
mod mutations;
pub(crate) mod shell;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Checks every file of a target's corpus, and names all that fail.
fn walk(target: &str, mut check: impl FnMut(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    // A published package has no fuzz targets.
    if !fuzz.exists() {
        return;
    }
    let (mut files, mut size) = (0, 0);
    let mut wrong = Vec::new();
    for entry in fs::read_dir(fuzz.join("corpus").join(target)).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        files += 1;
        size += bytes.len();
        if catch_unwind(AssertUnwindSafe(|| check(&bytes))).is_err() {
            wrong.push(path);
        }
    }
    assert!(
        (1..=150).contains(&files) && size < 200_000,
        "{target}: {files} files, {size} bytes"
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_answer_of_the_corpus_keeps_the_contract() {
    walk("answer", answer::check);
}

#[test]
fn every_manifest_of_the_corpus_is_loaded_or_complained_about() {
    let folder = tempfile::Builder::new()
        .prefix("hookrun-it")
        .tempdir()
        .unwrap();
    walk("manifest", |bytes| manifest::check(bytes, folder.path()));
}

#[test]
fn every_event_of_the_corpus_is_read_as_the_grammar_says() {
    walk("event", event::check);
}

#[test]
fn every_command_line_of_the_corpus_is_read_or_in_doubt() {
    walk("shell", shell::check);
}

/// `HOOKRUN_MUTATIONS=10000000 cargo test --release --test it corpus::mutations -- --nocapture`
/// tries that many texts that are made of the corpus.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "how many texts are tried is told by it"
)]
fn mutations_of_the_command_lines_are_read_or_in_doubt() {
    let count = std::env::var("HOOKRUN_MUTATIONS")
        .ok()
        .and_then(|text| text.parse().ok());
    mutations::run(count.unwrap_or(2_000));
}
