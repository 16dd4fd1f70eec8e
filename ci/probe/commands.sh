#!/usr/bin/env bash
# Probes hookrun in a real client that runs commands as hooks, offline, with a fake model:
#
#   ci/probe/commands.sh qwen path/to/qwen path/to/hookrun [ROW…]
#   ci/probe/commands.sh kimi path/to/kimi path/to/hookrun
#   ci/probe/commands.sh cline path/to/cline path/to/hookrun
#   ci/probe/commands.sh copilot path/to/copilot path/to/hookrun
#   ci/probe/commands.sh factory path/to/droid path/to/hookrun
#   ci/probe/commands.sh goose path/to/goose path/to/hookrun
#   ci/probe/commands.sh grok path/to/grok path/to/hookrun
#
# Prints a line for each row, and exits with 1 if one failed. VERBOSE=1 shows what a failed row left.
# Rows are called by their names, hooks are text for another shell, and a client may be several words:
# shellcheck disable=SC2317,SC2016,SC2086,SC2048
set -u
host=$1 client=$2 hookrun=$(realpath "$3")
shift 3
# shellcheck source=ci/probe/start.sh
. "$(dirname "$(realpath "$0")")/start.sh"
case $host in
qwen)
    shell=run_shell_command file=.qwen/settings.json
    export OPENAI_API_KEY=none OPENAI_BASE_URL=$url OPENAI_MODEL=fake QWEN_CODE_NO_RELAUNCH=1
    mkdir -p "$HOME/.qwen"
    echo '{"security": {"auth": {"selectedType": "openai"}}, "telemetry": {"enabled": false}}' > "$HOME/.qwen/settings.json"
    client="$client --yolo -p"
    rows='allow block ask rewrite context_tool context_prompt context_start context_result prompt_blocked stop payload missing killed hanging'
    ;;
kimi)
    shell=Bash file=$HOME/.kimi-code/config.toml base=$place/base.toml
    mkdir -p "$HOME/.kimi-code"
    cat > "$base" <<END
default_model = "fake"

[providers.fake]
type = "openai"
base_url = "$url"
api_key = "none"

[models.fake]
provider = "fake"
model = "fake"
max_context_size = 100000
END
    client="$client -p"
    rows='allow block ask rewrite context_tool context_prompt prompt_blocked stop payload missing killed hanging'
    ;;
cline)
    shell=run_commands file=.clinerules/hooks/PreToolUse
    export CLINE_TELEMETRY_DISABLED=1
    $client auth -p openai-compatible -k none -m fake -b "$url" > /dev/null 2>&1
    client="$client -P openai-compatible -m fake"
    # Its own deadline is 120 s, so a hookrun that hangs is not waited for here.
    rows='allow block_ends ask new_input context_said context_result_said payload missing killed'
    ;;
copilot)
    shell=bash file=.github/hooks/hookrun.json
    export COPILOT_PROVIDER_BASE_URL=$url COPILOT_MODEL=fake COPILOT_OFFLINE=true
    client="$client --allow-all-tools --trust-folder -p"
    rows='allow block ask new_input context_said context_prompt context_start context_result result prompt_blocked stop missing killed killed_bare missing_bare hanging garbage'
    ;;
factory)
    shell=Execute file=.factory/settings.json
    mkdir -p "$HOME/.factory"
    cat > "$HOME/.factory/settings.json" <<END
{"customModels": [{"model": "fake", "displayName": "fake", "baseUrl": "$url", "apiKey": "none",
    "provider": "generic-chat-completion-api", "maxOutputTokens": 1000}]}
END
    client="$client exec --skip-permissions-unsafe -m custom:fake"
    # Where no tool needs leave, a question is not asked; and `exec` tells no hook of its prompt.
    rows='allow block not_asked new_input context_tool context_start context_result prompt_unseen stop payload missing killed killed_bare missing_bare hanging garbage'
    ;;
grok)
    shell=run_terminal_command file=.grok/hooks/hookrun.json
    mkdir -p "$HOME/.grok"
    cat > "$HOME/.grok/config.toml" <<END
