//! What the house measures: printed by `cargo test --test it tidy::`, and held to its goals.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use regex::Regex;

use super::{Source, names_of_several_types, sources, tuple_parameters};

/// Files and the files that they use, by their module paths (`engine/exec/step`).
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// What the features `sessions` and `warm` add to the engine.
const OF_FEATURES: &[&str] = &[
    "engine/session_hooks",
    "engine/exec/step/living.rs",
    "engine/exec/warm",
    "engine/exec/step/warming.rs",
    "engine/run/start.rs",
];

#[test]
fn the_house_keeps_its_measures() {
    let sources = sources();
    let arrows = arrows(&sources);
    let knots = knots(&arrows);
    let circles = circles_of_siblings(&arrows);
    // The reader of command lines is a feature of its own, as are hooks that live as long as a
    // session and warm starts; the nouns and the table of the reader are the engine's.
    let of_engine =
        ["line.rs", "options.rs", "programs.rs"].map(|name| format!("engine/shell/{name}"));
    let is_optional = |path: &str| {
        let is_reader = path.starts_with("engine/shell/") && !of_engine.contains(&path.to_string());
        let of_feature = |beginning: &&str| path.starts_with(*beginning);
        is_reader || OF_FEATURES.iter().any(of_feature)
    };
    let engine = sources
        .iter()
        .filter(|source| source.path.starts_with("engine"));
    let engine = engine.filter(|source| !is_optional(&source.path));
    let lines = |source: &Source| source.text.lines().count();
    let (longest_function, its_file) = longest_function(&sources);
    let longest_file = sources.iter().max_by_key(|source| lines(source)).unwrap();
    // What is measured, how much it is, and how much it may be.
    let measures = [
        ("lines of src", sources.iter().map(lines).sum(), 98_048),
        (
            "lines of code in it, without comments and unit tests",
            code_lines(&sources),
            80_200,
        ),
        (
            "lines of the engine, which is all that an embedder must compile",
            engine.map(Source::compiled_lines).sum(),
            24_200,
        ),
        (
            "dependencies of the engine alone",
            needed_dependencies().len(),
            15,
        ),
        ("files", sources.len(), 504),
        (
            "public items, without fields and methods",
            public_items(&sources),
            250,
        ),
        (
            "names of more than one type",
            names_of_several_types(&sources).len(),
            0,
        ),
        (
            "parameters that are tuples",
            tuple_parameters(&sources).len(),
            0,
        ),
        ("circles of siblings", circles.len(), 0),
        ("knots: files that use each other in a ring", knots.len(), 0),
        ("lines of the longest function", longest_function, 105),
        ("lines of the longest file", lines(longest_file), 600),
    ];
    let mut text = String::new();
    for (what, measured, limit) in measures {
        text.push_str(&format!("{measured:>7}  {what} (at most {limit})\n"));
    }
    text.push_str(&format!(
        "         the longest are in {its_file} and {}\n",
        longest_file.path
    ));
    // Past the capture of the test runner: these lines are for people.
    std::io::stderr().write_all(text.as_bytes()).unwrap();
    let is_over = |(_, measured, limit): &(&str, usize, usize)| measured > limit;
    let over: Vec<_> = measures.iter().filter(|measure| is_over(measure)).collect();
    assert!(
        over.is_empty(),
        "{over:#?}\ncircles: {circles:#?}\nknots: {knots:#?}"
    );
}

/// The dependencies that are not optional, those of one system included.
fn needed_dependencies() -> BTreeSet<String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let mut needed = BTreeSet::new();
    let mut table = String::new();
    for line in fs::read_to_string(manifest).unwrap().lines() {
        if line.starts_with('[') {
            table = line.to_string();
            continue;
        }
        let is_dependency = table.ends_with("dependencies]") && !table.contains("dev-");
        let (name, row) = line.split_once(" = ").unwrap_or_default();
        if is_dependency && !row.is_empty() && !name.starts_with('#') && !row.contains("optional") {
            needed.insert(name.to_string());
        }
    }
    needed
}

fn code_lines(sources: &[Source]) -> usize {
    let lines = sources.iter().flat_map(|source| source.code.lines());
    lines.filter(|line| !line.trim().is_empty()).count()
}

