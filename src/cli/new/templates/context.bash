# @PRINTED@
notes=${HOOKRUN_PROJECT_DIR:?}/NOTES.md
[[ -e $notes ]] || exit 0
IFS= read -r first <"$notes"
printf 'Notes: %s\n' "$first"
