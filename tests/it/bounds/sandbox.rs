//! What hooks may touch: files, the network, and hookrun itself.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{asked, gate, notes, output, said, skip, works};
use crate::nasty::running::Running;
use crate::sandbox::{Ran, Sandbox};

/// Tries each line in a shell of its own and says which went well.
const TRY: &str =
    "try() { for line; do if sh -c \"$line\" >/dev/null 2>&1; then echo \"$line\"; fi; done; }\n";

/// A project with files to touch, and a hook in a sandbox that tries these lines.
fn trying(settings: &str, lines: &[&str]) -> Sandbox {
    let quoted: Vec<String> = lines.iter().map(|line| format!("\"{line}\"")).collect();
    gate(settings, &format!("{TRY}try {}", quoted.join(" ")))
        .file("src/a", "a")
        .file("src/deep/b", "b")
        .file("other/c", "c")
        .file("home/d", "d")
        .file("alone", "e")
}

/// The lines that went well.
#[track_caller]
fn allowed(sandbox: &Sandbox) -> Vec<String> {
    said(sandbox).lines().map(str::to_string).collect()
}

/// What a file's neighbours and links must not change: all that writing can be.
const CHANGES: &[&str] = &[
    "echo x > other/new",
    "echo x >> other/c",
    ": > other/c",
    "truncate -s 0 other/c",
    "rm other/c",
    "mv other/c other/z",
    "mv other/c src/c",
    "mv src/a other/a",
    "ln src/a other/a",
    "ln other/c src/c",
    "ln -s c other/link",
    "mkdir other/folder",
    "mkfifo other/pipe",
    "rmdir other/empty",
    "cp src/a alone",
];

#[test]
fn a_sandbox_alone_lets_read_everything_and_write_nothing() {
    let sandbox = trying(
        "sandbox",
        &[
            "cat src/a other/c ~/d /etc/passwd",
            "ls /",
            "cat src/deep/b",
        ],
    );
    assert_eq!(allowed(&sandbox).len(), 3);
    let sandbox = trying("sandbox", CHANGES);
    fs::create_dir(sandbox.at("other/empty")).unwrap();
    assert_eq!(allowed(&sandbox), Vec::<String>::new());
    assert_eq!(
        (sandbox.read("other/c"), sandbox.read("alone")),
        ("c".into(), "e".into())
    );
    let manifest = "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\nshell = true\nsandbox = true\n\
                    command = \"touch x || echo denied\"\n";
    assert_eq!(
        said(&Sandbox::new().file("hookrun.toml", manifest)),
        "denied"
    );
}

#[test]
fn what_may_be_written_may_be_changed_in_every_way() {
    for line in CHANGES {
        let sandbox = trying(
            "sandbox.write=other sandbox.write=src sandbox.write=alone",
            &[line],
        );
        fs::create_dir(sandbox.at("other/empty")).unwrap();
        assert_eq!(allowed(&sandbox), [*line]);
    }
}

#[test]
fn what_may_be_written_is_the_folder_and_all_below_it_and_nothing_else() {
    let lines = [
        "echo x > src/new",
        "echo x > src/deep/new",
        "mkdir -p src/deep/er/est",
        "echo x > src/../other/new",
        "echo x > new",
        "echo x > ~/new",
        "echo x > alone",
        "echo x > /tmp/hookrun-it-escaped",
    ];
    assert_eq!(allowed(&trying("sandbox.write=src", &lines)), &lines[..3]);
    assert_eq!(
        allowed(&trying("sandbox.write=src/deep", &lines)),
        &lines[1..3]
    );
    assert_eq!(allowed(&trying("sandbox.write=~/", &lines)), &lines[5..6]);
    assert_eq!(allowed(&trying("sandbox.write=~", &lines)), &lines[5..6]);
    assert_eq!(
        allowed(&trying("sandbox.write=alone", &lines)),
        &lines[6..7]
    );
    // A file may be changed, and what it lies in may not.
    assert!(allowed(&trying("sandbox.write=alone", &["rm alone", "mv alone b"])).is_empty());
}

