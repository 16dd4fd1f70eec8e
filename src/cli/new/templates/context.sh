# @PRINTED@
notes=${HOOKRUN_PROJECT_DIR:?}/NOTES.md
[ -e "$notes" ] || exit 0
printf 'Notes: %s\n' "$(head -n 1 "$notes")"
