#!/usr/bin/env -S python3 -IS
# Appends one line of JSON to a log for every event: the time, the session, the tool and its action.
# One script, linked into the folder of each event. It runs first, so that it also logs events that
# a later hook blocks. It is not linked into tool.pre, where it would add Python's start-up time to
# every call: add the link to log blocked calls.
#
# It logs commands and paths, but only the length of prompts, results and file contents. Several
# sessions can share one log.
#
# Settings:
#   HOOKRUN_AUDIT_FILE       the log (default: $XDG_STATE_HOME/hookrun-audit.jsonl, which is
#                            ~/.local/state/hookrun-audit.jsonl)
#   HOOKRUN_AUDIT_REQUIRED   0 allows events that cannot be logged (default: 1)
#
# hookrun: priority=5

import fcntl
import json
import os
import sys
import time

LOGGED = (
    "sessionId turnIndex cwd toolName toolUseId action isError model source reason code error "
    "kind channel direction senderId recipient transcriptPath"
).split()
MEASURED = "prompt result content message".split()
LONGEST = 2000


def shorten(value):
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[:LONGEST]}... ({len(value)} characters)"
    if isinstance(value, list):
        return [shorten(item) for item in value]
    if isinstance(value, dict):
        return {key: shorten(item) for key, item in value.items()}
    return value


def log_line(context):
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03}Z"
    line = {"time": stamp, "event": os.environ.get("HOOKRUN_EVENT") or context.get("event")}
    for key in LOGGED:
        if context.get(key) is not None:
            line[key] = shorten(context[key])
    for key in MEASURED:
        if context.get(key) is not None:
            value = context[key]
            line[key + "Length"] = len(value if isinstance(value, str) else json.dumps(value))
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def append(path, line):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    # One write of a whole line is all or nothing on most file systems; the lock is for the rest.
    fcntl.flock(log, fcntl.LOCK_EX)
    while line:
        line = line[os.write(log, line) :]


def main():
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    path = os.environ.get("HOOKRUN_AUDIT_FILE") or os.path.join(state, "hookrun-audit.jsonl")
    try:
        append(path, log_line(json.load(sys.stdin.buffer)))
    except OSError as error:
        if os.environ.get("HOOKRUN_AUDIT_REQUIRED") != "0":
            sys.exit(f"cannot log this event: {error}; HOOKRUN_AUDIT_REQUIRED=0 allows events that are not logged")


main()
