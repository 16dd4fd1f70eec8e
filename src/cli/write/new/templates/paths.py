import json
import sys

event = json.load(sys.stdin)
for change in event.get("changes") or []:
    if isinstance(change, str):
        change = {"path": change}
    path, name = change["path"], change["path"].rpartition("/")[2]
    # What is deleted (D) may go.
    if change.get("status") != "D" and (name == ".env" or name.endswith(".pem")):
        sys.exit(f"{path} stays out of the repository")
