//! Programs that run another one, and what their options mean for that.

/// How a program names what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its operands are the words of a command.
    Words,
    /// Its operands, joined by blanks, are a text for a shell.
    Text,
    /// A command, to whose words it adds what it reads: `xargs`.
    WordsAndMore,
    /// A text and, after `:::`, what is added to it: `parallel`.
    Parallel,
    /// A shell: a text, a file, or what it reads.
    Shell,
    /// A login as somebody: a text after `-c`, or a shell.
    Login,
    /// Commands after one of these, up to `;` or `+`: `find -exec`.
    After(&'static [&'static str]),
    /// Aliases in its options: `git -c alias.x='!TEXT'`.
    Git,
    /// Its first operand is a text that is run later.
    Trap,
    /// Reads a file of commands.
    Source,
    /// Changes what words after it run, where they are typed.
    Alias,
    /// An interpreter of another language, which reads its program if no operand names it.
    Interpreter,
}

/// What a program does without a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alone {
    /// What that program does by itself, or nothing.
    Command,
    /// It starts a shell.
    Shell,
    /// It starts a shell, which counts only if something is written to it: `ssh host`.
    RemoteShell,
}

/// A program that runs another.
#[derive(Debug)]
pub(super) struct Wrapper {
    pub(super) names: &'static str,
    /// Its options: a letter, or a word with its `--`; then what is special about it:
    ///
    /// | mark | meaning |
    /// | --- | --- |
    /// | `:` | the next word is its value; one mark for each word |
    /// | `?` | its value is in the same word or nowhere |
    /// | `>` | the next word is its value, and letters may follow: `-eo pipefail` |
    /// | `$` | its value is a text for a shell |
    /// | `%` | its value is split into words that take its place: `env -S` |
    /// | `@` | its value stands for what only a run knows: `xargs -I` |
    /// | `!` | with it, no command is run |
    /// | `~` | it starts a shell, if no command follows |
    /// | `=` | operands are a text instead of words, or words instead of a text |
    ///
    /// `-` is that word alone, `#` a number after `-`, and `--*` any long option.
    pub(super) options: &'static str,
    /// Operands before the command.
    pub(super) operands: usize,
    /// Whether `NAME=value` may precede the command.
    pub(super) assigns: bool,
    pub(super) kind: Kind,
    pub(super) alone: Alone,
}

const fn row(kind: Kind, names: &'static str, options: &'static str) -> Wrapper {
    Wrapper { names, options, operands: 0, assigns: false, kind, alone: Alone::Command }
}

const fn words(names: &'static str, options: &'static str) -> Wrapper {
    row(Kind::Words, names, options)
}

/// The words of a command follow so many operands.
const fn after(operands: usize, names: &'static str, options: &'static str) -> Wrapper {
    Wrapper { operands, ..row(Kind::Words, names, options) }
}

/// A shell if no command follows.
const fn or_shell(row: Wrapper) -> Wrapper {
    Wrapper { alone: Alone::Shell, ..row }
}

