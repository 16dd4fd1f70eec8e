//! What must hold for every `hookrun.toml` and for the directives of every script: each hook is
//! loaded as it is written, or a problem says where it is not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hookrun::Decision;
use hookrun::internals::config::keys::{HOOK_KEYS, MATCH_KEYS};
use hookrun::internals::config::{Choice, Config, ConfigScope, Environment, Problem, Severity};
use hookrun::internals::config::{EVENT_KEYS, KeyRow, LOG_KEYS, PROJECT_KEYS, SET_KEYS, TOP_KEYS};
use hookrun::internals::hook::{Background, DEFAULT_PRIORITY, Handler, Hook, parse_duration};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What stands between the `hookrun.toml` and the script of a case.
const SCRIPT: &str = "\n--script--\n";

/// The one drop-in.
const DROP_IN: &str = "hooks.d/tool.pre/guard";

/// How lines of comment begin (`man hookrun-hook`).
const COMMENTS: &[&str] = &["#", "//", "--", ";"];

/// How much of a script is searched for directives (`man hookrun-hook`).
const HEAD_BYTES: usize = 16 * 1024;

type Table<'t> = DeTable<'t>;

/// Loads a case and compares what is loaded with what is written. A case is a `hookrun.toml`
/// and, after a line `--script--`, a drop-in of `tool.pre`. Both are written into `folder`.
pub(crate) fn check(input: &[u8], folder: &Path) {
    let divider = input
        .windows(SCRIPT.len())
        .position(|part| part == SCRIPT.as_bytes());
    let (manifest, script) = divider.map_or((input, &b""[..]), |at| {
        (&input[..at], &input[at + SCRIPT.len()..])
    });
    let drop_in = folder.join(DROP_IN);
    fs::create_dir_all(drop_in.parent().expect("it has one")).expect("the folder can be made");
    fs::write(folder.join("hookrun.toml"), manifest).expect("it can be written");
    fs::write(&drop_in, script).expect("it can be written");

    let manifest_text = String::from_utf8_lossy(manifest);
    let script_text = String::from_utf8_lossy(script);
    let case = Case {
        folder,
        config: load(folder, ConfigScope::All),
        manifest: &manifest_text,
        script: &script_text,
    };
    case.check_places();
    case.check_hooks();
    case.check_scopes();
    case.check_drop_in(script);
    match std::str::from_utf8(manifest).ok().map(DeTable::parse) {
        Some(Ok(document)) => case.check_document(document.get_ref()),
        Some(Err(_)) | None => {
            let told = case.errors().any(|problem| {
                problem.cause.starts_with("not valid TOML") || problem.cause == "is not UTF-8"
            });
            assert!(told, "it cannot be read, and nobody says so");
        }
    }
}

fn load(folder: &Path, scope: ConfigScope<'_>) -> Config {
    let env = Environment {
        cwd: folder.to_path_buf(),
        system: folder.join("none"),
        ..Environment::default()
    };
    let choice = Choice {
        explicit: vec![folder.to_path_buf()],
        ..Choice::default()
    };
    Config::load(&choice, &env, scope)
}

struct Case<'c> {
    folder: &'c Path,
    config: Config,
    manifest: &'c str,
    script: &'c str,
}

