//! hookrun runs hooks: small programs that are asked before and after something happens,
//! and may refuse it.

pub mod event;
pub mod spelling;