#[test]
fn what_may_be_read_is_what_is_named_and_the_system() {
    let lines = [
        "cat src/a",
        "cat src/deep/b",
        "cat /etc/passwd",
        "cat other/c",
        "cat ~/d",
        "ls .",
    ];
    assert_eq!(allowed(&trying("sandbox.read=src", &lines)), &lines[..3]);
    assert_eq!(
        allowed(&trying("sandbox.read=src/a", &lines)),
        [lines[0], lines[2]]
    );
    assert_eq!(
        allowed(&trying("sandbox.read=~/d", &lines)),
        [lines[2], lines[4]]
    );
    assert_eq!(
        allowed(&trying("sandbox.read=other sandbox.write=src", &lines)),
        &lines[..4]
    );
    assert_eq!(allowed(&trying("sandbox.read=.", &lines)), lines);
    let ran = ["cp /bin/true src/true; src/true", "other/run"];
    let sandbox = trying("sandbox.read=src sandbox.write=src", &ran);
    assert_eq!(
        allowed(&sandbox.script("other/run", "#!/bin/sh\n")),
        &ran[..1]
    );
}

#[test]
fn links_are_followed_when_the_hook_starts() {
    let lines = ["cat way/a", "cat src/a", "cat src/out", "cat other/c"];
    let sandbox = trying("sandbox.read=way", &lines);
    symlink("src", sandbox.at("way")).unwrap();
    symlink("../other/c", sandbox.at("src/out")).unwrap();
    assert_eq!(allowed(&sandbox), &lines[..2]);
    let lines = [
        "echo x > src/out",
        "ln -sf ../other/c src/l; echo x > src/l",
    ];
    let sandbox = trying("sandbox.write=src", &lines);
    symlink("../other/c", sandbox.at("src/out")).unwrap();
    assert!(allowed(&sandbox).is_empty());
}

#[test]
fn what_does_not_exist_is_left_out_with_a_note() {
    let manifest = "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\nshell = true\n\
                    command = \"mkdir none 2>/dev/null || echo denied\"\n\
                    sandbox = { read = [\"gone\", \"src\"], write = [\"none\", \"link\", \"alone/x\"] }\n";
    let sandbox = Sandbox::new()
        .file("hookrun.toml", manifest)
        .file("alone", "")
        .file("src/a", "");
    symlink("nowhere", sandbox.at("link")).unwrap();
    let report = sandbox.report("tool.pre", "{}");
    assert_eq!(report["output"], "denied");
    let left_out = |path: &str, why: &str| format!("sandbox: `{path}` is ignored: {why}");
    let told = notes(&report, 0);
    assert_eq!(
        told[..3],
        ["gone", "none", "link"]
            .map(|path| left_out(path, "No such file or directory (os error 2)"))
    );
    assert!(
        told[3].starts_with(&left_out("alone/x", "Not a directory")),
        "{told:?}"
    );
    let homeless = gate("sandbox.write=~", "true");
    let digest = homeless.digest();
    let run = ["run", "tool.pre", "--format", "json", "--trust", &digest];
    let homeless = homeless.variable("HOME", "").hookrun(&run, b"{}").stdout;
    let homeless: Value = serde_json::from_str(&homeless).unwrap();
    assert_eq!(
        notes(&homeless, 0)[0],
        left_out("~", "the home folder is unknown")
    );
}

#[test]
fn the_state_folder_and_empty_devices_may_be_written() {
    for settings in ["sandbox", "sandbox.read=src", "sandbox containment=pidns"] {
        if settings.contains("pidns") && !super::has_namespaces() {
            continue;
        }
        let lines = [
            "echo x > $HOOKRUN_STATE_DIR/x && cat $HOOKRUN_STATE_DIR/x",
            "echo x > /dev/null",
            "head -c 1 /dev/urandom",
        ];
        let body = format!("{TRY}try '{}'", lines.join("' '"));
        let sandbox = gate(settings, &body).file("src/a", "");
        assert_eq!(allowed(&sandbox), lines, "{settings}");
        // Those of other hooks may not.
        let touch = "touch \"$(cat where)/x\" 2>/dev/null && exit 1\nexit 0";
        Sandbox::new()
            .hook("10-a", "echo $HOOKRUN_STATE_DIR > where")
            .hook("20-b", &format!("# hookrun: {settings}\n{touch}"))
            .run("tool.pre")
            .allows();
    }
}

