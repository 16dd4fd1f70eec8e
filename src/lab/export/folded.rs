//! Folded stacks, as flame graphs and speedscope read them: session, event and hook, with the
//! microseconds that each took.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::decision::{DecisionWriter, LoggedDecision, us};
use crate::engine::harmless::plain;

#[derive(Debug, Default)]
pub(super) struct FoldedStacks {
    stacks: BTreeMap<String, u64>,
}

impl FoldedStacks {
    fn take(&mut self, stack: String, us: u64) {
        let sum = self.stacks.entry(stack).or_default();
        *sum = sum.saturating_add(us);
    }
}

impl DecisionWriter for FoldedStacks {
    fn add(&mut self, decision: &LoggedDecision<'_>, _out: &mut dyn Write) -> io::Result<()> {
        let session = decision.line.session.as_deref().unwrap_or("(no session)");
        let event = format!("{};{}", frame(session), frame(&decision.line.event));
        let mut rest = us(decision.brief.took_ms);
        for call in decision.calls() {
            rest = rest.saturating_sub(call.took_us);
            let stack = format!("{event};{}", frame(call.name));
            self.take(stack, call.took_us);
        }
        self.take(event, rest);
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let taken = self.stacks.iter().filter(|(_, us)| **us > 0);
        taken
            .into_iter()
            .try_for_each(|(stack, us)| writeln!(out, "{stack} {us}"))
    }
}

/// A name that is one frame.
fn frame(name: &str) -> String {
    plain(name).replace(';', ":")
}
