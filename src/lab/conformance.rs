//! Vectors: what a host sends, what hooks do, and what the host must then get. Plain data, to
//! which any runner can be held; `docs/conformance.md` describes the form.
//!
//! Here vectors are read and answers compared. Nothing is written and nothing is run.

mod compare;
mod runner;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Map, Value};

pub use compare::{Got, misses};
pub use runner::{CommandError, CommandTemplate, PLACEHOLDERS, TemplateValues};

/// One fact about what a host must get.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Vector {
    /// Where the form is described; for editors.
    #[serde(rename = "$schema", default)]
    pub schema: String,
    /// The fact, as a sentence.
    pub about: String,
    /// Where it is known from: a document or a measurement.
    pub source: String,
    /// The host, by the name of its dialect, or git.
    pub host: String,
    /// The host's name for the event.
    pub event: String,
    /// Variables that the host sets beside the scrubbed environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files in the working directory, by their paths below it.
    #[serde(default)]
    pub files: BTreeMap<String, TextLines>,
    /// A shell script that prepares the working directory.
    #[serde(default)]
    pub setup: TextLines,
    /// The hooks.
    pub hooks: Vec<HookFile>,
    /// What the host asks, one after the other, in one working directory and with one home.
    pub steps: Vec<VectorStep>,
    /// Whether no process may be left in the end.
    #[serde(default)]
    pub leaves_no_process: bool,
}

/// One file in `hooks.d/EVENT/`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookFile {
    /// The name of the file.
    pub name: String,
    /// The name of its folder: the event.
    pub event: String,
    /// Settings, which stand in a comment: `# hookrun: timeout=300ms rewrite`.
    #[serde(default)]
    pub settings: BTreeMap<String, Value>,
    /// What it does.
    #[serde(default)]
    pub script: TextLines,
    /// The program that its first line names.
    #[serde(default = "shell")]
    pub interpreter: String,
    /// The mode of the file, in octal digits.
    #[serde(default = "executable", deserialize_with = "octal")]
    pub mode: u32,
    /// Whether it is a link to a file that is not there.
    #[serde(default)]
    pub missing: bool,
}

/// One thing that a host asks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VectorStep {
    /// Who asks, where it is another host than the vector's: some run each other's hooks.
    pub host: Option<String>,
    /// That host's name for the event.
    pub event: Option<String>,
    /// What a host gives on the command line; git does.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// A JSON document, written without blanks.
    pub stdin: Option<Value>,
    /// Any text instead.
    pub stdin_text: Option<String>,
    /// Any bytes instead: each character stands for the byte of its number.
    #[serde(default, deserialize_with = "bytes")]
    pub stdin_bytes: Option<Vec<u8>>,
    /// How many bytes `stdin` is to be long; a key `padding` makes up for what is missing.
    pub stdin_size: Option<usize>,
    /// Whether the host never closes its end of stdin.
    #[serde(default)]
    pub keeps_stdin_open: bool,
    /// What must come back.
    pub expect: VectorExpectation,
}

/// What must come back.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VectorExpectation {
    /// The exit status.
    pub status: i32,
    /// The one JSON document on stdout; nothing at all where it is left out.
    pub stdout: Option<Value>,
    /// What is on stderr; nothing at all where it is left out.
    #[serde(default)]
    pub stderr: TextPattern,
}

/// What a text must be.
#[derive(Debug, Clone, PartialEq)]
pub enum TextPattern {
    /// Exactly this.
    Exactly(String),
    /// It has all of these in it.
    Contain(Vec<String>),
    /// This regular expression is found in it.
    Match(String),
}

impl Default for TextPattern {
    fn default() -> TextPattern {
        TextPattern::Exactly(String::new())
    }
}

impl<'de> Deserialize<'de> for TextPattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TextPattern, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if let Value::String(text) = value {
            return Ok(TextPattern::Exactly(text));
        }
        let pattern = value.as_object().and_then(|object| pattern(object, ""));
        pattern.ok_or_else(|| {
            D::Error::custom("`stderr` is a text, {\"contains\": [texts]} or {\"matches\": regex}")
        })
    }
}