[models]
default = "fake"

[model.fake]
model = "fake"
base_url = "$url"
api_key = "none"
api_backend = "chat_completions"
context_window = 100000
END
    client="$client --trust --always-approve -p"
    rows='allow block ask new_input context_said context_result prompt_blocked stop missing killed killed_bare missing_bare hanging garbage'
    ;;
goose)
    shell=shell file=.agents/plugins/hookrun/hooks/hooks.json
    export GOOSE_PROVIDER=openai GOOSE_MODEL=fake OPENAI_HOST=${url%/v1} OPENAI_API_KEY=none GOOSE_MODE=auto GOOSE_DISABLE_KEYRING=1
    client="$client run --no-session --with-builtin developer -t"
    rows='allow block ask rewrite context_tool stop prompt_told payload missing killed killed_bare missing_bare hanging_closed garbage_closed'
    ;;
*) echo "no such client: $host" >&2; exit 2 ;;
esac

# hook EVENT BODY: a hook of the row's project, which may rewrite.
hook() {
    mkdir -p "hooks.d/$1"
    printf '#!/bin/sh\n# hookrun: rewrite\n%s\n' "$2" > "hooks.d/$1/a"
    chmod +x "hooks.d/$1/a"
}
# plugged [SED]: installs hookrun, by a link in a folder of PATH outside of the project, and changes the
# settings.
plugged() {
    # Grok reads the hooks of a project in a repository alone.
    git init -q
    own=$PWD.bin
    mkdir -p "$own"
    ln -sf "$hookrun" "$own/hookrun"
    PATH=$own:$PATH
    [ -z "${base:-}" ] || cp "$base" "$file"
    "$hookrun" install "$host" --all-events > installed 2>&1
    sed -i "${1:-}" "$file"
}
# fake BODY: a program in the place of hookrun.
fake() { rm "$own/hookrun"; printf '#!/bin/sh\n%s\n' "$1" > "$own/hookrun"; chmod +x "$own/hookrun"; }
prompt() { timeout 45 $client "$1" < /dev/null > out 2>&1; }
input='{"command": "touch ran", "description": "touch", "is_background": false}'
case $host in
kimi | goose) input='{"command": "touch ran"}' ;;
cline) input='{"commands": ["touch ran"]}' ;;
copilot | factory | grok) input='{"command": "touch ran", "description": "touch"}' ;;
esac
touch_ran="CALL $shell $input"
told() { grep -qF -- "$1" "$place/requests"; }

