#!/usr/bin/env bash
# test.sh [PROGRAM | --from FOLDER]: makes every package for this machine, twice, installs each without
# a network in a separate home, and compares what it has installed with the program itself. Without
# PROGRAM it builds what would be shipped. With --from it makes nothing: it tests the packages in FOLDER,
# which are those of a release. It prints one line for each check, and fails if one fails.
set -euo pipefail
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
here=$root/packaging
case $(uname -s)/$(uname -m) in
Linux/x86_64) target=x86_64-unknown-linux-musl ;;
Linux/aarch64) target=aarch64-unknown-linux-musl ;;
*) die 'packages are tested on Linux' ;;
esac
place=$(mktemp -d)
trap 'rm -rf -- "$place"' EXIT
program=
is_shipped=
packages=
case ${1-} in
--from)
    [[ $# = 2 && -d $2 ]] || die 'usage: test.sh --from FOLDER'
    packages=$(cd -- "$2" && pwd)
    is_shipped=yes
    tarball=$packages/hookrun-$version-$target.tar.gz
    [[ -f $tarball ]] || die "there is no $(basename -- "$tarball") in $2"
    tar -xzf "$tarball" -C "$place"
    program=$place/hookrun-$version-$target/bin/hookrun
    ;;
'')
    program=$("$here/build.sh" "$target")
    is_shipped=yes
    ;;
*) program=$1 ;;
esac
program=$(cd -- "$(dirname -- "$program")" && pwd)/$(basename -- "$program")
if [[ -z $is_shipped ]] && command -v strip >/dev/null; then
    # Without what only a debugger reads, it packs in a tenth of the time.
    strip -o "$place/hookrun" "$program"
    program=$place/hookrun
fi

failures=0
ok() { printf 'ok      %s\n' "$*"; }
not_ok() {
    printf 'FAILED  %s\n' "$*"
    failures=$((failures + 1))
}
skip() { printf 'skipped %s\n' "$*"; }
# check NAME COMMAND...
check() {
    local name=$1
    shift
    if "$@" >"$place/said" 2>&1; then ok "$name"; else
        not_ok "$name"
        sed 's/^/        /' "$place/said"
    fi
}

# Twice, in two folders: not a byte may differ.
make_all() {
    local out=$1 stage=$1.stage
    mkdir -p "$out"
    "$here/stage.sh" "$target" "$program" "$stage"
    "$here/tarball.sh" "$target" "$stage" "$out"
    "$here/wheel.sh" "$target" "$stage" "$out"
    if command -v dpkg-deb >/dev/null; then "$here/deb.sh" "$target" "$stage" "$out"; fi
    if command -v npm >/dev/null; then "$here/npm.sh" "$out" "$target=$stage"; fi
    "$here/formula.sh" "$out" https://example.invalid/releases >"$out/hookrun.rb"
    "$here/sums.sh" "$out"
}
if [[ -z $packages ]]; then
    make_all "$place/one"
    make_all "$place/two"
    check 'two makes of the packages are equal to the byte' diff -r "$place/one" "$place/two"
    packages=$place/one
fi
sums_are_right() {
    local unnamed
    (cd -- "$packages" && sha256sum --quiet --check SHA256SUMS) || return
    unnamed=$(find "$packages" -type f ! -name 'SHA256SUMS*' -printf '%P\n' | grep -vxFf <(awk '{ print $2 }' "$packages/SHA256SUMS") || :)
    [[ -z $unnamed ]] || { printf 'without a sum: %s\n' "$unnamed"; false; }
}
check 'SHA256SUMS names every file, and is right' sums_are_right
# The current sizes, to detect growth. The goal is 4 MiB for a package, 7 MiB for the program.
largest() { find "$packages" -type f -size +6144k -printf '%f is larger than 6 MiB (%s bytes)\n' | tee /dev/stderr | (! grep -q .); }
if [[ -n $is_shipped ]]; then check 'no package is larger than 6 MiB' largest; fi
is_small() { (($(stat -c %s "$program") <= 14 * 1024 * 1024)) || { stat -c '%s bytes' "$program"; false; }; }
if [[ -n $is_shipped ]]; then check 'the program has at most 14 MiB' is_small; fi

