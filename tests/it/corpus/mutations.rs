//! Texts made of those in a corpus: cut, joined, repeated, nested and changed.

use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Texts to change, and pieces to insert.
pub(super) struct Corpus {
    name: &'static str,
    texts: Vec<Vec<u8>>,
    pieces: Vec<Vec<u8>>,
}

impl Corpus {
    /// Reads the corpus and the dictionary of a fuzz target; `None` in a published package, which
    /// has none.
    pub(super) fn of(name: &'static str) -> Option<Corpus> {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
        let files = fs::read_dir(fuzz.join("corpus").join(name)).ok()?;
        let texts = files.map(|file| fs::read(file.unwrap().path()).unwrap());
        let words = fs::read_to_string(fuzz.join(format!("dictionaries/{name}.txt"))).unwrap();
        let lines = words.lines().filter(|line| line.starts_with('"'));
        Some(Corpus {
            name,
            texts: texts.collect(),
            pieces: lines.map(word).collect(),
        })
    }

    pub(super) fn with_texts(name: &'static str, texts: Vec<Vec<u8>>) -> Option<Corpus> {
        Some(Corpus {
            name,
            texts,
            ..Corpus::of("event")?
        })
    }

    /// Checks so many texts on all processors.
    pub(super) fn check(&self, count: usize, check: impl Fn(&[u8]) + Sync) {
        let (next, start) = (AtomicUsize::new(0), Instant::now());
        std::thread::scope(|threads| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                threads.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return;
                        }
                        let seed = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                        let text = Random(seed | 1).mutated(self);
                        if catch_unwind(AssertUnwindSafe(|| check(&text))).is_err() {
                            panic!("a mutation of {}: {}", self.name, text.escape_ascii());
                        }
                    }
                });
            }
        });
        let took = start.elapsed();
        let line = format!("{count} mutations of {} in {took:.0?}\n", self.name);
        // Past the capture of the test runner: this line is for people.
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
}

/// Reads a word of a libFuzzer dictionary: a JSON string, but for `\x`, which is a byte.
fn word(line: &str) -> Vec<u8> {
    let text: String = serde_json::from_str(&line.replace("\\x", "\\u00")).unwrap();
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect()
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % end.max(1)
    }

    fn mutated(&mut self, corpus: &Corpus) -> Vec<u8> {
        let (texts, pieces) = (&corpus.texts, &corpus.pieces);
        let mut text = texts[self.below(texts.len())].clone();
        for _ in 0..=self.below(6) {
            let (at, end) = (self.below(text.len() + 1), self.below(text.len() + 1));
            let (start, end) = (at.min(end), at.max(end));
            match self.below(7) {
                0 => drop(text.drain(start..end)),
                1 => drop(text.splice(at..at, pieces[self.below(pieces.len())].clone())),
                2 => drop(text.splice(at..at, texts[self.below(texts.len())].clone())),
                3 => {
                    let part = text[start..end].repeat(1 + self.below(4));
                    text.splice(end..end, part);
                }
                4 => {
                    text.splice(end..end, pieces[self.below(pieces.len())].clone());
                    text.splice(start..start, pieces[self.below(pieces.len())].clone());
                }
                5 if at < text.len() => text[at] = u8::try_from(self.below(256)).unwrap_or(0),
                _ => text.truncate(at.max(1)),
            }
            text.truncate(4096);
        }
        text
    }
}
