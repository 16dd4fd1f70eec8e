//! `hookrun add NAMES` and `--list`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::sandbox::{Ran, Sandbox};

fn add(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut all = vec!["add"];
    all.extend(arguments);
    sandbox.hookrun(&all, b"")
}

/// The names below a title of `--list`, each with the sentence beside it.
pub(crate) fn listed(title: &str) -> Vec<(String, String)> {
    let list = add(&Sandbox::new(), &["--list"]).stdout;
    let below = list.lines().skip_while(|line| *line != title).skip(1);
    below
        .map_while(|line| line.strip_prefix("  ")?.split_once("  "))
        .map(|(name, about)| (name.to_string(), about.trim_start().to_string()))
        .collect()
}

fn names(title: &str) -> Vec<String> {
    listed(title).into_iter().map(|(name, _)| name).collect()
}

/// The files that `add` writes into hooks.d.
pub(crate) fn written(sandbox: &Sandbox, name: &str) -> Vec<String> {
    let ran = add(sandbox, &[name]);
    ran.exits(0)
        .prints("`hookrun test --suite` runs the test cases");
    ran.stdout
        .lines()
        .filter_map(|line| line.strip_prefix("wrote hooks.d/"))
        .map(str::to_string)
        .collect()
}

/// The files below a folder of the repository, by their paths in it.
fn below(folder: &Path, found: &mut BTreeSet<PathBuf>, root: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            below(&path, found, root);
        } else {
            found.insert(path.strip_prefix(root).unwrap().to_path_buf());
        }
    }
}

#[test]
fn every_hook_and_gate_of_the_repository_can_be_added_as_it_is_there() {
    for (sort, folder) in [("hooks", "hooks.d"), ("gates for CI", "gates/hooks.d")] {
        let sandbox = Sandbox::new();
        let all = names(sort);
        add(
            &sandbox,
            &all.iter().map(String::as_str).collect::<Vec<_>>(),
        )
        .exits(0);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let (mut there, mut here) = (BTreeSet::new(), BTreeSet::new());
        below(&folder, &mut there, &folder);
        below(&sandbox.at("hooks.d"), &mut here, &sandbox.at("hooks.d"));
        // The cases of hooks that are together can only be played with all of them.
        there.remove(Path::new("tests/together.toml"));
        assert_eq!(here, there, "{sort}: a row in HOOKS");
        for file in &here {
            let (shipped, written) = (folder.join(file), sandbox.at("hooks.d").join(file));
            let text = |path: &Path| fs::read_to_string(path).unwrap();
            assert!(text(&shipped) == text(&written), "{}", file.display());
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o100;
            assert_eq!(mode(&shipped), mode(&written), "{}", file.display());
            assert_eq!(
                shipped.is_symlink(),
                written.is_symlink(),
                "{}",
                file.display()
            );
        }
        assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
        for (name, about) in listed(sort) {
            assert!(about.ends_with('.'), "{name}: {about}");
        }
    }
}

#[test]
fn what_was_added_alone_plays_its_cases() {
    for name in names("hooks").iter().chain(&names("gates for CI")) {
        let sandbox = Sandbox::new();
        let mut suites = written(&sandbox, name);
        suites.retain(|file| file.starts_with("tests/") && file.ends_with(".toml"));
        assert!(!suites.is_empty(), "{name}");
        for suite in suites {
            // All cases of a file are read; that all pass is shown where they are shipped.
            let suite = format!("hooks.d/{suite}");
            let text = sandbox.read(&suite);
            let (_, first) = text.split_once("[[case]]\nname = ").unwrap();
            let first = first.lines().next().unwrap().trim_matches(['"', '\'']);
            let filter = format!("^{}", regex::escape(first));
            let arguments = ["test", "--suite", &suite, "--filter", &filter];
            sandbox.hookrun(&arguments, b"").exits(0);
        }
    }
}

#[test]
fn every_rule_on_the_page_blocks_and_lets_pass_what_its_table_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
    let page = fs::read_to_string(page).unwrap();
    let cells = 2 * page.lines().filter(|line| line.starts_with("| `")).count();
    let rules = names("rules");
    assert_eq!(rules.len(), page.matches("\n### ").count());
    assert!(
        rules.len() >= 20 && cells >= 4 * rules.len(),
        "two cases of each sort"
    );
    let sandbox = Sandbox::new();
    add(
        &sandbox,
        &rules.iter().map(String::as_str).collect::<Vec<_>>(),
    )
    .exits(0);
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    sandbox
        .hookrun(&["test"], b"")
        .exits(0)
        .prints(&format!("{cells} cases"));
}

#[test]
fn what_is_there_is_never_written_over() {
    let sandbox = Sandbox::new();
    add(&sandbox, &["no-sudo"])
        .exits(0)
        .prints("wrote hooks.d/tool.pre/50-no-sudo.toml");
    sandbox
        .run_shell("sudo ls")
        .blocks_saying("do it without sudo");
    add(&sandbox, &["no-sudo"])
        .exits(0)
        .prints("no-sudo` already exists, and was not changed");
    let mine = "[[rule]]\nname = 'no-sudo'\nruns = 'sudo|doas'\ndeny = 'never'\n";
    let sandbox = sandbox.file("hooks.d/tool.pre/50-no-sudo.toml", mine);
    let ran = add(&sandbox, &["no-reboot", "no-sudo"]);
    ran.exits(2)
        .says("no built-in hook, gate or rule is named `no-reboot`");
    let ran = add(&sandbox, &["no-publishing", "no-sudo"]);
    ran.exits(2)
        .says("50-no-sudo.toml` already exists")
        .says("move it away");
    sandbox.has_no_file("hooks.d/tool.pre/50-no-publishing.toml");
    assert_eq!(sandbox.read("hooks.d/tool.pre/50-no-sudo.toml"), mine);
    add(&sandbox, &[]).exits(2).says("hookrun add --list");
    add(&sandbox, &["no-sudos"])
        .exits(2)
        .says("did you mean `no-sudo`?");
    add(&sandbox, &["--list"]).prints("no-sudo                   (added) Root privileges");
}

#[test]
fn a_gate_brings_its_event_and_leaves_the_rest_of_the_file() {
    let own = "# ours\n[event.\"plan.pre\"] # mine\nsummary = \"a plan\"\ncontext = { path = \"string\", sources = \"string\", cwd = \"string\" }";
    let sandbox = Sandbox::new().file("hookrun.toml", own);
    let ran = add(
        &sandbox,
        &["freeze", "terraform-plan", "package-lock", "--dry-run"],
    );
    ran.exits(0)
        .prints("+[event.\"deploy.pre\"]")
        .prints("# hooks.d/tests/freeze.toml\n");
    assert_eq!(sandbox.read("hookrun.toml"), own);
    sandbox.has_no_file("hooks.d");
    let ran = add(&sandbox, &["freeze", "terraform-plan", "package-lock"]);
    ran.exits(0).prints("changed hookrun.toml");
    let text = sandbox.read("hookrun.toml");
    let rest = text.strip_prefix(own).unwrap();
    assert!(rest.starts_with("\n\n[event.\"deploy.pre\"]\n"), "{text}");
    assert!(
        !rest.contains("plan.pre") && rest.contains("dependencies.pre"),
        "{text}"
    );
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    let ran = add(&Sandbox::new(), &["freeze", "--hooks", "gates/hooks.d"]);
    ran.exits(0).prints("wrote gates/hookrun.toml");
}
