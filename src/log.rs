//! The decision log, and recordings of events.
//!
//! Both have a line of JSON per event, with secrets redacted ([`redact`]). Writing is best effort:
//! decisions never wait for it or fail because of it.
//!
//! ```text
//! {"hookrun":1,"time":…,"event":…,"host":…,"session":…,"cwd":…,"trace":{…},"context":{…},"run":{…},"truncated":[…]}
//! ```
//!
//! `run` is the report of `--format json`. New keys may appear in the same version; readers ignore
//! unknown keys.

pub mod files;
pub mod redact;
pub mod report;

use std::borrow::Cow;
use std::fmt::Display;
use std::path::Path;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, json};
use crate::engine::run::TraceContext;
use report::RunReport;

pub use files::{DecisionLog, KeepError};
pub use redact::Redactor;

/// Version of the line format: its key `hookrun`.
pub const VERSION: u64 = 1;

pub const LOGGED_BYTES: usize = 64 * 1024;

const LONGEST_STRING: usize = 4 * 1024;

const HEAD: usize = 2 * 1024;

/// Additional bytes read, to recognize a secret that begins before the end.
const SLACK: usize = 4 * 1024;

const MOST_ELEMENTS: usize = 200;

const MOST_NAMED: usize = 20;

#[derive(Debug, Clone, Copy)]
pub struct LogEntry<'a> {
    pub time: SystemTime,
    pub cwd: Option<&'a Path>,
    /// Door; `None` for a command and for embedding programs.
    pub door: Option<&'a str>,
    /// Original context; `None` if hookrun blocked before reading it.
    pub context: Option<&'a Context>,
    /// `None` if hookrun blocked before reading the event.
    pub trace: Option<&'a TraceContext>,
    pub run: &'a RunReport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// Everything, so that it can be replayed.
    All,
    Explanation,
}

impl LogEntry<'_> {
    /// Returns the line with its line break, without the secrets that `redactor` knows.
    pub fn line(&self, redactor: &Redactor, keeps: Keeps) -> String {
        let context = self.context.map(without_commands);
        let context = context.as_deref();
        let mut truncated = Vec::new();
        let mut run = serde_json::to_string(self.run).unwrap_or_else(|_| "null".to_string());
        let context_text = context.map(|context| {
            if keeps == Keeps::All || length_of(context) <= LOGGED_BYTES {
                return String::from_utf8_lossy(&context.to_json()).into_owned();
            }
            let keys = context.keys();
            let entries = keys.map(|key| (Value::from(key).to_string(), context.raw(key)));
            let mut cutter = Cutter::new(redactor, LOGGED_BYTES);
            cutter.object("context", entries);
            cutter.end(&mut truncated)
        });
        if keeps == Keeps::Explanation && run.len() > LOGGED_BYTES {
            let mut cutter = Cutter::new(redactor, usize::MAX);
            cutter.value("run", &run);
            run = cutter.end(&mut truncated);
        }
        let session = context.and_then(|context| context.string("sessionId"));
        let line = DecisionLine {
            hookrun: VERSION,
            time: humantime::format_rfc3339_millis(self.time).to_string(),
            event: self.run.event.clone(),
            host: self.run.host.clone(),
            session: session.filter(|session| session.len() <= 1024),
            cwd: self.cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
            door: self.door.map(str::to_string),
            trace: self.trace.map(|trace| TraceLine {
                id: trace.id.clone(),
                span: trace.span.clone(),
                parent: trace.parent().map(str::to_string),
            }),
            context: context_text
                .as_deref()
                .and_then(|text| serde_json::from_str(text).ok()),
            run: serde_json::from_str(&run).unwrap_or(RawValue::NULL),
            truncated,
        };
        let text = serde_json::to_string(&line).unwrap_or_default();
        let mut clean = String::with_capacity(text.len() + 1);
        redactor.json(&text, &mut clean);
        clean.push('\n');
        clean
    }
}

