//! Programs that run another one: which of their words is the command.

/// How a program names what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inner {
    /// The words that are left are the command.
    Words,
    /// The words that are left, joined by blanks, are text for a shell.
    Text,
    /// The words that are left, and more that it reads from stdin.
    WordsAndMore,
    /// The text after `-c` is for a shell; without it, a file or stdin is.
    Shell,
}

/// A program that runs another.
#[derive(Debug)]
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Options that take the next word as their value: letters without `-`, words with `--`.
    pub(super) valued: &'static [&'static str],
    /// Options without a value.
    pub(super) plain: &'static [&'static str],
    /// Operands before the command.
    pub(super) operands: usize,
    /// Whether `NAME=value` may precede the command.
    pub(super) assigns: bool,
    pub(super) inner: Inner,
}

const fn row(
    name: &'static str,
    valued: &'static [&'static str],
    plain: &'static [&'static str],
) -> Wrapper {
    Wrapper { name, valued, plain, operands: 0, assigns: false, inner: Inner::Words }
}

const fn shell(name: &'static str) -> Wrapper {
    Wrapper {
        inner: Inner::Shell,
        ..row(
            name,
            &["o", "O", "--rcfile", "--init-file"],
            &[
                "a",
                "b",
                "c",
                "e",
                "f",
                "h",
                "i",
                "k",
                "l",
                "m",
                "n",
                "p",
                "r",
                "s",
                "t",
                "u",
                "v",
                "x",
                "B",
                "C",
                "D",
                "E",
                "H",
                "P",
                "T",
                "--login",
                "--posix",
                "--norc",
                "--noprofile",
                "--noediting",
                "--verbose",
                "--restricted",
                "--debugger",
            ],
        )
    }
}

