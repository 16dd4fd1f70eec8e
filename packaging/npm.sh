#!/usr/bin/env bash
# npm.sh OUT TARGET=STAGE...: one package for each target, with the program, and the package
# `hookrun`, which depends on them, starts the one for its machine, and puts it in its own place
# where it can.
set -euo pipefail
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
[[ $# -ge 2 ]] || die 'usage: npm.sh OUT TARGET=STAGE...'
out=$(cd -- "$1" && pwd)
shift
place=$(mktemp -d)
trap 'rm -rf -- "$place"' EXIT

hashes=
for pair in "$@"; do
    target=${pair%%=*} stage=${pair#*=}
    name=$(column "$target" 2)
    folder=$place/$name
    install -Dm 755 "$stage/bin/hookrun" "$folder/bin/hookrun"
    install -m 644 "$stage"/LICENSE-* "$folder"
    cat >"$folder/package.json" <<END
{
  "name": "@hookrun/$name",
  "version": "$version",
  "description": "The program of hookrun for $name",
  "license": "MIT OR Apache-2.0",
  "os": ["${name%-*}"],
  "cpu": ["${name#*-}"],
  "files": ["bin/hookrun"],
  "preferUnplugged": true
}
END
    hashes+="$(printf '    "%s": "%s",' "$name" "$(sha256sum "$stage/bin/hookrun" | cut -d ' ' -f 1)")"$'\n'
done

folder=$place/hookrun
mkdir -p "$folder/bin" "$folder/man" "$folder/completions"
stage=${1#*=}
for page in "$root"/man/*.[15]; do install -m 644 "$page" "$folder/man"; done
install -m 644 "$stage"/completions/* "$folder/completions"
install -m 755 "$root/packaging/npm/hookrun.js" "$folder/bin/hookrun"
install -m 644 "$root/packaging/npm/install.js" "$root/packaging/npm/program.js" "$folder"
install -m 644 "$stage"/LICENSE-* "$stage/README.md" "$folder"
optional=$(for target in $(targets); do printf '    "@hookrun/%s": "%s",\n' "$(column "$target" 2)" "$version"; done)
pages=$(cd "$folder" && printf '"./%s", ' man/*)
cat >"$folder/package.json" <<END
{
  "name": "hookrun",
  "version": "$version",
  "description": "$description",
  "license": "MIT OR Apache-2.0",
  "bin": { "hookrun": "bin/hookrun" },
  "man": [${pages%, }],
  "files": ["bin", "man", "completions", "install.js", "program.js"],
  "scripts": { "postinstall": "node install.js" },
  "engines": { "node": ">=16" },
  "optionalDependencies": {
${optional%,}
  },
  "hookrunPrograms": {
$(printf '%s' "${hashes%$'\n'}" | sed '$ s/,$//')
  }
}
END
for package in "$place"/*/; do
    (cd -- "$package" && npm pack --silent --pack-destination "$out" >/dev/null)
done
