//! The corpus of the fuzz targets: every file in `fuzz/corpus/` holds to the same invariants,
//! on a stable tool-chain. The targets in `fuzz/` include the files of this module.

pub(crate) mod answer;
pub(crate) mod event;
pub(crate) mod json;
pub(crate) mod manifest;
mod mutations;
pub(crate) mod payload;
pub(crate) mod shell;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use mutations::Corpus;

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

/// How many mutations of each kind are checked: `HOOKRUN_MUTATIONS=10000000 cargo test --release
/// --test it corpus::mutations -- --nocapture`.
#[expect(
    clippy::disallowed_methods,
    reason = "how many texts are tried is told by it"
)]
fn mutations() -> usize {
    let count = std::env::var("HOOKRUN_MUTATIONS").ok();
    count.map_or(2_000, |text| {
        text.parse().expect("HOOKRUN_MUTATIONS must be a number")
    })
}

fn mutate(target: &'static str, check: impl Fn(&[u8]) + Sync) {
    if let Some(corpus) = Corpus::of(target) {
        corpus.check(mutations(), check);
    }
}

#[test]
fn mutations_of_the_command_lines_are_read_or_in_doubt() {
    mutate("shell", shell::check);
}

#[test]
fn mutations_of_the_answers_keep_the_contract() {
    mutate("answer", answer::check);
}

#[test]
fn mutations_of_the_events_are_read_as_the_grammar_says() {
    mutate("event", event::check);
}

#[test]
fn mutations_of_the_manifests_are_loaded_or_complained_about() {
    let folder = tempfile::Builder::new()
        .prefix("hookrun-it")
        .tempdir()
        .unwrap();
    let check = |bytes: &[u8]| {
        let own = folder
            .path()
            .join(format!("{:?}", std::thread::current().id()));
        manifest::check(bytes, &own);
    };
    if let Some(corpus) = Corpus::of("manifest") {
        corpus.check(mutations() / 10, check);
    }
}

#[test]
fn mutations_of_the_hosts_payloads_are_events_or_complaints() {
    let payloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/payloads");
    let mut texts = Vec::new();
    for host in fs::read_dir(payloads).unwrap().flatten() {
        for file in fs::read_dir(host.path()).unwrap().flatten() {
            let name = host.file_name().into_string().unwrap();
            texts.push([name.as_bytes(), b"\n", &fs::read(file.path()).unwrap()].concat());
        }
    }
    let config = payload::config();
    if let Some(corpus) = Corpus::with_texts("payload", texts) {
        corpus.check(mutations(), |bytes| payload::check(bytes, &config));
    }
}
