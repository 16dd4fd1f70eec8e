//! Reports, test suites, exports and replay.

pub mod export;
pub mod replay;
pub mod report;
pub mod scenario;
