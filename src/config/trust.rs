//! Trust: the hooks of a project came with somebody's repository, and run only when their content
//! is trusted.
//!
//! What is trusted is the whole set of one folder (`files`): its `hookrun.toml`, all of `hooks.d`
//! and the files that commands name (`named`). A digest of it is kept for its repository
//! (`repository`) outside of it (`store`), so that a work tree or a branch with known content asks
//! nobody. `check` compares, and seals the files: they must be the same when hooks have run.

mod check;
mod files;
mod kept;
mod named;
mod policy;
mod repository;
mod store;

pub use check::{TrustChoice, TrustReport, TrustState};
pub(crate) use check::{TrustSeal, digest_of, judge, parts};
pub use files::{ContentFile, FileList, FileMark, HookFiles, SetError};
pub use kept::KeptTrust;
#[cfg(feature = "cli")]
pub use policy::TRUST_KEYS;
pub(crate) use policy::{TrustPolicy, TrustTable};
pub use store::{TrustRecord, TrustStore, TrustedBy};
