//! What people who write hooks use: `init`, `new`, `add`, `import`, `edit` and `test`.

pub(in crate::cli) mod add;
pub(in crate::cli) mod edit;
mod files;
pub(in crate::cli) mod import;
pub(in crate::cli) mod init;
pub(in crate::cli) mod new;
pub(in crate::cli) mod sets;
pub(in crate::cli) mod test;
