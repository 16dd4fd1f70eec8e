#!/bin/sh
# Refuses writes and edits to files that are not the agent's to change.
#
# A path is refused for any of its components: .env.local, .git/config, web/node_modules/a.js;
# never for a part of a name: .github/ci.yml, .gitignore and my.env are fine. Reading is not
# refused, and what a shell command writes is not seen here.
#
# Tune, names separated by spaces, in which * and ? stand for any characters:
#   HOOKRUN_PROTECT          protected (default: .env .env.* .git node_modules)
#   HOOKRUN_PROTECT_EXCEPT   not protected all the same
#                            (default: .env.example .env.sample .env.template .env.dist)
#
# hookrun: priority=30

# shellcheck disable=SC2086,SC2254  # Lists are split and their names are patterns on purpose.
set -f

case ${HOOKRUN_ACTION_KIND-} in
read | search | fetch | shell | agent) exit 0 ;;
write | edit) ;;
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
*' HOOKRUN_ACTION_PATHS '*)
    refuse 'the paths are longer than 32 KiB, too long to be checked' 'change fewer files at a time' ;;
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

# The project may live below a folder of such a name; only what is inside it counts.
project=${HOOKRUN_PROJECT_DIR:-$PWD}
case $PWD in "$project"/*) below=${PWD#"$project"}/ ;; *) below='' ;; esac

IFS='
'
for path in ${HOOKRUN_ACTION_PATHS-}; do
    case $path in
    "$project"/*) inside=${path#"$project"} ;;
    /*) inside=$path ;;
    *) inside=$below$path ;;
    esac
    IFS=/
    for name in $inside; do
        IFS=' '
        judge_name "$name" "$path"
    done
done
