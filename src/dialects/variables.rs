//! The variables that hosts set for their hooks, so that hooks of theirs find them everywhere.

use crate::engine::event::Event;

/// A variable that a host sets for its hooks.
#[derive(Debug)]
pub struct HostVariable {
    /// Its name.
    pub name: &'static str,
    /// What is in it.
    pub tells: Tells,
}

/// What a variable of a host tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    /// The project's root.
    Project,
    /// The working directory of the event, else the project's root.
    Folder,
    /// This fact of the context, where it is told.
    Fact(&'static str),
    /// This word.
    Word(&'static str),
}

/// A row of a table.
pub const fn variable(name: &'static str, tells: Tells) -> HostVariable {
    HostVariable { name, tells }
}

impl super::Binding {
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
