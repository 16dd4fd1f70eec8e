import json
import sys

event = json.load(sys.stdin)
# The action is the same in every host: kind, command, paths.
command = (event.get("action") or {}).get("command") or ""
if "git push" in command and " --force" in command:
    sys.exit("force pushes are blocked; push to your own branch")