/// Removes the commands from an action. They are derived from its command line, and split words
/// would hide secrets from the redaction rules.
fn without_commands(context: &Context) -> Cow<'_, Context> {
    let action = context.raw("action");
    let Some(action) = action.filter(|raw| raw.contains("\"commands\"")) else {
        return Cow::Borrowed(context);
    };
    let mut rest: Map<String, Value> = serde_json::from_str(action).unwrap_or_default();
    rest.shift_remove("commands");
    let mut kept = context.clone();
    kept.set_raw("action", Value::Object(rest).to_string());
    Cow::Owned(kept)
}

fn length_of(context: &Context) -> usize {
    let values = context.keys().filter_map(|key| context.raw(key));
    values.map(str::len).sum()
}

/// Truncates large values in JSON without parsing them into memory: of a 50 MB file in a context, two
/// kilobytes are decoded and the rest is skipped.
#[derive(Debug)]
struct Cutter<'r> {
    redactor: &'r Redactor,
    most_bytes: usize,
    kept: String,
    /// The paths of truncated values, up to a limit.
    truncated: Vec<String>,
}

impl<'r> Cutter<'r> {
    fn new(redactor: &'r Redactor, most_bytes: usize) -> Cutter<'r> {
        Cutter {
            redactor,
            most_bytes,
            kept: String::new(),
            truncated: Vec::new(),
        }
    }

    /// The truncated text; adds the paths of its truncated values.
    fn end(mut self, truncated: &mut Vec<String>) -> String {
        truncated.append(&mut self.truncated);
        self.kept
    }

    fn note(&mut self, path: &str) {
        let is_known = self.truncated.iter().any(|known| known == path);
        if !is_known && self.truncated.len() < MOST_NAMED {
            self.truncated.push(path.to_string());
        }
    }

    /// Appends the JSON text `raw` of the value at `path`, truncated.
    fn value(&mut self, path: &str, raw: &str) {
        let raw = raw.trim();
        match raw.as_bytes().first() {
            Some(b'"') => self.string(path, raw),
            Some(b'{') => {
                let entries = json::raw_entries(raw).into_iter();
                let entries = entries.map(|(key, value)| (key.get().into(), Some(value.get())));
                self.object(path, entries);
            }
            Some(b'[') => {
                self.kept.push('[');
                let items = json::elements(raw).unwrap_or_default();
                for (index, value) in items.into_iter().enumerate() {
                    if !self.begins_element(path, index) {
                        break;
                    }
                    self.value(&format!("{path}.{index}"), value.get());
                }
                self.kept.push(']');
            }
            _ => self.kept.push_str(raw),
        }
    }

    /// Appends an object, from its keys as JSON and its values.
    fn object<'v>(&mut self, path: &str, entries: impl Iterator<Item = (String, Option<&'v str>)>) {
        self.kept.push('{');
        for (index, (key, value)) in entries.enumerate() {
            let name = json::string_text(&key).unwrap_or_default();
            let short: String = name.chars().take(40).collect();
            let path = format!("{path}.{short}");
            if !self.begins_element(&path, index) {
                break;
            }
            self.string(&path, &key);
            self.kept.push(':');
            self.value(&path, value.unwrap_or("null"));
        }
        self.kept.push('}');
    }

    /// Whether there is room for the next element; writes the comma before it, or names `path`.
    fn begins_element(&mut self, path: &str, index: usize) -> bool {
        if index >= MOST_ELEMENTS || self.kept.len() >= self.most_bytes {
            self.note(path);
            return false;
        }
        if index > 0 {
            self.kept.push(',');
        }
        true
    }

    fn string(&mut self, path: &str, token: &str) {
        if token.len() <= LONGEST_STRING {
            self.kept.push_str(token);
            return;
        }
        self.note(path);
        let beginning = format!("{}\"", &token[..whole_escapes(token, HEAD + SLACK)]);
        let text = json::string_text(&beginning).unwrap_or_default();
        let clean = self.redactor.text(&text);
        let end = clean.floor_char_boundary(HEAD.min(clean.len().saturating_sub(SLACK)));
        let omitted = token.len() - 2 - end;
        let short = format!("{}[… {omitted} bytes omitted …]", &clean[..end]);
        self.kept.push_str(&Value::from(short).to_string());
    }
}

