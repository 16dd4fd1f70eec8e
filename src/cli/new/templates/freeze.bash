# Blocks while the file FREEZE exists in the project's root.
if [[ -e ${HOOKRUN_PROJECT_DIR:?}/FREEZE ]]; then
    echo 'blocked while the file FREEZE exists' >&2
    exit 1
fi
