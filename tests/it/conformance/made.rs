//! The vectors of the hosts that are known by their documents: what the vectors of Claude Code prove, in
//! each host's payloads and words.
//!
//! `fixtures/documented/HOST` has what a host sends, an event a file, and in `answers.json` what its
//! documents let it read. Both are written by hand, from the documents. The vectors are made of them,
//! and kept as files, because other runners read files alone: `UPDATE_GOLDEN=1` writes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hookrun::hosts::{self, HostEvent};
use serde_json::{Value, json};

use super::root;
use crate::generated::settle;

/// What a hook before a tool can do, and what a host gets for it; told by Claude Code's vectors.
const BEFORE_A_TOOL: &[&str] = &[
    "action-edit",
    "action-mcp",
    "action-shell",
    "action-write",
    "allow-child-holds-the-pipe",
    "allow-exit-1-of-hook-of-claude",
    "allow-unread-stdin",
    "allow-without-hooks",
    "allow-without-output",
    "ask",
    "ask-about-a-new-input",
    "context-before-a-tool",
    "output-before-a-tool",
    "refuse-11-mib-of-stdout",
    "refuse-after-consent",
    "refuse-after-rewrite",
    "refuse-broken-json",
    "refuse-broken-stdin",
    "refuse-by-exit-1",
    "refuse-by-exit-1-beside-consent",
    "refuse-by-exit-1-beside-empty-object",
    "refuse-by-exit-1-words-on-stdout",
    "refuse-by-exit-2",
    "refuse-by-exit-2-of-hook-of-claude",
    "refuse-by-exit-2-without-words",
    "refuse-by-hook-of-claude",
    "refuse-by-hook-of-cursor",
    "refuse-by-json",
    "refuse-by-json-after-noise",
    "refuse-by-json-before-noise",
    "refuse-by-json-with-blank-reason",
    "refuse-by-json-with-bom",
    "refuse-by-json-with-crlf",
    "refuse-by-json-without-reason",
    "refuse-by-second-of-two-documents",
    "refuse-child-holds-the-pipe",
    "refuse-death-by-signal",
    "refuse-empty-stdin",
    "refuse-exit-127",
    "refuse-first-ends-it",
    "refuse-hang",
    "refuse-hang-that-ignores-sigterm",
    "refuse-hook-missing",
    "refuse-hook-not-executable",
    "refuse-invalid-utf8-on-stderr",
    "refuse-invalid-utf8-on-stdout",
    "refuse-missing-interpreter",
    "refuse-rewrite-without-leave",
    "refuse-rm-rf",
    "refuse-stdin-that-is-no-object",
    "refuse-two-documents",
    "refuse-unread-stdin",
    "refuse-what-a-rewrite-made",
    "refuse-while-stdin-stays-open",
    "rewrite-input",
    "rewrite-input-twice",
    "same-call-twice",
];

/// Those in which a hook rewrites.
const REWRITES: &[&str] = &[
    "ask-about-a-new-input",
    "refuse-after-rewrite",
    "refuse-what-a-rewrite-made",
    "rewrite-input",
    "rewrite-input-twice",
];

/// A host that is known by its documents.
struct Documented {
    host: &'static str,
    answers: Value,
    payloads: BTreeMap<String, Value>,
}

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documented")
}

/// Every such host.
pub(super) fn hosts() -> Vec<&'static str> {
    let is_documented = |host: &&str| documents().join(host).is_dir();
    hosts::dialects()
        .map(|dialect| dialect.name)
        .filter(is_documented)
        .collect()
}

