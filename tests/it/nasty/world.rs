//! The world as a hook finds it: descriptors, signals, its name, the locale, and links that are
//! changed while hookrun looks at them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::nasty::running::{Running, decide, wait_until};
use crate::sandbox::{Ran, Sandbox};

/// A decision by a shell line in which `"$@"` is hookrun.
#[track_caller]
fn decide_by(sandbox: &Sandbox, line: &str) -> Ran {
    Running::start_by(sandbox, line, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran
}

/// hookrun as an orderly host starts it, whatever this test was started with.
const ORDERLY: &str = "exec perl -e 'use POSIX; POSIX::close($_) for 3..255; \
    $SIG{$_} = \"DEFAULT\" for grep { !/NUM|RT/ } keys %SIG; \
    sigprocmask(SIG_SETMASK, POSIX::SigSet->new()); exec @ARGV or die' \"$@\"";

#[test]
fn a_hook_has_three_descriptors() {
    // The fourth one is that by which `ls` reads the folder.
    let sandbox = Sandbox::new().hook("hook", "exec ls /proc/self/fd");
    decide_by(&sandbox, ORDERLY).allows_with(json!({ "output": "0\n1\n2\n3" }));
}

#[test]
fn parallel_hooks_have_three_descriptors_each() {
    let body = "# hookrun: parallel\nls /proc/self/fd; sleep 0.1";
    let sandbox = ["a", "b", "c", "d"]
        .iter()
        .fold(Sandbox::new(), |all, name| all.hook(name, body));
    let all = ["0\n1\n2\n3"; 4].join("\n");
    decide_by(&sandbox, ORDERLY).allows_with(json!({ "output": all }));
}

#[test]
fn a_hook_finds_every_signal_at_its_default_and_none_blocked() {
    let body = "exec sed -n 's/^Sig\\(Blk\\|Ign\\):[^0-9a-f]*[0-9a-f]*\\(........\\)$/\\2/p' \
                /proc/self/status";
    let ran = decide_by(&Sandbox::new().hook("hook", body), ORDERLY);
    let said: serde_json::Value = serde_json::from_str(&ran.exits(0).stdout).unwrap();
    let masks = said["output"].as_str().unwrap().lines();
    // The highest bit of the lower half is a signal that the C library keeps for itself.
    let masks = masks.map(|mask| u32::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff);
    assert_eq!(masks.collect::<Vec<_>>(), [0, 0], "{said}");
}

#[test]
fn signals_that_the_host_ignores_still_work_in_hooks() {
    for signal in ["TERM", "INT", "HUP", "QUIT", "PIPE"] {
        let sandbox = Sandbox::new().hook("hook", &format!("kill -{signal} $$; sleep 600; exit 0"));
        let ran = decide_by(&sandbox, &format!("trap '' {signal}; exec \"$@\""));
        ran.blocks(&format!(
            "hook `hook` failed: killed by SIG{signal} (fail closed)"
        ));
    }
}

#[test]
fn an_ignored_sigchld_is_taken_back() {
    let sandbox = Sandbox::new().hook("hook", "(exit 3); echo $? >&2; exit 1");
    // Both shells and perl can ignore it; only what is really inherited tells.
    let ignore = "exec perl -e '$SIG{CHLD} = \"IGNORE\"; exec @ARGV or die'";
    let look = format!("{ignore} grep SigIgn /proc/self/status");
    let ignored = Running::start_by(&sandbox, &look, &[]).ended().ran.stdout;
    let mask = u64::from_str_radix(ignored.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(
        mask >> 16 & 1,
        1,
        "SIGCHLD is not inherited as ignored: {ignored}"
    );
    decide_by(&sandbox, &format!("{ignore} \"$@\"")).blocks("3");
}

#[test]
fn the_noise_of_a_locale_that_is_not_there_decides_nothing() {
    let config = "[[hook]]\nname = 'perl'\nevent = 'tool.pre'\ncommand = '''perl -e 'exit 0' '''\n\
                  [[hook]]\nname = 'bash'\nevent = 'tool.pre'\ncommand = 'bash -c true'\n";
    let noisy = Sandbox::new()
        .file("hookrun.toml", config)
        .variable("LC_ALL", "xx_YY.nonsense");
    assert_eq!(decide(&noisy).allows().stderr, "");
    let refuses = Sandbox::new().hook("hook", "exec perl -e 'print STDERR \"no\\n\"; exit 1'");
    decide(&refuses.variable("LC_ALL", "xx_YY.nonsense")).blocks_saying("no\n");
}

#[test]
fn an_environment_that_is_no_text_reaches_the_hook() {
    let sandbox = Sandbox::new().hook("hook", "printf %s \"$ODD\" > odd; printf %s \"$LINES_OF\"");
    let mut command = sandbox.command(&["run", "tool.pre"]);
    command
        .env("ODD", OsStr::from_bytes(b"a\xff=b"))
        .env("LINES_OF", "two\nlines");
    command.env(OsStr::from_bytes(b"\xffODD"), "x");
    let ran = Running::start_as(command).feed(b"{}").ended().ran;
    ran.allows_with(json!({ "output": "two\nlines" }));
    assert_eq!(fs::read(sandbox.at("odd")).unwrap(), b"a\xff=b");
}

/// One test for each name: the hook runs, knows its name, and is called by it.
macro_rules! names {
    ($($test:ident: $name:expr;)*) => {$(
        #[test]
        fn $test() {
            let body = "printf %s \"$HOOKRUN_HOOK\" > name; kill -9 $$";
            let sandbox = Sandbox::new().hook($name, body);
            let reason = format!("hook `{}` failed: killed by SIGKILL (fail closed)", $name);
            decide(&sandbox).blocks(&reason);
            assert_eq!(sandbox.read("name"), $name);
            sandbox.has_no_file("x");
        }
    )*};
}

names! {
    a_name_may_have_spaces: "a b";
    a_name_may_begin_with_a_dash: "-rf";
    a_name_may_be_an_option: "--help";
    a_name_may_have_quotes: "it's \"so\"";
    a_name_may_have_a_line_break: "two\nlines";
    a_name_may_be_a_substitution: "$(touch x)`touch x`";
    a_name_may_be_a_pattern: "*";
    a_name_may_have_letters_of_other_alphabets: "\u{e9}\u{4e2d}";
    a_name_may_have_a_semicolon_and_a_backslash: "a;b\\n";
    a_name_may_have_a_tab_and_a_bell: "tab\there\u{7}";
}

#[test]
fn a_name_may_be_no_text() {
    let sandbox = Sandbox::new().hook("hook", "echo no >&2; exit 1");
    let strange = sandbox
        .at("hooks.d/tool.pre")
        .join(OsStr::from_bytes(b"a\xff"));
    fs::rename(sandbox.at("hooks.d/tool.pre/hook"), strange).unwrap();
    decide(&sandbox).blocks("no");
}

/// Lets a link point to one and the other in turn, as fast as it goes, while `decides` is asked
/// again and again: until both answers were seen, and often enough.
fn while_flipping(link: &Path, targets: [&str; 2], mut decides: impl FnMut() -> &'static str) {
    let is_over = AtomicBool::new(false);
    let new = link.with_file_name(".new");
    let flip = |target: &str| {
        symlink(target, &new).unwrap();
        fs::rename(&new, link).unwrap();
    };
    flip(targets[0]);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                targets.iter().for_each(|target| flip(target));
                thread::yield_now();
            }
        });
        // The other thread must end even if a decision is wrong.
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let (mut runs, mut seen) = (0, Vec::new());
            wait_until("both answers are given", || {
                runs += 1;
                seen.push(decides());
                seen.dedup();
                runs >= 40 && seen.len() > 1
            });
        }));
        is_over.store(true, Ordering::Relaxed);
        looked.unwrap();
    });
}

