# One reference per line.
while read -r line; do
    case "$line " in
    *' refs/heads/main '*)
        echo 'nobody pushes to main; push your own branch' >&2
        exit 1
        ;;
    esac
done
