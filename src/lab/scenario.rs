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
pub mod mutation;
mod played;
mod reader;
mod rows;
mod slips;

pub use crate::config::Placed;
pub use case::{Case, CaseStep, Content, Expect, Laid, Left, Stdout, StepInput, Suite};
pub use coverage::Never;
pub use expect::misses;
pub use fill::{CaseFolders, TOKENS, TokenRow};
pub use judge::StepOutcome;
pub use played::{End, Miss, Played, StepResult};
pub use reader::{has_cases, read};
pub use slips::Keys;
