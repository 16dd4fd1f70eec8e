//! The table of programs: their options, inner commands, and file operands.

/// How a program names the commands that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Runs no command from its arguments.
    Itself,
    /// Operands are a command.
    Words,
    /// Operands, joined with blanks, are shell text.
    Text,
    /// Operands are a command to which input is appended: `xargs`.
    WordsAndMore,
    /// Operands are shell text; arguments follow `:::`: `parallel`.
    Parallel,
    /// A shell: text, a file, or stdin.
    Shell,
    /// A login: text after `-c`, or a shell.
    Login,
    /// Commands follow one of these options, up to `;` or `+`: `find -exec`.
    After(&'static [&'static str]),
    /// Options contain shell text.
    Texts,
    /// A command may follow `--`.
    AfterDashes,
    /// Aliases in options: `git -c alias.x='!TEXT'`.
    Git,
    /// The first operand is text that runs later.
    Trap,
    /// Reads a file of commands.
    Source,
    /// Redefines later commands.
    Alias,
    /// Runs another language, from stdin if no operand names a program.
    Interpreter,
}

/// Behavior without a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alone {
    /// The program's default, or nothing.
    Command,
    /// Starts a shell.
    Shell,
    /// Starts a shell that counts only with piped input: `ssh host`.
    RemoteShell,
}

/// Spelling of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Letters, combinable in one word, and complete long options.
    Full,
    /// Long options may be abbreviated.
    Cut,
    /// Like `Cut`, but the meaning depends on the subcommand: `git reset --har`.
    CutByCommand,
    /// Long options have one dash; letters do not combine: `find -name`.
    OneDash,
}

/// Use of the files that operands name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Not files, or unknown.
    Other,
    Reads,
    /// Reads all but the first, which is a pattern; with an option marked `=` all.
    ReadsAfter,
    Writes,
    /// Writes the first.
    WritesFirst,
    /// Writes all but the first, which is a mode; with an option marked `=` all. Only reads if it
    /// has options marked `^` and none is present.
    WritesAfter,
    Deletes,
    /// Copies all into or over the last; with an option marked `=` creates all.
    Copies,
    /// Like `Copies`, where the last may be remote.
    CopiesHere,
    /// Like `Copies`, and removes the others.
    Moves,
    /// Changes or removes tracked or untracked files.
    Tracked,
    /// Changes all tracked files, unless it has options marked `^` and none is present.
    AllTracked,
    /// Like `Tracked`, for operands after `--`, or for all, of which one may be a branch.
    TrackedAfter,
    /// Changes the files of a patch.
    Patches,
    /// Files in `if=` and `of=`.
    Assigned,
    /// Files with the names of the URLs.
    Fetched,
    /// Extracts an archive if an option marked `}` is present, or if it has no such option.
    Extracts,
    /// Folders to search.
    Searches,
    /// Becomes the working directory.
    Enters,
}

#[derive(Debug)]
pub(crate) struct ProgramRow {
    /// Base names, separated by blanks; git subcommands as `git-rm`.
    pub(super) names: &'static str,
    /// Options: a letter, or a word with its dashes, then marks:
    ///
    /// | mark | meaning |
    /// | --- | --- |
    /// | `:` | the next word is its value; one mark for each word |
    /// | `?` | its value, if any, is in the same word |
    /// | `>` | the next word is its value, and letters may follow: `-eo pipefail` |
    /// | `|` | the next word may be its value, by subcommand: `docker rm -f`, `docker build -f` |
    /// | `$` | its value is shell text |
    /// | `%` | its value is split into words that replace it: `env -S` |
    /// | `@` | its value is a placeholder for unknown text: `xargs -I` |
    /// | `+` | its value is a file that it writes |
    /// | `&` | its value is the target folder of files |
    /// | `/` | its value is the working directory |
    /// | `!` | no command runs and no operand is written, unless one marked `^` is present |
    /// | `^` | without one of these, no operand is written |
    /// | `~` | starts a shell, if no command follows |
    /// | `=` | swaps operands between text and words, or makes all of them files |
    /// | `_` | recurses, or deletes the files found |
    /// | `}` | extracts files from an archive |
    /// | `<` | deletes all other files in the target folder |
    ///
    /// `-` is that word alone, `#` a number after `-`, and `--*` any long option.
    pub(super) options: &'static str,
    pub(super) style: Style,
    /// Whether all options with a value are listed. Otherwise any option may take the next word.
    pub(super) lists_values: bool,
    /// Operands before the command.
    pub(super) operands: usize,
    /// Whether `NAME=value` may precede the command.
    pub(super) assigns: bool,
    pub(super) kind: Kind,
    pub(super) alone: Alone,
    pub(crate) files: Operands,
}

