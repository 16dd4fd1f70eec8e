#!/bin/sh
# Checks the files of a commit with the linter of their language: ruff or flake8, shellcheck, ESLint or Biome.
#
# Each `lint` line at the end names endings of files, how to install the linter, and its command. Edit
# these lines; for other languages also add their `type` below. A linter that is not installed blocks.
# The folders .venv and node_modules are searched first. A linter that needs the whole project, such as
# `cargo clippy`, is better a hook in hookrun.toml.
#
# hookrun: files type=python|shell|js|ts

PATH=$PWD/.venv/bin:$PWD/node_modules/.bin:$PATH
failed=0

# lint ENDINGS INSTALLATION COMMAND FILE...: for a script without an ending, its first line counts.
lint() {
    endings=$1 installation=$2 command=$3
    shift 3
    count=$#
    for file; do
        ending=${file##*.}
        case ${file##*/} in
        *.*) ;;
        *) read -r ending <"$file" || : ;;
        esac
        case $ending in
        '#!'*python*) ending='py' ;;
        '#!'*node*) ending='js' ;;
        '#!'*sh*) ending='sh' ;;
        esac
        case " $endings " in *" $ending "*) set -- "$@" "$file" ;; esac
    done
    shift "$count"
    [ $# -gt 0 ] || return 0
    if ! command -v "${command%% *}" >/dev/null; then
        echo "${command%% *} is not installed; to install it: $installation" >&2
        failed=1
    else
        $command "$@" >&2 || failed=1
    fi
}

if [ -e .flake8 ]; then
    lint "py pyi" "pip install flake8" flake8 "$@"
else
    lint "py pyi" "uv tool install ruff, or pip install ruff" "ruff check --quiet --force-exclude" "$@"
fi
lint "sh bash dash ksh" "apt-get install shellcheck, or brew install shellcheck" shellcheck "$@"
if [ -e biome.json ] || [ -e biome.jsonc ]; then
    lint "js jsx mjs cjs ts tsx mts cts" "npm install --save-dev @biomejs/biome" \
        "biome lint --no-errors-on-unmatched" "$@"
elif [ -e package.json ]; then
    lint "js jsx mjs cjs ts tsx mts cts" "npm install --save-dev eslint" eslint "$@"
fi
exit "$failed"
