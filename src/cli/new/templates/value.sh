value=$(hookrun hook field @KEY@ --default '') || exit 1
case $(printf '%s' "$value" | tr '[:upper:]' '[:lower:]') in
*'@WORD@'*)
    echo '@KEY@: "@WORD@" is blocked' >&2
    exit 1
    ;;
esac
