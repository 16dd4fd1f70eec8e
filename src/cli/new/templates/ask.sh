# Lists values that are too long for a variable. A value that cannot be checked is blocked.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to check: $HOOKRUN_TRUNCATED" >&2; exit 1; }

case " ${HOOKRUN_ACTION_COMMAND-} " in
*[!a-zA-Z0-9._-]sudo[!a-zA-Z0-9._-]*) echo '{"ask": "Let it use sudo?"}' ;;
esac
