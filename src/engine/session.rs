//! What a session stores: the entries of its hooks, and the messages that wait for it.
//!
//! Everything is in private folders below one root: a folder for each session, and in it one for
//! each hook. Files change behind a lock and are replaced whole, so that hooks that run at once
//! lose nothing. No link is followed, since a hook in a sandbox may write these folders.

pub(crate) mod store;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use store::PATIENCE;
pub(crate) use store::Store;
pub use store::{StoreError, careful, release};

/// The folder that the hooks of a session share. A hook's own folder never begins with a dot.
const SHARED: &str = ".shared";

/// The folder for hookrun's own data of a session. No sandbox of a hook grants it.
const OWN: &str = ".hookrun";

/// The name for the session of an event that names none.
const NO_SESSION: &str = "no-session";

/// A message to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub text: String,
    /// What sort of message it is, for hosts that show sorts differently (`customType` in pi).
    /// `None`: the words of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_type: Option<String>,
    /// Whether the person sees it too; the model always does.
    #[serde(default = "shown")]
    pub display: bool,
    /// Any JSON for the host, not for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Absolute paths of attached files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
    /// The hook that sent it; `None` if it was sent outside any hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// The id of the client's request that the hook ran for. Only `hookrun serve` sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// When it was sent (RFC 3339, UTC).
    pub time: String,
}

fn shown() -> bool {
    true
}

/// A session of a program that embeds hookrun, which receives messages at once.
pub trait Session: Send + Sync {
    /// Takes a message for the session `id`, which is empty if the event names none. A busy agent
    /// gets it when it is done; an idle one starts on it (pi has the same rule).
    ///
    /// # Errors
    /// Why the message cannot be taken, for the hook's author.
    fn send(&self, id: &str, message: &Message) -> Result<(), String>;
}

/// The folder of a session below `root`; an empty or missing id is a session without a name.
pub fn folder(root: &Path, id: Option<&str>) -> PathBuf {
    let id = id.filter(|id| !id.is_empty()).unwrap_or(NO_SESSION);
    root.join("sessions").join(file_name(id))
}

pub fn hook_folder(session: &Path, hook: &str) -> PathBuf {
    session.join(file_name(hook))
}

pub fn shared_folder(session: &Path) -> PathBuf {
    session.join(SHARED)
}

/// The folder for hookrun's own data of a session, which hooks do not write.
pub fn own_folder(session: &Path) -> PathBuf {
    session.join(OWN)
}

/// Creates a folder below `root` that only its owner can read.
///
/// # Errors
/// When it cannot be created, is open to others, or another user could replace it.
pub fn make_private(root: &Path, folder: &Path) -> io::Result<()> {
    let own = rustix::process::getuid().as_raw();
    let was_private = is_private(folder, own);
    if !was_private {
        // It is there and open to others, or it is missing and gets created.
        DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(folder)?;
    }
    // Another process may have created it first, or may do so now, so check both folders.
    let root_is_own = root
        .symlink_metadata()
        .is_ok_and(|meta| meta.uid() == own && (meta.is_symlink() || meta.mode() & 0o022 == 0));
    if !root_is_own || !(was_private || is_private(folder, own)) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "others can access it",
        ));
    }
    Ok(())
}

/// Whether it is a folder that only the user `own` can read.
fn is_private(folder: &Path, own: u32) -> bool {
    let meta = folder.symlink_metadata();
    meta.is_ok_and(|meta| meta.is_dir() && meta.uid() == own && meta.mode() & 0o077 == 0)
}

/// A file in a folder below `root`, which is made private first.
pub(crate) fn private_store(
    root: &Path,
    folder: &Path,
    name: impl Into<Cow<'static, str>>,
) -> Result<Store, StoreError> {
    make_private(root, folder).map_err(|error| StoreError {
        file: folder.to_path_buf(),
        problem: error.to_string(),
    })?;
    Ok(Store::new(folder, name))
}

/// A different file name for every text: letters, digits, `-`, `_` and inner dots stay, and every
/// other byte becomes `%` and two digits.
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
    // A file name is limited to 255 bytes.
    if name.len() > 200 {
        name.truncate(180);
        name.push_str(&format!("%%{:016x}", checksum(text.as_bytes())));
    }
    name
}

/// FNV-1a, 64 bits.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The waiting messages of a session: JSON, one per line.
#[derive(Debug, Clone)]
pub struct Outbox {
    store: Store,
}

impl Outbox {
    /// The outbox of a session, in the private folder that its hooks share. Creates nothing yet.
    pub fn in_folder(folder: &Path) -> Outbox {
        Outbox {
            store: Store::new(folder, ".messages.jsonl"),
        }
    }

    /// Adds a message.
    ///
    /// # Errors
    /// When it cannot be stored, or too many messages already wait.
    pub fn put(&self, message: &Message) -> Result<(), StoreError> {
        let line = serde_json::to_vec(message).map_err(|error| self.store.fails(&error))?;
        let locked = self.store.lock()?;
        let mut all = locked.read()?;
        all.extend(line);
        all.push(b'\n');
        locked.replace(&all)
    }

    /// Passes all waiting messages to `deliver`, oldest first, then removes them. Lines that are
    /// not messages are removed too.
    ///
    /// # Errors
    /// When they cannot be read, or one cannot be delivered: then all of them stay.
    pub fn take(
        &self,
        mut deliver: impl FnMut(&Message) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        let locked = self.store.lock()?;
        let all = locked.read()?;
        if all.is_empty() {
            return Ok(());
        }
        for line in all
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            match serde_json::from_slice(line) {
                Ok(message) => deliver(&message).map_err(|error| self.store.fails(&error))?,
                Err(error) => tracing::warn!(%error, "a line of the outbox is not a message"),
            }
        }
        locked.replace(b"")
    }
}

/// What messages call them.
const ENTRIES: &str = "entries";

/// All entries, by key. `set` leaves one text under a key; each `append` adds another.
pub type EntryTexts = BTreeMap<String, Vec<String>>;

#[derive(Debug, Clone)]
pub struct SessionEntries {
    store: Store,
}

impl SessionEntries {
    /// The entries in a private folder. Creates nothing yet.
    pub fn in_folder(folder: &Path) -> SessionEntries {
        SessionEntries {
            store: Store::new(folder, ".entries.json"),
        }
    }

    /// The texts of a session's status line, by key. They are separate from its hooks' shared
    /// entries.
    pub fn of_status(folder: &Path) -> SessionEntries {
        SessionEntries {
            store: Store::new(folder, ".status.json"),
        }
    }

    /// All entries.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn all(&self) -> Result<EntryTexts, StoreError> {
        self.store.read_table(ENTRIES)
    }

    /// Changes the entries behind a lock.
    ///
    /// # Errors
    /// When they cannot be read or stored.
    pub fn change(&self, change: impl FnOnce(&mut EntryTexts)) -> Result<(), StoreError> {
        self.store.change_table(ENTRIES, PATIENCE, change)
    }
}
