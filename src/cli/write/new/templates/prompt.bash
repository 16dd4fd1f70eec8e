# A value that is too long for a variable is named here; what was not seen is not allowed.
[[ -z ${HOOKRUN_TRUNCATED-} ]] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

if [[ ${HOOKRUN_PROMPT-} == *'BEGIN PRIVATE KEY'* ]]; then
    echo 'a private key is not for the model; take it out' >&2
    exit 1
fi