row_allow() { hook tool.pre 'exit 0'; plugged; prompt "$touch_ran"; [ -e ran ]; }
row_block() { hook tool.pre 'echo not that >&2; exit 1'; plugged; prompt "$touch_ran"; [ ! -e ran ] && told 'not that'; }
# A block ends the run, so the model is told nothing.
row_block_ends() { hook tool.pre 'echo not that >&2; exit 1'; plugged; prompt "$touch_ran"; [ ! -e ran ]; }
row_ask() { hook tool.pre "echo '{\"ask\": \"sure?\"}'"; plugged; prompt "$touch_ran"; [ ! -e ran ]; }
# A new input would be dropped there, so it blocks.
row_rewrite() { hook tool.pre "echo '{\"update\": {\"toolInput\": {\"command\": \"touch other\", \"is_background\": false}}}'"; plugged; prompt "$touch_ran"; [ ! -e ran ]; }
row_new_input() { hook tool.pre "echo '{\"update\": {\"toolInput\": ${input//touch ran/touch other}}}'"; plugged; prompt "$touch_ran"; [ ! -e ran ] && [ -e other ]; }
row_not_asked() { hook tool.pre "echo '{\"ask\": \"sure?\"}'"; plugged; prompt "$touch_ran"; [ -e ran ]; }
row_prompt_unseen() { hook prompt.submit 'cat > sent; exit 1'; plugged; prompt "$touch_ran"; [ ! -e sent ] && [ -e ran ]; }
row_context_said() { hook tool.pre "echo '{\"additionalContext\": \"before the tool\"}'"; plugged; prompt "$touch_ran"; [ -e ran ] && told 'before the tool'; }
row_context_result_said() { hook tool.post "echo '{\"additionalContext\": \"after the tool\"}'"; plugged; prompt "$touch_ran"; told 'after the tool'; }
row_context_tool() { hook tool.pre "echo '{\"additionalContext\": \"before the tool\"}'"; plugged; prompt "$touch_ran"; [ -e ran ] && ! told 'before the tool'; }
row_context_prompt() { hook prompt.submit 'echo of the prompt'; plugged; prompt "$touch_ran"; told 'of the prompt'; }
row_context_start() { hook session.start 'echo of the session'; plugged; prompt "$touch_ran"; told 'of the session'; }
row_context_result() { hook tool.post "echo '{\"additionalContext\": \"after the tool\"}'"; plugged; prompt "$touch_ran"; told 'after the tool'; }
row_prompt_blocked() { hook prompt.submit 'echo no such prompts >&2; exit 1'; plugged; prompt "$touch_ran"; [ ! -e ran ] && ! told 'CALL'; }
row_stop() { hook agent.stop '[ -e once ] || { touch once; echo one thing more >&2; exit 1; }'; plugged; prompt hello; told 'one thing more'; }
row_payload() { hook tool.pre 'cat > sent'; plugged; prompt "$touch_ran"; grep -q '"raw"' sent; }
row_prompt_told() { hook prompt.submit 'cat > sent; echo no such prompts >&2; exit 1'; plugged; prompt "$touch_ran"; [ -s sent ] && [ -e ran ]; }
row_result() { hook tool.post "echo '{\"update\": {\"result\": {\"resultType\": \"success\", \"textResultForLlm\": \"redacted\"}}}'"; plugged; prompt "$touch_ran"; told redacted; }
row_missing() { hook tool.pre 'exit 0'; plugged; rm "$own/hookrun"; prompt "$touch_ran"; [ ! -e ran ]; }
row_killed() { hook tool.pre 'exit 0'; plugged; fake 'kill -9 $$'; prompt "$touch_ran"; [ ! -e ran ]; }
row_garbage() { hook tool.pre 'exit 0'; plugged; fake 'case "$*" in *permissionRequest*) ;; *) echo garbage;; esac'; prompt "$touch_ran"; [ -e ran ]; }
# Without the guard: the host itself decides.
guard='s/ || {[^}]*}\(; exit 0\)*//; s/exit 2/exit 127/g'
row_missing_bare() { hook tool.pre 'exit 0'; plugged "$guard"; rm "$own/hookrun"; prompt "$touch_ran"; blocked_bare; }
row_killed_bare() { hook tool.pre 'exit 0'; plugged "$guard"; fake 'kill -9 $$'; prompt "$touch_ran"; blocked_bare; }
blocked_bare() { if [ "$host" = copilot ] || [ "$host" = goose ]; then [ ! -e ran ]; else [ -e ran ]; fi; }
short='s/"timeout\(Sec\)*": *[0-9]*/"timeout\1": 2/; s/^timeout = .*/timeout = 2/'
[ "$host" != qwen ] || short='s/"timeout": *[0-9]*/"timeout": 1500/'
row_hanging_closed() { hook tool.pre 'exit 0'; plugged "$short"; fake 'case "$*" in *--host*) exec sleep 60;; esac'; prompt "$touch_ran"; [ ! -e ran ]; }
row_garbage_closed() { hook tool.pre 'exit 0'; plugged; fake 'echo garbage'; prompt "$touch_ran"; [ ! -e ran ]; }
# The host is known to let the tool run.
row_hanging() { hook tool.pre 'exit 0'; plugged "$short"; fake 'case "$*" in *--host*) exec sleep 60;; esac'; prompt "$touch_ran"; [ -e ran ]; }

for row in ${*:-$rows}; do
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
