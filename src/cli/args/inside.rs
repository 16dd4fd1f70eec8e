//! What `hook` takes: the commands that hooks call while they run.

use std::path::PathBuf;

use crate::engine::ui::MessageKind;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Print one value of the JSON document on stdin
    #[command(after_help = "Exit status: 0 printed, 1 no such value, 2 no JSON object on stdin.")]
    Field(FieldArgs),
    /// Ask the person at the terminal, or show them something
    #[command(
        disable_help_subcommand = true,
        after_help = "Exit status: 0 answered, 1 no answer: the person cancelled, it came too late, or there is no terminal; 2 a mistake. For `confirm` 0 is yes and 1 everything else. `notify` and `status` are 0 even without a terminal."
    )]
    Ui {
        #[command(subcommand)]
        dialog: Dialog,
    },
    /// Send a message to the session, or print the pending messages
    #[command(
        after_help = "Exit status: 0 sent, or printed; 2 it could not be. A host that embeds hookrun may take the message at once; for every other host it waits until `send --take`."
    )]
    Send(SendArgs),
    /// Keep texts for later runs of a hook
    #[command(
        disable_help_subcommand = true,
        after_help = "Exit status: 0 done, 1 there is no such key, 2 it could not be done. Texts are kept for each session and hook, with --shared for each session."
    )]
    State(StateArgs),
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Dialog {
    /// Let the person choose, and print what they chose
    Select {
        /// What it is about
        title: String,

        /// The options
        #[arg(required = true, value_name = "OPTION", allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Ask for a yes: exit 0 for a yes, else 1
    Confirm {
        /// What it is about
        title: String,

        /// The question
        #[arg(
            default_value = "",
            hide_default_value = true,
            allow_hyphen_values = true
        )]
        message: String,
    },
    /// Ask for a line of text, and print it
    Input {
        /// What it is about
        title: String,

        /// What an answer might look like; not a default
        #[arg(
            default_value = "",
            hide_default_value = true,
            allow_hyphen_values = true
        )]
        placeholder: String,
    },
    /// Let the person edit a text ($VISUAL, $EDITOR or vi), and print it
    Editor {
        /// What it is about
        title: String,

        /// The initial text
        #[arg(
            default_value = "",
            hide_default_value = true,
            allow_hyphen_values = true
        )]
        text: String,
    },
    /// Show the person something
    Notify {
        /// What to show
        #[arg(allow_hyphen_values = true)]
        message: String,

        /// What sort of message it is
        #[arg(long = "type", value_parser = message_kind(), default_value = "info", value_name = "TYPE")]
        kind: MessageKind,
    },
    /// Set a text of the session's status line, or print the line
    Status {
        /// The key of the text; without one the line is printed
        key: Option<String>,

        /// The text; without one the key is removed
        #[arg(allow_hyphen_values = true)]
        text: Option<String>,

        /// The session [default: the hook's, else the one of events that name none]
        #[arg(long, value_name = "ID")]
        session: Option<String>,

        /// How many columns the line may have [default: those of the terminal, else 80]
        #[arg(long, value_name = "N", conflicts_with = "key")]
        width: Option<usize>,
    },
}

fn message_kind() -> impl TypedValueParser<Value = MessageKind> {
    let kinds = [
        ("info", "Good to know"),
        ("warning", "Better to know"),
        ("error", "Something has gone wrong"),
    ];
    let values = kinds.map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "warning" => MessageKind::Warning,
        "error" => MessageKind::Error,
        _ => MessageKind::Info,
    })
}

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// The message
    #[arg(required_unless_present = "take", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,

    /// A file to attach; can be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,

    /// What sort of message it is, for hosts that show sorts differently
    #[arg(long = "type", value_name = "NAME")]
    pub(crate) custom_type: Option<String>,

    /// Show it to the model only
    #[arg(long)]
    pub(crate) hidden: bool,

    /// Data for the host, which the model does not see
    #[arg(long, value_name = "JSON")]
    pub(crate) details: Option<String>,

    /// Print the waiting messages, a line of JSON for each, and forget them
    #[arg(long, conflicts_with_all = ["text", "attach", "custom_type", "hidden", "details"])]
    pub(crate) take: bool,

    /// The session [default: the hook's, else the one of events that name none]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    #[command(subcommand)]
    pub(crate) action: StateAction,

    /// Use the entries that all hooks of the session share
    #[arg(long, global = true)]
    pub(crate) shared: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StateAction {
    /// Print the texts of a key, one a line: exit 1 if there are none
    Get {
        /// The key
        key: String,
    },
    /// Replace all texts of a key with one
    Set {
        /// The key
        key: String,

        /// The text
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Add a text to a key
    Append {
        /// The key
        key: String,

        /// The text
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Forget a key: exit 1 if there is none
    Remove {
        /// The key
        key: String,
    },
    /// Print the keys, one a line
    List,
}

#[derive(Debug, Args)]
pub(crate) struct FieldArgs {
    /// The path of the value, with dots: toolInput.command, messages.0.role
    pub(crate) path: String,

    /// Print this when there is no such value
    #[arg(long, value_name = "TEXT")]
    pub(crate) default: Option<String>,

    /// Print strings as JSON too, in quotes
    #[arg(long)]
    pub(crate) json: bool,
}
