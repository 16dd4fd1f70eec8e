# Logs to HOOKRUN_SEEN_LOG, by default to seen.log in this hook's state folder.
echo "$HOOKRUN_EVENT" >>"${HOOKRUN_SEEN_LOG:-${HOOKRUN_STATE_DIR:?}/seen.log}"
