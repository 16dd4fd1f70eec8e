#!/usr/bin/env python3
"""Sends what somebody posts: curl -X POST http://localhost:3333 -d "CI build failed"

WEBHOOK_PORT names another port, 0 any that is free.
"""

import http.server, json, os, sys, threading


def say(**words):
    print(json.dumps(words), flush=True)


class Webhook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        say(message=body or "Webhook triggered")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"OK")

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", int(os.environ.get("WEBHOOK_PORT", "3333"))), Webhook)
threading.Thread(target=server.serve_forever, daemon=True).start()
say(status=f"Webhook listening on http://localhost:{server.server_port}")
sys.stdin.read()  # Until the session is over.
