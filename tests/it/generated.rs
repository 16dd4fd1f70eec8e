//! The documents say what the program does.
//!
//! Tables between `<!-- generated: NAME -->` and `<!-- /generated -->` are made from the tables
//! in the code, in scripts between `# generated: NAME` and `# /generated`; the pages of the
//! commands from their arguments; and what stands in a `console`
//! block is what hookrun prints. `UPDATE_GOLDEN=1 cargo test` writes all of it anew.
//!
//! In a document that is walked, `<!-- file: PATH -->` puts the block below it into a file,
//! `<!-- answered with yes -->` runs it at a terminal and confirms,
//! and `<!-- not run -->` leaves a `console` block alone.

mod ci;
mod hosts;
mod pictures;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use hookrun::hosts::git::{Argument, Changes, GIT_HOOKS};
use hookrun::internals::chain::VARIABLES;
use hookrun::internals::config::keys::{
    HOOK_KEYS, LIMIT_KEYS, MATCH_KEYS, RULE_KEYS, SANDBOX_KEYS,
};
use hookrun::internals::config::{
    EVENT_KEYS, KeyRow, LOG_KEYS, PROJECT_KEYS, SET_KEYS, names as names_of,
};
use hookrun::internals::event::action::TOOLS;
use hookrun::internals::event::catalog::EVENTS;
use hookrun::internals::exec::sandbox::{DEVICES, SYSTEM_PATHS};
use hookrun::internals::hook::contract::RESULT_KEYS;
use hookrun::internals::log::redact::{SECRET_KEYS, SecretRule, rules as secret_rules};
use hookrun::internals::outcome::RULES;
use hookrun::internals::run::FAILURES;
use hookrun::internals::scenario::TOKENS;
use hookrun::internals::scenario::coverage::{POINTS, PointRow};
use hookrun::internals::scenario::keys::{
    CASE_KEYS, DEFAULT_KEYS, EXPECT_KEYS, FILE_KEYS, REPEAT_KEYS, REPLY_KEYS, STEP_KEYS, TOP_KEYS,
};
use regex::Regex;

use crate::commands::add::{listed, written};
use crate::documents::pages;
use crate::sandbox::Sandbox;
use crate::trust::QUESTION;
use crate::ui::screen::{at, words_at_terminal};

/// What to do about a document that is out of date.
const CURE: &str = "`UPDATE_GOLDEN=1 cargo test` rewrites it; read the diff";

/// Held while a document is read, compared and perhaps written: a page has both tables and
/// output, and each is a test of its own.
pub(crate) static DOCUMENT: Mutex<()> = Mutex::new(());

/// Scripts with generated tables in them; every page may have some.
const SCRIPTS: &[&str] = &[
    "hooks.d/tool.post/10-redact-secrets.py",
    "gates/hooks.d/commits.pre/10-commit-range.py",
];

