//! Hooks that came with a project run only when their content is trusted.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::sandbox::{Ran, Sandbox, TOOL};

mod attacks;
mod everyday;
mod person;

/// A hook that shows that it ran.
pub(super) const GUARD: &str = "#!/bin/sh\necho ran >>\"$HOOKRUN_PROJECT_DIR/ran\"\n";

/// The end of the question.
pub(crate) const QUESTION: &str = "y, d or n: ";

/// A project with a guard, which nobody has trusted.
pub(super) fn project() -> Sandbox {
    Sandbox::new()
        .without_trust()
        .script("hooks.d/tool.pre/10-guard.sh", GUARD)
}

impl Sandbox {
    pub(super) fn gate(&self) -> Ran {
        self.hookrun(&["run", "tool.pre"], TOOL.as_bytes())
    }

    /// The gate as it is for a host that works in another folder.
    pub(super) fn gate_in(&self, folder: &Path) -> Ran {
        self.hookrun_in(folder, &["run", "tool.pre"])
    }

    pub(super) fn hookrun_in(&self, folder: &Path, arguments: &[&str]) -> Ran {
        let there = |command: &mut Command| {
            command.current_dir(folder);
        };
        self.hookrun_as(there, arguments, TOOL.as_bytes())
    }

    /// The gate is blocked because of trust, and nothing ran.
    #[track_caller]
    pub(super) fn holds(&self) -> Ran {
        let _ = fs::remove_file(self.at("ran"));
        let ran = self.gate();
        assert_eq!(ran.status, 2, "{ran:?}");
        self.has_no_file("ran");
        ran
    }

    /// The hooks run.
    #[track_caller]
    pub(super) fn runs(&self) {
        let _ = fs::remove_file(self.at("ran"));
        self.gate().allows();
        self.has_file("ran");
    }
}

pub(super) fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder)
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("GIT_DIR");
    let done = git.output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn hooks_of_a_project_block_until_they_are_trusted() {
    let sandbox = project();
    let said = sandbox.holds();
    for part in [
        "hooks not trusted: run `hookrun trust` at a terminal",
        "`10-guard.sh` did not run",
    ] {
        assert!(said.stdout.contains(part), "{part}: {said:?}");
    }
    sandbox.trusted().runs();
}

#[test]
fn hooks_of_the_user_run_and_others_of_the_project_do_not() {
    let sandbox = project().script(
        "home/.config/hookrun/hooks.d/tool.pre/10-mine",
        "#!/bin/sh\necho mine >&2\nexit 1\n",
    );
    assert!(sandbox.holds().stdout.contains("mine"));
}

#[test]
fn what_cannot_be_blocked_goes_on_and_says_so() {
    let sandbox = project().hook_for("session.start", "hello.sh", "echo hello");
    let ran = sandbox.run("session.start");
    ran.allows();
    assert!(ran.stderr.contains("`hello.sh` did not run"), "{ran:?}");
    // An agent must be able to stop.
    sandbox
        .hook_for("agent.stop", "more.sh", "exit 1")
        .run("agent.stop")
        .allows();
}

#[test]
fn an_event_that_no_hook_of_the_project_wants_goes_on() {
    let sandbox = Sandbox::new().without_trust();
    let sandbox = sandbox.hook("10-bash.sh", "# hookrun: tool=\"bash\"\nexit 1");
    sandbox.gate().allows();
    assert_eq!(sandbox.run_shell("ls").status, 2);
}

#[test]
fn a_rule_of_a_project_that_is_not_trusted_blocks_all_that_it_would_decide() {
    let rule = "[[rule]]\nruns = \"rm\"\nask = \"{command}?\"\n";
    let sandbox = Sandbox::new().without_trust().file("hookrun.toml", rule);
    let ran = sandbox.run_shell("rm x");
    assert!(
        ran.status == 2 && ran.stdout.contains("hooks not trusted"),
        "{ran:?}"
    );
    sandbox.run_shell("ls").allows();
}

#[test]
fn those_who_type_a_command_need_no_trust() {
    let sandbox = project();
    let tested = sandbox.hookrun(&["test", "tool.pre"], TOOL.as_bytes());
    assert_eq!(tested.status, 0, "{tested:?}");
    sandbox.has_file("ran");
    fs::remove_file(sandbox.at("ran")).unwrap();
    sandbox
        .hookrun(&["run", "tool.pre", "--hooks", "."], TOOL.as_bytes())
        .allows();
    sandbox.has_file("ran");
    for command in ["validate", "list", "doctor"] {
        let ran = sandbox.hookrun(&[command], b"");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            said.contains("hooks not trusted: run `hookrun trust`"),
            "{command}: {said}"
        );
    }
}

