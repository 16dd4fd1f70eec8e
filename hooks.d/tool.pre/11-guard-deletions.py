#!/usr/bin/env python3
# Blocks deleting folders, and overwriting them from git, except for disposable files.
#
# Files are disposable if git ignores them (but not .env), in folders that do not exist, in /tmp, /var/tmp
# or $TMPDIR, and in caches of package managers. A relative path must be disposable in every folder that
# an earlier `cd` may have entered. Paths that are unknown before the command runs are blocked. The
# script does not parse shell: the event has the words of each command (`action.commands`).
#
# hookrun: runs="rm -r|-R|--recursive" runs="rm|unlink|shred ** */[*][*]/*" runs="find -delete"
# hookrun: runs="rsync --delete|--del|--delete-*" runs=": $" runs="git restore" runs="git checkout" reads=stdin

import json, os, re, subprocess, sys
from fnmatch import fnmatch

# Programs that run another one as the same user in the same folder.
NEAR = set("bash builtin command dash eval exec fd fdfind find ionice nice nohup setsid sh stdbuf time timeout trap xargs zsh".split())
PROJECTS = {os.path.realpath(os.environ.get("HOOKRUN_PROJECT_DIR") or "."), os.getcwd()}
TMPDIR = os.environ.get("TMPDIR") or "/tmp"
# Caches that package managers and build tools rebuild.
CACHES = ".cache", ".m2/repository", ".gradle/caches", ".npm", ".cargo/registry", "Library/Caches"


def git(project, *words):
    """Runs git there, and returns its exit status and what it prints."""
    run = subprocess.run(["git", "-C", project, "-c", "core.fsmonitor=false", *words], capture_output=True)
    return run.returncode, run.stdout


def is_expendable(path):
    """Whether nobody misses what is at an absolute path."""
    folder, _, found = path.partition("/**/")
    if found:
        return is_expendable(folder) or any(is_nothing_found(project, folder, found) for project in PROJECTS)
    # Of what a pattern stands for, the folder counts; a link with a slash is what it leads to.
    pattern = re.search(r"[*?[]", path)
    folder, name = os.path.split(path[: pattern.start()] if pattern else path)
    real = os.path.realpath(folder if pattern or name.strip(".") else path)
    real = real if pattern else os.path.join(real, name.strip(".") and name).rstrip("/")
    if ".." in path.split("/") or "/~" in path or re.search(r"/\.(env(\.|/|$)|git(/|$))", real):
        return False
    for project in PROJECTS:
        if f"{project}/".startswith(f"{real}/"):
            return False
        if real.startswith(f"{project}/"):
            if not os.path.lexists(real):
                return not moves or git(project, "check-ignore", "-q", "--", f"{real}/")[0] == 0
            return os.path.isfile(real) or git(project, "check-ignore", "-q", "--", real)[0] == 0
    return any(real.startswith(f"{folder}/") for folder in map(os.path.realpath, ("/tmp", "/var/tmp", TMPDIR)))


def is_cache(path):
    """Whether a path is one of the caches in the home folder, or in one."""
    caches = [os.path.realpath(os.path.expanduser(f"~/{cache}")) for cache in CACHES]
    real = os.path.realpath(os.path.expanduser(path))
    return path.startswith(("~/", "/")) and any(f"{real}/".startswith(f"{cache}/") for cache in caches)


def is_nothing_found(project, folder, name):
    """Whether git ignores all files of this name below a folder of the project."""
    below = os.path.relpath(os.path.realpath(folder), project)
    if below.startswith("..") or re.search(r"[*?[]", below) or any(fnmatch(kept, name) for kept in (".env", ".env.local", ".git")):
        return False
    forms = [f":(glob){below}/**/{name}{end}".replace(")./", ")") for end in ("", "/**")]
    return git(project, "ls-files", "-co", "--exclude-standard", "--", *forms) == (0, b"")


def divided(words):
    """The options of a command, and its operands."""
    end = words.index("--") if "--" in words else len(words)
    options = [word for word in words[:end] if word and word.startswith("-")]
    return options, [word for word in words[:end] if word not in options] + words[end + 1 :]


