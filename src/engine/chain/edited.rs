//! A text of the event that a hook reads and rewrites in a file, as git's hooks do with the commit
//! message.
//!
//! git's own file is used only while the text in it is what the event says, and only for a hook's
//! first run. Otherwise (a test case, a replay, an earlier rewrite, a second run) the hook gets a
//! copy. Either way, a changed text becomes a rewrite of the event.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::engine::event::Event;
use crate::engine::hook::EditedField;
use crate::engine::run::StartError;

/// The file, until the hook's run is over.
#[derive(Debug)]
pub(crate) struct EditedFile {
    field: EditedField,
    path: PathBuf,
    /// The text before the hook ran.
    given: String,
    /// A copy is removed at the end.
    is_copy: bool,
}

impl EditedFile {
    /// The host's file, if it may be edited and has the event's text; `None` if the hook needs a
    /// copy.
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

    /// A copy in a new `folder`, under the name of the host's file.
    ///
    /// # Errors
    /// When it cannot be written.
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
                "free some space there",
            )
        })?;
        Ok(file)
    }

    /// Puts the path of a copy among the arguments. The host's own file keeps the path that the
    /// host gave, unless the hook runs in a `folder` of its own.
    pub(super) fn name_in(&self, arguments: &mut Vec<OsString>, has_own_folder: bool) {
        let place = self.field.argument;
        if arguments.len() <= place {
            arguments.resize(place + 1, OsString::new());
        }
        if self.is_copy || has_own_folder || arguments[place].is_empty() {
            arguments[place] = self.path.clone().into_os_string();
        }
    }

    /// The field and its new text, if the hook has changed the file.
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

/// The text of a file as a context has it: bytes that are not UTF-8 are replaced.
fn text_in(file: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())
}