const fn program(names: &'static str, options: &'static str) -> ProgramRow {
    ProgramRow {
        names,
        options,
        style: Style::Full,
        lists_values: true,
        operands: 0,
        assigns: false,
        kind: Kind::Itself,
        alone: Alone::Command,
        files: Operands::Other,
    }
}

const fn row(kind: Kind, names: &'static str, options: &'static str) -> ProgramRow {
    ProgramRow {
        kind,
        style: Style::Cut,
        ..program(names, options)
    }
}

const fn words(names: &'static str, options: &'static str) -> ProgramRow {
    row(Kind::Words, names, options)
}

const fn after(operands: usize, names: &'static str, options: &'static str) -> ProgramRow {
    ProgramRow {
        operands,
        ..row(Kind::Words, names, options)
    }
}

const fn or_shell(row: ProgramRow) -> ProgramRow {
    ProgramRow {
        alone: Alone::Shell,
        ..row
    }
}

const fn files(files: Operands, names: &'static str, options: &'static str) -> ProgramRow {
    ProgramRow {
        files,
        style: Style::Cut,
        ..program(names, options)
    }
}

const fn partly(row: ProgramRow) -> ProgramRow {
    ProgramRow {
        lists_values: false,
        ..row
    }
}

pub(crate) const UNKNOWN_PROGRAM: &ProgramRow = &partly(program("", ""));

