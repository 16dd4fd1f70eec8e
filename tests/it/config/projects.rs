//! Which folders are the project: the host's, never those that an agent has gone to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::sandbox::{Ran, Sandbox};

const GUARD: &str = "#!/bin/sh\necho 'the guard says no' >&2; exit 1\n";
const ALLOW: &str = "#!/bin/sh\n";

/// A project with a guard in `home/team/repo`.
fn project() -> Sandbox {
    Sandbox::new()
        .script("home/team/repo/hooks.d/tool.pre/guard.sh", GUARD)
        .file("home/team/repo/sub/file", "")
}

/// `hookrun run tool.pre` started in `folder`.
fn asked_in(sandbox: &Sandbox, folder: &str, change: impl FnOnce(&mut Command)) -> Ran {
    let there = sandbox.at(folder);
    let start = |command: &mut Command| {
        command.current_dir(there);
        change(command);
    };
    sandbox.hookrun_as(start, &["run", "tool.pre"], b"{}")
}

/// `hookrun run --host HOST` for an event.
fn asked_by(sandbox: &Sandbox, host: &str, payload: &serde_json::Value) -> Ran {
    sandbox.hookrun(&["run", "--host", host], payload.to_string().as_bytes())
}

/// Something that is done to a path, and what it is called.
type Trick = (&'static str, fn(&Path));

/// What an agent can do below the project to hide its guard.
const TRICKS: &[Trick] = &[
    ("nothing", |_| {}),
    ("an empty hooks.d", |sub| {
        fs::create_dir(sub.join("hooks.d")).unwrap()
    }),
    ("a foreign hooks.d", |sub| {
        fs::create_dir_all(sub.join("hooks.d/tool.post")).unwrap()
    }),
    ("an empty hookrun.toml", |sub| {
        fs::write(sub.join("hookrun.toml"), "").unwrap()
    }),
    ("an empty .hookrun", |sub| {
        fs::create_dir(sub.join(".hookrun")).unwrap()
    }),
    ("a hidden hooks.d", |sub| {
        fs::create_dir_all(sub.join(".hookrun/hooks.d")).unwrap()
    }),
    ("a repository", |sub| {
        fs::create_dir(sub.join(".git")).unwrap()
    }),
    ("a submodule", |sub| {
        fs::write(sub.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap()
    }),
    ("a repository with hooks", |sub| {
        fs::create_dir(sub.join(".git")).unwrap();
        fs::create_dir_all(sub.join("hooks.d/tool.pre")).unwrap();
    }),
];

#[test]
fn nothing_below_a_project_hides_its_guard() {
    for (trick, play) in TRICKS {
        let sandbox = project();
        play(&sandbox.at("home/team/repo/sub"));
        asked_in(&sandbox, "home/team/repo/sub", |_| {}).blocks("the guard says no");
        let payload = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
            "cwd": sandbox.at("home/team/repo/sub"),
        });
        let ran = asked_by(&sandbox, "codex", &payload);
        assert!(
            format!("{ran:?}").contains("the guard says no"),
            "{trick}: {ran:?}"
        );
    }
}

#[test]
fn the_hooks_of_the_hosts_project_are_asked_wherever_the_agent_is() {
    let variables = [
        ("claude", "CLAUDE_PROJECT_DIR"),
        ("gemini", "GEMINI_PROJECT_DIR"),
        ("cursor", "CURSOR_PROJECT_DIR"),
    ];
    for (host, variable) in variables {
        for (trick, play) in TRICKS {
            for folder in ["home/team/repo/sub", "elsewhere", "home", "."] {
                let sandbox = project().file("elsewhere/file", "");
                play(&sandbox.at("elsewhere"));
                let repo = sandbox.at("home/team/repo").display().to_string();
                let there = sandbox.at(folder);
                let event = if host == "gemini" {
                    "BeforeTool"
                } else {
                    "PreToolUse"
                };
                let event = if host == "cursor" {
                    "preToolUse"
                } else {
                    event
                };
                let payload = json!({
                    "hook_event_name": event, "tool_name": "Bash",
                    "tool_input": {"command": "ls"}, "cwd": there,
                });
                let ran = sandbox.hookrun_as(
                    |command| {
                        command.env(variable, repo).current_dir(there);
                    },
                    &["run", "--host", host],
                    payload.to_string().as_bytes(),
                );
                let said = format!("{ran:?}");
                assert!(
                    said.contains("the guard says no"),
                    "{host}, {trick}, {folder}: {said}"
                );
            }
        }
    }
}

#[test]
fn the_workspaces_of_cursor_are_its_project() {
    let sandbox = project().file("elsewhere/hooks.d/tool.pre/README.md", "");
    let payload = json!({
        "hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"command": "ls"},
        "workspace_roots": [sandbox.at("home"), sandbox.at("home/team/repo")],
        "cwd": sandbox.at("elsewhere"),
    });
    let ran = asked_by(&sandbox, "cursor", &payload);
    assert!(format!("{ran:?}").contains("the guard says no"), "{ran:?}");
}

