//! Variables that a text sets once and only reads afterwards.

/// What may change a variable without naming it, or what its value means.
const CHANGERS: &[&str] = &[
    "IFS",
    "declare",
    "eval",
    "export",
    "getopts",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "shopt",
    "source",
    "typeset",
    "unset",
    "set",
];
/// The shell sets them itself.
const OWN: &[&str] = &[
    "BASH",
    "COMP",
    "DIRSTACK",
    "EPOCH",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HIST",
    "IFS",
    "LINENO",
    "MAPFILE",
    "OLDPWD",
    "OPT",
    "PATH",
    "PPID",
    "PWD",
    "RANDOM",
    "READLINE",
    "REPLY",
    "SECONDS",
    "SHELLOPTS",
    "SRANDOM",
    "UID",
    "_",
];

/// Whether a text, in which `name` is assigned somewhere, only reads it everywhere else. Any word
/// that is its name counts as a change.
pub(super) fn is_constant(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if OWN.iter().any(|own| name.starts_with(own)) || text.starts_with(". ") {
        return false;
    }
    let mut named = 0;
    let mut at = 0;
    for word in text.split(|c| !is_part(c)) {
        let before = &text[..at];
        at += word.len()
            + text[at + word.len()..]
                .chars()
                .next()
                .map_or(0, char::len_utf8);
        if CHANGERS.contains(&word) {
            return false;
        }
        named += usize::from(word == name && !before.ends_with('$') && !before.ends_with("${"));
    }
    // `. file` reads commands that may change it.
    named == 1
        && ![" . ", ";. ", "&. ", "|. ", "\n. "]
            .iter()
            .any(|dot| text.contains(dot))
}