/// Based on the manuals of 2026. Programs that read file names from an archive or stdin, such as
/// `tar -x`, list none.
#[rustfmt::skip]
pub(super) static PROGRAMS: &[ProgramRow] = &[
    // Other users and machines.
    ProgramRow { assigns: true, ..words("sudo", "A B b C: D/ E e! g: H h: i~ K! k l! N n P p: R: r: S s~ T: t: U: u: V! v! \
        --askpass --background --bell --chdir/ --chroot: --close-from: --command-timeout: --edit! --group: --help! --host: \
        --list! --login~ --no-update --non-interactive --other-user: --preserve-env --preserve-groups --prompt: \
        --remove-timestamp! --reset-timestamp --role: --set-home --shell~ --stdin --type: --user: --validate! --version!") },
    words("doas", "a: C: L! n s~ u:"),
    ProgramRow { operands: 1, ..row(Kind::Login, "su", "- c$ f g: G: l m P p s: T w: --command$ --session-command$ --fast --group: --supp-group: --login \
        --preserve-environment --pty --no-pty --shell: --whitelist-environment: --help! --version!") },
    ProgramRow { operands: 1, ..row(Kind::Login, "runuser", "- c$ f g: G: l m P p s: T u:= w: --command$ --session-command$ --fast --group: --supp-group: \
        --login --preserve-environment --pty --no-pty --shell: --user:= --whitelist-environment: --help! --version!") },
    after(1, "gosu su-exec", "--help! --version!"),
    ProgramRow { operands: 1, alone: Alone::RemoteShell, ..row(Kind::Text, "ssh", "4 6 A a B: b: C c: D: E: e: F: f G! g I: i: \
        J: K k L: l: M m: N! n O!: o: P: p: Q!: q R: S: s T t V! v W!: w: X x Y y") },
    // Other environments.
    ProgramRow { assigns: true, ..words("env", "- 0 a: C/ i S% u: v --argv0: --block-signal --chdir/ --debug --default-signal \
        --help! --ignore-environment --ignore-signal --list-signal-handling --null --split-string% --unset: --version!") },
    words("nice gnice", "# n: --adjustment: --help! --version!"),
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
    or_shell(after(1, "script", "a B: c$ E: e f I: m: O: o: q T: t? --append --command$ --echo: --flush --force --log-in: --log-io: \
        --log-out: --log-timing: --logging-format: --output-limit: --quiet --return --timing? --help! --version!")),
    words("systemd-run", "C: d E: G H: h! M: P p: q r S~ t u: --capsule: --collect --description: --expand-environment: --gid: --host: \
        --machine: --nice: --no-ask-password --no-block --on-active: --on-boot: --on-calendar: --on-startup: --on-unit-active: \
        --on-unit-inactive: --path-property: --pipe --property: --pty --quiet --remain-after-exit --same-dir --scope --send-sighup \
        --service-type: --setenv: --shell~ --slice: --slice-inherit --socket-property: --system --timer-property: --uid: --unit: \
        --user --wait --working-directory: --help! --version!"),
    words("unbuffer", "p"),
    words("caffeinate", "d i m s t: u w:"),
    words("xvfb-run", "a e: f: l n: p: s: w: --auto-servernum --server-args: --server-num: --*"),
    words("ionice", "c: n: P: p: t u: --class: --classdata: --ignore --pgid: --pid: --uid: --help! --version!"),
    words("prlimit", "c? d? e? f? i? l? m? n? o: p: q? r? s? t? u? v? x? y? --noheadings --output: --pid: --raw --*"),
    words("numactl", "C: H! N: a b i: l m: p: s! --all --balancing --cpunodebind: --hardware! --interleave: --localalloc --membind: \
        --physcpubind: --preferred: --preferred-many: --show! --help! --version!"),
    words("setpriv", "d! --ambient-caps: --apparmor-profile: --bounding-set: --clear-groups --dump! --egid: --euid: --groups: \
        --inh-caps: --init-groups --keep-groups --list-caps! --no-new-privs --pdeathsig: --regid: --reset-env --reuid: --rgid: --ruid: \
        --securebits: --selinux-label: --help! --version!"),
    words("cpulimit", "P: b e: f i l: m p: q r s: v z --background --exe: --foreground --include-children --lazy --limit: --path: --pid: \
        --quiet --verbose --help!"),
    after(1, "taskset", "a c p! --all-tasks --cpu-list --pid! --help! --version!"),
    after(1, "chrt", "D: P: R T: a b d f i m! o p! r v --all-tasks --batch --deadline --fifo --idle --max! --other --pid! \
        --reset-on-fork --rr --sched-deadline: --sched-period: --sched-runtime: --verbose --help! --version!"),
    or_shell(words("unshare", "C G: R/ S: T U c f i k? m n p r u w/ --cgroup? --fork --ipc? --keep-caps --kill-child? \
        --map-auto --map-current-user --map-group: --map-groups: --map-root-user --map-user: --map-users: --mount-proc? --mount? --net? \
        --pid? --propagation: --root/ --setgid: --setgroups: --setuid: --time? --user? --uts? --wd/ --help! --version!")),
    // Rare programs: any option leaves the command in doubt.
    or_shell(words("pkexec run0 nsenter firejail fakeroot proot", "")),
    words("systemd-inhibit bwrap tini choom cgexec linux32 linux64 i386 x86_64 arch dbus-run-session sshpass strace ltrace \
        valgrind eatmydata catchsegv dumb-init proxychains winpty", ""),
    words("chronic", "e v"),
    after(1, "setarch mosh", ""),
    words("busybox toybox", "--help! --install! --list! --list-full! --long! --show!:"),
    // Projects, containers and packages.
    program("git-submodule git-bisect perf tmux nix op doppler aws-vault chamber mise asdf direnv poetry pipenv pdm rye bundle conda \
        hatch pixi devbox mamba micromamba dotenvx", ""),
    row(Kind::Text, "git-submodule-foreach", "q --quiet --recursive"),
    words("git-bisect-run asdf-exec", ""),
    row(Kind::Texts, "git-rebase", "x$ --exec$ --onto:"),
    row(Kind::Texts, "git-filter-branch", "--tree-filter$ --index-filter$ --msg-filter$ --env-filter$ --commit-filter$ --setup$"),
    row(Kind::Texts, "nix-shell", "p --run$ --command$"),
    row(Kind::After(&["-c", "--command"]), "nix-develop", ""),
    after(1, "kubectl-exec oc-exec", "c: i n: q t --container: --context: --namespace: --*"),
    words("uv-run", "m! p: q v --directory: --env-file: --extra: --group: --package: --project: --python: --with: --with-requirements: --*"),
    words("conda-run mamba-run micromamba-run", "n: p: r: v --cwd/ --debug-wrapper-scripts --dev --live-stream --name: \
        --no-capture-output --prefix: --root-prefix:"),
    words("hatch-run", "e: q v --env: --verbose --quiet"),
    words("pixi-run pixi-r pixi-exec", "c: e: q s: v --channel: --clean-env --color: --environment: --frozen --locked \
        --manifest-path: --no-lockfile-update --quiet --spec: --verbose"),
    words("devbox-run", "c: e: q --config: --env: --env-file: --environment: --list! --omit-nix-env --pure --quiet"),
    words("uvx poetry-run pipenv-run pdm-run rye-run bundle-exec", "n: p: --from: --name: --python: --with: --*"),
    words("npx bunx pnpx npm-exec npm-x pnpm-exec pnpm-dlx yarn-exec yarn-dlx bun-x", "c$ p: q y --call$ --package: --*"),
    after(1, "direnv-exec", ""),
    row(Kind::AfterDashes, "mise-exec mise-x dotenv dotenvx-run op-run doppler-run aws-vault-exec chamber-exec", ""),
    words("rlwrap torsocks proxychains4 perf-stat perf-record", "a d e: g o: q r: --*"),
    row(Kind::Text, "hyperfine", "i m: n: r: w: --export-json: --prepare: --runs: --warmup: --*"),
    row(Kind::Text, "tmux-send-keys tmux-send", "l R t:"),
    row(Kind::Text, "tmux-new-session tmux-new tmux-new-window tmux-neww tmux-split-window tmux-splitw", "A a b c: D d E e: F: f h I k l: n: P p: S s: t: v X x: y: Z"),
    words("screen", "A a c: D d e: f h: i L l m n O p: q R r! S: s: T: t: U v! w! X! x!"),
    row(Kind::Texts, "cargo-watch", "s$ --shell$"),
    row(Kind::Alias, "hash", ""),
    // Repeated commands.
    ProgramRow { kind: Kind::WordsAndMore, ..words("xargs gxargs", "0 a: d: E: e? I@ i@? L: l? n: o P: p r s: t x --arg-file: --delimiter: --eof? \
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
    ProgramRow { style: Style::OneDash, files: Operands::Searches, ..row(Kind::After(&["-exec", "-execdir", "-ok", "-okdir"]), "find gfind",
        "-delete_ -name: -iname: -path: -ipath: -type: -maxdepth: -mindepth: -newer: -mtime: -size: -user: -perm: -regex: -exec:") },
    partly(row(Kind::After(&["-x", "-X", "--exec", "--exec-batch"]), "fd fdfind", "")),
    // Shells and other readers of commands.
    row(Kind::Shell, "sh bash dash zsh ksh ash rbash mksh", "- a B b C c= D E e f G H h i k l m n O> o> P p r s~ T t u v X x \
        --debugger --emulate: --init-file: --login --noediting --noprofile --no-rcs --norc --posix --rcfile: --restricted --verbose --help! --version!"),
    row(Kind::Shell, "fish", "C$ c$ D: d: f: h! i l N n o: P p: v! --command$ --debug: --debug-output: --features: --init-command$ --interactive \
        --login --no-config --no-execute --private --help! --version!"),
    // Other shells: their text is not parsed.
    or_shell(partly(words("csh tcsh pwsh powershell", ""))),
    partly(after(1, "cmd", "")),
    row(Kind::Text, "eval", ""),
    row(Kind::Alias, "alias", "p"),
    row(Kind::Trap, "trap", "l! p!"),
    row(Kind::Source, "source .", "p:"),
    // An exact option is never an abbreviation of a longer one.
    ProgramRow { style: Style::CutByCommand, ..row(Kind::Git, "git", "C/ c: --attr-source: --shallow-file: --git-dir: --work-tree/ --namespace: --exec-path: --config-env: \
        --super-prefix: m: --message: F: --file: o: --push-option: b: B: --orphan: X: --strategy-option: --strategy: --onto: --author: --date: \
        --since: --until: --format: --pretty: --depth: --branch: --origin: --receive-pack: --repo: --expire: --expire-unreachable: --source: \
        --pathspec-from-file: --force --no --all --tag --dry-run --recurse") },
    row(Kind::Interpreter, "python python2 python3 pypy pypy3 ipython", "W: X: - i q u B E I s S O OO d a x l --interactive"),
    row(Kind::Interpreter, "node nodejs php tsx ts-node Rscript deno-run bun-run", "- i q u B E I s S O OO d a x l --interactive"),
    partly(row(Kind::Interpreter, "irb lua luajit", "- i q u B E I s S O OO d a x l --interactive")),
    partly(ProgramRow { kind: Kind::Interpreter, ..files(Operands::WritesAfter, "perl ruby",
        "- i?^ q u B s S O OO d a x l e:= E:= F: I: m: M: r: --interactive") }),
    // Programs that write or remove files.
    files(Operands::Deletes, "rm rmdir unlink", "r_ R_ --recursive_"),
    files(Operands::Deletes, "gzip gunzip bzip2 bunzip2 xz unxz lzma zstd unzstd", "c! l! o+ r_ S: t! T: --list! --recursive_ --stdout! --suffix: --test! --to-stdout!"),
    program("gio 7z 7za 7zr 7zz", ""),
    files(Operands::Tracked, "gio-trash gio-remove trash trash-put", "--empty! --list! --restore!"),
    files(Operands::Extracts, "7z-x 7z-e 7za-x 7za-e 7zr-x 7zr-e 7zz-x 7zz-e", "a? i? m? o& p? x? y"),
    files(Operands::Writes, "tee sponge", ""),
    files(Operands::Tracked, "git-rm", "--pathspec-from-file: --cached!"),
    files(Operands::Reads, "git-add", "--chmod: --pathspec-from-file:"),
    files(Operands::Deletes, "shred", "n: s: --iterations: --size: --random-source:"),
    files(Operands::Writes, "truncate", "r: s: --reference: --size:"),
    files(Operands::Writes, "touch", "d: r: t: --date: --reference: --time:"),
    files(Operands::Writes, "mkdir mkfifo", "m: --mode:"),
    // `chmod -x FILE` has its mode in an option.
    files(Operands::WritesAfter, "chmod", "R_ --recursive_ r= w= x= X= s= t= u= g= o= a= 0= 1= 2= 3= 4= 5= 6= 7= --reference:="),
    files(Operands::WritesAfter, "chown chgrp", "R_ --recursive_ --reference:= --from:"),
    files(Operands::Copies, "cp ln", "r_ R_ a_ --recursive_ --archive_ S: t& --suffix: --target-directory&"),
    files(Operands::Moves, "mv", "S: t& --suffix: --target-directory&"),
    files(Operands::Copies, "install", "d= g: m: o: S: t& --directory= --group: --mode: --owner: --strip --strip-program: --suffix: --target-directory&"),
    files(Operands::CopiesHere, "rsync", "a_ r_ --archive_ --recursive_ --del< --delete< --delete-before< --delete-during< --delete-delay< --delete-after< --delete-excluded< B: e: f: M: T: --rsh: --rsync-path: --filter: --exclude: --exclude-from: --include: --include-from: --files-from: \
        --backup-dir: --suffix: --temp-dir: --compare-dest: --copy-dest: --link-dest: --chmod: --chown: --password-file: --port: --timeout: --bwlimit:"),
    files(Operands::CopiesHere, "scp", "r_ c: D: F: i: J: l: o: P: S: X:"),
    files(Operands::Assigned, "dd", ""),
    partly(files(Operands::WritesAfter, "sed", "e:= f:= i?^ l: --expression:= --file:= --in-place^ --line-length:")),
    partly(files(Operands::WritesAfter, "yq", "i^ o: p: --from-file:= --inplace^")),
    partly(files(Operands::WritesFirst, "patch", "B: D: d/ F: i: o+ p: r: V: Y: z: --directory/ --fuzz: --input: --output+ --reject-file: --strip:")),
    partly(files(Operands::Reads, "sort gcc g++ cc clang", "o+ --output+")),
    files(Operands::Fetched, "curl", "A: b: C: c+ D+ d: E: e: F: H: K: m: O^ o+ P: Q: r: T: U: u: w: X: x: Y: y: z: \
        --cacert: --cert: --config: --cookie-jar+ --cookie: --data-binary: --data-raw: --data: --dump-header+ --form: --header: --key: --max-time: \
        --output+ --output-dir& --proxy: --referer: --remote-name^ --request: --retry: --upload-file: --user-agent: --user: --write-out:"),
    files(Operands::Fetched, "wget", "A: a+ B: D: e: I: i: l: O+! o+ P& Q: R: T: t: U: w: X: --append-output+ --directory-prefix& --header: --input-file: \
        --output-document+! --output-file+ --password: --post-data: --post-file: --timeout: --tries: --user-agent: --user:"),
    partly(files(Operands::Extracts, "tar bsdtar", "C/ --directory/ f: --file: x} --extract} --get}")),
    partly(files(Operands::Extracts, "unzip", "d& l! t! p! Z! v! x:")),
    partly(files(Operands::Reads, "cat tac nl head tail less more bat wc file stat strings xxd od hexdump base64 md5sum sha1sum sha256sum cksum \
        uniq cut diff cmp comm column fold rev paste zcat", "")),
    partly(files(Operands::ReadsAfter, "awk gawk jq zip", "e:= f:= F: r_ --file:=")),
    // Options that print no lines do not show file content.
    partly(files(Operands::ReadsAfter, "grep egrep fgrep rg ag", "c! l! q! e:= f:= A: B: C: m: r_ R_ --recursive_ --regexp:= --file:= \
        --count! --files-with-matches! --quiet!")),
    files(Operands::Moves, "git-mv", ""),
    files(Operands::Tracked, "git-clean", "e: n! --dry-run! --exclude:"),
    files(Operands::Tracked, "git-restore", "s: S! W^ --conflict: --pathspec-from-file: --source: --staged! --worktree^"),
    files(Operands::AllTracked, "git-reset", "--hard^ --keep^ --merge^"),
    files(Operands::TrackedAfter, "git-checkout", "B: b: --conflict: --orphan: --pathspec-from-file:"),
    files(Operands::Patches, "git-apply", "C: p: --apply^ --cached! --check! --directory/ --exclude: --include: --numstat! --stat! --summary!"),
    files(Operands::Enters, "cd pushd", ""),
    // Other programs in policies.
    ProgramRow { style: Style::OneDash, ..program("terraform tofu terragrunt", "") },
    program("kubectl oc k9s", "n: --namespace: --context: --cluster: --kubeconfig: --user: s: --server: --token: --as: --as-group: l: --selector: f: \
        --filename: o: --output: c: --container: --field-selector: --grace-period: --timeout: k: --kustomize: p: --patch: --type: --replicas:"),
    program("helm", "n: --namespace: --kube-context: --kubeconfig: f: --values: --set: --set-string: --version: --repo: --timeout:"),
    program("docker podman nerdctl", "H: --host: c: --context: --config: l: --log-level: f| --file: p: --project-name: --profile: --env-file: \
        --project-directory: --filter: v| --volume: e: --env: --name: --network: w: --workdir: u: --user: --entrypoint: --mount: t| --timeout: --tag: \
        --publish: --label: --platform: --memory: --cpus:"),
    after(1, "docker-run docker-create docker-exec docker-container-run docker-container-exec podman-run podman-create podman-exec nerdctl-run \
        nerdctl-create nerdctl-exec", "a: c: d e: h: i l: m: p: P q t u: v: w: --cpus: --entrypoint: --env: --env-file: --label: --memory: --mount: \
        --name: --network: --platform: --publish: --user: --volume: --workdir: --*"),
    after(1, "docker-compose-exec docker-compose-run podman-compose-exec podman-compose-run", "d e: i p: q t T u: v: w: --env: --entrypoint: --index: \
        --name: --publish: --user: --volume: --workdir: --*"),
    program("docker-container podman-container", ""),
    program("docker-compose podman-compose nerdctl-compose", "f: --file: p: --project-name: --profile: --env-file: --project-directory: H: --host: t: --timeout:"),
    program("pnpm", "C: F: --dir: --filter: --registry: --tag: --otp: --access:"),
    program("npm yarn bun deno", "w: --workspace: --registry: --prefix: --tag: --otp: --access: C: --dir: --filter: --cwd:"),
    program("pip pip3 uv", "r: --requirement: c: --constraint: i: --index-url: --extra-index-url: t: --target: --python: p: --prefix: --root: \
        --index:"),
    program("cargo", "p: --package: --manifest-path: --target: --target-dir: --features: F: j: --jobs: --bin: --example: --test: --bench: --profile: \
        --registry: --index: --token: --config: Z: --color:"),
    program("apt apt-get dnf yum brew pacman apk", "o: c: t: --target-release:"),
    program("aws", "--profile: --region: --endpoint-url: --output: --query: --bucket: --key: --cli-input-json:"),
    program("gcloud", "--project: --account: --configuration: --format: --zone: --region: --impersonate-service-account:"),
    program("az", "--subscription: g: --resource-group: n: --name: o: --output: --query:"),
    program("gh", "R: --repo: b: --body: t: --title: F: --body-file: B: --base: H: --head: X: --method: f: q: --jq: --json: l: --label:"),
    program("psql", "c: --command: d: --dbname: f: --file: h: --host: p: --port: U: --username: v: --set: o: --output: L:"),
    program("mysql mariadb", "e: --execute: h: --host: P: --port: u: --user: D: --database: S: --socket:"),
    program("systemctl service journalctl", "H: --host: M: --machine: t: --type: p: --property: n: --lines: u: --unit: s: --signal:"),
    program("kill pkill killall", "s: --signal: u: --euid: U: --uid: t: --terminal: P: --parent: g: --pgroup:"),
    program("make", "C: --directory: f: --file: I: j| --jobs| l| --load-average| o: W:"),
];

/// Aliases of subcommands: the program, then the usual name and its aliases.
const ALIASES: &[(&str, &[&str])] = &[
    ("helm", &["uninstall", "un", "del", "delete"]),
    ("docker", &["rm", "remove"]),
    ("podman", &["rm", "remove"]),
    ("npm", &["install", "i", "in", "ins", "isntall", "add"]),
    ("npm", &["publish", "pub"]),
    ("pnpm", &["add", "i", "install"]),
    ("pulumi", &["destroy", "down", "dn"]),
    ("nix", &["develop", "shell"]),
];

/// Returns the usual name of a subcommand, which rules use.
pub(super) fn usual_name(program: &str, command: &str) -> Option<&'static str> {
    let names = ALIASES.iter().filter(|(name, _)| *name == program);
    let mut known = names.map(|(_, names)| names);
    known.find_map(|names| names[1..].contains(&command).then_some(names[0]))
}

impl ProgramRow {
    /// Returns true if the arguments end in the command that it runs.
    pub(super) fn is_prefix(&self) -> bool {
        self.kind == Kind::Words
    }

    /// Returns true if the arguments contain the command that it runs.
    pub(super) fn is_wrapper(&self) -> bool {
        matches!(
            self.kind,
            Kind::Words | Kind::Text | Kind::WordsAndMore | Kind::Parallel | Kind::Shell
        )
    }

    /// Returns the row of a subcommand: `git-rm` for `git` and `rm`.
    pub(super) fn command(&self, name: &str, command: &str) -> Option<&'static ProgramRow> {
        if !matches!(self.kind, Kind::Itself | Kind::Git) {
            return None;
        }
        let command = usual_name(name, command).unwrap_or(command);
        named(&format!("{name}-{command}"))
    }

    pub(crate) fn uses(&self, mark: char) -> bool {
        self.options.contains(mark)
    }

    /// Returns true if `given` is the option `name` or an abbreviation of it.
    pub(crate) fn is_named(&self, given: &str, name: &str) -> bool {
        let is_cut = matches!(self.style, Style::Cut | Style::CutByCommand);
        let is_short = is_cut && given.len() > 2 && name.starts_with(given);
        given == name || is_short && self.listed(given).is_none()
    }

    /// Returns the marks of an option, which may be abbreviated as GNU allows; `None` if not
    /// listed.
    pub(super) fn marks(&self, option: &str) -> Option<&'static str> {
        let listed = self.listed(option);
        if listed.is_some() || !option.starts_with("--") || self.style != Style::Cut {
            return listed;
        }
        let mut longer = self.rows().filter(|(name, _)| name.starts_with(option));
        match longer.next() {
            Some((_, first)) => longer.all(|(_, other)| other == first).then_some(first),
            None => self.listed("--*").map(|_| ""),
        }
    }

    fn listed(&self, option: &str) -> Option<&'static str> {
        let mut all = self.options.split_ascii_whitespace();
        all.find_map(|listed| {
            let marks = listed.strip_prefix(option)?;
            let is_longer =
                marks.starts_with(|c: char| "-*".contains(c) || c.is_ascii_alphanumeric());
            (!is_longer).then_some(marks)
        })
    }

    fn rows(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let options = self.options.split_ascii_whitespace();
        options.map(|option| {
            let marks =
                option.trim_start_matches(|c: char| "-#*".contains(c) || c.is_alphanumeric());
            option.split_at(option.len() - marks.len())
        })
    }
}

