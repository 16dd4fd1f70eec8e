//! The vocabulary of results: which keys a system's hooks answer with, and what their values say.

use super::ReplyForm;

/// The shape of an event's results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Results {
    /// hookrun's own structured result.
    Native,
    /// An object with these keys.
    Keys(&'static [ReplyKey]),
    /// An object that as a whole is the new value of this field of ours.
    Whole(&'static str),
    /// A host's own form for each thing that can be said.
    Form(&'static ReplyForm),
}

/// One key of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplyKey {
    /// The key.
    pub name: &'static str,
    /// What its value says.
    pub says: KeyMeaning,
}

/// What the value of a result's key says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeyMeaning {
    /// `true` refuses the event.
    Refusal,
    /// The reason of the refusal: a text.
    Reason,
    /// The new value of this field of ours.
    Field(&'static str),
    /// One more value for this list of ours. Several, in a reply, are a list under `list`.
    Entry {
        /// Our field.
        field: &'static str,
        /// The key of a list of several.
        list: &'static str,
    },
    /// A word that says what the result is.
    Action(&'static [(&'static str, Act)]),
    /// A question for a person: a text, or an object whose `title` and `description` are. In a
    /// reply it is such an object, with these entries beside them.
    Question(&'static [(&'static str, &'static str)]),
    /// Text for the model.
    Context,
    /// Text to show.
    Output,
}

impl KeyMeaning {
    /// What it says, in words.
    pub fn about(self) -> String {
        match self {
            KeyMeaning::Refusal => "`true` blocks".to_string(),
            KeyMeaning::Reason => "the reason of the block".to_string(),
            KeyMeaning::Field(field) => format!("the new `{field}`"),
            KeyMeaning::Entry { field, list } => {
                format!("one more of `{field}`; several, in a reply, under `{list}`")
            }
            KeyMeaning::Action(words) => {
                let said = words.iter().map(|(word, act)| match act {
                    Act::Pass => format!("`{word}` allows it"),
                    Act::Rewrite => format!("`{word}` rewrites"),
                    Act::Claim(_) => format!("`{word}` claims it"),
                    Act::Refuse => format!("`{word}` blocks"),
                });
                said.collect::<Vec<_>>().join(", ")
            }
            KeyMeaning::Question(_) => "a question for a person".to_string(),
            KeyMeaning::Context => "text for the model".to_string(),
            KeyMeaning::Output => "text to show".to_string(),
        }
    }
}

/// What a word of [`KeyMeaning::Action`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// The event goes on as it is.
    Pass,
    /// The other keys have new values.
    Rewrite,
    /// This field of ours becomes `true`: the event is taken. A refusal is said so too where the
    /// system knows no other word for it.
    Claim(&'static str),
    /// The event is refused.
    Refuse,
}

/// A key of a result.
pub const fn key(name: &'static str, says: KeyMeaning) -> ReplyKey {
    ReplyKey { name, says }
}
