//! Whether anything has happened in folders: one system call, while looking into each of them takes
//! as long as a short hook.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

#[derive(Debug)]
pub(super) struct Stillness {
    events: OwnedFd,
}

impl Stillness {
    /// Watches these folders from now on: entries that come and go, and permissions. `None` if the
    /// system cannot.
    #[cfg(target_os = "linux")]
    pub(super) fn of(folders: &[PathBuf]) -> Option<Stillness> {
        use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let news = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE | WatchFlags::ATTRIB;
        for folder in folders {
            inotify::add_watch(&events, folder, news | WatchFlags::ONLYDIR).ok()?;
        }
        Some(Stillness { events })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(_folders: &[PathBuf]) -> Option<Stillness> {
        None
    }

    pub(super) fn lasts(&self) -> bool {
        rustix::io::ioctl_fionread(&self.events).is_ok_and(|waiting| waiting == 0)
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_happens_in_a_folder_ends_its_stillness() {
        let place = tempfile::tempdir().unwrap();
        let watch = || Stillness::of(&[place.path().to_path_buf()]).unwrap();
        let still = watch();
        fs::read_dir(place.path()).unwrap().for_each(drop);
        assert!(still.lasts());
        fs::write(place.path().join("a"), "").unwrap();
        assert!(!still.lasts());

        let still = watch();
        fs::remove_file(place.path().join("a")).unwrap();
        assert!(!still.lasts());

        let still = watch();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(!still.lasts());
    }
}
