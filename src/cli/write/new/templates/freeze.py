import json
import os
import sys

event = json.load(sys.stdin)  # What to judge by, as soon as the event has keys.
# While the file FREEZE lies in the project's root, this does not happen.
if os.path.exists(os.path.join(os.environ["HOOKRUN_PROJECT_DIR"], "FREEZE")):
    sys.exit("not now: the file FREEZE is there")
