//! A set that minisign has signed: a list of its files, as `sha256sum` writes it, and its signature.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use minisign_verify::{PublicKey, Signature};

use crate::cli::exit::Result;
use crate::config::trust::HookFiles;
use crate::engine::complaint::Complaint;
use crate::lab::report::plain;

const SUMS: &str = "SHA256SUMS";

const SIGNATURE: &str = "SHA256SUMS.minisig";

/// Checks that `key` has signed the list, and that the list has exactly these files.
pub(super) fn signer(files: &HookFiles, key: &str) -> Result<String> {
    let not_signed = |why: String| {
        let cause = format!("the set is not signed with the key `{key}`: {why}");
        let cure =
            format!("its authors make `{SUMS}` by `sha256sum` and sign it: `minisign -Sm {SUMS}`");
        Complaint::with_cure(cause, cure)
    };
    let text = |name: &str| {
        let file = files.files.iter().find(|file| file.path == Path::new(name));
        let text = file.and_then(|file| std::str::from_utf8(&file.bytes).ok());
        text.ok_or_else(|| not_signed(format!("it has no `{name}`")))
    };
    let (sums, signature) = (text(SUMS)?, text(SIGNATURE)?);
    let wrong = |error: minisign_verify::Error| not_signed(error.to_string());
    let signature = Signature::decode(signature).map_err(wrong)?;
    let public = PublicKey::from_base64(key).map_err(wrong)?;
    public
        .verify(sums.as_bytes(), &signature, false)
        .map_err(wrong)?;
    // `DIGEST  ./PATH`, or `DIGEST *PATH`.
    let listed = sums.lines().filter_map(|line| line.split_once(' '));
    let path =
        |rest: &str| PathBuf::from(rest.trim_start_matches([' ', '*']).trim_start_matches("./"));
    let mut listed: HashMap<PathBuf, &str> =
        listed.map(|(digest, rest)| (path(rest), digest)).collect();
    let is_own = |path: &Path| path == Path::new(SUMS) || path == Path::new(SIGNATURE);
    for file in files.files.iter().filter(|file| !is_own(&file.path)) {
        if listed.remove(&file.path) != Some(&file.mark.content) {
            let shown = plain(&file.mark.path);
            return Err(not_signed(format!(
                "`{shown}` is not in the list, or was changed"
            )));
        }
    }
    match listed.keys().next() {
        None => Ok(format!("minisign:{key}")),
        Some(missing) => Err(not_signed(format!(
            "`{}` is missing",
            plain(&missing.to_string_lossy())
        ))),
    }
}
