//! The rules of the house, held by a test: who may use whom, and what stands where.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

mod measures;

/// What each module of the library may use (ARCHITECTURE.md); nothing else.
const MAY_USE: &[(&str, &[&str])] = &[
    // The engine.
    ("harmless", &[]),
    ("complaint", &[]),
    ("lock", &[]),
    ("names", &[]),
    ("event", &["complaint", "names", "shell"]),
    ("outcome", &["names", "event"]),
    ("reminder", &["lock", "names", "outcome"]),
    ("ending", &["complaint", "names", "outcome"]),
    (
        "hook",
        &["complaint", "names", "ending", "outcome", "event", "shell"],
    ),
    (
        "answer",
        &["complaint", "names", "hook", "ending", "outcome", "event"],
    ),
    ("registry", &["lock", "hook", "event"]),
    ("plan", &["hook", "event"]),
    ("run", &["names", "hook", "ending", "outcome", "event"]),
    ("session", &["lock"]),
    ("errand", &[]),
    ("shell", &[]),
    ("ui", &["session", "lock"]),
    (
        "exec",
        &[
            "complaint",
            "ui",
            "lock",
            "names",
            "hook",
            "answer",
            "run",
            "outcome",
            "event",
        ],
    ),
    (
        "chain",
        &[
            "complaint",
            "exec",
            "ui",
            "session",
            "plan",
            "run",
            "outcome",
            "hook",
            "event",
        ],
    ),
    (
        "runner",
        &[
            "chain", "exec", "ui", "session", "plan", "registry", "reminder", "run", "hook",
            "outcome", "event",
        ],
    ),
    (
        "session_hooks",
        &[
            "runner", "chain", "exec", "session", "lock", "run", "hook", "event",
        ],
    ),
    ("interceptor", &["complaint"]),
    // The rooms above it. What they may use of the engine is not listed.
    ("hosts", &["engine"]),
    ("config", &["hosts", "engine"]),
    ("log", &["hosts", "engine"]),
    ("decide", &["log", "config", "hosts", "engine"]),
    // The lab.
    ("scenario", &["config", "hosts", "engine"]),
    ("report", &["log", "scenario", "config", "hosts", "engine"]),
    ("export", &["log", "report", "hosts", "engine"]),
    ("replay", &["log", "report", "config", "hosts", "engine"]),
];

/// The parts of the engine.
fn is_of_engine(name: &str) -> bool {
    let Some(at) = MAY_USE.iter().position(|(known, _)| *known == name) else {
        return false;
    };
    MAY_USE
        .iter()
        .position(|(known, _)| *known == "hosts")
        .is_some_and(|end| at < end)
}

/// Who may do what: a piece of code, the only files that may hold it, and why.
const ONLY_IN: &[(&str, &[&str], &str)] = &[
    (
        "Command::new(",
        &["engine/errand.rs", "engine/exec/confine.rs"],
        "spawn.rs starts hooks, errand.rs everything else; in a namespace a hook stays in its group",
    ),
    (
        "waitid(",
        &["engine/exec/child.rs", "engine/exec/tree.rs"],
        "only child.rs and tree.rs wait",
    ),
    (
        "kill_process",
        &[
            "engine/exec/child.rs",
            "engine/exec/tree.rs",
            "engine/errand.rs",
        ],
        "only these signal",
    ),
    (
        "env::var(",
        &["config/env.rs"],
        "the environment is read in one place",
    ),
    (
        "env::var_os(",
        &["config/env.rs"],
        "the environment is read in one place",
    ),
    (
        "env::vars",
        &["config/env.rs", "engine/exec/spawn.rs"],
        "and passed on in another",
    ),
    (
        "unsafe",
        &["engine/exec/signals.rs", "engine/exec/spawn.rs", "main.rs"],
        "no library has these calls as safe code, and no allocator has a safe interface",
    ),
    ("static mut", &[], "no global mutable state"),
    (
        "OnceLock",
        &["engine/event.rs", "engine/exec/signals.rs"],
        "no global mutable state; an event has its own, and a signal handler knows nothing else",
    ),
    ("LazyLock", &[], "no global mutable state"),
    ("thread_local!", &[], "no global mutable state"),
    (
        "process::exit",
        &["cli/run/watchdog.rs"],
        "main returns an exit code",
    ),
    ("TODO", &[], "what is not done is not promised"),
    ("todo!", &[], "what is not done is not promised"),
    ("unimplemented!", &[], "what is not done is not promised"),
];