# The package for crates.io: the source of the library and the program, and every text that they contain.
crate() { (cd -- "$root" && cargo package --offline --allow-dirty "$@"); }
has_what_is_needed() {
    local needless lacking
    crate --list >"$place/listed"
    needless=$(grep -E '^(tests|fixtures|fuzz|packaging|ci|benches|man/.*[.]1$)' "$place/listed" || :)
    lacking=$(
        cd -- "$root"
        {
            grep -rhoE '"(hooks[.]d|gates)/[^" ]+[.](sh|py|toml|json|tf)"' src/cli/add.rs | tr -d '"'
            grep -rhoE 'CARGO_MANIFEST_DIR"\), "/(gates|docs|man)/[^"]+"' --exclude=tests.rs src/cli | sed 's/.*"\/\(.*\)"/\1/'
            find man -name '*.5'
        } | sort -u | grep -vxFf "$place/listed" || :
    )
    [[ -z $needless$lacking ]] || { printf 'needless: %s\nlacking: %s\n' "$needless" "$lacking"; false; }
}
is_packed() {
    crate --no-verify --target-dir "$place/crates" &&
        (($(stat -c %s "$place/crates/package/hookrun-$version.crate") <= 2 * 1024 * 1024))
}
if command -v cargo >/dev/null; then
    check 'crates.io: all that is needed, and no tests' has_what_is_needed
    check 'crates.io: at most 2 MiB' is_packed
else
    skip 'crates.io: there is no cargo here'
fi

