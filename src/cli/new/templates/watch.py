import json
import os
import sys

event = json.load(sys.stdin)
# In this hook's state folder, or in HOOKRUN_SEEN_LOG.
seen = os.environ.get("HOOKRUN_SEEN_LOG")
with open(seen or os.path.join(os.environ["HOOKRUN_STATE_DIR"], "seen.log"), "a") as log:
    print(json.dumps(event), file=log)
