//! The words for results: where an answer says something, and what it says there.
//!
//! One vocabulary for all: the keys of a hook system, which are read and written alike, and the
//! forms of the hosts, which read more than hookrun writes. `answer` reads by it, `reply` writes.

use crate::engine::event::{Merge, Rewrite};

/// The shape of an event's results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Results {
    /// hookrun's own structured result.
    Native,
    /// An object with these keys.
    Keys(&'static [ReplyKey]),
    /// An object that as a whole is the new value of this field of ours.
    Whole(&'static str, Merge),
    /// A host's own form: what it reads of a hook, and what hookrun writes.
    Form(&'static ReplyForm),
    /// What hookrun's plugin carries out.
    Plugin(&'static [ReplySlot]),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplyKey {
    /// The key; in a [`ReplyForm`] a path of keys with dots.
    pub name: &'static str,
    pub says: KeyMeaning,
}

/// What the value of a key says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeyMeaning {
    /// This flag blocks the event.
    Refusal(bool),
    /// A text blocks by being there.
    Objection,
    /// The reason of the block, or the question: a text.
    Reason,
    /// The new value of this field of ours, and how the values of several hooks merge.
    Field(&'static str, Merge),
    /// One more value for this list of ours. Several, in a reply, are a list under its name.
    Entry(&'static str, Merge),
    /// A word that decides or says what the result is; any other word is malformed.
    Action(&'static [(&'static str, Act)]),
    /// A question for a person: a text, or an object with a `title` and a `description`. In a
    /// reply it is such an object, with these entries in it.
    Question(&'static [(&'static str, &'static str)]),
    /// Text for the model.
    Context,
    /// Text to show.
    Output,
}

/// What a word of [`KeyMeaning::Action`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// The event goes on as it is: nothing else in the result counts.
    Pass,
    /// The event goes on, with what else is in the result.
    Allow,
    /// The other keys have new values.
    Rewrite,
    /// This field of ours becomes `true`: the hook claims the event. It also means a block where the
    /// system knows no other word for it.
    Claim(&'static str),
    /// A person decides.
    Ask,
    /// The event is blocked.
    Refuse,
}

/// A key of a result.
pub const fn key(name: &'static str, says: KeyMeaning) -> ReplyKey {
    ReplyKey { name, says }
}

impl KeyMeaning {
    /// What it says, in words.
    pub fn about(self) -> String {
        match self {
            KeyMeaning::Refusal(flag) => format!("`{flag}` blocks"),
            KeyMeaning::Objection => "a text blocks".to_string(),
            KeyMeaning::Reason => "the reason of the block".to_string(),
            KeyMeaning::Field(field, _) => format!("the new `{field}`"),
            KeyMeaning::Entry(field, _) => {
                format!("one more of `{field}`; several, in a reply, under `{field}`")
            }
            KeyMeaning::Action(words) => {
                let said = words.iter().map(|(word, act)| match act {
                    Act::Pass | Act::Allow => format!("`{word}` allows it"),
                    Act::Rewrite => format!("`{word}` rewrites"),
                    Act::Claim(_) => format!("`{word}` claims it"),
                    Act::Ask => format!("`{word}` asks"),
                    Act::Refuse => format!("`{word}` blocks"),
                });
                said.collect::<Vec<_>>().join(", ")
            }
            KeyMeaning::Question(_) => "a question for a person".to_string(),
            KeyMeaning::Context => "text for the model".to_string(),
            KeyMeaning::Output => "text to show".to_string(),
        }
    }

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

/// What one event of a host writes and reads.
#[derive(Debug, PartialEq)]
pub struct ReplyForm {
    /// What is written for the host.
    pub writes: &'static [ReplyRule],
    /// What a hook's JSON says.
    pub reads: &'static [ReplyKey],
    /// What it says in other events of the host as well.
    pub shares: &'static [ReplyKey],
    /// Which exit statuses of a hook block.
    pub refuses: Refuses,
}

impl ReplyForm {
    pub(super) fn say(&self, on: ReplySlot) -> Option<&'static ReplyRule> {
        self.writes.iter().find(|say| say.on == on)
    }
}

/// A form in which status 2 alone blocks.
pub(super) const fn form(
    writes: &'static [ReplyRule],
    reads: &'static [ReplyKey],
    shares: &'static [ReplyKey],
) -> ReplyForm {
    ReplyForm {
        writes,
        reads,
        shares,
        refuses: Refuses::Two,
    }
}

/// One thing that hookrun says to a host.
#[derive(Debug, PartialEq)]
pub struct ReplyRule {
    pub on: ReplySlot,
    /// Where, as a path of keys with dots, and what is put there.
    pub put: &'static [(&'static str, ReplyValue)],
    /// The exit status that says it, 0 if the JSON does.
    pub status: u8,
}

/// A thing that JSON alone says.
pub(super) const fn say(on: ReplySlot, put: &'static [(&'static str, ReplyValue)]) -> ReplyRule {
    ReplyRule { on, put, status: 0 }
}

