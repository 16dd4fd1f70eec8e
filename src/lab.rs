//! What people look at: reports, suites, exports, replay and vectors.

pub mod conformance;
pub mod export;
pub mod replay;
pub mod report;
pub mod scenario;