#[test]
fn a_caller_may_vouch_for_a_digest() {
    let sandbox = project();
    let digest = sandbox.digest();
    let vouching =
        |digest: &str| sandbox.hookrun(&["run", "tool.pre", "--trust", digest], TOOL.as_bytes());
    vouching(&digest).allows();
    sandbox.has_file("ran");
    sandbox.holds();
    let other = format!("sha256:{}", "0".repeat(64));
    assert_eq!(vouching(&other).status, 2);
    for part in [&digest[..20], "", "any", &digest.to_uppercase()] {
        let ran = vouching(part);
        assert!(
            ran.status == 2 && ran.stderr.contains("digits"),
            "{part}: {ran:?}"
        );
    }
}

#[test]
fn the_digest_is_the_same_wherever_the_files_are() {
    let (one, two) = (project(), project());
    fs::set_permissions(
        two.at("hooks.d/tool.pre/10-guard.sh"),
        PermissionsExt::from_mode(0o775),
    )
    .unwrap();
    assert_eq!(one.digest(), two.digest());
}

#[test]
fn content_that_was_trusted_once_asks_nobody_again() {
    let sandbox = project().trusted();
    let other = sandbox.script("hooks.d/tool.pre/10-guard.sh", &format!("{GUARD}# other\n"));
    other.holds();
    let sandbox = other.trusted();
    sandbox.runs();
    sandbox.script("hooks.d/tool.pre/10-guard.sh", GUARD).runs();
}

#[test]
fn all_work_trees_of_a_repository_share_what_is_trusted() {
    let sandbox = project();
    let project = sandbox.path().to_path_buf();
    fs::write(project.join(".gitignore"), "home\nran\nother\n").unwrap();
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "a"]);
    let sandbox = sandbox.trusted();
    git(&project, &["worktree", "add", "-q", "other"]);
    sandbox.gate_in(&project.join("other")).allows();
    sandbox.has_file("other/ran");
    // What has changed there is compared with what was trusted here.
    fs::write(
        project.join("other/hooks.d/tool.pre/10-guard.sh"),
        "#!/bin/sh\n",
    )
    .unwrap();
    let diff = || sandbox.hookrun_in(&project.join("other"), &["trust", "--show"]);
    diff().exits(1).prints("10-guard.sh: changed");
    fs::remove_dir_all(project.join("other/hooks.d")).unwrap();
    diff().exits(1).prints("10-guard.sh: removed");
    assert_eq!(sandbox.gate_in(&project.join("other")).status, 2);
}

#[test]
fn a_work_tree_without_hooks_is_told_about_those_of_its_repository() {
    let sandbox = project();
    let project = sandbox.path().to_path_buf();
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["commit", "-qm", "a", "--allow-empty"]);
    git(&project, &["worktree", "add", "-q", "../other"]);
    let sandbox = sandbox.trusted();
    let other = project.with_file_name("other");
    let ran = sandbox.gate_in(&other);
    fs::create_dir(other.join("hooks.d")).unwrap();
    let silent = sandbox.gate_in(&other);
    fs::remove_dir_all(&other).unwrap();
    ran.allows();
    ran.says(&format!(
        "has no hooks, but the main worktree of its repository has hooks in {}; if none should run here, run `mkdir ",
        project.display()
    ));
    silent.allows();
    assert_eq!(silent.stderr, "");
}

#[test]
fn a_user_may_trust_whole_folders() {
    let sandbox = project();
    let paths = format!("[trust]\npaths = [\"{}\"]\n", sandbox.path().display());
    let sandbox = sandbox.file(crate::sandbox::USER_FILE, &paths);
    sandbox.runs();
    sandbox.script("hooks.d/tool.pre/20-new.sh", GUARD).runs();
}

#[test]
fn an_agent_cannot_trust_what_is_there_in_any_spelling() {
    let guard = include_str!("../../hooks.d/tool.pre/05-guard-hookrun.toml");
    let place = "home/.config/hookrun/hooks.d/tool.pre/05-guard-hookrun.toml";
    let sandbox = project().trusted().file(place, guard);
    let certain = [
        "hookrun trust --digest \"$(hookrun trust --show | grep -o 'sha256:.*')\"",
        "d=$(hookrun trust --show | tail -c 72); hookrun trust --digest $d",
        "hookrun trust --show | xargs -I{} hookrun trust --digest {}",
        "env -i A=1 hookrun trust --digest sha256:0",
        "env -S 'hookrun trust --digest sha256:0'",
        "H=hookrun; $H trust --digest sha256:0",
        "T=trust; hookrun \"$T\" --digest sha256:0",
        "eval \"hookrun tr\"ust",
        "hookr''un 'tru'st",
        "hookrun {trust,--digest} sha256:0",
        "script -qc 'hookrun trust' /dev/null",
        "XDG_STATE_HOME=x ./hookrun trust",
        "find . -exec hookrun trust --digest {} ';'",
    ];
    // What is unknown before it runs is blocked as well, and the reason says so.
    let uncertain = [
        "echo trust --digest sha256:0 | xargs hookrun",
        "xargs -a words hookrun",
        "$(command -v hookrun) trust --digest sha256:0",
        "${H:-hookrun} trust",
        "h() { hookrun \"$@\"; }; h trust",
        "alias h=hookrun; h trust",
        "bash -c 'hookrun \"$@\"' _ trust",
        "hookrun --color never trust",
    ];
    for (line, reason) in certain
        .map(|line| (line, "which hooks run"))
        .into_iter()
        .chain(uncertain.map(|line| (line, "cannot tell")))
    {
        let ran = sandbox.run_shell(line);
        assert!(
            ran.status == 2 && ran.stdout.contains(reason),
            "{line}: {ran:?}"
        );
    }
    sandbox.run_shell("git commit -m 'hookrun trust'").allows();
}

