import json
import sys

event = json.load(sys.stdin)
for change in event.get("changes") or []:
    if isinstance(change, str):
        change = {"path": change}
    path, name = change["path"], change["path"].rpartition("/")[2]
    # What is deleted (D) may go; what is renamed (R) would come in under another path.
    if change.get("status") != "D" and (name == ".env" or name.endswith(".pem")):
        what = f"the content of {path}" if change.get("status") == "R" else path
        sys.exit(f"{what} stays out of the repository")
