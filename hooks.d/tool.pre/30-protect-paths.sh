#!/bin/sh
# Refuses writes and edits to files that are not the agent's to change.
#
# A path is refused for any of its components: .env.local, .git/config, web/node_modules/a.js;
# never for a part of a name: .github/ci.yml, .gitignore and my.env are fine. What links lead to
# counts as well. Reading is not refused. Of a shell command only a patch in it is seen
# (`apply_patch <<EOF`), not what else it writes.
#
# Tune, names separated by spaces, in which * and ? stand for any characters:
#   HOOKRUN_PROTECT          protected (default: .env .env.* .git node_modules)
#   HOOKRUN_PROTECT_EXCEPT   not protected all the same
#                            (default: .env.example .env.sample .env.template .env.dist)
#
# hookrun: priority=30 reads=stdin

# shellcheck disable=SC2086,SC2254  # Lists are split and their names are patterns on purpose.
set -f

newline='
'
paths=${HOOKRUN_ACTION_PATHS-}
case ${HOOKRUN_ACTION_KIND-} in
read | search | fetch | agent) exit 0 ;;
write | edit) ;;
shell)
    case "${HOOKRUN_ACTION_COMMAND-} ${HOOKRUN_TRUNCATED-} " in
    *'*** Begin Patch'*) ;;
    *' HOOKRUN_ACTION_COMMAND '*) ;;
    *) exit 0 ;;
    esac
    IFS=$newline
    for line in ${HOOKRUN_ACTION_COMMAND-}; do
        case $line in
        '*** Add File: '* | '*** Update File: '* | '*** Delete File: '*) paths=$paths$newline${line#*: } ;;
        '*** Move to: '*) paths=$paths$newline${line#*: } ;;
        esac
    done
    IFS=' ' ;;
*)
    # A tool of a kind that hookrun does not know, from an MCP server perhaps: it may write,
    # unless its name says that it only looks.
    tool=${HOOKRUN_TOOL_NAME-}
    case ${tool##*__} in read* | list* | get* | search* | find* | view*) exit 0 ;; esac ;;
esac

refuse() {
    printf '%s\ninstead: %s\n' "$1" "$2" >&2
    exit 1
}

case " ${HOOKRUN_TRUNCATED-} " in
*' HOOKRUN_ACTION_PATHS '* | *' HOOKRUN_ACTION_COMMAND '*)
    refuse 'this action is too long to be checked' 'change fewer files at a time' ;;
esac

protected=${HOOKRUN_PROTECT-.env .env.* .git node_modules}
excepted=${HOOKRUN_PROTECT_EXCEPT-.env.example .env.sample .env.template .env.dist}

# judge_name NAME PATH: one component of the path.
judge_name() {
    for pattern in $excepted; do
        case $1 in $pattern) return ;; esac
    done
    for pattern in $protected; do
        case $1 in $pattern) ;; *) continue ;; esac
        case $1 in
        .env*) advice='change .env.example, and ask the person to set the value' ;;
        .git) advice='use git commands' ;;
        node_modules) advice='change package.json and install again, or patch the package upstream' ;;
        *) advice='ask the person to change it' ;;
        esac
        refuse "\`$2\` is protected: nothing in \`$1\` is written or edited" "$advice"
    done
}

# follow PATH: sets `followed`, the path without links; what does not exist yet stays as it is.
follow() {
    at=$1 behind='' links=0
    until folder=$(cd -P -- "${at:-/}" 2>/dev/null && pwd -P); do
        if [ -L "$at" ] && [ $links -lt 40 ]; then
            links=$((links + 1))
            target=$(readlink -- "$at")
            case $target in /*) at=$target ;; *) at=${at%/*}/$target ;; esac
        else
            behind=/${at##*/}$behind
            at=${at%/*}
        fi
    done
    followed=${folder%/}$behind
}

# judge_path PATH ABSOLUTE PROJECT: the project may live below a folder of such a name; only what
# is inside it counts.
judge_path() {
    shown=$1 inside=$2
    case $inside in "$3"/*) inside=${inside#"$3"} ;; esac
    IFS=/
    for name in $inside; do
        IFS=' '
        judge_name "$name" "$shown"
    done
}

project=${HOOKRUN_PROJECT_DIR:-$PWD}
follow "$project"
root=$followed
IFS=$newline
for path in $paths; do
    case $path in /*) whole=$path ;; *) whole=$PWD/$path ;; esac
    judge_path "$path" "$whole" "$project"
    follow "$whole"
    judge_path "$path" "$followed" "$root"
done
