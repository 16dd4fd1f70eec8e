#!/bin/sh
# Saves the code at the start of each turn, so that going back in the conversation can also restore
# the files.
#
#   turn.start           records a commit with the tracked files (git stash create: it changes no
#                        branch, no stash list and no file)
#   session.branch.pre   prints the commit of the turn at which the branch starts
#   agent.end            removes the records
#
# One script, linked into three event folders; the records are in HOOKRUN_STATE_DIR. Untracked files
# are neither saved nor restored.
#
# Settings:
#   HOOKRUN_CHECKPOINT_RESTORE=1   restore the files immediately, instead of printing how
#   HOOKRUN_CHECKPOINT_KEEP=1      keep the records at agent.end, for branching later
#
# hookrun: timeout=10s

notes=${HOOKRUN_STATE_DIR-}
[ "$notes" ] || exit 0 # No state folder.

# number FIELD: prints it from the context, which is one line of compact JSON. A name with bare
# quotes around it cannot stand inside a JSON string, so the first one is the field.
number() {
    LC_ALL=C awk -v name="\"$1\":" '
        match($0, name "[0-9]+") { print substr($0, RSTART + length(name), RLENGTH - length(name)) }'
}

# snapshot: prints a commit that holds the tracked files. Fails where there is none to make:
# outside a repository, before the first commit, in the middle of a merge.
snapshot() {
    commit=$(git -c user.name=hookrun -c user.email=hookrun@localhost stash create 2>/dev/null) || return
    # Nothing to stash: the files are those of the last commit.
    if [ "$commit" ]; then echo "$commit"; else git rev-parse HEAD; fi
}

# say TEXT: the texts below need no JSON escapes.
say() { printf '{"additionalContext":"%s"}\n' "$1"; }

case ${HOOKRUN_EVENT-} in
turn.start)
    turn=$(number turnIndex)
    if [ "$turn" ] && commit=$(snapshot); then echo "$commit" >"$notes/turn-$turn"; fi ;;
session.branch.pre)
    turn=$(number targetTurnIndex)
    [ "$turn" ] && [ -r "$notes/turn-$turn" ] || exit 0
    read -r commit <"$notes/turn-$turn"
    restore="git restore --source=$commit --worktree -- :/"
    if [ "${HOOKRUN_CHECKPOINT_RESTORE-}" != 1 ]; then
        say "Commit $commit has the files from the start of turn $turn; restore them with \`$restore\`."
    elif ! present=$(snapshot); then
        say "The files were not restored to the start of turn $turn, because git cannot save their present state; \`$restore\` discards it."
    elif $restore 2>/dev/null; then
        say "The files are restored to the start of turn $turn. Their previous state is in commit $present."
    else
        say "The files could not be restored to the start of turn $turn; run \`$restore\` to see why."
    fi ;;
agent.end)
    [ "${HOOKRUN_CHECKPOINT_KEEP-}" = 1 ] || rm -f "$notes"/turn-* ;;
esac
exit 0
