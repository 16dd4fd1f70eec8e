import json
import sys

arguments = json.load(sys.stdin).get("args") or ""
if not arguments:
    sys.exit("usage: @COMMAND@ TEXT")
print("You said:", arguments)
