//! A part of a recording, by a hash of each session: the same in every job, on every machine.

use std::fmt;
use std::str::FromStr;

use crate::engine::session::checksum;

/// One part of so many: `3/8`. Every event is in exactly one of the eight.
///
/// The part is the 64-bit FNV-1a hash of the event's session, modulo the number of parts, plus 1: a
/// session is never divided. Without a session it is the hash of the context as it is in the line,
/// and without a context that can be read, that of the whole line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    number: u64,
    of: u64,
}

impl Partition {
    pub const WHOLE: Partition = Partition { number: 1, of: 1 };

    pub fn takes(self, text: &[u8]) -> bool {
        self.of == 1 || checksum(text) % self.of + 1 == self.number
    }

    /// Whether a line that is too long to be read is in this part.
    pub fn takes_nameless(self) -> bool {
        self.number == 1
    }

    /// From 1.
    pub fn number(self) -> u64 {
        self.number
    }

    pub fn of(self) -> u64 {
        self.of
    }
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Partition, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse::<u64>().ok()?, of.parse::<u64>().ok()?)));
        match numbers {
            Some((number, of)) if 1 <= number && number <= of => Ok(Partition { number, of }),
            Some((number, of)) if number > of => Err(format!("there are only {of} parts")),
            Some(_) => Err("parts are counted from 1 on".to_string()),
            None => Err("write a part of so many, `3/8`".to_string()),
        }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}
