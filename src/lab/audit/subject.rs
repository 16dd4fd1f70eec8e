//! What a decision was about, in a few words: the tool, and its command or its first path.

use serde::Deserialize;

/// What is read of a kept context for a few words about it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    pub tool_name: Option<String>,
    pub tool_call_id: Option<String>,
    pub prompt: Option<String>,
    pub action: Option<ActionSubject>,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct ActionSubject {
    pub kind: Option<String>,
    pub command: Option<String>,
    #[serde(default)]
    pub paths: Vec<String>,
}

impl Subject {
    pub fn command(&self) -> Option<&str> {
        self.action.as_ref()?.command.as_deref()
    }

    /// The first path that the action names.
    pub fn path(&self) -> Option<&str> {
        self.action.as_ref()?.paths.first().map(String::as_str)
    }

    /// `bash: git push`, at most so many characters.
    pub fn words(&self, most: usize) -> Option<String> {
        let what = self.command().or(self.path()).or(self.prompt.as_deref());
        words(self.tool_name.as_deref(), what, most)
    }
}

/// The tool and what it does, on one line of at most so many characters.
pub fn words(tool: Option<&str>, what: Option<&str>, most: usize) -> Option<String> {
    let words = match (tool, what) {
        (Some(tool), Some(what)) => format!("{tool}: {what}"),
        (tool, what) => tool.or(what)?.to_string(),
    };
    let line = words.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(most).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    Some(short)
}
