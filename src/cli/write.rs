//! What people who write hooks use: `init`, `new`, `add`, `import` and `test`.

pub(in crate::cli) mod add;
mod files;
pub(in crate::cli) mod import;
pub(in crate::cli) mod init;
pub(in crate::cli) mod new;
pub(in crate::cli) mod sets;
pub(in crate::cli) mod test;
