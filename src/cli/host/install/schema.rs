//! What makes a host drop its settings file as a whole, as far as it is known: values of another
//! type than the host reads. Tables, and one function over them. Pure.
//!
//! Measured with Claude Code 2.1.329 and Codex CLI 0.169.0; what their documents say of the types of
//! the other keys of a hook.

use serde_json::Value;

use SchemaType as Is;

#[derive(Debug, Clone, Copy)]
struct SchemaRule {
    /// Where, as keys with dots; `*` is every key of an object or element of a list.
    at: &'static str,
    is: SchemaType,
    /// The values of `type` next to it with which it must be there; with none, always.
    needed_by: Option<&'static [&'static str]>,
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

const fn may(at: &'static str, is: SchemaType) -> SchemaRule {
    SchemaRule {
        at,
        is,
        needed_by: None,
    }
}

const fn must(at: &'static str, is: SchemaType) -> SchemaRule {
    SchemaRule {
        at,
        is,
        needed_by: Some(&[]),
    }
}

const fn must_for(types: &'static [&'static str], at: &'static str, is: SchemaType) -> SchemaRule {
    SchemaRule {
        at,
        is,
        needed_by: Some(types),
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema {
    /// The keys at the top, where the host takes no others.
    top: Option<&'static [&'static str]>,
    rules: &'static [SchemaRule],
}

pub(crate) const CLAUDE: Schema = Schema {
    top: None,
    rules: CLAUDE_RULES,
};

pub(crate) const CODEX: Schema = Schema {
    top: Some(&["hooks", "description"]),
    rules: CODEX_RULES,
};

const CLAUDE_RULES: &[SchemaRule] = &[
    may("model", Is::Text),
    may("env", Is::Table),
    may("disableAllHooks", Is::Flag),
    may("permissions", Is::Table),
    may("permissions.allow", Is::Texts),
    may("permissions.ask", Is::Texts),
    may("permissions.deny", Is::Texts),
    may("permissions.additionalDirectories", Is::Texts),
    may("permissions.defaultMode", Is::Text),
    may("hooks", Is::Table),
    may("hooks.*", Is::List),
    may("hooks.*.*", Is::Table),
    may("hooks.*.*.matcher", Is::Text),
    must("hooks.*.*.hooks", Is::List),
    may("hooks.*.*.hooks.*", Is::Table),
    must(
        "hooks.*.*.hooks.*.type",
        Is::Word(&["command", "prompt", "agent", "http", "mcp_tool"]),
    ),
    must_for(&["command"], "hooks.*.*.hooks.*.command", Is::Text),
    must_for(&["prompt", "agent"], "hooks.*.*.hooks.*.prompt", Is::Text),
    must_for(&["http"], "hooks.*.*.hooks.*.url", Is::Text),
    must_for(&["mcp_tool"], "hooks.*.*.hooks.*.server", Is::Text),
    must_for(&["mcp_tool"], "hooks.*.*.hooks.*.tool", Is::Text),
    may("hooks.*.*.hooks.*.timeout", Is::Number),
    may("hooks.*.*.hooks.*.async", Is::Flag),
    may("hooks.*.*.hooks.*.once", Is::Flag),
    may("hooks.*.*.hooks.*.if", Is::Text),
    may("hooks.*.*.hooks.*.args", Is::Texts),
    may("hooks.*.*.hooks.*.statusMessage", Is::Text),
];

const CODEX_RULES: &[SchemaRule] = &[
    may("hooks", Is::Table),
    may("hooks.*", Is::List),
    may("hooks.*.*", Is::Table),
    may("hooks.*.*.matcher", Is::Text),
    may("hooks.*.*.hooks", Is::List),
    may("hooks.*.*.hooks.*", Is::Table),
    must(
        "hooks.*.*.hooks.*.type",
        Is::Word(&["command", "prompt", "agent", "mcp_tool"]),
    ),
    must_for(&["command"], "hooks.*.*.hooks.*.command", Is::Text),
    must_for(&["mcp_tool"], "hooks.*.*.hooks.*.server", Is::Text),
    must_for(&["mcp_tool"], "hooks.*.*.hooks.*.tool", Is::Text),
    may("hooks.*.*.hooks.*.timeout", Is::Count),
    may("hooks.*.*.hooks.*.async", Is::Flag),
    may("hooks.*.*.hooks.*.statusMessage", Is::Text),
];

impl SchemaType {
    fn wants(self, value: &Value) -> Option<String> {
        let is_texts = || {
            value
                .as_array()
                .is_some_and(|all| all.iter().all(Value::is_string))
        };
        let (fits, what) = match self {
            Is::Text => (value.is_string(), "a string"),
            Is::Flag => (value.is_boolean(), "true or false"),
            Is::Number => (value.is_number(), "a number"),
            Is::Count => (value.is_u64(), "a whole number"),
            Is::List => (value.is_array(), "a list"),
            Is::Texts => (is_texts(), "a list of strings"),
            Is::Table => (value.is_object(), "an object"),
            Is::Word(words) => {
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
        let names = document
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name);
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
    let inner = |key: &str| {
        if place.is_empty() {
            key.to_string()
        } else {
            format!("{place}.{key}")
        }
    };
    let is_needed = || {
        let is_type = |word: &&str| value["type"] == **word;
        rule.needed_by
            .is_some_and(|types| types.is_empty() || types.iter().any(is_type))
    };
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
            None if below.is_empty() && is_needed() => {
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
