//! A hook that is named, and that an event does not have.

use crate::cli::decide::unbound::meant;
use crate::cli::exit::CommandFailure;

/// What to say of a name that is none of `known`, the hooks of `event`.
pub(super) fn unknown_hook(name: &str, known: &[&str], event: &str) -> CommandFailure {
    let help = match meant(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => format!("no hook is bound to `{event}`"),
        None => format!("bound to `{event}`: {}", known.join(", ")),
    };
    CommandFailure::with_help(format!("no hook `{name}` for `{event}`"), help)
}
