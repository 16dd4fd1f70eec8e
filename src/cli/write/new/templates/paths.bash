# A value that is too long for a variable is named here; what was not seen is not allowed.
[[ -z ${HOOKRUN_TRUNCATED-} ]] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

# There is one change a line: git's letter for it and the path. What is deleted (D) may go; what is
# renamed (R) would come in under another path.
while read -r status path; do
    [[ $status != D ]] || continue
    case ${path##*/} in
    .env | *.pem)
        [[ $status != R ]] || path="the content of $path"
        echo "$path stays out of the repository" >&2
        exit 1
        ;;
    esac
done <<<"${HOOKRUN_CHANGES-}"
