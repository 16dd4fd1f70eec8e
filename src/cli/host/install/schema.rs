//! What makes a host drop its settings file as a whole, as far as it is known: values of another
//! type than the host reads. Tables, and one function over them. Pure.
//!
//! Measured with Claude Code 2.1.329 and Codex CLI 0.169.0; what their documents say of the types of
//! the other keys of a hook.

use serde_json::Value;

#[derive(Debug, Clone, Copy)]
struct SchemaRule {
    /// Where, as keys with dots; `*` is every key of an object or element of a list.
    at: &'static str,
    is: SchemaType,
    need: Need,
}

#[derive(Debug, Clone, Copy)]
enum SchemaType {
    Text,
    Flag,
    Number,
    Count,
    List,
    Texts,
    Table,
    Word(&'static [&'static str]),
}

#[derive(Debug, Clone, Copy)]
enum Need {
    May,
    Must,
    /// If `type` next to it is one of these.
    MustFor(&'static [&'static str]),
}

const fn may(at: &'static str, is: SchemaType) -> SchemaRule {
    SchemaRule { at, is, need: Need::May }
}

const fn must(at: &'static str, is: SchemaType) -> SchemaRule {
    SchemaRule { at, is, need: Need::Must }
}

const fn must_for(types: &'static [&'static str], at: &'static str, is: SchemaType) -> SchemaRule {
    SchemaRule { at, is, need: Need::MustFor(types) }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema {
    /// The keys at the top, where the host takes no others.
    top: Option<&'static [&'static str]>,
    rules: &'static [SchemaRule],
}

pub(crate) const CLAUDE: Schema = Schema { top: None, rules: CLAUDE_RULES };

pub(crate) const CODEX: Schema =
    Schema { top: Some(&["hooks", "description"]), rules: CODEX_RULES };

const CLAUDE_RULES: &[SchemaRule] = &[
    may("model", SchemaType::Text),
    may("env", SchemaType::Table),
    may("disableAllHooks", SchemaType::Flag),
    may("permissions", SchemaType::Table),
    may("permissions.allow", SchemaType::Texts),
    may("permissions.ask", SchemaType::Texts),
    may("permissions.deny", SchemaType::Texts),
    may("permissions.additionalDirectories", SchemaType::Texts),
    may("permissions.defaultMode", SchemaType::Text),
    may("hooks", SchemaType::Table),
    may("hooks.*", SchemaType::List),
    may("hooks.*.*", SchemaType::Table),
    may("hooks.*.*.matcher", SchemaType::Text),
    must("hooks.*.*.hooks", SchemaType::List),
    may("hooks.*.*.hooks.*", SchemaType::Table),
    must(
        "hooks.*.*.hooks.*.type",
        SchemaType::Word(&["command", "prompt", "agent", "http", "mcp_tool"]),
    ),
    must_for(&["command"], "hooks.*.*.hooks.*.command", SchemaType::Text),
    must_for(&["prompt", "agent"], "hooks.*.*.hooks.*.prompt", SchemaType::Text),
    must_for(&["http"], "hooks.*.*.hooks.*.url", SchemaType::Text),
    must_for(&["mcp_tool"], "hooks.*.*.hooks.*.server", SchemaType::Text),
    must_for(&["mcp_tool"], "hooks.*.*.hooks.*.tool", SchemaType::Text),
    may("hooks.*.*.hooks.*.timeout", SchemaType::Number),
    may("hooks.*.*.hooks.*.async", SchemaType::Flag),
    may("hooks.*.*.hooks.*.once", SchemaType::Flag),
    may("hooks.*.*.hooks.*.if", SchemaType::Text),
    may("hooks.*.*.hooks.*.args", SchemaType::Texts),
    may("hooks.*.*.hooks.*.statusMessage", SchemaType::Text),
];

const CODEX_RULES: &[SchemaRule] = &[
    may("hooks", SchemaType::Table),
    may("hooks.*", SchemaType::List),
    may("hooks.*.*", SchemaType::Table),
    may("hooks.*.*.matcher", SchemaType::Text),
    may("hooks.*.*.hooks", SchemaType::List),
    may("hooks.*.*.hooks.*", SchemaType::Table),
    must("hooks.*.*.hooks.*.type", SchemaType::Word(&["command", "prompt", "agent"])),
    must_for(&["command"], "hooks.*.*.hooks.*.command", SchemaType::Text),
    may("hooks.*.*.hooks.*.timeout", SchemaType::Count),
    may("hooks.*.*.hooks.*.async", SchemaType::Flag),
    may("hooks.*.*.hooks.*.statusMessage", SchemaType::Text),
];

impl SchemaType {
    fn wants(self, value: &Value) -> Option<String> {
        let is_texts = || value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
        let (fits, what) = match self {
            SchemaType::Text => (value.is_string(), "a string"),
            SchemaType::Flag => (value.is_boolean(), "true or false"),
            SchemaType::Number => (value.is_number(), "a number"),
            SchemaType::Count => (value.is_u64(), "a whole number"),
            SchemaType::List => (value.is_array(), "a list"),
            SchemaType::Texts => (is_texts(), "a list of strings"),
            SchemaType::Table => (value.is_object(), "an object"),
            SchemaType::Word(words) => {
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

fn walk(rule: &SchemaRule, keys: &[&str], value: &Value, place: String, found: &mut Vec<String>) {
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
    fn is_for(self, object: &Value) -> bool {
        match self {
            Need::May => false,
            Need::Must => true,
            Need::MustFor(types) => types.iter().any(|word| object["type"] == *word),
        }
    }
}
