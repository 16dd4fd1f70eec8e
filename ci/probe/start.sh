# shellcheck shell=bash disable=SC2034 # The probes use these.
# What each probe begins with: a home that holds nothing, and a fake model on loopback at $url.

here=$(dirname "$(realpath "$0")")
place=$(mktemp -d)
failed=0
export HOME=$place/home
mkdir -p "$HOME/.config/hookrun"
printf '[trust]\npaths = "%s"\n' "$place" > "$HOME/.config/hookrun/hookrun.toml"
coproc MODEL { node "$here/fake-model.mjs" "$place/requests"; }
read -r port <&"${MODEL[0]}"
trap 'eval "exec ${MODEL[1]}>&-"; rm -rf "$place"' EXIT
url=http://127.0.0.1:$port/v1