/// A part's name and what makes it.
type Part = (&'static str, fn() -> String);

/// Every generated part.
const PARTS: &[Part] = &[
    ("events", events),
    ("answers", answers),
    ("failures", failures),
    ("result-keys", result_keys),
    ("variables", variables),
    ("hook-keys", || keys(HOOK_KEYS)),
    ("match-keys", || keys(MATCH_KEYS)),
    ("rule-keys", || keys(RULE_KEYS)),
    ("limit-keys", || keys(LIMIT_KEYS)),
    ("sandbox-keys", || keys(SANDBOX_KEYS)),
    ("event-keys", || keys(EVENT_KEYS)),
    ("log-keys", || keys(LOG_KEYS)),
    ("set-keys", || keys(SET_KEYS)),
    ("redactions", redactions),
    ("secrets", secrets),
    ("case-keys", || keys(CASE_KEYS)),
    ("expect-keys", || keys(EXPECT_KEYS)),
    ("coverage-points", coverage_points),
    ("capabilities-of-hosts", hosts::capabilities),
    ("hosts-in-short", hosts::in_short),
    ("events-of-opencode", || hosts::events("opencode")),
    ("limits-of-opencode", || hosts::limits("opencode")),
    ("events-of-kilo", || hosts::events("kilo")),
    ("limits-of-kilo", || hosts::limits("kilo")),
    ("events-of-amp", || hosts::events("amp")),
    ("limits-of-amp", || hosts::limits("amp")),
    ("events-of-the-plugin-for-pi", || hosts::events("pi")),
    ("limits-of-pi", || hosts::limits("pi")),
    ("events-of-the-plugin-for-omp", || hosts::events("omp")),
    ("limits-of-omp", || hosts::limits("omp")),
    ("events-of-the-plugin-for-openclaw", || {
        hosts::events("openclaw")
    }),
    ("limits-of-openclaw", || hosts::limits("openclaw")),
    ("tools", tools),
    ("git-hooks", git_hooks),
    ("action-inputs", ci::action_inputs),
    ("pre-commit-hooks", ci::pre_commit_hooks),
    ("shipped-hooks", shipped_hooks),
    ("speed-in-short", pictures::speed_in_short),
    ("library", library),
];

#[test]
fn the_tables_in_the_documents_are_those_in_the_code() {
    let _alone = DOCUMENT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut used = BTreeSet::new();
    let scripts = SCRIPTS.iter().map(|script| (*script).to_string());
    for document in &pages().into_iter().chain(scripts).collect::<Vec<_>>() {
        let text = read(document);
        let mut made = String::new();
        let mut rest = text.as_str();
        let is_page = Path::new(document).extension().is_some_and(|it| it == "md");
        let (open, close) = if is_page {
            ("<!-- ", " -->")
        } else {
            ("# ", "")
        };
        while let Some((before, after)) = rest.split_once(&format!("{open}generated: ")) {
            let marked = after.split_once(&format!("{close}\n"));
            let (name, after) = marked.expect("the marker ends its line");
            let end = format!("{open}/generated{close}");
            let (_, after) = after.split_once(&end).expect("the part ends");
            let part = PARTS
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, make)| make());
            let part = part.or_else(|| hosts::part(name));
            let body = part.unwrap_or_else(|| panic!("{document}: no part `{name}`"));
            write!(made, "{before}{open}generated: {name}{close}\n{body}{end}").unwrap();
            used.insert(name.to_string());
            rest = after;
        }
        made.push_str(rest);
        settle(document, &text, &made);
    }
    let known = PARTS
        .iter()
        .map(|(name, _)| (*name).to_string())
        .chain(hosts::parts());
    assert_eq!(used, known.collect(), "every part stands in a document");
}

#[test]
fn the_page_of_the_contract_names_everything_that_a_hook_can_meet() {
    let mut wanted: Vec<&str> = RULES.iter().map(|row| row.name).collect();
    wanted.extend(FAILURES.iter().map(|(_, example)| example().name()));
    wanted.extend(VARIABLES.iter().map(|(name, _)| *name));
    wanted.extend(RESULT_KEYS.iter().map(|(name, ..)| *name));
    page_names("man/hookrun-hook.5", &wanted);
}

#[test]
fn the_page_of_the_configuration_names_every_key_and_its_words() {
    let tables = [HOOK_KEYS, MATCH_KEYS, RULE_KEYS, LIMIT_KEYS, SANDBOX_KEYS];
    let mut wanted: Vec<&str> = tables.iter().flat_map(|rows| names_of(rows)).collect();
    wanted.extend(names_of(EVENT_KEYS));
    wanted.extend(names_of(LOG_KEYS));
    wanted.extend(names_of(SET_KEYS));
    wanted.extend(names_of(PROJECT_KEYS));
    wanted.extend(secret_rules().iter().map(|rule| rule.kind));
    wanted.extend(SYSTEM_PATHS.iter().chain(DEVICES));
    wanted.extend(
        TOOLS
            .iter()
            .flat_map(|class| class.names.iter().copied().chain([class.word])),
    );
    page_names("man/hookrun.toml.5", &wanted);
}

#[test]
fn the_page_of_suites_names_every_key() {
    let mut wanted: Vec<&str> = [DEFAULT_KEYS, CASE_KEYS, STEP_KEYS]
        .iter()
        .flat_map(|rows| names_of(rows))
        .collect();
    wanted.extend(names_of(TOP_KEYS));
    wanted.extend(names_of(EXPECT_KEYS));
    wanted.extend(names_of(REPLY_KEYS));
    wanted.extend(names_of(FILE_KEYS));
    wanted.extend(names_of(REPEAT_KEYS));
    wanted.extend(TOKENS.iter().map(|row| row.name.trim_matches(['{', '}'])));
    wanted.extend(POINTS.iter().map(|row| row.name));
    page_names("man/hookrun-suite.5", &wanted);
}

