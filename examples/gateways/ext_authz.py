#!/usr/bin/env python3
"""Envoy's ext_authz over HTTP in front of `hookrun serve`: ext_authz.py PORT HOOKRUN_URL, with
HOOKRUN_TOKEN.

Each request at the proxy becomes the event `http.request`, which your hookrun.toml declares:

    [event."http.request"]
    summary = "a request at the proxy"
    blocks = true
"""
import json
import os
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEADLINE_S = 60


def refusal(context):
    """Why the request does not pass; `None` if it does."""
    body = json.dumps({"event": "http.request", "context": context}).encode()
    headers = {"Authorization": "Bearer " + os.environ["HOOKRUN_TOKEN"]}
    request = urllib.request.Request(sys.argv[2] + "/decide", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
            reply = json.load(answer)
        if reply["status"] != 0:
            return reply["stderr"].strip() or "blocked"
        # The proxy passes on what its client wrote, whatever a hook has made of it.
        changed = "update" in json.loads(reply["stdout"] or "{}")
        return "a hook changes the request" if changed else None
    except Exception as error:
        return f"hookrun did not decide: {error!r}"


class Gateway(BaseHTTPRequestHandler):
    def check(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        context = {"method": self.command, "path": path, "query": query, "headers": headers}
        reason = refusal(context | {"body": body.decode(errors="replace")})
        # Some proxies let a request pass after a status of 500 and more.
        self.send_response(403 if reason else 200)
        self.end_headers()
        self.wfile.write((reason or "").encode())

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = check


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Gateway)
print(server.server_port, flush=True)
server.serve_forever()
