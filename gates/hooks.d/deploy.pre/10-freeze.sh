#!/bin/sh
# Keeps everything as it is while a freeze is on: while the file FREEZE lies in the project's root,
# and says why.
#
#   echo 'stocktaking until Monday' >FREEZE
#   echo '{"environment": "production"}' | hookrun run deploy.pre --hooks gates
#
# For production alone, add where.environment=^production$ to the directive below: an event that
# names no environment, or another, then passes.
#
# Tune:
#   HOOKRUN_FREEZE   the file, relative to the project's root (default: FREEZE)
#
# hookrun: timeout=5s

cd -- "${HOOKRUN_PROJECT_DIR:?}" || exit 1
file=${HOOKRUN_FREEZE:-FREEZE}
[ -e "$file" ] || exit 0
echo "nothing is deployed now: $(cat -- "$file" || echo 'nobody can read why')" >&2
exit 1
