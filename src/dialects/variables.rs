//! The variables that hosts set for their hooks, so that hooks of theirs find them everywhere.

use super::row::{Binding, HostVariable, Tells};
use crate::engine::event::Event;

impl Binding {
    /// The variables that its host would set for a hook of `event`, with their values.
    pub fn variables(self, event: &Event, project: &str) -> Vec<(&'static str, String)> {
        let value = |variable: &HostVariable| match variable.tells {
            Tells::Project => Some(project.to_string()),
            Tells::Folder => {
                let own = event.context().string("cwd").filter(|cwd| !cwd.is_empty());
                Some(own.unwrap_or_else(|| project.to_string()))
            }
            Tells::Fact(key) => event.context().text(key).filter(|text| !text.is_empty()),
            Tells::Word(word) => Some(word.to_string()),
        };
        let rows = self.dialect.variables.iter();
        rows.filter_map(|variable| Some((variable.name, value(variable)?))).collect()
    }
}
