//! Drives the binary as a user does: one file per command, and the rules of the house.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sandbox;

mod commands;
mod config;
mod generated;
mod nasty;
mod run;
mod shipped;
mod test;
mod tidy;
