#!/usr/bin/env bash
# Writes benches/order.ld, by which the linker puts together what `hookrun run` executes: without it
# every second page fault is for a function in a part of the program that nothing else needs.
#
# Names lose their hashes, so a list stays good until functions are renamed; then it is less good,
# and nothing breaks. `cargo bench --bench whole` shows the page faults.
#
# usage: benches/order.sh        (needs valgrind and nm)
set -euo pipefail
cd "$(dirname "$0")/.."
list=benches/order.ld
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
target=$(uname -m)-unknown-linux-musl

hookrun=$(CARGO_PROFILE_DIST_STRIP=false cargo build --profile dist --target "$target" \
  --message-format json-render-diagnostics | sed -n 's/.*"executable":"\([^"]*\/hookrun\)".*/\1/p')
mkdir -p "$folder"/{home,none/hooks.d/tool.pre,ten/hooks.d/tool.pre}
for number in 0 1 2 3 4 5 6 7 8 9; do ln -s /bin/true "$folder/ten/hooks.d/tool.pre/$number"; done
printf '#!/bin/sh\necho no >&2\nexit 1\n' >"$folder/ten/hooks.d/tool.pre/guard.sh"
chmod +x "$folder/ten/hooks.d/tool.pre/guard.sh"
mkdir -p "$folder/trusted/hooks.d/tool.pre"
cp "$folder/ten/hooks.d/tool.pre/guard.sh" "$folder/trusted/hooks.d/tool.pre/"
(
  cd "$folder/trusted" && export HOME="$folder/home"
  digest=$({ "$hookrun" trust --show || true; } | grep -o 'sha256:[0-9a-f]*' | head -n 1)
  "$hookrun" trust --digest "$digest" >/dev/null
)
event='{"toolName":"Bash","toolInput":{"command":"cargo test --workspace"}}'

# Valgrind counts what is executed, and names it. Blocked events end with 2.
trace() { # words; in the folder $place
  count=$((count + 1))
  (cd "$folder/${place:-}" && HOME=$folder/home valgrind --tool=callgrind --demangle=no \
    --callgrind-out-file="$folder/trace.$count" "$hookrun" run "$@" >/dev/null 2>&1) || [[ $? == 2 ]]
}
count=0
trace tool.pre <<<"$event"
trace tool.pre --hooks none <<<"$event"
every=$count
trace tool.pre --hooks ten <<<"$event"
trace --host claude --hooks ten <fixtures/payloads/claude/PreToolUse.json
trace session.start --hooks ten <<<'{}'
place=trusted trace tool.pre <<<"$event"

# The names of a list without their hashes.
bare() { sed -e 's/17h[0-9a-f]\{16\}E.*$/17h*/' -e 's/Cs[0-9A-Za-z]*_/Cs*_/g'; }

# The functions of all runs from one to another.
functions() { # first last
  for ((one = $1; one <= $2; one++)); do
    sed -n 's/^c\{0,1\}fn=([0-9]*) \([^ ]*\)$/\1/p' "$folder/trace.$one"
  done | sed "s/'[0-9]*$//" | grep -v '^0x' | bare | LC_ALL=C sort -u
}

functions 1 "$every" >"$folder/every"
functions 1 "$count" | grep -vxFf "$folder/every" >"$folder/some"
# Of these the program has several. They lie behind the others, because few of them are used.
nm "$hookrun" | sed -n 's/^[0-9a-f]* [tTwW] //p' | bare | LC_ALL=C sort | uniq -d >"$folder/several"
{
  printf '/* Written by benches/order.sh: what a run of hooks executes, first what every run does. */\n'
  printf 'SECTIONS\n{\n  .text.run :\n  {\n'
  for part in every some; do
    for kind in -v ''; do
      # What the compiler thinks is rarely run, such as the growing of a vector, is in sections of
      # another name.
      printf '    *(\n%s\n    )\n' "$(grep $kind -xFf "$folder/several" "$folder/$part" |
        sed 's/.*/      .text.& .text.unlikely.&/')"
    done
  done
  printf '  }\n}\nINSERT BEFORE .text;\n'
} >"$list"
wc -l "$list"
