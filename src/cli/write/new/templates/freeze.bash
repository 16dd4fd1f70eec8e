# While the file FREEZE lies in the project's root, this does not happen.
if [[ -e ${HOOKRUN_PROJECT_DIR:?}/FREEZE ]]; then
    echo 'not now: the file FREEZE is there' >&2
    exit 1
fi
