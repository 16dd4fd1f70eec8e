# Lists values that are too long for a variable. A value that cannot be checked is blocked.
[[ -z ${HOOKRUN_TRUNCATED-} ]] || { echo "too long to check: $HOOKRUN_TRUNCATED" >&2; exit 1; }

if [[ ${HOOKRUN_PROMPT-} == *'BEGIN PRIVATE KEY'* ]]; then
    echo 'a private key must not be sent to the model; remove it' >&2
    exit 1
fi
