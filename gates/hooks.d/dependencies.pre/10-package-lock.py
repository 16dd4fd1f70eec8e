#!/usr/bin/env -S python3 -IS
# Refuses a changed package-lock.json that would bring in something unexpected.
#
#   echo '{"path": "package-lock.json", "base": "origin/main"}' | hookrun run dependencies.pre --hooks gates
#
# Compared is the file as it lies there with what it was where the work left `base`, or with the
# file `basePath`. Refused is, of entries that are new or changed:
#
#   host        a package comes from another host than it did, or a new one from a host that no
#               package came from; an address that is not https
#   integrity   nothing, or only SHA-1, says what the package must be
#   content     the same version has another content than it had
#   script      a package that ran nothing when it was installed now does
#   new         a package that was not there, where HOOKRUN_LOCK_NEW=refuse; else it is a notice
#
# What stood in the lock file before is not judged, nor what is in a package.
#
# Tune:
#   HOOKRUN_LOCK_ALLOW    rules to leave out, separated by spaces; or RULE:PACKAGE
#   HOOKRUN_LOCK_HOSTS    hosts that new packages may come from as well
#   HOOKRUN_LOCK_NEW      refuse: no new packages
#
# hookrun: timeout=30s

import json
import os
import re
import subprocess
import sys
from urllib.parse import urlsplit

MOST_FINDINGS = 50  # A wall of them says no more, and an answer has a limit.


class Refusal(Exception):
    """The lock file cannot be judged."""


