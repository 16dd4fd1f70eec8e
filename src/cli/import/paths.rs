//! Converts regular expressions of paths to equivalent globs.

/// The globs that match the same paths as `pattern`; empty for any path, `None` if impossible.
pub(super) fn globs_of(pattern: &str) -> Option<Vec<String>> {
    if pattern.is_empty() {
        return Some(Vec::new());
    }
    let without_start = pattern.strip_prefix('^');
    let rest = without_start.unwrap_or(pattern);
    let without_end = rest.strip_suffix('$');
    let rest = without_end.unwrap_or(rest);
    let mut globs = Vec::new();
    for way in alternatives(rest)? {
        let mut glob = glob_of(&way)?;
        if without_start.is_none() && !glob.starts_with("**/") {
            // Not anchored at the start: at or within a name.
            let before = if glob.starts_with('/') { "**" } else { "**/*" };
            glob.insert_str(0, before);
        }
        if without_end.is_some() {
            globs.push(glob);
        } else if glob.ends_with('/') {
            globs.push(format!("{glob}**"));
        } else {
            // Not anchored at the end: within the last name or a folder's.
            globs.push(format!("{glob}*"));
            globs.push(format!("{glob}*/**"));
        }
    }
    Some(globs)
}

/// The text with each alternative of its group.
fn alternatives(text: &str) -> Option<Vec<String>> {
    let Some((before, after)) = text.split_once('(') else {
        return Some(vec![text.to_string()]);
    };
    let (inside, after) = after.split_once(')')?;
    let inside = inside.strip_prefix("?:").unwrap_or(inside);
    let ways = inside.split('|').map(|way| format!("{before}{way}{after}"));
    Some(ways.collect())
}

fn glob_of(text: &str) -> Option<String> {
    let mut glob = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '.' if chars.next_if_eq(&'*').is_some() => {
                let is_folder = glob.is_empty() || glob.ends_with('/');
                let is_last_name = !chars.clone().any(|c| c == '/');
                if !is_folder || !is_last_name {
                    return None;
                }
                glob.push_str("**/*");
            }
            '\\' => glob.push(chars.next().filter(char::is_ascii_punctuation)?),
            _ if "[]{}()*+?|^$.!".contains(c) => return None,
            _ => glob.push(c),
        }
    }
    Some(glob)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_globs_can_say() {
        for (pattern, globs) in [
            ("", ""),
            (r"\.py$", "**/*.py"),
            (r".*\.py$", "**/*.py"),
            (r"^src/", "src/**"),
            (r"^src/.*\.py$", "src/**/*.py"),
            (r"\.(js|ts)$", "**/*.js **/*.ts"),
            (r"^(docs|web)/", "docs/** web/**"),
            (r"^setup\.cfg$", "setup.cfg"),
            (r"/migrations/", "**/migrations/**"),
            (r"vendor", "**/*vendor* **/*vendor*/**"),
        ] {
            let globs: Vec<&str> = globs.split_whitespace().collect();
            assert_eq!(globs_of(pattern).unwrap(), globs, "{pattern}");
        }
        for pattern in [
            r"^src/.*/a$",
            r"(?i)\.py$",
            r"a\b",
            r"(",
            r"[^a]x",
            r"^a.*b$",
            "a|b",
        ] {
            assert_eq!(globs_of(pattern), None, "{pattern}");
        }
    }
}
