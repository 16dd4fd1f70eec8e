#!/usr/bin/env bash
# How long you wait for the compiler: `cargo check` and the integration tests after a change in each
# room, and both optimized builds from nothing but their dependencies.
#
# usage: benches/build.sh [--check-only]
set -euo pipefail
cd "$(dirname "$0")/.."

# Prints the seconds that a command takes.
seconds() {
  local start end
  start=$(date +%s.%N)
  "$@" >/dev/null 2>&1
  end=$(date +%s.%N)
  awk -v start="$start" -v end="$end" 'BEGIN { printf "%7.1f s", end - start }'
}

cargo check --quiet --tests
for file in engine/plan hosts/tools config/keys lab/report cli/exit; do
  touch "src/$file.rs"
  printf '%s  cargo check after a change in %s\n' "$(seconds cargo check)" "${file%%/*}"
done
if [ "${1:-}" = --check-only ]; then
  exit
fi
cargo test --quiet --no-run --test it
touch src/engine/plan.rs
printf '%s  cargo test --no-run after a change in engine\n' "$(seconds cargo test --no-run --test it)"
for profile in release dist; do
  cargo build --quiet --profile "$profile"
  touch src/lib.rs
  printf '%s  cargo build --profile %s after a change\n' "$(seconds cargo build --profile "$profile")" "$profile"
done
