#!/usr/bin/env bash
# hookrun: warm=serve
while IFS= read -r line; do
  id=${line#*'"id":"'}
  id=${id%%'"'*}
  effects=
  if [ -e FREEZE ]; then
    effects='{"type":"deny","reason":"nothing changes while FREEZE is here"}'
  fi
  printf '{"jsonrpc":"2.0","id":"%s","result":{"protocolVersion":"draft","effects":[%s]}}\n' "$id" "$effects"
done
