#!/usr/bin/env -S python3 -IS
# Blocks a changed lock file with unexpected changes: package-lock.json, pnpm-lock.yaml, yarn.lock,
# Cargo.lock, uv.lock, poetry.lock or go.sum.
#
#   echo '{"path": "package-lock.json", "base": "origin/main"}' | hookrun run dependencies.pre --hooks gates
#
# The name of the file determines its format; other names are read as package-lock.json.
# `hookrun hook json` reads YAML and TOML.
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
#   new         a new package, if `HOOKRUN_LOCK_NEW=block`; otherwise a notice
#   look-alike  the name of a new package differs in a letter, or in its dashes, from that of a
#               locked or a well-known one (`lodahs`)
#   alias       a notice: a package is installed under a different name
#
# In the files of other package managers it checks host, integrity, content, new and look-alike. The
# host of a package from git is its repository.
#
# A host is a name and a port. Unchanged entries are not checked. For bundled packages
# (`inBundle`) only `script` is checked, because npm fetches them with another package.
#
# Settings:
#   HOOKRUN_LOCK_ALLOW    rules to skip, separated by spaces; or RULE:PACKAGE
#   HOOKRUN_LOCK_HOSTS    additional hosts for new packages: npm.example.com, or with its port
#                         npm.example.com:8443
#   HOOKRUN_LOCK_NEW      notice (default), or `block` to allow no new packages
#
# hookrun: timeout=30s

import difflib
import json
import os
import re
import subprocess
import sys

KEYS = ["path", "base", "basePath", "cwd"]
RULES = ["host", "name", "integrity", "content", "script", "legacy", "new", "look-alike", "alias"]
REGISTRIES = ["registry.npmjs.org", "registry.yarnpkg.com"]
# URLs that every program parses alike: ASCII without user, backslash, space or `..`.
HOST = r"([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([0-9]{1,5}))?"
ADDRESS = re.compile(rf"(?!.*/(?:\.|%2e){{1,2}}(?:[/?#]|$))https://{HOST}(/[!-\[\]-~]*)", re.IGNORECASE)
# How long it is in base64 says whether it can be a checksum at all.
STRONG = re.compile(r"(sha256-[\w+/]{43}=|sha384-[\w+/]{64}|sha512-[\w+/]{86}==)(?:\?[!-~]*)?", re.ASCII)
WEAK = re.compile(r"(sha1-[\w+/]{27}=)(?:\?[!-~]*)?", re.ASCII)
# Names that others imitate, by the lock file.
NPM = """
    react react-dom lodash express axios chalk commander debug dotenv eslint prettier typescript webpack
    jquery moment mongoose mongodb request cross-env node-fetch uuid yargs babel-core electron socket.io
    ethers discord.js next vue vite rxjs underscore bluebird async color colors glob minimist semver
""".split()
PYPI = """
    requests numpy pandas django flask urllib3 boto3 botocore setuptools cryptography pydantic fastapi
    sqlalchemy pytest scipy matplotlib pillow jinja2 click colorama python-dateutil beautifulsoup4 openai
    tensorflow torch transformers httpx aiohttp pyyaml selenium scikit-learn jellyfish paramiko
""".split()
CRATES = """
    serde serde_json tokio rand regex clap anyhow thiserror reqwest hyper tracing chrono itertools futures
    rustls openssl once_cell lazy_static crossbeam rayon base64 bytes uuid rust_decimal
""".split()
POPULAR = {
    "package-lock.json": NPM,
    "pnpm-lock.yaml": NPM,
    "yarn.lock": NPM,
    "uv.lock": PYPI,
    "poetry.lock": PYPI,
    "Cargo.lock": CRATES,
    "go.sum": [],
}
SHORTEST_NAME = 5  # One letter of fewer is another word.
LINE = "\0line"  # The line of an object of YAML or TOML.
MOST_FINDINGS = 50  # A wall of them says no more, and an answer has a limit.


class Blocked(Exception):
    """The lock file cannot be judged."""