/// More than twice the number of names, to keep collisions rare.
const SLOTS: usize = 2048;

/// Row numbers, from 1, by hash of the name, with linear probing.
static ROWS_BY_NAME: [u16; SLOTS] = rows_by_name();

const fn rows_by_name() -> [u16; SLOTS] {
    let mut slots = [0; SLOTS];
    let mut row = 0;
    while row < PROGRAMS.len() {
        let names = PROGRAMS[row].names.as_bytes();
        let mut hash = FIRST_HASH;
        let mut at = 0;
        while at <= names.len() {
            if at == names.len() || names[at] == b' ' {
                let mut slot = hash as usize % SLOTS;
                while slots[slot] != 0 {
                    slot = (slot + 1) % SLOTS;
                }
                slots[slot] = row as u16 + 1;
                hash = FIRST_HASH;
            } else {
                hash = hash_with(hash, names[at]);
            }
            at += 1;
        }
        row += 1;
    }
    slots
}

/// FNV-1a, 32 bits: offset basis and prime.
const FIRST_HASH: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

const fn hash_with(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(PRIME)
}

fn named(name: &str) -> Option<&'static ProgramRow> {
    let mut slot = name.bytes().fold(FIRST_HASH, hash_with) as usize % SLOTS;
    while let Some(row) = usize::from(ROWS_BY_NAME[slot]).checked_sub(1) {
        let row = &PROGRAMS[row];
        if row.names.split(' ').any(|known| known == name) {
            return Some(row);
        }
        slot = (slot + 1) % SLOTS;
    }
    None
}

/// Returns the row of a program, by base name; `python3.12` is `python`.
pub(crate) fn find(name: &str) -> Option<&'static ProgramRow> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    named(name).or_else(|| named(bare).filter(|row| row.kind == Kind::Interpreter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_program_is_in_two_rows_and_no_option_twice_in_one() {
        let mut seen = HashSet::new();
        for row in PROGRAMS {
            for name in row.names.split(' ') {
                assert!(seen.insert(name), "{name} appears twice");
            }
            let mut options = HashSet::new();
            for (option, marks) in row.rows() {
                assert!(
                    options.insert(option),
                    "{}: {option} appears twice",
                    row.names
                );
                assert!(
                    marks.chars().all(|c| ":?>|$%@+&/!^~=_}<".contains(c)),
                    "{}: {marks}",
                    row.names
                );
            }
        }
    }
}
