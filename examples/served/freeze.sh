#!/usr/bin/env bash
# hookrun: warm=serve
while IFS= read -r line; do
  id=${line#*'"id":"'}
  id=${id%%'"'*}
  answer=
  if [ -e FREEZE ]; then
    answer=',"continue":false,"reason":"nothing changes while FREEZE is here"'
  fi
  printf '{"id":"%s"%s}\n' "$id" "$answer"
done