impl Case<'_> {
    fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.config
            .problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
    }

    fn is_in_script(&self, problem: &Problem) -> bool {
        problem.file == self.folder.join(DROP_IN)
    }

    /// Every problem names its file, and a place that is there.
    fn check_places(&self) {
        for problem in &self.config.problems {
            assert!(!problem.cause.trim().is_empty());
            let text = if self.is_in_script(problem) {
                self.script
            } else {
                assert_eq!(
                    problem.file,
                    self.folder.join("hookrun.toml"),
                    "{problem:?}"
                );
                self.manifest
            };
            let Some(at) = problem.at else {
                assert!(
                    self.is_in_script(problem),
                    "nobody knows where: {problem:?}"
                );
                continue;
            };
            assert!(at.line >= 1 && at.column >= 1, "{problem:?}");
            let line = text.split('\n').nth(at.line - 1);
            let line = line.unwrap_or_else(|| panic!("no such line: {problem:?}"));
            assert!(
                at.column <= line.chars().count() + 1,
                "no such column: {problem:?}"
            );
            let named = problem
                .cause
                .strip_prefix("unknown key `")
                .map(|rest| rest.trim_end_matches('`'));
            let is_bare = |key: &&str| key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if let Some(key) = named.filter(is_bare) {
                assert!(
                    line.contains(key) || line.contains('\\'),
                    "not there: {problem:?}"
                );
            }
        }
        assert_eq!(
            self.config.has_errors(),
            self.config.block_reason().is_some()
        );
    }

    /// Nothing that is loaded is absurd.
    fn check_hooks(&self) {
        for hook in &self.config.hooks {
            let spec = self.config.catalog.find(&hook.event);
            assert!(
                spec.as_ref()
                    .is_ok_and(|spec| spec.name == hook.event.as_str()),
                "{hook:?}"
            );
            assert!(
                !hook.name.trim().is_empty() && !hook.usual_timeout().is_zero(),
                "{hook:?}"
            );
            match &hook.handler {
                Handler::File(file) => assert_eq!(*file, self.folder.join(DROP_IN)),
                Handler::Words { words, base } => {
                    assert!(!words.is_empty() && base == self.folder, "{hook:?}");
                }
                Handler::Shell(line) => assert!(!line.trim().is_empty(), "{hook:?}"),
                Handler::Rule(decision) => {
                    assert!(*decision != Decision::Allow && spec.is_ok_and(|spec| spec.blocks));
                    assert_ne!(hook.matcher.to_string(), "every event", "{hook:?}");
                }
                Handler::Function(_) => panic!("no configuration names a function"),
            }
        }
    }

    /// An error anywhere closes every gate, whichever event is asked about. Only the size of an
    /// expression, and a key that the event of a hook lacks, show no sooner than they are needed, of
    /// drop-ins only those of the event are read,
    /// and of a file that is not TOML nothing else is certain.
    fn check_scopes(&self) {
        let is_no_toml = |one: &Problem| one.cause.starts_with("not valid TOML");
        let of = |config: &Config, with_script: bool| -> BTreeSet<String> {
            let has_no_toml = config.problems.iter().any(is_no_toml);
            let errors = config
                .problems
                .iter()
                .filter(|one| one.severity == Severity::Error);
            errors
                .filter(|one| with_script || !self.is_in_script(one))
                .filter(|one| with_script || !one.cause.starts_with("two hooks of "))
                .filter(|one| !one.cause.contains("size limit"))
                .filter(|one| with_script || !one.cause.contains(" has no key "))
                .filter(|one| !has_no_toml || is_no_toml(one) || self.is_in_script(one))
                .map(ToString::to_string)
                .collect()
        };
        let same = load(self.folder, ConfigScope::Event("PreToolUse"));
        assert_eq!(of(&same, true), of(&self.config, true));
        let other = load(self.folder, ConfigScope::Event("session.end"));
        assert_eq!(of(&other, false), of(&self.config, false));
        assert!(!other.problems.iter().any(|one| self.is_in_script(one)));
    }

    /// The drop-in is loaded with all that its directives say, or a problem names one of them.
    fn check_drop_in(&self, script: &[u8]) {
        let loaded = self
            .config
            .hooks
            .iter()
            .find(|hook| hook.source.line.is_none());
        let has_errors = self.errors().any(|problem| self.is_in_script(problem));
        let Some(hook) = loaded else {
            return assert!(has_errors, "the drop-in is lost");
        };
        if has_errors || script.len() >= HEAD_BYTES || script.iter().take(512).any(|b| *b == 0) {
            return;
        }
        for directive in directives(self.script) {
            // Quotes, escapes and comments are the business of a shell.
            if directive.contains(['\'', '"', '\\', '#']) {
                continue;
            }
            for word in directive.split([' ', '\t']).filter(|word| !word.is_empty()) {
                check_word(hook, word);
            }
        }
    }

    /// What a plain reading of the TOML finds is loaded, or somebody says why not.
    fn check_document(&self, document: &Table<'_>) {
        self.check_keys(document, TOP_KEYS, "the top");
        for (name, value) in document {
            match (name.get_ref().as_ref(), value.get_ref()) {
                ("hook", DeValue::Array(hooks)) => {
                    let starts: Vec<usize> = hooks.iter().map(|hook| hook.span().start).collect();
                    for (number, hook) in hooks.iter().enumerate() {
                        self.check_hook(hook, starts.get(number + 1).copied());
                    }
                }
                ("event", DeValue::Table(events)) => {
                    for (name, event) in events {
                        self.check_event(name.get_ref(), event);
                    }
                }
                ("rules", DeValue::Table(_)) => {}
                ("log", DeValue::Table(log)) => self.check_keys(log, LOG_KEYS, "log"),
                ("project", DeValue::Table(table)) => {
                    self.check_keys(table, PROJECT_KEYS, "project");
                }
                ("sets", DeValue::Table(sets)) => {
                    for set in sets.values() {
                        if let DeValue::Table(set) = set.get_ref() {
                            self.check_keys(set, SET_KEYS, "a set");
                        }
                    }
                }
                _ => assert!(self.config.has_errors(), "`{}` is lost", name.get_ref()),
            }
        }
    }

    /// A key that is not known is an error.
    fn check_keys<T>(&self, table: &Table<'_>, rows: &[KeyRow<T>], what: &str) {
        for key in table.keys() {
            let is_known = rows.iter().any(|row| row.name == key.get_ref().as_ref());
            assert!(
                is_known || self.config.has_errors(),
                "`{}` of {what}",
                key.get_ref()
            );
        }
    }

    fn check_event(&self, name: &str, value: &Spanned<DeValue<'_>>) {
        let spec = self.config.catalog.find(name).ok();
        let is_own = spec.is_some_and(|spec| spec.name == name && spec.aliases.is_empty());
        let Some(table) = value.get_ref().as_table() else {
            return assert!(self.config.has_errors());
        };
        assert!(
            is_own || self.config.has_errors(),
            "the event `{name}` is lost"
        );
        self.check_keys(table, EVENT_KEYS, name);
    }

    fn check_hook(&self, value: &Spanned<DeValue<'_>>, next: Option<usize>) {
        let line_of = |offset: usize| self.manifest[..offset].matches('\n').count() + 1;
        let (first, last) = (
            line_of(value.span().start),
            next.map_or(usize::MAX, line_of),
        );
        let is_told = self.errors().any(|problem| {
            let line = problem.at.map_or(0, |at| at.line);
            !self.is_in_script(problem) && (first..=last).contains(&line)
        });
        let Some(table) = value.get_ref().as_table() else {
            return assert!(is_told, "a hook that is no table");
        };
        let name = text(table, "name").unwrap_or_default();
        let events = texts(table, "event");
        let loaded: Vec<&Hook> = self
            .config
            .hooks
            .iter()
            .filter(|hook| hook.source.line == Some(first) && hook.name == name)
            .collect();
        let is_bound = |event: &String| {
            let spec = self.config.catalog.find(event);
            spec.is_ok_and(|spec| loaded.iter().any(|hook| hook.event == spec.name.as_ref()))
        };
        if events.is_empty() || !events.iter().all(is_bound) {
            // A declaration with a mistake is problem enough for the hooks that wait for it.
            let waits = events.iter().any(|event| {
                self.config.catalog.find(event).is_err() && self.manifest.contains(event.as_str())
            });
            assert!(
                is_told || waits && self.config.has_errors(),
                "a hook is lost: `{name}`"
            );
            return;
        }
        for hook in loaded {
            // Two hooks may stand on one line.
            if !is_told {
                check_settings(hook, table, self.manifest);
            }
        }
    }
}

