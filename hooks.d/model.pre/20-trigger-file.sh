#!/bin/sh
# Sends the text of a file to the model with the next request, and removes the file. A CI job, a
# file watcher or a webhook can write it, or you in another terminal:
# `echo 'run the tests' > .agent-trigger`.
#
# Settings: HOOKRUN_TRIGGER_FILE (default: .agent-trigger in the project). Anyone who can write this
# file can instruct your agent: keep it where only you can.

file=${HOOKRUN_TRIGGER_FILE:-${HOOKRUN_PROJECT_DIR:-.}/.agent-trigger}
[ -f "$file" ] && [ -s "$file" ] || exit 0

# Moving is atomic: later text goes into a new file, for the next request.
taken=$file.$$
mv -- "$file" "$taken" 2>/dev/null || exit 0

# JSON by hand: quotes and backslashes escaped, lines joined by \n, control characters dropped.
# At most 16 KiB, to leave the model some room.
printf '{"additionalContext":"External trigger: %s"}\n' "$(head -c 16384 "$taken" |
    LC_ALL=C sed -e 's/[\\"]/\\&/g' -e '$!s/$/\\n/' | LC_ALL=C tr '\t' ' ' | LC_ALL=C tr -d '\000-\037\177')"
rm -f -- "$taken"
