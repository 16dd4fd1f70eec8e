# A value that is too long for a variable is named here; what was not seen is not allowed.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

case ${HOOKRUN_ACTION_COMMAND-} in
*'git push'*' --force'*)
    echo 'force pushes are blocked; push to your own branch' >&2
    exit 1
    ;;
esac
