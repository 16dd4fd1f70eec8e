#!/usr/bin/env -S python3 -IS
# Blocks deployments during a freeze: while the file FREEZE exists in the project's root or in the
# deployed folder (the event's `cwd`). The reason is the text of the file.
#
#   echo 'stocktaking until Monday' >FREEZE
#   echo '{"environment": "production"}' | hookrun run deploy.pre --hooks gates
#
# To freeze only production, add where.environment=^production$ to the directive below. Events with
# another environment or none are then allowed. If you add keys to the event, add them to KEYS.
#
# Settings:
#   HOOKRUN_FREEZE   the file, relative to these folders (default: FREEZE)
#
# hookrun: timeout=5s

import difflib
import json
import os
import sys

KEYS = ["service", "environment", "cwd"]
MOST_BYTES = 4000  # Of a reason. It is for people to read.


class Blocked(Exception):
    """Whether there is a freeze cannot be known."""


def meant(word, words):
    """The cure of a slip."""
    near = difflib.get_close_matches(word.lower(), words, 1)
    return f"did you mean `{near[0]}`?" if near else f"expected one of: {', '.join(words)}"


def check_keys(event):
    """A key that is not known could be a slip, and what it should say would not count."""
    for key, value in event.items():
        if key not in [*KEYS, "event", "sessionId"]:
            raise Blocked(f"the event has an unknown key, `{key}`; {meant(key, KEYS)}")
        if not isinstance(value, str) or not value or "\0" in value:
            raise Blocked(f"`{key}` must be a non-empty string, not {json.dumps(value)}")


def is_same(folder):
    return os.path.isdir(folder) and os.path.samefile(folder, ".")


def is_here(cwd):
    """Whether we are in the event's `cwd`: hookrun starts a hook elsewhere if there is no such folder."""
    if os.path.isdir(cwd):
        return True  # There is one even from here, so hookrun has found it.
    # It is seen from where hookrun is: the folder of our parent, or what the shell called its own.
    starts = [f"/proc/{os.getppid()}/cwd", os.environ.get("PWD", "")]
    if not any(map(is_same, starts)):
        starts.append(os.environ.get("HOOKRUN_PROJECT_DIR", ""))
    return any(is_same(os.path.join(start, cwd)) for start in starts)


def is_there(file):
    """Whether there is such a file; a link to nothing is one."""
    try:
        os.lstat(file)
        return True
    except (FileNotFoundError, NotADirectoryError):
        return False


def why(file):
    try:
        with open(file, "rb") as opened:
            return opened.read(MOST_BYTES).decode("utf-8", "replace").strip() or "no reason given"
    except OSError as error:
        return f"cannot read the reason in `{file}`: {error.strerror}"


def check(event):
    """Why nothing is deployed; nothing without a freeze."""
    check_keys(event)
    if "cwd" in event and not is_here(event["cwd"]):
        raise Blocked(f"`cwd` is `{event['cwd']}`, which is not a folder")
    for folder in (os.environ["HOOKRUN_PROJECT_DIR"], "."):
        file = os.path.join(folder, os.environ.get("HOOKRUN_FREEZE") or "FREEZE")
        if is_there(file):
            return why(file)
    return None


def main():
    try:
        reason = check(json.load(sys.stdin.buffer))
    except (Blocked, OSError) as problem:
        sys.exit(f"cannot tell whether deployments are frozen: {problem}")
    if reason:
        sys.exit(f"deployments are frozen: {reason}")


main()
