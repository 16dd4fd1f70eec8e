#!/usr/bin/env bash
# build.sh TARGET: builds what is shipped, and prints the program's path. Two builds of one commit
# are identical byte for byte in any folder: the program contains no path of this machine.
set -euo pipefail
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
[[ $# = 1 ]] || die 'usage: build.sh TARGET'
target=$1
column "$target" 1 >/dev/null
cd -- "$root"
cargo_home=${CARGO_HOME:-$HOME/.cargo}
# These come in addition to the flags of .cargo/config.toml only in this form.
remap=("--remap-path-prefix=$root=/hookrun" "--remap-path-prefix=$cargo_home=/cargo")
flags=$(printf '"%s",' "${remap[@]}")
cargo build --locked --quiet --profile dist --target "$target" \
    --config "target.$target.rustflags=[${flags%,}]" --bin hookrun
printf '%s\n' "${CARGO_TARGET_DIR:-$root/target}/$target/dist/hookrun"
