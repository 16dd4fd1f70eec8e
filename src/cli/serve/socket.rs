//! A socket in a private folder.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::cli::exit::{Result, failed};
use crate::engine::complaint::Complaint;
use crate::engine::session::make_private;

/// `sun_path` has 108 bytes on Linux and 104 on macOS, including the NUL.
const LONGEST_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// A socket in a private folder, removed on drop.
#[derive(Debug)]
pub(crate) struct SocketFile {
    pub(crate) listener: UnixListener,
    path: PathBuf,
    /// Identifies our file, because another server may have replaced it.
    inode: u64,
}

impl SocketFile {
    /// Listens on `path` in a private folder, which is created if missing. Replaces a stale socket.
    pub(crate) fn listen(path: &Path) -> Result<SocketFile> {
        let shown = path.display();
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        make_private(folder, folder).map_err(|error| {
            let cause = format!("cannot use the folder of `{shown}`: {error}");
            Complaint::with_cure(
                cause,
                "use a folder that you own with mode 0700, or a new one",
            )
        })?;
        if path.as_os_str().len() > LONGEST_PATH_BYTES {
            let cause = format!("the path `{shown}` is too long for a socket");
            let cure = format!("use a path of at most {LONGEST_PATH_BYTES} bytes");
            return Err(Complaint::with_cure(cause, cure));
        }
        let cannot = || failed(format!("cannot listen on `{shown}`"));
        // Of two servers that start together, one sees the other's socket.
        let lock = File::open(folder).map_err(cannot())?;
        lock.lock().map_err(cannot())?;
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                clear(path)?;
                UnixListener::bind(path)
            }
            bound => bound,
        };
        let listener = listener.map_err(cannot())?;
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(cannot())?;
        let inode = path.symlink_metadata().map_err(cannot())?.ino();
        listener.set_nonblocking(true).map_err(cannot())?;
        Ok(SocketFile {
            listener,
            path: path.to_path_buf(),
            inode,
        })
    }

    /// Whether the path still leads to this socket.
    pub(crate) fn is_there(&self) -> bool {
        self.path
            .symlink_metadata()
            .is_ok_and(|meta| meta.ino() == self.inode)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn clear(path: &Path) -> Result<()> {
    let shown = path.display();
    let is_socket = path
        .symlink_metadata()
        .is_ok_and(|meta| meta.file_type().is_socket());
    if !is_socket {
        let cause = format!("`{shown}` exists, and is not a socket");
        return Err(Complaint::with_cure(
            cause,
            "choose a path that does not exist yet",
        ));
    }
    match UnixStream::connect(path) {
        Ok(_) => {
            let cause = format!("another server uses `{shown}`");
            Err(Complaint::with_cure(
                cause,
                "stop that server, or use another path",
            ))
        }
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed(format!("cannot replace `{shown}`")))
        }
        Err(error) => Err(failed::<io::Error>(format!("cannot use `{shown}`"))(error)),
    }
}
