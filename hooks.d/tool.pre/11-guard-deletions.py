#!/usr/bin/env python3
# Blocks deleting folders, and overwriting them from git, except for disposable files.
#
# Disposable are files that git ignores (but not .env), and files in /tmp, /var/tmp or $TMPDIR. A
# relative path must be disposable in every folder that an earlier `cd` may have entered. Paths that
# are unknown before the command runs are blocked. The script parses no shell: the event has the
# words of each command (`action.commands`).
#
# hookrun: runs="rm -r|-R|--recursive" runs="find -delete" runs="find ** rm|*/rm|unlink|shred"
# hookrun: runs="git restore" runs="git checkout" reads=stdin

import json, os, re, subprocess, sys

# Programs that run another one as the same user in the same folder.
NEAR = set("bash builtin command dash eval exec ionice nice nohup setsid sh stdbuf time timeout zsh".split())
PROJECTS = {os.path.realpath(os.environ.get("HOOKRUN_PROJECT_DIR") or "."), os.getcwd()}
TMPDIR = os.environ.get("TMPDIR") or "/tmp"


def is_expendable(path):
    """Whether nobody misses what is at an absolute path."""
    # Of what a pattern stands for, the folder counts; a link with a slash is what it leads to.
    pattern = re.search(r"[*?[]", path)
    folder, name = os.path.split(path[: pattern.start()] if pattern else path)
    real = os.path.realpath(folder if pattern or name.strip(".") else path)
    real = real if pattern else os.path.join(real, name.strip(".") and name).rstrip("/")
    if ".." in path.split("/") or "/~" in path or re.search(r"/\.env(\.|/|$)", real):
        return False
    for project in PROJECTS:
        if f"{project}/".startswith(f"{real}/"):
            return False
        if real.startswith(f"{project}/"):
            ask = ["git", "-C", project, "-c", "core.fsmonitor=false", "check-ignore", "-q", "--", real]
            return subprocess.run(ask, stderr=subprocess.DEVNULL).returncode == 0
    return any(real.startswith(f"{folder}/") for folder in map(os.path.realpath, ("/tmp", "/var/tmp", TMPDIR)))


def divided(words):
    """The options of a command, and its operands."""
    end = words.index("--") if "--" in words else len(words)
    options = [word for word in words[:end] if word and word.startswith("-")]
    return options, [word for word in words[:end] if word not in options] + words[end + 1 :]


def deleted(name, words):
    """What a command deletes with all that is in it."""
    options, operands = divided(words)
    if name == "rm" and any(re.match(r"-[^-]*[rR]|--r", word) for word in options):
        return operands
    runs = [after for word, after in zip(words, words[1:]) if word in ("-exec", "-execdir", "-ok", "-okdir")]
    if name == "find" and ("-delete" in words or any(re.search(r"(^|/)(rm|unlink|shred)$", run or "rm") for run in runs)):
        tests = (at for at, word in enumerate(words) if re.match(r"-[^HLPOD]|[(!]", word or ""))
        return divided(words[: next(tests)])[1] or ["."]
    return []


def overwritten(words):
    """What git takes back from a commit or the index."""
    options, operands = divided(words)
    if "checkout" in operands:
        return words[words.index("--") + 1 :] if "--" in words else []
    has = lambda form: any(re.match(form, word) for word in options)
    is_index_alone = has("-S|--st") and not has("-.*W|--w")
    return [] if is_index_alone or "restore" not in operands else operands[operands.index("restore") + 1 :]


action = json.load(sys.stdin)["action"]
if "uncertain" in action:
    sys.exit(f"cannot tell what this deletes: {action['uncertain']}\ninstead: write it in a simpler way")
# `$TMPDIR/a` is known if nothing else in the line is for a run to tell.
rest = re.sub(r"\$(TMPDIR|\{TMPDIR\})/(?=\w)", "", action["command"])
known = f"{TMPDIR}/a" if "TMPDIR" in os.environ and not re.search(r"[$`(]|\.\.", rest) else None
folders = [os.getcwd()]
for command in action["commands"]:
    # A program that only a run can tell may be rm.
    name, words = os.path.basename(command["program"] or "rm"), command["args"]
    shown = " ".join(word or "?" for word in [command["program"], *words])
    shown = shown if len(shown) <= 100 else f"{name} ..."
    if name in ("cd", "pushd", "popd"):
        entered = [os.path.join(folder, (divided(words)[1] or ["-"])[0] or "-") for folder in folders]
        folders += [folder if os.path.isdir(folder) else "/" for folder in entered]
    is_near = NEAR.issuperset(command.get("through", []))
    for path in deleted(name, words):
        path = path or known
        if not (is_near and path and all(is_expendable(os.path.join(folder, path)) for folder in folders)):
            sys.exit(f"`{shown}` deletes for good, and not only what git ignores\n"
                "instead: move it aside with mv, or delete files by name with plain rm")
    for path in overwritten(words) if name == "git" else []:
        if path and any(os.path.isdir(os.path.join(folder, path)) for folder in folders):
            sys.exit(f"`{shown}` discards uncommitted work\ninstead: git stash first, or name single files")
