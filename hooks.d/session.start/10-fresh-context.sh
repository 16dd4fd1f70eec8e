#!/bin/sh
# Gives the model the date, the git branch, the last commits and the uncommitted files. Outside a
# repository, only the date.
#
# Settings:
#   HOOKRUN_CONTEXT_COMMITS   the number of commits (default: 5)
#   HOOKRUN_CONTEXT_FILES     the number of changed files (default: 20)
#
# hookrun: timeout=10s

# The repository's settings must neither start programs nor colour the output.
quiet_git() { git --no-optional-locks -c core.fsmonitor=false -c color.ui=never "$@" 2>/dev/null; }

describe() {
    LC_ALL=C date '+Date: %A, %Y-%m-%d %H:%M %z'
    quiet_git rev-parse --is-inside-work-tree >/dev/null || return 0
    branch=$(quiet_git symbolic-ref --quiet --short HEAD) || branch="none (detached at $(quiet_git rev-parse --short HEAD))"
    echo "Git branch: $branch"

    commits=$(quiet_git log --no-show-signature -n "${HOOKRUN_CONTEXT_COMMITS:-5}" --format='  %h %as %s')
    [ -z "$commits" ] || printf 'Last commits:\n%s\n' "$commits"

    changes=$(quiet_git status --short)
    if [ -z "$changes" ]; then
        echo 'No uncommitted changes.'
        return
    fi
    echo 'Uncommitted changes:'
    printf '%s\n' "$changes" | awk -v most="${HOOKRUN_CONTEXT_FILES:-20}" '
        NR <= most { print "  " $0 }
        END { if (NR > most) print "  and " NR - most " more" }'
}

# JSON by hand: quotes and backslashes escaped, lines joined by \n, control characters dropped.
printf '{"additionalContext":"%s"}\n' "$(describe | LC_ALL=C sed -e 's/[\\"]/\\&/g' -e '$!s/$/\\n/' |
    LC_ALL=C tr '\t' ' ' | LC_ALL=C tr -d '\000-\037\177')"
