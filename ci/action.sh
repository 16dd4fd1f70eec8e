#!/usr/bin/env bash
# What action.yml runs: one event, decided and annotated. Its inputs are the variables ACTION_*.
# Whatever goes wrong here fails the step with an annotation, so the job does not go on: only what
# hookrun itself says was decided allows it. Kept to what bash 3.2 knows, which macOS has.
set -euo pipefail

allowed=false
is_stated=
place=

finish() {
    local status=$?
    if [[ -n ${GITHUB_OUTPUT-} ]]; then echo "allowed=$allowed" >>"$GITHUB_OUTPUT"; fi
    if [[ -n $place ]]; then rm -rf -- "$place"; fi
    if ((status != 0)) && [[ -z $is_stated ]]; then
        echo "::error title=hookrun::the action itself failed, with status $status; the log has more"
    fi
}
trap finish EXIT

# Says why in an annotation, of which no text can make a second command.
block() {
    local text=$1 percent='%' return=$'\r' line=$'\n'
    text=${text//"$percent"/%25}
    text=${text//"$return"/%0D}
    text=${text//"$line"/%0A}
    is_stated=yes
    echo "::error title=hookrun::$text"
    exit 2
}

# Runs a command of whose output no line is taken for a command of the runner, on one stream: the
# runner reads two of them side by side, and what is said on one could overtake the other.
quietly() {
    local status=0 token
    token=hookrun-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    # Without the whole of it, it could be guessed.
    if ((${#token} != 40)); then return 2; fi
    echo "::stop-commands::$token"
    "$@" 2>&1 || status=$?
    # The output may have ended within a line.
    printf '\n::%s::\n' "$token"
    return "$status"
}

# Builds in this action's own folder: where the job works, files of the checkout would choose the
# tool chain. Nor is it that of the job's own builds, or their flags.
build() (
    cd -- "${GITHUB_ACTION_PATH:?}"
    unset RUSTUP_TOOLCHAIN RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_BUILD_TARGET
    cargo install --profile dist --quiet --locked --path . --root "$1" --target-dir "$1/target"
)

# Where the release is that has the version of this action's source; nowhere if this action was not
# fetched from a repository. The runner gives composite actions no other name of it.
own_release() {
    local path=${GITHUB_ACTION_PATH-} owner name
    case $path in
    */_actions/*/*/*) path=${path#*/_actions/} ;;
    *) return 1 ;;
    esac
    owner=${path%%/*} name=${path#*/}
    printf '%s/%s/%s/releases/download/v%s\n' \
        "${GITHUB_SERVER_URL:-https://github.com}" "$owner" "${name%%/*}" "$1"
}

# Fetches a release into the folder $1 and verifies it; 3 if it is not there.
fetch() {
    local source=${GITHUB_ACTION_PATH:?} version=${ACTION_VERSION-} from=${ACTION_RELEASE-}
    if [[ -z $version ]]; then
        version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/Cargo.toml" | head -n 1)
    fi
    if [[ -z $from ]]; then from=$(own_release "$version") || return 3; fi
    sh "$source/packaging/install.sh" --from "$from" --version "$version" --prefix "$1" \
        ${ACTION_KEY:+--key "$ACTION_KEY"}
}

event=${ACTION_EVENT-}
case $event in
'') block 'the input event is empty; it names the event to decide' ;;
-*) block "the input event is no name of an event: $event" ;;
esac
if [[ -n ${ACTION_CONTEXT-} && -n ${ACTION_CONTEXT_FILE-} ]]; then
    block 'the inputs context and context-file exclude each other'
fi

hookrun=${ACTION_BINARY-}
if [[ -n $hookrun ]]; then
    if [[ ! -f $hookrun || ! -x $hookrun ]]; then block "the input binary is no program: $hookrun"; fi
elif [[ -n ${ACTION_VERSION-}${ACTION_RELEASE-} ]] || ! hookrun=$(type -P hookrun); then
    place_of_hookrun=${RUNNER_TEMP:?}/hookrun
    fetched=0
    quietly fetch "$place_of_hookrun" || fetched=$?
    # Another program than the one that was named is never taken, nor one that was tampered with.
    if ((fetched != 0 && fetched != 3)); then block 'the release was not installed; the log has why'; fi
    if ((fetched == 3)); then
        if [[ -n ${ACTION_VERSION-}${ACTION_RELEASE-}${ACTION_KEY-} ]]; then
            block 'there is no such release; the log has what could not be fetched'
        fi
        type -P cargo >/dev/null || block 'there is neither hookrun nor cargo in PATH; name one by the input binary'
        quietly build "$place_of_hookrun" || block 'hookrun could not be built; the log has why'
    fi
    hookrun=$place_of_hookrun/bin/hookrun
    if [[ ! -x $hookrun ]]; then block "cargo has built no hookrun: there is no $hookrun"; fi
fi
folder=$(CDPATH='' cd -- "$(dirname -- "$hookrun")" && pwd)
hookrun=$folder/$(basename -- "$hookrun")
# Hooks read their events with it.
PATH=$folder:$PATH

place=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/hookrun-action.XXXXXX")
if [[ -n ${ACTION_CONTEXT_FILE-} ]]; then
    context=$ACTION_CONTEXT_FILE
    [[ -f $context && -r $context ]] || block "the input context-file cannot be read: $context"
else
    context=$place/context
    nothing='{}'
    printf '%s\n' "${ACTION_CONTEXT:-$nothing}" >"$context"
fi

arguments=(run "$event" --format github)
while IFS= read -r folder; do
    if [[ -n $folder ]]; then arguments+=(--hooks "$folder"); fi
done <<<"${ACTION_HOOKS-}"
while IFS= read -r argument; do
    if [[ -n $argument ]]; then arguments+=("$argument"); fi
done <<<"${ACTION_ARGS-}"

# In files: what is for the runner is judged first, and nobody who holds a pipe open is waited for.
answer=$place/answer said=$place/said status=0
"$hookrun" "${arguments[@]}" <"$context" >"$answer" 2>"$said" || status=$?
if [[ -s $said ]]; then quietly cat -- "$said"; fi
case $status:$(tail -n 1 -- "$answer") in
"0:hookrun: "*' is allowed')
    cat -- "$answer"
    allowed=true
    ;;
[1-9]*:"hookrun: "*' is blocked' | [1-9]*:"hookrun: "*' is refused') # older versions
    cat -- "$answer"
    is_stated=yes
    exit "$status"
    ;;
*)
    if [[ -s $answer ]]; then quietly cat -- "$answer"; fi
    said=$(head -c 2000 -- "$said")
    block "nothing was decided: hookrun ended with status $status${said:+ and said: $said}
The input args has one argument a line, such as --budget=60s"
    ;;
esac
