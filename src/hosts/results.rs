//! The vocabulary of results: where an answer says something, and what it means.
//!
//! The keys of a hook system are read and written alike; a host reads more than hookrun writes.
//! `answer` reads by these tables, `reply` writes.

use crate::engine::event::{Merge, Rewrite};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Results {
    Native,
    Keys(&'static [ReplyKey]),
    /// The whole object is the new value of this canonical field.
    Whole(&'static str, Merge),
    /// A host's form, with different keys to read and to write.
    Form(&'static ReplyForm),
    /// The replies that hookrun's plugin applies.
    Plugin(&'static [ReplySlot]),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplyKey {
    /// The key; in a [`ReplyForm`] a dotted path.
    pub name: &'static str,
    pub says: KeyMeaning,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeyMeaning {
    /// This boolean blocks the event.
    Block(bool),
    /// Any text blocks.
    Objection,
    /// The text of a block's reason or of a question.
    Reason,
    /// The new value of this canonical field, and how several hooks' values merge.
    Field(&'static str, Merge),
    /// A value to append to this canonical list; a reply may have several as a list under its name.
    Entry(&'static str, Merge),
    /// A word that decides or names the kind of result; any other word is malformed.
    Action(&'static [(&'static str, Act)]),
    /// A question for a person: a text, or an object with `title` and `description`. A reply has
    /// the object, with these entries added.
    Question(&'static [(&'static str, &'static str)]),
    Context,
    Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// The event continues unchanged; other keys are ignored.
    Pass,
    /// The event continues; other keys count.
    Allow,
    /// Other keys have new values.
    Rewrite,
    /// The hook claims the event: this field becomes `true`. It blocks if no other word does.
    Claim(&'static str),
    Ask,
    Block,
}

pub const fn key(name: &'static str, says: KeyMeaning) -> ReplyKey {
    ReplyKey { name, says }
}

impl KeyMeaning {
    pub(super) fn has_word(self, act: Act) -> bool {
        self.words().iter().any(|(_, meant)| *meant == act)
    }

    pub(super) fn words(self) -> &'static [(&'static str, Act)] {
        if let KeyMeaning::Action(words) = self {
            words
        } else {
            &[]
        }
    }
}

/// The reply of one event of a host.
#[derive(Debug, PartialEq)]
pub struct ReplyForm {
    pub writes: &'static [ReplyRule],
    pub reads: &'static [ReplyKey],
    /// Further keys to read, which other events of the host share.
    pub shares: &'static [ReplyKey],
    pub blocks: BlockStatus,
}

impl ReplyForm {
    pub(super) fn say(&self, on: ReplySlot) -> Option<&'static ReplyRule> {
        self.writes.iter().find(|say| say.on == on)
    }
}

/// A form in which only exit status 2 blocks.
pub(super) const fn form(
    writes: &'static [ReplyRule],
    reads: &'static [ReplyKey],
    shares: &'static [ReplyKey],
) -> ReplyForm {
    ReplyForm {
        writes,
        reads,
        shares,
        blocks: BlockStatus::Two,
    }
}

/// How one kind of reply is expressed.
#[derive(Debug, PartialEq)]
pub struct ReplyRule {
    pub on: ReplySlot,
    /// Dotted paths and the values to put there.
    pub put: &'static [(&'static str, ReplyValue)],
    /// The exit status, 0 if JSON suffices.
    pub status: u8,
}

/// A reply expressed by JSON only.
pub(super) const fn say(on: ReplySlot, put: &'static [(&'static str, ReplyValue)]) -> ReplyRule {
    ReplyRule { on, put, status: 0 }
}

/// A block by exit status 2, with this JSON.
pub(super) const fn block(put: &'static [(&'static str, ReplyValue)]) -> ReplyRule {
    ReplyRule {
        on: ReplySlot::Block,
        put,
        status: 2,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplySlot {
    Block,
    /// An objection to an event that can no longer be blocked.
    Objection,
    Question,
    /// Continue, for a host that blocks without an answer.
    Consent,
    New(&'static str),
    Context,
    Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyValue {
    Word(&'static str),
    Flag(bool),
    Name,
    /// The text of the reason, question, context or output.
    Text,
    Value,
    /// The new value as text: a string without quotes, anything else as JSON.
    Plain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockStatus {
    /// Only 2; any other is an error that passes.
    Two,
    /// 2 and above; 1 is a warning. The host reads JSON for any status, also inside a string, and
    /// on stderr if stdout is empty.
    FromTwo,
    /// Any except 0.
    NonZero,
    /// 2, and this one, which also ends the turn.
    TwoOr(i32),
}

impl BlockStatus {
    /// Whether this status blocks. 126 and 127 do not, because no hook ran.
    pub fn by(self, status: i32) -> bool {
        match self {
            BlockStatus::Two => status == 2,
            BlockStatus::FromTwo => status >= 2,
            BlockStatus::NonZero => status != 0,
            BlockStatus::TwoOr(other) => status == 2 || status == other,
        }
    }
}

impl Results {
    pub(super) fn reads(self) -> impl Iterator<Item = &'static ReplyKey> {
        let (own, shared): (&[ReplyKey], &[ReplyKey]) = match self {
            Results::Native | Results::Whole(..) | Results::Plugin(_) => (&[], &[]),
            Results::Keys(keys) => (keys, &[]),
            Results::Form(form) => (form.reads, form.shares),
        };
        own.iter().chain(shared)
    }

    pub(super) fn says(self) -> Vec<ReplySlot> {
        match self {
            Results::Native | Results::Keys(_) | Results::Whole(..) => Vec::new(),
            Results::Form(form) => form.writes.iter().map(|say| say.on).collect(),
            Results::Plugin(says) => says.to_vec(),
        }
    }

    pub(super) fn form(self) -> Option<&'static ReplyForm> {
        if let Results::Form(form) = self {
            Some(form)
        } else {
            None
        }
    }

    /// The fields that the results can rewrite; claims by a word come last.
    pub fn rewrites(self) -> Vec<Rewrite> {
        let mut all: Vec<(&'static str, Merge)> = Vec::new();
        if let Results::Whole(field, merge) = self {
            all.push((field, merge));
        }
        for slot in self.says() {
            if let ReplySlot::New(field) = slot {
                all.push((field, Merge::Chain));
            }
        }
        if let Results::Keys(keys) = self {
            for key in keys {
                if let KeyMeaning::Field(field, merge) | KeyMeaning::Entry(field, merge) = key.says
                {
                    all.push((field, merge));
                }
            }
            for (_, act) in keys.iter().flat_map(|key| key.says.words()) {
                if let Act::Claim(field) = act {
                    all.push((field, Merge::Claim));
                }
            }
        }
        let rewrites = all.into_iter().map(|(field, merge)| {
            let field = field.into();
            Rewrite { field, merge }
        });
        rewrites.collect()
    }
}