def deleted(name, words, found):
    """What a command deletes: with all that is in it, or by the names that `find` has found."""
    options, operands = divided(words)
    if name == "find":
        return (found or [None]) if "-delete" in words else []
    if name == "rsync":
        return [path for path in operands[-1:] if ":" not in (path or "")] if any(re.match("--del", word) for word in options) else []
    if name == "rm" and any(re.match(r"-[^-]*[rR]|--r", word) for word in options):
        return operands
    return [path for path in operands if path and "/**/" in path] if name in ("rm", "unlink", "shred") else []


def overwritten(words):
    """What git takes back from a commit or the index."""
    options, operands = divided(words)
    if "checkout" in operands:
        makes = any(re.match("-[bBt]|--orphan|--track", word) for word in options)
        return words[words.index("--") + 1 :] if "--" in words else [] if makes else operands[operands.index("checkout") + 1 :]
    has = lambda form: any(re.match(form, word) for word in options)
    is_index_alone = has("-S|--st") and not has("-.*W|--w")
    return [] if is_index_alone or "restore" not in operands else operands[operands.index("restore") + 1 :]


action = json.load(sys.stdin)["action"]
if "uncertain" in action:
    sys.exit(f"cannot tell what the command deletes: {action['uncertain']}\ninstead: write a simpler command")
# `$TMPDIR/a` is known if nothing else in the line is for a run to tell.
rest = re.sub(r"\$(TMPDIR|\{TMPDIR\})/(?=\w)", "", action["command"])
known = f"{TMPDIR}/a" if "TMPDIR" in os.environ and rest != action["command"] and not re.search(r"[$`(]|\.\.", rest) else None
folders = [os.getcwd()]
# A path that does not exist yet may be the target of a move.
moves = any("mv" in (command["program"], *command["args"][:1]) for command in action["commands"])
for command in action["commands"]:
    # A program that is unknown before it runs may be rm.
    name, words = os.path.basename(command["program"] or "rm"), command["args"]
    shown = command.get("written") or " ".join([command["program"], *words])
    shown = shown if len(shown) <= 100 else f"{name} ..."
    if name in ("cd", "pushd", "popd"):
        entered = [os.path.join(folder, (divided(words)[1] or ["-"])[0] or "-") for folder in folders]
        folders += [folder if os.path.isdir(folder) else "/" for folder in entered]
    is_near = NEAR.issuperset(command.get("through", []))
    # An unknown word may be an option.
    options = words[: words.index("--")] if "--" in words else words
    if name == "rm" and None in options and not any(re.match(r"-[^-]*[rR]|--r", word or "") for word in options):
        print(json.dumps({"ask": f"cannot tell whether `{shown}` deletes folders: run it?"}))
        sys.exit()
    for path in deleted(name, words, command.get("found")):
        path = path or known
        if not is_near:
            through = "`, `".join(map(str, command["through"]))
            sys.exit(f"cannot tell which files `{shown}` deletes through `{through}`\ninstead: run the command without `{through}`, or ask the person to run it")
        if not path:
            sys.exit(f"cannot tell which files `{shown}` deletes\ninstead: write the paths without variables")
        if not (is_cache(path) or all(is_expendable(os.path.join(folder, path)) for folder in folders)):
            sys.exit(f"`{shown}` permanently deletes files that git does not ignore\n"
                "instead: move them aside with mv, or delete files by name with plain rm")
    emptied = [file["target"] for file in command.get("redirects", []) if file["operator"] in (">", ">|")]
    for path in emptied if name == ":" else []:
        if path and os.path.isfile(path) and os.path.getsize(path) and git(".", "ls-files", "--error-unmatch", "--", path)[0] == 0:
            sys.exit(f"this command empties `{path}`\ninstead: copy it first, or write the new content")
    for path in overwritten(words) if name == "git" else []:
        if path and any(os.path.isdir(os.path.join(folder, path)) for folder in folders):
            sys.exit(f"`{shown}` discards uncommitted work\ninstead: git stash first, or name individual files")
