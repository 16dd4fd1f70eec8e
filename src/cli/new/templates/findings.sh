# One path per line: split only at line breaks, without expanding patterns.
IFS='
'
set -f
for path in ${HOOKRUN_ACTION_PATHS-}; do
    [ -f "$path" ] || continue
    grep -n '^<<<<<<< ' "$path" | while IFS=: read -r line _; do
        printf '%s:%s: unresolved conflict marker\n' "$path" "$line"
    done
done
