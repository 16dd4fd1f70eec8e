#!/usr/bin/env python3
"""Notes the tracked files at the start of each turn, and offers to take them back when the
conversation branches at one. The notes are in memory: one process serves the whole session."""

import json, subprocess, sys

checkpoints = {}


def output(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.strip()


for line in sys.stdin:
    event = json.loads(line)
    if event["event"] == "turn.start":
        # A commit without a name: no branch, no list and no file is touched.
        if commit := output("git", "stash", "create"):
            checkpoints[event["turnIndex"]] = commit
    elif event["event"] == "agent.end":
        checkpoints.clear()
    elif commit := checkpoints.get(event.get("targetTurnIndex")):
        yes = "Yes, restore code to that point"
        options = [yes, "No, keep current code"]
        if output("hookrun", "hook", "ui", "select", "Restore code state?", *options) == yes:
            output("git", "restore", f"--source={commit}", "--worktree", "--", ":/")
            print(json.dumps({"status": "Code restored to checkpoint"}), flush=True)
