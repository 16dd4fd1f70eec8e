//! One case: an input and its expected result.
//!
//! Cases are read from TOML files, and each mistake is reported with its place and its fix. Results
//! are then compared with expectations. Nothing here runs a hook.

mod case;
pub mod coverage;
mod expect;
pub mod keys;
mod placeholders;
mod reader;

pub use crate::config::PlacedValue;
pub use case::{
    Case, CaseResult, CaseStep, Content, End, Expect, FileExpectation, Miss, Stdout, StepInput,
    StepResult, Suite, SuppliedFile,
};
pub use expect::{StepOutcome, misses};
pub use placeholders::{CaseFolders, TOKENS, TokenRow};
pub use reader::{has_cases, read};
