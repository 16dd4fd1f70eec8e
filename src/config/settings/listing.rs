//! Settings that list the files of hooks. Each file names its event itself.

use std::path::PathBuf;
use std::time::Duration;

use super::reader::{SettingsReader, described};
use crate::config::layer::{Loose, LooseOrigin};
use crate::config::tree::{Tree, TreeEntry, TreeValue};
use crate::dialects::folders;
use crate::dialects::settings::{LISTINGS, ListingShape};

/// The kind of list that the file is, if it is one.
pub(super) fn of(entries: &[&TreeEntry]) -> Option<&'static ListingShape> {
    LISTINGS.iter().find(|listing| {
        entries.iter().any(|entry| {
            entry.key == listing.timeout
                || entry.key == listing.section && entry.tree.items().is_some()
        })
    })
}

impl SettingsReader<'_> {
    pub(super) fn listing(&mut self, listing: &'static ListingShape, entries: &[&TreeEntry]) {
        if !entries.iter().any(|entry| entry.key == listing.section) {
            self.nothing_of_hooks(0);
        }
        for entry in entries {
            if entry.key == listing.section {
                self.listed(listing, &entry.tree);
            } else if entry.key == listing.timeout {
                self.timeout(listing, &entry.tree);
            }
        }
    }

    fn listed(&mut self, listing: &'static ListingShape, tree: &Tree) {
        let Some(items) = tree.items() else {
            let cure = "write [ \"~/hooks/gate.sh\" ]";
            return self.wrong(tree, listing.section, "a list of paths", cure);
        };
        for item in items {
            let Some(written) = item.text() else {
                let cause = format!("a path must be a string, not {}", described(item));
                self.fault(item.offset, cause, "write `\"~/hooks/gate.sh\"`");
                continue;
            };
            let path = self.path(written);
            if path.is_file() {
                let host = folders::of(listing.dialect);
                self.manifest.loose.push(Loose { path, host, origin: LooseOrigin::Listed });
            } else {
                let what = if path.is_dir() { "is a folder, not a file" } else { "is not there" };
                let cause = format!("the hook `{written}` {what}");
                self.fault(item.offset, cause, "correct the path, or drop it");
            }
        }
    }

    /// A path as it was written: `~` is the home folder, and others begin where hookrun runs.
    fn path(&self, written: &str) -> PathBuf {
        let env = self.operator.env;
        match (written.strip_prefix("~/"), &env.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => env.cwd.join(written),
        }
    }

    fn timeout(&mut self, listing: &'static ListingShape, tree: &Tree) {
        let millis = if let TreeValue::Number(millis) = tree.value { millis } else { 0 };
        if millis > 0 {
            let timeout = Duration::from_millis(millis.unsigned_abs());
            return self.manifest.timeouts.push((listing.dialect, timeout));
        }
        let (takes, cure) = ("milliseconds, at least 1", "write 30000 for 30 s");
        self.wrong(tree, listing.timeout, takes, cure);
    }
}