/// The directives in the leading comments of a script.
fn directives(script: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (number, line) in script.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || number == 0 && line.starts_with("#!") {
            continue;
        }
        let Some(start) = COMMENTS.iter().find(|start| line.starts_with(**start)) else {
            break;
        };
        // `##` and `///` also begin a comment.
        let sign = &start[start.len() - 1..];
        let comment = line[start.len()..].trim_start_matches(sign).trim_start();
        found.extend(comment.strip_prefix("hookrun:"));
    }
    found
}

/// The name of the dialect that is meant.
fn dialect(named: &str) -> &str {
    hookrun::hosts::find(named).map_or(named, |dialect| dialect.name)
}

/// One setting of a directive stands in the hook.
fn check_word(hook: &Hook, word: &str) {
    let (name, value) = word.split_once('=').unwrap_or((word, "true"));
    let wants = hook.matcher.to_string();
    let holds = match name {
        "timeout" => parse_duration(value) == Ok(hook.usual_timeout()),
        "priority" => value.parse() == Ok(hook.priority),
        "parallel" => hook.parallel.is_some_and(|flag| value == flag.to_string()),
        "rewrite" => value == hook.rewrite.to_string(),
        "enabled" => value == hook.enabled.to_string(),
        "on_failure" => hook.on_failure.is_some_and(|choice| choice.name() == value),
        "background" => hook.background.name() == value,
        "dialect" => hook.dialect_name() == dialect(value),
        "tool" => wants.contains(&format!("tool {value}")),
        // Several of one kind are one part.
        "path" | "runs" => [name, " or"]
            .iter()
            .any(|before| wants.contains(&format!("{before} {value}"))),
        "command" => wants.contains(&format!("command /{value}/")),
        name => {
            let field = name
                .strip_prefix("where.")
                .expect("an unknown setting is a problem");
            wants.contains(&format!("{field} /{value}/"))
        }
    };
    assert!(holds, "`{word}` is lost: {hook:?}");
}

