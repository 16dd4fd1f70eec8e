//! The arguments of `hook`, whose commands hooks call while they run.

use std::path::PathBuf;

use crate::engine::ui::MessageKind;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Print one value of the JSON document on stdin
    #[command(after_help = "Exit status: 0 printed, 1 no such value, 2 no JSON object on stdin.")]
    Field(FieldArgs),
    /// Print a YAML or TOML document on stdin as JSON
    #[command(
        after_help = "Each value keeps its line number, so that a program that reads the JSON can report line numbers in the document. Several YAML documents become several JSON documents. Exit status: 0 printed, 2 stdin is not valid YAML or TOML."
    )]
    Json(JsonArgs),
    /// Ask a person at the terminal, or show a message
    #[command(
        disable_help_subcommand = true,
        after_help = "Exit status: 0 answered; 1 cancelled, timed out, or no terminal; 2 error. For `confirm`, 0 is yes, and 1 is everything else. `notify` and `status` exit with 0 even without a terminal."
    )]
    Ui {
        #[command(subcommand)]
        dialog: Dialog,
    },
    /// Send a message to the session, or print the pending messages
    #[command(
        after_help = "Exit status: 0 sent or printed, 2 error. A host that embeds hookrun receives the message immediately; other hosts fetch it with `send --take`."
    )]
    Send(SendArgs),
    /// Store text for later runs of a hook
    #[command(
        disable_help_subcommand = true,
        after_help = "Exit status: 0 done, 1 no such key, 2 error. Text is stored for each session and hook or, with --shared, for the whole session."
    )]
    State(StateArgs),
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Dialog {
    /// Show a menu, and print the chosen option
    Select {
        /// The title
        title: String,

        /// The options
        #[arg(required = true, value_name = "OPTION", allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Ask for confirmation: exit 0 for yes, else 1
    Confirm {
        /// The title
        title: String,

        /// The question
        #[arg(default_value = "", hide_default_value = true)]
        #[arg(allow_hyphen_values = true)]
        message: String,
    },
    /// Ask for a line of text, and print it
    Input {
        /// The title
        title: String,

        /// An example of an answer; not a default
        #[arg(default_value = "", hide_default_value = true)]
        #[arg(allow_hyphen_values = true)]
        placeholder: String,
    },
    /// Open text in the host's editor, and print the result
    Editor {
        /// The title
        title: String,

        /// The initial text
        #[arg(default_value = "", hide_default_value = true)]
        #[arg(allow_hyphen_values = true)]
        text: String,
    },
    /// Show a message
    Notify {
        /// The message
        #[arg(allow_hyphen_values = true)]
        message: String,

        /// The kind of message
        #[arg(long = "type", value_parser = message_kind(), default_value = "info", value_name = "TYPE")]
        kind: MessageKind,
    },
    /// Set an entry of the host's status line
    Status {
        /// The entry's key
        key: String,

        /// The entry's text; without it the entry is removed
        #[arg(allow_hyphen_values = true)]
        text: Option<String>,
    },
}

fn message_kind() -> impl TypedValueParser<Value = MessageKind> {
    PossibleValuesParser::new(["info", "warning", "error"]).map(|name| match name.as_str() {
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

    /// A file to attach; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,

    /// The type of the message, for hosts that distinguish types
    #[arg(long = "type", value_name = "NAME")]
    pub(crate) custom_type: Option<String>,

    /// Show the message only to the model
    #[arg(long)]
    pub(crate) hidden: bool,

    /// Data for the host, hidden from the model
    #[arg(long, value_name = "JSON")]
    pub(crate) details: Option<String>,

    /// Print the pending messages as lines of JSON, and remove them
    #[arg(long, conflicts_with_all = ["text", "attach", "custom_type", "hidden", "details"])]
    pub(crate) take: bool,

    /// The session [default: the hook's or, with --take outside a hook, the one for events without a
    /// session]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    #[command(subcommand)]
    pub(crate) action: StateAction,

    /// Use the entries shared by all hooks of the session
    #[arg(long, global = true)]
    pub(crate) shared: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StateAction {
    /// Print the texts of a key, one per line; exit 1 if there are none
    Get(StateKey),
    /// Set a key to one text
    Set(StateEntry),
    /// Append text to a key
    Append(StateEntry),
    /// Remove a key; exit 1 if it does not exist
    Remove(StateKey),
    /// Print the keys, one per line
    List,
}

#[derive(Debug, Args)]
pub(crate) struct StateKey {
    /// The key
    #[arg(value_parser = state_key)]
    pub(crate) key: String,
}

#[derive(Debug, Args)]
pub(crate) struct StateEntry {
    #[command(flatten)]
    pub(crate) at: StateKey,

    /// The text
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: String,
}

/// Rejects a key that `list` could not print on one line.
fn state_key(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(['\n', '\r']) {
        return Err("a key must be a single non-empty line".to_string());
    }
    Ok(text.to_string())
}

#[derive(Debug, Args)]
pub(crate) struct JsonArgs {
    /// The format of the document
    #[arg(value_enum)]
    pub(crate) format: DocumentFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DocumentFormat {
    /// YAML 1.2, but `yes` and `on` also mean true
    Yaml,
    /// TOML
    Toml,
}

#[derive(Debug, Args)]
pub(crate) struct FieldArgs {
    /// The path to the value, with dots: toolInput.command, messages.0.role
    pub(crate) path: String,

    /// The output if there is no such value
    #[arg(long, value_name = "TEXT")]
    pub(crate) default: Option<String>,
}
