#!/usr/bin/env -S python3 -IS
# Compacts a conversation without a model: the summary lists the user's requests, one per line,
# after the summary of the last compaction. It is instant and free, but omits the agent's actions;
# use it as a starting point for your own.
#
# Settings: HOOKRUN_COMPACT_CHARS, the number of characters kept of a request (default: 200).
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


def facts_of(context):
    """What the host tells about the compaction: in the context, or in its own payload."""
    facts = {}
    raw = context.get("raw")
    preparation = raw.get("preparation") if isinstance(raw, dict) else None
    for place in (preparation, raw, context):
        if isinstance(place, dict):
            facts.update((key, value) for key, value in place.items() if value is not None)
    return facts


def main():
    limit = int(os.environ.get("HOOKRUN_COMPACT_CHARS", "200"))
    facts = facts_of(json.load(sys.stdin.buffer))
    messages = facts.get("messagesToSummarize") or facts.get("messages") or []
    requests = [text_of(m.get("content")) for m in messages if isinstance(m, dict) and m.get("role") == "user"]
    lines = [f"- {shorten(request, limit)}" for request in requests if request]
    if not lines:
        return  # Nothing to say; the host compacts in its own way.

    summary = "User requests:\n" + "\n".join(lines)
    if facts.get("previousSummary"):
        summary = f"{facts['previousSummary']}\n\n{summary}"
    compaction = {"summary": summary}
    # Where the host would cut, and what it counted, are its own facts and go back unchanged.
    if isinstance(facts.get("cutPoint"), dict):
        facts.update(facts["cutPoint"])
    for key in ("firstKeptEntryIndex", "firstKeptEntryId", "tokensBefore"):
        if key in facts:
            compaction[key] = facts[key]
    print(json.dumps({"update": {"compaction": compaction}}))


main()
