//! Which host's settings a file is.
//!
//! 1. What the person says: `claude:FILE`.
//! 2. The host whose files alone have such a path.
//! 3. The host whose folder it lies in, if that host has one of its events, or none has.
//! 4. The one host that has most of its events, and whose hooks look like these.
//! 5. Else it is a problem, and the cure is to name the host.

use std::path::Path;

use crate::config::tree::Tree;
use crate::engine::complaint::Complaint;
use crate::hosts::settings::files::{HostFile, HostHookKey};
use crate::hosts::{self, Host, settings_files};

/// The host whose settings these hooks are; `None` if they are no agent host's, and a complaint if
/// they may be those of several.
pub(super) fn of(section: &Tree, file: &Path) -> Result<Option<&'static HostFile>, Complaint> {
    let scores: Vec<(&'static HostFile, usize)> = settings_files()
        .map(|host| (host, score(host, section)))
        .collect();
    let best = scores
        .iter()
        .map(|(_, score)| *score)
        .max()
        .unwrap_or_default();
    let mut at_home = scores
        .iter()
        .filter(|(host, score)| in_folder(host, file) && (*score > 0 || best == 0));
    if let (Some((host, _)), None) = (at_home.next(), at_home.next()) {
        return Ok(Some(host));
    }
    if best == 0 {
        return Ok(None);
    }
    let found: Vec<&'static HostFile> = scores
        .iter()
        .filter(|(_, score)| *score == best)
        .map(|(host, _)| *host)
        .collect();
    match found.as_slice() {
        [only] => Ok(Some(only)),
        several => {
            let names: Vec<&str> = several.iter().map(|host| host.dialect).collect();
            let cause = format!("these could be hooks of {}", names.join(" or "));
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            let first = names.first().copied().unwrap_or_default();
            let cure = format!("say whose: `--settings {first}:…/{file}`");
            Err(Complaint::with_cure(cause, cure))
        }
    }
}

/// The host in whose folder a file lies, if all its hooks are in one list.
pub(super) fn with_list(is_toml: bool, file: &Path) -> Option<&'static HostFile> {
    let of_kind = |host: &&HostFile| host.event_key().is_some() && host.is_toml == is_toml;
    settings_files()
        .filter(of_kind)
        .find(|host| in_folder(host, file))
}

/// The host whose files alone are named so.
pub(super) fn named(file: &Path) -> Option<&'static HostFile> {
    settings_files().find(|host| host.named.iter().any(|name| file.ends_with(name)))
}

/// Whether any of these keys is an event of the host.
pub(super) fn has_events(host: &HostFile, section: &Tree) -> bool {
    let events = hosts::find(host.dialect).map_or(&[][..], |dialect| dialect.events);
    let mut keys = section.entries().unwrap_or_default().iter();
    keys.any(|entry| events.iter().any(|row| row.name == entry.key))
}

fn in_folder(host: &HostFile, file: &Path) -> bool {
    let mut parts = file.components().map(|part| part.as_os_str());
    parts.any(|part| host.folders.iter().any(|folder| part == *folder))
}

fn score(host: &HostFile, section: &Tree) -> usize {
    let Some(dialect) =
        hosts::find(host.dialect).filter(|_| !host.has_sets && host.event_key().is_none())
    else {
        return 0;
    };
    let entries = section.entries().unwrap_or_default();
    let known = |dialect: &Host, name: &str| dialect.events.iter().any(|row| row.name == name);
    let own: Vec<_> = entries
        .iter()
        .filter(|event| known(dialect, &event.key))
        .collect();
    let items = own
        .iter()
        .flat_map(|event| event.tree.items().unwrap_or_default());
    let looks = |item: &Tree| {
        let has_group = item.at(&["hooks"]).is_some();
        has_group == host.is_grouped || item.entries().is_none_or(<[_]>::is_empty)
    };
    if !items.clone().all(looks) {
        return 0;
    }
    let hooks: Vec<&Tree> = items
        .flat_map(|item| {
            if !host.is_grouped {
                return std::slice::from_ref(item);
            }
            let hooks = item.at(&["hooks"]).and_then(Tree::items);
            hooks.unwrap_or_default()
        })
        .collect();
    // A key that another host does not know is a sign as good as an event.
    let signs = host.hook.iter().filter(|row| {
        let others = settings_files().filter(|other| other.is_grouped == host.is_grouped);
        let is_own = others
            .filter(|other| other.dialect != host.dialect)
            .all(|other| other.hook.iter().all(|one| one.name != row.name));
        is_own
            && row.says != HostHookKey::OfKind
            && hooks.iter().any(|hook| hook.at(&[row.name]).is_some())
    });
    if own.is_empty() {
        0
    } else {
        own.len() * 2 + signs.count()
    }
}
