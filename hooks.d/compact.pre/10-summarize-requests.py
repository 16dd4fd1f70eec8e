#!/usr/bin/env -S python3 -IS
# Compacts a conversation without a model: the summary is what the user asked for, one line a
# request, below the summary of the last compaction. A sketch to start your own from: it is
# instant, costs nothing, and forgets what the agent did.
#
# Tune: HOOKRUN_COMPACT_CHARS, how much of a request is kept (default: 200).
#
# hookrun: rewrite

import json
import os
import sys


def text_of(content):
    """A message's content is a string, or a list of parts of which some are text."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = " ".join(part for part in parts if isinstance(part, str))
    return " ".join(content.split()) if isinstance(content, str) else ""


def shorten(text, limit):
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "\u2026"


def main():
    limit = int(os.environ.get("HOOKRUN_COMPACT_CHARS", "200"))
    context = json.load(sys.stdin.buffer)
    messages = context.get("messagesToSummarize") or context.get("messages") or []
    requests = [text_of(m.get("content")) for m in messages if isinstance(m, dict) and m.get("role") == "user"]
    lines = [f"- {shorten(request, limit)}" for request in requests if request]
    if not lines:
        return  # Nothing to say; the host compacts in its own way.

    summary = "User requests:\n" + "\n".join(lines)
    if context.get("previousSummary"):
        summary = f"{context['previousSummary']}\n\n{summary}"
    compaction = {"summary": summary}
    # Where the host would cut, and what it counted, are its own facts and go back unchanged.
    cut = context.get("cutPoint")
    if isinstance(cut, dict) and "firstKeptEntryIndex" in cut:
        compaction["firstKeptEntryIndex"] = cut["firstKeptEntryIndex"]
    if "tokensBefore" in context:
        compaction["tokensBefore"] = context["tokensBefore"]
    print(json.dumps({"update": {"compaction": compaction}}))


main()
