arguments=$(hookrun hook field args --default '') || exit 1
if [ -z "$arguments" ]; then
    echo 'usage: @COMMAND@ TEXT' >&2
    exit 1
fi
printf 'You said: %s\n' "$arguments"
