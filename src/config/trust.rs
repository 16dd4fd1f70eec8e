//! Trust: a project's hooks come with its repository, and run only after approval.
//!
//! Trust covers the hook set of one folder (`files`): `hookrun.toml`, `hooks.d` and the files that
//! commands name (`parts`). Its digest is stored outside the repository (`store`), for all work
//! trees and branches. A user may follow a remote branch (`follow`). `check` compares, and seals
//! the files, which must be unchanged when hooks have run.

mod check;
mod files;
pub(crate) mod follow;
mod parts;
mod store;

pub use check::TRUST_KEYS;
pub use check::{KeptTrust, TrustChoice, TrustReport, TrustState};
pub(crate) use check::{
    ProjectFiles, STEP, TrustPolicy, TrustSeal, TrustTable, is_about_trust, judge,
};
pub use files::{ContentFile, FileList, FileMark, HookFiles, SetError};
pub(crate) use parts::{parts, same_in_main_work_tree};
pub use store::{FollowedBranch, TrustRecord, TrustStore, TrustedBy};
