#!/usr/bin/env python3
"""AuthZEN 1.0 in front of `hookrun serve`: authzen.py PORT HOOKRUN_URL, with HOOKRUN_TOKEN.

A tool call of a gateway becomes the event `tool.pre`. If hookrun cannot decide, the answer is a denial of
status 200, because many clients let an action pass after a status of 500.
"""
import json
import os
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEADLINE_S = 60


def decide(event, context):
    """The reply of `hookrun run`: its status, stdout and stderr."""
    body = json.dumps({"event": event, "context": context}).encode()
    headers = {"Authorization": "Bearer " + os.environ["HOOKRUN_TOKEN"]}
    request = urllib.request.Request(sys.argv[2] + "/decide", body, headers)
    with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
        return json.load(answer)


def evaluate(evaluation):
    action, resource = evaluation["action"]["name"], evaluation["resource"]
    facts = evaluation.get("context", {})
    context = {key: facts[key] for key in ("cwd", "sessionId", "toolUseId") if key in facts}
    context["toolName"] = resource["id"]
    # No hook would see properties that are not the input: such a call is denied.
    context["toolInput"] = resource.get("properties", {"input": {}})["input"]
    context["authzen"] = evaluation
    reply = decide("tool.pre" if action == "tools/call" else action, context)
    said = json.loads(reply["stdout"] or "{}")
    if reply["status"] != 0:
        return False, reply["stderr"].strip() or said.get("reason", "blocked")
    if "update" in said:
        return False, "a hook changes the call, and AuthZEN cannot say how"
    return True, said.get("additionalContext")


class Gateway(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/access/v1/evaluation":
            return self.send_error(404)
        try:
            is_allowed, reason = evaluate(json.loads(body))
        except Exception as error:
            is_allowed, reason = False, f"hookrun did not decide: {error!r}"
        answer = {"decision": is_allowed, "context": {"reason": reason} if reason else {}}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Gateway)
print(server.server_port, flush=True)
server.serve_forever()
