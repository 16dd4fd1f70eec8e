#!/usr/bin/env -S python3 -IS
# Blocks a changed package-lock.json with unexpected changes.
#
#   echo '{"path": "package-lock.json", "base": "origin/main"}' | hookrun run dependencies.pre --hooks gates
#
# It compares the file with its version at the merge base with `base`, or with the file `basePath`.
# It checks new and changed entries:
#
#   host        a package comes from a different host, or a new one from a host that no package
#               came from; a URL without https, or that programs parse differently; a link that does
#               not lead to a folder of the project
#   name        the URL belongs to another package, or on the npm registry to another version
#   integrity   the checksum is missing, only SHA-1, or invalid
#   content     the same version has a different checksum
#   script      a package runs an install script for the first time
#   legacy      `dependencies`, which npm 6 reads, contradicts `packages`
#   new         a new package, if `HOOKRUN_LOCK_NEW=refuse`; otherwise a notice
#   alias       a notice: a package is installed under a different name
#
# A host is a name and a port. Unchanged entries are not checked. For bundled packages
# (`inBundle`) only `script` is checked, because npm fetches them with another package.
#
# Settings:
#   HOOKRUN_LOCK_ALLOW    rules to skip, separated by spaces; or RULE:PACKAGE
#   HOOKRUN_LOCK_HOSTS    additional hosts for new packages: npm.example.com, or with its port
#                         npm.example.com:8443
#   HOOKRUN_LOCK_NEW      notice (default), or `refuse` to allow no new packages
#
# hookrun: timeout=30s

import difflib
import json
import os
import re
import subprocess
import sys

KEYS = ["path", "base", "basePath", "cwd"]
RULES = ["host", "name", "integrity", "content", "script", "legacy", "new", "alias"]
REGISTRIES = ["registry.npmjs.org", "registry.yarnpkg.com"]
# URLs that every program parses alike: ASCII without user, backslash, space or `..`.
HOST = r"([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([0-9]{1,5}))?"
ADDRESS = re.compile(rf"(?!.*/(?:\.|%2e){{1,2}}(?:[/?#]|$))https://{HOST}(/[!-\[\]-~]*)", re.IGNORECASE)
# How long it is in base64 says whether it can be a checksum at all.
STRONG = re.compile(r"(sha256-[\w+/]{43}=|sha384-[\w+/]{64}|sha512-[\w+/]{86}==)(?:\?[!-~]*)?", re.ASCII)
WEAK = re.compile(r"(sha1-[\w+/]{27}=)(?:\?[!-~]*)?", re.ASCII)
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
    folder, name = os.path.split(os.path.abspath(path))
    if git("-C", folder, "rev-parse", "--git-dir") is None:
        raise Refusal("`base` is a commit, but this is not a repository")
    commit = git("-C", folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    fork = commit and git("-C", folder, "merge-base", commit.decode().strip(), "HEAD")
    if not fork:
        raise Refusal(f"`{base}` is no commit that is known here, or has nothing in common with HEAD; fetch it, with its history")
    fork = fork.decode().strip()
    listed = git("-C", folder, "ls-tree", "--name-only", fork, "--", name)
    if listed == b"":
        return None
    text = listed and git("-C", folder, "show", f"{fork}:./{name}")
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
    """An object; a key that appears twice is an error, because readers differ in which counts."""
    one = dict(pairs)
    if len(one) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} appears twice in one object")
    return one


def has_form(entry, texts, flags):
    """Whether an entry is an object that has these keys, if it has them, as npm writes them."""
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(key, ""), str) for key in texts)
        and all(isinstance(entry.get(key, False), bool) for key in flags)
    )


def packages(lock, called):
    """The packages of a lock file, by where they are installed."""
    found = lock.get("packages") if isinstance(lock, dict) and lock.get("lockfileVersion") in (2, 3) else None
    if not isinstance(found, dict):
        cure = "`npm install --package-lock-only --lockfile-version 3` writes one"
        raise Refusal(f"{called} is no lock file of version 2 or 3 with `packages`; {cure}")
    for place, entry in found.items():
        if not has_form(entry, ("name", "version", "resolved", "integrity"), ("link", "inBundle", "hasInstallScript")):
            raise Refusal(f"{called}: the entry `{place}` is not of the form that npm writes")
    return found


