//! What relative paths in the commands of a `hookrun.toml` mean.

use hookrun::internals::config::{Choice, Config, ConfigScope, Environment};
use hookrun::internals::hook::Handler;

use crate::sandbox::Sandbox;

/// How many lines a table has.
const LINES: usize = 5;

/// A `hookrun.toml` with a hook for each of these commands, and files next to it.
fn tables(commands: &[&str], shell: bool) -> Sandbox {
    let tables = commands.iter().enumerate().map(|(place, command)| {
        let hook = format!("[[hook]]\nname = \"{place}\"\nevent = \"tool.pre\"\n");
        format!("{hook}shell = {shell}\ncommand = {command:?}\n")
    });
    let sandbox = Sandbox::new().file("hookrun.toml", &tables.collect::<String>());
    let files = ["guard.sh", "guard", "bin/x.py", "rules.json"];
    files
        .iter()
        .fold(sandbox, |sandbox, file| sandbox.script(file, "#!/bin/sh\n"))
}

#[test]
fn words_that_name_something_beside_the_file_become_absolute() {
    let rows = [
        ("sh guard.sh", "sh ROOT/guard.sh"),
        ("sh guard", "sh ROOT/guard"),
        (
            "bash -o pipefail guard.sh a",
            "bash -o pipefail ROOT/guard.sh a",
        ),
        ("python3.12 -B bin/x.py", "python3.12 -B ROOT/bin/x.py"),
        (
            "/usr/bin/env FOO=1 sh guard.sh",
            "/usr/bin/env FOO=1 sh ROOT/guard.sh",
        ),
        (
            "timeout 5 python3 ./bin/x.py",
            "timeout 5 python3 ROOT/bin/x.py",
        ),
        ("uv run bin/x.py", "uv run ROOT/bin/x.py"),
        (
            "./guard --rules rules.json",
            "./guard --rules ROOT/rules.json",
        ),
        ("opa --data=./rules.json", "opa --data=ROOT/rules.json"),
        // Words that only look like names of files.
        ("just guard", "just guard"),
        ("make bin", "make bin"),
        ("echo none.txt a/b", "echo none.txt a/b"),
        ("sh -c ./guard", "sh -c ROOT/guard"),
        ("sh -c guard.sh", "sh -c ROOT/guard.sh"),
        ("sh /etc/profile", "sh /etc/profile"),
    ];
    let sandbox = tables(&rows.map(|(command, _)| command), false);
    let choice = Choice {
        explicit: vec![sandbox.path().to_path_buf()],
        ..Choice::default()
    };
    let config = Config::load(&choice, &Environment::capture(), ConfigScope::All);
    for (hook, (command, wanted)) in config.hooks.iter().zip(rows) {
        let Handler::Words { words, .. } = &hook.handler else {
            panic!("{hook:?}")
        };
        let root = sandbox.path().display().to_string();
        assert_eq!(words.join(" "), wanted.replace("ROOT", &root), "{command}");
    }
    assert_eq!(config.hooks.len(), rows.len(), "{:?}", config.problems);
    for (command, name, why) in [
        ("sh -c 'tools/x --y'", "tools/x", "in the event"),
        ("bash -ec 'exec tools/x'", "tools/x", "in the event"),
        ("bash -c -e 'tools/x --y'", "tools/x", "in the event"),
        (
            "bash -c -o pipefail -- 'tools/x --y'",
            "tools/x",
            "in the event",
        ),
        ("env -S 'bash tools/x'", "tools/x", "in the event"),
        ("timeout 5 sh -c tools/none", "tools/none", "in the event"),
        ("timeout 5 tools/none", "tools/none", "in the event"),
        ("nice env A=1 tools/none", "tools/none", "in the event"),
        ("bash -c 'sh -e guard'", "guard", "in the event"),
        ("env -S'bin/x.py a'", "bin/x.py", "in the event"),
        ("flock /tmp/l -c 'bin/x.py a'", "bin/x.py", "in the event"),
        (
            "env BASH_ENV=bin/x.py bash -c true",
            "bin/x.py",
            "in the event",
        ),
        ("sh none.sh", "none", "does not exist in"),
        ("bash none", "none", "does not exist in"),
        ("env sh ./none.sh", "none", "does not exist in"),
        ("python3 bin/none.py x", "none", "does not exist in"),
    ] {
        let found = tables(&[command], false).problems(&[]);
        let is_meant = |one: &String| one.contains(name) && one.contains(why);
        assert!(found.first().is_some_and(is_meant), "{command}: {found:?}");
    }
    // What a script is given is data.
    for command in [
        "sh guard.sh 'a/b c'",
        "sh -c true 'a/b c'",
        "perl -pe s/a/b/",
    ] {
        let found = tables(&[command], false).problems(&[]);
        assert!(found.is_empty(), "{command}: {found:?}");
    }
}

