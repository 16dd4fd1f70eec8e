#!/usr/bin/env bash
# stage.sh TARGET PROGRAM FOLDER: the files of every package, in FOLDER: the program, the man pages, the
# completions, the licences. The program must run here, or HOOKRUN_HERE names one that does.
set -euo pipefail
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
[[ $# = 3 ]] || die 'usage: stage.sh TARGET PROGRAM FOLDER'
target=$1 program=$2 folder=$3
column "$target" 1 >/dev/null
[[ -x $program ]] || die "$program is no program"
here=${HOOKRUN_HERE:-$program}

rm -rf -- "$folder"
mkdir -p -- "$folder/bin" "$folder/man" "$folder/completions"
install -m 755 -- "$program" "$folder/bin/hookrun"
for page in "$root"/man/*.[15]; do
    gzip -9nc -- "$page" >"$folder/man/$(basename -- "$page").gz"
done
"$here" completions bash >"$folder/completions/hookrun.bash"
"$here" completions zsh >"$folder/completions/_hookrun"
"$here" completions fish >"$folder/completions/hookrun.fish"
install -m 644 -- "$root"/LICENSE-APACHE "$root"/LICENSE-MIT "$root"/README.md "$root"/CHANGELOG.md "$folder"
