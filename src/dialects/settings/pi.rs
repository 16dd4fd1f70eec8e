//! pi's `settings.json`: the files of further hooks, and how long hooks may take.
//!
//! Source: pi's "Hooks" document, "Additional Configuration". What else stands in the file is
//! pi's own business.

use super::ListingShape;

/// `~/.pi/agent/settings.json`.
pub(super) const SETTINGS: ListingShape = ListingShape {
    name: "the settings.json of pi, with hooks and hookTimeout",
    dialect: "pi",
    section: "hooks",
    timeout: "hookTimeout",
};
