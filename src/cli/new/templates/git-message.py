import sys

with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
if lines and lines[0].lower().startswith("wip"):
    sys.exit(f"the commit is unfinished: {lines[0]}")
