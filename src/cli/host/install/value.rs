//! Files of hosts as JSON values, whichever form they have. What cannot be read has no value;
//! the reader of the file itself reports it.

use std::fs;
use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

/// The value of a file, by its ending.
pub(crate) fn read(file: &Path) -> Option<Value> {
    let text = fs::read_to_string(file).ok()?;
    if file.extension().is_some_and(|ending| ending == "toml") {
        return Some(of_toml(DeTable::parse_recoverable(&text).0.get_ref()));
    }
    let root = CstRootNode::parse(text.trim_start_matches('\u{feff}'), &ParseOptions::default());
    root.ok()?.to_serde_value()
}

pub(crate) fn of_toml(table: &DeTable<'_>) -> Value {
    let each = table.iter();
    let each = each.map(|(key, one)| (key.get_ref().to_string(), of_toml_value(one.get_ref())));
    Value::Object(each.collect())
}

fn of_toml_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i64::from_str_radix(&digits, number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => {
            number.as_str().replace('_', "").parse::<f64>().map_or(Value::Null, Value::from)
        }
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(moment) => Value::from(moment.to_string()),
        DeValue::Array(all) => all.iter().map(|one| of_toml_value(one.get_ref())).collect(),
        DeValue::Table(table) => of_toml(table),
    }
}
