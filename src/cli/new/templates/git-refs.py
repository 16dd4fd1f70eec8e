import sys

# One reference per line.
for line in sys.stdin.buffer:
    if b" refs/heads/main " in line.rstrip(b"\n") + b" ":
        sys.exit("nobody pushes to main; push your own branch")