/// The lines of the longest function, and the file that it is in. A function ends where a brace
/// closes at its own depth.
fn longest_function(sources: &[Source]) -> (usize, &str) {
    let head = Regex::new(r"^( *)(?:pub(?:\([a-z:]+\))? )?(?:const |async |unsafe )*fn ").unwrap();
    let mut longest = (0, "");
    for source in sources {
        let lines: Vec<&str> = source.code.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(found) = head.captures(line) else {
                continue;
            };
            let ends_head = lines[at..]
                .iter()
                .find(|line| line.ends_with(['{', ';', '}']));
            if ends_head.is_none_or(|line| !line.ends_with('{')) {
                continue;
            }
            let end = format!("{}}}", &found[1]);
            let length = lines[at..]
                .iter()
                .position(|line| *line == end)
                .map_or(0, |end| end + 1);
            longest = longest.max((length, source.path.as_str()));
        }
    }
    longest
}

/// How many names the documentation shows: what `lib.rs` and its public modules export.
fn public_items(sources: &[Source]) -> usize {
    let item = Regex::new(r"(?m)^pub (?:struct|enum|trait|type|fn|const|static) ").unwrap();
    let module = Regex::new(r"(?m)^pub mod (\w+);").unwrap();
    let exported = Regex::new(r"(?m)^pub use ([^;]+);").unwrap();
    let shown = |text: &str| {
        text.split("#[doc(hidden)]")
            .next()
            .unwrap_or_default()
            .to_string()
            + &text
                .split("#[doc(hidden)]")
                .skip(1)
                .map(after_item)
                .collect::<String>()
    };
    let mut waiting = vec![String::new()];
    let mut count = 0;
    while let Some(name) = waiting.pop() {
        let file = if name.is_empty() {
            "lib".to_string()
        } else {
            name.clone()
        };
        let Some(source) = sources
            .iter()
            .find(|source| source.path == format!("{file}.rs"))
        else {
            continue;
        };
        let code = shown(&source.code);
        count += item.find_iter(&code).count();
        for tree in exported.captures_iter(&code) {
            count += paths_of(&tree[1]).len();
        }
        let below = if name.is_empty() {
            String::new()
        } else {
            format!("{name}/")
        };
        waiting.extend(
            module
                .captures_iter(&code)
                .map(|found| format!("{below}{}", &found[1])),
        );
    }
    count
}

/// What follows the item that begins here: all after its first `;` or its closing brace.
fn after_item(text: &str) -> String {
    let ends = [text.find(";\n"), text.find("\n}\n")];
    let end = ends.into_iter().flatten().min().unwrap_or(text.len());
    text[end..].to_string()
}

/// Which file uses which.
fn arrows(sources: &[Source]) -> Arrows {
    let modules: BTreeSet<String> = sources.iter().map(module_of).collect();
    let declaration = Regex::new(r"(?m)^\s*(?:pub(?:\([a-z: ]+\))? )?use ([^;]+);").unwrap();
    let inline = Regex::new(r"\b(?:crate|super)(?:::\w+)+").unwrap();
    let mut arrows = Arrows::new();
    for source in sources.iter().filter(|source| source.path != "lib.rs") {
        let own = module_of(source);
        let trees = declaration.captures_iter(&source.code);
        let mut paths: Vec<String> = trees.flat_map(|tree| paths_of(&tree[1])).collect();
        paths.extend(
            inline
                .find_iter(&source.code)
                .map(|path| path.as_str().to_string()),
        );
        let used = paths.iter().filter_map(|path| target(path, &own, &modules));
        arrows.insert(own.clone(), used.filter(|used| *used != own).collect());
    }
    arrows
}

fn module_of(source: &Source) -> String {
    source.path.trim_end_matches(".rs").to_string()
}

/// The paths in the tree of a `use`: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths_of(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        return vec![
            tree.split(" as ")
                .next()
                .unwrap_or_default()
                .trim()
                .to_string(),
        ];
    };
    let inside = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let mut depth = 0;
    let parts = inside.split(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts
        .flat_map(paths_of)
        .map(|path| format!("{}{path}", &tree[..open]))
        .collect()
}

/// The file that a path leads to, from the module `own`.
fn target(path: &str, own: &str, modules: &BTreeSet<String>) -> Option<String> {
    let mut at: Vec<&str> = own.split('/').collect();
    let mut parts = path.split("::").peekable();
    match parts.peek().copied()? {
        "crate" => at.clear(),
        "self" | "super" => {}
        child if modules.contains(&format!("{own}/{child}")) => {}
        _ => return None,
    }
    for part in parts {
        match part {
            "crate" | "self" => {}
            "super" => drop(at.pop()),
            part => at.push(part),
        }
    }
    while !at.is_empty() && !modules.contains(&at.join("/")) {
        at.pop();
    }
    (!at.is_empty()).then(|| at.join("/"))
}

