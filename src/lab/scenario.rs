//! One case: an input, and what must come back.
//!
//! Cases are read from files of TOML, each mistake with its place and its cure, and what came back
//! is compared with what they expect. Nothing is run and no file is opened here.

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
