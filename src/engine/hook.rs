//! A hook: one configured thing to run, and everything its author said about running it.

mod builder;
mod function;
pub mod limits;
pub mod matcher;
mod permit;
pub mod rule;
mod sandbox;
mod spec;

pub use crate::engine::duration::{DEFAULT_TIMEOUT, duration_text, parse_duration};
pub(crate) use function::CallStart;
pub use function::{Function, FunctionReturn, IntoVerdict};
pub use limits::Limits;
pub use matcher::{Condition, Matcher, Mismatch, PathBase};
pub use sandbox::{Containment, Sandbox};
pub use spec::Warm;
pub use spec::{
    Background, Convention, DEFAULT_PRIORITY, EventPart, GivenPart, Handler, Hook, HookSource,
    HostCall, LayerKind, Lives, OWN_IMAGE, Permit, Printed,
};
pub(crate) use spec::{Contract, NO_REASON};
