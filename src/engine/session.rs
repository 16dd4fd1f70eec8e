//! Stored data of a session: its hooks' entries and pending messages.
//!
//! Each session has a private folder below one root, with a folder for each hook. Files are locked
//! and replaced atomically, so that parallel hooks lose nothing. Links are not followed, since
//! sandboxed hooks may write these folders.

mod store;

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use store::{PATIENCE, Store, StoreError};

/// Folder shared by a session's hooks. A hook's folder never begins with a dot.
const SHARED: &str = ".shared";

/// Folder for hookrun's data of a session, outside of every hook's sandbox.
const OWN: &str = ".hookrun";

/// Session name for events without one.
const NO_SESSION: &str = "no-session";

/// A message to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub text: String,
    /// Kind of message, for hosts that distinguish kinds (`customType` in pi). `None`: a user
    /// message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_type: Option<String>,
    /// Whether the person sees it. The model always does.
    #[serde(default = "shown")]
    pub display: bool,
    /// JSON for the host, not for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Absolute paths of attached files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
    /// Sending hook; `None` outside of hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// Id of the client's request that the hook ran for. Only `hookrun serve` sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Time of sending (RFC 3339, UTC).
    pub time: String,
}

fn shown() -> bool {
    true
}

/// A session of an embedding program; it receives messages immediately.
pub trait Session: Send + Sync {
    /// Receives a message for the session `id`, which is empty if the event has none. A busy agent
    /// gets it when it is done, an idle one starts on it, as in pi.
    ///
    /// # Errors
    /// Returns why the message is rejected, for the hook's author.
    fn send(&self, id: &str, message: &Message) -> Result<(), String>;
}

/// Returns a session's folder below `root`. An empty or missing id is the unnamed session.
pub fn folder(root: &Path, id: Option<&str>) -> PathBuf {
    let id = id.filter(|id| !id.is_empty()).unwrap_or(NO_SESSION);
    root.join("sessions").join(file_name(id))
}

/// How long a session's folder is kept after its last change.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// How often old sessions are removed, and how long that may take.
const SWEEP_INTERVAL: Duration = Duration::from_hours(24);
const SWEEP_LIMIT: Duration = Duration::from_millis(50);

/// The file that records the last sweep. No session has this name.
pub(crate) const SWEPT: &str = ".swept";

/// Removes the folders of old sessions, once a day. A later session finishes what takes too long.
pub(crate) fn remove_old(root: &Path) {
    let sessions = root.join("sessions");
    let swept = sessions.join(SWEPT);
    if swept.exists() && !is_older(&swept, SWEEP_INTERVAL) {
        return;
    }
    let started = Instant::now();
    for entry in fs::read_dir(&sessions).into_iter().flatten().flatten() {
        if started.elapsed() > SWEEP_LIMIT {
            return;
        }
        if entry.file_name() != NO_SESSION && entry.file_name() != SWEPT && is_old(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let _ = fs::write(swept, "");
}

/// Returns true if neither a path nor anything below it has changed within [`KEPT`].
fn is_old(path: &Path) -> bool {
    let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let entries = is_folder.then(|| fs::read_dir(path)).into_iter().flatten();
    let mut entries = entries.flatten().flatten();
    is_older(path, KEPT) && entries.all(|entry| is_old(&entry.path()))
}

fn is_older(path: &Path, age: Duration) -> bool {
    let changed = path.symlink_metadata().and_then(|meta| meta.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|passed| passed > age))
}

pub fn hook_folder(session: &Path, hook: &str) -> PathBuf {
    session.join(file_name(hook))
}

pub fn shared_folder(session: &Path) -> PathBuf {
    session.join(SHARED)
}

/// Returns the folder for hookrun's data of a session, which hooks do not write.
pub fn own_folder(session: &Path) -> PathBuf {
    session.join(OWN)
}

/// Creates a folder below `root` that only its owner can read. Fails if it is open to others, or
/// could be replaced by another user.
pub fn make_private(root: &Path, folder: &Path) -> io::Result<()> {
    let own = rustix::process::getuid().as_raw();
    let was_private = is_private(folder, own);
    if !was_private {
        let mut builder = DirBuilder::new();
        builder.mode(0o700).recursive(true).create(folder)?;
    }
    // Check both folders: another process may have created one before us.
    let root_is_own = root
        .symlink_metadata()
        .is_ok_and(|meta| meta.uid() == own && (meta.is_symlink() || meta.mode() & 0o022 == 0));
    if root_is_own && (was_private || is_private(folder, own)) {
        return Ok(());
    }
    let kind = io::ErrorKind::PermissionDenied;
    Err(io::Error::new(kind, "other users can access the folder"))
}

/// Returns true for a folder that only the user `own` can read.
fn is_private(folder: &Path, own: u32) -> bool {
    let meta = folder.symlink_metadata();
    meta.is_ok_and(|meta| meta.is_dir() && meta.uid() == own && meta.mode() & 0o077 == 0)
}

/// Returns a unique file name for a text: letters, digits, `-`, `_` and inner dots stay; other
/// bytes become `%` and two hex digits.
pub(crate) fn file_name(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if at > 0 => name.push('.'),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name.is_empty() {
        name.push('%');
    }
    // File names are limited to 255 bytes.
    if name.len() > 200 {
        name.truncate(180);
        name.push_str(&format!("%%{:016x}", checksum(text.as_bytes())));
    }
    name
}

/// 64-bit FNV-1a.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Pending messages of a session, as JSON lines.
#[derive(Debug, Clone)]
pub struct Outbox {
    store: Store,
}

impl Outbox {
    /// Returns the outbox in the folder shared by a session's hooks. Creates no file.
    pub fn in_folder(folder: &Path) -> Outbox {
        Outbox {
            store: Store::new(folder, ".messages.jsonl"),
        }
    }

    pub fn put(&self, message: &Message) -> Result<(), StoreError> {
        let line = serde_json::to_vec(message).map_err(|error| self.store.fails(&error))?;
        self.store.change(PATIENCE, |all| {
            all.extend(line);
            all.push(b'\n');
            Ok(())
        })
    }

    /// Passes pending messages to `deliver`, oldest first, then removes them; if one cannot be
    /// delivered, all stay. Drops invalid lines.
    pub fn take(
        &self,
        mut deliver: impl FnMut(&Message) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        if self.store.read()?.is_empty() {
            return Ok(());
        }
        self.store.change(PATIENCE, |all| {
            for line in std::mem::take(all).split(|byte| *byte == b'\n') {
                match serde_json::from_slice(line) {
                    Ok(message) => deliver(&message).map_err(|error| self.store.fails(&error))?,
                    Err(_) if line.is_empty() => {}
                    Err(error) => tracing::warn!(%error, "a line of the outbox is not a message"),
                }
            }
            Ok(())
        })
    }
}

/// Files of a hook's or session's entries, and of a session's status line, in its folder.
pub const ENTRIES: &str = ".entries.json";
pub const STATUS: &str = ".status.json";

/// Entries by key. `set` leaves one text under a key; `append` adds another.
pub type EntryTexts = BTreeMap<String, Vec<String>>;
