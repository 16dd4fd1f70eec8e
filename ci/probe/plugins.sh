#!/usr/bin/env bash
# Probes hookrun's plugin in a real pi, oh-my-pi, OpenCode or Kilo Code, offline, with a fake model:
#
#   ci/probe/plugins.sh pi path/to/node_modules path/to/hookrun [ROW…]
#   ci/probe/plugins.sh omp "bun path/to/omp/dist/cli.js" path/to/hookrun
#   ci/probe/plugins.sh opencode path/to/opencode path/to/hookrun [ROW…]
#   ci/probe/plugins.sh kilo path/to/kilo path/to/hookrun
#
# For pi, node_modules has the client under both names of its package.
#
# Prints a line for each row, and exits with 1 if one failed.
# Rows are called by their names, hooks are text for another shell, and a client may be several words:
# shellcheck disable=SC2317,SC2016,SC2086,SC2048
set -u
host=$1 client=$2 hookrun=$(realpath "$3")
shift 3
if [ "$host" = pi ] && [ -d "$client" ]; then
    failed=0
    for name in @earendil-works/pi-coding-agent @mariozechner/pi-coding-agent; do
        echo "$name"
        "$0" pi "node $(realpath "$client")/$name/dist/cli.js" "$hookrun" "$@" || failed=1
    done
    exit $failed
fi
# shellcheck source=ci/probe/start.sh
. "$(dirname "$(realpath "$0")")/start.sh"
export OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1
mkdir -p "$HOME/.config/$host" "$HOME/.$host/agent"
models="{\"providers\": {\"fake\": {\"baseUrl\": \"$url\", \"api\": \"openai-completions\", \"apiKey\": \"none\", \"models\": [{\"id\": \"fake\"}]}}}"
case $host in
pi) echo "$models" > "$HOME/.pi/agent/models.json"; client="$client --offline --provider fake --model fake"
    # Since 0.79 a project's extensions need trust.
    ! $client --help 2> /dev/null | grep -q -- --approve || client="$client --approve" ;;
omp) echo "$models" > "$HOME/.omp/agent/models.yml"; client="$client --model fake/fake" ;;
opencode | kilo)
    options="{\"baseURL\": \"$url\", \"apiKey\": \"none\"}"
    fake="{\"npm\": \"@ai-sdk/openai-compatible\", \"options\": $options, \"models\": {\"fake\": {}}}"
    echo "{\"permission\": \"allow\", \"model\": \"fake/fake\", \"provider\": {\"fake\": $fake}}" \
        > "$HOME/.config/$host/$host.json"
    client="$client run"
    # It carries neither dialogs nor what is said before a tool, and has no stop.
    rows='allow block garbage hanging killed message_p missing_prompt missing_tool no_person no_serve one_server blocked_prompt result rewrite server_killed'
    ;;
esac

# hook EVENT BODY: a hook of the row's project, which may rewrite and call hookrun.
hook() {
    mkdir -p "hooks.d/$1"
    printf '#!/bin/sh\n# hookrun: rewrite\nPATH=%s:$PATH\n%s\n' "$place/bin" "$2" > "hooks.d/$1/a"
    chmod +x "hooks.d/$1/a"
}

