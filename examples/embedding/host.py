#!/usr/bin/env python3
"""A program that asks hookrun before it acts, one question after the other.

    python3 host.py HOOKRUN COMMAND...
"""
import json, select, subprocess, sys

DEADLINE_S = 60


class Hookrun:
    def __init__(self, program):
        pipe = subprocess.PIPE
        self.server = subprocess.Popen([program, "serve", "--stdio"], stdin=pipe, stdout=pipe, text=True)

    def permit(self, tool, given):
        """What to do instead of `given`. Whatever fails is a block, this time and from then on."""
        context = {"toolName": tool, "toolInput": given, "sessionId": "s-1"}
        params = {"event": "tool.pre", "context": context}
        try:
            request = {"jsonrpc": "2.0", "id": 1, "method": "hookrun/decide", "params": params}
            print(json.dumps(request), file=self.server.stdin, flush=True)
            select.select([self.server.stdout], [], [], DEADLINE_S)[0][0]
            reply = json.loads(self.server.stdout.readline())["result"]
            new = json.loads(reply["stdout"] or "{}").get("update", {}).get("toolInput", given)
        except (OSError, LookupError, ValueError) as error:
            self.server.kill()
            raise PermissionError(f"hookrun did not decide: {error!r}") from error
        if reply["status"] != 0:
            raise PermissionError(reply["stderr"].strip() or "blocked")
        return new


hookrun = Hookrun(sys.argv[1])
for command in sys.argv[2:]:
    try:
        print("runs:", hookrun.permit("bash", {"command": command})["command"])
    except PermissionError as reason:
        print("blocked:", reason)
