#!/usr/bin/env python3
"""A program that asks hookrun before it acts, about several things concurrently. It shows dialogs of
hooks, and takes their messages.

    python3 client.py HOOKRUN COMMAND...
"""
import json, queue, subprocess, sys, threading


class Hookrun:
    def __init__(self, program, answer_dialog, take_message):
        self.server = subprocess.Popen([program, "serve", "--stdio"], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock, self.waiting, self.last = threading.Lock(), {}, 0
        self.answer_dialog, self.take_message = answer_dialog, take_message
        threading.Thread(target=self.read, daemon=True).start()
        self.call("hookrun/hello", {"client": {"name": "client.py"}, "messages": True,
                                    "dialogs": ["select", "confirm", "input", "editor"]})

    def send(self, **message):
        with self.lock:
            self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            self.server.stdin.flush()

    def read(self):
        for line in self.server.stdout:
            message = json.loads(line)
            if message.get("method") == "hookrun/dialog":
                value = self.answer_dialog(message["params"])
                self.send(id=message["id"], result={"value": value})
            elif message.get("method") == "hookrun/message":
                self.take_message(message["params"])
            elif message.get("id") in self.waiting:
                self.waiting.pop(message["id"]).put(message)
        for waiting in self.waiting.values():
            waiting.put({"error": {"message": "hookrun has ended"}})

    def call(self, method, params):
        answer = queue.Queue()
        self.last += 1
        self.waiting[self.last] = answer
        self.send(id=self.last, method=method, params=params)
        return answer.get(timeout=600)

    def permit(self, tool, given):
        """What to do instead of `given`. Whatever fails is a block."""
        context = {"toolName": tool, "toolInput": given, "sessionId": "s-1"}
        try:
            reply = self.call("hookrun/decide", {"event": "tool.pre", "context": context})["result"]
            new = json.loads(reply["stdout"] or "{}").get("update", {}).get("toolInput", given)
        except (OSError, KeyError, ValueError, queue.Empty) as error:
            raise PermissionError(f"hookrun did not decide: {error!r}") from error
        if reply["status"] != 0:
            raise PermissionError(reply["stderr"].strip() or "blocked")
        return new


if __name__ == "__main__":
    hookrun = Hookrun(sys.argv[1], lambda dialog: dialog["kind"] == "confirm",
                      lambda message: print(f"message for {message['session']}:", message["text"], flush=True))
    for command in sys.argv[2:]:
        try:
            print("runs:", hookrun.permit("bash", {"command": command})["command"], flush=True)
        except PermissionError as reason:
            print("blocked:", reason, flush=True)
    hookrun.server.stdin.close()
    sys.exit(hookrun.server.wait())
