//! Trust: the hooks of a project came with somebody's repository, and run only when their content
//! is trusted.
//!
//! What is trusted is the whole set of one folder (`files`): its `hookrun.toml`, all of `hooks.d`
//! and the files that commands name (`parts`). A digest of it is kept for its repository outside of
//! it (`store`), so that a work tree or a branch with known content asks nobody. A person may also
//! follow a branch of a remote, whose content counts (`follow`). `check` compares, and seals the
//! files: they must be the same when hooks have run.

mod check;
mod files;
pub(crate) mod follow;
mod parts;
mod store;

pub use check::TRUST_KEYS;
pub use check::{KeptTrust, TrustChoice, TrustReport, TrustState};
pub(crate) use check::{TrustPolicy, TrustSeal, TrustTable, digest_of, is_about_trust, judge};
pub use files::{ContentFile, FileList, FileMark, HookFiles, SetError};
pub(crate) use parts::{parts, same_in_main_work_tree};
pub use store::{FollowedBranch, TrustRecord, TrustStore, TrustedBy};
