#!/bin/sh
# The command `handoff`: goes on in a new session, which begins with a message instead of the whole
# conversation. It cannot open a session itself, so it tells the host what to do, as JSON in
# `output`: newSession.parentSession is the session that is left (missing where it is not known),
# newSession.messages are those that the new one begins with. `additionalContext` is the message
# alone, for a host that can only add to a conversation. What stands after the command is ignored.
#
# Tune:
#   HOOKRUN_HANDOFF_MESSAGE   the message (default: Continue from prior session summary.)
#
# hookrun: description="go on in a new session that begins with a short message"

# JSON by hand: quotes and backslashes escaped, line breaks and control characters made spaces.
text() { printf '%s' "$1" | LC_ALL=C tr '\000-\037\177' ' ' | LC_ALL=C sed -e 's/[\\"]/\\&/g'; }

message=$(text "${HOOKRUN_HANDOFF_MESSAGE:-Continue from prior session summary.}")
parent=
if [ -n "${HOOKRUN_SESSION_ID:-}" ]; then
    parent="\"parentSession\":\"$(text "$HOOKRUN_SESSION_ID")\","
fi
messages="[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"$message\"}]}]"
order="{\"newSession\":{$parent\"messages\":$messages}}"

printf '{"output":"%s","additionalContext":"%s"}\n' "$(text "$order")" "$message"
