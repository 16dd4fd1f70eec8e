import json
import re
import sys

SECRET = re.compile(r"AKIA[0-9A-Z]{16}|gh[pousr]_[0-9A-Za-z]{36}")

said = json.dumps(json.load(sys.stdin).get("result"))
clean = SECRET.sub("[redacted]", said)
if clean != said:
    print(json.dumps({"update": {"result": json.loads(clean)}}))