def legacy(lock, called):
    """What `dependencies` says, which npm 6 reads, by where it is installed."""
    found, waiting = {}, [("", lock)]
    while waiting:
        folder, parent = waiting.pop()
        children = parent.get("dependencies", {})
        for name, entry in children.items() if isinstance(children, dict) else [("", None)]:
            if not has_form(entry, ("version", "resolved", "integrity"), ("bundled",)):
                raise Refusal(f"{called}: in `dependencies`, the entry `{name}` is not of the form that npm writes")
            place = f"{folder}node_modules/{name}"
            found[place] = entry
            target = lock["packages"].get(place, {})
            waiting.append((f"{target['resolved'] if target.get('link') and 'resolved' in target else place}/", entry))
    return found


def parse(text, called):
    """The lock file: its packages, and what npm 6 reads of it."""
    try:
        lock = json.loads(text, object_pairs_hook=once)
        json.dumps(lock, ensure_ascii=False).encode()  # Rejects lone surrogates.
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{called} is not JSON: {error}") from None
    return packages(lock, called), legacy(lock, called)


def agrees(place, entry, old):
    """Whether npm 6 takes from `old` what `entry` says: the same version, address and content."""
    version, resolved = entry.get("version"), entry.get("resolved")
    told = old.get("version")
    if told is None or old.get("integrity") != entry.get("integrity"):
        return False
    if entry.get("link"):
        version, resolved = f"file:{resolved}", None
    elif name_of(place, entry) != place_name(place):
        version = f"npm:{entry['name']}@{version}"
    # A package from outside a registry has its URL as the version.
    return (told == version and old.get("resolved") == resolved) or (told == resolved and "resolved" not in old)


def place_name(place):
    return place.rpartition("node_modules/")[2]


def name_of(place, entry):
    """The package's name: an alias says what it stands for."""
    return entry.get("name") or place_name(place)


def bundled(found):
    """Where packages lie that come in another one: it lists them, or one of these needs them."""
    inside = set()
    for place, entry in found.items():
        names = entry.get("bundleDependencies", entry.get("bundledDependencies"))
        if "node_modules/" not in place or entry.get("link") or not isinstance(names, list):
            continue
        folder, waiting = f"{place}/node_modules/", [name for name in names if isinstance(name, str)]
        while waiting:
            top = folder + waiting.pop()
            for below in [one for one in found if one == top or one.startswith(f"{top}/")]:
                if below not in inside and found[below].get("inBundle") and "resolved" not in found[below]:
                    inside.add(below)
                    for key in ("dependencies", "optionalDependencies", "peerDependencies"):
                        needs = found[below].get(key)
                        waiting.extend(needs if isinstance(needs, dict) else [])
    return inside


def sorts(found):
    """How each package is installed: "fetched", "bundled", or "linked" outside the project.
    The project itself, its folders and the links to them are left out."""
    inside, comes = bundled(found), {}
    for place, entry in found.items():
        if entry.get("link"):
            target = entry.get("resolved", "")
            if target not in found or "node_modules/" in target or re.search(r"^/|[:\\]", target):
                comes[place] = "linked"
        elif place in inside:
            comes[place] = "bundled"
        elif "node_modules/" in place or "resolved" in entry:
            comes[place] = "fetched"
    return comes


def host_of(entry):
    """Where it comes from, a name and a port; nothing if the address is not a plain one."""
    plain = ADDRESS.fullmatch(entry.get("resolved", ""))
    if not plain:
        return ""
    port = int(plain[2] or 443)
    return plain[1].lower() + (f":{port}" if port != 443 else "")


def named_by(resolved, name, version):
    """Whether an address fits the package. All registries have `NAME/-/` in it, npm's also the file."""
    path = re.split("[?#]", re.sub("%2f", "/", ADDRESS.fullmatch(resolved)[3], flags=re.IGNORECASE))[0]
    if host_of({"resolved": resolved}) in REGISTRIES:
        plain = (version or "").partition("+")[0]
        files = [f"/{name}/-/{name.rpartition('/')[2]}-{one}.tgz" for one in (version, plain)]
        return path in files
    package, is_there, _ = path.partition("/-/")
    named = re.search(r"/((?:@[^/]+/)?[^/]*)$", package)
    return not is_there or named[1] == name


def plain(text):
    """A text that stays on its line; others are quoted."""
    return text if re.fullmatch("[ -~]*", text) else json.dumps(text)


