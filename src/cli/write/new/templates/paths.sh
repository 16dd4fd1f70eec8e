# A value that is too long for a variable is named here; what was not seen is not allowed.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

# There is one path a line: split only there, and take a star as a star.
IFS='
'
set -f
for path in ${HOOKRUN_ACTION_PATHS-}; do
    case ${path##*/} in
    .env | *.pem)
        echo "$path stays out of the repository" >&2
        exit 1
        ;;
    esac
done
