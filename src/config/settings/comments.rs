//! JSON with comments, as some hosts read it.

/// The text with its comments as blanks: every place stays where it is. `None` if it has none.
pub(super) fn without_comments(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    let mut has_any = false;
    while at < bytes.len() {
        let end = match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                at = end_of_string(&bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => text[at..].find('\n').map_or(bytes.len(), |length| at + length),
            (b'/', Some(b'*')) => {
                text[at + 2..].find("*/").map_or(bytes.len(), |length| at + length + 4)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        has_any = true;
        for byte in bytes[at..end].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
        at = end;
    }
    String::from_utf8(bytes).ok().filter(|_| has_any)
}

/// Where what follows a string begins.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_become_blanks_and_strings_stay() {
        let text = "{ // ü\n \"a\": \"// \\\" /* x */\", /* y\n */ \"b\": 1 }";
        let plain = without_comments(text).unwrap();
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain.find("\"b\""), text.find("\"b\""));
        let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value["a"], "// \" /* x */");
        assert_eq!(without_comments("{\"a\": \"http://x\"}"), None);
    }
}
