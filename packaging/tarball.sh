#!/usr/bin/env bash
# tarball.sh TARGET STAGE OUT: hookrun-VERSION-TARGET.tar.gz, which install.sh fetches.
set -euo pipefail
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
[[ $# = 3 ]] || die 'usage: tarball.sh TARGET STAGE OUT'
name=hookrun-$version-$1
place=$(mktemp -d)
trap 'rm -rf -- "$place"' EXIT
cp -R -- "$2" "$place/$name"
archive "$3/$name.tar.gz" "$place" "$name"
