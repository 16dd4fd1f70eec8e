//! Configuration: layers, `hookrun.toml`, directives, hosts' settings files, and the environment.

pub mod commands;
mod convention;
mod directive;
pub mod discover;
mod draft;
mod drop_ins;
mod embed;
pub mod env;
pub mod keys;
mod layer;
mod load;
mod loader;
mod manifest;
pub mod problem;
mod project;
pub(crate) mod reader;
mod relative;
mod settings;
mod shadow;
mod standalone;
mod tables;
pub(crate) mod tree;
pub(crate) mod value;
pub mod words;

pub use directive::line_of as line_of_directive;
pub use discover::Choice;
pub use embed::{ConfigError, RunnerBuilder};
pub use env::{Environment, Inside};
pub use layer::{Layer, StandaloneOrigin, StandaloneScript};
pub use load::{Config, LogSettings};
pub use loader::ConfigScope;
pub use manifest::{EVENT_KEYS, LOG_KEYS, TOP_KEYS};
pub use problem::{PlacedValue, Position, Problem, Severity};
pub use reader::{KeyRow, names};