#[test]
fn the_pages_about_testing_show_what_hookrun_prints() {
    let place = tempfile::Builder::new()
        .prefix("")
        .rand_bytes(5)
        .tempdir_in("/tmp")
        .unwrap();
    let sandbox = Sandbox::new();
    // The second page goes on where the first ends.
    for page in ["docs/testing.md", "docs/coverage.md"] {
        walk(page, &sandbox, place.path(), "/tmp/guard");
    }
}

#[test]
fn the_tutorial_shows_what_hookrun_prints() {
    // A path of the same length breaks lines at the same places.
    let place = tempfile::Builder::new()
        .prefix("")
        .rand_bytes(5)
        .tempdir_in("/tmp")
        .unwrap();
    walk(
        "docs/tutorial.md",
        &Sandbox::new().without_trust(),
        place.path(),
        "/tmp/guard",
    );
}

#[test]
fn the_page_about_systems_shows_what_hookrun_prints() {
    let sandbox = with_our_files();
    let place = sandbox.path().to_path_buf();
    walk("docs/systems.md", &sandbox, &place, "/home/you/hookrun");
}

#[test]
fn the_readme_shows_what_hookrun_prints() {
    walk_in_a_project("README.md", &Sandbox::new().without_trust());
}

#[test]
fn the_pages_about_hooks_show_what_hookrun_prints() {
    for page in [
        "hooks",
        "interactive",
        "configuration",
        "commands",
        "events",
        "layers",
        "limits",
        "reference/schemas",
        "replay",
        "rules",
        "shipped-hooks",
        "sets",
    ] {
        walk_in_a_project(&format!("docs/{page}.md"), &Sandbox::new().without_trust());
    }
}

/// Does what a page says in an empty project of a user without a log.
fn walk_in_a_project(page: &str, sandbox: &Sandbox) {
    let place = sandbox.at("home/shop");
    fs::create_dir_all(&place).unwrap();
    walk(
        page,
        sandbox,
        &place.canonicalize().unwrap(),
        "/home/you/shop",
    );
}

#[test]
fn the_two_commands_of_a_checkout_are_in_the_readme_and_work() {
    let readme = read("README.md");
    let (_, after) = readme
        .split_once("<!-- the main job -->\n```sh\n")
        .expect("the main job");
    let (block, _) = after.split_once("```").unwrap();
    let lines: Vec<&str> = block.lines().collect();
    assert!(
        readme.lines().take(40).any(|line| line == lines[0]),
        "it is near the top"
    );
    assert_eq!(lines[1..], ["cargo test"]);
    let sandbox = with_our_files();
    let printed = shell(lines[0], &sandbox, sandbox.path());
    assert!(
        printed.contains("\nBLOCK   11-guard-deletions.py\n"),
        "{printed}"
    );
    assert!(
        read(".ci/run").contains("tool.pre.rm-rf.json"),
        "the gate runs it too"
    );
}

/// A folder with the hooks and the fixtures of the repository.
fn with_our_files() -> Sandbox {
    let sandbox = Sandbox::new();
    for folder in ["hooks.d", "fixtures"] {
        let mut copy = Command::new("/bin/cp");
        copy.arg("-a").arg(root().join(folder)).arg(sandbox.path());
        assert!(copy.status().unwrap().success());
    }
    sandbox
}

/// Git's settings of somebody who signs commits, and who knows the key of the security team.
const SIGNER: &str = r#"
[user]
	name = You
	email = you@example.com
	signingKey = ~/key.pub
[gpg]
	format = ssh
[gpg "ssh"]
	allowedSignersFile = ~/allowed_signers
[init]
	defaultBranch = main
[advice]
	detachedHead = false
"#;

#[test]
fn the_page_about_many_repositories_shows_what_happens() {
    let sandbox = Sandbox::new()
        .without_trust()
        .file("home/.gitconfig", SIGNER);
    let place = sandbox.at("home/work");
    fs::create_dir(&place).unwrap();
    let set_up = "
        ssh-keygen -q -t ed25519 -N '' -C security -f ~/key
        echo \"security@example.com $(cat ~/key.pub)\" >~/allowed_signers
        for name in policy api web billing; do
          git init -q --bare $name.git && git clone -q $name.git 2>/dev/null
        done";
    assert_eq!(shell(set_up, &sandbox, &place), "");
    let place = place.canonicalize().unwrap();
    walk("docs/fleet.md", &sandbox, &place, "/home/you/work");
}

