//! The page of rules: each rule does what the table under it says.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A block of rules on the page, and what it must block and let pass.
#[derive(Debug, Default)]
struct Recipe {
    rules: String,
    blocked: Vec<String>,
    passed: Vec<String>,
}

fn recipes() -> Vec<Recipe> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
    let page = fs::read_to_string(page).unwrap();
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line == "```toml" {
            let rules: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            recipes.push(Recipe { rules: rules.join("\n"), ..Recipe::default() });
        }
        let Some(row) = line.strip_prefix("| `").and_then(|line| line.strip_suffix("` |")) else {
            continue;
        };
        let (blocked, passed) = row.split_once("` | `").expect("a row has two commands");
        let recipe = recipes.last_mut().expect("a table is under its rule");
        recipe.blocked.push(blocked.replace("\\|", "|"));
        recipe.passed.push(passed.replace("\\|", "|"));
    }
    recipes
}

/// A cell is a command line, or a tool and its input.
fn tool_call(cell: &str) -> Value {
    let call = cell.split_once(' ').and_then(|(tool, input)| {
        let input: Value = serde_json::from_str(input).ok()?;
        Some(json!({ "toolName": tool, "toolInput": input }))
    });
    call.unwrap_or_else(|| json!({ "toolName": "Bash", "toolInput": { "command": cell } }))
}

#[test]
fn every_rule_on_the_page_blocks_and_lets_pass_what_its_table_says() {
    let recipes = recipes();
    assert!(recipes.len() >= 20, "{}", recipes.len());
    for recipe in &recipes {
        let sandbox = Sandbox::new().file("hookrun.toml", &recipe.rules);
        assert_eq!(sandbox.problems(&[]), Vec::<String>::new(), "{}", recipe.rules);
        assert!(recipe.blocked.len() >= 2, "two cases each: {}", recipe.rules);
        for cell in &recipe.blocked {
            let ran = sandbox.ask("native", "tool.pre", &tool_call(cell));
            assert_eq!(ran.status, 2, "not blocked: {cell}\n{}\n{ran:?}", recipe.rules);
        }
        for cell in &recipe.passed {
            let ran = sandbox.ask("native", "tool.pre", &tool_call(cell));
            assert_eq!(ran.status, 0, "blocked: {cell}\n{}\n{ran:?}", recipe.rules);
        }
    }
}

#[test]
fn the_rules_on_the_page_go_into_one_file() {
    let rules: Vec<String> = recipes().into_iter().map(|recipe| recipe.rules).collect();
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/mine.toml", &rules.join("\n\n"));
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
}
