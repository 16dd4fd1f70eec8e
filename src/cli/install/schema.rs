//! What makes a host drop its settings file as a whole, as far as it is known: values of another
//! type than the host reads. Tables, and one function over them. Pure.
//!
//! Measured with Claude Code 2.1.329 and Codex CLI 0.169.0; what their documents say of the types of
//! the other keys of a hook.

use serde_json::Value;

/// What a host asks of one value.
#[derive(Debug, Clone, Copy)]
struct Rule {
    /// Where, as keys with dots; `*` is every key of an object or element of a list.
    at: &'static str,
    is: Kind,
    need: Need,
}

/// What a value must be.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Number,
    /// A whole number, not below 0.
    Count,
    List,
    Texts,
    Table,
    Word(&'static [&'static str]),
}

/// Whether a value must be there.
#[derive(Debug, Clone, Copy)]
enum Need {
    May,
    Must,
    /// Where `type` beside it is one of these.
    MustFor(&'static [&'static str]),
}

const fn may(at: &'static str, is: Kind) -> Rule {
    Rule { at, is, need: Need::May }
}

const fn must(at: &'static str, is: Kind) -> Rule {
    Rule { at, is, need: Need::Must }
}

const fn must_for(types: &'static [&'static str], at: &'static str, is: Kind) -> Rule {
    Rule { at, is, need: Need::MustFor(types) }
}

/// What a host asks of its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema {
    /// The keys at the top, where the host takes no others.
    top: Option<&'static [&'static str]>,
    rules: &'static [Rule],
}

pub(crate) const CLAUDE: Schema = Schema { top: None, rules: CLAUDE_RULES };

pub(crate) const CODEX: Schema =
    Schema { top: Some(&["hooks", "description"]), rules: CODEX_RULES };

const CLAUDE_RULES: &[Rule] = &[
    may("model", Kind::Text),
    may("env", Kind::Table),
    may("disableAllHooks", Kind::Flag),
    may("permissions", Kind::Table),
    may("permissions.allow", Kind::Texts),
    may("permissions.ask", Kind::Texts),
    may("permissions.deny", Kind::Texts),
    may("permissions.additionalDirectories", Kind::Texts),
    may("permissions.defaultMode", Kind::Text),
    may("hooks", Kind::Table),
    may("hooks.*", Kind::List),
    may("hooks.*.*", Kind::Table),
    may("hooks.*.*.matcher", Kind::Text),
    must("hooks.*.*.hooks", Kind::List),
    may("hooks.*.*.hooks.*", Kind::Table),
    must("hooks.*.*.hooks.*.type", Kind::Word(&["command", "prompt", "agent", "http", "mcp_tool"])),
    must_for(&["command"], "hooks.*.*.hooks.*.command", Kind::Text),
    must_for(&["prompt", "agent"], "hooks.*.*.hooks.*.prompt", Kind::Text),
    must_for(&["http"], "hooks.*.*.hooks.*.url", Kind::Text),
    must_for(&["mcp_tool"], "hooks.*.*.hooks.*.server", Kind::Text),
    must_for(&["mcp_tool"], "hooks.*.*.hooks.*.tool", Kind::Text),
    may("hooks.*.*.hooks.*.timeout", Kind::Number),
    may("hooks.*.*.hooks.*.async", Kind::Flag),
    may("hooks.*.*.hooks.*.once", Kind::Flag),
    may("hooks.*.*.hooks.*.if", Kind::Text),
    may("hooks.*.*.hooks.*.args", Kind::Texts),
    may("hooks.*.*.hooks.*.statusMessage", Kind::Text),
];

const CODEX_RULES: &[Rule] = &[
    may("hooks", Kind::Table),
    may("hooks.*", Kind::List),
    may("hooks.*.*", Kind::Table),
    may("hooks.*.*.matcher", Kind::Text),
    may("hooks.*.*.hooks", Kind::List),
    may("hooks.*.*.hooks.*", Kind::Table),
    must("hooks.*.*.hooks.*.type", Kind::Word(&["command", "prompt", "agent"])),
    must_for(&["command"], "hooks.*.*.hooks.*.command", Kind::Text),
    may("hooks.*.*.hooks.*.timeout", Kind::Count),
    may("hooks.*.*.hooks.*.async", Kind::Flag),
    may("hooks.*.*.hooks.*.statusMessage", Kind::Text),
];

impl Kind {
    /// What it wants, in words, if the value is something else.
    fn wants(self, value: &Value) -> Option<String> {
        let is_texts = || value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
        let (fits, what) = match self {
            Kind::Text => (value.is_string(), "a string"),
            Kind::Flag => (value.is_boolean(), "true or false"),
            Kind::Number => (value.is_number(), "a number"),
            Kind::Count => (value.is_u64(), "a whole number"),
            Kind::List => (value.is_array(), "a list"),
            Kind::Texts => (is_texts(), "a list of strings"),
            Kind::Table => (value.is_object(), "an object"),
            Kind::Word(words) => {
                let fits = value.as_str().is_some_and(|word| words.contains(&word));
                return (!fits).then(|| format!("one of `{}`", words.join("`, `")));
            }
        };
        (!fits).then(|| what.to_string())
    }
}

impl Schema {
    /// Everything for which the host drops the file.
    pub(crate) fn mistakes(&self, document: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let names = document.as_object().into_iter().flatten().map(|(name, _)| name);
        for name in names.filter(|name| self.top.is_some_and(|top| !top.contains(&name.as_str()))) {
            found.push(format!("`{name}` is no key that the file may have"));
        }
        for rule in self.rules {
            let keys: Vec<&str> = rule.at.split('.').collect();
            walk(rule, &keys, document, String::new(), &mut found);
        }
        found
    }
}

fn walk(rule: &Rule, keys: &[&str], value: &Value, place: String, found: &mut Vec<String>) {
    let Some((key, below)) = keys.split_first() else {
        if let Some(wanted) = rule.is.wants(value) {
            let shown: String = value.to_string().chars().take(40).collect();
            found.push(format!("`{place}` is `{shown}`, and must be {wanted}"));
        }
        return;
    };
    let inner =
        |key: &str| if place.is_empty() { key.to_string() } else { format!("{place}.{key}") };
    match (*key, value) {
        ("*", Value::Array(all)) => {
            for (at, one) in all.iter().enumerate() {
                walk(rule, below, one, format!("{place}[{at}]"), found);
            }
        }
        ("*", Value::Object(all)) => {
            for (name, one) in all {
                walk(rule, below, one, inner(name), found);
            }
        }
        (key, Value::Object(all)) => match all.get(key) {
            Some(one) => walk(rule, below, one, inner(key), found),
            None if below.is_empty() && rule.need.is_for(value) => {
                found.push(format!("`{}` is missing", inner(key)));
            }
            None => {}
        },
        // Another rule says that it must be a list or an object.
        (
            _,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        ) => {}
    }
}

impl Need {
    /// Whether it is there in this object.
    fn is_for(self, object: &Value) -> bool {
        match self {
            Need::May => false,
            Need::Must => true,
            Need::MustFor(types) => types.iter().any(|word| object["type"] == *word),
        }
    }
}
