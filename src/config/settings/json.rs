//! JSON with a place for every value, so that a problem can name its line.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// A value in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'t> {
    raw: &'t str,
    /// Where it begins in the text, in bytes.
    pub(super) offset: usize,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum JsonKind<'t> {
    Text(String),
    List(Vec<Node<'t>>),
    /// Keys in their order, each with its place.
    Table(Vec<(String, usize, Node<'t>)>),
    /// Something else, in words.
    Other(String),
}

impl<'t> Node<'t> {
    /// The value that a text is.
    ///
    /// # Errors
    /// When it is not JSON; the error has line and column.
    pub(super) fn of(text: &'t str) -> serde_json::Result<Node<'t>> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Node { raw: raw.get(), offset: text.len() - text.trim_start().len() })
    }

    pub(super) fn kind(self) -> JsonKind<'t> {
        let kind = match self.raw.as_bytes().first() {
            Some(b'"') => serde_json::from_str(self.raw).ok().map(JsonKind::Text),
            Some(b'[') => self.list().map(JsonKind::List),
            Some(b'{') => self.table().map(JsonKind::Table),
            _ => Some(JsonKind::Other(self.raw.to_string())),
        };
        kind.unwrap_or_else(|| JsonKind::Other("text that is not Unicode".to_string()))
    }

    /// What it is, for messages.
    pub(super) fn describe(self) -> String {
        match self.kind() {
            JsonKind::Text(text) => format!("\"{text}\""),
            JsonKind::List(_) => "a list".to_string(),
            JsonKind::Table(_) => "an object".to_string(),
            JsonKind::Other(text) => text,
        }
    }

    fn list(self) -> Option<Vec<Node<'t>>> {
        let items: Vec<&'t RawValue> = serde_json::from_str(self.raw).ok()?;
        Some(items.into_iter().map(|item| self.within(item.get())).collect())
    }

    fn table(self) -> Option<Vec<(String, usize, Node<'t>)>> {
        let mut reader = serde_json::Deserializer::from_str(self.raw);
        let entries = reader.deserialize_map(EntriesVisitor(PhantomData)).ok()?;
        let entry = |(key, value): (&'t RawValue, &'t RawValue)| {
            let name = serde_json::from_str(key.get()).ok()?;
            Some((name, self.within(key.get()).offset, self.within(value.get())))
        };
        entries.into_iter().map(entry).collect()
    }

    /// A part of this value, which was borrowed from it.
    fn within(self, part: &'t str) -> Node<'t> {
        let inside = part.as_ptr().addr() - self.raw.as_ptr().addr();
        Node { raw: part, offset: self.offset + inside }
    }
}

struct EntriesVisitor<'t>(PhantomData<&'t str>);

impl<'t> Visitor<'t> for EntriesVisitor<'t> {
    type Value = Vec<(&'t RawValue, &'t RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonKind, Node};

    #[test]
    fn every_value_knows_where_it_stands() {
        let text = " { \"a\" : [1, \"x\\n\"] }";
        let JsonKind::Table(entries) = Node::of(text).unwrap().kind() else { panic!("{text}") };
        let (key, at, value) = &entries[0];
        assert_eq!((key.as_str(), *at, value.offset), ("a", 3, 9));
        let JsonKind::List(items) = value.kind() else { panic!("{text}") };
        assert_eq!(items.iter().map(|item| item.offset).collect::<Vec<_>>(), [10, 13]);
        assert!(matches!(items[1].kind(), JsonKind::Text(text) if text == "x\n"));
        assert_eq!(items[0].describe(), "1");
    }
}