#[test]
fn a_command_line_that_looks_into_the_working_directory_is_found() {
    let rows = [
        ("./guard.sh | tee log", Some("./guard.sh")),
        ("true && ../x", Some("../x")),
        ("if ! ./a; then exit 1; fi", Some("./a")),
        ("X=1 sh guard.sh", Some("guard.sh")),
        ("cat | python3 check.py", Some("check.py")),
        ("timeout 5 bash -o pipefail guard.sh", Some("guard.sh")),
        (". ./lib.sh; check", Some("./lib.sh")),
        ("source lib.sh", Some("lib.sh")),
        ("echo \"$(./x)\"", Some("./x")),
        ("echo \"$(sh guard.sh) ./y\"", Some("guard.sh")),
        ("echo \"$(true)./y\" $(true; (true))", None),
        ("\"$HOOKRUN_HOOK_DIR\"/guard.sh | tee log", None),
        ("sh \"$HOOKRUN_HOOK_DIR/guard.sh\"", None),
        ("sh -c 'echo no; exit 1'", None),
        ("grep -q x ./README.md || exit 1", None),
        ("cd ..; ls ./a", None),
        ("jq -e .ok >/dev/null", None),
        ("echo './x' '; ./y'", None),
        ("python3 -m json.tool", None),
        ("node", None),
        // As the shell reads it.
        ("sudo -u me ./x", Some("./x")),
        ("sh -c './x; ls'", Some("./x")),
        ("case a in a) ./x ;; esac", Some("./x")),
        ("cat <<E\n./x\nE", None),
        ("ls # ./x; sh guard.sh", None),
        ("f() { ./\"$1\"; }; f a", Some("./\"$1\"")),
        // A program in a folder, however it is started.
        ("tools/guard.sh || exit 2", Some("tools/guard.sh")),
        ("A=b timeout 5 tools/x --all", Some("tools/x")),
        ("exec tools/x", Some("tools/x")),
        ("if true; then ( tools/x ); fi", Some("tools/x")),
        ("echo a | tools/x", Some("tools/x")),
        // Whoever writes this means the working directory.
        ("\"$PWD\"/tools/x", None),
        ("bash < tools/x", Some("tools/x")),
        ("env -S 'bash tools/x'", Some("tools/x")),
        ("grep -r x src/a < src/b", None),
        ("/opt/tools/x a/b", None),
        ("git commit -m '(./x)'", None),
        // Options of an interpreter that are not code, and its start-up file.
        ("sh -e guard", Some("guard")),
        ("exec bash -p bin/none", Some("bin/none")),
        ("timeout 5 sh -e guard", Some("guard")),
        ("eval \"sh -e guard\"", Some("guard")),
        ("bash -eo pipefail /abs/x", None),
        // Whatever runs or reads a program that is next to the file.
        ("$SHELL bin/x.py", Some("bin/x.py")),
        ("${SHELL:-sh} guard.sh", Some("guard.sh")),
        ("ionice -c 3 bin/x.py", Some("bin/x.py")),
        ("cat bin/x.py | sh", Some("bin/x.py")),
        ("exec < guard.sh; sh", Some("guard.sh")),
        (
            "for g in bin/*.py; do sh \"$g\" || exit 1; done",
            Some("bin/*.py"),
        ),
        (
            "ls *.sh | while read -r g; do sh \"$g\"; done",
            Some("*.sh"),
        ),
        ("BASH_ENV=bin/x.py bash -c true", Some("bin/x.py")),
        ("PATH=bin:$PATH x.py", Some("bin")),
        ("PATH=.:$PATH; x.py", Some(".")),
        ("PATH=$PWD/node_modules/.bin:$PATH eslint", None),
        ("echo $x/bin/x.py \"${y}bin/x.py\" host:bin/x.py", None),
        ("cat bin/none.py rules/*.json | wc -l", None),
        ("find bin -name '*.py' -exec python3 {} +", Some("bin")),
        ("find . -name '*.sh' -exec {} \\;", Some(".")),
        ("find . -name '*.sh' -exec bash -n {} +", None),
        ("git ls-files '*.sh' | xargs -n1 bash -n", None),
        ("git ls-files '*.sh' | xargs sh", None),
        ("find -name x.py -exec python3 {} +", Some(".")),
        ("find -L bin -name x.py -exec sh {} +", Some("bin")),
        ("find /dev/null bin -name x.py -exec sh {} +", Some("bin")),
        ("python3 -E bin/x.py", Some("bin/x.py")),
        ("python3 -Wignore bin/x.py", Some("bin/x.py")),
        ("perl -MData::Dumper bin/x.py", Some("bin/x.py")),
        ("node -r fs bin/x.py", Some("bin/x.py")),
        ("bash -norc guard", Some("guard")),
        ("bash - guard", Some("guard")),
        ("docker exec c true; cat bin/x.py | sh", Some("bin/x.py")),
        ("grep -q ' #' f; cat bin/x.py | sh", Some("bin/x.py")),
        ("PATH=$PATH:; x.py", Some(".")),
        // What names a program and runs nothing.
        (
            "case \"$HOOKRUN_ACTION_PATH\" in bin/*|*.sh) exit 1;; esac",
            None,
        ),
        ("[ \"$HOOKRUN_ACTION_PATH\" = bin/x.py ] && exit 1", None),
        ("jq -e '.toolInput.command | test(\"guard.sh\")'", None),
        ("echo \"see bin/x.py\" >&2; exit 1", None),
        ("git diff --quiet -- bin/x.py || grep -q foo guard.sh", None),
        (
            "shellcheck *.sh && bash -n bin/*.py && shfmt -d guard.sh",
            None,
        ),
        ("# bin/x.py is the real one\ntrue", None),
        ("node --check bin/x.py; php -l bin/x.py", None),
        ("docker run -e PATH=bin img cmd; make PATH=bin check", None),
        (
            "echo \"PATH=foo\"; grep -q 'PATH=bin' /etc/environment",
            None,
        ),
        // Code, commands and modules are no scripts.
        ("perl -ne 'exit 1 if /x/'", None),
        ("perl -lane 'print'", None),
        ("python3 -Im json.tool", None),
        ("bun run lint && deno task check", None),
        ("pwsh -Command Get-Item", None),
        // Their files are elsewhere.
        ("docker run --rm x python bin/x.py", None),
        ("ssh host python3 bin/x.py", None),
        ("cd \"$HOOKRUN_HOOK_DIR\" && ./guard.sh", Some("./guard.sh")),
        (
            "cd \"${HOOKRUN_PROJECT_DIR}\" || exit 2; sh bin/x.py",
            Some("bin/x.py"),
        ),
    ];
    let found = tables(&rows.map(|(line, _)| line), true).problems(&[]);
    for (place, (line, wanted)) in rows.into_iter().enumerate() {
        let at = format!("hookrun.toml:{}:1: `", LINES * place + 1);
        let told = found.iter().find_map(|one| {
            one.split_once(&at)?
                .1
                .split_once("` would be looked up in the event")
        });
        assert_eq!(told.map(|(word, _)| word), wanted, "{line}: {found:#?}");
    }
}
