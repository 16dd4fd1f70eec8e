//! What a team commits: commands without a path of one machine. They find hookrun where each person
//! has it, never in the project, and block with the cure where there is none.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::json;

use super::plugin::drive;
use super::{HOSTS, hooks, install};
use crate::sandbox::Sandbox;

const OWN: &str = env!("CARGO_BIN_EXE_hookrun");
const MISSING: &str = "the hooks here need hookrun, which was not found in PATH, ~/.cargo/bin \
                       or ~/.local/bin: put it in one of these folders, or install it with cargo \
                       install --path . in a checkout of hookrun\n";

/// A repository of a team, with a guard and hookrun for Claude Code.
fn team() -> Sandbox {
    let body = "case $HOOKRUN_ACTION_COMMAND in *rm*) echo 'not that' >&2; exit 1;; esac";
    let sandbox = Sandbox::new().hook("guard", body).file(".git/HEAD", "");
    install(&sandbox, &HOSTS[0], "project").exits(0);
    sandbox.file("sub/x", "")
}

fn command(sandbox: &Sandbox) -> String {
    let hook = &hooks(sandbox, HOSTS[0].project, "PreToolUse")[0];
    hook["command"].as_str().unwrap().to_string()
}

/// A machine of somebody else, outside of the repository.
struct Machine {
    home: Sandbox,
    path: String,
}

impl Machine {
    fn new() -> Machine {
        Machine {
            home: Sandbox::new(),
            path: "/usr/bin:/bin".to_string(),
        }
    }

    /// With hookrun in this folder of the home.
    fn with(self, folder: &str) -> Machine {
        let folder = self.home.at(folder);
        fs::create_dir_all(&folder).unwrap();
        symlink(OWN, folder.join("hookrun")).unwrap();
        self
    }

    /// Runs the command as Claude Code does, in a folder of the repository.
    fn ask(&self, team: &Sandbox, shell: &str, folder: &str, typed: &str) -> Output {
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
            "tool_input": { "command": typed },
        });
        fs::write(self.home.at("event.json"), event.to_string()).unwrap();
        let trusted = format!("[trust]\npaths = \"{}\"\n", team.path().display());
        fs::create_dir_all(self.home.at(".config/hookrun")).unwrap();
        fs::write(self.home.at(".config/hookrun/hookrun.toml"), trusted).unwrap();
        Command::new(shell)
            .args(["-c", &command(team)])
            .current_dir(team.at(folder))
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", &self.path)
            .env("CLAUDE_PROJECT_DIR", team.path())
            .stdin(Stdio::from(
                fs::File::open(self.home.at("event.json")).unwrap(),
            ))
            .output()
            .unwrap()
    }

    #[track_caller]
    fn decides(&self, team: &Sandbox, folder: &str) {
        for shell in ["/bin/sh", "/bin/bash", "/bin/dash", "/usr/bin/zsh"] {
            if !Path::new(shell).exists() {
                continue;
            }
            let blocked = self.ask(team, shell, folder, "rm -rf /");
            assert_eq!(blocked.status.code(), Some(2), "{shell}: {blocked:?}");
            assert_eq!(blocked.stderr, b"not that\n", "{blocked:?}");
            let allowed = self.ask(team, shell, folder, "ls");
            assert_eq!(allowed.status.code(), Some(0), "{shell}: {allowed:?}");
        }
    }

    #[track_caller]
    fn finds_nothing(&self, team: &Sandbox, folder: &str) {
        let ran = self.ask(team, "/bin/sh", folder, "ls");
        let text = String::from_utf8_lossy(&ran.stderr);
        assert_eq!((ran.status.code(), &*text), (Some(2), MISSING), "{ran:?}");
        assert_eq!(ran.stdout, b"");
    }
}

/// A hookrun in the repository, which must never run.
fn evil(team: Sandbox, file: &str) -> Sandbox {
    let mark = team.at("evil").display().to_string();
    team.script(file, &format!("#!/bin/sh\ntouch {mark}\nexit 0\n"))
}

#[test]
fn hookrun_is_found_in_path_and_where_cargo_npm_and_uv_install_it() {
    let team = team();
    assert!(!command(&team).contains(OWN));
    for folder in [".cargo/bin", ".local/bin", ".npm-global/bin"] {
        Machine::new().with(folder).decides(&team, ".");
        Machine::new().with(folder).decides(&team, "sub");
    }
    let mut machine = Machine::new().with("a b/bin");
    machine.path = format!("/usr/bin:/bin:{}", machine.home.at("a b/bin").display());
    machine.decides(&team, "sub");
}

#[test]
fn without_a_hookrun_everything_is_blocked_with_the_cure() {
    let team = team();
    Machine::new().finds_nothing(&team, ".");
    Machine::new().finds_nothing(&team, "sub");
    // One that is not executable is none.
    let machine = Machine::new();
    let sandbox = machine
        .home
        .file(".local/bin/hookrun", "#!/bin/sh\nexit 0\n");
    let machine = Machine {
        home: sandbox,
        path: machine.path,
    };
    machine.finds_nothing(&team, ".");
}

