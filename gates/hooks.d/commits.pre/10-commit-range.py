#!/usr/bin/env -S python3 -IS
# Refuses commits that should not be taken in as they are.
#
#   echo '{"base": "origin/main"}' | hookrun run commits.pre --hooks gates
#
# Judged is every commit that `head` (default: HEAD) has and `base` has not, in the repository of
# the event's `cwd`, each by itself: what one adds and the next takes away is found.
#
#   subject    the first line is empty, longer than 72 characters, or ends with a full stop; or
#              does not match HOOKRUN_COMMITS_SUBJECT; or no empty line follows it
#   sign-off   no Signed-off-by with the author's address
#   fixup      fixup!, squash!, amend! or WIP: it is not done yet
#   secret     an added line, in a binary file too, or the message looks like a key or a password
#   large      a file is larger than HOOKRUN_COMMITS_LARGE; of several commits with it the first
#
# Of a merge counts what none of its parents has, and neither its subject nor a sign-off. A clone
# without the whole history is refused, because commits could be missing from it. Secrets are found
# in ASCII, UTF-8, UTF-16 and UTF-32; not in what is packed, encoded or spread over lines.
#
# Tune:
#   HOOKRUN_COMMITS_ALLOW     rules to leave out, separated by spaces; or RULE:COMMIT, a full
#                             number, for one commit
#   HOOKRUN_COMMITS_SUBJECT   a regular expression for subjects: '^(feat|fix|docs)(\(.+\))?: '
#   HOOKRUN_COMMITS_LARGE     in bytes (default: 1048576)
#
# hookrun: timeout=60s

import difflib
import json
import os
import re
import subprocess
import sys

