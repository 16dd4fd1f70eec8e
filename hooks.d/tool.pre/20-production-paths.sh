#!/bin/sh
# Production paths are off-limits: no tool reads, writes or searches there, works in a folder
# there, or runs a command that names one.
#
# Paths count as they are meant: relative to the working directory, with `..` resolved and
# symbolic links followed. In a command the folder has to be spelled out; `cd /srv; cd prod`
# goes unnoticed, and so does a link to it. `/srv/production` and `/srv/prod.bak` are other places than `/srv/prod`.
#
# Tune: HOOKRUN_PROD_PATHS, absolute folders separated by colons (default: /srv/prod).
#
# hookrun: priority=20 reads=stdin

# shellcheck disable=SC2086  # Lists are split at IFS on purpose.
set -f
newline='
'
here=$PWD

refuse() {
    printf '%s\n' "production paths are off-limits in this session: $1" \
        'instead: work on a copy or in staging, and let the person take it to production' >&2
    exit 1
}

# flatten PATH: sets `flat`, the path without `.`, `..` and double slashes.
flatten() {
    flat=''
    IFS=/
    for part in $1; do
        case $part in
        '' | .) ;;
        ..) flat=${flat%/*} ;;
        *) flat=$flat/$part ;;
        esac
    done
}

# judge_path PATH ABSOLUTE: refuses it, as it was named, if it lies below one of the folders.
judge_path() {
    flatten "$2"
    IFS=:
    for root in $roots; do
        case $flat/ in "$root"/*) refuse "$1" ;; esac
    done
}

roots=''
IFS=:
for root in ${HOOKRUN_PROD_PATHS-/srv/prod}; do
    root=${root%/}
    case $root in
    '') continue ;;
    /*) ;;
    *) refuse "HOOKRUN_PROD_PATHS names \`$root\`, which is not an absolute folder" ;;
    esac
    real=$(cd -P -- "$root" 2>/dev/null && pwd -P) || real=$root
    roots=$roots:$root:$real
done
roots=${roots#:}

case " ${HOOKRUN_TRUNCATED-} " in
*' HOOKRUN_ACTION_COMMAND '* | *' HOOKRUN_ACTION_PATHS '* | *' HOOKRUN_ACTION_RESOLVED '*)
    refuse 'this action is too long to be checked' ;;
esac

IFS=:
for root in $roots; do
    case " ${HOOKRUN_ACTION_COMMAND-} " in
    *[!A-Za-z0-9_.~-]"$root"[!A-Za-z0-9_.-]*) refuse "the command names $root" ;;
    esac
done

judge_path . "$here"
judge_path . "$(pwd -P)"
IFS=$newline
set -- ${HOOKRUN_ACTION_PATHS-}
for path; do
    case $path in /*) whole=$path ;; *) whole=$here/$path ;; esac
    judge_path "$path" "$whole"
done
IFS=$newline
# The same paths in the same order, with links followed; further ones may follow.
for real in ${HOOKRUN_ACTION_RESOLVED-}; do
    judge_path "${1:-$real}" "$real"
    [ $# -eq 0 ] || shift
done
