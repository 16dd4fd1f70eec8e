# HOOKRUN_TRUNCATED lists values that are too long for a variable. Block what cannot be checked.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to check: $HOOKRUN_TRUNCATED" >&2; exit 1; }

# One change per line: git's letter and the path. Deleting (D) is allowed; renaming (R) would commit
# the file under another path.
while read -r status path; do
    [ "$status" != D ] || continue
    case ${path##*/} in
    .env | *.pem)
        [ "$status" != R ] || path="the content of $path"
        echo "$path must not be committed" >&2
        exit 1
        ;;
    esac
done <<END
${HOOKRUN_CHANGES-}
END
