//! What the house measures: printed by `cargo test --test it tidy::`, and held to its goals.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use super::{Source, names_of_several_types, sources, tuple_parameters};

/// Files and the files that they use, by their module paths (`engine/exec/step`).
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// A number that the house is held to.
struct Measure {
    what: &'static str,
    measured: usize,
    /// What it shall become.
    goal: usize,
    /// What it may be now. It only ever falls, until it is the goal.
    most: usize,
}

impl Measure {
    /// A measure that has reached its goal.
    fn reached(what: &'static str, measured: usize, goal: usize) -> Measure {
        Measure {
            what,
            measured,
            goal,
            most: goal,
        }
    }

    /// A measure on its way.
    fn falling(what: &'static str, measured: usize, goal: usize, most: usize) -> Measure {
        Measure {
            what,
            measured,
            goal,
            most,
        }
    }
}

#[test]
fn the_house_keeps_its_measures() {
    let sources = sources();
    let arrows = arrows(&sources);
    let knots = knots(&arrows);
    let circles = circles_of_siblings(&arrows);
    let lines = |source: &Source| source.text.lines().count();
    let (longest_function, its_file) = longest_function(&sources);
    let longest_file = sources.iter().max_by_key(|source| lines(source)).unwrap();
    let measures = [
        Measure::falling(
            "lines of src",
            sources.iter().map(lines).sum(),
            66_000,
            68_623,
        ),
        Measure::falling("files of src", sources.len(), 260, 257),
        Measure::reached(
            "files of src under 60 lines",
            sources.iter().filter(|source| lines(source) < 60).count(),
            5,
        ),
        Measure::reached("lines that read answers", answer_lines(&sources), 350),
        Measure::falling(
            "dependencies of the program",
            tree_of_dependencies().len(),
            130,
            100,
        ),
        Measure::reached(
            "dependencies of the engine alone",
            needed_dependencies().len(),
            16,
        ),
        Measure::reached(
            "conditions on features",
            matches(&sources, r"\bcfg(?:_attr)?\([^)]*feature|\bcfg!\("),
            30,
        ),
        Measure::reached(
            "unused code that is allowed",
            matches(&sources, r"(?:allow|expect)\([^)]*(?:dead_code|unused)"),
            0,
        ),
        Measure::reached("public items and methods", public_items(&sources), 250),
        Measure::reached("words of docs", words_of_docs(), 45_000),
        Measure::reached(
            "closures with a name, in 100,000 lines",
            per_100_000_lines(&sources, r"(?m)^\s*let (?:mut )?\w+ =\s*(?:move )?\|"),
            200,
        ),
        Measure::reached(
            "tuples that only save a let, in 100,000 lines",
            per_100_000_lines(
                &sources,
                r"(?m)^\s*let \((?:mut )?\w+(?:, (?:mut )?\w+)+\) =\s*\(",
            ),
            30,
        ),
        Measure::reached(
            "names of more than one type",
            names_of_several_types(&sources).len(),
            0,
        ),
        Measure::reached(
            "parameters that are tuples",
            tuple_parameters(&sources).len(),
            0,
        ),
        Measure::reached("circles of siblings", circles.len(), 0),
        Measure::reached("knots: files that use each other in a ring", knots.len(), 0),
        Measure::reached("lines of the longest function", longest_function, 105),
        Measure::reached("lines of the longest file", lines(longest_file), 600),
    ];
    let mut text = String::new();
    for Measure {
        what,
        measured,
        goal,
        most,
    } in &measures
    {
        text.push_str(&format!("{measured:>7}  {what} (goal {goal}"));
        if most != goal {
            text.push_str(&format!(", at most {most} now"));
        }
        text.push_str(")\n");
    }
    text.push_str(&format!(
        "         the longest are in {its_file} and {}\n",
        longest_file.path
    ));
    // Past the capture of the test runner: these lines are for people.
    std::io::stderr().write_all(text.as_bytes()).unwrap();
    let over: Vec<&str> = measures
        .iter()
        .filter(|measure| measure.measured > measure.most)
        .map(|measure| measure.what)
        .collect();
    assert!(
        over.is_empty(),
        "{over:#?}\ncircles: {circles:#?}\nknots: {knots:#?}"
    );
}

/// The lines that read what a hook printed, without those about crashes.
fn answer_lines(sources: &[Source]) -> usize {
    sources
        .iter()
        .filter(|source| source.path.starts_with("engine/answer"))
        .filter(|source| source.path != "engine/answer/crash.rs")
        .map(Source::compiled_lines)
        .sum()
}

