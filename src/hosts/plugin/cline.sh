#!/bin/sh
# Written by `hookrun install`; `hookrun uninstall` removes it.
# LAUNCH = "@LAUNCH@"
# EVENTS = "@EVENTS@"
answer=$(@COMMAND@) || {
    status=$?
    # Cline reads JSON alone, and lets everything pass where there is none.
    answer='@FAILED@'
    echo "hookrun ended with status $status and no decision" >&2
}
printf '%s\n' "$answer"
