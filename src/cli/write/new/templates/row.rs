//! What a template is made of.

use crate::engine::event::EventSpec;

pub(crate) struct Language {
    /// What `--lang` calls it.
    pub(crate) name: &'static str,
    pub(crate) ending: &'static str,
    /// The program that runs it.
    pub(crate) interpreter: &'static str,
    /// How values are read in it, apart from the environment.
    pub(super) reading: &'static str,
    /// The endings of the bodies that it can run, the best first.
    pub(super) runs: &'static [&'static str],
}

pub(crate) struct TemplateSort {
    /// The events that get it without `--template`, if no earlier row fits.
    pub(super) fits: fn(&EventSpec) -> bool,
    /// What `--template` calls it; empty where only the event chooses it.
    pub(super) name: &'static str,
    /// The events for which `--template` may choose it.
    pub(super) suits: fn(&EventSpec) -> bool,
    pub(super) directive: &'static str,
    /// What the comment above the directive says about it.
    pub(super) about: &'static str,
    /// The hook below its comment, by its ending. None in a language that would need too much for it.
    pub(super) bodies: &'static [(&'static str, &'static str)],
    pub(super) cases: &'static str,
    /// It never blocks, which its cases say if it could.
    pub(super) only_adds: bool,
}

impl TemplateSort {
    pub(super) fn body(&self, language: &Language) -> Option<&'static str> {
        let mut bodies = language
            .runs
            .iter()
            .filter_map(|name| self.bodies.iter().find(|(known, _)| known == name));
        bodies.next().map(|(_, body)| *body)
    }
}
