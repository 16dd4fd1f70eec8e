//! A TOML file in which every hook is a table `[[hooks]]`: hookrun's own come and go as text, and all
//! else stays as it is. Pure.

use serde_json::Value;
use toml::de::DeTable;

use crate::config::tree::Tree;
use crate::engine::complaint::Complaint;

/// The keys of a hook.
pub(super) type HookEntry = Vec<(&'static str, Value)>;

const HEAD: &str = "[[hooks]]";

/// The hooks of the file, as JSON.
pub(super) fn as_json(text: &str) -> Result<String, Complaint> {
    let document = DeTable::parse(text).map_err(|wrong| {
        Complaint::with_cure(format!("does not parse: {}", wrong.message()), "correct it")
    })?;
    if DeTable::parse(&format!("{text}\n{HEAD}\n")).is_err() {
        let cure = "write each hook as a table `[[hooks]]`";
        return Err(Complaint::with_cure("`hooks` takes no further table", cure));
    }
    Ok(Tree::of_toml(&document).to_json().to_string())
}

/// The text with these hooks at its end, and no other hook of hookrun's, which `is_own` knows by the
/// command.
pub(super) fn with(text: &str, entries: &[&HookEntry], is_own: &dyn Fn(&str) -> bool) -> String {
    let written: Vec<String> = entries.iter().map(|keys| table(keys)).collect();
    let own: Vec<&str> = tables(text)
        .filter(|table| is_hookruns(table, is_own))
        .collect();
    let is_written = |table: &&str| written.iter().any(|one| one.trim() == table.trim());
    if own.len() == written.len() && own.iter().all(is_written) {
        return text.to_string();
    }
    let mut left = String::new();
    let mut is_last = false;
    for table in tables(text) {
        is_last = is_hookruns(table, is_own);
        left.push_str(if is_last {
            comments_after(table)
        } else {
            table
        });
    }
    if is_last && left.ends_with("\n\n") {
        left.pop();
    }
    for table in written {
        let blank = if left.is_empty() || left.ends_with("\n\n") {
            ""
        } else {
            "\n"
        };
        let end = if left.is_empty() || left.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        left.push_str(&format!("{end}{blank}{table}"));
    }
    left
}

/// The text in pieces, each from a line that begins a table to the next.
fn tables(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    // What is before a table is a document; before a line of a string or of a list it is none.
    let is_head = |at: &usize| {
        text[*at..].trim_start_matches([' ', '\t']).starts_with('[')
            && DeTable::parse(&text[..*at]).is_ok()
    };
    let mut places: Vec<usize> = std::iter::once(0).chain(starts.filter(is_head)).collect();
    places.push(text.len());
    (1..places.len()).map(move |at| &text[places[at - 1]..places[at]])
}

/// The comments at the end of a table, which are about what follows.
fn comments_after(table: &str) -> &str {
    let lines = table.split_inclusive('\n').rev();
    let aside = lines.take_while(|line| line.trim().is_empty() || line.trim().starts_with('#'));
    let end = &table[table.len() - aside.map(str::len).sum::<usize>()..];
    end.find('#').map_or("", |at| &end[at..])
}

fn is_hookruns(table: &str, is_own: &dyn Fn(&str) -> bool) -> bool {
    let hook = DeTable::parse(table)
        .ok()
        .filter(|_| table.trim_start().starts_with(HEAD));
    let hook = hook.map(|hook| Tree::of_toml(&hook).to_json());
    let command = hook
        .as_ref()
        .and_then(|hook| hook["hooks"][0]["command"].as_str());
    command.is_some_and(is_own)
}

fn table(keys: &HookEntry) -> String {
    // A string of JSON is one of TOML too.
    let line = |(key, value): &(&str, Value)| format!("{key} = {value}\n");
    format!("{HEAD}\n{}", keys.iter().map(line).collect::<String>())
}
