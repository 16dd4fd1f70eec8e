# shellcheck shell=bash disable=SC2034 # Others use these.
# Shared by the scripts of packaging/: the version, the table of targets, archives that are the
# same whoever makes them.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
description=$(sed -n 's/^description = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
repository=$(sed -n 's/^repository = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)

# Every time in a package is that of the commit, or what SOURCE_DATE_EPOCH says.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

die() {
    printf 'packaging: %s\n' "$*" >&2
    exit 1
}

# column TARGET NUMBER: one cell of targets.txt.
column() {
    local found
    found=$(awk -v target="$1" -v number="$2" '$1 == target { print $number }' "$root/packaging/targets.txt")
    [[ -n $found ]] || die "packaging/targets.txt has no row for $1"
    printf '%s\n' "$found"
}

targets() {
    awk '!/^#/ && NF { print $1 }' "$root/packaging/targets.txt"
}

# archive FILE FOLDER NAME: FOLDER/NAME as a tar.gz that depends on nothing but its files.
archive() {
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --format=gnu -C "$2" -cf - -- "$3" | gzip -9n >"$1"
}
