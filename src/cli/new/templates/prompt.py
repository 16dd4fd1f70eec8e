import json
import sys

event = json.load(sys.stdin)
if "BEGIN PRIVATE KEY" in (event.get("prompt") or ""):
    sys.exit("a private key must not be sent to the model; remove it")
