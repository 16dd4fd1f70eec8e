//! The documentation: length, links, order, plain English (`habits`), and the names and examples in
//! it (`names`).
//!
//! `generated` compares its tables and outputs with the program.

mod habits;
mod names;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::generated::settle;
use crate::tidy::{sources, walk};

/// The longest that a page may be, in lines: the two that newcomers read first.
const LONGEST: &[(&str, usize)] = &[("README.md", 180), ("ARCHITECTURE.md", 250)];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page that people read, by its path from the root of the repository.
pub(crate) fn pages() -> Vec<String> {
    let mut folders = vec![PathBuf::from("docs")];
    let mut pages = [
        "README.md",
        "ARCHITECTURE.md",
        "fixtures/conformance.md",
        "gates/README.md",
        "fuzz/README.md",
    ]
    .map(String::from)
    .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path.to_str().unwrap().to_string());
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// The lines that somebody wrote as sentences, with their numbers: no code, nothing generated.
fn sentences(page: &str) -> Vec<(usize, String)> {
    let code = Regex::new(r"``[^`]+`` ?|`[^`]*`|\]\([^)]*\)").unwrap();
    let (mut in_code, mut is_made) = (false, false);
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(read(page).lines()) {
        is_made |= line.starts_with("<!-- generated: ") || line == "<!-- differences -->";
        is_made &= line != "<!-- /generated -->" && line != "<!-- /differences -->";
        if line.trim_start().starts_with("```") || line == ".EX" || line == ".EE" {
            in_code = !in_code;
        } else if line.starts_with('.') {
            // A request of roff: mostly a literal word.
        } else if !in_code && !is_made {
            lines.push((number, code.replace_all(line, "]").into_owned()));
        }
    }
    assert!(!in_code && !is_made, "{page}: a block is not closed");
    lines
}

/// What the headings of a page are called in links.
fn anchors(page: &str) -> BTreeSet<String> {
    let heading = |line: &str| {
        line.starts_with('#')
            .then(|| line.trim_start_matches('#').trim().to_string())
    };
    let text = read(page);
    let headings = text.lines().filter_map(heading);
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let anchor = |text: String| {
        text.chars()
            .filter(is_kept)
            .collect::<String>()
            .to_lowercase()
    };
    headings
        .map(|text| anchor(text).replace(' ', "-"))
        .collect()
}

#[test]
fn the_first_pages_are_short() {
    for (page, longest) in LONGEST {
        let lines = read(page).lines().count();
        assert!(
            lines <= *longest,
            "{page} has {lines} lines, and may have {longest}: move some to docs/"
        );
    }
}

/// What fails the second time, and how a page says it instead.
const ONCE: &[(&str, &str)] = &[
    (r"mkdir [^-]", "mkdir -p"),
    (
        r"(^|\$ |[;&] *)git worktree add",
        "[ -e PATH ] || git worktree add",
    ),
    (r"git switch -q?c|git checkout -q?b", "git switch -C"),
    (r"ln -s ", "ln -sf"),
];

#[test]
fn a_command_of_a_page_may_run_twice() {
    for page in pages() {
        for line in read(&page).lines() {
            for (once, instead) in ONCE {
                let is_once = Regex::new(once).unwrap().is_match(line);
                assert!(!is_once, "{page}: `{line}`: write `{instead}`");
            }
        }
    }
}

