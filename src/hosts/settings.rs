//! Settings files of hosts: the known shapes, and what they may hold.
//!
//! Tables only. `config` reads the files by them, and knows no host by name.

pub mod files;
mod loom;
mod row;

pub use row::{Bucket, BucketShape, ListingShape, OperatorSwitch};

/// Every shape of a settings file that is known, in the order in which they are tried.
pub const SHAPES: &[BucketShape] = &[loom::PROFILE];

/// Every kind of settings file that lists the files of hooks.
pub const LISTINGS: &[ListingShape] = &[
    // Source: pi's "Hooks" document, "Additional Configuration".
    ListingShape {
        name: "the settings.json of pi, with hooks and hookTimeout",
        dialect: "pi",
        section: "hooks",
        timeout: "hookTimeout",
    },
];

/// The dialect that is called `name`, if its system has settings with hooks.
pub fn whose(name: &str) -> Option<&'static str> {
    let systems = SHAPES.iter().map(|shape| shape.dialect);
    let mut systems = systems.chain(LISTINGS.iter().map(|listing| listing.dialect));
    let of_host = files::of(name).map(|host| host.dialect);
    of_host.or_else(|| systems.find(|dialect| *dialect == name))
}

/// Variables that move the folder of a user's settings of a host.
pub const FOLDERS: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "KIMI_CODE_HOME",
    "PI_CODING_AGENT_DIR",
    "OPENCLAW_STATE_DIR",
];
