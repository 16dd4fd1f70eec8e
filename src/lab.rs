//! What people look at: reports, suites, the decision log, replay and vectors.

pub mod audit;
pub mod conformance;
pub mod export;
pub mod replay;
pub mod report;
pub mod scenario;
