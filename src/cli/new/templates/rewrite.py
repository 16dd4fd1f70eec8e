import json
import sys

given = json.load(sys.stdin).get("toolInput") or {}
if given.get("command") == "npm install":
    # Installs the locked versions. The other keys do not change.
    print(json.dumps({"update": {"toolInput": {**given, "command": "npm ci"}}}))
