//! Shared hook sets: declared, fetched, locked, and run from the store alone.

mod attacks;
mod signatures;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

const STRICTER: &str = "[[rule]]\nruns = 'git push'\ndeny = 'never'\n";

const GUARD: &str = "[[rule]]\nruns = 'git push --force'\ndeny = 'no force: {command}'\n";

/// A sandbox with a project, `hookrun.toml` in it, and repositories of sets beside it.
pub(crate) struct Sets {
    pub(crate) sandbox: Sandbox,
}

impl Sets {
    /// With a repository `r` that has a set of one rule, tagged `v1`.
    pub(crate) fn new() -> Sets {
        let sets = Sets {
            sandbox: Sandbox::new(),
        };
        let sets = sets.repository("r", &[("hookrun.toml", GUARD)]);
        sets.git("r", &["tag", "v1"]).exits(0);
        sets
    }

    /// The same, added to the project as `base`.
    pub(crate) fn added() -> Sets {
        let sets = Sets::new();
        sets.add("base", "r", "v1").exits(0);
        sets
    }

    /// Adds a repository with these files in its first commit.
    pub(crate) fn repository(self, name: &str, files: &[(&str, &str)]) -> Sets {
        fs::create_dir(self.sandbox.at(name)).unwrap();
        self.git(name, &["init", "-q", "-b", "main"]).exits(0);
        let sets = files
            .iter()
            .fold(self, |sets, (file, text)| sets.file(name, file, text));
        sets.commit(name);
        sets
    }

    pub(crate) fn file(self, folder: &str, file: &str, text: &str) -> Sets {
        Sets {
            sandbox: self.sandbox.script(&format!("{folder}/{file}"), text),
        }
    }

    pub(crate) fn commit(&self, repository: &str) {
        self.git(repository, &["add", "-A"]).exits(0);
        self.git(repository, &["commit", "-q", "-m", "x", "--allow-empty"])
            .exits(0);
    }

    /// The commit that a name means.
    pub(crate) fn commit_of(&self, repository: &str, name: &str) -> String {
        let ran = self.git(repository, &["rev-parse", &format!("{name}^{{commit}}")]);
        ran.exits(0).stdout.trim().to_string()
    }

    pub(crate) fn git(&self, repository: &str, arguments: &[&str]) -> Ran {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .env_clear()
            .current_dir(self.sandbox.at(repository));
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.sandbox.at("home"));
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "a");
            command.env(format!("GIT_{role}_EMAIL"), "a@example.com");
        }
        command.stdin(Stdio::null()).output().unwrap().into()
    }

    pub(crate) fn add(&self, name: &str, url: &str, rev: &str) -> Ran {
        self.sets(&["add", name, "--git", url, "--rev", rev])
    }

    pub(crate) fn sets(&self, arguments: &[&str]) -> Ran {
        let all: Vec<&str> = ["sets"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        self.sandbox.hookrun(&all, b"")
    }

    pub(crate) fn force_push(&self) -> Ran {
        self.sandbox.run_shell("git push --force")
    }

    /// The folders of sets in the store.
    pub(crate) fn store(&self) -> Vec<PathBuf> {
        let store = self.sandbox.at("home/.local/state/hookrun/sets");
        let entries = fs::read_dir(store).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Replaces a text in a file of the project.
    pub(crate) fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.sandbox.read(file);
        assert!(text.contains(from), "{text}");
        fs::write(self.sandbox.at(file), text.replace(from, to)).unwrap();
    }
}

#[test]
fn the_hooks_of_a_set_decide_and_are_shown_with_its_name() {
    let sets = Sets::new();
    sets.add("base", "r", "v1")
        .exits(0)
        .prints("added base v1")
        .prints("1 file,");
    assert_eq!(
        sets.sandbox.read("hookrun.toml"),
        "[sets.base]\ngit = \"r\"\nrev = \"v1\"\n"
    );
    sets.force_push().blocks("no force: git push --force");
    sets.sandbox.run_shell("git push").allows();
    sets.sandbox
        .hookrun(&["list"], b"")
        .exits(0)
        .prints("(project layer, set base)");
    sets.sandbox
        .hookrun(&["list", "hookrun.toml:1"], b"")
        .prints("set         base\n");
    sets.sandbox
        .hookrun(&["why", "--decision", "block"], b"")
        .prints("set base)");
    let list = sets.sandbox.json(&["list", "--format", "json"]);
    assert_eq!(list["hooks"][0]["set"], "base");
    sets.sandbox.hookrun(&["validate"], b"").exits(0);
}