#[rustfmt::skip]
pub(super) const WRAPPERS: &[Wrapper] = &[
    // Other users and machines.
    Wrapper { assigns: true, ..words("sudo", "A B b C: D: E e! g: H h: i~ K! k l! N n P p: R: r: S s~ T: t: U: u: V! v! \
        --askpass --background --bell --chdir: --chroot: --close-from: --command-timeout: --edit! --group: --help! --host: \
        --list! --login~ --no-update --non-interactive --other-user: --preserve-env --preserve-groups --prompt: \
        --remove-timestamp! --reset-timestamp --role: --set-home --shell~ --stdin --type: --user: --validate! --version!") },
    words("doas", "a: C: L! n s~ u:"),
    or_shell(words("pkexec", "--user: --disable-internal-agent --keep-cwd --help! --version!")),
    or_shell(words("run0", "u: g: D: --user: --group: --nice: --chdir: --setenv: --unit: --property: --description: --slice: \
        --slice-inherit --background: --machine: --no-ask-password --pty --pipe --shell-prompt-prefix: --help! --version!")),
    Wrapper { operands: 1, ..row(Kind::Login, "su", "- c$ f g: G: l m P p s: T w: --command$ --session-command$ --fast --group: --supp-group: --login \
        --preserve-environment --pty --no-pty --shell: --whitelist-environment: --help! --version!") },
    Wrapper { operands: 1, ..row(Kind::Login, "runuser", "- c$ f g: G: l m P p s: T u:= w: --command$ --session-command$ --fast --group: --supp-group: \
        --login --preserve-environment --pty --no-pty --shell: --user:= --whitelist-environment: --help! --version!") },
    after(1, "gosu su-exec", "--help! --version!"),
    Wrapper { operands: 1, alone: Alone::RemoteShell, ..row(Kind::Text, "ssh", "4 6 A a B: b: C c: D: E: e: F: f G! g I: i: \
        J: K k L: l: M m: N! n O!: o: P: p: Q!: q R: S: s T t V! v W!: w: X x Y y") },
    after(1, "mosh", "4 6 a n p: --ssh: --predict: --port: --server: --client: --bind-server: --family: --no-init --no-ssh-pty --local --help! --version!"),
    words("sshpass", "p: f: d: e P: V! h! v"),
    // Another surrounding.
    Wrapper { assigns: true, ..words("env", "- 0 a: C: i S% u: v --argv0: --block-signal --chdir: --debug --default-signal \
        --help! --ignore-environment --ignore-signal --list-signal-handling --null --split-string% --unset: --version!") },
    words("nice", "# n: --adjustment: --help! --version!"),
    words("ionice", "c: n: P!: p!: t u!: --class: --classdata: --ignore --pgid!: --pid!: --uid!: --help! --version!"),
    after(1, "timeout gtimeout", "f k: p s: v --foreground --kill-after: --preserve-status --signal: --verbose --help! --version!"),
    words("nohup", "--help! --version!"),
    words("setsid", "c f w --ctty --fork --wait --help! --version!"),
    after(1, "flock", "c$ E: e F n o s u w: x --close --command$ --conflict-exit-code: --exclusive --fcntl --no-fork --nb --nonblock \
        --shared --timeout: --unlock --verbose --wait: --help! --version!"),
    words("stdbuf", "e: i: o: --error: --input: --output: --help! --version!"),
    words("time", "a f: o: p q v --append --format: --output: --portability --quiet --verbose --help! --version!"),
    words("command", "p v! V!"),
    words("exec", "a: c l"),
    words("builtin", ""),
    or_shell(after(1, "chroot", "--groups: --userspec: --skip-chdir --help! --version!")),
    after(1, "chrt", "a b D: d f i m! o P: p! R r T: v --all-tasks --batch --deadline --fifo --idle --max! --other --pid! --reset-on-fork \
        --rr --sched-deadline: --sched-period: --sched-runtime: --verbose --help! --version!"),
    after(1, "taskset", "a c p! --all-tasks --cpu-list --pid! --help! --version!"),
    or_shell(words("unshare", "C c f G: i m n p R: r S: T U u w: --boottime: --cgroup --fork --ipc --keep-caps --kill-child --map-auto \
        --map-current-user --map-group: --map-groups: --map-root-user --map-user: --map-users: --monotonic: --mount --mount-proc \
        --net --pid --propagation: --root: --setgid: --setgroups: --setuid: --time --user --uts --wd: --help! --version!")),
    or_shell(words("nsenter", "a C? e F G: i? m? n? p? r? S: T? t: U? u? W: w? Z --all --cgroup --env --follow-context --ipc --mount \
        --net --net-socket: --no-fork --pid --preserve-credentials --root --setgid: --setuid: --target: --time --user --uts --wd --wdns: --help! --version!")),
    words("setpriv", "d! --ambient-caps: --apparmor-profile: --bounding-set: --clear-groups --dump! --egid: --euid: --groups: --inh-caps: \
        --init-groups --keep-groups --landlock-access: --landlock-rule: --list-caps! --nnp --no-new-privs --pdeathsig: --ptracer: \
        --regid: --reset-env --reuid: --rgid: --ruid: --securebits: --selinux-label: --help! --version!"),
    words("prlimit", "c? d? e? f? i? l? m? n? o: p!: q? r? s? t? u? v? x? y? --as --core --cpu --data --fsize --locks --memlock \
        --msgqueue --nice --nofile --noheadings --nproc --output: --pid!: --raw --rss --rtprio --rttime --sigpending --stack --verbose --help! --version!"),
    or_shell(after(1, "script", "a B: c$ E: e f I: m: O: o: q T: t? --append --command$ --echo: --flush --force --log-in: --log-io: \
        --log-out: --log-timing: --logging-format: --output-limit: --quiet --return --timing? --help! --version!")),
    words("strace", "a: b: C c D d E: e: F f h! I: i k n N O: o: P: p: q r S: s: T t U: u: V! v w X: x Y y Z z --*"),
    words("ltrace", "a: A: b C c D: e: F: f h! i L l: n: o: p: r S s: T t u: V! w: x: --*"),
    words("valgrind", "h! d q v --*"),
    words("systemd-run", "C: d E: G H: h! M: P p: q r S~ t u: --capsule: --collect --description: --expand-environment: --gid: --host: \
        --machine: --nice: --no-ask-password --no-block --on-active: --on-boot: --on-calendar: --on-startup: --on-unit-active: \
        --on-unit-inactive: --path-property: --pipe --property: --pty --quiet --remain-after-exit --same-dir --scope --send-sighup \
        --service-type: --setenv: --shell~ --slice: --slice-inherit --socket-property: --system --timer-property: --uid: --unit: \
        --user --wait --working-directory: --help! --version!"),
    words("systemd-inhibit", "--list! --mode: --no-legend --no-pager --what: --who: --why: --help! --version!"),
    words("numactl", "a b C: H! i: l m: N: P: p: s! --all --balancing --cpunodebind: --hardware! --interleave: --localalloc --membind: \
        --physcpubind: --preferred: --preferred-many: --show! --help! --version!"),
    or_shell(words("firejail", "c --*")),
    words("bwrap", "--add-seccomp-fd: --args: --as-pid-1 --bind-data:: --bind-fd:: --bind-try:: --bind:: --block-fd: --cap-add: --cap-drop: \
        --chdir: --chmod:: --clearenv --dev-bind-try:: --dev-bind:: --dev: --die-with-parent --dir: --exec-label: --file-label: --file:: \
        --gid: --hostname: --info-fd: --lock-file: --mqueue: --new-session --perms: --proc: --remount-ro: --ro-bind-data:: --ro-bind-try:: \
        --ro-bind:: --seccomp: --setenv:: --share-net --size: --symlink:: --sync-fd: --tmpfs: --uid: --unsetenv: --unshare-all \
        --unshare-cgroup --unshare-cgroup-try --unshare-ipc --unshare-net --unshare-pid --unshare-user --unshare-user-try --unshare-uts \
        --userns-block-fd: --userns: --help! --version!"),
    or_shell(words("fakeroot", "b: f: h! i: l: s: u v! --faked: --lib: --unknown-is-real --help! --version!")),
    or_shell(words("proot", "0 b: k: q: R: r: S: v: w: -b: --bind: --change-id: --cwd: --kill-on-exit --mount: --pwd: --qemu: --root-id --rootfs: --verbose: --help! --version!")),
    words("xvfb-run", "a e: f: h! l n: p: s: w: --auth-file: --auto-display --auto-servernum --error-file: --listen-tcp --server-args: \
        --server-num: --wait: --xauth-protocol: --help!"),
    words("unbuffer", "p"),
    words("tini", "e: g h! l! p: s v w --version!"),
    words("caffeinate", "d i m s t: u w:"),
    words("choom", "n: p!: --adjust: --pid!: --help! --version!"),
    words("cgexec", "g: --sticky --help!"),
    words("cpulimit", "b f h! i k l: m P!: p!: e!: q r s: v z c: --background --foreground --include-children --kill --limit: --lazy --monitor-forks \
        --path!: --exe!: --pid!: --quiet --signal: --verbose --help!"),
    words("linux32 linux64 i386 x86_64", "3 B F h! I L R S T v X Z --*"),
    after(1, "setarch", "3 B F h! I L R S T v X Z --*"),
    words("dbus-run-session", "--config-file: --dbus-daemon: --help! --version!"),
    words("busybox toybox", "--help! --install! --list! --list-full! --long! --show!:"),
    // What is repeated.
    Wrapper { kind: Kind::WordsAndMore, ..words("xargs gxargs", "0 a: d: E: e? I@ i@? L: l? n: o P: p r s: t x --arg-file: --delimiter: --eof? \
        --exit --interactive --max-args: --max-chars: --max-lines? --max-procs: --no-run-if-empty --null --open-tty \
        --process-slot-var: --replace@? --show-limits --verbose --help! --version!") },
    row(Kind::Parallel, "parallel", "0 a: C: D: h! I@ j: k L: l: m N: n: P: q r S: s: t u v X --arg-file: --bar --block: --colsep: --delay: --dry-run --dryrun \
        --env: --eta --group --halt: --jobs: --joblog: --keep-order --lb --line-buffer --linebuffer --load: --max-args: --max-procs: --no-notice \
        --no-run-if-empty --null --pipe --pipepart --plain --progress --quote --recstart: --recend: --results: --resume --retries: \
        --shuf --silent --sshlogin: --sshloginfile: --tag --tagstring: --timeout: --tmpdir: --trim: --ungroup --verbose --wd: --will-cite \
        --workdir: --xargs --help! --version!"),
    row(Kind::Text, "watch", "b C c d e g n: p q: r t v! w x= --beep --chgexit --color --differences --equexit: --errexit --exec= --interval: \
        --no-color --no-rerun --no-title --no-wrap --precise --help! --version!"),
    words("entr", "a c d n p r s= x z"),
    row(Kind::After(&["-exec", "-execdir", "-ok", "-okdir"]), "find gfind", ""),
    row(Kind::After(&["-x", "-X", "--exec", "--exec-batch"]), "fd fdfind", ""),
    // Shells and what else reads commands.
    row(Kind::Shell, "sh bash dash zsh ksh ash rbash mksh", "- a B b C c= D E e f G H h i k l m n O> o> P p r s~ T t u v X x \
        --debugger --emulate: --init-file: --login --noediting --noprofile --no-rcs --norc --posix --rcfile: --restricted --verbose --help! --version!"),
    row(Kind::Shell, "fish", "C$ c$ D: d: f: h! i l N n o: P p: v! --command$ --debug: --debug-output: --features: --init-command$ --interactive \
        --login --no-config --no-execute --private --help! --version!"),
    // Shells of other languages: a text for one is not read.
    or_shell(words("csh tcsh pwsh powershell", "")),
    after(1, "cmd", ""),
    row(Kind::Text, "eval", ""),
    row(Kind::Alias, "alias", ""),
    row(Kind::Trap, "trap", "l! p!"),
    row(Kind::Source, "source .", "p:"),
    row(Kind::Git, "git", ""),
    row(Kind::Interpreter, "python python2 python3 pypy pypy3 ipython node nodejs perl ruby irb php lua luajit", ""),
];

