//! Configuration: layers, `hookrun.toml`, directives, hosts' settings files, and the environment.

pub mod commands;
mod directive;
pub mod discover;
mod draft;
pub mod env;
pub(crate) mod git;
mod hold;
pub mod keys;
pub(crate) mod layer;
mod load;
mod loader;
mod manifest;
pub mod problem;
pub(crate) mod reader;
pub(crate) mod relative;
mod served;
pub(crate) mod set_layers;
pub(crate) mod sets;
mod settings;
mod sources;
pub(crate) mod tree;
pub mod trust;
pub(crate) mod value;

pub use directive::line_of as line_of_directive;
pub use discover::Choice;
pub use env::{Environment, Inside};
pub use hold::ProjectTrust;
pub use layer::Layer;
pub use load::{Config, LogSettings};
pub(crate) use load::{complaint_of, refusal_for};
pub use loader::ConfigScope;
pub use manifest::{EVENT_KEYS, LOG_KEYS, TOP_KEYS};
pub use problem::{PlacedValue, Position, Problem, Severity};
pub use reader::{KeyRow, names};
pub use set_layers::UsedSet;
pub use sets::SET_KEYS;
