//! One case: an input and its expected result.
//!
//! Cases are read from TOML files, and each mistake is reported with its place and its fix. Results
//! are then compared with expectations. Nothing here runs a hook or opens a file.

mod case;
pub mod coverage;
mod expect;
mod fill;
mod judge;
pub mod keys;
mod played;
mod reader;
mod rows;
mod slips;

pub use crate::config::PlacedValue;
pub use case::{
    Case, CaseStep, Content, Expect, FileExpectation, Stdout, StepInput, Suite, SuppliedFile,
};
pub use coverage::Never;
pub use expect::misses;
pub use fill::{CaseFolders, TOKENS, TokenRow};
pub use judge::StepOutcome;
pub use played::{CaseResult, End, Miss, StepResult};
pub use reader::{has_cases, read};
pub use slips::Keys;