#[test]
fn paths_are_relative_to_the_root_of_the_project_wherever_the_hook_runs() {
    let sandbox = trying("sandbox.write=src", &["echo x > ../src/x", "echo x > here"]);
    let context = json!({ "cwd": sandbox.at("other") }).to_string();
    let report = sandbox.report("tool.pre", &context);
    assert_eq!(report["output"], "echo x > ../src/x", "{report:#}");
}

#[test]
fn where_nothing_may_be_read_programs_still_run() {
    let manifest = |command: &str| {
        format!(
            "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"{command}\"\n\
             sandbox = {{ read = [] }}\n"
        )
    };
    let scripts = [
        ("/bin/sh", "echo hi"),
        ("/usr/bin/env sh", "echo hi"),
        ("/usr/bin/python3", "print('hi')"),
    ];
    for (interpreter, line) in scripts {
        if !works(&[interpreter.split(' ').next().unwrap()], &["-c", "exit"])
            && interpreter.contains("python")
        {
            skip("there is no /usr/bin/python3");
            continue;
        }
        let sandbox = Sandbox::new()
            .file("hookrun.toml", &manifest("tools/run"))
            .script("tools/run", &format!("#!{interpreter}\n{line}\n"))
            .file("secret", "secret");
        assert_eq!(said(&sandbox), "hi", "{interpreter}");
    }
    let sandbox = Sandbox::new()
        .file("hookrun.toml", &manifest("cat secret"))
        .file("secret", "x");
    sandbox.run("tool.pre").blocks_saying("Permission denied");
}

/// Makes a socket of each family and sort, and says which it got.
const SOCKETS: &str = "exec perl -e 'use Socket; \
     %f = (inet => PF_INET, inet6 => eval { PF_INET6 } // 10, unix => PF_UNIX, packet => 17, vsock => 40); \
     %t = (stream => SOCK_STREAM, dgram => SOCK_DGRAM); \
     for $f (sort keys %f) { for $t (sort keys %t) { \
     print \"$f $t\\n\" if socket($s, $f{$f}, $t{$t}, 0) } }'";

#[test]
fn there_is_no_network() {
    assert_eq!(output("sandbox", SOCKETS), "");
    let with = output("sandbox.network", SOCKETS);
    assert_eq!(with, output("sandbox.network=false sandbox=false", SOCKETS));
    assert!(with.contains("inet dgram\ninet stream\n"), "{with}");
    let pair = "exec perl -e 'use Socket; \
                print socketpair($a, $b, PF_UNIX, SOCK_STREAM, 0) ? 1 : 0; \
                print socketpair($a, $b, 30, SOCK_STREAM, 0) ? 1 : $!{EACCES} ? \"no\" : $!'";
    assert_eq!(output("sandbox", pair), "1no");
}

#[test]
fn what_the_hook_starts_is_in_its_sandbox_too() {
    let body = "sh -c 'setsid sh -c \"touch a; touch src/b\"' 2>/dev/null\n\
                (setsid sh -c 'touch c; touch src/d' >/dev/null 2>&1 &)\n\
                until [ -e src/d ]; do sleep 0.01; done";
    let sandbox = gate("sandbox.write=src", body).file("src/a", "");
    sandbox.run("tool.pre").allows();
    ["src/b", "src/d"]
        .iter()
        .for_each(|file| sandbox.has_file(file));
    ["a", "c"].iter().for_each(|file| sandbox.has_no_file(file));
}

#[test]
fn each_hook_of_a_run_has_walls_of_its_own() {
    let body = |settings: &str| {
        format!(
            "# hookrun: {settings}\nfor d in a b c; do touch $d/$HOOKRUN_HOOK 2>/dev/null; done; true"
        )
    };
    for more in ["", " parallel"] {
        let mut sandbox = Sandbox::new();
        for (name, settings) in [
            ("10", "sandbox.write=a"),
            ("20", "sandbox.write=b"),
            ("30", "priority=100"),
            ("40", "sandbox"),
            ("50", "sandbox.write=a sandbox.write=c"),
            ("60", "sandbox.write=b"),
        ] {
            sandbox = sandbox.hook(name, &body(&format!("{settings}{more}")));
        }
        for folder in ["a", "b", "c"] {
            fs::create_dir(sandbox.at(folder)).unwrap();
        }
        sandbox.run("tool.pre").allows();
        let within = |folder: &str| {
            let names = fs::read_dir(sandbox.at(folder)).unwrap();
            let mut names: Vec<_> = names
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        assert_eq!(within("a"), ["10", "30", "50"]);
        assert_eq!(within("b"), ["20", "30", "60"]);
        assert_eq!(within("c"), ["30", "50"]);
    }
}

#[test]
fn many_different_sandboxes_leave_nothing_behind() {
    let mut sandbox = Sandbox::new();
    for number in 10..40 {
        let body = format!(
            "# hookrun: parallel sandbox.write=d{number}\ntouch d{number}/x && ! touch x 2>/dev/null"
        );
        sandbox = sandbox.hook(&number.to_string(), &body);
        fs::create_dir(sandbox.at(&format!("d{number}"))).unwrap();
    }
    Running::start(&sandbox, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran
        .allows();
}

/// Whether signals to processes outside are blocked: from Linux 6.12 on.
fn blocks_signals() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release
        .split(['.', '-'])
        .map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(12))
}

