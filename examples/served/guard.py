#!/usr/bin/env python3
# hookrun: warm=serve
import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    if "push --force" in request["context"]["toolInput"].get("command", ""):
        answer["continue"] = False
        answer["reason"] = "push without --force"
    print(json.dumps(answer), flush=True)
