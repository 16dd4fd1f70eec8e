//! The first and the last line of a report as JSON.

use serde::{Deserialize, Serialize};

use crate::lab::replay::partition::Partition;
use crate::lab::replay::totals::Totals;

/// The version of the form of `--format json`.
pub const VERSION: u64 = 1;

/// The first line of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// [`VERSION`].
    pub hookrun_replay: u64,
    /// The recordings, in the order in which they were named.
    pub inputs: Vec<String>,
    /// The part that was decided, `3/8`; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The folder of the other set of hooks, where two are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The folders that hooks were taken from, where they are named, and the settings files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// Those of the system, the user and the project as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discover: bool,
    /// The hooks whose decisions may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_change: Vec<String>,
    /// Other words are changes too.
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

impl Header {
    /// Of a replay of these recordings.
    pub fn new(inputs: Vec<String>, partition: Partition) -> Header {
        let partition = (partition != Partition::WHOLE).then(|| partition.to_string());
        Header {
            hookrun_replay: VERSION,
            inputs,
            partition,
            against: None,
            hooks: Vec::new(),
            settings: Vec::new(),
            discover: false,
            allow_change: Vec::new(),
            strict: false,
            allow_undecided: false,
        }
    }
}
