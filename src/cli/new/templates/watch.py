import json
import os
import sys

event = json.load(sys.stdin)
# Logs to HOOKRUN_SEEN_LOG, by default to seen.log in this hook's state folder.
seen = os.environ.get("HOOKRUN_SEEN_LOG")
with open(seen or os.path.join(os.environ["HOOKRUN_STATE_DIR"], "seen.log"), "a") as log:
    print(json.dumps(event), file=log)