#[test]
fn the_pages_about_hosts_show_what_happens() {
    for page in hosts::pages() {
        let sandbox = Sandbox::new();
        let place = sandbox.at("home/demo");
        fs::create_dir(&place).unwrap();
        let home = sandbox.at("home").canonicalize().unwrap();
        walk(
            &format!("docs/hosts/{page}.md"),
            &sandbox,
            &home.join("demo"),
            "/home/you/demo",
        );
    }
}

#[test]
fn the_page_about_git_shows_what_happens() {
    let place = tempfile::Builder::new().prefix("git").tempdir().unwrap();
    let path = place.path().canonicalize().unwrap();
    walk(
        "docs/hosts/git.md",
        &Sandbox::new().without_trust(),
        &path,
        "/home/you/demo",
    );
}

/// Does what a document says, in `place`, and compares what is printed with what it shows.
/// `shown` is what the document calls the place.
fn walk(document: &str, sandbox: &Sandbox, place: &Path, shown: &str) {
    let _alone = DOCUMENT.lock().unwrap_or_else(PoisonError::into_inner);
    let text = read(document);
    let mut made = String::new();
    let mut lines = text.lines().peekable();
    let mut marker = None;
    while let Some(line) = lines.next() {
        writeln!(made, "{line}").unwrap();
        if let Some(comment) = line.strip_prefix("<!-- ") {
            marker = comment.strip_suffix(" -->");
        }
        let Some(language) = line.strip_prefix("```") else {
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match marker.take() {
            Some(file) if file.starts_with("file: ") => {
                let file = place.join(file.trim_start_matches("file: "));
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, body.join("\n") + "\n").unwrap();
            }
            Some("not run") => {}
            Some("answered with yes") => {
                for command in &body {
                    confirm_at_terminal(command, sandbox, place);
                }
            }
            _ if language == "console" => {
                made.push_str(&console(&body, sandbox, place, shown));
                made.push_str("```\n");
                continue;
            }
            _ => {}
        }
        for line in body {
            writeln!(made, "{line}").unwrap();
        }
        made.push_str("```\n");
    }
    settle(document, &text, &made);
}

/// A block of commands, each with what it prints now. What only took another time stays.
fn console(block: &[&str], sandbox: &Sandbox, place: &Path, shown: &str) -> String {
    let mut made = String::new();
    let mut block = block.iter().copied().peekable();
    while let Some(line) = block.next() {
        let command = line
            .strip_prefix("$ ")
            .expect("a console block begins with a command");
        let mut known = String::new();
        while let Some(output) = block.next_if(|line| !line.starts_with("$ ")) {
            writeln!(known, "{output}").unwrap();
        }
        let printed = shell(command, sandbox, place).replace(place.to_str().unwrap(), shown);
        let home = sandbox.at("home").display().to_string();
        let printed = printed.replace(&home, "/home/you");
        let is_same = timeless(&printed) == timeless(&known);
        write!(
            made,
            "$ {command}\n{}",
            if is_same { &known } else { &printed }
        )
        .unwrap();
    }
    made
}

/// What a command line prints, stdout and stderr together.
pub(crate) fn shell(command: &str, sandbox: &Sandbox, place: &Path) -> String {
    let command = command.replace("cargo run --release --", "hookrun");
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(place)
        .env_clear()
        .env("PATH", path_with_hookrun())
        .env("HOME", sandbox.at("home"))
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn path_with_hookrun() -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_hookrun"));
    let folder = binary.parent().unwrap().display();
    format!("{folder}:/usr/local/bin:/usr/bin:/bin")
}