/// What an object with one key that begins with `sigil` says about a text.
fn pattern(object: &Map<String, Value>, sigil: &str) -> Option<TextPattern> {
    let (key, value) = object.iter().next().filter(|_| object.len() == 1)?;
    match key.strip_prefix(sigil)? {
        "contains" => {
            let texts = value.as_array()?.iter();
            let texts: Option<Vec<_>> =
                texts.map(|text| text.as_str().map(str::to_string)).collect();
            texts.filter(|texts| !texts.is_empty()).map(TextPattern::Contain)
        }
        "matches" => value.as_str().map(|regex| TextPattern::Match(regex.to_string())),
        _ => None,
    }
}

/// A text, given as its lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextLines(pub String);

impl<'de> Deserialize<'de> for TextLines {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TextLines, D::Error> {
        let lines = Vec::<String>::deserialize(deserializer)?;
        Ok(TextLines(lines.iter().map(|line| format!("{line}\n")).collect()))
    }
}

fn shell() -> String {
    "/bin/sh".to_string()
}

fn executable() -> u32 {
    0o755
}

fn octal<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let digits = String::deserialize(deserializer)?;
    let mode = u32::from_str_radix(&digits, 8).ok().filter(|mode| *mode <= 0o7777);
    mode.ok_or_else(|| D::Error::custom(format!("`{digits}` is no mode; write one as \"0644\"")))
}

fn bytes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    bytes.map(Some).ok_or_else(|| D::Error::custom("`stdinBytes` has a character above U+00FF"))
}

/// What is wrong with a vector, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {problem}")]
pub struct VectorError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
}

impl Vector {
    /// Reads a vector.
    ///
    /// # Errors
    /// When it is not JSON, has an unknown key, lacks one, or contradicts itself.
    pub fn parse(text: &str) -> Result<Vector, VectorError> {
        let vector: Vector = serde_json::from_str(text).map_err(|error| {
            let whole = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let problem = whole.strip_suffix(&place).unwrap_or(&whole).to_string();
            VectorError { line: error.line(), column: error.column().max(1), problem }
        })?;
        match vector.problem() {
            None => Ok(vector),
            // What contradicts itself is said of the whole.
            Some(problem) => Err(VectorError { line: 1, column: 1, problem }),
        }
    }

    fn problem(&self) -> Option<String> {
        if self.steps.is_empty() {
            return Some("`steps` is empty: nothing is proven".to_string());
        }
        let mut paths: Vec<&str> = self.files.keys().map(String::as_str).collect();
        for hook in &self.hooks {
            paths.extend([hook.name.as_str(), hook.event.as_str()]);
            if hook.missing != hook.script.0.is_empty() {
                let name = &hook.name;
                return Some(format!("the hook `{name}` needs a `script`, or `missing`, not both"));
            }
            let texts = std::iter::once(hook.interpreter.as_str());
            let mut texts = texts.chain(hook.settings.keys().map(String::as_str));
            if let Some(text) = texts.find(|text| text.contains(['\n', '\r'])) {
                return Some(format!("{text:?} has more than one line"));
            }
        }
        let leaves = |path: &&str| path.is_empty() || path.split('/').any(|part| part == "..");
        if let Some(path) = paths.into_iter().find(|path| path.starts_with('/') || leaves(path)) {
            return Some(format!("`{path}` is no path below a folder"));
        }
        (1..).zip(&self.steps).find_map(|(number, step)| {
            step.problem().map(|problem| format!("step {number}: {problem}"))
        })
    }
}

impl VectorStep {
    fn problem(&self) -> Option<String> {
        let given = [self.stdin.is_some(), self.stdin_text.is_some(), self.stdin_bytes.is_some()];
        if given.iter().filter(|given| **given).count() > 1 {
            return Some("give one of `stdin`, `stdinText` and `stdinBytes`".to_string());
        }
        if self.host.is_some() != self.event.is_some() {
            return Some("`host` and `event` go together".to_string());
        }
        let is_object = self.stdin.as_ref().is_some_and(Value::is_object);
        if self.stdin_size.is_some() && !is_object {
            return Some("`stdinSize` needs a `stdin` that is an object".to_string());
        }
        compare::unreadable(&self.expect)
    }