/// The row of a program, by its base name; `python3.12` is `python`.
pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    let named =
        |name: &str| WRAPPERS.iter().find(|row| row.names.split(' ').any(|known| known == name));
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    named(name).or_else(|| named(bare).filter(|row| row.kind == Kind::Interpreter))
}

impl Wrapper {
    /// Whether the command that it runs is among its words.
    pub(super) fn is_wrapper(&self) -> bool {
        match self.kind {
            Kind::Words | Kind::Text | Kind::WordsAndMore | Kind::Parallel | Kind::Shell => true,
            Kind::Login | Kind::After(_) | Kind::Git | Kind::Trap => false,
            Kind::Source | Kind::Alias | Kind::Interpreter => false,
        }
    }

    /// The marks of an option: one letter, or a word with its `--`, also shortened as GNU's
    /// programs allow it. `None` if the table does not know it.
    pub(super) fn marks(&self, option: &str) -> Option<&'static str> {
        let marks = |row: &'static str, option: &str| {
            let rest = row.strip_prefix(option)?;
            rest.chars().all(|c| ":?>$%@!~=".contains(c)).then_some(rest)
        };
        let mut rows = self.options.split_ascii_whitespace();
        if let Some(found) = rows.find_map(|row| marks(row, option)) {
            return Some(found);
        }
        if !option.starts_with("--") {
            return None;
        }
        let mut rows = self.options.split_ascii_whitespace().filter(|row| row.starts_with("--"));
        let marks_of = |row: &'static str| {
            row.trim_start_matches(|c: char| c == '-' || c.is_ascii_alphanumeric())
        };
        let mut longer = rows.clone().filter(|row| row.starts_with(option)).map(marks_of);
        match longer.next() {
            Some(first) => longer.all(|other| other == first).then_some(first),
            None => rows.any(|row| row == "--*").then_some(""),
        }
    }
}
