#!/usr/bin/env -S python3 -IS
# Archives the session's transcript when the session ends, even if aborted, as
# ARCHIVE/SESSION/NAME; NAME is the transcript's file name. When a resumed session ends, the new copy replaces the
# old one. Without a transcript nothing is archived.
#
# Settings: HOOKRUN_ARCHIVE_DIR (default: $XDG_DATA_HOME/hookrun-archive, which is
# ~/.local/share/hookrun-archive). Transcripts are sensitive; only you can read the copies.
#
# hookrun: timeout=30s

import json
import os
import re
import stat
import sys
import time


def archive_folder(session):
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    archive = os.environ.get("HOOKRUN_ARCHIVE_DIR") or os.path.join(data, "hookrun-archive")
    # A name made of a session's id must stay one name. Without an id, each end counts.
    name = re.sub(r"[^\w.-]|^\.+", "_", session) or time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return os.path.join(archive, name)


def copy(source, folder):
    os.makedirs(folder, mode=0o700, exist_ok=True)
    target = os.path.join(folder, os.path.basename(source.name))
    part = f"{target}.{os.getpid()}.part"
    # Renamed when complete: an archive never holds half a transcript under its name.
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            while chunk := source.read(1 << 20):
                out.write(chunk)
        os.replace(part, target)
    except OSError:
        if os.path.exists(part):
            os.unlink(part)
        raise


def main():
    context = json.load(sys.stdin.buffer)
    path = context.get("transcriptPath")
    if not isinstance(path, str) or not path:
        return
    try:
        # Not blocking, in case it is a pipe.
        source = open(os.path.expanduser(path), "rb", opener=lambda p, flags: os.open(p, flags | os.O_NONBLOCK))
    except FileNotFoundError:
        return
    with source:
        if stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            copy(source, archive_folder(str(context.get("sessionId") or "")))


try:
    main()
except OSError as error:
    sys.exit(f"the transcript was not archived: {error}")