/// Runs a command line at a terminal, and confirms the one question that it must ask.
fn confirm_at_terminal(command: &str, sandbox: &Sandbox, place: &Path) {
    let mut shell = Command::new("/bin/sh");
    shell
        .arg("-c")
        .arg("PATH=$1; export PATH; cd \"$2\" && eval \"$3\"")
        .arg("sh")
        .arg(path_with_hookrun())
        .arg(place)
        .arg(command);
    fs::write(sandbox.at("event"), "").unwrap();
    let question = if command.contains("--follow") {
        "[y/N] "
    } else {
        QUESTION
    };
    let steps = [at(question, "y\r")];
    words_at_terminal((24, 80), sandbox, &shell, &steps).exits(0);
}

/// A text without what differs from run to run: dates, times, and the note about a process that was
/// still dying when hookrun looked for what is left.
fn timeless(text: &str) -> String {
    let text = Regex::new(r"(?m)^ +note +it left .*\n")
        .unwrap()
        .replace_all(text, "");
    let text = Regex::new(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z")
        .unwrap()
        .replace_all(&text, "then");
    Regex::new(r"\b\d+(\.\d+)? m?s\b")
        .unwrap()
        .replace_all(&text, "a moment")
        .into_owned()
}

/// Compares a document with what it should be, or rewrites it if that is asked for.
#[track_caller]
pub(crate) fn settle(document: &str, kept: &str, made: &str) {
    if kept == made {
        return;
    }
    if is_updating() {
        fs::write(root().join(document), made).unwrap();
        return;
    }
    let differ = kept
        .lines()
        .zip(made.lines())
        .position(|(kept, made)| kept != made);
    let at = differ.unwrap_or_else(|| kept.lines().count().min(made.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("(end of file)").to_string();
    panic!(
        "{document}:{} is out of date: {CURE}\n  it says   {}\n  should be {}",
        at + 1,
        line(kept),
        line(made)
    );
}

#[expect(
    clippy::disallowed_methods,
    reason = "the tests are told by it to write, not to compare"
)]
pub(crate) fn is_updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

/// Holds that a page written by hand names all of `wanted`.
#[track_caller]
fn page_names(page: &str, wanted: &[&str]) {
    let text = read(page).replace("\\-", "-").replace("\\&", "");
    let text = Regex::new(r"\\f[BIR]").unwrap().replace_all(&text, " ");
    let is_named = |name: &&&str| {
        let word = format!(
            r"(^|[^A-Za-z0-9_-]){}($|[^A-Za-z0-9_-])",
            regex::escape(name)
        );
        Regex::new(&word).unwrap().is_match(&text)
    };
    let missing: Vec<&&str> = wanted.iter().filter(|name| !is_named(name)).collect();
    assert!(
        missing.is_empty(),
        "{page} is written by hand and does not name {missing:?}: add them"
    );
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// A markdown table.
fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), " --- |".repeat(N));
    for row in rows {
        let cells = row.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        writeln!(text, "| {} |", cells.join(" | ")).unwrap();
    }
    text
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn events() -> String {
    let rows = EVENTS.iter().map(|spec| {
        let rewrites = spec
            .rewrites
            .iter()
            .map(|one| format!("`{}` ({})", one.field, one.merge.name()));
        let gate = match (spec.blocks, spec.on_failure.name()) {
            (false, _) => "",
            (true, "allow") => "yes, fails open",
            (true, _) => "yes",
        };
        let rewrites: Vec<String> = rewrites.collect();
        [
            code(&spec.name),
            gate.to_string(),
            rewrites.join(", "),
            spec.summary.to_string(),
        ]
    });
    table(["event", "gate", "rewritable", "when"], rows)
}

fn answers() -> String {
    let rows = RULES.iter().map(|row| {
        [
            row.answer.to_string(),
            row.verdict.to_string(),
            code(row.name),
        ]
    });
    table(["a hook that …", "means", "name in reports"], rows)
}

fn redactions() -> String {
    let mut table = "| kind | what it is |\n| --- | --- |\n".to_string();
    for rule in secret_rules() {
        writeln!(table, "| `{}` | {} |", rule.kind, rule.about).unwrap();
    }
    table
}

