#!/usr/bin/env bash
# What action.yml runs: one event, decided and annotated. Its inputs are the variables ACTION_*.
# Whatever goes wrong here fails the step, so the job does not go on.
set -euo pipefail

allowed() {
    if [[ -n ${GITHUB_OUTPUT-} ]]; then echo "allowed=$1" >>"$GITHUB_OUTPUT"; fi
}

refuse() {
    allowed false
    echo "::error title=hookrun::$1"
    exit 2
}

hookrun=${ACTION_BINARY:-}
if [[ -z $hookrun ]] && ! hookrun=$(command -v hookrun); then
    command -v cargo >/dev/null || refuse 'there is neither hookrun nor cargo in PATH; name one by the input binary'
    place=${RUNNER_TEMP:?}/hookrun
    cargo install --quiet --locked --path "${GITHUB_ACTION_PATH:?}" --root "$place" || refuse 'hookrun could not be built'
    hookrun=$place/bin/hookrun
fi
if [[ ! -x $hookrun ]]; then refuse "the input binary is no program: $hookrun"; fi
# Hooks read their events with it.
PATH=$(cd -- "$(dirname -- "$hookrun")" && pwd):$PATH

arguments=(run "${ACTION_EVENT:?}" --format github)
while IFS= read -r folder; do
    if [[ -n $folder ]]; then arguments+=(--hooks "$folder"); fi
done <<<"${ACTION_HOOKS-}"
while IFS= read -r argument; do
    if [[ -n $argument ]]; then arguments+=("$argument"); fi
done <<<"${ACTION_ARGS-}"

if [[ -n ${ACTION_CONTEXT-} && -n ${ACTION_CONTEXT_FILE-} ]]; then
    refuse 'the inputs context and context-file exclude each other'
fi
status=0
if [[ -n ${ACTION_CONTEXT_FILE-} ]]; then
    [[ -r $ACTION_CONTEXT_FILE ]] || refuse "the input context-file cannot be read: $ACTION_CONTEXT_FILE"
    "$hookrun" "${arguments[@]}" <"$ACTION_CONTEXT_FILE" || status=$?
else
    "$hookrun" "${arguments[@]}" <<<"${ACTION_CONTEXT:-{\}}" || status=$?
fi
if ((status == 0)); then allowed true; else allowed false; fi
exit "$status"