#[rustfmt::skip]
pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper { assigns: true, ..row("sudo",
        &["C", "D", "g", "h", "p", "R", "r", "T", "t", "U", "u", "--close-from", "--chdir", "--group", "--host",
          "--prompt", "--chroot", "--role", "--command-timeout", "--type", "--other-user", "--user"],
        &["A", "B", "b", "E", "H", "i", "k", "K", "n", "N", "P", "S", "s", "--askpass", "--bell", "--background",
          "--preserve-env", "--set-home", "--login", "--reset-timestamp", "--non-interactive", "--no-update",
          "--preserve-groups", "--stdin", "--shell"]) },
    row("doas", &["C", "u"], &["n", "s", "L"]),
    Wrapper { assigns: true, ..row("env", &["u", "C", "--unset", "--chdir", "--argv0", "a"],
        &["i", "0", "v", "--ignore-environment", "--null", "--debug", "--default-signal", "--ignore-signal", "--block-signal"]) },
    Wrapper { inner: Inner::WordsAndMore, ..row("xargs",
        &["I", "n", "P", "d", "a", "L", "s", "E", "--replace", "--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-lines", "--max-chars", "--process-slot-var"],
        &["0", "r", "t", "p", "x", "o", "i", "e", "l", "--null", "--no-run-if-empty", "--verbose", "--interactive", "--exit", "--open-tty"]) },
    row("nice", &["n", "--adjustment"], &[]),
    row("ionice", &["c", "n", "--class", "--classdata"], &["t", "--ignore"]),
    Wrapper { operands: 1, ..row("timeout", &["k", "s", "--kill-after", "--signal"], &["v", "f", "p", "--foreground", "--preserve-status", "--verbose"]) },
    row("nohup", &[], &[]),
    row("setsid", &[], &["c", "f", "w", "--ctty", "--fork", "--wait"]),
    row("stdbuf", &["i", "o", "e", "--input", "--output", "--error"], &[]),
    row("time", &["f", "o", "--format", "--output"], &["a", "p", "v", "q", "--append", "--portability", "--verbose", "--quiet"]),
    row("command", &[], &["p"]),
    row("exec", &["a"], &["c", "l"]),
    row("builtin", &[], &[]),
    Wrapper { operands: 1, ..row("flock", &["w", "E", "--timeout", "--wait", "--conflict-exit-code"],
        &["e", "x", "s", "n", "o", "F", "u", "--exclusive", "--shared", "--nonblock", "--close", "--no-fork", "--verbose"]) },
    Wrapper { operands: 1, inner: Inner::Text, ..row("ssh",
        &["B", "b", "c", "D", "E", "e", "F", "I", "i", "J", "L", "l", "m", "O", "o", "P", "p", "Q", "R", "S", "W", "w"],
        &["4", "6", "A", "a", "C", "f", "G", "g", "K", "k", "M", "N", "n", "q", "s", "T", "t", "V", "v", "X", "x", "Y", "y"]) },
    Wrapper { inner: Inner::Text, ..row("watch", &["n", "q", "--interval", "--equexit"],
        &["b", "c", "C", "d", "e", "g", "p", "r", "t", "w", "--beep", "--color", "--no-color", "--differences", "--errexit", "--chgexit", "--precise", "--no-rerun", "--no-title", "--no-wrap"]) },
    Wrapper { inner: Inner::WordsAndMore, ..row("parallel", &["j", "a", "N", "n", "L", "S", "--jobs", "--arg-file", "--max-args", "--joblog", "--timeout", "--retries", "--delay", "--results", "--tagstring", "--colsep", "--sshlogin"],
        &["k", "0", "X", "m", "v", "t", "--keep-order", "--null", "--dry-run", "--bar", "--eta", "--progress", "--line-buffer", "--lb", "--ungroup", "--tag", "--will-cite", "--no-notice", "--pipe", "--xargs"]) },
    row("pkexec", &["--user"], &["--disable-internal-agent", "--keep-cwd"]),
    Wrapper { operands: 1, ..row("chroot", &["--userspec", "--groups"], &["--skip-chdir"]) },
    Wrapper { operands: 1, ..row("gosu", &[], &[]) },
    row("busybox", &[], &[]),
    row("strace", &["e", "o", "p", "s", "u", "P", "O", "S", "a", "E", "I", "b"], &["f", "ff", "c", "C", "d", "D", "h", "i", "k", "q", "r", "t", "tt", "ttt", "T", "v", "V", "w", "x", "y", "z"]),
    row("unbuffer", &[], &["p"]),
    row("caffeinate", &["t", "w"], &["d", "i", "m", "s", "u"]),
    row("coproc", &[], &[]),
    row("toybox", &[], &[]),
    row("unshare", &["S", "G", "R", "w"], &["r", "m", "p", "f", "n", "i", "u", "U", "C", "T", "c", "--fork", "--map-root-user"]),
    row("nsenter", &["t", "S", "G", "--target"], &["a", "m", "u", "i", "n", "p", "U", "C", "T", "F"]),
    row("systemd-run", &["u", "p", "E", "--unit", "--property", "--uid", "--gid", "--setenv", "--working-directory", "--slice"],
        &["t", "P", "q", "G", "d", "r", "S", "--scope", "--user", "--pty", "--pipe", "--quiet", "--wait", "--collect"]),
    row("run0", &["u", "g", "D", "--user", "--group", "--chdir", "--setenv"], &[]),
    row("setpriv", &["--reuid", "--regid", "--groups"], &["--clear-groups", "--keep-groups", "--init-groups", "--no-new-privs", "--reset-env"]),
    Wrapper { operands: 1, ..row("setarch", &[], &["R", "v"]) },
    Wrapper { operands: 1, ..row("taskset", &[], &["a", "c", "--cpu-list"]) },
    Wrapper { operands: 1, ..row("chrt", &[], &["b", "d", "f", "i", "o", "r"]) },
    row("entr", &[], &["a", "c", "d", "n", "p", "r", "x", "z"]),
    // With an option they run a text in another language, or they run a file.
    Wrapper { operands: 1, ..row("script", &[], &["a", "e", "f", "q"]) },
    Wrapper { operands: 1, ..row("cmd", &[], &[]) },
    row("csh", &[], &[]), row("tcsh", &[], &[]), row("fish", &[], &[]), row("pwsh", &[], &[]), row("powershell", &[], &[]),
    Wrapper { inner: Inner::Text, ..row("eval", &[], &[]) },
    shell("sh"), shell("bash"), shell("dash"), shell("zsh"), shell("ksh"), shell("ash"), shell("rbash"),
];

/// The row of a program, by its base name.
pub(super) fn find(program: &str) -> Option<&'static Wrapper> {
    let name = program.rsplit('/').next().unwrap_or(program);
    WRAPPERS.iter().find(|row| row.name == name)
}
