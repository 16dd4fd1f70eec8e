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

# shellcheck disable=SC2086,SC2088  # Lists are split at IFS on purpose; ~ is resolved here.
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

# follow PATH: sets `followed`, the path without links; what does not exist yet stays as it is.
follow() {
    at=$1 behind='' links=0
    until cd -P -- "${at:-/}" 2>/dev/null; do
        if [ -L "$at" ] && [ $links -lt 40 ]; then
            links=$((links + 1))
            target=$(readlink -- "$at")
            case $target in /*) at=$target ;; *) at=${at%/*}/$target ;; esac
        else
            behind=/${at##*/}$behind
            at=${at%/*}
        fi
    done
    flatten "$PWD$behind"
    followed=$flat
}

judge_path() {
    path=$1
    case $path in
    /*) ;;
    '~' | '~/'*) path=${HOME-}${path#'~'} ;;
    *) path=$here/$path ;;
    esac
    follow "$path"
    flatten "$path"
    IFS=:
    for root in $roots; do
        case $flat/$newline$followed/ in
        "$root"/* | *"$newline$root"/*) refuse "$1" ;;
        esac
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
    follow "$root"
    roots=$roots:$root:$followed
done
roots=${roots#:}

case " ${HOOKRUN_TRUNCATED-} " in
*' HOOKRUN_ACTION_COMMAND '* | *' HOOKRUN_ACTION_PATHS '*)
    refuse 'this action is too long to be checked' ;;
esac

IFS=:
for root in $roots; do
    case " ${HOOKRUN_ACTION_COMMAND-} " in
    *[!A-Za-z0-9_.~-]"$root"[!A-Za-z0-9_.-]*) refuse "the command names $root" ;;
    esac
done

judge_path .
IFS=$newline
for path in ${HOOKRUN_ACTION_PATHS-}; do
    judge_path "$path"
done
# The files of a patch that a shell command holds (`apply_patch <<EOF`).
IFS=$newline
for line in ${HOOKRUN_ACTION_COMMAND-}; do
    case $line in
    '*** Add File: '* | '*** Update File: '* | '*** Delete File: '* | '*** Move to: '*) judge_path "${line#*: }" ;;
    esac
done
