//! The files of a set in a tar archive: downloaded by curl, unzipped by gzip, and read here.
//!
//! Nothing is unpacked onto the disk: the members are read one by one, and only plain files with
//! plain names are taken.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::errand::Errand;
use crate::cli::exit::{Result, failed};
use crate::config::reader::read_file;
use crate::config::set_store::{MOST_BYTES, MOST_FILES, check_path, check_size};
use crate::config::sets::declared::path_of_archive;
use crate::config::trust::{ContentFile, HookFiles};
use crate::engine::complaint::Complaint;
use crate::lab::report::plain;

/// How long a download may take.
const LIMIT: Duration = Duration::from_secs(300);

/// How long gzip may take.
const UNZIP_LIMIT: Duration = Duration::from_secs(60);

/// The blocks of an archive, in bytes.
const BLOCK: usize = 512;

/// The longest archive, unzipped: every file has up to three blocks besides its content.
const LONGEST: u64 = MOST_BYTES + (4 * BLOCK * MOST_FILES) as u64;

/// Settings of the user that would lead curl elsewhere do not count (`--disable`, which must be the
/// first). A redirection leads to https only.
#[rustfmt::skip]
const CURL: &[&str] = &[
    "--disable", "--silent", "--show-error", "--fail", "--globoff", "--location", "--max-redirs", "5",
    "--proto", "=https,http", "--proto-redir", "=https", "--url",
];

/// The bytes of the archive that `url` names; a relative path means `base`.
pub(super) fn fetch(url: &str, base: &Path) -> Result<Vec<u8>> {
    let bytes = match path_of_archive(url) {
        Some(path) => {
            let file = base.join(path);
            let size = file.metadata().map_or(0, |meta| meta.len());
            check_length(url, size)?;
            read_file(&file).map_err(failed(format!("cannot read `{}`", file.display())))?
        }
        None => {
            let size = LONGEST.to_string();
            let words = CURL.iter().copied().chain([url, "--max-filesize", &size]);
            output(
                Errand::new("curl", words, LIMIT),
                format!("curl cannot download `{url}`"),
            )?
        }
    };
    check_length(url, bytes.len() as u64)?;
    Ok(bytes)
}

/// The files in an archive. A folder around all of them, as forges add it, is left out.
///
/// # Errors
/// When it is damaged, or has links, devices, names that lead elsewhere, or too much.
pub(super) fn files(url: &str, archive: Vec<u8>) -> Result<HookFiles> {
    let refuse = |cause: String| {
        let cause = format!("`{url}` is no hook set: {cause}");
        Complaint::with_cure(cause, "a set is a small `.tar` or `.tar.gz` of plain files")
    };
    let is_zipped = archive.starts_with(&[0x1f, 0x8b]);
    let tar = if is_zipped {
        let mut errand = Errand::new("gzip", ["-dc"], UNZIP_LIMIT);
        errand.command.env_remove("GZIP");
        errand.stdin = archive;
        output(errand, format!("gzip cannot read `{url}`"))?
    } else {
        archive
    };
    check_length(url, tar.len() as u64)?;
    members(&tar).map(without_folder).map_err(refuse)
}

fn check_length(url: &str, length: u64) -> Result<()> {
    if length <= LONGEST {
        return Ok(());
    }
    let cause = format!(
        "`{url}` is no hook set: it has more than {} MiB",
        MOST_BYTES >> 20
    );
    Err(Complaint::new(cause))
}

/// What a program prints, which must succeed; one byte more than an archive may have.
fn output(mut errand: Errand, cannot: impl Display) -> Result<Vec<u8>> {
    errand.kept_bytes = LONGEST + 1;
    let ended = errand.output().map_err(failed(&cannot))?;
    let Some(output) = ended else {
        return Err(Complaint::new(format!("{cannot}: it did not end in time")));
    };
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Complaint::new(format!("{cannot}: {}", plain(said.trim()))))
}