#[test]
fn mistakes_in_what_a_user_says_about_trust_name_their_line() {
    for (text, expected) in [
        (
            "[trust]\npaths = \"work\"\n",
            "`work` is not an absolute path",
        ),
        ("[trust]\npath = \"/\"\n", "did you mean `paths`"),
        ("trust = true\n", "trust"),
    ] {
        let sandbox = project().file(crate::sandbox::USER_FILE, text);
        let found = sandbox.problems(&[]);
        assert!(
            found.iter().any(|one| one.contains(expected)),
            "{text}: {found:?}"
        );
        sandbox.holds();
    }
}

#[test]
fn trust_wants_a_person() {
    let sandbox = project();
    let arguments = &["trust"][..];
    let ran = sandbox.hookrun(arguments, b"y\ny\n");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(
        ran.stderr.contains("needs an interactive terminal"),
        "{ran:?}"
    );
    // No terminal at all, and closed streams.
    for line in ["setsid -w \"$0\" trust", "\"$0\" trust <&- >&- 2>&-"] {
        sandbox.hookrun_by_shell(line, b"").exits(2);
    }
    sandbox.holds();
    let wrong = format!("sha256:{}", "0".repeat(64));
    let ran = sandbox.hookrun(&["trust", "--digest", &wrong], b"");
    assert!(
        ran.status == 2 && ran.stderr.contains("do not have this digest, but sha256:"),
        "{ran:?}"
    );
    sandbox.holds();
}

#[test]
fn what_is_trusted_is_compared_and_forgotten() {
    let sandbox = project().trusted();
    let shown = sandbox.hookrun(&["trust", "--show"], b"");
    assert!(
        shown.status == 0 && shown.stdout.contains("are trusted"),
        "{shown:?}"
    );
    let sandbox = sandbox.script("hooks.d/tool.pre/10-guard.sh", "#!/bin/sh\nexit 0\n");
    let diff = sandbox.hookrun(&["trust", "--show"], b"");
    assert_eq!(diff.status, 1);
    assert!(
        diff.stdout.contains("-echo ran") && diff.stdout.contains("+exit 0"),
        "{diff:?}"
    );
    let sandbox = sandbox.script("hooks.d/tool.pre/10-guard.sh", GUARD);
    sandbox.runs();
    assert_eq!(sandbox.hookrun(&["trust", "--revoke"], b"").status, 0);
    sandbox.holds();
}

#[test]
fn what_is_blocked_after_a_change_names_the_files() {
    let sandbox = project()
        .trusted()
        .file("hooks.d/tool.pre/10-guard.sh", "")
        .file("hooks.d/lib/x", "");
    let reason = "hooks changed: run `hookrun trust` at a terminal (changed in ";
    let files = ": hooks.d/lib/x, hooks.d/tool.pre/10-guard.sh)";
    let said = sandbox.holds().stdout;
    assert!(
        said.contains(&format!("\"reason\":\"{reason}")) && said.contains(files),
        "{said}"
    );
    let validate = sandbox.hookrun(&["validate"], b"").stdout;
    assert!(
        validate.contains(reason) && validate.contains(files),
        "{validate}"
    );
    // It is a block, not a failure.
    let report = sandbox.report("tool.pre", r#"{"toolName":"note"}"#);
    assert_eq!(report["cause"], "policy", "{report}");
}

/// What `test`, `new` and `add` say where the hooks do not run.
const UNTRUSTED: &str =
    "agents and git do not run this project's hooks until you run `hookrun trust`\n";

#[test]
fn who_tries_or_writes_hooks_that_do_not_run_is_told_so() {
    let event = ["test", "tool.pre"];
    let commands: [&[&str]; 4] = [
        &event,
        &["test"],
        &["new", "x", "--event", "tool.pre"],
        &["add", "no-force-push"],
    ];
    let case = "[[case]]\nname = 'c'\nevent = 'tool.pre'\nexpect = { decision = 'allow' }\n";
    let with_case = || project().file("hooks.d/tests/c.toml", case);
    for command in commands {
        for sandbox in [
            with_case(),
            with_case().trusted().file("hooks.d/lib/evil.sh", ""),
        ] {
            let ran = sandbox.hookrun(command, b"");
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(
                ran.status == 0 && said.ends_with(UNTRUSTED),
                "{command:?}: {ran:?}"
            );
        }
        let ran = with_case().trusted().hookrun(command, b"");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.status == 0 && !said.contains(UNTRUSTED),
            "{command:?}: {ran:?}"
        );
    }
    // Programs read the others, and hooks that are named need no trust.
    for more in [&["--format", "json"][..], &["--hooks", "hooks.d"]] {
        let ran = with_case().hookrun(&[&event, more].concat(), b"");
        assert!(
            ran.status == 0 && !ran.stderr.contains("until you run `hookrun trust`"),
            "{ran:?}"
        );
    }
}

