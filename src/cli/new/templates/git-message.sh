# The first line that is not a comment.
subject=$(grep -v '^#' "$1" | head -n 1)
case $subject in
[Ww][Ii][Pp]*)
    echo "the commit is unfinished: $subject" >&2
    exit 1
    ;;
esac
