//! Makes hosts call hookrun: `install` and `uninstall`.

pub(in crate::cli) mod install;