#[test]
fn a_hook_cannot_signal_hookrun_nor_any_thread_of_it() {
    let threads =
        "for t in /proc/$PPID/task/*; do kill -0 ${t##*/} 2>/dev/null && echo ${t##*/}; done";
    let body =
        format!("kill -0 $PPID 2>/dev/null && echo $PPID\n{threads}\nkill -9 $PPID; echo end");
    if !blocks_signals() {
        return skip("this kernel's Landlock knows nothing of signals");
    }
    for settings in ["sandbox", "sandbox.network", "sandbox.read=/tmp"] {
        let ran = asked(settings, &format!("exec 2>/dev/null\n{body}"));
        ran.allows_with(json!({ "output": "end" }));
    }
    // Those of its own it can.
    output("sandbox", "sleep 600 & kill $!; wait $!; [ $? = 143 ]");
}

#[test]
fn a_hook_cannot_set_the_limits_of_hookrun() {
    if !works(&["prlimit"], &["--version"]) {
        return skip("there is no prlimit");
    }
    for settings in ["sandbox", "sandbox.network"] {
        let body = "prlimit --pid $PPID --nofile=4:4 2>/dev/null || echo denied\n\
                    prlimit --pid $PPID --nofile >/dev/null && ulimit -n 32 && ulimit -n";
        assert_eq!(output(settings, body), "denied\n32");
    }
}

/// Ways around the walls, one a line: those that went well are printed. What they would change is
/// the test's own, or is set to what it is.
const WAYS_AROUND: &str = r#"#!/usr/bin/env python3
# hookrun: SETTINGS
import ctypes, os, platform, socket
libc = ctypes.CDLL(None, use_errno=True)
# In a namespace hookrun has no number: the first process there stands for it.
parent, me = os.getppid() or 1, os.getuid()
is_arm = platform.machine() == 'aarch64'
def call(number, *words):
    if libc.syscall(ctypes.c_long(number), *words) < 0:
        raise OSError(ctypes.get_errno())
def connect():
    socket.socket(socket.AF_UNIX).connect('other/service')
def times_of_open():
    os.utime(os.open('other/c', os.O_RDONLY), (1, 1))
WAYS = {
    'chmod': lambda: os.chmod('other/c', 0o600),
    'fchmod': lambda: os.chmod(os.open('other/c', os.O_RDONLY), 0o600),
    'chmod at': lambda: call(53 if is_arm else 268, -100, b'other/c', 0o600),
    'chmod at 2': lambda: call(452, -100, b'other/c', 0o600, 0),
    'chown': lambda: os.chown('other/c', me, os.getgid()),
    'lchown': lambda: os.lchown('other/c', me, os.getgid()),
    'fchown': lambda: os.chown(os.open('other/c', os.O_RDONLY), me, os.getgid()),
    'times': lambda: os.utime('other/c', (1, 1)),
    'times of an open file': times_of_open,
    'touch': lambda: os.utime('other/c'),
    'attribute': lambda: os.setxattr('other/c', 'user.x', b'1'),
    'priority': lambda: os.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent)),
    'priority of a group': lambda: os.setpriority(os.PRIO_PGRP, os.getpgid(parent), 0),
    'affinity': lambda: os.sched_setaffinity(parent, os.sched_getaffinity(parent)),
    'scheduler': lambda: os.sched_setscheduler(parent, os.SCHED_OTHER, os.sched_param(0)),
    'io priority': lambda: call(30 if is_arm else 251, 1, parent, 0),
    'socket in the file system': connect,
    'shared memory': lambda: call(194 if is_arm else 29, 0, 4096, 0o1600),
    'message queue': lambda: call(186 if is_arm else 68, 0, 0o1600),
    'key': lambda: call(219 if is_arm else 250, 0, -3, 0),
    'io_uring': lambda: call(425, 1, ctypes.create_string_buffer(120)),
    'x32': lambda: call(0x40000000 + 39),
    'own priority': lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)),
    'own affinity': lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    'pair': lambda: socket.socketpair(),
    'touch of its own': lambda: os.utime(os.open(os.environ['HOOKRUN_STATE_DIR'] + '/x', os.O_CREAT | os.O_WRONLY)),
}
for name, way in WAYS.items():
    try:
        way()
        print(name)
    except OSError:
        pass
