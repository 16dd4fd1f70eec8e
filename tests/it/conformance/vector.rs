//! The form of a vector, and the comparison of an answer with one.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Map, Value};

/// One fact about what a host must get.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Vector {
    /// The fact, in one sentence.
    pub(super) about: String,
    /// A document or a measurement that shows it.
    pub(super) source: String,
    /// The host, by the name of its dialect, or git.
    pub(super) host: String,
    /// The host's name for the event.
    pub(super) event: String,
    /// Variables that the host adds to the scrubbed environment.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Files in the working directory, by their paths below it.
    #[serde(default)]
    pub(super) files: BTreeMap<String, TextLines>,
    /// A shell script that prepares the working directory.
    #[serde(default)]
    pub(super) setup: TextLines,
    pub(super) hooks: Vec<HookFile>,
    /// They share one working directory and one home.
    pub(super) steps: Vec<VectorStep>,
    /// At the end no process may be left.
    #[serde(default)]
    pub(super) leaves_no_process: bool,
}

/// One file in `hooks.d/EVENT/`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HookFile {
    pub(super) name: String,
    /// The name of its folder.
    pub(super) event: String,
    /// They become a comment: `# hookrun: timeout=300ms rewrite`.
    #[serde(default)]
    pub(super) settings: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) script: TextLines,
    /// The program that its first line names.
    #[serde(default = "shell")]
    pub(super) interpreter: String,
    /// Octal digits.
    #[serde(default = "executable", deserialize_with = "octal")]
    pub(super) mode: u32,
    /// It is a link to a file that does not exist.
    #[serde(default)]
    pub(super) missing: bool,
}

/// One event that a host sends.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct VectorStep {
    /// Another host than the vector's: some hosts run each other's hooks.
    pub(super) host: Option<String>,
    pub(super) event: Option<String>,
    /// Arguments of the host, as git gives them.
    #[serde(default)]
    pub(super) arguments: Vec<String>,
    /// A JSON document, written without blanks.
    pub(super) stdin: Option<Value>,
    /// Any text instead.
    pub(super) stdin_text: Option<String>,
    /// Any bytes instead: each character is the byte of its number.
    #[serde(default, deserialize_with = "bytes")]
    pub(super) stdin_bytes: Option<Vec<u8>>,
    /// The length of `stdin` in bytes; a key `padding` fills it up.
    pub(super) stdin_size: Option<usize>,
    /// The host never closes its end of stdin.
    #[serde(default)]
    pub(super) keeps_stdin_open: bool,
    pub(super) expect: VectorExpectation,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct VectorExpectation {
    pub(super) status: i32,
    /// The one JSON document on stdout; without it, stdout must be empty.
    pub(super) stdout: Option<Value>,
    /// Empty if it is left out.
    #[serde(default)]
    pub(super) stderr: TextPattern,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TextPattern {
    Exactly(String),
    /// All of these are in it.
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
            let texts: Option<Vec<_>> = texts
                .map(|text| text.as_str().map(str::to_string))
                .collect();
            texts
                .filter(|texts| !texts.is_empty())
                .map(TextPattern::Contain)
        }
        "matches" => value
            .as_str()
            .map(|regex| TextPattern::Match(regex.to_string())),
        _ => None,
    }
}

/// Why no answer could ever be as expected.
fn unreadable(expect: &VectorExpectation) -> Option<String> {
    let mut all = vec![expect.stderr.clone()];
    if let Some(stdout) = &expect.stdout {
        patterns(stdout, &mut all);
    }
    all.iter().find_map(|words| match words {
        TextPattern::Match(regex) if Regex::new(regex).is_err() => {
            Some(format!("`{regex}` is not a regular expression"))
        }
        TextPattern::Match(_) | TextPattern::Exactly(_) | TextPattern::Contain(_) => None,
    })
}