fn read(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Puts `with` in the place of every text that is `word`.
fn replaced(value: &Value, word: &str, with: &Value) -> Value {
    match value {
        Value::String(text) if text == word => with.clone(),
        Value::Array(items) => items
            .iter()
            .map(|item| replaced(item, word, with))
            .collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| (key.clone(), replaced(value, word, with)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// A name with capitals or `_` as the name of a file.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !slug.is_empty() {
            slug.push('-');
        }
        slug.push(if c == '_' {
            '-'
        } else {
            c.to_ascii_lowercase()
        });
    }
    slug
}

impl Documented {
    fn of(host: &'static str) -> Documented {
        let mut payloads = BTreeMap::new();
        for entry in fs::read_dir(documents().join(host)).unwrap() {
            let file = entry.unwrap().path();
            payloads.insert(
                file.file_stem().unwrap().to_str().unwrap().into(),
                read(&file),
            );
        }
        let answers = payloads.remove("answers").unwrap();
        Documented {
            host,
            answers,
            payloads,
        }
    }

    fn gate(&self) -> &str {
        self.answers["gate"].as_str().unwrap()
    }

    /// What `answers.json` says of an event, else of all.
    fn answer(&self, event: &str, what: &str) -> Option<Value> {
        let own = self.answers["events"][event].get(what);
        let answer = own.unwrap_or(&self.answers[what]);
        (!answer.is_null()).then(|| replaced(answer, "EVENT", &event.into()))
    }

    /// The event before a tool: the shell, or what is `special` ("write", "edit", "mcp").
    fn before(&self, special: &str) -> Option<(String, Value)> {
        let own = self.answers[special].as_str().map(str::to_string);
        let name = own.unwrap_or(format!("{}-{special}", self.gate()));
        let event = name.split('-').next().unwrap_or_default().to_string();
        Some((
            event,
            self.payloads.get(name.trim_end_matches('-'))?.clone(),
        ))
    }

    fn payload(&self, event: &str) -> Value {
        let found = self.payloads.get(event);
        found
            .unwrap_or_else(|| panic!("{}: no payload of {event}", self.host))
            .clone()
    }

    /// What the host gets for a block, where `stderr` says how its words are known.
    fn blocked(&self, event: &str, stderr: &Value) -> Value {
        let form = self.answer(event, "refused").unwrap();
        let mut expect = json!({ "status": form["status"], "stderr": stderr });
        let reason = match stderr {
            Value::String(text) => Value::from(text.trim_end_matches('\n')),
            Value::Object(how) => how
                .iter()
                .map(|(key, value)| (format!("${key}"), value.clone()))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => panic!("{stderr}"),
        };
        if !form["stdout"].is_null() {
            expect["stdout"] = replaced(&form["stdout"], "REASON", &reason);
        }
        expect
    }

    /// What the host gets where it goes on, with this answer or none.
    fn allowed(&self, event: &str, answer: Option<Value>) -> Value {
        let mut expect = json!({ "status": 0 });
        let consent = self.answer(event, "allowed");
        if let Some(stdout) = answer.or(consent) {
            expect["stdout"] = stdout;
        }
        expect
    }

    /// What the host gets for a text: in its own place, else on stderr.
    fn told(&self, event: &str, what: &str, text: &str) -> Value {
        let answer = self
            .answer(event, what)
            .map(|it| replaced(&it, "TEXT", &text.into()));
        let mut expect = self.allowed(event, answer.clone());
        if answer.is_none() || what == "objected" {
            expect["stderr"] = json!({ "contains": [text] });
        }
        expect
    }

    fn vector(&self, about: &Value, event: &str, hooks: &Value, steps: Vec<Value>) -> Value {
        let source = &self.answers["source"];
        json!({ "about": about, "source": source, "host": self.host, "event": event, "hooks": hooks,
                "steps": steps })
    }

    /// The vector of Claude Code with this name, of this host.
    fn of_claude(&self, name: &str) -> Option<Value> {
        let is_able = |what: &str| self.answer(self.gate(), what).is_some();
        if REWRITES.contains(&name) && !is_able("rewritten")
            || name == "ask-about-a-new-input" && !is_able("asked")
        {
            return None;
        }
        let template = read(&root().join(format!("claude/{name}.json")));
        let special = name.strip_prefix("action-").filter(|what| *what != "shell");
        let (event, payload) = self.before(special.unwrap_or_default())?;
        let steps = template["steps"].as_array().unwrap().iter();
        let steps = steps
            .map(|step| self.step(name, &event, &payload, step))
            .collect();
        Some(self.vector(&template["about"], &event, &template["hooks"], steps))
    }

    /// One step of a vector of Claude Code.
    fn step(&self, name: &str, event: &str, payload: &Value, step: &Value) -> Value {
        let mut own = step.clone();
        let is_unnamed = step["stdin"].is_null();
        if !is_unnamed {
            own["stdin"] = payload.clone();
            if let Some(command) = step["stdin"]["tool_input"]["command"].as_str() {
                own["stdin"] = replaced(payload, "echo hello", &command.into());
            }
        }
        let (expect, stderr) = (&step["expect"], &step["expect"]["stderr"]);
        let said = |what: &str| self.answer(event, what);
        own["expect"] = match name {
            "action-mcp" => {
                let words =
                    ["tool_name", "mcp_tool_name", "toolName"].map(|key| find(payload, key));
                let tool = words
                    .into_iter()
                    .flatten()
                    .next()
                    .or(find(payload, "name"))
                    .unwrap();
                self.blocked(event, &format!("mcp {}\n", tool.as_str().unwrap()).into())
            }
            "ask" => match said("asked") {
                Some(asked) => self.allowed(event, Some(replaced(&asked, "TEXT", &"sure?".into()))),
                None => self.blocked(event, &json!({ "contains": ["sure?"] })),
            },
            "context-before-a-tool" => self.told(event, "taught", "mind the gap"),
            "output-before-a-tool" => self.told(event, "shown", "formatted"),
            "rewrite-input" | "rewrite-input-twice" | "ask-about-a-new-input" => {
                let out = &expect["stdout"]["hookSpecificOutput"];
                let mut stdout =
                    replaced(&said("rewritten").unwrap(), "INPUT", &out["updatedInput"]);
                if name.starts_with("ask") {
                    let asked = replaced(&said("asked").unwrap(), "TEXT", &"sure?".into());
                    merge(&mut stdout, asked);
                }
                self.allowed(event, Some(stdout))
            }
            // What cannot be read names no event, so no form is known.
            _ if is_unnamed && self.answers["named"] == true => expect.clone(),
            _ if expect["status"] == 2 => self.blocked(event, stderr),
            _ => self.allowed(event, None),
        };
        own
    }

    /// What each event is told as, and what a hook can do to it.
    fn of_event(&self, row: &HostEvent) -> Vec<(String, Value)> {
        let payload = self.payload(row.name);
        let script =
            |text: &str| json!([{ "name": "10-guard", "event": row.event, "script": [text] }]);
        let step = |expect: Value| vec![json!({ "stdin": payload, "expect": expect })];
        let name = slug(row.name);
        let one = |about: &str, hooks: &Value, expect| {
            self.vector(&about.into(), row.name, hooks, step(expect))
        };
        let told = format!(
            "case $(cat) in *'\"event\":\"{}\"'*) exit 0 ;; esac; echo 'something else' >&2; exit 1",
            row.event
        );
        let mut all = vec![(
            format!("payload-{name}"),
            one(
                "Hooks are told the event under hookrun's name.",
                &script(&told),
                self.allowed(row.name, None),
            ),
        )];
        let (about, expect, what) = match (row.blocks, self.answer(row.name, "objected")) {
            (true, _) => (
                "A hook that exits with 1 blocks the event.",
                self.blocked(row.name, &"no\n".into()),
                "refused",
            ),
            (false, Some(_)) if row.event == "tool.post" => (
                "An objection goes next to the result.",
                self.told(row.name, "objected", "no"),
                "objection",
            ),
            (false, _) => {
                let mut expect = self.allowed(row.name, None);
                expect["stderr"] = json!({ "contains": ["10-guard", "no"] });
                (
                    "An objection cannot block the event; it is on stderr.",
                    expect,
                    "objection",
                )
            }
        };
        all.push((
            format!("event-{name}-{what}"),
            one(about, &script("echo no >&2; exit 1"), expect),
        ));
        if ["session.start", "prompt.submit", "tool.post"].contains(&row.event) {
            let hooks = script("echo '{\"additionalContext\":\"mind the gap\"}'");
            let answer = self.answer(row.name, "taught");
            let mut expect = self.told(row.name, "taught", "mind the gap");
            if answer.is_none() {
                expect = self.allowed(row.name, None);
                expect["stderr"] = json!({ "contains": ["mind the gap"] });
            }
            all.push((
                format!("event-{name}-context"),
                one(
                    "Text for the model goes to its place, else to stderr.",
                    &hooks,
                    expect,
                ),
            ));
        }
        if row.blocks {
            let mut hooks = script("sleep 600");
            hooks[0]["settings"] = json!({ "timeout": "300ms" });
            let stderr = json!({ "contains": ["10-guard"] });
            let (about, expect) = if row.event.ends_with(".stop") {
                let mut expect = self.allowed(row.name, None);
                expect["stderr"] = stderr;
                ("A hook that hangs lets an agent stop.", expect)
            } else {
                (
                    "A hook that hangs blocks the event.",
                    self.blocked(row.name, &stderr),
                )
            };
            all.push((format!("event-{name}-hang"), one(about, &hooks, expect)));
        }
        all
    }

    fn vectors(&self) -> BTreeMap<String, Value> {
        let of_claude = BEFORE_A_TOOL.iter().filter_map(|name| {
            let own = self.answer(self.gate(), "asked").is_none() && *name == "ask";
            let name_here = if own { "refuse-ask" } else { name };
            Some((name_here.to_string(), self.of_claude(name)?))
        });
        let rows = hosts::find(self.host).unwrap().events;
        let mut all: BTreeMap<String, Value> = of_claude.collect();
        all.extend(rows.iter().flat_map(|row| self.of_event(row)));
        if self.answer(self.gate(), "rewritten").is_none() {
            let (event, payload) = self.before("").unwrap();
            let template = read(&root().join("claude/rewrite-input.json"));
            let expect = self.blocked(&event, &json!({ "contains": ["10-guard"] }));
            let steps = vec![json!({ "stdin": payload, "expect": expect })];
            let about = "A new input blocks, because the host takes none.".into();
            all.insert(
                "refuse-rewrite".into(),
                self.vector(&about, &event, &template["hooks"], steps),
            );
        }
        all
    }
}

/// The first value under a key, at any depth.
fn find(value: &Value, key: &str) -> Option<Value> {
    let entries = value.as_object()?;
    let own = entries.get(key).filter(|value| value.is_string()).cloned();
    own.or_else(|| entries.values().find_map(|value| find(value, key)))
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

#[test]
fn the_vectors_of_documented_hosts_are_what_their_documents_say() {
    for host in hosts() {
        let folder = root().join(host);
        fs::create_dir_all(&folder).unwrap();
        let vectors = Documented::of(host).vectors();
        for (name, vector) in &vectors {
            let file = format!("fixtures/conformance/{host}/{name}.json");
            let kept = fs::read_to_string(folder.join(format!("{name}.json"))).unwrap_or_default();
            settle(&file, &kept, &format!("{vector:#}\n"));
        }
        assert_eq!(
            super::vectors(host).len(),
            vectors.len(),
            "{host}: a vector is left over"
        );
        assert!(vectors.len() >= 40, "{host}: {}", vectors.len());
    }
}