# plugin SED: installs it for all events, with a program that counts how it is started.
plugin() {
    "$hookrun" install "$host" --all-events > /dev/null
    printf '#!/bin/sh\n[ $1 = run ] || echo $$ > serve.pid\necho $1 >> %s/calls\nexec %s "$@"\n' "$PWD" "$hookrun" > hookrun
    chmod +x hookrun
    sed -i "s|^const LAUNCH = .*|const LAUNCH = [\"$PWD/hookrun\"];|; ${1:-}" ".$host"/*/hookrun.js
}

prompt() {
    case $host in
    opencode | kilo) echo "$1" | timeout 60 $client > out 2>&1 ;;
    *) $client -p "$1" < /dev/null > out 2>&1 ;;
    esac
}
rpc() { timeout 60 node "$here/rpc.mjs" "$1" $client --mode rpc > out 2>&1; }
touch_ran='CALL bash {"command": "touch ran", "description": "touch"}'
# A title is asked for next to the answer.
asked() { grep -vc 'title generator' "$place/requests"; }
# OpenCode has the reason in its log and, at a terminal, in a toast.
shown() { [ "$host" = opencode ] || [ "$host" = kilo ] || grep -q "$1" out; }
told() { grep -qF -- "$1" "$place/requests"; }

row_allow() { hook tool.pre 'exit 0'; plugin; prompt "$touch_ran"; [ -e ran ]; }
row_one_server() { hook tool.pre 'exit 0'; plugin 's|START_MS = 5|START_MS = 5000|'; prompt "$touch_ran"; [ "$(sort calls | uniq -c | xargs)" = "1 serve" ]; }
row_block() { hook tool.pre 'echo not that >&2; exit 1'; plugin; prompt "$touch_ran"; [ ! -e ran ] && told 'not that'; }
row_rewrite() {
    hook tool.pre "echo '{\"update\": {\"toolInput\": {\"command\": \"touch other\"}}}'"
    plugin; prompt "$touch_ran"; [ ! -e ran ] && [ -e other ]
}
row_context() {
    hook session.start 'echo of the session'
    hook prompt.submit 'echo of the prompt'
    hook tool.pre "echo '{\"additionalContext\": \"before the tool\"}'"
    hook tool.post "echo '{\"additionalContext\": \"after the tool\"}'"
    plugin; prompt "$touch_ran"
    for text in 'of the session' 'of the prompt' 'before the tool' 'after the tool'; do told "$text" || return; done
}
row_result() {
    hook tool.post "echo '{\"update\": {\"result\": \"redacted\"}}'"
    plugin; prompt 'CALL bash {"command": "echo se; echo cret", "description": "echo"}'; told redacted && ! told 'se\ncret'
}
row_blocked_prompt() { hook prompt.submit 'echo no such prompts >&2; exit 1'; plugin; prompt "$touch_ran"; [ "$(asked)" = 0 ] && shown 'no such prompts'; }
row_blocked_prompt_rpc() { hook prompt.submit 'echo no such prompts >&2; exit 1'; plugin; rpc "$touch_ran"; [ "$(asked)" = 0 ] && shown 'no such prompts'; }
row_dialog() {
    hook tool.pre 'hookrun hook ui confirm Sure? && hookrun hook ui select Which one two > chosen && hookrun hook ui input Name > typed && hookrun hook ui editor Text old > edited && hookrun hook ui notify shown && hookrun hook ui status key text'
    plugin; rpc "$touch_ran"
    [ -e ran ] && [ "$(cat chosen typed edited | xargs)" = 'one typed old edited' ] && grep -q '^notify .*a: shown' out && grep -q '^setStatus' out
}
row_no_person() { hook tool.pre 'hookrun hook ui confirm Sure? || { echo nobody >&2; exit 1; }'; plugin; prompt "$touch_ran"; [ ! -e ran ] && told nobody; }
row_message() {
    hook tool.pre "hookrun hook send 'go on with this'; hookrun hook send 'by a sort' --type ci --details '{\"exit\": 1}'"
    plugin; rpc "$touch_ran"; told 'go on with this' && told 'by a sort'
}
row_message_p() { hook tool.pre "hookrun hook send 'go on with this'"; plugin; prompt "$touch_ran"; told 'go on with this'; }
row_stop() {
    [ "$host" = omp ] || return 0
    hook agent.stop '[ -e once ] || { touch once; echo one thing more >&2; exit 1; }'
    plugin; prompt 'hello'; told 'one thing more' && [ "$(asked)" = 2 ]
}
row_end() { hook session.end 'touch ended'; hook agent.end 'touch agent-ended'; plugin; prompt hello; [ -e ended ]; }
row_missing_prompt() { hook tool.pre 'exit 0'; plugin "s|/hookrun\";|/gone\";|"; prompt hello; [ "$(asked)" = 0 ] && shown 'cannot be started'; }
# Where the prompt is not asked about, the tool is.
only_tools='s#"\(input\|chat.message\)":\[[^]]*\],##'
row_missing_tool() { hook tool.pre 'exit 0'; plugin "$only_tools; s|/hookrun\";|/gone\";|"; prompt "$touch_ran"; [ ! -e ran ] && told 'cannot be started'; }
row_missing_stop() { hook tool.pre 'exit 0'; plugin "$only_tools; s|/hookrun\";|/gone\";|"; prompt hello; [ "$(asked)" = 1 ]; }
row_killed() { hook tool.pre 'exit 0'; plugin "$only_tools"; printf '#!/bin/sh\nkill -9 $$\n' > hookrun; prompt "$touch_ran"; [ ! -e ran ] && told 'SIGKILL and no decision'; }
row_server_killed() {
    hook tool.pre '[ -e once ] || { touch once; kill -9 $(cat serve.pid); sleep 5; }'
    plugin; prompt "$touch_ran"; [ -e once ] && [ -e ran ] && grep -q run calls
}
row_hanging() { hook tool.pre 'exit 0'; plugin "$only_tools; s|\[\(\"[a-z.]*\"\),[0-9]*\]|[\1,1500]|g"; printf '#!/bin/sh\nexec sleep 60\n' > hookrun; prompt "$touch_ran"; [ ! -e ran ] && told 'did not answer within 1.5 s'; }
row_garbage() { hook tool.pre 'exit 0'; plugin "$only_tools"; printf '#!/bin/sh\necho garbage\n' > hookrun; prompt "$touch_ran"; [ ! -e ran ] && told 'said what cannot be read'; }
row_no_serve() { hook tool.pre 'exit 0'; plugin; sed -i '2a[ $1 = serve ] \&\& exit 2' hookrun; prompt "$touch_ran"; [ -e ran ] && grep -q run calls; }

for row in ${*:-${rows:-$(declare -F | sed -n 's/.* row_//p')}}; do
    mkdir -p "$place/$row" "$place/bin"
    ln -sf "$hookrun" "$place/bin/hookrun"
    : > "$place/requests"
    if (cd "$place/$row" || exit; "row_$row"); then
        echo "ok      $row"
    else
        failed=1
        echo "FAILED  $row"
        [ -z "${VERBOSE:-}" ] || { cd "$place/$row" || exit; ls -A; cat out calls; tail -c 2000 "$place/requests"; }
    fi
done
exit $failed
