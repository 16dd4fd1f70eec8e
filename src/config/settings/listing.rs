//! Settings that list the files of hooks. Each file says its event itself.

use std::path::PathBuf;
use std::time::Duration;

use super::json::{Kind, Node};
use super::{Entries, Reader};
use crate::config::loose::{Loose, Origin};
use crate::config::problem::Fault;
use crate::dialects::folders;
use crate::dialects::settings::{LISTINGS, Listing};

impl Reader<'_> {
    /// The kind of list that the file is, if it is one.
    pub(super) fn listing_of(entries: &Entries<'_>) -> Option<&'static Listing> {
        LISTINGS.iter().find(|listing| {
            entries.iter().any(|(key, _, value)| {
                key == listing.timeout
                    || key == listing.section && matches!(value.kind(), Kind::List(_))
            })
        })
    }

    pub(super) fn listing(&mut self, listing: &'static Listing, entries: &Entries<'_>) {
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

    fn listed(&mut self, listing: &'static Listing, value: Node<'_>) {
        let Kind::List(items) = value.kind() else {
            let cause =
                format!("`{}` takes a list of paths, not {}", listing.section, value.describe());
            return self.fault(Fault::new(cause, "write [ \"~/hooks/gate.sh\" ]"), value.offset);
        };
        for item in items {
            let Kind::Text(written) = item.kind() else {
                let cause = format!("a path must be a string, not {}", item.describe());
                self.fault(Fault::new(cause, "write `\"~/hooks/gate.sh\"`"), item.offset);
                continue;
            };
            let path = self.path(&written);
            if path.is_file() {
                let host = folders::of(listing.dialect);
                self.manifest.loose.push(Loose { path, host, origin: Origin::Listed });
            } else {
                let what = if path.is_dir() { "is a folder, not a file" } else { "is not there" };
                let cause = format!("the hook `{written}` {what}");
                self.fault(Fault::new(cause, "correct the path, or drop it"), item.offset);
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

    fn timeout(&mut self, listing: &'static Listing, value: Node<'_>) {
        let millis = match value.kind() {
            Kind::Other(text) => text.parse().ok().filter(|millis: &u64| *millis > 0),
            Kind::Text(_) | Kind::List(_) | Kind::Table(_) => None,
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
                self.fault(Fault::new(cause, "write 30000 for 30 s"), value.offset);
            }
        }
    }
}
