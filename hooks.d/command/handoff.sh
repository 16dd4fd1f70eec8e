#!/bin/sh
# The command `handoff` continues in a new session that starts with a short message. It cannot
# open a session itself, so it instructs the host with JSON in `output`: newSession.parentSession is
# the current session, if known, and newSession.messages are the first messages of the new one.
# `additionalContext` is the message alone, for a host that can only append to a conversation. Text
# after the command is ignored.
#
# Settings:
#   HOOKRUN_HANDOFF_MESSAGE   the message (default: Continue from prior session summary.)
#
# hookrun: description="continue in a new session that starts with a short message"

# JSON by hand: escapes quotes and backslashes, and replaces control characters with spaces.
text() { printf '%s' "$1" | LC_ALL=C tr '\000-\037\177' ' ' | LC_ALL=C sed -e 's/[\\"]/\\&/g'; }

message=$(text "${HOOKRUN_HANDOFF_MESSAGE:-Continue from prior session summary.}")
parent=
if [ -n "${HOOKRUN_SESSION_ID:-}" ]; then
    parent="\"parentSession\":\"$(text "$HOOKRUN_SESSION_ID")\","
fi
messages="[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"$message\"}]}]"
order="{\"newSession\":{$parent\"messages\":$messages}}"

printf '{"output":"%s","additionalContext":"%s"}\n' "$(text "$order")" "$message"
