//! The first and the last line of a report as JSON.

use serde::{Deserialize, Serialize};

use crate::lab::replay::totals::Totals;

pub const VERSION: u64 = 1;

/// The first line of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// [`VERSION`].
    pub hookrun_replay: u64,
    /// In the order of the command line.
    pub inputs: Vec<String>,
    /// `3/8`; `None` for the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The folder of the other set of hooks, if two are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The named folders of hooks, and the settings files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discover: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_change: Vec<String>,
    /// Other words count as changes too.
    pub strict: bool,
    /// Events that were not kept whole count as decided.
    pub allow_undecided: bool,
}

/// The last line of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    pub totals: Totals,
    /// `same`, `changed` or `incomplete`.
    pub ended: String,
}