/// The table of secrets in Python, which the scripts have in them so that a copy works alone.
fn secrets() -> String {
    let tuple = |words: &[String]| words.join(" ");
    let words_of = |rule: &SecretRule| -> Vec<String> {
        rule.words()
            .map(|word| format!("{:?},", word.to_lowercase()))
            .collect()
    };
    // The words that many rules have in common are written once.
    let names = secret_rules()
        .iter()
        .find(|rule| rule.kind == "secret")
        .map(words_of);
    let names = names.expect("there are rules for names");
    let mut made = "# Copied from hookrun's own table; change it there. Each row: the kind, its description, the\n\
        # programs that use it, whether it needs a digit, a word that it contains, and its pattern. The\n\
        # groups `keep` and `end` are not replaced.\n"
        .to_string();
    writeln!(made, "NAMES = ({})\nSECRETS = [", tuple(&names)).unwrap();
    for rule in secret_rules() {
        let words = match words_of(&rule) {
            words if words == names => "NAMES".to_string(),
            words => format!("({})", tuple(&words)),
        };
        let pattern = rule.pattern().replace(r"\z", r"\Z");
        let quote = if pattern.contains('"') {
            "\'\'\'"
        } else {
            "\""
        };
        assert!(
            !pattern.ends_with('\'') && !pattern.contains("\'\'\'"),
            "{pattern}"
        );
        let digit = if rule.has_digit { "True" } else { "False" };
        let (kind, about) = (rule.kind, rule.about);
        let scope = rule.scope.replace("-with-", " with a ");
        writeln!(
            made,
            "    ({kind:?}, {about:?}, {scope:?}, {digit}, {words},"
        )
        .unwrap();
        writeln!(made, "     r{quote}{pattern}{quote}),").unwrap();
    }
    writeln!(
        made,
        "]\nSECRET_KEYS = \"{}\".split()",
        SECRET_KEYS.join(" ")
    )
    .unwrap();
    made
}

fn failures() -> String {
    let rows = FAILURES.iter().map(|(what, example)| {
        let ending = example();
        [
            code(ending.name()),
            what.to_string(),
            ending.failure().unwrap_or_default(),
        ]
    });
    table(["failure", "what happened", "the reason reads"], rows)
}

fn result_keys() -> String {
    let rows = RESULT_KEYS
        .iter()
        .map(|(name, kind, about)| [code(name), kind.name().into(), (*about).into()]);
    table(["key", "type", "what it says"], rows)
}

fn variables() -> String {
    table(
        ["variable", "holds"],
        VARIABLES
            .iter()
            .map(|(name, about)| [code(name), (*about).to_string()]),
    )
}

fn coverage_points() -> String {
    let row = |row: &PointRow| {
        [
            code(row.name),
            row.of.into(),
            row.when.into(),
            row.why.into(),
        ]
    };
    table(
        ["point", "applies to", "covered when", "reason"],
        POINTS.iter().map(row),
    )
}

fn keys<T, R: AsRef<KeyRow<T>>>(rows: &[R]) -> String {
    let has_directives = rows.iter().any(|row| row.as_ref().in_directive);
    let rows = rows.iter().map(|row| {
        let row = row.as_ref();
        let is_value = row.default.ends_with('"') || row.default.parse::<bool>().is_ok();
        let default = if is_value {
            code(row.default)
        } else {
            row.default.to_string()
        };
        let directive = if row.in_directive { "yes" } else { "" };
        [
            code(row.name),
            row.takes.describe(),
            default,
            directive.into(),
            row.about.to_string(),
        ]
    });
    if has_directives {
        return table(
            ["key", "takes", "default", "directive", "what it does"],
            rows,
        );
    }
    let short = rows.map(|[name, takes, default, _, about]| [name, takes, default, about]);
    table(["key", "takes", "default", "what it does"], short)
}

fn git_hooks() -> String {
    let rows = GIT_HOOKS.iter().map(|hook| {
        let mut keys: Vec<String> = Vec::new();
        for argument in hook.arguments {
            match argument {
                Argument::Text(key) | Argument::Flag(key) | Argument::Rest(key) => {
                    keys.push(code(key));
                }
                Argument::MessageFile => keys.extend([code("message"), code("filePath")]),
            }
        }
        if let Some(lines) = hook.lines {
            let words: Vec<String> = lines.words.iter().map(|word| code(word)).collect();
            keys.push(format!("{}, each {}", code(lines.key), words.join(", ")));
        }
        let spec = hookrun::internals::event::catalog::find(hook.event).unwrap();
        keys.extend(spec.carries("pushOptions").then(|| code("pushOptions")));
        keys.extend((hook.changes != Changes::Unknown).then(|| code("changes")));
        if hook.has_head {
            keys.extend([code("branch"), code("state")]);
        }
        let gate = if spec.blocks { "yes" } else { "" };
        [
            code(hook.name),
            code(hook.event),
            gate.to_string(),
            keys.join("; "),
        ]
    });
    table(
        [
            "git's hook",
            "event",
            "gate",
            "keys, besides `cwd` and `raw`",
        ],
        rows,
    )
}

