//! File types, by name extension, else by the first bytes.

use std::path::Path;

use crate::engine::complaint::{self, Complaint};
use crate::engine::event::FileFacts;

/// A file type: name, endings, and interpreters of such scripts.
type FileType = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// Types other than `text`, `binary` and `executable`, which depend on content and permissions.
#[rustfmt::skip]
const TYPES: &[FileType] = &[
    ("python", &["py", "pyi", "pyw"], &["python", "pypy"]),
    ("shell", &["sh", "bash", "zsh", "ksh", "dash"], &["sh", "bash", "zsh", "ksh", "dash"]),
    ("js", &["js", "jsx", "mjs", "cjs"], &["node", "nodejs"]),
    ("ts", &["ts", "tsx", "mts", "cts"], &["deno", "tsx", "ts-node", "bun"]),
    ("go", &["go"], &[]),
    ("rust", &["rs"], &[]),
    ("ruby", &["rb", "rake", "gemspec"], &["ruby"]),
    ("perl", &["pl", "pm"], &["perl"]),
    ("php", &["php"], &["php"]),
    ("lua", &["lua"], &["lua"]),
    ("c", &["c", "h"], &[]),
    ("cpp", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"], &[]),
    ("csharp", &["cs"], &[]),
    ("java", &["java"], &[]),
    ("kotlin", &["kt", "kts"], &[]),
    ("swift", &["swift"], &[]),
    ("sql", &["sql"], &[]),
    ("html", &["html", "htm"], &[]),
    ("css", &["css", "scss", "sass", "less"], &[]),
    ("vue", &["vue"], &[]),
    ("svelte", &["svelte"], &[]),
    ("markdown", &["md", "markdown", "mdx"], &[]),
    ("yaml", &["yaml", "yml"], &[]),
    ("json", &["json", "jsonc", "json5", "jsonl"], &[]),
    ("toml", &["toml"], &[]),
    ("xml", &["xml", "xsd", "svg"], &[]),
    ("terraform", &["tf", "tfvars", "tofu"], &["terraform"]),
    ("protobuf", &["proto"], &[]),
    ("plain", &["txt", "cfg", "conf", "csv", "ini", "lock", "log", "rst", "tsv"], &[]),
];

const TEXT: &str = "text";
const BINARY: &str = "binary";
const EXECUTABLE: &str = "executable";

#[rustfmt::skip]
const BINARY_ENDINGS: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "webp", "ico", "bmp", "tif", "tiff", "pdf", "zip", "gz", "tgz", "bz2",
    "xz", "zst", "7z", "tar", "jar", "whl", "class", "pyc", "o", "a", "so", "dylib", "dll", "exe",
    "wasm", "woff", "woff2", "ttf", "otf", "eot", "mp3", "mp4", "mov", "ogg", "wav", "webm",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WantedType(pub(super) &'static str);

impl WantedType {
    pub(super) fn read(written: &str) -> Result<WantedType, Complaint> {
        let found = names().find(|name| *name == written);
        found.map(WantedType).ok_or_else(|| {
            let cure = match complaint::nearest(written, names()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("the types are {}", names().collect::<Vec<_>>().join(", ")),
            };
            Complaint::new(format!("unknown file type; {cure}"))
        })
    }

    /// Returns true if a file may be of this type. A file without a known extension or content may
    /// be of any.
    pub(super) fn may_be(&self, path: &Path, facts: Option<&FileFacts>) -> bool {
        if self.0 == EXECUTABLE {
            return facts.is_none_or(|facts| facts.is_executable);
        }
        if let Some(by_ending) = type_by_ending(path) {
            return self.0 == by_ending || self.0 == TEXT && by_ending != BINARY;
        }
        let Some(start) = facts.and_then(|facts| facts.start.as_deref()) else {
            return true;
        };
        let is_binary = start.contains(&0);
        match self.0 {
            BINARY => is_binary,
            TEXT => !is_binary,
            named => interpreter(start).is_some_and(|program| {
                let known = TYPES.iter().find(|(name, ..)| *name == named);
                known.is_some_and(|(.., interpreters)| interpreters.contains(&program))
            }),
        }
    }
}

pub(crate) fn needs_content(path: &Path) -> bool {
    type_by_ending(path).is_none()
}

fn names() -> impl Iterator<Item = &'static str> {
    let of_endings = TYPES.iter().map(|(name, ..)| *name);
    of_endings.chain([TEXT, BINARY, EXECUTABLE])
}

fn type_by_ending(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    if BINARY_ENDINGS.contains(&&*ending) {
        return Some(BINARY);
    }
    let mut types = TYPES.iter();
    let known = types.find(|(_, endings, _)| endings.contains(&&*ending))?;
    Some(known.0)
}

/// Returns the interpreter in a script's first line, without folder and version.
fn interpreter(start: &[u8]) -> Option<&str> {
    let mut lines = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n');
    let line = lines.next()?;
    let program = program_of_line(std::str::from_utf8(line).ok()?)?;
    let name = program.rsplit('/').next()?;
    Some(name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// The program that runs a script, by the text after `#!`: the first word, or what `env` looks for.
pub(crate) fn program_of_line(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let program = words.next()?;
    if !program.ends_with("/env") {
        return Some(program);
    }
    words.find(|word| !word.starts_with('-') && !word.contains('='))
}
