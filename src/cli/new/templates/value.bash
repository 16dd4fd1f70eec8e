value=$(hookrun hook field @KEY@ --default '') || exit 1
if [[ ${value,,} == *'@WORD@'* ]]; then
    echo '@KEY@: "@WORD@" is blocked' >&2
    exit 1
fi