/// Modules that decide: no files, no clock.
const PURE: &[&str] = &[
    "event",
    "outcome",
    "ending",
    "complaint",
    "names",
    "hook",
    "answer",
    "plan",
    "reminder",
    "harmless",
];

const IMPURE: &[&str] = &["std::fs", "std::io", "Instant", "SystemTime", "rustix::"];

/// Names of hosts, which only dialects and the catalog's aliases may know.
const HOSTS: &[&str] = &[
    "claude", "codex", "gemini", "cursor", "copilot", "wolli", "openclaw",
];

#[derive(Debug)]
pub(crate) struct Source {
    /// Below `src/`.
    pub(crate) path: String,
    /// Its code, without comments and without its unit tests.
    pub(crate) code: String,
    pub(crate) text: String,
}

/// A file without its unit tests.
fn product(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default()
}

impl Source {
    /// What is compiled of it besides tests, in lines.
    fn compiled_lines(&self) -> usize {
        let is_test = self.path.ends_with("tests.rs");
        if is_test {
            0
        } else {
            product(&self.text).lines().count()
        }
    }
}

pub(crate) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        let path = file
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_string();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let code = product(&text)
            .lines()
            .filter(is_code)
            .collect::<Vec<_>>()
            .join("\n");
        Source { path, code, text }
    };
    files.into_iter().map(read).collect()
}

/// The Rust files in a folder, at any depth.
pub(crate) fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The module of a file below `src/`: a part of the engine or the lab, or another room.
fn module(path: &str) -> &str {
    let mut parts = path.split(['/', '.']).filter(|part| *part != "rs");
    let room = parts.next().unwrap_or_default();
    match room {
        "engine" | "lab" => parts.next().unwrap_or(room),
        _ => room,
    }
}

/// Files that only list a room.
const LISTS: &[&str] = &["lib.rs", "main.rs", "engine.rs", "lab.rs"];

fn library() -> Vec<Source> {
    let is_library =
        |source: &Source| module(&source.path) != "cli" && !LISTS.contains(&source.path.as_str());
    sources().into_iter().filter(is_library).collect()
}

fn is_of_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_:".contains(c)
}

#[test]
fn modules_use_only_what_they_may() {
    let mut wrong = Vec::new();
    for source in library() {
        let own = module(&source.path).to_string();
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == own) else {
            wrong.push(format!("{} is not in the table", source.path));
            continue;
        };
        for part in source.code.split("crate::").skip(1) {
            let path: String = part.chars().take_while(|c| is_of_path(*c)).collect();
            let used = module(&path.replace("::", "/")).to_string();
            let used = match is_of_engine(&used) && !is_of_engine(&own) {
                true => "engine".to_string(),
                false => used,
            };
            if used != own && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{}: `{own}` may not use `{used}`", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_table_names_every_module_once_and_has_no_circle() {
    let read = |file: &str| {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file)).unwrap()
    };
    let rooms = [read("lib.rs"), read("engine.rs"), read("lab.rs")];
    let mut declared: Vec<&str> = rooms
        .iter()
        .flat_map(|room| room.lines())
        .filter_map(|line| {
            line.strip_prefix("pub mod ")
                .or(line.strip_prefix("pub(crate) mod "))
        })
        .filter_map(|line| line.strip_suffix(';'))
        .collect();
    let mut listed: Vec<&str> = MAY_USE.iter().map(|(name, _)| *name).collect();
    declared.sort_unstable();
    listed.sort_unstable();
    assert_eq!(declared, listed);
    let arrows: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    for start in arrows.keys() {
        let mut reached: Vec<&str> = arrows[start].to_vec();
        let mut at = 0;
        while at < reached.len() {
            reached.extend(arrows.get(reached[at]).copied().unwrap_or_default());
            at += 1;
            assert!(at < 10_000, "a circle from {start}");
        }
        assert!(!reached.contains(start), "a circle through {start}");
    }
}

