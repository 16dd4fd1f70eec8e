//! Command lines made of those in the corpus: cut, joined, repeated, nested and changed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::shell;

/// What is put in.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "${",
    "}",
    "{",
    "(",
    "((",
    "))",
    "\\",
    "\n",
    ";",
    ";;",
    "&",
    "|",
    "<",
    ">",
    "<<E\n",
    "\nE\n",
    "<<<",
    "<(",
    "#",
    " ",
    "\t",
    "$'",
    "$",
    "case a in a) ",
    "esac",
    "if ",
    "then ",
    "fi",
    "for i in ",
    "do ",
    "done",
    "[[ ",
    " ]]",
    "a=(",
    "a[",
    "]",
    "*",
    "~",
    "!",
    "=",
    "-",
    "bash -c ",
    "eval ",
    "sudo ",
    "env -S ",
    "xargs ",
    "find -exec ",
    "\\;",
    "{a,b}",
    "{1..9}",
    "\\\n",
    "é",
    "\u{0}",
    "\u{10fffc}0\u{10fffc}",
    "\u{10fffd}",
    "coproc ",
    "time ",
    "function f ",
    "select ",
    "trap ",
    "1",
    "a",
];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % end.max(1)
    }

    fn mutated(&mut self, texts: &[Vec<u8>]) -> Vec<u8> {
        let mut text = texts[self.below(texts.len())].clone();
        for _ in 0..=self.below(6) {
            let (at, end) = (self.below(text.len() + 1), self.below(text.len() + 1));
            let (start, end) = (at.min(end), at.max(end));
            match self.below(7) {
                0 => drop(text.drain(start..end)),
                1 => drop(text.splice(at..at, PIECES[self.below(PIECES.len())].bytes())),
                2 => drop(text.splice(at..at, texts[self.below(texts.len())].clone())),
                3 => {
                    let part = text[start..end].repeat(1 + self.below(4));
                    text.splice(end..end, part);
                }
                4 => {
                    let pieces = [
                        PIECES[self.below(PIECES.len())],
                        PIECES[self.below(PIECES.len())],
                    ];
                    text.splice(end..end, pieces[1].bytes());
                    text.splice(start..start, pieces[0].bytes());
                }
                5 if at < text.len() => text[at] = u8::try_from(self.below(256)).unwrap_or(0),
                _ => text.truncate(at.max(1)),
            }
            text.truncate(4096);
        }
        text
    }
}

/// Checks so many texts in all cores.
pub(super) fn run(count: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/shell");
    // A published package has no fuzz targets.
    let Ok(files) = fs::read_dir(folder) else {
        return;
    };
    let texts: Vec<Vec<u8>> = files
        .map(|file| fs::read(file.unwrap().path()).unwrap())
        .collect();
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
                    let text = Random(seed | 1).mutated(&texts);
                    shell::check(&text);
                }
            });
        }
    });
    let said = format!(
        "{count} texts in {:.0?}: each is read or in doubt\n",
        start.elapsed()
    );
    // Past the capture of the test runner: this line is for people.
    std::io::stderr().write_all(said.as_bytes()).unwrap();
}
