import json
import os
import sys

event = json.load(sys.stdin)  # The event's context, which this hook does not use.
# Blocks while the file FREEZE exists in the project's root.
if os.path.exists(os.path.join(os.environ["HOOKRUN_PROJECT_DIR"], "FREEZE")):
    sys.exit("blocked while the file FREEZE exists")
