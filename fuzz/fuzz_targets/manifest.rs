//! Any `hookrun.toml` and any script: is each hook loaded, or complained about?
#![no_main]

use std::sync::LazyLock;

use tempfile::TempDir;

#[path = "../../tests/it/corpus/manifest.rs"]
mod manifest;

/// One for the whole run. TMPDIR says where: in memory it is faster.
static FOLDER: LazyLock<TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a folder can be made"));

libfuzzer_sys::fuzz_target!(|input: &[u8]| manifest::check(input, FOLDER.path()));
