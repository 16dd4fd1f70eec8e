# In this hook's state folder, or in HOOKRUN_SEEN_LOG.
echo "$HOOKRUN_EVENT" >>"${HOOKRUN_SEEN_LOG:-${HOOKRUN_STATE_DIR:?}/seen.log}"
