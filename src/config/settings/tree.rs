//! A document with a place for every value, JSON or TOML alike, so that one reader serves both.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::json::{JsonKind, Node};

/// A value in a text.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) value: TreeValue,
    /// Where it begins in the text, in bytes.
    pub(super) offset: usize,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum TreeValue {
    Text(String),
    Number(f64),
    Flag(bool),
    List(Vec<Tree>),
    Table(Vec<TreeEntry>),
    /// Something else, in words.
    Other(String),
}

/// A key with its place, and its value.
#[derive(Debug, Clone)]
pub(super) struct TreeEntry {
    pub(super) key: String,
    pub(super) at: usize,
    pub(super) tree: Tree,
}

impl Tree {
    pub(super) fn of_json(node: Node<'_>) -> Tree {
        let value = match node.kind() {
            JsonKind::Text(text) => TreeValue::Text(text),
            JsonKind::List(items) => {
                TreeValue::List(items.into_iter().map(Tree::of_json).collect())
            }
            JsonKind::Table(entries) => {
                let entry = |(key, at, node)| TreeEntry { key, at, tree: Tree::of_json(node) };
                TreeValue::Table(entries.into_iter().map(entry).collect())
            }
            JsonKind::Other(text) => match (text.as_str(), text.parse()) {
                ("true", _) => TreeValue::Flag(true),
                ("false", _) => TreeValue::Flag(false),
                (_, Ok(number)) => TreeValue::Number(number),
                (_, Err(_)) => TreeValue::Other(text),
            },
        };
        Tree { value, offset: node.offset }
    }

    pub(super) fn of_toml(document: &Spanned<DeTable<'_>>) -> Tree {
        Tree { value: table(document.get_ref()), offset: document.span().start }
    }

    /// What it is, for messages.
    pub(super) fn describe(&self) -> String {
        match &self.value {
            TreeValue::Text(text) => format!("\"{text}\""),
            TreeValue::Number(number) => number.to_string(),
            TreeValue::Flag(flag) => flag.to_string(),
            TreeValue::List(_) => "a list".to_string(),
            TreeValue::Table(_) => "an object".to_string(),
            TreeValue::Other(text) => text.clone(),
        }
    }

    /// The value at a path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Tree> {
        path.iter().try_fold(self, |tree, key| {
            tree.entries()?.iter().find(|entry| entry.key == *key).map(|entry| &entry.tree)
        })
    }

    /// Its entries; `None` if it is no table.
    pub(super) fn entries(&self) -> Option<&[TreeEntry]> {
        if let TreeValue::Table(entries) = &self.value { Some(entries) } else { None }
    }

    /// Its items; `None` if it is no list.
    pub(super) fn items(&self) -> Option<&[Tree]> {
        if let TreeValue::List(items) = &self.value { Some(items) } else { None }
    }

    /// Its number; `None` if it is none.
    pub(super) fn number(&self) -> Option<f64> {
        if let TreeValue::Number(number) = self.value { Some(number) } else { None }
    }

    /// Its text; `None` if it is none.
    pub(super) fn text(&self) -> Option<&str> {
        if let TreeValue::Text(text) = &self.value { Some(text) } else { None }
    }
}

fn table(entries: &DeTable<'_>) -> TreeValue {
    let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        TreeEntry { key: key.get_ref().to_string(), at: key.span().start, tree: tree(value) }
    };
    let mut all: Vec<TreeEntry> = entries.iter().map(entry).collect();
    all.sort_by_key(|entry| entry.at);
    TreeValue::Table(all)
}

fn tree(value: &Spanned<DeValue<'_>>) -> Tree {
    let offset = value.span().start;
    let value = match value.get_ref() {
        DeValue::String(text) => TreeValue::Text(text.to_string()),
        DeValue::Integer(number) => match number.as_str().replace('_', "").parse() {
            Ok(number) => TreeValue::Number(number),
            Err(_) => TreeValue::Other(number.as_str().to_string()),
        },
        DeValue::Float(number) => match number.as_str().replace('_', "").parse() {
            Ok(number) => TreeValue::Number(number),
            Err(_) => TreeValue::Other(number.as_str().to_string()),
        },
        DeValue::Boolean(flag) => TreeValue::Flag(*flag),
        DeValue::Datetime(time) => TreeValue::Other(time.to_string()),
        DeValue::Array(items) => TreeValue::List(items.iter().map(tree).collect()),
        DeValue::Table(entries) => table(entries),
    };
    Tree { value, offset }
}

/// The text with its comments as blanks: every place stays where it is. `None` if it has none.
pub(super) fn without_comments(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    let mut has_any = false;
    while at < bytes.len() {
        let end = match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                at = end_of_string(&bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => text[at..].find('\n').map_or(bytes.len(), |length| at + length),
            (b'/', Some(b'*')) => {
                text[at + 2..].find("*/").map_or(bytes.len(), |length| at + length + 4)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        has_any = true;
        for byte in bytes[at..end].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
        at = end;
    }
    String::from_utf8(bytes).ok().filter(|_| has_any)
}

/// Where what follows a string begins.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{Tree, without_comments};
    use toml::de::DeTable;

    #[test]
    fn comments_become_blanks_and_strings_stay() {
        let text = "{ // ü\n \"a\": \"// \\\" /* x */\", /* y\n */ \"b\": 1 }";
        let plain = without_comments(text).unwrap();
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain.find("\"b\""), text.find("\"b\""));
        let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value["a"], "// \" /* x */");
        assert_eq!(without_comments("{\"a\": \"http://x\"}"), None);
    }

    #[test]
    fn a_toml_document_is_the_same_tree() {
        let text = "[features]\nhooks = false\n[[hooks.Stop]]\nmatcher = \"a\"\n";
        let (document, errors) = DeTable::parse_recoverable(text);
        assert!(errors.is_empty());
        let tree = Tree::of_toml(&document);
        assert_eq!(tree.at(&["features", "hooks"]).unwrap().describe(), "false");
        let groups = tree.at(&["hooks", "Stop"]).unwrap().items().unwrap().to_vec();
        assert_eq!(groups[0].at(&["matcher"]).unwrap().text(), Some("a"));
        assert_eq!(&text[groups[0].at(&["matcher"]).unwrap().offset..][..3], "\"a\"");
    }
}
