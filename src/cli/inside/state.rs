//! `hookrun state`: texts that a hook keeps for its later runs, and those that all hooks of a
//! session share.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::{Environment, Inside};
use crate::engine::complaint::Complaint;
use crate::engine::session::SessionEntries;
use crate::engine::session::{self, StoreError};

use crate::cli::args::{StateAction, StateArgs, ValueFormat};
use crate::cli::exit::{ExitStatus, Result, failed};

/// Reads or changes entries: 0 done, 1 there are none, 2 it cannot be done.
pub(crate) fn state(args: &StateArgs, out: &mut dyn Write) -> Result {
    check_key(&args.action)?;
    let inside = Environment::inside();
    let Some(own) = inside.state else {
        return Err(Complaint::with_cure(
            "there is no state outside of a hook: HOOKRUN_STATE_DIR is not set",
            "call it in a hook that hookrun runs",
        ));
    };
    let folder = if args.shared {
        beside(&own).made()?
    } else {
        own
    };
    let entries = SessionEntries::in_folder(&folder);
    let Some(texts) = act(&args.action, &entries).map_err(Complaint::of)? else {
        return Ok(ExitStatus::No);
    };
    for text in texts {
        writeln!(out, "{text}")?;
    }
    Ok(ExitStatus::Yes)
}

/// Rejects a key that `list` could not print on one line.
fn check_key(action: &StateAction) -> Result<()> {
    let key = match action {
        StateAction::Get { key, .. }
        | StateAction::Set { key, .. }
        | StateAction::Append { key, .. }
        | StateAction::Remove { key } => key,
        StateAction::List { .. } => return Ok(()),
    };
    let cure = "write a word: `hookrun state list` prints one key a line";
    if key.is_empty() {
        return Err(Complaint::with_cure("the key is empty", cure));
    }
    if key.contains(['\n', '\r']) {
        let shown = key.escape_debug();
        return Err(Complaint::with_cure(
            format!("the key `{shown}` has a line break"),
            cure,
        ));
    }
    Ok(())
}

/// What there is to print; `None` if there is no such key.
fn act(
    action: &StateAction,
    entries: &SessionEntries,
) -> std::result::Result<Option<Vec<String>>, StoreError> {
    let done = || Some(Vec::new());
    Ok(match action {
        StateAction::Get { key, format } => {
            let texts = Some(entries.get(key)?).filter(|texts| !texts.is_empty());
            let quoted = |text: &String| serde_json::Value::from(text.as_str()).to_string();
            match format {
                ValueFormat::Text => texts,
                ValueFormat::Json => texts.map(|texts| texts.iter().map(quoted).collect()),
            }
        }
        StateAction::Set { key, value } => entries.set(key, value).map(|()| done())?,
        StateAction::Append { key, value } => entries.append(key, value).map(|()| done())?,
        StateAction::Remove { key } => entries.remove(key)?.then(Vec::new),
        StateAction::List { format } => {
            let kept = entries.all()?;
            Some(match format {
                ValueFormat::Text => kept.into_keys().collect(),
                ValueFormat::Json => vec![serde_json::json!(kept).to_string()],
            })
        }
    })
}

/// The folder that the hooks of a session share: the named session, the hook's, or that of events
/// without one. It may not exist yet.
pub(crate) fn shared_folder(
    named: Option<&str>,
    env: &Environment,
    inside: &Inside,
) -> SharedFolder {
    match (named, &inside.state) {
        (None, Some(own)) => beside(own),
        (named, _) => {
            let root = env.state_root();
            let id = named.or(inside.session.as_deref());
            let path = session::shared_folder(&session::folder(&root, id));
            SharedFolder { root, path }
        }
    }
}

/// A folder that hooks share. It is trusted if `root` has the right owner.
pub(crate) struct SharedFolder {
    root: PathBuf,
    pub(crate) path: PathBuf,
}

impl SharedFolder {
    pub(crate) fn made(self) -> Result<PathBuf> {
        let made = session::make_private(&self.root, &self.path);
        made.map_err(failed(format!("cannot use `{}`", self.path.display())))?;
        Ok(self.path)
    }
}

/// The shared folder of the session that a hook's own folder lies in.
fn beside(own: &Path) -> SharedFolder {
    let session = own.parent().unwrap_or(own);
    SharedFolder {
        root: session.to_path_buf(),
        path: session::shared_folder(session),
    }
}
