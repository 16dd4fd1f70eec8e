//! `hookrun run`: every way in which hooks answer and fail, and what the host is told.

mod again;
mod answers;
mod ask;
mod chain;
mod depth;
mod environment;
mod failures;
mod findings;
mod github;
mod links;
mod memory;
mod parallel;
mod rewrites;
mod stdin;