KEYS = ["base", "head", "cwd"]
RULES = ["subject", "sign-off", "fixup", "secret", "large"]
NUMBER = "[0-9a-f]{40}|[0-9a-f]{64}"
SECRETS = [
    ("a private key", rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ("an AWS access key", rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", rb"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
    ("a GitLab token", rb"\bglpat-[\w-]{20,}"),
    ("a Slack token", rb"\bxox[abeoprs]-[\w-]{10,}"),
    ("a Google API key", rb"\bAIza[\w-]{35}"),
    ("an npm token", rb"\bnpm_[A-Za-z0-9]{36}"),
    ("a Stripe key", rb"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("a password in an address", rb"\w://[^\s/:@]+:(?![\[<$*{])[^\s/@]{3,}@"),
]
SECRETS = [(what, re.compile(pattern)) for what, pattern in SECRETS]
MOST_FINDINGS = 50  # A wall of them says no more, and an answer has a limit.

# Commits are read as they are, and not as a repository can be told to show them.
GIT = ["git", "--no-replace-objects"]
ENVIRONMENT = {**os.environ, "GIT_GRAFT_FILE": os.devnull}


class Refusal(Exception):
    """The commits cannot be judged."""


def git(*arguments, given=b""):
    """What git says."""
    try:
        ran = subprocess.run([*GIT, *arguments], input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    except OSError as error:
        raise Refusal(f"git cannot be started: {error.strerror}") from None
    if ran.returncode != 0:
        said = ran.stderr.decode("utf-8", "replace").strip() or f"it ended with status {ran.returncode}"
        raise Refusal(f"git {arguments[0]}: {said}")
    return ran.stdout


class Objects:
    """What git has stored, to be read one by one."""

    def __init__(self):
        self.child = subprocess.Popen([*GIT, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)

    def read(self, number):
        self.child.stdin.write(number.encode() + b"\n")
        self.child.stdin.flush()
        head = self.child.stdout.readline().split()
        if len(head) != 3:
            raise Refusal(f"git does not have {number}; fetch it")
        return self.child.stdout.read(int(head[2]) + 1)[:-1]


def commit_of(revision):
    try:
        found = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    except Refusal:
        raise Refusal(f"`{revision}` is no commit here; fetch it") from None
    # `^main` is printed as well, and means all others.
    if not re.fullmatch(NUMBER, found):
        raise Refusal(f"`{revision}` is not the name of one commit")
    return found


def judge_message(parents, author, message):
    """What is wrong with what a commit says: rule, message."""
    subject, _, rest = message.partition("\n")
    if re.match(r"(fixup|squash|amend)! |wip\b", subject, re.IGNORECASE):
        yield "fixup", "it is not done yet; `git rebase --autosquash` joins it"
    if len(parents) > 1:
        return
    wanted = os.environ.get("HOOKRUN_COMMITS_SUBJECT")
    if not subject.strip():
        yield "subject", "it has no subject"
    elif len(subject) > 72:
        yield "subject", f"its subject has {len(subject)} characters, 72 are the most"
    elif subject.endswith("."):
        yield "subject", "its subject ends with a full stop"
    elif wanted and not re.search(wanted, subject):
        yield "subject", f"its subject does not match {wanted}"
    if rest and not rest.startswith("\n"):
        yield "subject", "no empty line follows its subject"
    signed = re.findall(r"^Signed-off-by: .*<([^>\n]*)>\s*$", message, re.MULTILINE | re.IGNORECASE)
    if author.lower() not in map(str.lower, signed):
        yield "sign-off", f"no Signed-off-by of {author}; `git rebase --signoff` adds it"


def message_of(text):
    """What stands in a commit: its parents, the author's address, what it says, and that as bytes."""
    head, _, message = text.partition(b"\n\n")
    parents = re.findall(rb"^parent .*", head, re.MULTILINE)
    author = re.search(rb"^author .*<(.*)>", head, re.MULTILINE)
    encoding = re.search(rb"^encoding (.*)", head, re.MULTILINE)
    try:
        said = message.decode(encoding[1].decode() if encoding else "utf-8")
    except (LookupError, ValueError):
        said = message.decode("utf-8", "replace")
    return parents, author[1].decode("utf-8", "replace") if author else "", said.rstrip("\n"), message


def changes(commits):
    """Each file that a commit changes, and of a merge those that no parent has so: commit, path,
    the file before in each parent that has it, and now."""
    fields = iter(git("diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "-z", given=commits).split(b"\0"))
    commit = None
    for field in fields:
        if not field.startswith(b":"):
            commit = field.decode()
            continue
        words = field.lstrip(b":").decode().split(" ")
        parents = len(field) - len(field.lstrip(b":"))
        modes, blobs = words[: parents + 1], words[parents + 1 : 2 * parents + 2]
        path = next(fields).decode("utf-8", "replace")
        # What is no file is gone, or a commit of a submodule.
        files = [blob if mode not in ("000000", "160000") else None for mode, blob in zip(modes, blobs)]
        if files[-1]:
            yield commit, path, [file for file in files[:-1] if file], files[-1]


def secrets_in(text):
    """What in a text looks like a secret. Of UTF-16 and UTF-32 the NULs are left out."""
    texts = [text, text.replace(b"\0", b"")]
    return [what for what, pattern in SECRETS if any(map(pattern.search, texts))]


def added_secrets(objects, before, now):
    """The secrets in lines that a file has now, and had before in none of these: line and what."""
    lines = objects.read(now).split(b"\n")
    had = {line for file in before for line in objects.read(file).split(b"\n")}
    for number, line in enumerate(lines, 1):
        if line not in had:
            yield from ((number, what) for what in secrets_in(line))


def large_files(base, head, limit):
    """What the commits bring that is over the limit, files and others, and its size."""
    listed = git("rev-list", "--objects", head, f"^{base}")
    shown = git("cat-file", "--batch-check=%(objectname) %(objectsize) %(rest)", given=listed)
    rows = (row.decode("utf-8", "replace").split(" ")[:2] for row in shown.splitlines())
    return {name: int(size) for name, size in rows if int(size) > limit}


def meant(word, words):
    """The cure of a slip."""
    near = difflib.get_close_matches(word.lower(), words, 1)
    return f"did you mean `{near[0]}`?" if near else f"there is {', '.join(words)}"


def allowed():
    """What HOOKRUN_COMMITS_ALLOW leaves out."""
    words = os.environ.get("HOOKRUN_COMMITS_ALLOW", "").split()
    for word in words:
        rule, colon, commit = word.partition(":")
        if rule not in RULES:
            raise Refusal(f"HOOKRUN_COMMITS_ALLOW: `{word}` is neither a rule nor RULE:COMMIT; {meant(rule, RULES)}")
        if colon and not re.fullmatch(NUMBER, commit):
            raise Refusal(f"HOOKRUN_COMMITS_ALLOW: `{word}` names no commit by its full number; `git rev-parse` prints it")
    return words


def check_keys(event):
    """A key that is not known could be a slip, and what it should say would not count."""
    for key, value in event.items():
        if key not in [*KEYS, "event", "sessionId"]:
            raise Refusal(f"the event has a key that is not known, `{key}`; {meant(key, KEYS)}")
        if not isinstance(value, str) or not value or "\0" in value:
            raise Refusal(f"`{key}` must be a text that is not empty, not {json.dumps(value)}")


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


def check(event):
    check_keys(event)
    if "base" not in event:
        raise Refusal('the event has no `base`: {"base": "origin/main"}')
    if "cwd" in event and not is_here(event["cwd"]):
        raise Refusal(f"there is no folder `{event['cwd']}`")
    if git("rev-parse", "--is-shallow-repository").strip() != b"false":
        raise Refusal("the clone has not the whole history; fetch all of it (`git fetch --unshallow`)")
    base, head = commit_of(event["base"]), commit_of(event.get("head", "HEAD"))
    limit = os.environ.get("HOOKRUN_COMMITS_LARGE") or "1048576"
    if not re.fullmatch("[0-9]+", limit):
        raise Refusal("HOOKRUN_COMMITS_LARGE is a number of bytes")
    try:
        re.compile(os.environ.get("HOOKRUN_COMMITS_SUBJECT", ""))
    except re.error as error:
        raise Refusal(f"HOOKRUN_COMMITS_SUBJECT is no regular expression: {error}") from None

    left_out, errors, findings = allowed(), [], []

    def wrong(rule, commit, called, place=None):
        if rule not in left_out and f"{rule}:{commit}" not in left_out:
            errors.append(f"{called} [{rule}]")
            findings.extend([{**place, "message": f"{called} [{rule}]"}] if place else [])

    commits = git("rev-list", "--topo-order", "--reverse", head, f"^{base}")
    large, objects = large_files(base, head, int(limit)), Objects()
    for number in commits.decode().split():
        parents, author, message, as_bytes = message_of(objects.read(number))
        subject = message.partition("\n")[0][:60]
        for rule, problem in judge_message(parents, author, message):
            wrong(rule, number, f"{number[:12]} ({subject}): {problem}")
        for what in secrets_in(as_bytes):
            wrong("secret", number, f"{number[:12]}: its message has {what} in it")
    for number, path, before, now in changes(commits):
        for line, what in added_secrets(objects, before, now):
            wrong("secret", number, f"{number[:12]} adds {what} in {path}:{line}", {"path": path, "line": line})
        if size := large.pop(now, None):
            wrong("large", number, f"{number[:12]}: {path} has {size} bytes, {limit} are the most", {"path": path})
    return commits.count(b"\n"), errors, findings


def main():
    try:
        count, errors, findings = check(json.load(sys.stdin.buffer))
    except (Refusal, OSError) as refusal:
        sys.exit(f"the commits were not judged: {refusal}")
    if errors:
        shown = errors[:MOST_FINDINGS] + [f"and {len(errors) - MOST_FINDINGS} more"] * (len(errors) > MOST_FINDINGS)
        reason = "the commits are refused:\n" + "\n".join(shown)
        print(json.dumps({"continue": False, "reason": reason, "findings": findings[:MOST_FINDINGS]}))
    else:
        print("1 commit is in order" if count == 1 else f"{count} commits are in order")


main()