fn tools() -> String {
    let rows = TOOLS.iter().map(|class| {
        let names: Vec<String> = class.names.iter().map(|name| code(name)).collect();
        [code(class.word), names.join(", ")]
    });
    table(["kind", "tool names"], rows)
}

/// Every hook that `add --list` shows, with its events and the first sentence of its comment.
fn shipped_hooks() -> String {
    let rows = listed("hooks").into_iter().map(|(name, about)| {
        let files = written(&Sandbox::new(), &name);
        let mut events: Vec<String> = Vec::new();
        for file in files.iter().filter(|file| !file.starts_with("tests/")) {
            events.push(match file.split_once('/').unwrap().0 {
                "command" => code(&format!("command.{name}")),
                event => code(event),
            });
        }
        events.dedup();
        let file = format!("[`{name}`](../hooks.d/{})", files[0]);
        [file, events.join(", "), about]
    });
    table(["hook", "event", "what it does"], rows)
}

/// The example below, as it stands here.
fn library() -> String {
    let own = include_str!("generated.rs");
    let (_, after) = own.split_once("// The example begins.\n").unwrap();
    let (example, _) = after.split_once("    // The example ends.\n").unwrap();
    let mut text = "```rust\n".to_string();
    for line in example.lines() {
        let line = line.strip_prefix("    ").unwrap_or(line);
        writeln!(text, "{}", line.replace("pub(super) fn", "fn")).unwrap();
    }
    text + "```\n"
}

#[test]
fn the_example_of_the_library_decides() {
    let sandbox = Sandbox::new()
        .hook(
            "10-ask.sh",
            "case $HOOKRUN_ACTION_COMMAND in ls) echo '{\"ask\":\"list?\"}';; esac",
        )
        .hook(
            "20-no.sh",
            "[ \"$HOOKRUN_ACTION_COMMAND\" != rm ] || { echo no shell here >&2; exit 1; }",
        );
    let state_home = Some(sandbox.at("state"));
    let env = hookrun::internals::config::Environment {
        state_home,
        ..hookrun::internals::config::Environment::capture()
    };
    let runner = example::runner(sandbox.path(), env).unwrap();
    let blocked = |command: &str| example::permit(&runner, command).unwrap_err().to_string();
    assert_eq!(blocked("rm"), "no shell here");
    assert_eq!(blocked("ls"), "list? (no answer)");
    assert_eq!(blocked("deploy prod"), "production is off limits");
    assert_eq!(
        example::permit(&runner, "deploy test")
            .unwrap()
            .event
            .host(),
        "native"
    );
}

mod example {
    // The example begins.
    use std::error::Error;
    use std::path::Path;

    use hookrun::{Allowed, Environment, Event, Hook, Runner, Verdict};
    use serde_json::json;

    /// Creates a runner once, with the hooks in `folder` and one hook that is a function of this
    /// program. Without `.environment(…)`, hooks get the environment of this process.
    pub(super) fn runner(folder: &Path, env: Environment) -> Result<Runner, Box<dyn Error>> {
        let runner = Runner::builder()
            .hooks_dir(folder)
            .environment(env)
            .build()?;
        runner.register(Hook::function("no-prod", "tool.pre", |event| {
            match event.action().and_then(|action| action.command.as_deref()) {
                Some(command) if command.contains("prod") => {
                    Verdict::block("production is off limits")
                }
                _ => Verdict::allow(),
            }
        }))?;
        Ok(runner)
    }

    /// For each command, returns the command that may run, as rewritten by the hooks, or an error
    /// that says why it is blocked. A question that nobody answers blocks the command.
    pub(super) fn permit(runner: &Runner, command: &str) -> Result<Allowed, Box<dyn Error>> {
        let event = Event::tool_pre("bash", json!({ "command": command }))?;
        Ok(runner.handle(&event).permit()?)
    }
    // The example ends.
}