/// A block by exit status 2, and by this JSON.
pub(super) const fn refuse(put: &'static [(&'static str, ReplyValue)]) -> ReplyRule {
    ReplyRule {
        on: ReplySlot::Refusal,
        put,
        status: 2,
    }
}

/// What hookrun can say to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplySlot {
    /// The event is blocked.
    Refusal,
    /// A hook objects to what cannot be blocked any more.
    Objection,
    /// A person decides.
    Question,
    /// It goes on: for a host that blocks what gets no answer.
    Consent,
    /// This field of ours has a new value.
    New(&'static str),
    /// There is text for the model.
    Context,
    /// There is text to show.
    Output,
}

impl ReplySlot {
    /// What is said, in words.
    pub fn about(self) -> String {
        match self {
            ReplySlot::Refusal => "a block".to_string(),
            ReplySlot::Objection => "an objection".to_string(),
            ReplySlot::Question => "a question".to_string(),
            ReplySlot::Consent => "it goes on".to_string(),
            ReplySlot::New(field) => format!("a new `{field}`"),
            ReplySlot::Context => "text for the model".to_string(),
            ReplySlot::Output => "text to show".to_string(),
        }
    }
}

/// What is put in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyValue {
    Word(&'static str),
    Flag(bool),
    /// The host's name for the event.
    Name,
    /// The text: the reason, the question, the context, the output.
    Text,
    Value,
    /// The new value as text: a string without its quotes, everything else as JSON.
    Plain,
}

/// Which exit statuses of a hook block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refuses {
    /// 2 alone; any other is an error that lets it pass.
    Two,
    /// 2 and above; 1 is a warning. A host with this rule reads JSON for any status, also in a
    /// string, and on stderr where stdout is empty.
    FromTwo,
    /// Any but 0.
    NonZero,
    /// 2, and this one, which ends the turn as well.
    TwoOr(i32),
}

impl Refuses {
    /// Whether this status blocks. 126 and 127 do not: there was no hook.
    pub fn by(self, status: i32) -> bool {
        match self {
            Refuses::Two => status == 2,
            Refuses::FromTwo => status >= 2,
            Refuses::NonZero => status != 0,
            Refuses::TwoOr(other) => status == 2 || status == other,
        }
    }
}

impl Results {
    /// The keys that are read, where the results are an object with keys.
    pub(super) fn reads(self) -> impl Iterator<Item = &'static ReplyKey> {
        let (own, shared): (&[ReplyKey], &[ReplyKey]) = match self {
            Results::Native | Results::Whole(..) | Results::Plugin(_) => (&[], &[]),
            Results::Keys(keys) => (keys, &[]),
            Results::Form(form) => (form.reads, form.shares),
        };
        own.iter().chain(shared)
    }

    /// What hookrun can say to a host.
    pub(super) fn says(self) -> Vec<ReplySlot> {
        match self {
            Results::Native | Results::Keys(_) | Results::Whole(..) => Vec::new(),
            Results::Form(form) => form.writes.iter().map(|say| say.on).collect(),
            Results::Plugin(says) => says.to_vec(),
        }
    }

    /// The host's form, if it has one.
    pub(super) fn form(self) -> Option<&'static ReplyForm> {
        if let Results::Form(form) = self {
            Some(form)
        } else {
            None
        }
    }

    /// The fields that they can rewrite: of keys also those that a word claims, after the others.
    pub fn rewrites(self) -> Vec<Rewrite> {
        match self {
            Results::Native => Vec::new(),
            Results::Whole(field, merge) => vec![rewrite(field, merge)],
            Results::Form(_) | Results::Plugin(_) => {
                let mut all = Vec::new();
                for slot in self.says() {
                    if let ReplySlot::New(field) = slot {
                        all.push(rewrite(field, Merge::Chain));
                    }
                }
                all
            }
            Results::Keys(keys) => {
                let mut all = Vec::new();
                for key in keys {
                    if let KeyMeaning::Field(field, merge) | KeyMeaning::Entry(field, merge) =
                        key.says
                    {
                        all.push(rewrite(field, merge));
                    }
                }
                for (_, act) in keys.iter().flat_map(|key| key.says.words()) {
                    if let Act::Claim(field) = act {
                        all.push(rewrite(field, Merge::Claim));
                    }
                }
                all
            }
        }
    }
}

fn rewrite(field: &'static str, merge: Merge) -> Rewrite {
    Rewrite {
        field: field.into(),
        merge,
    }
}