#[test]
fn no_hookrun_of_the_project_is_run() {
    for (file, in_path) in [
        ("hookrun", "."),
        ("hookrun", ""),
        ("sub/hookrun", "."),
        ("bin/hookrun", "bin"),
        ("hookrun", "PROJECT"),
        ("bin/hookrun", "PROJECT/bin"),
        ("bin/hookrun", "PROJECT/sub/../bin"),
        ("node_modules/.bin/hookrun", "PROJECT/node_modules/.bin"),
        (".venv/bin/hookrun", "PROJECT/.venv/bin"),
    ] {
        let team = evil(team(), file);
        let folder = in_path.replace("PROJECT", team.path().to_str().unwrap());
        for path in [
            format!("{folder}:/usr/bin:/bin"),
            format!("/usr/bin:/bin:{folder}"),
        ] {
            let mut machine = Machine::new();
            machine.path = path.clone();
            machine.finds_nothing(&team, ".");
            machine.finds_nothing(&team, "sub");
            let mut machine = Machine::new().with(".cargo/bin");
            machine.path = path;
            machine.decides(&team, "sub");
            team.has_no_file("evil");
        }
    }
    // By a link outside of it, or in the modules of another folder.
    let team = evil(team(), "bin/hookrun");
    let mut machine = Machine::new();
    symlink(team.at("bin"), machine.home.at("link")).unwrap();
    machine.path = format!("{}:/usr/bin:/bin", machine.home.at("link").display());
    machine.finds_nothing(&team, "sub");
    let home = machine
        .home
        .script("node_modules/.bin/hookrun", "#!/bin/sh\nexit 0\n");
    let path = format!("{}:/bin", home.at("node_modules/.bin").display());
    Machine { home, path }.finds_nothing(&team, "sub");
    team.has_no_file("evil");
}

#[test]
fn a_project_that_is_the_home_folder_has_its_programs() {
    let sandbox = team();
    let folder = sandbox.at(".local/bin");
    fs::create_dir_all(&folder).unwrap();
    symlink(OWN, folder.join("hookrun")).unwrap();
    let machine = Machine::new();
    let ran = Command::new("/bin/sh")
        .args(["-c", &command(&sandbox)])
        .current_dir(sandbox.path())
        .env_clear()
        .env("HOME", sandbox.path())
        .env("PATH", &machine.path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stderr);
    assert!(!text.contains("not installed"), "{text}");
}

#[test]
fn a_hookrun_that_is_killed_or_crashes_blocks() {
    for (body, status) in [("kill -9 $$", 137), ("exit 101", 101), ("exit 1", 1)] {
        let team = team();
        let machine = Machine::new();
        let home = machine
            .home
            .script(".local/bin/hookrun", &format!("#!/bin/sh\n{body}\n"));
        let path = machine.path;
        let ran = Machine { home, path }.ask(&team, "/bin/sh", "sub", "ls");
        let text = String::from_utf8_lossy(&ran.stderr);
        let said = format!("hookrun ended with status {status} and no decision\n");
        assert_eq!(ran.status.code(), Some(2), "{ran:?}");
        assert!(text.ends_with(&said), "{text}");
    }
}

#[test]
fn what_a_team_commits_is_the_same_on_every_machine() {
    for host in HOSTS.iter().filter(|host| host.project != host.user) {
        let sandbox = Sandbox::new().hook("guard", "exit 0");
        install(&sandbox, host, "project").exits(0);
        let text = sandbox.read(host.project);
        assert!(!text.contains(OWN), "{}", host.name);
        assert!(!text.contains(sandbox.path().to_str().unwrap()));
        // It is known again as hookrun's.
        install(&sandbox, host, "project")
            .exits(0)
            .prints("nothing was changed");
    }
}

#[test]
fn settings_of_one_person_have_the_path() {
    for (host, file) in [
        ("claude", ".claude/settings.local.json"),
        ("devin", ".devin/config.local.json"),
    ] {
        let sandbox = Sandbox::new().hook("guard", "exit 0");
        let arguments = ["install", host, "--scope", "local"];
        sandbox
            .hookrun(&arguments, b"")
            .exits(0)
            .prints("local scope: ");
        assert!(sandbox.read(file).contains(OWN));
        sandbox
            .hookrun(&["uninstall", host, "--scope", "local"], b"")
            .exits(0)
            .prints("was removed");
        sandbox.has_no_file(file);
    }
    let sandbox = Sandbox::new().hook("guard", "exit 0");
    sandbox
        .hookrun(&["install", "codex", "--scope", "local"], b"")
        .exits(2)
        .says("Codex has no local settings");
}

#[test]
fn a_plugin_that_finds_no_hookrun_blocks_with_the_cure() {
    const DRIVER: &str = r#"
import { pathToFileURL } from "node:url";
const [file, path, home] = process.argv.slice(2);
process.env.PATH = path;
process.env.HOME = home;
const { Hookrun } = await import(pathToFileURL(file));
const hooks = await Hookrun({ client: {}, directory: process.cwd() });
try {
  const given = { args: { command: "ls" } };
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, given);
  console.log("allowed");
} catch (error) {
  console.log(error.message);
}
"#;
    let file = ".opencode/plugins/hookrun.js";
    let sandbox = evil(Sandbox::new().hook("guard", "exit 0"), "hookrun");
    sandbox.hookrun(&["install", "opencode"], b"").exits(0);
    let empty = Sandbox::new();
    let home = empty.path().to_str().unwrap();
    for path in ["/usr/bin:/bin", ".:/usr/bin:/bin", ":/usr/bin:/bin"] {
        let Some(said) = drive(&sandbox, DRIVER, &[file, path, home]) else {
            return;
        };
        assert_eq!(said, MISSING.trim_end());
    }
    sandbox.has_no_file("evil");
    let machine = Machine::new().with(".local/bin");
    let home = machine.home.path().to_str().unwrap();
    let said = drive(&sandbox, DRIVER, &[file, "/usr/bin:/bin", home]);
    assert!(said.is_some_and(|said| !said.contains("not installed")));
}