"#;

/// What is always left: oneself.
const OWN: &[&str] = &["own priority", "own affinity", "pair", "touch of its own"];

/// What must be possible without a sandbox, or the test proves nothing.
const ELSE_POSSIBLE: &[&str] = &[
    "chmod",
    "fchmod",
    "chmod at",
    "chown",
    "lchown",
    "fchown",
    "times",
    "times of an open file",
    "touch",
    "priority",
    "affinity",
    "socket in the file system",
    "shared memory",
    "message queue",
];

/// What files' modes and the like are changed by.
const MODES: &[&str] = &[
    "chmod",
    "fchmod",
    "chmod at",
    "chmod at 2",
    "chown",
    "lchown",
    "fchown",
    "times",
    "times of an open file",
    "touch",
    "attribute",
];

#[test]
fn there_is_no_way_around_the_walls() {
    let tried = |settings: &str| {
        let script = WAYS_AROUND.replace("SETTINGS", settings);
        let sandbox = Sandbox::new()
            .script("hooks.d/tool.pre/hook", &script)
            .file("other/c", "c");
        let _service = std::os::unix::net::UnixListener::bind(sandbox.at("other/service")).unwrap();
        allowed(&sandbox)
    };
    let free = tried("timeout=30s");
    for way in ELSE_POSSIBLE {
        assert!(free.iter().any(|one| one == way), "{way}: {free:?}");
    }
    for settings in ["sandbox", "sandbox.read=other"] {
        let own: Vec<_> = OWN
            .iter()
            .filter(|way| free.iter().any(|one| one == *way))
            .collect();
        assert_eq!(
            tried(settings).iter().collect::<Vec<_>>(),
            own,
            "{settings}"
        );
    }
    // Each setting opens what it says, and no more.
    let more = |settings: &str| {
        let mut ways = tried(settings);
        ways.retain(|way| !OWN.contains(&way.as_str()));
        ways
    };
    assert_eq!(more("sandbox.network"), ["socket in the file system"]);
    for way in more("sandbox.write=~") {
        assert!(MODES.contains(&way.as_str()), "{way}");
    }
}

#[test]
fn what_hookrun_was_started_with_is_not_open_in_a_sandbox() {
    let body = "echo x >&9";
    let line = "exec 9>leak; exec \"$@\"";
    for (settings, left) in [("sandbox", ""), ("sandbox.network limits.files=32", "")] {
        let sandbox = gate(settings, &format!("{{ {body}; }} 2>/dev/null; true"));
        Running::start_by(&sandbox, line, &["run", "tool.pre"])
            .feed(b"{}")
            .ended()
            .ran
            .allows();
        assert_eq!(sandbox.read("leak"), left, "{settings}");
    }
}

/// Runs a gate where the system has not these calls, as on an older kernel.
fn ran_without(calls: &[&str], sandbox: &Arc<Sandbox>, arguments: &'static [&'static str]) -> Ran {
    let calls: Vec<_> = calls
        .iter()
        .map(|call| json!({ "syscall": call }))
        .collect();
    let filter = json!({ "all": {
        "mismatch_action": "allow", "match_action": { "errno": 38 }, "filter": calls,
    }});
    let sandbox = Arc::clone(sandbox);
    // What a thread has forbidden itself is forbidden what it starts, and nobody else.
    let thread = std::thread::spawn(move || {
        let arch = std::env::consts::ARCH.try_into().unwrap();
        let mut programs =
            seccompiler::compile_from_json(filter.to_string().as_bytes(), arch).unwrap();
        seccompiler::apply_filter(&programs.remove("all").unwrap()).unwrap();
        sandbox.hookrun(arguments, b"{}")
    });
    thread.join().unwrap()
}