#[test]
fn what_is_delicate_stands_in_one_place() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (piece, places, why) in ONLY_IN {
            if source.code.contains(piece) && !places.contains(&source.path.as_str()) {
                wrong.push(format!("{}: `{piece}`: {why}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_decides_touches_no_file_and_no_clock() {
    let mut wrong = Vec::new();
    for source in library()
        .iter()
        .filter(|source| PURE.contains(&module(&source.path)))
    {
        for piece in IMPURE.iter().filter(|piece| source.code.contains(*piece)) {
            wrong.push(format!("{}: `{piece}`", source.path));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn hosts_are_known_to_dialects_and_aliases_only() {
    let mut wrong = Vec::new();
    for source in library() {
        let may =
            module(&source.path) == "hosts" || source.path.starts_with("engine/event/catalog");
        let code = source.code.to_lowercase();
        for host in HOSTS.iter().filter(|host| !may && code.contains(*host)) {
            wrong.push(format!("{}: {host}", source.path));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_says_what_it_owns_and_stays_readable() {
    let mut wrong = Vec::new();
    for source in sources() {
        if !source.text.starts_with("//! ") {
            wrong.push(format!("{} does not say what it owns", source.path));
        }
        let lines = source.text.lines().count();
        if lines > 600 {
            wrong.push(format!(
                "{} has {lines} lines: is there a second subject?",
                source.path
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_type_name_is_one_type() {
    let repeated = names_of_several_types(&sources());
    assert!(
        repeated.is_empty(),
        "names of more than one type: {repeated:#?}"
    );
}

/// The names, and the files that define them.
fn names_of_several_types(sources: &[Source]) -> BTreeMap<String, Vec<String>> {
    let definition =
        Regex::new(r"(?m)^(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|type) ([A-Z]\w*)").unwrap();
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources {
        for found in definition.captures_iter(&source.code) {
            known
                .entry(found[1].to_string())
                .or_default()
                .push(source.path.clone());
        }
    }
    known.retain(|_, places| places.len() > 1);
    known
}

/// Words that end in `ed` and are clear by themselves.
const PARTICIPLES: &[&str] = &["Allowed", "Inherited", "Printed", "Settled", "Feed", "Need"];

#[test]
fn a_type_name_says_what_was_done_to_what() {
    let definition =
        Regex::new(r"(?m)^(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|type) ([A-Z][a-z]+ed)\b")
            .unwrap();
    let mut wrong = Vec::new();
    for source in sources() {
        for found in definition.captures_iter(&source.code) {
            if !PARTICIPLES.contains(&&found[1]) {
                wrong.push(format!("{}: {}", source.path, &found[1]));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "a participle alone is no noun: {wrong:#?}"
    );
}

#[test]
fn no_parameter_is_a_tuple() {
    let wrong = tuple_parameters(&sources());
    assert!(wrong.is_empty(), "a tuple hides a name: {wrong:#?}");
}

fn tuple_parameters(sources: &[Source]) -> Vec<String> {
    let parameter = Regex::new(r"^[a-z_]+(, [a-z_]+)+\): \(").unwrap();
    let mut wrong = Vec::new();
    for source in sources {
        for (at, _) in source.code.match_indices("fn ") {
            // Up to the body: patterns in it are no parameters.
            let head = source.code[at..].split(" {\n").next().unwrap_or_default();
            for (place, _) in head.match_indices('(').filter(|(place, _)| *place > 0) {
                if parameter.is_match(&head[place + 1..]) {
                    wrong.push(format!(
                        "{}: {}",
                        source.path,
                        head.lines().next().unwrap_or("")
                    ));
                }
            }
        }
    }
    wrong
}

#[test]
fn every_dependency_has_a_reason() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let text = fs::read_to_string(manifest).unwrap();
    let mut in_dependencies = false;
    let mut before = "";
    let mut wrong = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            in_dependencies = line.ends_with("dependencies]");
        } else if in_dependencies && line.contains('=') {
            let shares_reason = line.starts_with("serde_json") || line.starts_with("clap");
            if !before.starts_with('#') && !shares_reason {
                wrong.push(line.to_string());
            }
        }
        before = line;
    }
    assert!(
        wrong.is_empty(),
        "dependencies without a comment above them: {wrong:#?}"
    );
}

/// A file that no `mod` names is never compiled, and nobody sees that its tests do not run.
#[test]
fn every_file_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("tests/it")];
    let mut unnamed = Vec::new();
    while let Some(folder) = folders.pop() {
        let parent = ["lib.rs", "main.rs"].map(|name| folder.join(name));
        let named: String = parent
            .iter()
            .chain([&folder.with_extension("rs")])
            .filter_map(|file| fs::read_to_string(file).ok())
            .collect();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let is_rust = path.extension().is_some_and(|ending| ending == "rs");
            let is_root = name == "lib" || name == "main";
            if is_rust && !is_root && !named.contains(&format!("mod {name};")) {
                unnamed.push(path);
            }
        }
    }
    assert!(unnamed.is_empty(), "no `mod` names {unnamed:#?}");
}