fn patterns(value: &Value, all: &mut Vec<TextPattern>) {
    match value {
        Value::Object(object) => {
            all.extend(pattern(object, "$"));
            object.values().for_each(|value| patterns(value, all));
        }
        Value::Array(values) => values.iter().for_each(|value| patterns(value, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A text, given as its lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TextLines(pub(super) String);

impl<'de> Deserialize<'de> for TextLines {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TextLines, D::Error> {
        let lines = Vec::<String>::deserialize(deserializer)?;
        Ok(TextLines(
            lines.iter().map(|line| format!("{line}\n")).collect(),
        ))
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
    let mode = u32::from_str_radix(&digits, 8)
        .ok()
        .filter(|mode| *mode <= 0o7777);
    mode.ok_or_else(|| D::Error::custom(format!("`{digits}` is no mode; write one as \"0644\"")))
}

fn bytes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes: Option<Vec<u8>> = text
        .chars()
        .map(|c| u8::try_from(u32::from(c)).ok())
        .collect();
    bytes
        .map(Some)
        .ok_or_else(|| D::Error::custom("`stdinBytes` has a character above U+00FF"))
}

/// What is wrong with a vector, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {problem}")]
pub(super) struct VectorError {
    /// From 1.
    pub(super) line: usize,
    /// From 1.
    pub(super) column: usize,
    pub(super) problem: String,
}

impl Vector {
    pub(super) fn parse(text: &str) -> Result<Vector, VectorError> {
        let vector: Vector = serde_json::from_str(text).map_err(|error| {
            let whole = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let problem = whole.strip_suffix(&place).unwrap_or(&whole).to_string();
            VectorError {
                line: error.line(),
                column: error.column().max(1),
                problem,
            }
        })?;
        match vector.problem() {
            None => Ok(vector),
            // A contradiction has no single place.
            Some(problem) => Err(VectorError {
                line: 1,
                column: 1,
                problem,
            }),
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
                return Some(format!(
                    "the hook `{name}` needs a `script`, or `missing`, not both"
                ));
            }
            let texts = std::iter::once(hook.interpreter.as_str());
            let mut texts = texts.chain(hook.settings.keys().map(String::as_str));
            if let Some(text) = texts.find(|text| text.contains(['\n', '\r'])) {
                return Some(format!("{text:?} has more than one line"));
            }
        }
        let leaves = |path: &&str| path.is_empty() || path.split('/').any(|part| part == "..");
        if let Some(path) = paths
            .into_iter()
            .find(|path| path.starts_with('/') || leaves(path))
        {
            return Some(format!("`{path}` is no path below a folder"));
        }
        (1..).zip(&self.steps).find_map(|(number, step)| {
            step.problem()
                .map(|problem| format!("step {number}: {problem}"))
        })
    }
}

impl VectorStep {
    fn problem(&self) -> Option<String> {
        let given = [
            self.stdin.is_some(),
            self.stdin_text.is_some(),
            self.stdin_bytes.is_some(),
        ];
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
        unreadable(&self.expect)
    }

    /// The bytes on stdin.
    pub(super) fn input(&self) -> Vec<u8> {
        if let Some(text) = &self.stdin_text {
            return text.clone().into_bytes();
        }
        if let Some(bytes) = &self.stdin_bytes {
            return bytes.clone();
        }
        let Some(document) = &self.stdin else {
            return Vec::new();
        };
        let plain = document.to_string();
        let (Some(size), Some(object)) = (self.stdin_size, document.as_object()) else {
            return plain.into_bytes();
        };
        let mut padded = object.clone();
        padded.insert("padding".to_string(), Value::from(""));
        let length = Value::Object(padded.clone()).to_string().len();
        padded.insert(
            "padding".to_string(),
            "x".repeat(size.saturating_sub(length)).into(),
        );
        Value::Object(padded).to_string().into_bytes()
    }
}

impl HookFile {
    pub(super) fn text(&self) -> String {
        let settings: Vec<String> = self
            .settings
            .iter()
            .map(|(key, value)| setting(key, value))
            .collect();
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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Got {
    /// The exit status, or the negative number of the signal.
    pub(super) status: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

const LONGEST_SHOWN_CHARS: usize = 400;

/// Everything in which an answer is not as expected, a line for each.
pub(super) fn misses(expect: &VectorExpectation, got: &Got) -> Vec<String> {
    let mut misses = Vec::new();
    if expect.status != got.status {
        misses.push(format!(
            "status: expected {}, got {}",
            expect.status, got.status
        ));
    }
    let stdout = String::from_utf8_lossy(&got.stdout);
    match &expect.stdout {
        None if stdout.is_empty() => {}
        None => misses.push(format!(
            "stdout: expected nothing at all, got {}",
            shown(&stdout)
        )),
        Some(wanted) => match serde_json::from_slice::<Value>(&got.stdout) {
            Ok(found) => differences("stdout", wanted, Some(&found), &mut misses),
            Err(_) => misses.push(format!(
                "stdout: expected {wanted}, got what is not one JSON document: {}",
                shown(&stdout)
            )),
        },
    }
    let stderr = String::from_utf8_lossy(&got.stderr);
    misses.extend(wording(&expect.stderr, &stderr).map(|miss| format!("stderr: {miss}")));
    misses
}

/// Where two JSON documents differ. An expected object with the one key `$contains` or `$matches`
/// is about the text in its place.
fn differences(place: &str, wanted: &Value, found: Option<&Value>, misses: &mut Vec<String>) {
    let Some(found) = found else {
        misses.push(format!("{place}: expected {wanted}, got nothing"));
        return;
    };
    match (wanted, found) {
        (Value::Object(object), Value::String(text)) if pattern(object, "$").is_some() => {
            let words = pattern(object, "$").unwrap_or_default();
            misses.extend(wording(&words, text).map(|miss| format!("{place}: {miss}")));
        }
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, value) in wanted {
                differences(&format!("{place}.{key}"), value, found.get(key), misses);
            }
            for (key, value) in found.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                let value = shown(&value.to_string());
                misses.push(format!("{place}.{key}: expected nothing, got {value}"));
            }
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            for (index, (wanted, found)) in wanted.iter().zip(found).enumerate() {
                differences(&format!("{place}[{index}]"), wanted, Some(found), misses);
            }
        }
        (wanted, found) if wanted == found => {}
        (wanted, found) => {
            let found = shown(&found.to_string());
            misses.push(format!("{place}: expected {wanted}, got {found}"));
        }
    }
}

fn wording(words: &TextPattern, text: &str) -> Option<String> {
    let wanted = match words {
        TextPattern::Exactly(wanted) if wanted == text => return None,
        TextPattern::Exactly(wanted) if wanted.is_empty() => "nothing at all".to_string(),
        TextPattern::Exactly(wanted) => format!("{wanted:?}"),
        TextPattern::Contain(all) => {
            let missing = all.iter().find(|part| !text.contains(part.as_str()))?;
            format!("{missing:?} in it")
        }
        TextPattern::Match(regex) => {
            if Regex::new(regex).is_ok_and(|regex| regex.is_match(text)) {
                return None;
            }
            format!("what matches /{regex}/")
        }
    };
    Some(format!("expected {wanted}, got {}", shown_text(text)))
}

fn shown_text(text: &str) -> String {
    if text.is_empty() {
        "nothing".to_string()
    } else {
        shown(&format!("{text:?}"))
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN_CHARS) {
        None => text.to_string(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
    }
}