#[test]
fn what_new_writes_into_trusted_hooks_stays_trusted_and_nothing_else() {
    let new = ["new", "more", "--event", "tool.pre"];
    let fresh = Sandbox::new().without_trust();
    assert_eq!(fresh.hookrun(&new, b"").status, 0);
    fresh.gate().allows();
    let trusted = project().trusted();
    assert_eq!(trusted.hookrun(&new, b"").status, 0);
    trusted.runs();
    let untrusted = project();
    assert_eq!(untrusted.hookrun(&new, b"").status, 0);
    untrusted.holds();
    // What somebody else has changed meanwhile is not trusted with it.
    let changed = project().trusted().script("hooks.d/lib/evil.sh", "");
    assert_eq!(changed.hookrun(&new, b"").status, 0);
    changed.holds();
}

#[test]
fn without_a_home_nothing_is_trusted_but_what_the_caller_vouches_for() {
    let sandbox = project();
    let digest = sandbox.digest();
    let homeless = |arguments: &[&str]| {
        let change = |command: &mut Command| {
            command.env_remove("HOME");
        };
        sandbox.hookrun_as(change, arguments, TOOL.as_bytes())
    };
    assert_eq!(homeless(&["run", "tool.pre"]).status, 2);
    homeless(&["run", "tool.pre", "--trust", &digest]).allows();
    let ran = homeless(&["trust", "--digest", &digest]);
    assert!(
        ran.status == 2 && ran.stderr.contains("home folder is unknown"),
        "{ran:?}"
    );
}

#[test]
fn git_says_which_hooks_did_not_run() {
    let sandbox = Sandbox::new()
        .without_trust()
        .hook_for("commit.post", "tell.sh", "");
    git(sandbox.path(), &["init", "-q"]);
    let ran = sandbox.hookrun(&["run", "--host", "git", "post-commit"], b"");
    assert!(
        ran.status == 0 && ran.stderr.contains("`tell.sh` did not run"),
        "{ran:?}"
    );
}

#[test]
fn the_users_own_folder_is_no_project() {
    let folder = "home/.config/hookrun";
    let sandbox = Sandbox::new().script(&format!("{folder}/hooks.d/tool.pre/10-mine.sh"), GUARD);
    sandbox.gate_in(&sandbox.at(folder)).allows();
}

#[test]
fn records_that_cannot_be_read_are_forgotten_too() {
    let sandbox = project().trusted();
    let trust = sandbox.at("home/.local/state/hookrun/trust");
    for folder in fs::read_dir(trust).unwrap().flatten() {
        for file in fs::read_dir(folder.path()).unwrap().flatten() {
            if file.path().extension().is_some_and(|end| end == "json") {
                fs::write(file.path(), "").unwrap();
            }
        }
    }
    assert_eq!(sandbox.hookrun(&["trust", "--revoke"], b"").status, 0);
    sandbox.holds();
}

#[test]
fn a_link_to_the_project_is_the_project() {
    let sandbox = project().trusted();
    symlink(sandbox.path(), sandbox.at("home/link")).unwrap();
    let link = sandbox.at("home/link");
    sandbox.gate_in(&link).allows();
    sandbox.has_file("ran");
}

#[test]
fn a_change_is_compared_with_the_last_approval_of_the_same_second() {
    let mut sandbox = project().trusted();
    for name in ["a", "b", "c", "d", "e", "f"] {
        sandbox = sandbox.file(&format!("hooks.d/lib/{name}"), "").trusted();
    }
    sandbox
        .file("hooks.d/lib/last", "")
        .holds()
        .prints(": hooks.d/lib/last)");
}
