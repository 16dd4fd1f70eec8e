# In a folder of this hook's own, which stays, or where HOOKRUN_SEEN_LOG says.
echo "$HOOKRUN_EVENT" >>"${HOOKRUN_SEEN_LOG:-${HOOKRUN_STATE_DIR:?}/seen.log}"