#[test]
fn a_link_that_flips_never_runs_the_file_that_must_not() {
    let sandbox = Sandbox::new()
        .script("good", "#!/bin/sh\necho good\n")
        .script("bad", "#!/bin/sh\ntouch ran\n");
    fs::set_permissions(sandbox.at("bad"), fs::Permissions::from_mode(0o777)).unwrap();
    fs::create_dir_all(sandbox.at("hooks.d/tool.pre")).unwrap();
    let link = sandbox.at("hooks.d/tool.pre/hook");
    while_flipping(&link, ["../../good", "../../bad"], || good_or_bad(&sandbox));
    sandbox.has_no_file("ran");
}

/// Which of the two files was decided by; each decision is that of one of them, whole.
fn good_or_bad(sandbox: &Sandbox) -> &'static str {
    let ran = decide(sandbox);
    if ran.status == 0 {
        ran.allows_with(json!({ "output": "good" }));
        return "good";
    }
    ran.blocks_saying("hook `hook` never ran: ")
        .says("is world-writable");
    "bad"
}

#[test]
fn a_folder_that_flips_never_runs_the_file_that_must_not() {
    let sandbox = Sandbox::new()
        .script("good/hook", "#!/bin/sh\necho good\n")
        .script("bad/hook", "#!/bin/sh\ntouch ran\n");
    let config = "[[hook]]\nname = 'hook'\nevent = 'tool.pre'\ncommand = './folder/hook'\n";
    fs::set_permissions(sandbox.at("bad/hook"), fs::Permissions::from_mode(0o757)).unwrap();
    let sandbox = sandbox.file("hookrun.toml", config);
    while_flipping(&sandbox.at("folder"), ["good", "bad"], || {
        good_or_bad(&sandbox)
    });
    sandbox.has_no_file("ran");
}