/// The string literals of `src` with their places: no names, and placeholders and quotations removed.
fn literals() -> Vec<(String, String)> {
    let literal = Regex::new(r##"(?s)r#"(.*?)"#|"((?:[^"\\]|\\.)*)""##).unwrap();
    let quoted = Regex::new(r##"`[^`]*`|\{[^}]*\}|\\"[^"]*\\""##).unwrap();
    let mut texts = Vec::new();
    for source in sources()
        .into_iter()
        .filter(|source| !source.path.ends_with("tests.rs"))
    {
        let code = source.code.replace("'\"'", "' '").replace(r#"'\"'"#, "' '");
        for found in literal.captures_iter(&code) {
            let text = found
                .get(1)
                .or(found.get(2))
                .map_or("", |text| text.as_str());
            let text = quoted.replace_all(text, "]").into_owned();
            if text.contains(' ') {
                let before = &code[..found.get(0).unwrap().start()];
                let number = before.lines().count();
                texts.push((format!("src/{}:{number}", source.path), text));
            }
        }
    }
    texts
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let link = Regex::new(r#"(?:\]\(|src(?:set)?=")([^)#:"]*)(#[^)"]*)?[)"]"#).unwrap();
    let mut wrong = Vec::new();
    for page in pages() {
        let text = read(&page);
        for found in link.captures_iter(&text) {
            let folder = Path::new(&page).parent().unwrap();
            let target = match &found[1] {
                "" => root().join(&page),
                path => root().join(folder).join(path),
            };
            let is_there = target.exists();
            let anchor = found
                .get(2)
                .map(|anchor| anchor.as_str().trim_start_matches('#'));
            let is_known = |anchor| is_there && anchors(target.to_str().unwrap()).contains(anchor);
            if !is_there || !anchor.is_none_or(is_known) {
                wrong.push(format!("{page}: {}", &found[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_page_about_the_code_names_files_that_exist() {
    let mut files = Vec::new();
    for folder in ["src", "tests", "examples"] {
        walk(&root().join(folder), &mut files);
    }
    let named = Regex::new(r"`([a-z_./]+\.rs)`").unwrap();
    let page = "ARCHITECTURE.md";
    for name in named.captures_iter(&read(page)) {
        let is_there = files.iter().any(|file| file.ends_with(&name[1]));
        assert!(is_there, "{page}: there is no {}", &name[1]);
    }
}

/// A row of the index: the pages that it links to, by title and path, and the question.
struct IndexRow {
    links: Vec<[String; 2]>,
    question: String,
}

/// The index: a section has a name and rows.
fn index() -> Vec<(String, Vec<IndexRow>)> {
    let link = Regex::new(r"\[([^\]]+)\]\(([^)]+)\)").unwrap();
    let mut sections: Vec<(String, Vec<IndexRow>)> = Vec::new();
    for line in read("docs/README.md")
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
    {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let Some(section) = cells[0].strip_prefix("**") {
            sections.push((section.trim_end_matches("**").to_string(), Vec::new()));
            continue;
        }
        let links = link.captures_iter(cells[0]);
        let links = links
            .map(|found| [1, 2].map(|part| found[part].to_string()))
            .collect();
        let (_, rows) = sections.last_mut().expect("a row is in a section");
        rows.push(IndexRow {
            links,
            question: cells[1].to_string(),
        });
    }
    sections
}

#[test]
fn the_index_names_every_page_once_and_the_question_that_it_answers() {
    let mut named: Vec<String> = Vec::new();
    let mut questions = BTreeSet::new();
    for row in index().into_iter().flat_map(|(_, rows)| rows) {
        assert!(row.question.ends_with('?'), "{}", row.question);
        assert!(
            questions.insert(row.question.clone()),
            "twice: {}",
            row.question
        );
        named.extend(row.links.into_iter().map(|[_, path]| path));
    }
    named.sort();
    let all = pages();
    let all = all.iter().filter_map(|page| page.strip_prefix("docs/"));
    let all: Vec<&str> = all
        .filter(|page| !matches!(*page, "README.md" | "SUMMARY.md"))
        .collect();
    assert_eq!(named, all);
}

/// The book has the pages in the order of the index; a row with several pages is below the one before.
#[test]
fn the_book_has_the_order_of_the_index() {
    let mut made = "# Summary\n\n[The hookrun documentation](README.md)\n".to_string();
    for (section, rows) in index() {
        writeln!(made, "\n# {section}\n").unwrap();
        for IndexRow { links, .. } in rows {
            let indent = if links.len() > 1 { "  " } else { "" };
            for [title, path] in links {
                writeln!(made, "{indent}- [{title}]({path})").unwrap();
            }
        }
    }
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap_or_default();
    settle("docs/SUMMARY.md", &summary, &made);
}