/// The settings of a loaded hook are those of its table.
fn check_settings(hook: &Hook, table: &Table<'_>, source: &str) {
    for key in table.keys() {
        assert!(
            HOOK_KEYS
                .iter()
                .any(|row| row.name == key.get_ref().as_ref()),
            "{key:?}"
        );
    }
    let flag = |key: &str| {
        table
            .get(key)
            .map_or(Some(false), |value| value.get_ref().as_bool())
    };
    assert_eq!(Some(hook.parallel.unwrap_or(false)), flag("parallel"));
    assert_eq!(Some(hook.rewrite), flag("rewrite"));
    assert_eq!(
        hook.enabled,
        !table.contains_key("enabled") || flag("enabled") == Some(true)
    );
    match table.get("timeout") {
        Some(_) => {
            let given = text(table, "timeout").expect("a timeout is a string");
            assert_eq!(Ok(hook.usual_timeout()), parse_duration(&given));
        }
        None => assert_eq!(hook.limits.timeout, None),
    }
    match table.get("priority") {
        Some(value) => assert_eq!(Some(hook.priority), number(&source[value.span()])),
        None => assert_eq!(hook.priority, DEFAULT_PRIORITY),
    }
    assert_eq!(
        hook.on_failure.map(|choice| choice.name().to_string()),
        text(table, "on_failure")
    );
    let background = text(table, "background");
    assert_eq!(
        hook.background.name(),
        background.as_deref().unwrap_or(Background::Kill.name())
    );
    let named = text(table, "dialect").unwrap_or("native".to_string());
    assert_eq!(hook.dialect_name(), dialect(&named));
    let command = text(table, "command").expect("a command is needed");
    match &hook.handler {
        Handler::Shell(line) => assert_eq!((line, flag("shell")), (&command, Some(true))),
        Handler::Words { words, .. } => {
            assert_eq!(flag("shell"), Some(false));
            assert!(
                words.iter().all(|word| word.len() <= command.len()),
                "{words:?}"
            );
        }
        Handler::File(_) | Handler::Function(_) | Handler::Rule(_) => {
            panic!("none of them stands in a manifest")
        }
    }
    let wants = hook.matcher.to_string();
    let Some(matcher) = table.get("match") else {
        return assert_eq!(wants, "every event");
    };
    let matcher = matcher.get_ref().as_table().expect("`match` is a table");
    for (key, value) in matcher {
        let key = key.get_ref().as_ref();
        assert!(MATCH_KEYS.iter().any(|row| row.name == key), "{key}");
        let wanted = match key {
            "tool" => vec![format!("tool {}", texts(matcher, key).join("|"))],
            "path" => vec![format!("path {}", texts(matcher, key).join(" or "))],
            "command" => vec![format!(
                "command /{}/",
                text(matcher, key).expect("a string")
            )],
            "runs" => vec![format!("runs {}", texts(matcher, key).join(" or "))],
            _ => fields("", value),
        };
        assert!(!wanted.is_empty(), "`{key}` says nothing");
        for part in wanted {
            assert!(wants.contains(&part), "`{part}` is lost: {wants}");
        }
    }
}

/// The expressions of a `where`, each as it is shown.
fn fields(above: &str, value: &Spanned<DeValue<'_>>) -> Vec<String> {
    let table = value.get_ref().as_table().expect("`where` is a table");
    let mut found = Vec::new();
    for (field, value) in table {
        let path = format!("{above}{}", field.get_ref());
        match value.get_ref().as_str() {
            Some(form) => found.push(format!("{path} /{form}/")),
            None => found.extend(fields(&format!("{path}."), value)),
        }
    }
    found
}

fn text(table: &Table<'_>, key: &str) -> Option<String> {
    table.get(key)?.get_ref().as_str().map(str::to_string)
}

/// A string, or the strings of a list.
fn texts(table: &Table<'_>, key: &str) -> Vec<String> {
    match table.get(key).map(Spanned::get_ref) {
        Some(DeValue::String(text)) => vec![text.to_string()],
        Some(DeValue::Array(list)) => {
            let text = |item: &Spanned<DeValue<'_>>| item.get_ref().as_str().map(str::to_string);
            list.iter().filter_map(text).collect()
        }
        _ => Vec::new(),
    }
}

/// A TOML integer.
fn number(written: &str) -> Option<i64> {
    let digits = written.replace('_', "");
    let parse = |digits: &str, radix| i64::from_str_radix(digits, radix).ok();
    match digits.get(..2) {
        Some("0x") => parse(&digits[2..], 16),
        Some("0o") => parse(&digits[2..], 8),
        Some("0b") => parse(&digits[2..], 2),
        _ => parse(&digits, 10),
    }
}