def git(*arguments):
    """What git says; `None` if it fails."""
    try:
        ran = subprocess.run(["git", "--no-replace-objects", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Blocked(f"git cannot be started: {error.strerror}") from None
    return ran.stdout if ran.returncode == 0 else None


def committed(base, path):
    """The file as it was where the work left `base`; `None` if it was not there."""
    folder, name = os.path.split(os.path.abspath(path))
    if git("-C", folder, "rev-parse", "--git-dir") is None:
        raise Blocked(f"`{path}` is not in a git repository, so `base` cannot be resolved; use `basePath` instead")
    commit = git("-C", folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    fork = commit and git("-C", folder, "merge-base", commit.decode().strip(), "HEAD")
    if not fork:
        raise Blocked(f"`{base}` is not a known commit in this clone, or shares no history with HEAD; fetch it with its history")
    fork = fork.decode().strip()
    listed = git("-C", folder, "ls-tree", "--name-only", fork, "--", name)
    if listed == b"":
        return None
    text = listed and git("-C", folder, "show", f"{fork}:./{name}")
    if text is None:
        raise Blocked(f"git cannot read `{path}` at `{base}`")
    return text


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Blocked(f"`{path}` cannot be read: {error.strerror}") from None


def once(pairs):
    """An object; a key that appears twice is an error, because readers differ in which counts."""
    one = dict(pairs)
    if len(one) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"`{plain(twice)}` appears twice in one object, and parsers disagree on which one counts")
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
        raise Blocked(f"{called} is not a version 2 or 3 lock file with `packages`; {cure}")
    for place, entry in found.items():
        if not has_form(entry, ("name", "version", "resolved", "integrity"), ("link", "inBundle", "hasInstallScript")):
            raise Blocked(f"{called}: entry `{place}` is not in the format that npm writes")
    return found


def legacy(lock, called):
    """What `dependencies` says, which npm 6 reads, by where it is installed."""
    found, waiting = {}, [("", lock)]
    while waiting:
        folder, parent = waiting.pop()
        children = parent.get("dependencies", {})
        for name, entry in children.items() if isinstance(children, dict) else [("", None)]:
            if not has_form(entry, ("version", "resolved", "integrity"), ("bundled",)):
                raise Blocked(f"{called}: in `dependencies`, entry `{name}` is not in the format that npm writes")
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
        raise Blocked(f"{called} cannot be read as JSON: {error}") from None
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
        yield "host", "error", "`resolved` is missing, so the package could come from anywhere"
    elif not resolved.startswith("https://"):
        yield "host", "error", f"it is not fetched over HTTPS: {plain(resolved)}"
    elif not host:
        yield "host", "error", f"its address is not a plain URL, so programs may disagree on its host: {json.dumps(resolved)}"
    elif known and host not in map(host_of, known):
        yield "host", "error", f"it comes from {host} instead of {host_of((same or known)[0]) or 'an unknown host'}"
    elif host not in hosts:
        yield "host", "error", f"it comes from {host}, a new host; to allow that host, add it to HOOKRUN_LOCK_HOSTS"
    if host and not named_by(resolved, name, entry.get("version")):
        yield "name", "error", f"its URL belongs to a different package or version: {resolved}"


def judge_content(entry, known):
    """What is wrong with what says what it must be, as `judge` says it."""
    version, integrity = entry.get("version"), entry.get("integrity", "")
    strong, weak, junk = tokens(integrity)
    if not integrity.strip():
        yield "integrity", "error", "`integrity` is missing"
    elif junk:
        yield "integrity", "error", f"`integrity` contains an invalid checksum: {json.dumps(junk[0])}"
    elif not strong:
        yield "integrity", "error", "`integrity` has only a SHA-1 checksum"
    had = [set().union(*tokens(other.get("integrity", ""))[:2]) for other in known if other.get("version") == version]
    # npm takes what fits any one of them, so one that is added is another content.
    if any(before and not strong <= before for before in had):
        yield "content", "error", f"version {version} has a different checksum than before"


def judge(place, entry, known, hosts):
    """What is wrong with a new or changed entry of a package of which these were known: rule,
    level, message."""
    name = name_of(place, entry)
    yield from judge_address(entry, name, known, hosts)
    yield from judge_content(entry, known)
    if not known:
        yield "new", "error" if choice("HOOKRUN_LOCK_NEW", ["notice", "block"]) == "block" else "notice", "new package"
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
    return f"did you mean `{near[0]}`?" if near else f"expected one of: {', '.join(words)}"


def choice(variable, words):
    """What a variable chooses; the first word if it is not set."""
    chosen = os.environ.get(variable) or words[0]
    if chosen not in words:
        raise Blocked(f"{variable} has the unknown value `{chosen}`; {meant(chosen, words)}")
    return chosen


def allowed():
    """What HOOKRUN_LOCK_ALLOW leaves out."""
    words = os.environ.get("HOOKRUN_LOCK_ALLOW", "").split()
    for word in words:
        rule, colon, package = word.partition(":")
        if rule not in RULES or (colon and not package):
            raise Blocked(f"HOOKRUN_LOCK_ALLOW: `{word}` is neither a rule nor RULE:PACKAGE; {meant(rule, RULES)}")
    return words


def hosts_allowed():
    """The hosts of HOOKRUN_LOCK_HOSTS."""
    words = os.environ.get("HOOKRUN_LOCK_HOSTS", "").split()
    for word in words:
        if not re.fullmatch(HOST, word, re.IGNORECASE):
            raise Blocked(f"HOOKRUN_LOCK_HOSTS: `{word}` is not a host; write `npm.example.com` or `npm.example.com:8443`")
    return [host_of({"resolved": f"https://{word}/"}) for word in words]


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
            problem = f"its link does not point to a folder in the project: {json.dumps(entry.get('resolved'))}"
            yield place, name, "host", "error", problem
        elif sort == "fetched":
            yield from ((place, name, *problem) for problem in judge(place, entry, fetched, hosts))
            alikes = look_alikes(name, known, "package-lock.json") if not was else ()
            yield from ((place, name, "look-alike", "error", problem) for problem in alikes)
        if script_of(entry) and not any(script_of(other) for _, other in was):
            yield place, name, "script", "error", "it runs an install script"
    for place, old in now_legacy.items():
        same = before_legacy.get(place) == old and before.get(place) == now.get(place)
        if not same and not agrees(place, now.get(place, {}), old):
            problem = "`dependencies`, which npm 6 reads, contradicts `packages`; run `npm install` to rewrite both"
            yield place, place_name(place), "legacy", "error", problem


# Lock files of other package managers, as far as they say the same: a package, where it comes from,
# and what it must be.


def of_hookrun(text, sort, called):
    """YAML or TOML as JSON, with every value on its line; objects know theirs."""
    own = f"/proc/{os.getppid()}/exe"
    is_own = os.path.basename(os.path.realpath(own)).startswith("hookrun")
    try:
        command = [own if is_own else "hookrun", "hook", "json", sort]
        ran = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Blocked(f"cannot start `hookrun` to read {called}: {error.strerror}") from None
    if ran.returncode != 0:
        said = ran.stderr.decode("utf-8", "replace").strip().removeprefix("error: ").replace(" of stdin", "")
        raise Blocked(f"{called} is not {sort.upper()} ({said})")
    # Objects are finished in the order of their closing braces, here and in the parser.
    lines, opened, line = [], [], 1
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\n]', ran.stdout.decode()):
        if token.group() == "\n":
            line += 1
        elif token.group() == "{":
            opened.append(line)
        elif token.group() == "}":
            lines.append(opened.pop())
    lines = iter(lines)

    def finished(pairs):
        return {**once(pairs), LINE: next(lines)}

    try:
        return json.loads(ran.stdout, object_pairs_hook=finished)
    except (ValueError, RecursionError) as error:
        raise Blocked(f"{called} cannot be read: {error}") from None


class Locked:
    """A package of a lock file: where it comes from (nothing for a part of the project) and its
    checksums."""

    def __init__(self, name, version, source, sums, line, is_fetched=True):
        self.name, self.version, self.source, self.line = str(name), str(version), source, line
        self.sums = {one for one in sums if one}
        # A package from git is named by its commit.
        self.needs_sum = is_fetched


def table(value, called):
    if not isinstance(value, dict):
        raise Blocked(f"{called} is not in the format that its package manager writes")
    return value


def tables(value, called):
    return [table(one, called) for one in value] if isinstance(value, list) else []


def text_of(value):
    return value if isinstance(value, str) else ""


def host_in(address):
    """The host of a URL, with how it is fetched if that is not https."""
    found = re.match(r"(?:[\w-]+\+)?(\w+)://(?:[^@/]*@)?([^/?#]*)", address)
    if not found:
        return address
    return found[2].lower() if found[1] == "https" else f"{found[1]}://{found[2].lower()}"


def locked_by_cargo(text, called):
    for one in tables(table(of_hookrun(text, "toml", called), called).get("package"), called):
        source = text_of(one.get("source"))
        is_fetched = not source.startswith("git+")
        # A package without a source is a part of the project.
        where = host_in(source) if is_fetched else source.partition("?")[0].partition("#")[0]
        sums = [text_of(one.get("checksum"))] if is_fetched else [source.rpartition("#")[2]]
        yield Locked(one.get("name"), one.get("version"), where, sums, one[LINE], is_fetched)


def locked_by_python(text, called):
    """uv and poetry."""
    for one in tables(table(of_hookrun(text, "toml", called), called).get("package"), called):
        source = one.get("source", {})
        source = table(source, called)
        address = next((text_of(source[key]) for key in ("registry", "git", "url") if key in source), "")
        if any(key in source for key in ("editable", "virtual", "directory", "path")) or source.get("type") in ("directory", "file"):
            yield Locked(one.get("name"), one.get("version"), "", [], one[LINE])
            continue
        is_git = "git" in source or source.get("type") == "git"
        files = tables(one.get("files"), called) + tables(one.get("wheels"), called)
        files += [one["sdist"]] if isinstance(one.get("sdist"), dict) else []
        sums = [text_of(file.get("hash")) for file in files]
        if is_git:
            sums = [text_of(source.get("resolved_reference")) or address.rpartition("#")[2]]
        where = address.partition("?")[0].partition("#")[0] if is_git else host_in(address or "https://pypi.org")
        yield Locked(one.get("name"), one.get("version"), where, sums, one[LINE], not is_git)
        # Files of a registry may lie elsewhere, but on one host.
        for host in {host_in(text_of(file["url"])) for file in files if "url" in file}:
            yield Locked(one.get("name"), one.get("version"), f"files of {host}", sums, one[LINE])


def locked_by_pnpm(text, called):
    for key, one in table(table(of_hookrun(text, "yaml", called), called).get("packages") or {}, called).items():
        if key == LINE:
            continue
        # /NAME@VERSION(PEERS), and of version 5 /NAME/VERSION.
        found = re.fullmatch(r"/?((?:@[^/@]+/)?[^/@]+)[@/]([^(]+)(?:\(.*\))?", key)
        resolution = table(table(one, called).get("resolution") or {}, called)
        name, version = found.groups() if found else (key, "")
        address = text_of(resolution.get("tarball")) or text_of(resolution.get("repo"))
        is_git = "repo" in resolution
        sums = [text_of(resolution.get("commit" if is_git else "integrity"))]
        where = "" if "directory" in resolution else host_in(address) or REGISTRIES[0]
        yield Locked(name, version, where, sums, one[LINE], not is_git)


def locked_by_yarn(text, called):
    if b"__metadata:" in text:
        for key, one in table(of_hookrun(text, "yaml", called), called).items():
            if key in (LINE, "__metadata"):
                continue
            resolution = text_of(table(one, called).get("resolution"))
            found = re.fullmatch(r"((?:@[^/@]+/)?[^/@]+)@([\w+]+):(.*)", resolution)
            if not found:
                raise Blocked(f"{called}: entry `{key}` has no valid `resolution`")
            name, protocol, rest = found.groups()
            where = {"npm": REGISTRIES[0], "workspace": "", "patch": "", "link": "", "portal": ""}.get(protocol, host_in(f"{protocol}:{rest}"))
            yield Locked(name, one.get("version"), where, [str(one.get("checksum") or "")], one[LINE])
        return
    for found in re.finditer(r"^(\S[^\n]*):\n((?:[ \t]+[^\n]*\n?)*)", text.decode("utf-8", "replace"), re.MULTILINE):
        if found[1].startswith("#"):
            continue
        first = found[1].split(",")[0].strip().strip('"')
        fields = dict(re.findall(r'^  (\w+) "?([^"\n]*)"?$', found[2], re.MULTILINE))
        address = fields.get("resolved", "")
        line = text.count(b"\n", 0, len(text.decode("utf-8", "replace")[: found.start()].encode())) + 1
        sums = fields.get("integrity", "").split() or [address.rpartition("#")[2]] * ("#" in address)
        yield Locked(first.rpartition("@")[0], fields.get("version"), host_in(address), sums, line)


def locked_by_go(text, called):
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        found = re.fullmatch(r"(\S+) (v\S+) (h1:[\w+/]{43}=)", line)
        if not found and line.strip():
            raise Blocked(f"{called}: line {number} is not in the format that go writes")
        if found:
            yield Locked(found[1], found[2], "go modules", [found[3]], number)


LOCKED_BY = {
    "Cargo.lock": locked_by_cargo,
    "uv.lock": locked_by_python,
    "poetry.lock": locked_by_python,
    "pnpm-lock.yaml": locked_by_pnpm,
    "yarn.lock": locked_by_yarn,
    "go.sum": locked_by_go,
}
USUAL_SOURCES = {
    "Cargo.lock": ["github.com", "index.crates.io"],
    "uv.lock": ["pypi.org", "files of files.pythonhosted.org"],
    "poetry.lock": ["pypi.org"],
    "pnpm-lock.yaml": REGISTRIES,
    "yarn.lock": REGISTRIES,
    "go.sum": ["go modules"],
}


def judge_locked(now, before, kind):
    """What is wrong with new or changed packages: name, version, line, rule, level, message."""
    known, sums = {}, {}
    for one in before:
        known.setdefault(one.name, set()).add(one.source)
        sums.setdefault((one.name, one.version, one.source), set()).update(one.sums)
    sources = {*USUAL_SOURCES[kind], *hosts_allowed(), *(f"files of {host}" for host in hosts_allowed()), *(one.source for one in before)}
    names = {one.name for one in before}
    for one in now:
        had = sums.get((one.name, one.version, one.source))
        if had == one.sums or not one.source:
            continue
        called = one.name, one.version, one.line
        if one.source not in known.get(one.name, sources):
            was = " and ".join(sorted(filter(None, known.get(one.name, ()))))
            cure = f"add `host:{plain(one.name)}` to HOOKRUN_LOCK_ALLOW" if "/" in one.source else "add it to HOOKRUN_LOCK_HOSTS"
            until = f" instead of {was}" if was else f", a new source; to allow that source, {cure}"
            yield *called, "host", "error", f"it comes from {plain(one.source)}{until}"
        if "://" in one.source and not re.match(r"(?:git\+)?(?:https|ssh)://", one.source):
            yield *called, "host", "error", f"it is not fetched over HTTPS: {plain(one.source)}"
        if one.needs_sum and not one.sums:
            yield *called, "integrity", "error", "its checksum is missing"
        if had and not one.sums <= had:
            yield *called, "content", "error", f"version {one.version} has a different checksum than before"
        if one.name not in names:
            names.add(one.name)
            yield *called, "new", "error" if choice("HOOKRUN_LOCK_NEW", ["notice", "block"]) == "block" else "notice", "new package"
            yield from ((*called, "look-alike", "error", problem) for problem in look_alikes(one.name, {other.name for other in before}, kind))


def bare(name):
    return re.sub("[-_.]", "", name.lower())


def is_near(one, other):
    """Whether two names differ in one letter: added, left out, another one, or two exchanged."""
    if len(one) > len(other):
        one, other = other, one
    at = len(os.path.commonprefix([one, other]))
    if len(one) < len(other):
        return len(other) - len(one) == 1 and one[at:] == other[at + 1 :] and not other[at].isdigit()
    rest, others = one[at:], other[at:]
    if rest[2:] == others[2:] and rest[:2] == others[1::-1]:
        return True
    return rest[1:] == others[1:] and not rest[:1].isdigit() and not others[:1].isdigit()


def look_alikes(name, known, kind):
    """The well-known or locked package that a new one could be taken for."""
    popular = POPULAR.get(kind, POPULAR["package-lock.json"])
    if name.lower() in popular or len(name) < SHORTEST_NAME:
        return
    for other in sorted({*known, *popular} - {name}):
        if len(other) >= SHORTEST_NAME and (bare(name) == bare(other) or is_near(name.lower(), other.lower())):
            yield f"its name closely resembles `{other}`"
            return


def npm_findings(text, old, called, old_called):
    """What is wrong with a package-lock.json: name, version, line, rule, level, message."""
    now = parse(text, called)
    before = parse(old, old_called) if old is not None else ({}, {})
    lines = lines_of(text)
    for place, name, rule, level, message in judge_lock(now, before):
        yield name, now[0].get(place, {}).get("version", ""), lines.get(place), rule, level, message


def check(event):
    check_keys(event)
    path, base, base_path = event["path"], event.get("base"), event.get("basePath")
    if (base is None) == (base_path is None):
        raise Blocked('the event needs exactly one of `base` and `basePath`: {"path": "package-lock.json", "base": "origin/main"}')
    if "cwd" in event and not is_here(event["cwd"]):
        raise Blocked(f"`cwd` is `{event['cwd']}`, which is not a folder")
    left_out = allowed()
    choice("HOOKRUN_LOCK_NEW", ["notice", "block"])
    text = read(path)
    old = committed(base, path) if base is not None else read(base_path)
    kind, called, old_called = os.path.basename(path), f"`{path}`", f"`{base_path or f'{path} of {base}'}`"
    if kind in LOCKED_BY:
        now, before = ([*LOCKED_BY[kind](*one)] if one[0] else [] for one in ((text, called), (old, old_called)))
        judged = judge_locked(now, before, kind)
    else:
        judged = npm_findings(text, old, called, old_called)
    findings = []
    for name, version, line, rule, level, message in judged:
        if rule not in left_out and f"{rule}:{name}" not in left_out:
            about = plain(f"{name} {version}".strip())
            finding = {"path": shown(path), "level": level, "message": f"{about}: {message} [{rule}]"}
            findings.append({**finding, "line": line} if line else finding)
    return findings


def main():
    try:
        findings = check(json.load(sys.stdin.buffer))
    except (Blocked, OSError) as problem:
        sys.exit(f"the lock file was not checked: {problem}")
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
