#!/usr/bin/env bash
# Probes hookrun in a real client that runs commands as hooks, offline, with a fake model:
#
#   ci/probe/commands.sh qwen path/to/qwen path/to/hookrun [ROW…]
#
# Prints a line for each row, and exits with 1 if one failed. VERBOSE=1 shows what a failed row left.
# Rows are called by their names, hooks are text for another shell, and a client may be several words:
# shellcheck disable=SC2317,SC2016,SC2086,SC2048
set -u
host=$1 client=$2 hookrun=$(realpath "$3")
shift 3
here=$(dirname "$(realpath "$0")")
place=$(mktemp -d)
failed=0
export HOME=$place/home
mkdir -p "$HOME/.config/hookrun"
printf '[trust]\npaths = "%s"\n' "$place" > "$HOME/.config/hookrun/hookrun.toml"
coproc MODEL { node "$here/fake-model.mjs" "$place/requests"; }
read -r port <&"${MODEL[0]}"
trap 'eval "exec ${MODEL[1]}>&-"; rm -rf "$place"' EXIT
url=http://127.0.0.1:$port/v1
case $host in
qwen)
    shell=run_shell_command file=.qwen/settings.json
    export OPENAI_API_KEY=none OPENAI_BASE_URL=$url OPENAI_MODEL=fake QWEN_CODE_NO_RELAUNCH=1
    mkdir -p "$HOME/.qwen"
    echo '{"security": {"auth": {"selectedType": "openai"}}, "telemetry": {"enabled": false}}' > "$HOME/.qwen/settings.json"
    client="$client --yolo -p"
    ;;
*) echo "no such client: $host" >&2; exit 2 ;;
esac

# hook EVENT BODY: a hook of the row's project, which may rewrite.
hook() {
    mkdir -p "hooks.d/$1"
    printf '#!/bin/sh\n# hookrun: rewrite\n%s\n' "$2" > "hooks.d/$1/a"
    chmod +x "hooks.d/$1/a"
}
# plugged [SED]: installs hookrun by a link here, and changes the settings.
plugged() {
    ln -sf "$hookrun" hookrun
    "$hookrun" install "$host" --all-events > installed 2>&1
    sed -i "s|$hookrun run|$PWD/hookrun run|g; ${1:-}" "$file"
}
prompt() { timeout 45 $client "$1" < /dev/null > out 2>&1; }
touch_ran="CALL $shell {\"command\": \"touch ran\", \"description\": \"touch\", \"is_background\": false}"
told() { grep -qF -- "$1" "$place/requests"; }

row_allow() { hook tool.pre 'exit 0'; plugged; prompt "$touch_ran"; [ -e ran ]; }
row_block() { hook tool.pre 'echo not that >&2; exit 1'; plugged; prompt "$touch_ran"; [ ! -e ran ] && told 'not that'; }
row_ask() { hook tool.pre "echo '{\"ask\": \"sure?\"}'"; plugged; prompt "$touch_ran"; [ ! -e ran ]; }
# A new input would be dropped there, so it blocks.
row_rewrite() { hook tool.pre "echo '{\"update\": {\"toolInput\": {\"command\": \"touch other\", \"is_background\": false}}}'"; plugged; prompt "$touch_ran"; [ ! -e ran ]; }
row_context_tool() { hook tool.pre "echo '{\"additionalContext\": \"before the tool\"}'"; plugged; prompt "$touch_ran"; [ -e ran ] && ! told 'before the tool'; }
row_context_prompt() { hook prompt.submit 'echo of the prompt'; plugged; prompt "$touch_ran"; told 'of the prompt'; }
row_context_start() { hook session.start 'echo of the session'; plugged; prompt "$touch_ran"; told 'of the session'; }
row_context_result() { hook tool.post "echo '{\"additionalContext\": \"after the tool\"}'"; plugged; prompt "$touch_ran"; told 'after the tool'; }
row_prompt_blocked() { hook prompt.submit 'echo no such prompts >&2; exit 1'; plugged; prompt "$touch_ran"; [ ! -e ran ] && ! told 'CALL'; }
row_stop() { hook agent.stop '[ -e once ] || { touch once; echo one thing more >&2; exit 1; }'; plugged; prompt hello; told 'one thing more'; }
row_payload() { hook tool.pre 'cat > sent'; plugged; prompt "$touch_ran"; grep -q '"raw"' sent; }
row_missing() { hook tool.pre 'exit 0'; plugged; rm hookrun; prompt "$touch_ran"; [ ! -e ran ]; }
row_killed() { hook tool.pre 'exit 0'; plugged; rm hookrun; printf '#!/bin/sh\nkill -9 $$\n' > hookrun; chmod +x hookrun; prompt "$touch_ran"; [ ! -e ran ]; }
# The host is known to let the tool run.
row_hanging() { hook tool.pre 'exit 0'; plugged 's/"timeout": *[0-9]*/"timeout": 1500/'; rm hookrun; printf '#!/bin/sh\ncase "$*" in *--host*) exec sleep 60;; esac\n' > hookrun; chmod +x hookrun; prompt "$touch_ran"; [ -e ran ]; }

for row in ${*:-$(declare -F | sed -n 's/.* row_//p')}; do
    mkdir -p "$place/$row"
    : > "$place/requests"
    if (cd "$place/$row" || exit; "row_$row"); then
        echo "ok      $row"
    else
        failed=1
        echo "FAILED  $row"
        [ -z "${VERBOSE:-}" ] || { cd "$place/$row" || exit; ls -A; tail -c 1500 out; tail -c 2500 "$place/requests"; }
    fi
done
exit $failed