    /// The bytes on stdin.
    pub fn input(&self) -> Vec<u8> {
        if let Some(text) = &self.stdin_text {
            return text.clone().into_bytes();
        }
        if let Some(bytes) = &self.stdin_bytes {
            return bytes.clone();
        }
        let Some(document) = &self.stdin else { return Vec::new() };
        let plain = document.to_string();
        let (Some(size), Some(object)) = (self.stdin_size, document.as_object()) else {
            return plain.into_bytes();
        };
        let mut padded = object.clone();
        padded.insert("padding".to_string(), Value::from(""));
        let length = Value::Object(padded.clone()).to_string().len();
        padded.insert("padding".to_string(), "x".repeat(size.saturating_sub(length)).into());
        Value::Object(padded).to_string().into_bytes()
    }
}

impl HookFile {
    /// The text of the file.
    pub fn text(&self) -> String {
        let settings: Vec<String> =
            self.settings.iter().map(|(key, value)| setting(key, value)).collect();
        let directive = match settings.as_slice() {
            [] => String::new(),
            settings => format!("# hookrun: {}\n", settings.join(" ")),
        };
        format!("#!{}\n{directive}{}", self.interpreter, self.script.0)
    }
}

fn setting(key: &String, value: &Value) -> String {
    match value {
        Value::String(text) => format!("{key}={}", shell_words::quote(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{key}={value}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = r#"{"about":"a","source":"s","host":"h","event":"e","hooks":[],"steps":[{"stdin":{"a":1},"expect":{"status":0}}]}"#;

    #[test]
    fn the_least_vector_says_that_nothing_is_printed() {
        let vector = Vector::parse(LEAST).unwrap();
        assert_eq!(vector.steps[0].expect.stderr, TextPattern::Exactly(String::new()));
        assert_eq!(vector.steps[0].input(), br#"{"a":1}"#);
    }

    #[test]
    fn a_mistake_has_a_line_and_a_column() {
        let broken =
            |from: &str, to: &str| Vector::parse(&LEAST.replace(from, to)).unwrap_err().to_string();
        assert!(broken("\"host\"", "\n\"hots\"").starts_with("2:"), "{}", broken("host", "hots"));
        assert!(broken("host", "hots").contains("unknown field `hots`"));
        assert!(broken("\"source\":\"s\",", "").contains("missing field `source`"));
        assert!(broken("[{", "[,{").contains("1:"));
        assert!(broken(r#"[{"stdin":{"a":1},"expect":{"status":0}}]"#, "[]").contains("empty"));
        let both = broken("\"expect\"", "\"stdinText\":\"\",\"expect\"");
        assert_eq!(both, "1:1: step 1: give one of `stdin`, `stdinText` and `stdinBytes`");
        let host = broken("\"stdin\"", "\"host\":\"x\",\"stdin\"");
        assert_eq!(host, "1:1: step 1: `host` and `event` go together");
        let hook = |hook: &str| broken("[]", &format!("[{hook}]"));
        assert!(hook(r#"{"name":"a","event":"e"}"#).contains("needs a `script`"));
        assert!(hook(r#"{"name":"../a","event":"e","missing":true}"#).contains("below a folder"));
        assert!(hook(r#"{"name":"a","event":"e","mode":"9"}"#).contains("no mode"));
        let stderr = broken("\"status\":0", "\"status\":0,\"stderr\":{\"matches\":\"(\"}");
        assert!(stderr.contains("step 1: `(` is no regular expression"), "{stderr}");
    }

    #[test]
    fn stdin_is_as_long_as_it_is_said_to_be() {
        let text = LEAST.replace("\"expect\"", "\"stdinSize\":5000,\"expect\"");
        let input = Vector::parse(&text).unwrap().steps[0].input();
        assert_eq!(input.len(), 5000);
        assert_eq!(serde_json::from_slice::<Value>(&input).unwrap()["a"], 1);
    }

    #[test]
    fn a_character_stands_for_a_byte() {
        let text = LEAST.replace("\"stdin\":{\"a\":1}", "\"stdinBytes\":\"a\\u00ff\"");
        assert_eq!(Vector::parse(&text).unwrap().steps[0].input(), b"a\xff");
    }

    #[test]
    fn settings_of_a_hook_are_a_comment_of_its_script() {
        let hook = r#"{"name":"a","event":"e","settings":{"timeout":"300ms","rewrite":true,"tool":"a b"},"script":["exit 1"]}"#;
        let hook: HookFile = serde_json::from_str(hook).unwrap();
        assert_eq!(
            hook.text(),
            "#!/bin/sh\n# hookrun: rewrite=true timeout=300ms tool='a b'\nexit 1\n"
        );
    }
}
