#!/usr/bin/env python3
# hookrun: warm=serve
import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    context = request["params"]["event"]["native"]["payload"]
    effects = []
    if "push --force" in context["toolInput"].get("command", ""):
        effects = [{"type": "deny", "reason": "push without --force"}]
    result = {"protocolVersion": "draft", "effects": effects}
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
    print(json.dumps(answer), flush=True)
