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
case ${HOOKRUN_ACTION_KIND-} in
read | search | fetch | agent) exit 0 ;;
write | edit | shell) ;;
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
*' HOOKRUN_ACTION_PATHS '* | *' HOOKRUN_ACTION_RESOLVED '* | *' HOOKRUN_ACTION_COMMAND '*)
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
root=$(cd -P -- "$project" 2>/dev/null && pwd -P) || root=$project
IFS=$newline
set -- ${HOOKRUN_ACTION_PATHS-}
for path; do
    case $path in /*) whole=$path ;; *) whole=$PWD/$path ;; esac
    judge_path "$path" "$whole" "$project"
done
IFS=$newline
# The same paths in the same order, with links followed; further ones may follow.
for real in ${HOOKRUN_ACTION_RESOLVED-}; do
    judge_path "${1:-$real}" "$real" "$root"
    [ $# -eq 0 ] || shift
done
