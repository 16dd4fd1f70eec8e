//! The manual pages.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn every_page_is_set_without_a_warning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    for page in fs::read_dir(folder).unwrap() {
        let page = page.unwrap().path();
        let mut groff = Command::new("groff");
        groff
            .args(["-man", "-Tascii", "-ww", "-z"])
            .arg(&page)
            .stdin(Stdio::null());
        let Ok(output) = groff.output() else { return };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said, "", "{}", page.display());
        assert!(output.status.success());
    }
}
