#!/bin/sh
# Installs hookrun for one user: fetches a release, checks it, and writes below --prefix. No root.
#
#   install.sh [--from PLACE] [--version VERSION] [--prefix FOLDER] [--key MINISIGN_KEY]
#   install.sh --uninstall [--prefix FOLDER]
#
# PLACE is the folder or address with the files of a release. With --key the signature of its
# checksums is verified too (minisign must be installed).
set -eu

# The release workflow writes both.
from=
version=
prefix=${HOME-}/.local
key=
is_uninstall=

die() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --uninstall) is_uninstall=yes ;;
    --from | --version | --prefix | --key)
        [ $# -ge 2 ] || die "$1 needs a value"
        case $1 in
        --from) from=${2%/} ;;
        --version) version=$2 ;;
        --prefix) prefix=${2%/} ;;
        --key) key=$2 ;;
        esac
        shift
        ;;
    *) die "unknown argument $1; the options are --from, --version, --prefix, --key and --uninstall" ;;
    esac
    shift
done
case $prefix in /.local | '') die 'HOME is not set; name a folder with --prefix' ;; esac

list=$prefix/share/hookrun/installed
uninstall() {
    while IFS= read -r file; do
        rm -f -- "$prefix/$file"
        # Folders that are empty now were ours, or nobody needs them.
        folder=$(dirname -- "$prefix/$file")
        while [ "$folder" != "$prefix" ] && rmdir -- "$folder" 2>/dev/null; do
            folder=$(dirname -- "$folder")
        done
    done <"$list"
    rm -f -- "$list"
    rmdir -- "$prefix/share/hookrun" "$prefix/share" 2>/dev/null || :
}
if [ -n "$is_uninstall" ]; then
    [ -f "$list" ] || die "nothing was installed by this script: there is no $list"
    uninstall
    exit 0
fi

[ -n "$from" ] || die 'where is the release? Name its folder or address with --from'
[ -n "$version" ] || die 'which version? Name it with --version'
case $(uname -s)/$(uname -m) in
Linux/x86_64) target=x86_64-unknown-linux-musl ;;
Linux/aarch64 | Linux/arm64) target=aarch64-unknown-linux-musl ;;
Darwin/x86_64) target=x86_64-apple-darwin ;;
Darwin/arm64) target=aarch64-apple-darwin ;;
*) die "there is no program for $(uname -s) on $(uname -m); build it from source with cargo" ;;
esac

place=$(mktemp -d)
trap 'rm -rf -- "$place"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fetch() {
    case $from in
    *://*)
        if command -v curl >/dev/null; then
            curl -fsSL --proto '=https,http,file' -o "$place/$1" -- "$from/$1"
        elif command -v wget >/dev/null; then
            wget -q -O "$place/$1" -- "$from/$1"
        else
            die 'neither curl nor wget is installed'
        fi
        ;;
    *) cp -- "$from/$1" "$place/$1" ;;
    esac || die "cannot fetch $from/$1"
}

name=hookrun-$version-$target
fetch SHA256SUMS
if [ -n "$key" ]; then
    command -v minisign >/dev/null || die '--key needs minisign, which is not installed'
    fetch SHA256SUMS.minisig
    minisign -V -q -P "$key" -m "$place/SHA256SUMS" || die 'the signature of SHA256SUMS is wrong'
fi
fetch "$name.tar.gz"
wanted=$(awk -v file="$name.tar.gz" '$2 == file || $2 == "*" file { print $1 }' "$place/SHA256SUMS")
[ -n "$wanted" ] || die "SHA256SUMS does not name $name.tar.gz"
if command -v sha256sum >/dev/null; then
    found=$(sha256sum <"$place/$name.tar.gz")
else
    found=$(shasum -a 256 <"$place/$name.tar.gz")
fi
[ "${found%% *}" = "$wanted" ] || die "$name.tar.gz is damaged: its checksum is not that of SHA256SUMS"
(cd -- "$place" && gzip -dc "$name.tar.gz" | tar -xf -)

# All of it is there: now the old version may go.
if [ -f "$list" ]; then uninstall; fi
mkdir -p -- "$prefix/share/hookrun"
put() {
    mkdir -p -- "$(dirname -- "$prefix/$3")"
    # Another name first: a program that runs cannot be written to.
    cp -- "$place/$name/$2" "$prefix/$3.new"
    chmod "$1" "$prefix/$3.new"
    mv -f -- "$prefix/$3.new" "$prefix/$3"
    printf '%s\n' "$3" >>"$list"
}
put 755 bin/hookrun bin/hookrun
for page in "$place/$name"/man/*.gz; do
    page=$(basename -- "$page")
    section=${page%.gz}
    put 644 "man/$page" "share/man/man${section##*.}/$page"
done
put 644 completions/hookrun.bash share/bash-completion/completions/hookrun
put 644 completions/_hookrun share/zsh/site-functions/_hookrun
put 644 completions/hookrun.fish share/fish/vendor_completions.d/hookrun.fish

printf 'hookrun %s is in %s\n' "$version" "$prefix/bin"
case :${PATH-}: in
*":$prefix/bin:"*) ;;
*) printf 'That folder is not in PATH: add it.\n' ;;
esac