#[test]
fn the_lock_has_the_commit_and_the_digest_and_is_written_only_when_it_changes() {
    let sets = Sets::added();
    let lock = sets.sandbox.read("hookrun.lock");
    let commit = sets.commit_of("r", "v1");
    let list = sets.sandbox.json(&["sets", "list", "--format", "json"]);
    let tree = list["sets"][0]["tree"].as_str().unwrap();
    let body = format!(
        "name = \"base\"\ngit = \"r\"\nrev = \"v1\"\ncommit = \"{commit}\"\ntree = \"{tree}\"\nfiles = 1\n"
    );
    assert!(
        lock.ends_with(&format!("version = 1\n\n[[set]]\n{body}")),
        "{lock}"
    );
    let wanted = json!({ "name": "base", "git": "r", "rev": "v1", "commit": commit,
        "tree": tree, "files": 1, "signed": false, "layer": "project", "file": "hookrun.toml", "line": 1,
        "folder": sets.store()[0] });
    assert_eq!(list["sets"][0], wanted);
    let before = fs::metadata(sets.sandbox.at("hookrun.lock"))
        .unwrap()
        .modified()
        .unwrap();
    sets.sets(&["update"]).exits(0).prints("unchanged base v1");
    let after = fs::metadata(sets.sandbox.at("hookrun.lock"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(before, after);
}

#[test]
fn a_set_that_cannot_be_used_blocks_every_gate_and_says_what_to_do() {
    let sets = Sets::new();
    let sets = Sets {
        sandbox: sets
            .sandbox
            .file("hookrun.toml", "[sets.base]\ngit = 'r'\nrev = 'v1'\n"),
    };
    let update = "run `hookrun sets update base`";
    let ran = sets.sandbox.run_shell("ls");
    ran.blocks_saying("hookrun.toml:1:7: the set `base` is not in hookrun.lock")
        .says(update);
    sets.sets(&["verify"]).exits(1).says(update);
    sets.sets(&["list"]).exits(1).prints(update);
    sets.sets(&["update", "base"])
        .exits(0)
        .prints("updated base v1");
    sets.sandbox.run_shell("ls").allows();

    // Declared otherwise than it is locked.
    sets.edit("hookrun.toml", "'v1'", "'main'");
    sets.sandbox
        .run_shell("ls")
        .blocks_saying("a different `rev`")
        .says(update);
    sets.edit("hookrun.toml", "'main'", "'v1'");
    sets.sandbox.run_shell("ls").allows();

    // A machine that has not seen it.
    fs::remove_dir_all(&sets.store()[0]).unwrap();
    let verify = "run `hookrun sets verify`";
    sets.sandbox
        .run_shell("ls")
        .blocks_saying("is not on this machine yet")
        .says(verify);
    sets.sets(&["verify"]).exits(0).prints("fetched base v1");
    sets.sets(&["verify"]).exits(0).prints("ok base v1");
    sets.sandbox.run_shell("ls").allows();

    // No home, no store.
    let without = |command: &mut Command| {
        command.env_remove("HOME");
    };
    let ran = sets
        .sandbox
        .hookrun_as(without, &["run", "tool.pre"], b"{}");
    ran.blocks_saying("the home folder is unknown");
}

#[test]
fn mistakes_in_the_declaration_have_a_line_and_a_cure() {
    for (text, wanted) in [
        (
            "[sets.a]\ngit = 'r'\n",
            "1:7: the set `a` has no `rev` [name a tag: `rev = \"v1.0\"`]",
        ),
        ("[sets.a]\nrev = 'r'\n", "1:7: the set `a` has no `git`"),
        (
            "[sets.a]\npath = 'r'\nrev = 'v'\n",
            "2:1: unknown key `path`",
        ),
        (
            "[sets.a]\ngit = 'ext::sh'\nrev = 'v'\n",
            "2:7: `ext::sh` cannot be used as a repository",
        ),
        (
            "[sets.a]\ngit = 'r'\nrev = '-v'\n",
            "3:7: `-v` cannot be the name of a tag",
        ),
        (
            "[sets.a]\ngit = 'r'\nrevv = 'v'\n",
            "3:1: unknown key `revv`",
        ),
        (
            "[sets.'../a']\ngit = 'r'\nrev = 'v'\n",
            "1:7: `../a` cannot be the name of a set",
        ),
        ("sets = 3\n", "1:8: `sets` takes a table"),
        ("[sets]\na = 3\n", "2:5: the set `a` is not a table"),
    ] {
        let sandbox = Sandbox::new().file("hookrun.toml", text);
        let problems = sandbox.problems(&[]);
        let is_found = |problem: &String| problem.contains(&format!("hookrun.toml:{wanted}"));
        assert!(problems.iter().any(is_found), "{text}: {problems:?}");
    }
}

#[test]
fn a_branch_is_followed_by_update_alone_and_a_whole_commit_never_moves() {
    let sets = Sets::new();
    sets.add("base", "r", "main").exits(0);
    let first = sets.commit_of("r", "main");
    sets.add("fixed", "r", &first).exits(0).prints("fixed");
    let sets = sets.file(
        "r",
        "hookrun.toml",
        "[[rule]]\nruns = 'git push'\ndeny = 'never'\n",
    );
    sets.commit("r");
    sets.force_push().blocks_saying("no force");
    sets.sets(&["update"])
        .exits(0)
        .prints("updated base")
        .prints("unchanged fixed");
    sets.force_push().blocks_saying("never");
}

#[test]
fn a_user_has_sets_for_all_projects() {
    let sets = Sets::new();
    let add = ["add", "own", "--git", "r", "--rev", "v1", "--user"];
    sets.sets(&add).exits(0);
    let text = sets.sandbox.read("home/.config/hookrun/hookrun.toml");
    let added = format!(
        "[sets.own]\ngit = \"{}\"\nrev = \"v1\"\n",
        sets.sandbox.at("r").display()
    );
    assert!(text.ends_with(&added), "{text}");
    sets.force_push().blocks_saying("no force");
    sets.sandbox
        .hookrun(&["list"], b"")
        .prints("(user layer, set own)");
    sets.sets(&add)
        .exits(2)
        .says("already has a set `own`")
        .says("change its `rev` there");
    let sets = sets.repository("empty", &[("README", "nothing\n")]);
    sets.add("none", "empty", "main")
        .exits(2)
        .says("has no hookrun.toml and no hooks.d");
}

#[test]
fn the_suite_of_a_set_is_played_with_that_of_the_project() {
    let case = "[[case]]\nname = 'force'\nevent = 'tool.pre'\ncontext.toolName = 'bash'\n\
                context.toolInput.command = 'git push --force'\n\
                expect.decision = 'block'\n";
    let sets = Sets::new().file("r", "tests/force.toml", case);
    sets.commit("r");
    sets.add("base", "r", "main").exits(0);
    let ran = sets.sandbox.hookrun(&["test", "--suite"], b"");
    ran.exits(0).prints("force");
    assert!(ran.stdout.contains("1 case"), "{ran:?}");
}

#[test]
fn cases_of_a_project_see_the_hooks_of_its_sets() {
    let case = "[[case]]\nname = 'force'\nevent = 'tool.pre'\ncontext.toolName = 'bash'\n\
                context.toolInput.command = 'git push --force'\nexpect.decision = 'block'\n";
    let sets = Sets::added().file("tests", "force.toml", case);
    sets.sandbox
        .hookrun(&["test", "--suite"], b"")
        .exits(0)
        .prints("1 case");
}

#[test]
fn a_set_says_nothing_that_is_the_owners_to_say() {
    let own = "[sets.more]\ngit = 'x'\nrev = 'v'\n[log]\nenabled = false\n";
    let sets = Sets::new().file("r", "hookrun.toml", &format!("{GUARD}{own}"));
    sets.commit("r");
    sets.add("base", "r", "main").exits(0);
    sets.sandbox
        .run_shell("ls")
        .blocks_saying("the set `base` contains `sets`");
    let sets = sets.file(
        "r",
        "hookrun.toml",
        &format!("{GUARD}[log]\nenabled = false\n"),
    );
    sets.commit("r");
    sets.sets(&["update"]).exits(0);
    sets.sandbox
        .run_shell("ls")
        .blocks_saying("the set `base` contains `log.enabled`");
}

/// How a program is called is written into a file by one of that name.
fn with_spy(sets: &Sets, program: &str) -> impl FnOnce(&mut Command) + use<> {
    let (bin, log) = (sets.sandbox.at("bin"), sets.sandbox.at("spy.log"));
    fs::create_dir_all(&bin).unwrap();
    let text = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexit 1\n", log.display());
    write_program(&bin.join(program), &text);
    move |command| {
        command.env(
            "PATH",
            format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()),
        );
    }
}

fn write_program(file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn deciding_starts_no_git_and_decides_the_same_without_the_repository() {
    let sets = Sets::added();
    let event = json!({ "toolName": "bash", "toolInput": { "command": "git push --force" } });
    let event = event.to_string();
    let decide = |change: Box<dyn FnOnce(&mut Command)>| -> Value {
        let all = ["run", "tool.pre", "--format", "json"];
        let ran = sets.sandbox.hookrun_as(change, &all, event.as_bytes());
        let mut report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report["tookMs"] = Value::Null;
        for hook in report["hooks"].as_array_mut().unwrap() {
            hook["afterMs"] = Value::Null;
        }
        report
    };
    let before = decide(Box::new(|_| {}));
    fs::rename(sets.sandbox.at("r"), sets.sandbox.at("gone")).unwrap();
    assert_eq!(decide(Box::new(with_spy(&sets, "git"))), before);
    assert_eq!(before["decision"], "block");
    sets.sandbox.has_no_file("spy.log");
    // The spy is one: a command that fetches starts it.
    sets.sandbox
        .hookrun_as(with_spy(&sets, "git"), &["sets", "update"], b"")
        .exits(2);
    sets.sandbox.has_file("spy.log");
}

#[test]
fn an_update_takes_what_is_new() {
    let sets = Sets::new();
    sets.add("base", "r", "main").exits(0);
    let sets = sets.file("r", "hookrun.toml", STRICTER);
    sets.commit("r");
    sets.sandbox.run_shell("git push").allows();
    sets.sets(&["update"])
        .exits(0)
        .prints("updated base main")
        .prints("changed hookrun.lock");
    sets.sets(&["update", "bse"])
        .exits(2)
        .says("no set `bse` is declared")
        .says("`base`?");
    sets.sandbox.run_shell("git push").blocks("never");
}

#[test]
fn a_lock_keeps_other_sets_and_forgets_those_that_are_gone() {
    let sets = Sets::added();
    sets.add("more", "r", "main").exits(0);
    assert_eq!(
        sets.sandbox.read("hookrun.lock").matches("[[set]]").count(),
        2
    );
    sets.sets(&["update", "more"]).exits(0);
    assert_eq!(
        sets.sandbox.read("hookrun.lock").matches("[[set]]").count(),
        2
    );
    sets.edit(
        "hookrun.toml",
        "[sets.more]\ngit = \"r\"\nrev = \"main\"\n",
        "",
    );
    sets.sets(&["update"])
        .exits(0)
        .prints("changed hookrun.lock");
    assert_eq!(
        sets.sandbox.read("hookrun.lock").matches("[[set]]").count(),
        1
    );
}

#[test]
fn outdated_compares_the_sets_of_several_projects_with_their_repositories() {
    let sets = Sets::new();
    sets.commit("r");
    sets.git("r", &["tag", "v1.9.0"]).exits(0);
    sets.git("r", &["tag", "v1.10.0"]).exits(0);
    sets.git("r", &["tag", "v1.10.0-rc1"]).exits(0);
    for (project, rev) in [("a", "v1"), ("b", "main"), ("c", "v1.10.0")] {
        let manifest = format!("[sets.base]\ngit = \"../r\"\nrev = \"{rev}\"\n");
        let folder = sets.sandbox.at(project);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("hookrun.toml"), manifest).unwrap();
        let mut update = sets.sandbox.command(&["sets", "update"]);
        let ran: Ran = update.current_dir(&folder).output().unwrap().into();
        ran.exits(0);
    }
    sets.sets(&["outdated", "a", "b", "c"])
        .exits(1)
        .prints("a: base v1: behind: v1.10.0\n")
        .prints("b: base main: current\n")
        .prints("c: base v1.10.0: current\n");
    sets.commit("r");
    sets.sets(&["outdated", "b", "c"])
        .exits(1)
        .prints("b: base main: behind: main is now another commit\n")
        .prints("c: base v1.10.0: current\n");
    // Without the repository nothing can be told.
    fs::rename(sets.sandbox.at("r"), sets.sandbox.at("gone")).unwrap();
    sets.sets(&["outdated", "c"])
        .exits(2)
        .prints("c: base v1.10.0: unknown: ");
    sets.sets(&["outdated", "nowhere"])
        .exits(2)
        .says("nowhere`");
}
