//! How a hook with `warm = "serve"` is spoken to: one line asks, and one line answers.
//!
//! A request is `hooks/intercept`, for every event. It carries the context as any other hook reads
//! it (`event.native.payload`). An answer has no effect, a `deny`, or [`ANSWER`] with an answer of
//! hookrun's own contract.

use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::rows::{AhpEvent, AhpKey, AhpValue, CODE, EVENTS, VERSION};
use crate::engine::answer::{self, refusal::Vocabulary};
use crate::engine::ending::{CapturedStream, Ending, Exit};
use crate::engine::event::{Context, Event, EventSpec, OnFailure};
use crate::engine::hook::{Convention, EventPart, Hook, Matcher, Permit, Printed};
use crate::engine::outcome::{ContractRule, Decision, Verdict};

/// The effect whose `value` is an answer of hookrun's contract.
const ANSWER: &str = "dev.hookrun.answer";

/// The reason of a block without one.
const NO_REASON: &str = "it gave no reason";

/// How much of a line a message quotes, in characters.
const QUOTED: usize = 60;

/// How a hook that stays up is spoken to about an event with these rules.
pub(crate) fn convention(spec: &EventSpec) -> impl Convention + use<> {
    let row = EVENTS
        .iter()
        .find(|row| row.is_asked && row.event == spec.name);
    ServedHook {
        row,
        event: spec.name.to_string(),
    }
}