def git(*arguments):
    """What git says; `None` if it fails."""
    try:
        ran = subprocess.run(["git", "--no-replace-objects", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Refusal(f"git cannot be started: {error.strerror}") from None
    return ran.stdout if ran.returncode == 0 else None


def committed(base, path):
    """The file as it was where the work left `base`; `None` if it was not there."""
    if not isinstance(base, str) or git("rev-parse", "--git-dir") is None:
        raise Refusal("`base` is a commit, and this is no repository")
    commit = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    fork = commit and git("merge-base", commit.decode().strip(), "HEAD")
    if not fork:
        raise Refusal(f"`{base}` is not known here, or has nothing in common with HEAD; fetch it, with its history")
    fork = fork.decode().strip()
    folder, name = os.path.split(os.path.abspath(path))
    if not git("-C", folder, "ls-tree", "--name-only", fork, "--", name):
        return None
    text = git("-C", folder, "show", f"{fork}:./{name}")
    if text is None:
        raise Refusal(f"git does not show `{path}` of `{base}`")
    return text


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Refusal(f"`{path}` cannot be read: {error.strerror}") from None


def once(pairs):
    """An object; a key that stands twice is an error, because readers differ in which counts."""
    one = dict(pairs)
    if len(one) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
    return one


def packages(text, called):
    """The packages of a lock file, by where they are installed."""
    try:
        lock = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{called} is not JSON: {error}") from None
    found = lock.get("packages") if isinstance(lock, dict) else None
    if not isinstance(found, dict):
        version = lock.get("lockfileVersion") if isinstance(lock, dict) else None
        hint = "; `npm install --package-lock-only --lockfile-version 3` writes it anew" if version == 1 else ""
        raise Refusal(f"{called} is no lock file with `packages`{hint}")
    for place, entry in found.items():
        strings = ("name", "version", "resolved", "integrity")
        if not isinstance(entry, dict) or not all(isinstance(entry.get(key, ""), str) for key in strings):
            raise Refusal(f"{called}: the entry `{place}` is not of the form that npm writes")
    return found


def name_of(place, entry):
    """The package's name: an alias says what it stands for."""
    return entry.get("name") or place.rpartition("node_modules/")[2]


def is_fetched(place, entry):
    """Whether npm fetches it: not the project, its workspaces, links, or what is in a package."""
    return "node_modules/" in place and not entry.get("link") and not entry.get("inBundle")


def host_of(entry):
    return urlsplit(entry.get("resolved", "")).hostname or ""


def judge(entry, known, hosts):
    """What is wrong with a new or changed entry of a package of which these were known: rule,
    level, message."""
    version = entry.get("version")
    same = [other for other in known if other.get("version") == version]
    resolved, host = entry.get("resolved"), host_of(entry)
    if resolved is None:
        yield "host", "error", "`resolved` is missing: it could come from anywhere"
    elif not resolved.startswith("https://"):
        yield "host", "error", f"it is not fetched by https: {resolved}"
    elif known and host not in map(host_of, known):
        yield "host", "error", f"it comes from {host}, until now from {host_of((same or known)[0])}"
    elif not known and host not in hosts:
        yield "host", "error", f"it comes from {host}, as no package did; HOOKRUN_LOCK_HOSTS can allow it"

    integrity = entry.get("integrity", "")
    if not re.search(r"\bsha(256|384|512)-\S", integrity):
        yield "integrity", "error", "`integrity` is missing" if not integrity else "`integrity` is only SHA-1"
    elif any(other.get("integrity", integrity) != integrity for other in same):
        yield "content", "error", f"version {version} has another content than it had"

    if entry.get("hasInstallScript") and not any(other.get("hasInstallScript") for other in known):
        yield "script", "error", "it runs a script when it is installed"
    if not known:
        level = "error" if os.environ.get("HOOKRUN_LOCK_NEW") == "refuse" else "notice"
        yield "new", level, "it is new"


def lines_of(text):
    """The line on which each entry begins; keys of `packages` are paths, and stand once."""
    lines = {}
    for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
        if found := re.match(r'\s*("(?:[^"\\]|\\.)*")\s*:\s*\{', line):
            try:
                lines.setdefault(json.loads(found.group(1)), number)
            except ValueError:
                continue
    return lines


def is_here(cwd):
    """Whether we are in the event's `cwd`: hookrun starts a hook elsewhere if there is no such folder."""
    if os.path.isabs(cwd):
        return os.path.isdir(cwd) and os.path.samefile(cwd, ".")
    return f"{os.getcwd()}/".endswith(os.path.join("/", os.path.normpath(cwd), "")) or os.path.normpath(cwd) == "."


def shown(path):
    """A path as seen from the project's root, where annotations are looked for."""
    root, whole = os.path.realpath(os.environ.get("HOOKRUN_PROJECT_DIR", ".")), os.path.realpath(path)
    return os.path.relpath(whole, root) if whole.startswith(os.path.join(root, "")) else path


def check(event):
    path, base, base_path = event.get("path"), event.get("base"), event.get("basePath")
    if not isinstance(path, str) or not path or (base is None) == (base_path is None):
        raise Refusal('the event needs `path` and either `base` or `basePath`: {"path": "package-lock.json", "base": "origin/main"}')
    if event.get("cwd") is not None and not is_here(event["cwd"]):
        raise Refusal(f"there is no folder `{event['cwd']}`")
    text = read(path)
    old = committed(base, path) if base is not None else read(base_path)
    now = packages(text, f"`{path}`")
    before = packages(old, f"`{base_path or f'{path} of {base}'}`") if old is not None else {}

    hosts = os.environ.get("HOOKRUN_LOCK_HOSTS", "").split()
    known = {}
    for place, entry in before.items():
        if is_fetched(place, entry):
            known.setdefault(name_of(place, entry), []).append(entry)
            hosts.append(host_of(entry))
    allowed, lines, findings = os.environ.get("HOOKRUN_LOCK_ALLOW", "").split(), lines_of(text), []
    for place, entry in now.items():
        if before.get(place) == entry or not is_fetched(place, entry):
            continue
        name = name_of(place, entry)
        for rule, level, message in judge(entry, known.get(name, []), hosts):
            if rule not in allowed and f"{rule}:{name}" not in allowed:
                called = f"{name} {entry.get('version', '')}".strip()
                finding = {"path": shown(path), "level": level, "message": f"{called}: {message} [{rule}]"}
                findings.append({**finding, "line": lines[place]} if place in lines else finding)
    return findings


def main():
    try:
        findings = check(json.load(sys.stdin.buffer))
    except (Refusal, OSError, TypeError) as refusal:
        sys.exit(f"the lock file was not judged: {refusal}")
    if not findings:
        return
    findings.sort(key=lambda finding: finding["level"] != "error")
    answer = {"findings": findings[:MOST_FINDINGS]}
    errors = [finding["message"] for finding in findings if finding["level"] == "error"]
    if errors:
        told = errors[:MOST_FINDINGS] + [f"and {len(errors) - MOST_FINDINGS} more"] * (len(errors) > MOST_FINDINGS)
        answer.update({"continue": False, "reason": "the lock file is refused:\n" + "\n".join(told)})
    print(json.dumps(answer))


main()
