#!/usr/bin/env -S python3 -IS
# Keeps secrets from travelling. One script, linked into three event folders:
#
#   tool.post       secrets in what a tool returned are replaced before the model reads it
#   prompt.submit   secrets in a prompt are replaced before it is sent
#   message.out     a message that carries a secret is refused (as 10-refuse-secrets.py)
#
# Known forms of keys, passwords in addresses, private key blocks, and what is assigned to a
# telling name (API_KEY=..., "client_secret": "..."). A short password in a sentence looks like
# any other word and is not found.
#
# Tune:
#   HOOKRUN_REDACT_EXTRA   one more regular expression; its whole match is a secret
#   HOOKRUN_REDACT_WITH    what to put in place of a secret (default: [REDACTED])
#
# hookrun: rewrite priority=10

import json
import os
import re
import sys

# What it is, and how it looks. A group called `keep` stays in front of the replacement.
SECRETS = [
    ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
    ("GitLab token", r"\bglpat-[\w-]{20,}"),
    ("Slack token", r"\bxox[abeoprs]-[\w-]{10,}"),
    ("Google API key", r"\bAIza[\w-]{35}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    # A digit tells sk-proj-4f... from sk-learn-compatible-estimators.
    ("API key", r"\bsk-(?=[\w-]*\d)[\w-]{16,}"),
    ("authorization header", r"(?i:(?P<keep>\bauthorization\s*:\s*(?:basic|bearer|token)\s+))[^\s\"'\[]{8,}"),
    ("password in an address", r"(?P<keep>\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)(?!\[)[^\s/@]+(?=@)"),
    (
        "assigned secret",
        r"(?P<keep>\b[A-Z0-9_]*(?:API_?KEY|ACCESS_?KEY(?:_ID)?|PRIVATE_?KEY|SECRET(?:_?KEY)?|TOKEN|PASSWORD|PASSWD)=)"
        r"(?![\"']?(?:\$|<|\[|\*))(?:\"[^\"\n]+\"|'[^'\n]+'|[^\s\"']+)",
    ),
    (
        "assigned secret",
        r"(?i:(?P<keep>\b(?:aws_secret_access_key|api[_-]?key|(?:access|auth)[_-]?token|client[_-]?secret|password)"
        r"[\"']\s*:\s*[\"']))(?!\[)[^\s\"']{16,}",
    ),
]
TELLING_NAME = re.compile(
    r"(?i)(?:^|[_-])(?:api[_-]?key|secret[_-]?(?:access[_-]?)?key|(?:access|auth)[_-]?token|client[_-]?secret|password)$"
)
FIELDS = {"tool.post": ["result"], "prompt.submit": ["prompt"], "message.out": ["content", "message"]}
ANSWER_LIMIT = 1 << 20  # hookrun takes no longer answer.


class Redactor:
    """Replaces secrets, and counts them by kind in `found`."""

    def __init__(self, secrets, replacement):
        self.patterns = [(kind, re.compile(pattern)) for kind, pattern in secrets]
        self.replacement = replacement
        self.found = {}

    def value(self, value, name=""):
        """Any JSON value; `name` is the key under which it stands."""
        if isinstance(value, str):
            if TELLING_NAME.search(name) and re.fullmatch(r"(?!\[)\S{16,}", value):
                return self.replace("assigned secret")
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {key: self.value(item, key) for key, item in value.items()}
        return value

    def text(self, text):
        for kind, pattern in self.patterns:
            text = pattern.sub(lambda match, kind=kind: self.replace(kind, match), text)
        return text

    def replace(self, kind, match=None):
        self.found[kind] = self.found.get(kind, 0) + 1
        keep = match.groupdict().get("keep") if match else None
        return (keep or "") + self.replacement


def refuse(reason):
    print(reason, file=sys.stderr)
    sys.exit(1)


def keep_back(event, carried, problem):
    """What cannot be made safe is refused or, if it has already happened, not passed on."""
    if event != "tool.post":
        refuse(problem)
    print(json.dumps({"update": {field: f"[withheld: {problem}]" for field in carried}}))


def main():
    context = json.load(sys.stdin.buffer)
    event = os.environ.get("HOOKRUN_EVENT") or context.get("event")
    carried = {field: context[field] for field in FIELDS.get(event, []) if context.get(field) is not None}
    if not carried:
        return

    extra = os.environ.get("HOOKRUN_REDACT_EXTRA")
    secrets = SECRETS + [("secret of your own", extra)] if extra else SECRETS
    try:
        redactor = Redactor(secrets, os.environ.get("HOOKRUN_REDACT_WITH", "[REDACTED]"))
    except re.error as error:
        return keep_back(event, carried, f"HOOKRUN_REDACT_EXTRA is not a regular expression: {error}")

    redacted = redactor.value(carried)
    if not redactor.found:
        return
    kinds = ", ".join(f"{count} x {kind}" for kind, count in redactor.found.items())
    if event == "message.out":
        refuse(f"the message carries a secret and was not sent: {kinds}\ninstead: take it out, and say where it is kept")
    answer = json.dumps({"update": redacted, "additionalContext": f"Taken out of the {', '.join(redacted)}: {kinds}."})
    if len(answer) >= ANSWER_LIMIT:
        return keep_back(event, carried, f"it carries a secret ({kinds}) and is too long to be rewritten; take a smaller part")
    print(answer)


main()