#[derive(Debug)]
struct ServedHook {
    /// The protocol's row for the event, if it has one that may be asked about.
    row: Option<&'static AhpEvent>,
    /// The name in the catalog.
    event: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServedAnswer {
    jsonrpc: String,
    id: String,
    result: Option<ServedResult>,
    error: Option<ServedError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ServedResult {
    protocol_version: String,
    effects: Vec<ServedEffect>,
    extensions: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServedEffect {
    #[serde(rename = "type")]
    kind: String,
    reason: Option<String>,
    value: Option<Box<RawValue>>,
    code: Option<IgnoredAny>,
    extensions: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ServedError {
    code: i64,
    message: String,
}

impl Convention for ServedHook {
    fn system(&self) -> &'static str {
        "ahp"
    }

    fn event_name(&self) -> &'static str {
        self.row.map_or(CODE, |row| row.name)
    }

    fn full_event_name(&self) -> String {
        self.row.map_or_else(
            || format!("{CODE}.{}", self.event),
            |row| row.name.to_string(),
        )
    }

    fn timeout(&self) -> Option<Duration> {
        None
    }

    fn on_failure(&self) -> Option<OnFailure> {
        None
    }

    fn is_foreign(&self) -> bool {
        false
    }

    fn runs_once(&self) -> bool {
        false
    }

    fn has(&self, _: &Event) -> bool {
        true
    }

    /// The whole event, under a number that cannot be guessed: what is written before the request
    /// is no answer to it.
    fn parts(&self, _: &Event, _: &Matcher) -> Vec<EventPart> {
        let random = || RandomState::new().hash_one(0);
        let id = format!("{:016x}{:016x}", random(), random());
        vec![EventPart {
            id: Some(id),
            ..EventPart::WHOLE
        }]
    }

    fn payload(&self, event: &Event, part: &EventPart) -> Context {
        let id = quoted(part.id.as_deref().unwrap_or_default());
        let mut request = Context::empty();
        request.set_raw("jsonrpc", "\"2.0\"".to_string());
        request.set_raw("id", id.clone());
        request.set_raw("method", "\"hooks/intercept\"".to_string());
        request.set_raw("params", self.params(&id, event));
        request
    }

    fn variables(&self, _: &Event, _: &str) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn has_own_results(&self) -> bool {
        true
    }

    fn judge(&self, printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>) {
        let failed = |failure: Ending| {
            let stdout = CapturedStream {
                head: printed.stdout.into(),
                ..CapturedStream::default()
            };
            answer::failed(failure, &stdout, permit)
        };
        if printed.status != 0 {
            let crash = answer::crash(printed.status, &printed.stderr.text(), permit);
            let is_crash = crash.is_some();
            let problem = crash.unwrap_or_else(|| format!("exited with status {}", printed.status));
            let (ending, notes) = failed(Ending::Crashed { problem });
            return match ending.verdict() {
                None if !is_crash => answer::refused_by_status(printed, permit),
                None | Some(_) => (ending, notes),
            };
        }
        match read(printed) {
            Ok(answer) if Some(answer.id.as_str()) != permit.id() => {
                // Whatever it says, it says of something else.
                let problem = format!("`{}` is the id of no event that waits", cut(&answer.id));
                (answer::malformed(problem), Vec::new())
            }
            Ok(answer) => match own_words(answer) {
                Ok(None) => {
                    let silent = Verdict::new(Decision::Allow, ContractRule::Silence);
                    (Ending::Answered(silent), Vec::new())
                }
                Ok(Some(words)) => judge_own(&words, permit),
                Err(problem) => failed(answer::malformed(problem)),
            },
            Err(problem) => failed(answer::malformed(problem)),
        }
    }

    fn refusal(&self, _: &[(String, Value)]) -> Option<String> {
        None
    }

    fn refusal_on_a_line(&self, text: &str, permit: Permit<'_>) -> Option<String> {
        let denied = |answer: ServedAnswer| {
            let (ending, _) = judge_own(&own_words(answer).ok()??, permit);
            match ending.verdict()?.decision.clone() {
                Decision::Block { reason } => Some(reason),
                Decision::Allow | Decision::Ask { .. } => None,
            }
        };
        let read = |line: &str| serde_json::from_str::<ServedAnswer>(line).ok();
        let is_of_another =
            |line: &&str| read(line).is_some_and(|answer| Some(answer.id.as_str()) != permit.id());
        let own: Vec<&str> = text.lines().filter(|line| !is_of_another(line)).collect();
        let said = own.iter().find_map(|line| denied(read(line)?));
        // It may be in another shape, or on several lines.
        said.or_else(|| denied_in_words(own.join("\n")))
    }

    fn question(&self, _: &[(String, Value)]) -> Option<String> {
        None
    }

    fn is_data(&self, _: &str, _: &str) -> bool {
        false
    }
}

impl ServedHook {
    /// `params` of a request, as JSON text.
    fn params(&self, id: &str, event: &Event) -> String {
        let context = event.context();
        let own = String::from_utf8(context.to_json()).unwrap_or_default();
        let mut text = String::with_capacity(2 * own.len() + 512);
        let time = humantime::format_rfc3339_millis(SystemTime::now());
        let source = quoted(&format!("urn:{CODE}:{}", event.host()));
        let kind = quoted(&self.full_event_name());
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{{\"protocolVersion\":\"{VERSION}\",\"event\":{{\"id\":{id},\"source\":{source},\
             \"type\":{kind},\"time\":\"{time}\""
        );
        let session = [("sessionId", "id"), ("cwd", "cwd")];
        let session = session
            .into_iter()
            .filter_map(|(key, name)| Some((name, context.raw(key)?)));
        push_group(&mut text, "session", session);
        let keys = self.row.map_or(&[][..], |row| row.keys);
        for group in keys.chunk_by(|one, next| group_of(one) == group_of(next)) {
            self.push_keys(&mut text, group, event);
        }
        let name = quoted(&self.event);
        let effects = if event.spec().blocks { "\"deny\"," } else { "" };
        let _ = write!(
            text,
            ",\"native\":{{\"provider\":\"hookrun\",\"eventName\":{name},\"payload\":{own}}}}},\
             \"capabilities\":{{\"effects\":[{effects}\"{ANSWER}\"]}}}}"
        );
        text
    }

    /// Adds the values that are in one object of the event, `tool` for example.
    fn push_keys(&self, text: &mut String, keys: &[AhpKey], event: &Event) {
        let value = |key: &AhpKey| match key.kind {
            AhpValue::AsIs => Some((key.from.rsplit_once('/')?.1, event.context().raw(key.to)?)),
            // The protocol wants messages with roles there, which we do not know.
            AhpValue::Text => None,
        };
        let name = keys.first().map_or("", group_of);
        let values = keys.iter().filter_map(value);
        match name {
            "" => values.for_each(|(name, raw)| {
                let _ = write!(text, ",\"{name}\":{raw}");
            }),
            "tool" => {
                let kind = event.action().map_or("other", |action| action.kind.word());
                let kind = format!("\"{kind}\"");
                let more = [("kind", kind.as_str()), ("origin", "\"native\"")];
                push_group(text, name, values.chain(more));
                text.push_str(",\"path\":\"native\"");
            }
            name => push_group(text, name, values),
        }
    }
}

/// Adds an object, if there is anything in it. Values are JSON text.
fn push_group<'v>(text: &mut String, name: &str, values: impl Iterator<Item = (&'v str, &'v str)>) {
    let mut is_first = true;
    for (key, raw) in values {
        let start = if is_first {
            format!(",\"{name}\":{{")
        } else {
            ",".to_string()
        };
        let _ = write!(text, "{start}\"{key}\":{raw}");
        is_first = false;
    }
    if !is_first {
        text.push('}');
    }
}

/// The object of the event that a value is in; empty for the event itself.
fn group_of(key: &AhpKey) -> &'static str {
    let path = key.from.trim_start_matches('/');
    path.split_once('/').map_or("", |(group, _)| group)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn cut(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}

/// The one line that answers.
fn read(printed: &Printed<'_>) -> Result<ServedAnswer, String> {
    let text = printed.stdout.trim();
    if printed.is_cut {
        return Err("its line has more than 1 MiB".to_string());
    }
    if text.is_empty() {
        return Err(
            "it answered nothing; one line on stdout answers one line on stdin".to_string(),
        );
    }
    if text.contains('\n') {
        return Err(
            "it wrote more than one line; stdout is for answers, stderr for logs".to_string(),
        );
    }
    serde_json::from_str(text)
        .map_err(|error| format!("`{}` is no answer on one line: {error}", cut(text)))
}

/// The reason of a denial in text that is no answer as it should be.
fn denied_in_words(mut text: String) -> Option<String> {
    // Their values deny in the protocol, as those of `decision` do elsewhere.
    for key in ["type", "effects", "value"] {
        text = text.replace(&format!("\"{key}\""), "\"decision\"");
    }
    answer::search(text.trim(), Vocabulary::Text).refusal
}

/// What it answers in the words of hookrun's contract; `None` for no objection.
fn own_words(answer: ServedAnswer) -> Result<Option<String>, String> {
    let ServedAnswer {
        jsonrpc,
        result,
        error,
        ..
    } = answer;
    if let Some(ServedError { code, message }) = error {
        return Err(format!("it answered with an error: {message} ({code})"));
    }
    let result = result.ok_or("it answered without `result`")?;
    if jsonrpc != "2.0" || result.protocol_version != VERSION {
        return Err(format!(
            "it speaks another version; `jsonrpc` is `2.0`, `protocolVersion` `{VERSION}`"
        ));
    }
    let denies = |aside: &RawValue| {
        answer::search(aside.get(), Vocabulary::Text)
            .refusal
            .is_some()
    };
    let within = result
        .effects
        .iter()
        .filter_map(|effect| effect.extensions.as_deref());
    if within.chain(result.extensions.as_deref()).any(denies) {
        return Err("a denial in `extensions` is none; write it as an effect".to_string());
    }
    let mut effects = result.effects.into_iter();
    let Some(effect) = effects.next() else {
        return Ok(None);
    };
    if effects.next().is_some() {
        return Err("it answered with more than one effect".to_string());
    }
    match (effect.kind.as_str(), effect.reason, effect.value) {
        ("deny", reason, None) => {
            let reason = reason.filter(|reason| !reason.is_empty());
            let reason = reason.unwrap_or_else(|| NO_REASON.to_string());
            Ok(Some(
                json!({ "continue": false, "reason": reason }).to_string(),
            ))
        }
        (ANSWER, None, Some(own)) if own.get().starts_with('{') && effect.code.is_none() => {
            Ok(Some(own.get().to_string()))
        }
        (kind, _, _) => Err(format!(
            "`{}` is no effect that was offered; those are `deny` with a `reason`, and `{ANSWER}` with an object as its `value`",
            cut(kind)
        )),
    }
}

/// Judges an answer of hookrun's contract.
fn judge_own(words: &str, permit: Permit<'_>) -> (Ending, Vec<String>) {
    let own = Hook {
        convention: None,
        ..permit.hook.clone()
    };
    let head = words.as_bytes().to_vec();
    let stdout = CapturedStream {
        total_bytes: head.len() as u64,
        head,
        ..CapturedStream::default()
    };
    let permit = Permit {
        hook: &own,
        given: None,
        ..permit
    };
    answer::judge(Exit::Status(0), &stdout, &CapturedStream::default(), permit)
}