/// Returns the longest prefix of a JSON string of at most `most` bytes that does not split an
/// escape or character.
fn whole_escapes(token: &str, most: usize) -> usize {
    let bytes = token.as_bytes();
    let mut at = 1;
    loop {
        let step = match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
        if at + step > most.min(bytes.len() - 1) {
            return token.floor_char_boundary(at);
        }
        at += step;
    }
}

/// A line. Its larger parts are parsed on demand.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DecisionLine<'l> {
    hookrun: u64,
    /// RFC 3339.
    pub time: String,
    /// Canonical name.
    pub event: String,
    /// `native`, or the name of a dialect.
    pub host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The folder in which hookrun was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// How `serve` was called; missing for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub door: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceLine>,
    /// The event's context, with secrets redacted.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    context: Option<&'l RawValue>,
    #[serde(borrow)]
    #[schemars(with = "RunReport")]
    run: &'l RawValue,
    /// Dotted paths of truncated values; such a record cannot be replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncated: Vec<String>,
}

/// Trace context of a decision, in hex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceLine {
    pub id: String,
    pub span: String,
    /// The parent span, if hookrun inherited one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

impl<'l> DecisionLine<'l> {
    pub fn parse(line: &'l [u8]) -> Result<DecisionLine<'l>, Complaint> {
        match serde_json::from_slice::<DecisionLine<'l>>(line) {
            Ok(record) if record.hookrun == VERSION => return Ok(record),
            Err(error) if error.is_eof() => {
                let cause = "the line is cut off: its writer was interrupted";
                return Err(Complaint::with_cure(cause, "remove the line"));
            }
            // A newer line may have any format.
            Ok(_) | Err(_) => {}
        }
        match serde_json::from_slice(line) {
            Ok(LineVersion { hookrun: version }) if version > VERSION => {
                let cause = format!(
                    "the line was written by a newer version of hookrun, in format {version}, but this \
                     version reads format {VERSION}"
                );
                Err(Complaint::with_cure(cause, "update hookrun"))
            }
            Ok(_) => Err(no_record("a key is missing or has the wrong type")),
            Err(error) => Err(no_record(error)),
        }
    }

    /// Returns the JSON text of the context; `None` if hookrun blocked before reading it.
    pub fn context(&self) -> Option<&'l str> {
        self.context.map(RawValue::get)
    }

    /// Returns the time of the decision in milliseconds since 1970.
    pub fn time_ms(&self) -> Option<u64> {
        let time = humantime::parse_rfc3339_weak(&self.time).ok()?;
        let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        u64::try_from(since_1970.as_millis()).ok()
    }

    /// Returns the tool and its command or first path, for display.
    pub fn subject(&self) -> Subject {
        let subject = serde_json::from_str(self.context().unwrap_or_default());
        subject.unwrap_or_default()
    }

    pub fn report(&self) -> Result<RunReport, Complaint> {
        let report: RunReport = serde_json::from_str(self.run.get()).map_err(no_record)?;
        let mut hooks = report.hooks.iter();
        match hooks.find(|hook| hook.fate == "ran" && hook.trace.is_none()) {
            Some(hook) => Err(no_record(format!("the run of `{}` is missing", hook.name))),
            None => Ok(report),
        }
    }
}

fn no_record(problem: impl Display) -> Complaint {
    let cause = format!("not a line of hookrun's decision log: {problem}");
    Complaint::with_cure(cause, "remove the line")
}

#[derive(Deserialize)]
struct LineVersion {
    hookrun: u64,
}

/// The displayed parts of a context.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    pub tool_name: Option<String>,
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

    pub fn path(&self) -> Option<&str> {
        self.action.as_ref()?.paths.first().map(String::as_str)
    }

    /// Describes the action as `bash: git push`, in at most this many characters.
    pub fn words(&self, most: usize) -> Option<String> {
        let what = self.command().or(self.path()).or(self.prompt.as_deref());
        let words = match (self.tool_name.as_deref(), what) {
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
}
