//! The files of decisions themselves: private, bounded, and read from either end.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use hookrun::internals::log::DecisionLog;
use hookrun::internals::log::files::{FileLines, record};

/// How much is read at once.
const BLOCK_BYTES: usize = 64 * 1024;

#[test]
fn the_log_is_private_and_its_files_are_rotated_by_size() {
    let folder = tempfile::tempdir().unwrap();
    let log = DecisionLog::in_folder(folder.path().join("state/log")).file_size(100);
    for number in 0..60 {
        log.append(&format!("a line of twenty {number:02}\n"))
            .unwrap();
    }
    let files = log.files();
    assert_eq!(files.len(), 5);
    let text: Vec<String> = files
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    assert!(
        text[0].ends_with("59\n") && text[4].contains("35"),
        "{text:?}"
    );
    for file in &files {
        let meta = file.metadata().unwrap();
        assert!(meta.len() <= 100 && meta.mode() & 0o777 == 0o600);
    }
    assert_eq!(log.folder().metadata().unwrap().mode() & 0o777, 0o700);
}

#[test]
fn links_and_what_is_no_file_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, "").unwrap();
    let link = folder.path().join("link");
    symlink(&victim, &link).unwrap();
    for file in [link.as_path(), Path::new("/dev/full"), folder.path()] {
        assert!(record(file, "x\n").is_err(), "{}", file.display());
    }
    assert_eq!(fs::read(&victim).unwrap(), b"");
}

fn forward(file: &Path) -> Vec<Vec<u8>> {
    let mut lines = FileLines::open(file).unwrap();
    let (mut line, mut found) = (Vec::new(), Vec::new());
    while lines.next_line(&mut line).unwrap().is_some() {
        found.push(line.clone());
    }
    found
}

#[test]
fn every_line_is_found_but_no_empty_one() {
    let long = "x".repeat(3 * BLOCK_BYTES + 7);
    for text in [
        String::new(),
        "\n".to_string(),
        "one".to_string(),
        "one\n\ntwo\n".to_string(),
        "\n\n  \none\ntwo".to_string(),
        format!("a\n{long}\nb\n{long}"),
        format!("{}\n", "line of some length\n".repeat(5_000)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, &text).unwrap();
        let found = forward(&file);
        let wanted: Vec<&[u8]> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(str::as_bytes)
            .collect();
        assert!(found == wanted, "{}", found.len());
    }
}
