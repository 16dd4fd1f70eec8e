//! A text of the event that a hook reads and rewrites in a file, such as git's commit message.
//!
//! The host's file is used only on a hook's first run, and only while it contains the event's text.
//! In tests, replays, second runs and after a rewrite, the hook gets a copy.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::engine::event::Event;
use crate::engine::hook::EditedField;
use crate::engine::run::StartError;

#[derive(Debug)]
pub(crate) struct EditedFile {
    field: EditedField,
    path: PathBuf,
    given: String,
    /// Copies are removed on drop.
    is_copy: bool,
}

impl EditedFile {
    pub(super) fn of_host(field: EditedField, event: &Event, cwd: &Path) -> Option<EditedFile> {
        let given = event.context().string(field.field)?;
        let path = cwd.join(event.context().string(field.path)?);
        let is_same = text_in(&path).is_ok_and(|text| text == given);
        is_same.then_some(EditedFile {
            field,
            path,
            given,
            is_copy: false,
        })
    }

    /// Writes a copy into a new `folder`, under the name of the host's file.
    pub(super) fn copy(
        field: EditedField,
        event: &Event,
        folder: &Path,
    ) -> Result<EditedFile, StartError> {
        let given = event.context().string(field.field).unwrap_or_default();
        let named = event.context().string(field.path).unwrap_or_default();
        let name = Path::new(&named).file_name();
        let path = folder.join(name.unwrap_or(field.field.as_ref()));
        let file = EditedFile {
            field,
            path,
            given,
            is_copy: true,
        };
        let written = fs::create_dir(folder).and_then(|()| fs::write(&file.path, &file.given));
        written.map_err(|error| {
            let shown = file.path.display();
            StartError::new(
                format!(
                    "its `{}` cannot be written to `{shown}`: {error}",
                    field.field
                ),
                "free some disk space",
            )
        })?;
        Ok(file)
    }

    /// Puts the file's path into the arguments. The host's file keeps the path that the host
    /// passed, unless the hook runs in another folder.
    pub(super) fn name_in(&self, arguments: &mut Vec<OsString>, has_own_folder: bool) {
        let place = self.field.argument;
        if arguments.len() <= place {
            arguments.resize(place + 1, OsString::new());
        }
        if self.is_copy || has_own_folder || arguments[place].is_empty() {
            arguments[place] = self.path.clone().into_os_string();
        }
    }

    pub(super) fn update(&self) -> Option<(String, Value)> {
        let text = text_in(&self.path).ok()?;
        (text != self.given).then(|| (self.field.field.to_string(), text.into()))
    }
}

impl Drop for EditedFile {
    fn drop(&mut self) {
        if let (true, Some(folder)) = (self.is_copy, self.path.parent()) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Reads a file as a context has it: invalid UTF-8 is replaced.
fn text_in(file: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())
}
