//! The vocabulary of results: which keys a system's hooks answer with, and what their values say.

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

/// The places of one event.
#[derive(Debug, PartialEq)]
pub struct ReplyForm {
    /// What is written for the host.
    pub writes: &'static [Say],
    /// What a hook's JSON says.
    pub reads: &'static [Hear],
    /// Which exit statuses of a hook refuse.
    pub refuses: Refuses,
}

/// One thing that is said to a host.
#[derive(Debug, PartialEq)]
pub struct Say {
    /// What is said.
    pub on: On,
    /// Where, as a path of keys with dots, and what stands there.
    pub put: &'static [(&'static str, Put)],
    /// The exit status that says it, 0 if the JSON does.
    pub status: u8,
}

/// What can be said to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// The event is refused.
    Refusal,
    /// A hook objects to what cannot be refused any more.
    Objection,
    /// A person is to be asked.
    Question,
    /// This field of ours has a new value.
    New(&'static str),
    /// There is text for the model.
    Context,
    /// There is text to show.
    Output,
}

impl On {
    /// What is said, in words.
    pub fn about(self) -> String {
        match self {
            On::Refusal => "a block".to_string(),
            On::Objection => "an objection".to_string(),
            On::Question => "a question".to_string(),
            On::New(field) => format!("a new `{field}`"),
            On::Context => "text for the model".to_string(),
            On::Output => "text to show".to_string(),
        }
    }
}

/// What stands in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// This word.
    Word(&'static str),
    /// This flag.
    Flag(bool),
    /// The host's name for the event.
    Name,
    /// The text: the reason, the question, the context, the output.
    Text,
    /// The new value.
    Value,
    /// The new value as text: a string without its quotes, everything else as JSON.
    Plain,
}

/// One thing that a hook's JSON says.
#[derive(Debug, PartialEq)]
pub struct Hear {
    /// Where, as a path of keys with dots.
    pub path: &'static str,
    /// What it says.
    pub says: HeardValue,
}

/// What a value says in a hook's JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeardValue {
    /// One of these words refuses, asks, or lets it pass; any other is malformed.
    Words {
        /// The words that refuse.
        refuse: &'static [&'static str],
        /// The words that ask.
        ask: &'static [&'static str],
        /// The words that let it pass.
        pass: &'static [&'static str],
    },
    /// This flag refuses.
    Flag(bool),
    /// Text that refuses by being there.
    Objection,
    /// The reason of a refusal, or the question.
    Reason,
    /// The new value of this field of ours.
    New(&'static str),
    /// Text for the model.
    Context,
    /// Text to show.
    Output,
}

/// Which exit statuses of a hook refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refuses {
    /// 2 alone; any other is an error that lets it pass.
    Two,
    /// 2 and above; 1 is a warning. Whoever has this rule lets JSON count with any status, also in
    /// a string, and on stderr where stdout is empty.
    FromTwo,
    /// Any but 0.
    NonZero,
}

impl Refuses {
    /// Whether this status refuses. 126 and 127 do not: there was no hook.
    pub fn by(self, status: i32) -> bool {
        match self {
            Refuses::Two => status == 2,
            Refuses::FromTwo => status >= 2,
            Refuses::NonZero => status != 0,
        }
    }

    /// Whether JSON is also read in a string, and on stderr where stdout is empty.
    pub fn reads_on(self) -> bool {
        match self {
            Refuses::FromTwo => true,
            Refuses::Two | Refuses::NonZero => false,
        }
    }
}
