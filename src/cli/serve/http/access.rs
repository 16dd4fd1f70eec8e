//! Who may ask: the token of the TCP door, and what else a request must show.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::IpAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap};
use rustix::fs::OFlags;

use crate::cli::exit::{Result, failed};
use crate::engine::complaint::Complaint;
use crate::engine::session::make_private;

/// How many random bytes a token has; written as twice as many digits.
const TOKEN_BYTES: usize = 32;

/// The longest file that is read as a token.
const LONGEST_TOKEN_BYTES: usize = 4096;

/// Why a request is not decided.
#[derive(Debug)]
pub(super) struct HttpFault {
    pub(super) status: StatusCode,
    pub(super) reason: String,
}

impl HttpFault {
    pub(super) fn new(status: StatusCode, reason: impl Into<String>) -> HttpFault {
        HttpFault {
            status,
            reason: reason.into(),
        }
    }
}

/// What a request must show at a door.
#[derive(Debug, Clone)]
pub(super) enum AccessRule {
    /// `Authorization: Bearer TOKEN`, and a `Host` on this machine.
    Token(String),
    /// Nothing: the socket is in a private folder, and its user was asked for.
    SameUser,
}

impl AccessRule {
    pub(super) fn check(&self, headers: &HeaderMap) -> std::result::Result<(), HttpFault> {
        let AccessRule::Token(token) = self else {
            return Ok(());
        };
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        // A page in a browser can reach this address under a name of its own.
        let host = text(HOST).unwrap_or_default();
        if !is_loopback(host) {
            let reason = format!("`Host` is `{host}`: only names of this machine are served");
            return Err(HttpFault::new(StatusCode::FORBIDDEN, reason));
        }
        let given = text(AUTHORIZATION).and_then(|value| value.split_once(' '));
        let is_right = given.is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case("bearer") && are_equal(given.trim(), token)
        });
        if is_right {
            return Ok(());
        }
        let reason = "send `Authorization: Bearer TOKEN` with what is in the token file";
        Err(HttpFault::new(StatusCode::UNAUTHORIZED, reason))
    }
}

/// Compares in a time that tells nothing but the length.
fn are_equal(given: &str, token: &str) -> bool {
    let pairs = given.bytes().zip(token.bytes());
    let differences = pairs.fold(0, |differences, (one, two)| differences | (one ^ two));
    given.len() == token.len() && std::hint::black_box(differences) == 0
}

/// Whether a `Host` header names this machine from inside.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let is_address = name
        .parse::<IpAddr>()
        .is_ok_and(|address| address.is_loopback());
    is_address || name.eq_ignore_ascii_case("localhost")
}

/// The token in `file`, which is made if it is not there.
pub(super) fn token(file: &Path) -> Result<String> {
    match read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make(file).map_err(failed(format!(
                "cannot write the token `{}`",
                file.display()
            )))?;
            check(file, read(file))
        }
        read => check(file, read),
    }
}

fn check(file: &Path, read: io::Result<(String, u32, u32)>) -> Result<String> {
    let shown = file.display();
    let (text, mode, owner) = read.map_err(failed(format!("cannot read the token `{shown}`")))?;
    let quoted = shell_words::quote(&file.to_string_lossy()).into_owned();
    if owner != rustix::process::getuid().as_raw() {
        let cause = format!("the token `{shown}` belongs to another user");
        return Err(Complaint::with_cure(
            cause,
            "name your own file: `--token FILE`",
        ));
    }
    if mode & 0o077 != 0 {
        let cause = format!("others may read the token `{shown}`");
        let cure = format!("run `rm {quoted}`, and a new one is made");
        return Err(Complaint::with_cure(cause, cure));
    }
    let token = text.trim();
    if token.len() < 2 * TOKEN_BYTES || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let cause = format!(
            "the token `{shown}` is not {} letters or more",
            2 * TOKEN_BYTES
        );
        let cure = format!("run `rm {quoted}`, and a new one is made");
        return Err(Complaint::with_cure(cause, cure));
    }
    Ok(token.to_string())
}

/// The text of a token file, its mode and its owner.
fn read(file: &Path) -> io::Result<(String, u32, u32)> {
    // Opening a pipe would wait for a writer.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(file)?;
    let meta = opened.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = vec![0; LONGEST_TOKEN_BYTES];
    let count = opened.read(&mut bytes)?;
    bytes.truncate(count);
    Ok((
        String::from_utf8_lossy(&bytes).into_owned(),
        meta.mode(),
        meta.uid(),
    ))
}

/// Writes a new token whole, or not at all. One that another server has just written stays.
fn make(file: &Path) -> io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if !folder.exists() {
        make_private(folder, folder)?;
    }
    let mut random = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(new, "{digits}")?;
    match new.persist_noclobber(file) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error),
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        let local = [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:8",
            "127.1.2.3",
            "[::1]:9",
            "[::1]",
        ];
        assert!(local.into_iter().all(is_loopback));
        let others = [
            "",
            "localhost.evil.example:80",
            "10.0.0.1",
            "[::2]:9",
            "evil",
            "::1:80:x",
        ];
        assert_eq!(others.map(is_loopback), [false; 6]);
    }

    #[test]
    fn tokens_are_equal_only_as_a_whole() {
        assert!(are_equal("abc", "abc"));
        assert!(!are_equal("ab", "abc") && !are_equal("abcd", "abc") && !are_equal("abd", "abc"));
    }
}