def script_of(entry):
    """Whether something of it runs when it is installed; npm obeys `scripts` in a lock file too."""
    return bool(entry.get("hasInstallScript") or "scripts" in entry or "gypfile" in entry)


def tokens(integrity):
    """The strong and the other checksums, without their options; and what is none."""
    parts = [part for part in integrity.split(" ") if part]
    strong = {found[1] for part in parts if (found := STRONG.fullmatch(part))}
    weak = {found[1] for part in parts if (found := WEAK.fullmatch(part))}
    return strong, weak, [part for part in parts if not STRONG.fullmatch(part) and not WEAK.fullmatch(part)]


def judge_address(entry, name, known, hosts):
    """What is wrong with where it comes from, as `judge` says it."""
    resolved, host = entry.get("resolved"), host_of(entry)
    same = [other for other in known if other.get("version") == entry.get("version")]
    if resolved is None:
        yield "host", "error", "`resolved` is missing: it could come from anywhere"
    elif not resolved.startswith("https://"):
        yield "host", "error", f"it is not fetched by https: {plain(resolved)}"
    elif not host:
        yield "host", "error", f"its address is not a plain one, so programs read it differently: {json.dumps(resolved)}"
    elif known and host not in map(host_of, known):
        yield "host", "error", f"it comes from {host}, until now from {host_of((same or known)[0]) or 'elsewhere'}"
    elif host not in hosts:
        yield "host", "error", f"it comes from {host}, as no package did; HOOKRUN_LOCK_HOSTS can allow it"
    if host and not named_by(resolved, name, entry.get("version")):
        yield "name", "error", f"its address is that of something else: {resolved}"


def judge_content(entry, known):
    """What is wrong with what says what it must be, as `judge` says it."""
    version, integrity = entry.get("version"), entry.get("integrity", "")
    strong, weak, junk = tokens(integrity)
    if not integrity.strip():
        yield "integrity", "error", "`integrity` is missing"
    elif junk:
        yield "integrity", "error", f"`integrity` contains something that is not a checksum: {json.dumps(junk[0])}"
    elif not strong:
        yield "integrity", "error", "`integrity` is only SHA-1"
    had = [set().union(*tokens(other.get("integrity", ""))[:2]) for other in known if other.get("version") == version]
    # npm takes what fits any one of them, so one that is added is another content.
    if any(before and not strong <= before for before in had):
        yield "content", "error", f"version {version} has another content than it had"


def judge(place, entry, known, hosts):
    """What is wrong with a new or changed entry of a package of which these were known: rule,
    level, message."""
    name = name_of(place, entry)
    yield from judge_address(entry, name, known, hosts)
    yield from judge_content(entry, known)
    if not known:
        yield "new", "error" if choice("HOOKRUN_LOCK_NEW", ["notice", "refuse"]) == "refuse" else "notice", "it is new"
    if name != place_name(place):
        yield "alias", "notice", f"it is installed as {plain(place_name(place))}"


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


def meant(word, words):
    """The cure of a slip."""
    near = difflib.get_close_matches(word.lower(), words, 1)
    return f"did you mean `{near[0]}`?" if near else f"there is {', '.join(words)}"


def choice(variable, words):
    """What a variable chooses; the first word if it is not set."""
    chosen = os.environ.get(variable) or words[0]
    if chosen not in words:
        raise Refusal(f"{variable} is `{chosen}`; {meant(chosen, words)}")
    return chosen


def allowed():
    """What HOOKRUN_LOCK_ALLOW leaves out."""
    words = os.environ.get("HOOKRUN_LOCK_ALLOW", "").split()
    for word in words:
        rule, colon, package = word.partition(":")
        if rule not in RULES or (colon and not package):
            raise Refusal(f"HOOKRUN_LOCK_ALLOW: `{word}` is neither a rule nor RULE:PACKAGE; {meant(rule, RULES)}")
    return words


def hosts_allowed():
    """The hosts of HOOKRUN_LOCK_HOSTS."""
    words = os.environ.get("HOOKRUN_LOCK_HOSTS", "").split()
    for word in words:
        if not re.fullmatch(HOST, word, re.IGNORECASE):
            raise Refusal(f"HOOKRUN_LOCK_HOSTS: `{word}` is no host; write `npm.example.com` or `npm.example.com:8443`")
    return [host_of({"resolved": f"https://{word}/"}) for word in words]


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


