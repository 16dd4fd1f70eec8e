//! Placeholders for the folders of a case, which are known only when it runs.

use std::path::{Path, PathBuf};

use serde_json::Value;

#[derive(Debug)]
pub struct TokenRow {
    pub name: &'static str,
    pub about: &'static str,
}

pub const TOKENS: &[TokenRow] = &[
    TokenRow {
        name: "{case.folder}",
        about: "the case's own working folder",
    },
    TokenRow {
        name: "{case.home}",
        about: "its own home folder",
    },
    TokenRow {
        name: "{suite.folder}",
        about: "the folder of the file of cases",
    },
];

#[derive(Debug, Clone)]
pub struct CaseFolders {
    pub work: PathBuf,
    pub home: PathBuf,
    pub suite: PathBuf,
}

impl CaseFolders {
    /// The values of [`TOKENS`], in that order.
    fn values(&self) -> [&Path; 3] {
        [&self.work, &self.home, &self.suite]
    }

    pub fn fill(&self, text: &str) -> String {
        self.replaced(text, |path| path.to_string())
    }

    /// A regular expression with the folders filled in and escaped.
    pub fn fill_pattern(&self, text: &str) -> String {
        self.replaced(text, regex::escape)
    }

    pub fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::from(self.fill(text)),
            Value::Array(list) => list.iter().map(|one| self.fill_value(one)).collect(),
            Value::Object(entries) => {
                let filled = |(key, one): (&String, &Value)| (self.fill(key), self.fill_value(one));
                entries.iter().map(filled).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Replaces folders in `text` by their tokens, as a case would write them.
    pub fn unfill(&self, text: &str) -> String {
        let mut text = text.to_string();
        for (token, value) in TOKENS.iter().zip(self.values()) {
            text = text.replace(&*value.to_string_lossy(), token.name);
        }
        text
    }

    fn replaced(&self, text: &str, write: impl Fn(&str) -> String) -> String {
        let mut text = text.to_string();
        for (token, value) in TOKENS.iter().zip(self.values()) {
            if text.contains(token.name) {
                text = text.replace(token.name, &write(&value.to_string_lossy()));
            }
        }
        text
    }
}

pub(super) fn without_tokens(text: &str) -> String {
    TOKENS.iter().fold(text.to_string(), |text, token| {
        text.replace(token.name, "folder")
    })
}

/// Words in `text` that look like one of [`TOKENS`] but are not.
pub(super) fn unknown_tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('{') {
        let rest = &text[at..];
        let is_ours = ["{case.", "{suite."]
            .iter()
            .any(|start| rest.starts_with(start));
        let Some(end) = rest.find('}').filter(|_| is_ours) else {
            continue;
        };
        let token = &rest[..=end];
        if !TOKENS.iter().any(|known| known.name == token) {
            found.push(token.to_string());
        }
    }
    found
}
