//! What people who write hooks use: `new` and `test`.

pub(in crate::cli) mod new;
pub(in crate::cli) mod test;
