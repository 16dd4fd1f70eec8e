# Blocks trailing white space and conflict markers in what is staged.
exec git diff --cached --check
