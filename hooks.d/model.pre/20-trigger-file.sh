#!/bin/sh
# Hands the model what somebody wrote into a file: a CI job, a file watcher, a webhook, or you
# in another terminal (`echo 'run the tests' > .agent-trigger`). The file is taken away, so
# that each text arrives once, with the next request to the model.
#
# Tune: HOOKRUN_TRIGGER_FILE (default: .agent-trigger in the project). Whoever may write it
# speaks to your agent: keep it where only you can.

file=${HOOKRUN_TRIGGER_FILE:-${HOOKRUN_PROJECT_DIR:-.}/.agent-trigger}
[ -f "$file" ] && [ -s "$file" ] || exit 0

# Moving is atomic: what is written from now on goes into a new file, for the next time.
taken=$file.$$
mv -- "$file" "$taken" 2>/dev/null || exit 0

# JSON by hand: quotes and backslashes escaped, lines joined by \n, control characters dropped.
# At most 16 KiB, to leave the model some room.
printf '{"additionalContext":"External trigger: %s"}\n' "$(head -c 16384 "$taken" |
    LC_ALL=C sed -e 's/[\\"]/\\&/g' -e '$!s/$/\\n/' | LC_ALL=C tr '\t' ' ' | LC_ALL=C tr -d '\000-\037\177')"
rm -f -- "$taken"