/// The plain files of a tar archive, of whichever of the usual kinds: ustar, pax or that of GNU.
fn members(tar: &[u8]) -> std::result::Result<Vec<ContentFile>, String> {
    let mut files: Vec<ContentFile> = Vec::new();
    let (mut rest, mut bytes, mut long_name) = (tar, 0, None);
    while let Some((head, after)) = rest.split_at_checked(BLOCK) {
        if head.iter().all(|byte| *byte == 0) {
            return Ok(files);
        }
        let size = header(head)?;
        let content = after.get(..size).ok_or("it is cut off")?;
        rest = after
            .get(size.next_multiple_of(BLOCK)..)
            .unwrap_or_default();
        let kind = head[156];
        match kind {
            b'L' => long_name = Some(text(content)?),
            b'x' => long_name = long_path(content)?.or(long_name),
            // About the whole archive, as git writes it.
            b'g' => {}
            b'5' => long_name = None,
            _ => {
                let path = long_name.take().map_or_else(|| short_path(head), Ok)?;
                let path = path.trim_start_matches("./").to_string();
                let shown = plain(&path);
                match kind {
                    b'0' | b'7' | 0 => check_path(&path)?,
                    b'1' | b'2' => return Err(format!("`{shown}` is a link")),
                    _ => return Err(format!("`{shown}` is neither a file nor a folder")),
                }
                if files.iter().any(|file| file.path == Path::new(&path)) {
                    return Err(format!("`{shown}` is in it twice"));
                }
                bytes += size as u64;
                check_size(files.len() + 1, bytes)?;
                let is_executable = octal(&head[100..108])? & 0o100 != 0;
                files.push(ContentFile::plain(
                    path.into(),
                    is_executable,
                    content.to_vec(),
                ));
            }
        }
    }
    Err("it is no whole tar archive".to_string())
}

/// Checks the sum of a header, and returns how many bytes follow it.
fn header(head: &[u8]) -> std::result::Result<usize, String> {
    let (before, after) = (&head[..148], &head[156..]);
    // The field of the sum counts as blanks.
    let sum: usize = before
        .iter()
        .chain(after)
        .chain(b"        ")
        .map(|b| usize::from(*b))
        .sum();
    if octal(&head[148..156]) != Ok(sum) {
        return Err("it is no tar archive".to_string());
    }
    octal(&head[124..136])
}

fn octal(field: &[u8]) -> std::result::Result<usize, String> {
    let digits = text(field)?;
    usize::from_str_radix(digits.trim(), 8)
        .map_err(|_| format!("`{}` is no number", plain(&digits)))
}

/// A text that a zero ends, or its field.
fn text(field: &[u8]) -> std::result::Result<String, String> {
    let bytes = field.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = std::str::from_utf8(bytes).map(str::to_string);
    text.map_err(|_| format!("`{}` is not UTF-8", bytes.escape_ascii()))
}

/// The path in a header.
fn short_path(head: &[u8]) -> std::result::Result<String, String> {
    let name = text(&head[..100])?;
    let prefix = if &head[257..263] == b"ustar\0" {
        text(&head[345..500])?
    } else {
        String::new()
    };
    Ok(if prefix.is_empty() {
        name
    } else {
        format!("{prefix}/{name}")
    })
}

/// The path in an extended header: lines of `LENGTH KEY=VALUE`.
fn long_path(mut rest: &[u8]) -> std::result::Result<Option<String>, String> {
    let mut path = None;
    while !rest.is_empty() {
        let digits = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
        let length: Option<usize> = std::str::from_utf8(digits)
            .ok()
            .and_then(|it| it.parse().ok());
        let line = length.and_then(|length| rest.get(digits.len() + 1..length));
        let line = line.ok_or("an extended header is damaged")?;
        rest = &rest[digits.len() + 1 + line.len()..];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(value) = line.strip_prefix(b"path=") {
            path = Some(text(value)?);
        } else if line.starts_with(b"size=") || line.starts_with(b"GNU.sparse") {
            return Err("a file in it is too long or has holes".to_string());
        }
    }
    Ok(path)
}

fn without_folder(files: Vec<ContentFile>) -> HookFiles {
    let around = files
        .first()
        .and_then(|file| file.path.iter().next())
        .map(PathBuf::from);
    let below = |file: &ContentFile, folder: &PathBuf| {
        let path = file.path.strip_prefix(folder).ok()?;
        (path != Path::new("")).then(|| path.to_path_buf())
    };
    let is_around = |folder: &PathBuf| files.iter().all(|file| below(file, folder).is_some());
    let Some(folder) = around.filter(is_around) else {
        return HookFiles::of(files);
    };
    let moved = |file: ContentFile| {
        let path = below(&file, &folder).unwrap_or_default();
        ContentFile::plain(path, file.is_program(), file.bytes)
    };
    HookFiles::of(files.into_iter().map(moved).collect())
}