const LANDLOCK: &[&str] = &[
    "landlock_create_ruleset",
    "landlock_add_rule",
    "landlock_restrict_self",
];

#[test]
fn a_hook_that_requires_its_sandbox_does_not_run_without() {
    for (settings, calls) in [
        ("sandbox", LANDLOCK),
        ("sandbox.network", LANDLOCK),
        ("sandbox", &["seccomp", "prctl"]),
    ] {
        let sandbox = Arc::new(gate(settings, "touch ran"));
        let ran = ran_without(calls, &sandbox, &["run", "tool.pre"]);
        ran.blocks_saying("hook `hook` never ran: ")
            .blocks_saying("sandbox");
        sandbox.has_no_file("ran");
        let open = Arc::new(gate(&format!("{settings} on_failure=allow"), "touch ran"));
        ran_without(calls, &open, &["run", "tool.pre"]).exits(0);
        open.has_no_file("ran");
    }
}

#[test]
fn a_hook_that_does_not_require_its_sandbox_runs_with_what_there_is() {
    let sandbox = Arc::new(gate(
        "sandbox sandbox.required=false",
        &format!("touch ran; {SOCKETS}"),
    ));
    let ran = ran_without(LANDLOCK, &sandbox, &["run", "tool.pre", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    sandbox.has_file("ran");
    // The network is not Landlock's alone.
    assert!(
        report.get("output").is_none_or(serde_json::Value::is_null),
        "{report:#}"
    );
    let told = notes(&report, 0);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("sandbox: only partly enforced: "),
        "{told:?}"
    );
    let told = notes(&sandbox.report("tool.pre", "{}"), 0);
    assert_eq!(told, Vec::<String>::new(), "here it is in force");
}

#[test]
fn paths_that_cannot_be_meant_are_mistakes() {
    for (written, directive, cause) in [
        ("write = \"\"", "write=''", "write`|is empty"),
        ("read = [\"a\", \"\"]", "read=", "read`|is empty"),
        (
            "write = \"src/*.c\"",
            "write=src/*.c",
            "looks like a pattern",
        ),
        ("read = \"~root\"", "read=~root", "another user"),
        ("read = 3", "read", "read`"),
        ("network = \"yes\"", "network=yes", "takes true or false"),
        ("required = 1", "required=1", "takes true or false"),
        ("raed = \"a\"", "raed=a", "raed`"),
    ] {
        let manifest = format!(
            "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"true\"\nsandbox = {{ {written} }}\n"
        );
        let tables = Sandbox::new().file("hookrun.toml", &manifest).problems(&[]);
        let directives = gate(&format!("sandbox.{directive}"), "true").problems(&[]);
        for problems in [tables, directives] {
            assert_eq!(problems.len(), 1, "{written}: {problems:?}");
            let is_told = cause.split('|').any(|cause| problems[0].contains(cause));
            assert!(
                problems[0].starts_with("error ") && is_told,
                "{written}: {problems:?}"
            );
        }
    }
    for (written, cause) in [("3", "sandbox"), ("\"yes\"", "sandbox"), ("[]", "sandbox")] {
        let manifest = format!(
            "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"true\"\nsandbox = {written}\n"
        );
        let problems = Sandbox::new().file("hookrun.toml", &manifest).problems(&[]);
        assert!(
            problems.len() == 1 && problems[0].contains(cause),
            "{problems:?}"
        );
    }
}

#[test]
fn a_sandbox_is_described() {
    assert_eq!(
        hookrun::Sandbox::default().to_string(),
        "reads everything; writes nothing; no network"
    );
    let sandbox = hookrun::Sandbox {
        read: Some(vec!["src".to_string(), "docs".to_string()]),
        write: vec!["/tmp".to_string()],
        network: true,
        required: false,
    };
    assert_eq!(
        sandbox.to_string(),
        "reads src, docs; writes /tmp; network; as far as the system supports it"
    );
}
