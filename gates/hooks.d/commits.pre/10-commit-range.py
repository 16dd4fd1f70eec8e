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
#   large      a file is larger than HOOKRUN_COMMITS_LARGE
#
# Of a merge counts what none of its parents has, and neither its subject nor a sign-off. A clone
# without the whole history is refused, because commits could be missing from it.
#
# Tune:
#   HOOKRUN_COMMITS_ALLOW     rules to leave out, separated by spaces; or RULE:COMMIT, a full
#                             number, for one commit
#   HOOKRUN_COMMITS_SUBJECT   a regular expression for subjects: '^(feat|fix|docs)(\(.+\))?: '
#   HOOKRUN_COMMITS_LARGE     in bytes (default: 1048576)
#
# hookrun: timeout=60s

import json
import os
import re
import subprocess
import sys
import tempfile

SECRETS = [
    ("a private key", rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ("an AWS access key", rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", rb"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
    ("a GitLab token", rb"\bglpat-[\w-]{20,}"),
    ("a Slack token", rb"\bxox[abeoprs]-[\w-]{10,}"),
    ("a Google API key", rb"\bAIza[\w-]{35}"),
    ("an npm token", rb"\bnpm_[A-Za-z0-9]{36}"),
    ("a Stripe key", rb"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("a password in an address", rb"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:(?![\[<$*{])[^\s/@]{3,}@"),
]
SECRETS = [(what, re.compile(pattern)) for what, pattern in SECRETS]
MOST_FINDINGS = 50  # A wall of them says no more, and an answer has a limit.

# Nothing that a repository can be configured with hides anything.
GIT = ["git", "--no-replace-objects", "-c", "core.quotePath=false", "-c", "diff.suppressBlankEmpty=false"]
DIFF = ["--patch", "-c", "--root", "--unified=0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--text",
        "--src-prefix=a/", "--dst-prefix=b/", "--no-relative", "--ignore-submodules=none", "--submodule=short"]  # fmt: skip


class Refusal(Exception):
    """The commits cannot be judged."""


def git(*arguments, given=b""):
    """What git says."""
    try:
        ran = subprocess.run([*GIT, *arguments], input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Refusal(f"git cannot be started: {error.strerror}") from None
    if ran.returncode != 0:
        said = ran.stderr.decode("utf-8", "replace").strip() or f"it ended with status {ran.returncode}"
        raise Refusal(f"git {arguments[0]}: {said}")
    return ran.stdout


def commit_of(revision):
    if not isinstance(revision, str) or not revision:
        raise Refusal('the event has no `base`: {"base": "origin/main"}')
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    except Refusal:
        raise Refusal(f"`{revision}` is no commit here; fetch it") from None


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


def messages(commits):
    """For each commit: its number, parents, the author's address, what it says."""
    shown = git("log", "-z", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--encoding=UTF-8", "--format=%H%n%P%n%ae%n%B", given=commits)
    for text in shown.decode("utf-8", "replace").split("\0"):
        if text:
            number, parents, author, message = text.split("\n", 3)
            yield number, parents.split(), author, message.rstrip("\n")


def unquoted(path):
    """A path in the head of a diff, which has quotes where it has strange characters."""
    if path.startswith(b'"'):
        plain = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
        whole = lambda found: plain.get(found[1]) or (bytes([int(found[1], 8)]) if found[1].isdigit() else b"?")
        path = re.sub(rb"\\([0-7]{3}|.)", whole, path[1:-1])
    return path[2:].decode("utf-8", "replace")


def added(commits):
    """Every line that a commit adds, of a merge what no parent has: commit, path, line, bytes."""
    command = [*GIT, "diff-tree", "--stdin", "-r", "--pretty=format:commit %H", *DIFF]
    # A file and no pipe: git writes before it has read everything, and so must not we.
    numbers = tempfile.TemporaryFile()
    numbers.write(commits)
    numbers.seek(0)
    child = subprocess.Popen(command, stdin=numbers, stdout=subprocess.PIPE)
    commit = path = None
    parents, old, new, line = 1, [0], 0, 0
    for text in child.stdout:
        text = text[:-1] if text.endswith(b"\n") else text
        # By the numbers in its head it is known where a hunk ends, whatever its lines look like.
        if new > 0 or any(count > 0 for count in old):
            if text.startswith(b"\\"):
                continue
            marks = text[:parents]
            if b"-" in marks:
                old = [count - (mark == ord("-")) for count, mark in zip(old, marks)]
                continue
            old = [count - (mark == ord(" ")) for count, mark in zip(old, marks)]
            if marks == b"+" * parents:
                yield commit, path, line, text[parents:]
            new, line = new - 1, line + 1
        elif text.startswith(b"@@"):
            parents = len(text) - len(text.lstrip(b"@")) - 1
            ranges = text.split(b" ")[1 : parents + 2]
            sizes = [int(one.partition(b",")[2] or 1) for one in ranges]
            old, new, line = sizes[:-1], sizes[-1], int(ranges[-1][1:].partition(b",")[0])
        elif text.startswith(b"+++ "):
            path = unquoted(text[4:].rstrip(b"\t"))
        elif text.startswith(b"commit "):
            commit = text[7:].decode()
    if child.wait() != 0:
        raise Refusal(f"git diff-tree ended with status {child.returncode}")


def large_files(base, head, limit):
    """The files over the limit that the commits bring: path and size."""
    objects = git("rev-list", "--objects", head, f"^{base}")
    shown = git("cat-file", "--batch-check=%(objecttype) %(objectsize) %(rest)", given=objects)
    for row in shown.splitlines():
        sort, size, path = (row.split(b" ", 2) + [b""])[:3]
        if sort == b"blob" and int(size) > limit:
            yield path.decode("utf-8", "replace"), int(size)


def is_here(cwd):
    """Whether we are in the event's `cwd`: hookrun starts a hook elsewhere if there is no such folder."""
    if os.path.isabs(cwd):
        return os.path.isdir(cwd) and os.path.samefile(cwd, ".")
    return f"{os.getcwd()}/".endswith(os.path.join("/", os.path.normpath(cwd), "")) or os.path.normpath(cwd) == "."


def check(event):
    if event.get("cwd") is not None and not is_here(event["cwd"]):
        raise Refusal(f"there is no folder `{event['cwd']}`")
    if git("rev-parse", "--is-shallow-repository").strip() != b"false":
        raise Refusal("the clone has not the whole history; fetch all of it (`git fetch --unshallow`)")
    base, head = commit_of(event.get("base")), commit_of(event.get("head") or "HEAD")
    try:
        limit = int(os.environ.get("HOOKRUN_COMMITS_LARGE") or 1 << 20)
        re.compile(os.environ.get("HOOKRUN_COMMITS_SUBJECT", ""))
    except ValueError:
        raise Refusal("HOOKRUN_COMMITS_LARGE is a number of bytes") from None
    except re.error as error:
        raise Refusal(f"HOOKRUN_COMMITS_SUBJECT is no regular expression: {error}") from None

    allowed, errors, findings = os.environ.get("HOOKRUN_COMMITS_ALLOW", "").split(), [], []

    def wrong(rule, commit, called, place=None):
        if rule not in allowed and f"{rule}:{commit}" not in allowed:
            errors.append(f"{called} [{rule}]")
            findings.extend([{**place, "message": f"{called} [{rule}]"}] if place and place["path"] else [])

    commits = git("rev-list", "--reverse", head, f"^{base}")
    if not commits:
        return 0, [], []
    for number, parents, author, message in messages(commits):
        subject = message.partition("\n")[0][:60]
        for rule, problem in judge_message(parents, author, message):
            wrong(rule, number, f"{number[:12]} ({subject}): {problem}")
        for what in (what for what, pattern in SECRETS if pattern.search(message.encode())):
            wrong("secret", number, f"{number[:12]}: its message has {what} in it")
    for number, path, line, text in added(commits):
        for what in (what for what, pattern in SECRETS if pattern.search(text)):
            place = {"path": path, "line": line}
            wrong("secret", number, f"{number[:12]} adds {what} in {path}:{line}", place)
    for path, size in large_files(base, head, limit):
        wrong("large", None, f"{path} has {size} bytes, {limit} are the most", {"path": path})
    return commits.count(b"\n"), errors, findings


def main():
    try:
        count, errors, findings = check(json.load(sys.stdin.buffer))
    except (Refusal, OSError, TypeError) as refusal:
        sys.exit(f"the commits were not judged: {refusal}")
    if errors:
        shown = errors[:MOST_FINDINGS] + [f"and {len(errors) - MOST_FINDINGS} more"] * (len(errors) > MOST_FINDINGS)
        reason = "the commits are refused:\n" + "\n".join(shown)
        print(json.dumps({"continue": False, "reason": reason, "findings": findings[:MOST_FINDINGS]}))
    else:
        print("1 commit is in order" if count == 1 else f"{count} commits are in order")


main()
