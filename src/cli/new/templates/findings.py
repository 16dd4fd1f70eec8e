import json
import os
import sys

event = json.load(sys.stdin)
findings = []
for path in (event.get("action") or {}).get("paths") or []:
    if not os.path.isfile(path):
        continue
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("<<<<<<< "):
                message = "unresolved conflict marker"
                findings.append({"path": path, "line": number, "level": "error", "message": message})
if findings:
    print(json.dumps({"findings": findings}))
