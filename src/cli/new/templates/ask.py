import json
import re
import sys

event = json.load(sys.stdin)
command = (event.get("action") or {}).get("command") or ""
if re.search(r"(?<![\w.-])sudo(?![\w.-])", command):
    print(json.dumps({"ask": "Let it use sudo?"}))