#[test]
fn folders_add_up_the_outermost_first_and_may_share_names() {
    let mark = |name: &str| format!("#!/bin/sh\necho {name} >> \"$HOME/marks\"\n");
    let sandbox = Sandbox::new()
        .script("home/team/hooks.d/tool.pre/a.sh", &mark("work"))
        .script(
            "home/team/repo/.hookrun/hooks.d/tool.pre/a.sh",
            &mark("repo"),
        )
        .script("home/team/repo/sub/hooks.d/tool.pre/a.sh", &mark("sub"));

    asked_in(&sandbox, "home/team/repo/sub", |_| {}).allows();
    assert_eq!(sandbox.read("home/marks"), "work\nrepo\nsub\n");

    let there = sandbox.at("home/team/repo/sub");
    let start = |command: &mut Command| {
        command.current_dir(there);
    };
    let ran = sandbox.hookrun_as(start, &["list"], b"");
    ran.exits(0).prints("hooks.d/tool.pre/a.sh (project layer)");
    assert_eq!(
        ran.stdout.matches("a.sh (project layer)").count(),
        3,
        "{ran:?}"
    );
}

#[test]
fn a_native_event_from_another_folder_finds_the_hooks_there() {
    let sandbox = Sandbox::new()
        .script("project/hooks.d/tool.pre/guard.sh", GUARD)
        .file("project/.git/HEAD", "")
        .file("elsewhere/.git/HEAD", "");
    let event = json!({
        "event": "tool.pre", "toolName": "bash", "toolInput": {"command": "ls"},
        "cwd": sandbox.at("project"),
    });
    for arguments in [
        &["run"][..],
        &["run", "tool.pre"],
        &["run", "--host", "native"],
    ] {
        let there = sandbox.at("elsewhere");
        let start = |command: &mut Command| {
            command.current_dir(there);
        };
        let ran = sandbox.hookrun_as(start, arguments, event.to_string().as_bytes());
        assert_eq!(ran.status, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stdout.contains("the guard says no"), "{ran:?}");
    }
}

#[test]
fn a_folder_that_is_reached_in_two_ways_counts_once() {
    let sandbox = Sandbox::new().script(
        "home/repo/hooks.d/tool.pre/a.sh",
        "#!/bin/sh\necho x >> \"$HOME/marks\"\n",
    );
    symlink(sandbox.at("home/repo"), sandbox.at("link")).unwrap();
    let link = sandbox.at("link").display().to_string();
    let payload = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
        "cwd": link,
    });
    let there = sandbox.at("home/repo");
    let ran = sandbox.hookrun_as(
        |command| {
            command.env("CLAUDE_PROJECT_DIR", link).current_dir(there);
        },
        &["run", "--host", "claude"],
        payload.to_string().as_bytes(),
    );
    ran.exits(0);
    assert_eq!(sandbox.read("home/marks"), "x\n");
}

#[test]
fn hooks_of_the_home_folder_are_no_part_of_a_project_below_it() {
    let sandbox = Sandbox::new()
        .script("home/hooks.d/tool.pre/home.sh", GUARD)
        .script("home/repo/hooks.d/tool.pre/repo.sh", ALLOW)
        .file("home/bare/.git/HEAD", "")
        .file("home/plain/file", "");
    asked_in(&sandbox, "home/repo", |_| {}).allows();
    asked_in(&sandbox, "home/bare", |_| {}).allows();
    // In the home folder itself, and where there is no project at all, they are the nearest.
    asked_in(&sandbox, "home", |_| {}).blocks("the guard says no");
    asked_in(&sandbox, "home/plain", |_| {}).blocks("the guard says no");
}

/// `HOME` is often the workspace of a job, `/app`, or the working tree of somebody's dotfiles.
#[test]
fn a_project_that_is_the_home_folder_keeps_its_guard() {
    for git in [None, Some("home/.git/HEAD"), Some("home/sub/.git/HEAD")] {
        let sandbox = Sandbox::new()
            .script("home/hooks.d/tool.pre/guard.sh", GUARD)
            .file("home/sub/file", "")
            .file("elsewhere/.git/HEAD", "");
        let sandbox = git
            .into_iter()
            .fold(sandbox, |sandbox, file| sandbox.file(file, ""));
        asked_in(&sandbox, "home", |_| {}).blocks("the guard says no");
        if git != Some("home/sub/.git/HEAD") {
            asked_in(&sandbox, "home/sub", |_| {}).blocks("the guard says no");
        }
        let root = sandbox.at("home").display().to_string();
        let (named, there) = (root.clone(), sandbox.at("elsewhere"));
        let claude = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
            "cwd": sandbox.at("elsewhere"),
        });
        let start = move |command: &mut Command| {
            command.env("CLAUDE_PROJECT_DIR", named).current_dir(there);
        };
        let payload = claude.to_string();
        let ran = sandbox.hookrun_as(start, &["run", "--host", "claude"], payload.as_bytes());
        assert!(
            format!("{ran:?}").contains("the guard says no"),
            "{git:?}: {ran:?}"
        );
        let cursor = json!({
            "hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"command": "ls"},
            "workspace_roots": [root], "cwd": sandbox.at("elsewhere"),
        });
        let ran = asked_by(&sandbox, "cursor", &cursor);
        assert!(
            format!("{ran:?}").contains("the guard says no"),
            "{git:?}: {ran:?}"
        );
        let codex = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
            "cwd": sandbox.at("home"),
        });
        let ran = asked_by(&sandbox, "codex", &codex);
        assert!(
            format!("{ran:?}").contains("the guard says no"),
            "{git:?}: {ran:?}"
        );
    }
}

