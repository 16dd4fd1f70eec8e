#!/bin/sh
# Formats the files of a commit (ruff or black, Prettier or Biome, gofmt, rustfmt), and stages the result.
#
# Each `format` line at the end names endings of files, how to install the formatter, and its command.
# Edit these lines; for other languages also add their `type` below. A formatter that is not installed
# blocks. The folders .venv and node_modules are searched first.
#
# hookrun: files fixes=stage type=python|js|ts|css|html|vue|go|rust

PATH=$PWD/.venv/bin:$PWD/node_modules/.bin:$PATH
failed=0

# format ENDINGS INSTALLATION COMMAND FILE...
format() {
    endings=$1 installation=$2 command=$3
    shift 3
    count=$#
    for file; do
        case " $endings " in *" ${file##*.} "*) set -- "$@" "$file" ;; esac
    done
    shift "$count"
    [ $# -gt 0 ] || return 0
    if ! command -v "${command%% *}" >/dev/null; then
        echo "${command%% *} is not installed; to install it: $installation" >&2
        failed=1
        return
    fi
    case $command in
    rustfmt*)
        # Given a file, rustfmt would also format its modules, so it reads the text on stdin.
        for file; do
            text=$($command <"$file" && echo .) || { failed=1; continue; }
            printf %s "${text%.}" >"$file"
        done
        ;;
    *) $command "$@" >&2 || failed=1 ;;
    esac
}

if [ -e pyproject.toml ] && grep -q '^\[tool\.black' pyproject.toml; then
    format "py pyi" "pip install black" "black --quiet" "$@"
else
    format "py pyi" "uv tool install ruff, or pip install ruff" "ruff format --quiet --force-exclude" "$@"
fi
if [ -e biome.json ] || [ -e biome.jsonc ]; then
    format "js jsx mjs cjs ts tsx mts cts css" "npm install --save-dev @biomejs/biome" \
        "biome format --write --no-errors-on-unmatched" "$@"
elif [ -e package.json ]; then
    format "js jsx mjs cjs ts tsx mts cts css scss less html vue" "npm install --save-dev prettier" \
        "prettier --write --log-level warn" "$@"
fi
format go "https://go.dev/doc/install" "gofmt -w" "$@"
edition=2024
if [ -e Cargo.toml ]; then
    edition=$(sed -n 's/^edition *= *"\([0-9]*\)".*/\1/p' Cargo.toml)
fi
format rs "rustup component add rustfmt" "rustfmt --edition ${edition:-2024}" "$@"
exit "$failed"
