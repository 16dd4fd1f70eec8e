import json
import os
import sys

event = json.load(sys.stdin)  # The event's context, which this hook does not use.
notes = os.path.join(os.environ["HOOKRUN_PROJECT_DIR"], "NOTES.md")
if os.path.exists(notes):
    with open(notes, encoding="utf-8") as file:
        # For the model; `output` would be shown to the user.
        print(json.dumps({"additionalContext": f"Notes: {file.readline().strip()}"}))