def shown(path):
    """A path as annotations have it: from the root of its git work tree, else of the job or the project."""
    folder = os.path.realpath(os.path.dirname(path))
    whole, roots = os.path.join(folder, os.path.basename(path)), []
    ceilings = filter(None, os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep))
    ceilings = {"/", *map(os.path.realpath, ceilings)}
    while folder not in ceilings and not roots:
        roots += [folder] * os.path.exists(os.path.join(folder, ".git"))
        folder = os.path.dirname(folder)
    roots += map(os.path.realpath, filter(None, map(os.environ.get, ["GITHUB_WORKSPACE", "HOOKRUN_PROJECT_DIR"])))
    inside = [root for root in roots if whole.startswith(os.path.join(root, ""))]
    return os.path.relpath(whole, inside[0]) if inside else path


def judge_lock(now, before):
    """What is wrong with each entry that is new or changed: its place, name, rule, level, message."""
    (now, now_legacy), (before, before_legacy) = now, before
    comes, came, hosts, known = sorts(now), sorts(before), hosts_allowed(), {}
    for place, entry in before.items():
        if place in came:
            known.setdefault(name_of(place, entry), []).append((came[place], entry))
        if came.get(place) == "fetched":
            hosts.append(host_of(entry))
    for place, entry in now.items():
        if place not in comes or (before.get(place) == entry and came.get(place) == comes[place]):
            continue
        name, sort = name_of(place, entry), comes[place]
        was = known.get(name, [])
        fetched = [other for came_so, other in was if came_so == "fetched"]
        if sort == "linked":
            problem = f"it is a link that does not lead to a folder of the project: {json.dumps(entry.get('resolved'))}"
            yield place, name, "host", "error", problem
        elif sort == "fetched":
            yield from ((place, name, *problem) for problem in judge(place, entry, fetched, hosts))
        if script_of(entry) and not any(script_of(other) for _, other in was):
            yield place, name, "script", "error", "it runs a script when it is installed"
    for place, old in now_legacy.items():
        same = before_legacy.get(place) == old and before.get(place) == now.get(place)
        if not same and not agrees(place, now.get(place, {}), old):
            problem = "`dependencies`, which npm 6 reads, says something else than `packages`; `npm install` writes both anew"
            yield place, place_name(place), "legacy", "error", problem


def check(event):
    check_keys(event)
    path, base, base_path = event["path"], event.get("base"), event.get("basePath")
    if (base is None) == (base_path is None):
        raise Refusal('the event needs either `base` or `basePath`: {"path": "package-lock.json", "base": "origin/main"}')
    if "cwd" in event and not is_here(event["cwd"]):
        raise Refusal(f"there is no folder `{event['cwd']}`")
    left_out = allowed()
    choice("HOOKRUN_LOCK_NEW", ["notice", "refuse"])
    text = read(path)
    old = committed(base, path) if base is not None else read(base_path)
    now = parse(text, f"`{path}`")
    before = parse(old, f"`{base_path or f'{path} of {base}'}`") if old is not None else ({}, {})

    lines, findings = lines_of(text), []
    for place, name, rule, level, message in judge_lock(now, before):
        if rule not in left_out and f"{rule}:{name}" not in left_out:
            called = plain(f"{name} {now[0].get(place, {}).get('version', '')}".strip())
            finding = {"path": shown(path), "level": level, "message": f"{called}: {message} [{rule}]"}
            findings.append({**finding, "line": lines[place]} if place in lines else finding)
    return findings


def main():
    try:
        findings = check(json.load(sys.stdin.buffer))
    except (Refusal, OSError) as refusal:
        sys.exit(f"the lock file was not judged: {refusal}")
    if not findings:
        return
    findings.sort(key=lambda finding: finding["level"] != "error")
    answer = {"findings": findings[:MOST_FINDINGS]}
    errors = [finding["message"] for finding in findings if finding["level"] == "error"]
    if errors:
        told = errors[:MOST_FINDINGS] + [f"and {len(errors) - MOST_FINDINGS} more"] * (len(errors) > MOST_FINDINGS)
        answer.update({"continue": False, "reason": "the lock file is blocked:\n" + "\n".join(told)})
    print(json.dumps(answer))


main()