/// How often a pattern is in the code.
fn matches(sources: &[Source], pattern: &str) -> usize {
    let pattern = Regex::new(pattern).unwrap();
    sources
        .iter()
        .map(|source| pattern.find_iter(&source.code).count())
        .sum()
}

fn per_100_000_lines(sources: &[Source], pattern: &str) -> usize {
    matches(sources, pattern) * 100_000 / code_lines(sources)
}

/// The crates that are linked into the program, with all that they need.
fn tree_of_dependencies() -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none"])
        .args(["--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    String::from_utf8(tree.stdout)
        .unwrap()
        .lines()
        .map(|line| line.split(" (").next().unwrap_or_default().to_string())
        .collect()
}

fn words_of_docs() -> usize {
    let mut files = Vec::new();
    walk_pages(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("docs"),
        &mut files,
    );
    files
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .map(|text| text.split_whitespace().count())
        .sum()
}

/// The Markdown files in a folder, at any depth.
fn walk_pages(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk_pages(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
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

/// How many names the documentation shows: what `lib.rs` and its public modules export, and the
/// public methods of these types.
fn public_items(sources: &[Source]) -> usize {
    let item = Regex::new(r"(?m)^pub (?:struct|enum|trait|type|fn|const|static) (\w+)").unwrap();
    let module = Regex::new(r"(?m)^pub mod (\w+);").unwrap();
    let exported = Regex::new(r"(?m)^pub use ([^;]+);").unwrap();
    let mut names = BTreeSet::new();
    let mut waiting = vec![String::new()];
    while let Some(name) = waiting.pop() {
        let file = if name.is_empty() { "lib" } else { &name };
        let Some(source) = sources
            .iter()
            .find(|source| source.path == format!("{file}.rs"))
        else {
            continue;
        };
        let code = documented(&source.code);
        names.extend(item.captures_iter(&code).map(|found| found[1].to_string()));
        for tree in exported.captures_iter(&code) {
            for path in paths_of(&tree[1]) {
                let last = path.rsplit("::").next().unwrap_or_default();
                if last == "self" {
                    let parent = path.trim_end_matches("::self");
                    waiting.push(parent.replace("::", "/"));
                } else {
                    names.insert(last.to_string());
                }
            }
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
    let block = Regex::new(r"(?ms)^impl(?:<[^{]*?>)? (\w+)(?:<[^{]*?>)? \{\n(.*?)^\}").unwrap();
    let method = Regex::new(r"(?m)^    pub (?:const |async )*fn \w+").unwrap();
    let methods: usize = sources
        .iter()
        .flat_map(|source| block.captures_iter(&source.code))
        .filter(|found| names.contains(&found[1]))
        .map(|found| method.find_iter(&documented(&found[2])).count())
        .sum();
    names.len() + methods
}

/// The code without the items that the documentation leaves out.
fn documented(code: &str) -> String {
    let mut parts = code.split("#[doc(hidden)]");
    let mut shown = parts.next().unwrap_or_default().to_string();
    for part in parts {
        shown.push_str(&after_item(part));
    }
    shown
}

/// What follows the item that begins here: all after its first `;` or its closing brace.
fn after_item(text: &str) -> String {
    let ends = [text.find(";\n"), text.find("\n}\n"), text.find("\n    }\n")];
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

/// Words of English, of git and of terminals that are names of hosts too. In code outside the hosts
/// they mean something else.
const ALSO_WORDS: &[&str] = &["cursor", "factory", "pi", "amp"];

#[test]
fn a_host_is_one_file_and_a_line_in_the_list() {
    let sources = sources();
    let mut wrong = Vec::new();
    // Relatives may share a file, and the files of relatives use what they have in common.
    let table = Regex::new(r"static \w+: Host = Host \{").unwrap();
    let files: Vec<&str> = sources
        .iter()
        .filter(|source| table.is_match(&source.code))
        .map(|source| source.path.as_str())
        .collect();
    for host in hookrun::hosts::HOSTS {
        let name = Regex::new(&format!(r"\b{}\b", host.name)).unwrap();
        let line = format!("    name: \"{}\",\n", host.name);
        let own = sources
            .iter()
            .filter(|source| files.contains(&source.path.as_str()) && source.code.contains(&line));
        assert_eq!(own.count(), 1, "files of {}", host.name);
        for source in &sources {
            let path = source.path.as_str();
            let may = path == "hosts.rs"
                || files.contains(&path)
                || path.starts_with("engine/event/catalog")
                // Examples of command lines.
                || path == "cli/args.rs"
                || path.ends_with("tests.rs")
                || ALSO_WORDS.contains(&host.name) && !path.starts_with("hosts");
            if !may && name.is_match(&source.code) {
                wrong.push(format!("{path}: {}", host.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
