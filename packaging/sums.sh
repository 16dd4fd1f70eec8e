#!/usr/bin/env bash
# sums.sh OUT: SHA256SUMS of all packages, and its signature if MINISIGN_KEY names a key.
set -euo pipefail
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
[[ $# = 1 ]] || die 'usage: sums.sh OUT'
cd -- "$1"
rm -f SHA256SUMS SHA256SUMS.minisig
sums=$(find . -maxdepth 1 -type f -printf '%P\n' | sort | xargs -r sha256sum)
[[ -n $sums ]] || die "there are no packages in $1"
printf '%s\n' "$sums" >SHA256SUMS
if [[ -n ${MINISIGN_KEY-} ]]; then minisign -S -s "$MINISIGN_KEY" -m SHA256SUMS; fi