/// A folder in which everyone may put files, and take away their own alone.
fn shared(sandbox: &Sandbox, folder: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(sandbox.at(folder), fs::Permissions::from_mode(0o1777)).unwrap();
}

#[test]
fn hooks_in_a_folder_for_everybodys_files_are_no_part_of_a_project_in_it() {
    let sandbox = Sandbox::new()
        .script("tmp/hooks.d/tool.pre/stranger.sh", GUARD)
        .script("tmp/repo/hooks.d/tool.pre/repo.sh", ALLOW);
    shared(&sandbox, "tmp");
    let hooks = sandbox.at("tmp/hooks.d");
    // Root alone can give a file to a stranger.
    match std::os::unix::fs::lchown(&hooks, Some(65_534), None) {
        Ok(()) => {
            asked_in(&sandbox, "tmp/repo", |_| {}).allows();
        }
        Err(_) => {
            asked_in(&sandbox, "tmp/repo", |_| {}).blocks_saying("everyone may put files");
        }
    }
}

#[test]
fn a_project_that_everybody_may_put_files_into_is_an_error_below_it_and_not_silent() {
    for own in [
        "tmp/hooks.d/tool.pre/guard.sh",
        "tmp/hookrun.toml",
        "tmp/.git/HEAD",
    ] {
        let sandbox = Sandbox::new().script(own, "").file("tmp/sub/file", "");
        shared(&sandbox, "tmp");
        asked_in(&sandbox, "tmp/sub", |_| {})
            .blocks_saying("any user can create files in this folder");
    }
}

#[test]
fn relative_globs_mean_the_folder_of_the_hook_and_of_the_working_directory() {
    let wants = "#!/bin/sh\n# hookrun: path=src/**\necho 'the guard says no' >&2; exit 1\n";
    let sandbox = Sandbox::new()
        .script("home/repo/hooks.d/tool.post/other.sh", ALLOW)
        .script("home/repo/sub/hooks.d/tool.pre/guard.sh", wants)
        .file("home/repo/sub/deep/file", "");
    let there = sandbox.at("home/repo/sub/deep");
    let write = |path: &str| {
        let path = sandbox.at(path);
        json!({"toolName": "write", "toolInput": {"file_path": path}}).to_string()
    };
    let ask = |path: &str| {
        let start = |command: &mut Command| {
            command.current_dir(&there);
        };
        sandbox.hookrun_as(start, &["run", "tool.pre"], write(path).as_bytes())
    };
    ask("home/repo/sub/src/a").blocks("the guard says no");
    ask("home/repo/sub/deep/src/a").blocks("the guard says no");
    ask("home/repo/src/a").allows();
}

#[test]
fn a_hook_finds_its_project_and_its_own_folder_in_its_environment() {
    let tell = "#!/bin/sh\necho \"$HOOKRUN_PROJECT_DIR $HOOKRUN_HOOK_DIR\" >> \"$HOME/told\"\n";
    let sandbox = Sandbox::new()
        .script("home/repo/hooks.d/tool.pre/a.sh", tell)
        .file(
            "home/repo/sub/hookrun.toml",
            "[[hook]]\nname = \"b\"\nevent = \"tool.pre\"\ncommand = \"bin/b.sh\"\n",
        )
        .script("home/repo/sub/bin/b.sh", tell);
    asked_in(&sandbox, "home/repo/sub", |_| {}).allows();
    let repo = sandbox.at("home/repo").display().to_string();
    let told = format!("{repo} {repo}/hooks.d/tool.pre\n{repo}/sub {repo}/sub\n");
    assert_eq!(sandbox.read("home/told"), told);
}

#[test]
fn what_stands_in_place_of_a_folder_of_hooks_and_is_none_closes_gates() {
    let standing: [Trick; 3] = [
        ("is a dangling link", |path| {
            symlink("/no/such/folder", path).unwrap()
        }),
        ("is not a folder", |path| fs::write(path, "").unwrap()),
        ("cannot be read", |path| symlink(path, path).unwrap()),
    ];
    for (cause, put) in standing {
        for place in [
            ".hookrun",
            "home/.config/hookrun",
            "home/.config",
            "home/repo/.hookrun",
        ] {
            let sandbox = Sandbox::new()
                .without_trust()
                .file("home/repo/sub/file", "");
            let path = sandbox.at(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            put(&path);
            let folder = if place.starts_with("home/repo") {
                "home/repo/sub"
            } else {
                "."
            };
            let ran = asked_in(&sandbox, folder, |_| {});
            ran.blocks_saying(cause);
            assert!(
                ran.stderr.contains(path.to_str().unwrap()),
                "{place}: {ran:?}"
            );
        }
    }
}
