//! A context on its way to a hook: its compact JSON, made piece by piece where it is large, so
//! that no second copy of it is ever held.

use super::context::Context;
use super::json::{Compact, push_key};

/// How much text is made at once.
const PIECE_BYTES: usize = 256 * 1024;

/// What a hook reads on stdin: a compact JSON document and a line break.
#[derive(Debug)]
pub enum Payload {
    /// All of it.
    Whole(Vec<u8>),
    /// What makes it piece by piece.
    Pieces(Pieces),
}

/// Makes the document of a large context.
#[derive(Debug, Clone)]
pub struct Pieces {
    context: Context,
    /// The field that is next, and how much of its value is done.
    field: usize,
    done: usize,
    compact: Compact,
    is_closed: bool,
}

impl Default for Payload {
    fn default() -> Payload {
        Payload::Whole(Vec::new())
    }
}

impl Payload {
    pub fn of(context: &Context) -> Payload {
        if context.length() <= PIECE_BYTES {
            let mut json = context.to_json();
            json.push(b'\n');
            return Payload::Whole(json);
        }
        Payload::Pieces(Pieces::new(context.clone()))
    }
}

impl Pieces {
    pub(super) fn new(context: Context) -> Pieces {
        Pieces {
            context,
            field: 0,
            done: 0,
            compact: Compact::default(),
            is_closed: false,
        }
    }

    /// Adds the next piece to `out`; nothing after the last one.
    pub fn next(&mut self, out: &mut Vec<u8>) {
        let enough = out.len() + PIECE_BYTES;
        while let Some((key, value)) = self.context.field(self.field) {
            if out.len() >= enough {
                return;
            }
            if self.done == 0 {
                push_key(self.field, key, out);
                self.compact = Compact::default();
            }
            let end = value.len().min(self.done + PIECE_BYTES);
            self.compact.push(&value.as_bytes()[self.done..end], out);
            self.done = end;
            if end == value.len() {
                (self.field, self.done) = (self.field + 1, 0);
            }
        }
        if !self.is_closed {
            out.extend_from_slice(if self.field == 0 { b"{}\n" } else { b"}\n" });
            self.is_closed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole() {
        let text = "a \\\" b\\\\".repeat(PIECE_BYTES / 3);
        for json in [
            format!(r#" {{ "a" : "{text}" , "b" : [ 1 , "{text} x" ] }} "#),
            format!(r#"{{"{}":{{}}}}"#, "k ".repeat(PIECE_BYTES)),
            format!(r#"{{"a":[{}1]}}"#, "  1 ,\n ".repeat(PIECE_BYTES)),
            "{}".to_string(),
        ] {
            let context = Context::parse(json).unwrap();
            let mut pieces = Pieces::new(context.clone());
            let mut all = Vec::new();
            let mut length = usize::MAX;
            while length != all.len() {
                length = all.len();
                pieces.next(&mut all);
            }
            assert!(all == [context.to_json(), b"\n".to_vec()].concat());
        }
    }
}
