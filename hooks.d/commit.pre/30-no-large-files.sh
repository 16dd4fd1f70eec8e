#!/bin/sh
# Blocks files that are too large for the repository. The staged content counts, so a file in Git LFS
# has the size of its pointer.
#
#   HOOKRUN_LARGE_FILES   the limit in bytes (default: 1048576)
#
# hookrun: files

limit=${HOOKRUN_LARGE_FILES:-1048576}
case $limit in
*[!0-9]*)
    echo "HOOKRUN_LARGE_FILES must be a number of bytes, not $limit" >&2
    exit 1
    ;;
esac
staged=$(git --literal-pathspecs ls-files --stage -- "$@") || exit 1
blobs=$(printf '%s\n' "$staged" | sed 's/^[0-9]* \([0-9a-f]*\) [0-9]*	/\1 /')
sizes=$(printf '%s\n' "$blobs" | git cat-file --batch-check='%(objectsize) %(rest)') || exit 1
large=$(printf '%s\n' "$sizes" | awk -v limit="$limit" '
    $1 > limit + 0 { size = $1; sub(/^[^ ]* /, ""); print $0 " has " size " bytes; the limit is " limit }')
[ -z "$large" ] || {
    printf '%s\n' "$large" 'keep large files in Git LFS (git lfs track), or outside the repository' >&2
    exit 1
}
