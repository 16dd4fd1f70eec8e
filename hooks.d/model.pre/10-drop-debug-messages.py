#!/usr/bin/env -S python3 -IS
# Hides debug messages from the model: custom messages of the type `debug-only`. They stay in the
# session; only the request omits them.
#
# Settings: HOOKRUN_HIDDEN_TYPES, the custom types to omit, separated by spaces
# (default: debug-only).
#
# hookrun: rewrite

import json
import os
import sys

HIDDEN_TYPES = os.environ.get("HOOKRUN_HIDDEN_TYPES", "debug-only").split()
ANSWER_LIMIT = 1 << 20  # hookrun takes no longer answer.


def is_hidden(message):
    return (
        isinstance(message, dict)
        and message.get("role") == "custom"
        and message.get("customType") in HIDDEN_TYPES
    )


def main():
    messages = json.load(sys.stdin.buffer).get("messages")
    if not isinstance(messages, list) or not any(map(is_hidden, messages)):
        return
    shown = [message for message in messages if not is_hidden(message)]
    answer = json.dumps({"update": {"messages": shown}}, ensure_ascii=False).encode("utf-8", "replace")
    if len(answer) >= ANSWER_LIMIT:
        # A debug message too many does less harm than a request that is not made.
        print("the messages are too long to rewrite; debug messages were not removed", file=sys.stderr)
        return
    sys.stdout.buffer.write(answer)


main()