/// Groups of files that reach each other.
fn knots(arrows: &Arrows) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = arrows
        .keys()
        .map(|from| (from, all_reached(from, arrows)))
        .collect();
    let mut knots: Vec<Vec<String>> = Vec::new();
    for (from, to) in &reached {
        if !to.contains(*from) || knots.iter().any(|knot| knot.contains(from)) {
            continue;
        }
        let comes_back =
            |other: &&&String| reached.get(**other).is_some_and(|to| to.contains(*from));
        knots.push(
            to.iter()
                .filter(comes_back)
                .map(|name| (*name).clone())
                .collect(),
        );
    }
    knots
}

fn all_reached<'a>(from: &'a String, arrows: &'a Arrows) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(next) = waiting.pop() {
        let new = arrows
            .get(next)
            .into_iter()
            .flatten()
            .filter(|used| reached.insert(*used));
        waiting.extend(new.collect::<Vec<_>>());
    }
    reached
}

/// Siblings, with all that is below each, that reach each other.
fn circles_of_siblings(arrows: &Arrows) -> Vec<Vec<String>> {
    let folders: BTreeSet<&str> = arrows
        .keys()
        .filter_map(|name| Some(name.rsplit_once('/')?.0))
        .chain([""])
        .collect();
    folders
        .into_iter()
        .flat_map(|folder| knots(&between_children(folder, arrows)))
        .collect()
}

/// The arrows between the children of a folder, each child standing for all that is below it.
fn between_children(folder: &str, arrows: &Arrows) -> Arrows {
    let child = |name: &str| {
        let below = if folder.is_empty() {
            name
        } else {
            name.strip_prefix(folder)?.strip_prefix('/')?
        };
        let first = below.split('/').next()?;
        Some(if folder.is_empty() {
            first.to_string()
        } else {
            format!("{folder}/{first}")
        })
    };
    let mut between = Arrows::new();
    for (from, to) in arrows {
        let Some(from) = child(from) else { continue };
        let to = to
            .iter()
            .filter_map(|name| child(name))
            .filter(|name| *name != from);
        let to: Vec<String> = to.collect();
        between.entry(from).or_default().extend(to);
    }
    between
}

#[test]
fn rings_are_found_in_arrows_that_have_them() {
    let arrows: Arrows = [("a", "b/x"), ("b/x", "c"), ("b/y", "a"), ("c", "c")]
        .map(|(from, to)| (from.to_string(), BTreeSet::from([to.to_string()])))
        .into();
    assert_eq!(knots(&arrows), [["c"]], "a ring of one");
    assert_eq!(
        circles_of_siblings(&arrows),
        [["a", "b"]],
        "through two files of one folder"
    );
    assert_eq!(
        paths_of("crate::{a, b::{c as d, e}}"),
        ["crate::a", "crate::b::c", "crate::b::e"]
    );
}

/// What a host may cost: its dialect, its row of settings and its row of `install`. The first one, from
/// which the others take their words, may cost more.
const MOST_LINES_OF_A_HOST: usize = 300;

#[test]
fn a_host_is_a_few_tables() {
    let sources = sources();
    let text = |path: &str| {
        let source = sources.iter().find(|source| source.path == path);
        source.map_or("", |source| source.text.as_str())
    };
    let tables = [
        "hosts/settings/files.rs",
        "hosts/settings/files/others.rs",
        "hosts/facts.rs",
        "cli/host/install/table.rs",
        "cli/host/install/table/others.rs",
    ];
    let mut report = String::new();
    for dialect in hookrun::hosts::DIALECTS
        .iter()
        .filter(|dialect| dialect.has_forms())
    {
        let host = dialect.name;
        let own = text(&format!("hosts/{host}.rs")).lines().count();
        let row = Regex::new(&format!(
            r#"(?ms)^[^\n]*\{{[^{{}}]*?\b(?:name|dialect|host): "{host}",.*?^(?: {{4}})?\}}[,;]"#
        ))
        .unwrap();
        let rows: usize = tables
            .iter()
            .flat_map(|path| row.find_iter(text(path)))
            .map(|found| found.as_str().lines().count())
            .sum();
        report.push_str(&format!("{:>7}  lines for {host}\n", own + rows));
        let is_first = dialect.events.len() > 30;
        assert!(
            is_first || own + rows <= MOST_LINES_OF_A_HOST,
            "{host}: {own} and {rows}"
        );
        assert!(own > 0 && rows > 0, "{host}: {own} and {rows}");
    }
    std::io::stderr().write_all(report.as_bytes()).unwrap();
}
