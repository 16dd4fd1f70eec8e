//! Settings that list the files of hooks. Each file says its event itself.

use std::path::PathBuf;
use std::time::Duration;

use super::json::{JsonKind, Node};
use super::{PlacedEntries, SettingsReader};
use crate::config::loose::{Loose, LooseOrigin};
use crate::dialects::folders;
use crate::dialects::settings::{LISTINGS, ListingShape};
use crate::engine::complaint::Complaint;

impl SettingsReader<'_> {
    /// The kind of list that the file is, if it is one.
    pub(super) fn listing_of(entries: &PlacedEntries<'_>) -> Option<&'static ListingShape> {
        LISTINGS.iter().find(|listing| {
            entries.iter().any(|(key, _, value)| {
                key == listing.timeout
                    || key == listing.section && matches!(value.kind(), JsonKind::List(_))
            })
        })
    }

    pub(super) fn listing(&mut self, listing: &'static ListingShape, entries: &PlacedEntries<'_>) {
        if !entries.iter().any(|(key, _, _)| key == listing.section) {
            self.nothing_of_hooks(0);
        }
        for (key, _, value) in entries {
            if key == listing.section {
                self.listed(listing, *value);
            } else if key == listing.timeout {
                self.timeout(listing, *value);
            }
        }
    }

    fn listed(&mut self, listing: &'static ListingShape, value: Node<'_>) {
        let JsonKind::List(items) = value.kind() else {
            let cause =
                format!("`{}` takes a list of paths, not {}", listing.section, value.describe());
            return self
                .fault(Complaint::with_cure(cause, "write [ \"~/hooks/gate.sh\" ]"), value.offset);
        };
        for item in items {
            let JsonKind::Text(written) = item.kind() else {
                let cause = format!("a path must be a string, not {}", item.describe());
                self.fault(Complaint::with_cure(cause, "write `\"~/hooks/gate.sh\"`"), item.offset);
                continue;
            };
            let path = self.path(&written);
            if path.is_file() {
                let host = folders::of(listing.dialect);
                self.manifest.loose.push(Loose { path, host, origin: LooseOrigin::Listed });
            } else {
                let what = if path.is_dir() { "is a folder, not a file" } else { "is not there" };
                let cause = format!("the hook `{written}` {what}");
                self.fault(
                    Complaint::with_cure(cause, "correct the path, or drop it"),
                    item.offset,
                );
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

    fn timeout(&mut self, listing: &'static ListingShape, value: Node<'_>) {
        let millis = match value.kind() {
            JsonKind::Other(text) => text.parse().ok().filter(|millis: &u64| *millis > 0),
            JsonKind::Text(_) | JsonKind::List(_) | JsonKind::Table(_) => None,
        };
        match millis {
            Some(millis) => {
                let timeout = Duration::from_millis(millis);
                self.manifest.timeouts.push((listing.dialect, timeout));
            }
            None => {
                let key = listing.timeout;
                let cause =
                    format!("`{key}` takes milliseconds, at least 1, not {}", value.describe());
                self.fault(Complaint::with_cure(cause, "write 30000 for 30 s"), value.offset);
            }
        }
    }
}
