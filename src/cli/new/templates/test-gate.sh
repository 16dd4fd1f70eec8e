cd "${HOOKRUN_PROJECT_DIR:?}" || exit 1
[ -e test.sh ] || exit 0
if ! said=$(sh ./test.sh 2>&1); then
    echo 'tests failed; fix them first:' >&2
    printf '%s\n' "$said" | tail -n 20 >&2
    exit 1
fi
