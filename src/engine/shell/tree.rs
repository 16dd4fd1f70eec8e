//! The syntax tree of a text.

use std::rc::Rc;

/// Commands separated by `;`, `&` and line ends.
pub(super) type CommandList = Vec<AndOrList>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(super) struct AndOrList {
    pub(super) pipelines: Vec<Pipeline>,
    pub(super) is_background: bool,
}

#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<CommandNode>,
    /// Whether it follows `||`.
    pub(super) is_alternative: bool,
}

#[derive(Debug)]
pub(super) enum CommandNode {
    Simple(Vec<CommandPart>),
    Compound {
        /// Whether it always runs, in the same shell: `{ a; }`.
        is_group: bool,
        parts: Vec<CompoundPart>,
        redirects: Vec<SourceRedirect>,
    },
}

#[derive(Debug)]
pub(super) enum CommandPart {
    Word(SourceWord),
    Assignment(SourceAssignment),
    Redirect(SourceRedirect),
}

/// A part of a compound command, in the order of the text.
#[derive(Debug)]
pub(super) enum CompoundPart {
    List(CommandList),
    Word(SourceWord),
    /// Arithmetic, or the inside of `[[ ]]`.
    Expression(Vec<WordPiece>),
    /// A command with a pipe as its stdin.
    Coprocess(Box<CommandNode>),
}

#[derive(Debug)]
pub(super) struct SourceAssignment {
    pub(super) name: String,
    pub(super) index: Vec<WordPiece>,
    pub(super) value: AssignedValue,
    pub(super) appends: bool,
    pub(super) written: String,
}

#[derive(Debug)]
pub(super) enum AssignedValue {
    Word(SourceWord),
    Array(Vec<SourceWord>),
}

#[derive(Debug)]
pub(super) struct SourceRedirect {
    pub(super) operator: &'static str,
    /// Whether it sets file descriptor 0, if it reads.
    pub(super) is_stdin: bool,
    pub(super) target: RedirectTarget,
}

#[derive(Debug)]
pub(super) enum RedirectTarget {
    Word(SourceWord),
    /// Index in [`Syntax::documents`].
    Document(usize),
}

#[derive(Debug, Clone, Default)]
pub(super) struct SourceWord {
    pub(super) pieces: Vec<WordPiece>,
}

#[derive(Debug, Clone)]
pub(super) struct WordPiece {
    pub(super) kind: WordPieceKind,
    pub(super) is_quoted: bool,
    pub(super) written: String,
}

#[derive(Debug, Clone)]
pub(super) enum WordPieceKind {
    Text(String),
    /// `$(…)`, backticks, or `<(…)` if `is_file`.
    Commands {
        text: String,
        list: Rc<CommandList>,
        is_file: bool,
    },
    /// `$name`, `${…}`, `$((…))`: the inside of the braces or the name, and what may run for it.
    Expansion {
        text: String,
        inner: Vec<WordPiece>,
    },
    /// `$'…'` that is not UTF-8.
    Bytes,
}

#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) list: CommandList,
    /// Bodies of the here-documents.
    pub(super) documents: Vec<SourceWord>,
    pub(super) tokens_left: usize,
}
