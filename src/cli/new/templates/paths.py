import json
import sys

event = json.load(sys.stdin)
for change in event.get("changes") or []:
    if isinstance(change, str):
        change = {"path": change}
    path, name = change["path"], change["path"].rpartition("/")[2]
    # Deleting (D) is allowed; renaming (R) would commit the file under another path.
    if change.get("status") != "D" and (name == ".env" or name.endswith(".pem")):
        text = f"the content of {path}" if change.get("status") == "R" else path
        sys.exit(f"{text} must not be committed")
