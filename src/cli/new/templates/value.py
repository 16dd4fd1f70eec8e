import json
import sys

value = json.load(sys.stdin).get("@KEY@")
if "@WORD@" in (value if isinstance(value, str) else json.dumps(value)).lower():
    sys.exit('@KEY@: "@WORD@" is blocked')
