#!/bin/sh
# Sends what somebody writes into a file: echo "Run the tests" > /tmp/agent-trigger.txt
#
# Whoever may write the file speaks to your agent. TRIGGER_FILE names another one.

file=${TRIGGER_FILE:-/tmp/agent-trigger.txt}

watch() {
    while sleep 0.2; do
        [ -s "$file" ] || continue
        text=$(cat "$file") && : >"$file" || continue
        hookrun hook send "External trigger: $text"
    done
}

watch &
hookrun hook ui notify "Watching $file" || :
# The end of stdin is the end of the session, and ends what runs in the background too.
cat >/dev/null
