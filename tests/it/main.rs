//! Drives the binary as a user does: one file per command, and the rules of the house.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::too_many_lines,
    reason = "a whole expected report is one statement"
)]

mod sandbox;

mod action;
mod answers;
mod bounds;
mod catalog;
mod code_scanning;
mod commands;
mod commands_of_hooks;
mod config;
mod conformance;
mod context;
mod corpus;
mod doctor;
mod documents;
mod everyday;
mod examples;
mod explain;
mod follow;
mod gates;
mod generated;
mod git;
mod harmless;
mod helper;
mod hosts;
mod install;
mod installer;
mod lasting;
mod library;
mod loom;
mod matchers;
mod nasty;
mod record;
mod replay;
mod report;
mod rules;
mod run;
mod secrets;
mod serve;
mod served;
mod sets;
mod settings;
mod shell;
mod shipped;
mod state;
mod suite;
mod systems;
mod test;
mod tidy;
mod trust;
mod ui;
mod warm;
mod why;
