//! The keys of a suite: one table for the reader, its errors and the manual page.

use super::coverage;
use crate::config::keys::{self, KeyRow, KeyValue, key};

/// The keys of a file of cases.
#[rustfmt::skip]
pub const TOP_KEYS: &[KeyRow] = &[
    key("hooks", KeyValue::Texts, "the folder that `tests` is in", "the folders with the hooks under test, as for `--hooks`; relative to the file", false),
    key("settings", KeyValue::Texts, "none", "settings files of hosts with hooks under test, as for `--settings`", false),
    key("defaults", KeyValue::Table, "none", "keys that every case has, unless it says so itself", false),
    key("never", KeyValue::Table, "none", "what a hook never does, for `--coverage`: `[[never]]`", false),
    key("case", KeyValue::Table, "required", "a case: `[[case]]`", false),
];

/// The keys of a `[[never]]`.
#[rustfmt::skip]
pub const NEVER_KEYS: &[KeyRow] = &[
    key("hook", KeyValue::Text, "required", "the hook", false),
    key("event", KeyValue::Texts, "every event of the hook", "for these events only, by their names", false),
    key("point", KeyValue::OneOf(coverage::excusable), "required", "what it never does", false),
    key("why", KeyValue::Text, "required", "the reason; every report shows it", false),
];

/// The keys of `[defaults]`.
#[rustfmt::skip]
pub const DEFAULT_KEYS: &[KeyRow] = &[EVENT, HOST, HOOK, ENV, FILES, SETUP];

/// The keys of a `[[case]]`.
#[rustfmt::skip]
pub const CASE_KEYS: &[KeyRow] = &[
    key("name", KeyValue::Text, "required", "the sentence that it proves; used once in a file", false),
    key("skip", KeyValue::Text, "not skipped", "why it does not run; reports count it and show the reason", false),
    EVENT, HOST, HOOK, CONTEXT, CONTEXT_FILE, STDIN, ENV, FILES, SETUP, EXPECT,
    key("with", KeyValue::Table, "one case", "rows of values for the placeholders: `[[case.with]]`, each of which makes a case", false),
    key("step", KeyValue::Table, "one step", "events that come one after the other: `[[case.step]]`", false),
];

/// The keys of a `[[case.step]]`. What it does not say itself of `event`, `host` and `hook`, its
/// case says.
#[rustfmt::skip]
pub const STEP_KEYS: &[KeyRow] = &[
    EVENT, HOST, HOOK, CONTEXT, CONTEXT_FILE, STDIN, FILES, SETUP, EXPECT,
];

/// The keys of `expect`.
#[rustfmt::skip]
pub const EXPECT_KEYS: &[KeyRow] = &[
    key("decision", KeyValue::OneOf(decisions), "required", "what comes out", false),
    key("reason", KeyValue::Pattern, "any", "the reason of the block, or the question", false),
    key("by", KeyValue::Texts, "any", "the hook that blocked, or those that asked", false),
    key("asked", KeyValue::Texts, "any", "the hooks that ran, in their order", false),
    key("failed", KeyValue::Texts, "none", "the hooks that failed: timed out, crashed, did not start; `hookrun` for its own failure", false),
    key("output", KeyValue::Pattern, "none", "the texts to show", false),
    key("context", KeyValue::Pattern, "none", "the texts for the model", false),
    key("notice", KeyValue::Pattern, "none", "blocks and questions without effect, because the event cannot be blocked", false),
    key("findings", KeyValue::Pattern, "any", "what was found in files, a line each: `error src/main.tf:7 it is open`", false),
    key("rewrites", KeyValue::Json, "none", "the fields that were rewritten, each with its new value", false),
    key("reply", KeyValue::Table, "any", "what the host gets", false),
    key("within", KeyValue::Duration, "any", "how long deciding may take", false),
    key("files", KeyValue::Table, "any", "what then lies in the case's folder: a path with a regular expression for its text, or with true or false for whether it is there", false),
];

/// The keys of `reply`.
#[rustfmt::skip]
pub const REPLY_KEYS: &[KeyRow] = &[
    key("status", KeyValue::Number, "any", "the exit status", false),
    key("stdout", KeyValue::Json, "any", "stdout: a table that it is as JSON, or a regular expression", false),
    key("stderr", KeyValue::Pattern, "any", "stderr", false),
];

/// The keys of a file that is laid out, where it is not just its text.
#[rustfmt::skip]
pub const FILE_KEYS: &[KeyRow] = &[
    key("text", KeyValue::Text, "empty", "what is in it", false),
    key("copy", KeyValue::Text, "none", "the file that it is a copy of, relative to the file of cases", false),
    key("mode", KeyValue::Text, "\"644\"", "its permissions, in octal", false),
];

/// The keys of a value in a row that is a text many times over.
#[rustfmt::skip]
pub const REPEAT_KEYS: &[KeyRow] = &[
    key("text", KeyValue::Text, "required", "the text", false),
    key("times", KeyValue::Number, "required", "how often", false),
];

const EVENT: KeyRow =
    key("event", KeyValue::Text, "required", "the event, by its name or the host's", false);
const HOST: KeyRow = key(
    "host",
    KeyValue::OneOf(keys::dialects),
    "\"native\"",
    "whose words the event and the reply are in",
    false,
);
const HOOK: KeyRow =
    key("hook", KeyValue::Texts, "all", "ask only these hooks, as `test --hook`", false);
const CONTEXT: KeyRow =
    key("context", KeyValue::Json, "what the event requires", "the event's context", false);
const CONTEXT_FILE: KeyRow = key(
    "context_file",
    KeyValue::Text,
    "none",
    "a file with the context, relative to the file of cases",
    false,
);
const STDIN: KeyRow = key(
    "stdin",
    KeyValue::Text,
    "none",
    "what is sent instead of a context; need not be JSON",
    false,
);
const ENV: KeyRow =
    key("env", KeyValue::Table, "none", "variables of the hooks' environment", false);
const FILES: KeyRow =
    key("files", KeyValue::Table, "none", "files in its folder: a path with its text", false);
const SETUP: KeyRow =
    key("setup", KeyValue::Text, "none", "lines for `sh -e`, run in its folder before", false);
const EXPECT: KeyRow = key("expect", KeyValue::Table, "required", "what must come back", false);

/// The words for what comes out.
pub(super) fn decisions() -> Vec<&'static str> {
    vec!["allow", "block", "ask"]
}
