//! Files of hosts as JSON values, whichever form they have. What cannot be read has no value;
//! the reader of the file itself reports it.

use std::fs;
use std::path::Path;

use crate::config::tree::Tree;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;
use toml::de::DeTable;

pub(crate) fn read(file: &Path) -> Option<Value> {
    let text = fs::read_to_string(file).ok()?;
    if file.extension().is_some_and(|ending| ending == "toml") {
        return Some(Tree::of_toml(&DeTable::parse_recoverable(&text).0).to_json());
    }
    let root = CstRootNode::parse(text.trim_start_matches('\u{feff}'), &ParseOptions::default());
    root.ok()?.to_serde_value()
}