# The behaviour of the program: hooks that allow, block and wait, and events good and bad.
work=$place/work
mkdir -p "$work/hooks.d/tool.pre" "$work/home" "$work/waits/tool.pre"
# shellcheck disable=SC2016 # A hook's own text.
printf '#!/bin/sh\nsha256sum >"$HOME/seen"\nexit 0\n' >"$work/hooks.d/tool.pre/10-see"
# shellcheck disable=SC2016
printf '#!/bin/sh\ncase $HOOKRUN_ACTION_COMMAND in *rm*) echo "no rm" >&2; exit 1 ;; esac\n' >"$work/hooks.d/tool.pre/20-guard"
# shellcheck disable=SC2016
printf '#!/bin/sh\n: >"$HOME/waits"\nexec sleep 30\n' >"$work/waits/tool.pre/10-wait"
chmod +x "$work"/*/tool.pre/*
event() { printf '{"toolName":"bash","toolInput":{"command":"%s"}}' "$1"; }
event ls >"$work/allow"
event 'rm x' >"$work/block"
{ printf '{"toolName":"bash","toolInput":{"command":"ls","text":"'; head -c 1048576 /dev/zero | tr '\0' x; printf '"}}'; } >"$work/large"
awk 'BEGIN { for (i = 0; i < 1048576; i++) printf "%c", i % 256 }' >"$work/bytes"

# answers PROGRAM PATH: its statuses, streams and what a hook got of stdin, as one text.
answers() {
    local hookrun=$1 path=$2 input arguments
    cd -- "$work"
    for arguments in --version 'no-such-command' 'run tool.pre --hooks hooks.d' 'test tool.pre --hooks hooks.d'; do
        for input in allow block large bytes; do
            local status=0
            rm -f home/seen
            # shellcheck disable=SC2086 # Several words.
            env -i HOME="$work/home" PATH="$path" "$hookrun" $arguments <"$input" >out 2>err || status=$?
            printf '== %s < %s: %s\n' "$arguments" "$input" "$status"
            sed -E 's/[0-9.]+ (ms|s)\b/TIME/g' out err
            cat home/seen 2>/dev/null || :
        done
    done
    rm -f home/waits
    env -i HOME="$work/home" PATH="$path" "$hookrun" run tool.pre --hooks waits <allow >out 2>err &
    local pid=$! status=0
    for _ in {1..500}; do
        [[ -e home/waits ]] && break
        sleep 0.02
    done
    sleep 1
    kill -TERM "$pid"
    wait "$pid" || status=$?
    printf '== SIGTERM: %s\n' "$status"
}
usual=/usr/local/bin:/usr/bin:/bin
(answers "$program" "$usual") >"$place/expected"
for status in 'allow: 0' 'block: 1' 'no-such-command < allow: 2'; do
    check "the program itself ends with ${status##* } for ${status%:*}" grep -q "$status" "$place/expected"
done
# same NAME PROGRAM PATH
same() {
    (answers "$2" "$3") >"$place/answers"
    check "$1: statuses, streams, 1 MiB and all bytes of stdin, SIGTERM" diff "$place/expected" "$place/answers"
}
is_program() { cmp "$program" "$1"; }
# Not a pipe: grep leaves at the first match, and under pipefail gzip's SIGPIPE would count.
has_page() { grep -q '^\.TH' <(gzip -dc "$1"); }
nothing_in() { find "$1" -mindepth 1 | tee /dev/stderr | (! grep -q .); }

# The tarball, and install.sh.
prefix=$place/prefix
mkdir "$prefix"
get() { env -i HOME="$work/home" PATH="$usual" sh "$here/install.sh" "$@"; }
check 'install.sh installs from a folder' get --from "$packages" --version "$version" --prefix "$prefix"
check 'install.sh: the program is the one that was built' is_program "$prefix/bin/hookrun"
check 'install.sh: a man page' has_page "$prefix/share/man/man1/hookrun-run.1.gz"
check 'install.sh: completions' test -s "$prefix/share/zsh/site-functions/_hookrun"
same install.sh "$prefix/bin/hookrun" "$usual"
check 'install.sh replaces itself' get --from "file://$packages" --version "$version" --prefix "$prefix"
check 'install.sh --uninstall' get --uninstall --prefix "$prefix"
check 'install.sh leaves nothing' nothing_in "$prefix"
cp -R "$packages" "$place/damaged"
printf x >>"$place/damaged/hookrun-$version-$target.tar.gz"
rejects_damage() {
    ! get --from "$place/damaged" --version "$version" --prefix "$prefix" 2>"$place/why" &&
        grep -q 'is damaged' "$place/why" && nothing_in "$prefix"
}
check 'install.sh rejects a damaged archive, and writes nothing' rejects_damage
in_empty_root() {
    local folder=$place/root
    mkdir -p "$folder"
    tar -xzf "$packages/hookrun-$version-$target.tar.gz" -C "$folder"
    unshare -r chroot "$folder" "/hookrun-$version-$target/bin/hookrun" --version
}
if unshare -r true 2>/dev/null; then
    check 'the tarball: the program runs in an empty root' in_empty_root
else
    skip 'the program in an empty root: this system has no user namespaces'
fi

# The Debian package.
if command -v dpkg >/dev/null && command -v dpkg-deb >/dev/null; then
    deb=$(find "$packages" -name "*_$(column "$target" 3).deb")
    debian=$place/debian
    mkdir -p "$debian/var/lib/dpkg/info" "$debian/var/lib/dpkg/updates"
    : >"$debian/var/lib/dpkg/status"
    # A slim image of Debian tells dpkg to leave manual pages out; here all of the package counts.
    dpkg_there() {
        dpkg --root="$debian" --force-not-root --force-bad-path --log=/dev/null --path-include='/*' "$@"
    }
    check 'deb: installs' dpkg_there --install "$deb"
    check 'deb: the program is the one that was built' is_program "$debian/usr/bin/hookrun"
    check 'deb: a man page' has_page "$debian/usr/share/man/man5/hookrun-hook.5.gz"
    check 'deb: completions' test -s "$debian/usr/share/bash-completion/completions/hookrun"
    same deb "$debian/usr/bin/hookrun" "$usual"
    check 'deb: purges' dpkg_there --purge hookrun
    rm -rf "${debian:?}/var"
    check 'deb leaves nothing' nothing_in "$debian"
    if command -v lintian >/dev/null; then check 'deb: lintian finds no error' lintian --fail-on error "$deb"; fi
else
    skip 'deb: there is no dpkg here'
fi

# The wheel.
python=$(python3 -c 'import sys; print(sys.executable)')
venv=$place/venv
if "$python" -m venv "$venv" 2>/dev/null; then
    find "$venv" | sort >"$place/before"
    quiet_pip() { env -i HOME="$work/home" PATH="$usual" PIP_DISABLE_PIP_VERSION_CHECK=1 "$venv/bin/python" -m pip --quiet "$@"; }
    check 'wheel: pip installs it without a network' quiet_pip install --no-index "$packages"/*-"$(column "$target" 4)".whl
    check 'wheel: the program is the one that was built' is_program "$venv/bin/hookrun"
    check 'wheel: a man page' has_page "$venv/share/man/man1/hookrun-run.1.gz"
    same wheel "$venv/bin/hookrun" "$usual"
    check 'wheel: pip uninstalls it' quiet_pip uninstall --yes hookrun
    find "$venv" -name __pycache__ -prune -o -print | sort >"$place/after"
    leaves_nothing() { ! comm -13 "$place/before" "$place/after" | grep hookrun; }
    check 'wheel leaves nothing' leaves_nothing
else
    skip 'wheel: this Python makes no virtual environments'
fi

# The npm packages, with the program in the launcher's place and with the launcher itself.
if command -v npm >/dev/null; then
    node=$(dirname -- "$(command -v node)")
    for how in swapped launcher; do
        folder=$place/npm-$how
        mkdir -p "$folder"
        printf '{ "private": true }\n' >"$folder/package.json"
        flags=(--offline --no-audit --no-fund --silent --omit=dev)
        if [[ $how = launcher ]]; then flags+=(--ignore-scripts); fi
        # npm takes the packages of other machines, which are optional, for missing.
        get_npm() { (cd "$folder" && env -i HOME="$work/home" PATH="$node:$usual" npm install "${flags[@]}" "$packages/hookrun-$(column "$target" 2)-$version.tgz" "$packages/hookrun-$version.tgz"); }
        check "npm, $how: installs without a network" get_npm
        if [[ $how = swapped ]]; then
            check "npm, $how: the program is the one that was built" is_program "$folder/node_modules/hookrun/bin/hookrun"
        fi
        same "npm, $how" "$folder/node_modules/.bin/hookrun" "$node:$usual"
        drop_npm() { (cd "$folder" && env -i HOME="$work/home" PATH="$node:$usual" npm uninstall --silent hookrun @hookrun/linux-x64 @hookrun/linux-arm64); }
        check "npm, $how: uninstalls" drop_npm
        leaves_nothing() { ! find "$folder" -type f -path '*hookrun*' | grep .; }
        check "npm, $how: leaves nothing" leaves_nothing
    done
else
    skip 'npm: it is not installed'
fi

if command -v ruby >/dev/null; then
    check 'the Homebrew formula is Ruby' ruby -c "$packages/hookrun.rb"
else
    skip 'the Homebrew formula: there is no ruby here'
fi

# Without a network there is no nixpkgs: a set that gives back what it gets stands for it.
if command -v nix-instantiate >/dev/null; then
    flake_names() {
        cat >"$place/flake.nix" <<NIX
let
  package = values: values;
  nixpkgs = {
    lib.genAttrs = names: make:
      builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
    lib.licenses = { mit = "MIT"; asl20 = "Apache-2.0"; };
    legacyPackages = builtins.listToAttrs (map (name: {
      inherit name;
      value = { rustPlatform.buildRustPackage = package; installShellFiles = "installShellFiles"; };
    }) [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ]);
  };
  made = ((import $root/flake.nix).outputs { self = $root; inherit nixpkgs; }).packages.x86_64-linux.default;
in
assert builtins.pathExists made.cargoLock.lockFile;
"\${made.pname} \${made.version} \${made.meta.mainProgram} \${builtins.concatStringsSep " " made.meta.license}"
NIX
        NIX_STATE_DIR=$place/nix NIX_STORE_DIR=$place/nix/store \
            nix-instantiate --eval --readonly-mode "$place/flake.nix" | tee /dev/stderr |
            grep -qxF "\"hookrun $version hookrun MIT Apache-2.0\""
    }
    check 'the Nix flake gives this package, its version and its lock file' flake_names
else
    skip 'the Nix flake: there is no nix-instantiate here'
fi

printf '\n%s failed\n' "$failures"
((failures == 0))
