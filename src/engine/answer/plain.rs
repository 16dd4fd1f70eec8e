//! Other spellings of the same characters that programs and editors put into JSON.

use std::borrow::Cow;

/// The text without NULs, and with escapes replaced by their characters (.NET escapes quotes),
/// inside strings and outside.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    if text.contains('\0') {
        text = Cow::Owned(text.replace('\0', ""));
    }
    if text.contains("\\u00") {
        text = Cow::Owned(unescaped(&text));
    }
    text
}

/// Replaces numeric escapes of printable ASCII characters. A quote stays escaped to the same depth:
/// n backslashes before its number become 2n-1 before the quote.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("u00") {
        let (before, after) = (&rest[..at], &rest[at + 3..]);
        let code = after
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let code = code.filter(|code| (b' '..=b'~').contains(code) && *code != b'\\');
        let head = before.trim_end_matches('\\');
        match (code, before.len() - head.len()) {
            (Some(code), slashes @ 1..) => {
                plain.push_str(head);
                let kept = if code == b'"' { 2 * slashes - 1 } else { 0 };
                plain.extend(std::iter::repeat_n('\\', kept));
                plain.push(char::from(code));
                rest = &after[2..];
            }
            _ => {
                plain.push_str(&rest[..at + 3]);
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// Typographic quotes of word processors and web pages, and their plain forms.
const QUOTES: &[(&str, &str)] = &[
    ("\u{201c}", "\""),
    ("\u{201d}", "\""),
    ("\u{201e}", "\""),
    ("\u{2018}", "'"),
    ("\u{2019}", "'"),
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&apos;", "'"),
    ("&#39;", "'"),
];

/// How comments begin and end. A line comment starts the line or follows a space.
const COMMENTS: &[(&str, &str)] = &[("/*", "*/"), ("//", "\n"), ("#", "\n")];

/// Text that is not JSON, with plain quotes and without comments, even within strings. `None` if it
/// has neither.
pub(super) fn tidied(text: &str) -> Option<String> {
    let has_quotes = QUOTES.iter().any(|(quote, _)| text.contains(quote));
    let has_comments = COMMENTS.iter().any(|(start, _)| text.contains(start));
    let may_differ = has_quotes || has_comments && text.contains('{');
    if !may_differ {
        return None;
    }
    let mut tidied = text.to_string();
    if has_comments {
        tidied = tidied.replace("\\n", "\n");
        while tidied.contains("\\\n") {
            tidied = tidied.replace("\\\n", "\n");
        }
        tidied = uncommented(&tidied);
    }
    for (quote, plain) in QUOTES {
        if tidied.contains(quote) {
            tidied = tidied.replace(quote, plain);
        }
    }
    Some(tidied)
}

fn uncommented(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '#']) {
        let begins = |start: &str| {
            let is_line = plain.is_empty() && at == 0 || rest[..at].ends_with(char::is_whitespace);
            rest[at..].starts_with(start) && (start == "/*" || is_line)
        };
        let Some((start, end)) = COMMENTS.iter().find(|(start, _)| begins(start)) else {
            plain.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        plain.push_str(&rest[..at]);
        let inner = &rest[at + start.len()..];
        rest = inner.find(end).map_or("", |at| &inner[at + end.len()..]);
    }
    plain.push_str(rest);
    plain
}
