//! Cold against warm: what can be seen of a run, probes of a process, and what is known to differ.

use std::collections::BTreeMap;

use serde_json::Value;

/// A script that prints what it sees of its process: under `x-state`, the values of probes by their
/// names.
pub const STATE: &str = include_str!("warm/state.py");

/// Scripts that end in many ways, each under a line with its name.
const ENDINGS: &str = include_str!("warm/endings.txt");

/// A module beside them, `warm_neighbour`.
pub const NEIGHBOUR: &str = "VALUE = 3\ndef fails():\n    return undefined_name\n";

/// The case in which probes run, as a file of cases has it.
pub const PROBE_CASE: &str = r#"[[case]]
name = "probe"
event = "tool.pre"
context = { toolName = "bash", toolInput = { command = "grüße\uFFFD\r\n漢" } }
expect = { decision = "allow" }
"#;

/// Something that differs between a cold and a warm start, as `docs/warm.md` says.
#[derive(Debug)]
pub struct KnownDifference {
    /// The probes and endings that show it.
    pub probes: &'static [&'static str],
    pub about: &'static str,
}

const fn known(probes: &'static [&'static str], about: &'static str) -> KnownDifference {
    KnownDifference { probes, about }
}

/// Those that only some versions show, or only some scripts: a package that is imported in a
/// function is in the cache of paths before that.
pub const RARE: &[&str] = &[
    "exit with a huge number",
    "exit with an object whose text fails",
    "finalizing",
    "path_cache",
];

pub const DIFFERENCES: &[KnownDifference] = &[
    known(
        &["command_line", "c_arguments"],
        "The command line that the system shows is that of the kept interpreter",
    ),
    known(
        &["environment_shown", "marks"],
        "`/proc/self/environ` shows the variables of the kept interpreter",
    ),
    known(
        &[
            "stack_depth",
            "outermost_frame",
            "recursion that is not caught",
        ],
        "Frames of hookrun are below the script's own",
    ),
    known(
        &["loaded_modules", "path_cache"],
        "More modules of the standard library are in `sys.modules` at the start, and their folders in `sys.path_importer_cache`",
    ),
    known(&["collector_frozen"], "`gc.get_freeze_count()` is not 0"),
    known(
        &[
            "destructor of what a module keeps",
            "destructor of what builtins keep",
            "destructor of what a class of a module keeps",
        ],
        "An object that a script has put into a module of the standard library is not destroyed at the end",
    ),
    known(
        &["finalizing"],
        "`sys.is_finalizing()` is false while the last objects are destroyed",
    ),
    known(
        &[
            "exit with a huge number",
            "exit with an object whose text fails",
        ],
        "What CPython 3.12 and 3.13 say of an exit status that is too large, or of a text that cannot be made, is shorter",
    ),
];

/// What a report says in other words too, and what depends on how fast processes end.
const LEFT_OUT: &[&str] = &["afterMs", "bytes", "notes", "reminders", "start", "tookMs"];

/// The scripts that end in many ways: a name, and the text.
pub fn endings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let parts = ENDINGS
        .strip_prefix("#### ")
        .unwrap_or(ENDINGS)
        .split("\n#### ");
    parts.map(|part| part.split_once('\n').unwrap_or((part, "")))
}

/// Whether the page says that this probe or ending differs.
pub fn is_known(probe: &str) -> bool {
    DIFFERENCES
        .iter()
        .any(|known| known.probes.contains(&probe))
}

/// What can be seen of a case that was played: every value of its report, under its place in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenCase(BTreeMap<String, String>);

/// A value that is not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its place in the report, such as `steps.0.hooks.0.stderr.text`, or `files` and a path.
    pub place: String,
    /// `None` where it is missing.
    pub cold: Option<String>,
    pub warm: Option<String>,
}

impl Difference {
    /// The last part of its place: the name of a probe.
    pub fn probe(&self) -> &str {
        self.place.rsplit('.').next().unwrap_or_default()
    }
}

impl SeenCase {
    /// What was seen of a case, by how it ended, the reports of its steps, and the files that it
    /// left, each with its text.
    pub fn of(result: &str, steps: &[Value], left: &[(String, String)]) -> SeenCase {
        let mut seen = SeenCase::default();
        seen.note("result", result);
        for (number, report) in steps.iter().enumerate() {
            seen.add(&format!("steps.{number}"), report);
        }
        left.iter()
            .for_each(|(path, text)| seen.note(&format!("files {path}"), text));
        seen
    }

    fn note(&mut self, place: &str, text: &str) {
        self.0.insert(place.to_string(), without_numbers(text));
    }

    fn add(&mut self, place: &str, value: &Value) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries.iter().filter(|(key, _)| !is_left_out(key)) {
                    self.add(&format!("{place}.{key}"), value);
                }
            }
            Value::Array(values) => {
                for (number, value) in values.iter().enumerate() {
                    self.add(&format!("{place}.{number}"), value);
                }
            }
            Value::String(text) => match probes_in(text) {
                Some(probes) => {
                    for (name, value) in &probes {
                        self.note(&format!("{place}.{name}"), &value.to_string());
                    }
                }
                None => self.note(place, text),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => self.note(place, &value.to_string()),
        }
    }

    /// How many probes a script printed.
    pub fn probes(&self) -> usize {
        self.0
            .keys()
            .filter(|place| place.contains(".stdout.text."))
            .count()
    }

    /// What is not the same, with this one as the cold one.
    pub fn differences(&self, warm: &SeenCase) -> Vec<Difference> {
        let places = self
            .0
            .keys()
            .chain(warm.0.keys().filter(|place| !self.0.contains_key(*place)));
        let differing = places.filter(|place| self.0.get(*place) != warm.0.get(*place));
        let difference = |place: &String| Difference {
            place: place.clone(),
            cold: self.0.get(place).cloned(),
            warm: warm.0.get(place).cloned(),
        };
        differing.map(difference).collect()
    }
}

fn is_left_out(key: &str) -> bool {
    LEFT_OUT.contains(&key)
}

/// What [`STATE`] printed.
fn probes_in(text: &str) -> Option<serde_json::Map<String, Value>> {
    if !text.starts_with(r#"{"x-state": "#) {
        return None;
    }
    let mut printed: Value = serde_json::from_str(text).ok()?;
    match printed["x-state"].take() {
        Value::Object(probes) => Some(probes),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

/// Without addresses and numbers that differ from start to start.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let marks = ["0x", "refcount : ", "Thread-", "pid="];
    while let Some((at, mark)) = marks
        .iter()
        .filter_map(|mark| Some((rest.find(mark)?, *mark)))
        .min()
    {
        let end = at + mark.len();
        out.push_str(&rest[..end]);
        rest = rest[end..].trim_start_matches(|letter: char| letter.is_ascii_hexdigit());
    }
    out + rest
}
