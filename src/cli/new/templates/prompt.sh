# HOOKRUN_TRUNCATED lists values that are too long for a variable. Block what cannot be checked.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to check: $HOOKRUN_TRUNCATED" >&2; exit 1; }

case ${HOOKRUN_PROMPT-} in
*'BEGIN PRIVATE KEY'*)
    echo 'a private key must not be sent to the model; remove it' >&2
    exit 1
    ;;
esac
