//! hookrun runs hooks: small programs that are asked before and after something happens,
//! and may refuse it.

pub mod chain;
pub mod config;
pub mod dialect;
pub mod event;
pub mod exec;
pub mod hook;
pub mod outcome;
pub mod plan;
pub mod registry;
pub mod reminder;
pub mod report;
pub mod run;
pub mod runner;
pub mod spelling;
