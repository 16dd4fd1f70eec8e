# The linter and its command: edit these two lines, and `type` above.
command -v ruff >/dev/null || { echo 'ruff is not installed: uv tool install ruff' >&2; exit 1; }
exec ruff check --force-exclude "$@"
