# HOOKRUN_TRUNCATED lists values that are too long for a variable. Block what cannot be checked.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to check: $HOOKRUN_TRUNCATED" >&2; exit 1; }

case ${HOOKRUN_ACTION_COMMAND-} in
*'git push'*' --force'*)
    echo 'force pushes are blocked; push to your own branch' >&2
    exit 1
    ;;
esac
