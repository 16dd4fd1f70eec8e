//! Checks what a case sends and copies, before anything is run.

use std::io::ErrorKind;
use std::path::Path;

use crate::config::{Config, Position};
use crate::dialects;
use crate::engine::complaint::Complaint;
use crate::lab::scenario::{Case, CaseStep, Keys, StepInput};
use serde_json::{Map, Value};

use super::SuiteLoader;
use crate::cli::exit::CommandFailure;
use crate::cli::write::test::suite::trial;

impl SuiteLoader<'_> {
    /// Files that a case copies or sends must be there.
    pub(super) fn check_sources(&mut self, file: &Path, case: &Case) {
        let folder = file.parent().unwrap_or(file);
        for (path, at) in trial::sources(case) {
            let cause = match folder.join(path).metadata() {
                Ok(meta) if meta.is_file() => continue,
                Ok(_) => format!("`{}` is not a file", path.display()),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    format!("there is no file `{}`", path.display())
                }
                Err(error) => format!("cannot look at `{}`: {error}", path.display()),
            };
            let help = "its path is relative to the file of cases";
            self.fault(file, at, CommandFailure::with_help(cause, help));
        }
    }

    /// A context must be one. If it should be allowed, its keys must be those of the event, or clearly
    /// others: a case that a slip blocks is worth something, that it is allowed proves nothing.
    pub(super) fn check_context(
        &mut self,
        file: &Path,
        step: &CaseStep,
        events: &[String],
        config: &Config,
    ) {
        let (context, at) = match &step.input {
            StepInput::Nothing | StepInput::Text(_) => return,
            StepInput::Context(value) => (value.value.as_object().cloned(), value.at),
            StepInput::Json(text) => (serde_json::from_str(&text.value).ok(), text.at),
            StepInput::File(path) => {
                let source = file.parent().unwrap_or(file).join(&path.value);
                // One that cannot be read is reported where it is named.
                let Ok(bytes) = trial::read(&source) else { return };
                (self.context_in(&source, &bytes), path.at)
            }
        };
        let is_open = step.expect.decision.value == "allow";
        let Some(context) = context.filter(|_| is_open) else { return };
        let bindings = dialects::find(&step.host.value);
        let bindings = bindings.map(|dialect| dialect.called(&step.event.value));
        let specs = config.catalog.iter().filter(|spec| events.contains(&spec.name.to_string()));
        let keys = Keys::of(specs, &bindings.unwrap_or_default());
        for (key, meant) in keys.slips(&context) {
            let cause = format!("`{}` has no key `{key}`", step.event.value);
            let help = format!("did you mean `{meant}`? To send it as written, use `stdin`");
            self.fault(file, at, CommandFailure::with_help(cause, help));
        }
    }

    /// The context in a file; a mistake of that file where there is none.
    fn context_in(&mut self, source: &Path, bytes: &[u8]) -> Option<Map<String, Value>> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match serde_json::from_slice(text) {
            Ok(context) => Some(context),
            Err(error) => {
                let at = Position { line: error.line().max(1), column: error.column().max(1) };
                let cause = format!("is not a JSON object: {error}");
                let wrong =
                    Complaint::with_cure(cause, "correct it; to send other text, use `stdin`");
                self.problem(wrong.in_file(source, Some(at)));
                None
            }
        }
    }
}
