#!/bin/sh
# Installs hookrun for one user: fetches a release, checks it, and writes below --prefix. No root.
#
#   install.sh [--from PLACE] [--version VERSION] [--prefix FOLDER] [--key MINISIGN_KEY]
#   install.sh --uninstall [--prefix FOLDER]
#
# PLACE is the folder or address with the files of a release. With --key the signature of its
# checksums is verified too (minisign must be installed). The status is 3 if there is no such
# release for this machine, and 1 for every other failure.
set -eu

# The release workflow writes both.
from=
version=
prefix=${HOME-}/.local
key=
is_uninstall=

die() {
    printf 'install.sh: %s\n' "$*" >&2
    exit "${failure:-1}"
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
# Removes the files that a list names, and folders that are empty then: those were ours, or nobody
# needs them.
remove_all() {
    while IFS= read -r file || [ -n "$file" ]; do
        rm -f -- "$prefix/$file"
        folder=$(dirname -- "$file")
        while [ "$folder" != . ] && rmdir -- "$prefix/$folder" 2>/dev/null; do
            folder=$(dirname -- "$folder")
        done
    done <"$1"
}
if [ -n "$is_uninstall" ]; then
    [ -f "$list" ] || die "nothing was installed by this script: there is no $list"
    remove_all "$list"
    rm -f -- "$list"
    rmdir -- "$prefix/share/hookrun" "$prefix/share" 2>/dev/null || :
    exit 0
fi

[ -n "$from" ] || die 'where is the release? Name its folder or address with --from'
[ -n "$version" ] || die 'which version? Name it with --version'
case $(uname -s)/$(uname -m) in
Linux/x86_64) target=x86_64-unknown-linux-musl ;;
Linux/aarch64 | Linux/arm64) target=aarch64-unknown-linux-musl ;;
Darwin/x86_64) target=x86_64-apple-darwin ;;
Darwin/arm64) target=aarch64-apple-darwin ;;
*) failure=3 die "there is no program for $(uname -s) on $(uname -m); build it from source with cargo" ;;
esac

place=$(mktemp -d)
unfinished=$place/none
trap 'rm -rf -- "$place" "$unfinished"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
fetch() {
    case $from in
    *://*)
        if command -v curl >/dev/null; then
            # A download over https must stay on https.
            case $from in https:*) protocols='=https' ;; *) protocols='=https,http,file' ;; esac
            curl -fsSL --retry 3 --proto "$protocols" -o "$place/$1" -- "$from/$1"
        elif command -v wget >/dev/null; then
            wget -q -O "$place/$1" -- "$from/$1"
        else
            failure=3 die 'neither curl nor wget is installed'
        fi
        ;;
    *) cp -- "$from/$1" "$place/$1" ;;
    esac || failure=3 die "cannot fetch $from/$1"
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

for file in bin/hookrun completions/hookrun.bash completions/_hookrun completions/hookrun.fish; do
    [ -f "$place/$name/$file" ] || die "$name.tar.gz has no $file"
done

# All of it is there. At every moment of what follows, whoever calls hookrun finds the old program or
# the new one: a host lets everything through where there is none. The list names everything of both.
mkdir -p -- "$prefix/share/hookrun"
: >"$place/new"
put() {
    [ ! -d "$prefix/$3" ] || die "$prefix/$3 is a folder; remove it first"
    mkdir -p -- "$(dirname -- "$prefix/$3")"
    printf '%s\n' "$3" >>"$list"
    printf '%s\n' "$3" >>"$place/new"
    # Another name first: a program that runs cannot be written to.
    unfinished=$prefix/$3.new.$$
    cp -- "$place/$name/$2" "$unfinished"
    chmod -- "$1" "$unfinished"
    mv -f -- "$unfinished" "$prefix/$3"
}
put 755 bin/hookrun bin/hookrun
for page in "$place/$name"/man/*.gz; do
    [ -f "$page" ] || continue
    page=$(basename -- "$page")
    section=${page%.gz}
    put 644 "man/$page" "share/man/man${section##*.}/$page"
done
put 644 completions/hookrun.bash share/bash-completion/completions/hookrun
put 644 completions/_hookrun share/zsh/site-functions/_hookrun
put 644 completions/hookrun.fish share/fish/vendor_completions.d/hookrun.fish

# Removes files that only the old version had.
grep -Fxv -f "$place/new" -- "$list" >"$place/old" || :
remove_all "$place/old"
unfinished=$list.new.$$
cp -- "$place/new" "$unfinished"
mv -f -- "$unfinished" "$list"

printf 'hookrun %s is in %s\n' "$version" "$prefix/bin"
case :${PATH-}: in
*":$prefix/bin:"*) ;;
*) printf 'That folder is not in PATH: add it.\n' ;;
esac
