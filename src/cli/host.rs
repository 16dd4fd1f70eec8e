//! Hosts that are told to call hookrun: `install` and `uninstall`.

pub(in crate::cli) mod install;
