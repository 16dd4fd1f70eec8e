#!/usr/bin/env bash
# deb.sh TARGET STAGE OUT: hookrun_VERSION_ARCHITECTURE.deb. The program is static: it depends on
# nothing.
set -euo pipefail
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
[[ $# = 3 ]] || die 'usage: deb.sh TARGET STAGE OUT'
architecture=$(column "$1" 3) stage=$2 out=$3
[[ $architecture != - ]] || die "there is no Debian for $1"
place=$(mktemp -d)
trap 'rm -rf -- "$place"' EXIT
chmod 755 "$place"
share=$place/usr/share
install -Dm 755 "$stage/bin/hookrun" "$place/usr/bin/hookrun"
for page in "$stage"/man/*.gz; do
    section=${page%.gz}
    install -Dm 644 "$page" "$share/man/man${section##*.}/$(basename -- "$page")"
done
install -Dm 644 "$stage/completions/hookrun.bash" "$share/bash-completion/completions/hookrun"
install -Dm 644 "$stage/completions/_hookrun" "$share/zsh/vendor-completions/_hookrun"
install -Dm 644 "$stage/completions/hookrun.fish" "$share/fish/vendor_completions.d/hookrun.fish"
mkdir -p "$share/doc/hookrun"
gzip -9nc "$stage/CHANGELOG.md" >"$share/doc/hookrun/changelog.gz"
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
    printf 'Files: *\nCopyright: the authors of hookrun\nLicense: MIT or Apache-2.0\n\n'
    printf 'License: MIT\n'
    sed 's/^$/./; s/^/ /' "$stage/LICENSE-MIT"
    printf '\nLicense: Apache-2.0\n See /usr/share/common-licenses/Apache-2.0.\n'
} >"$share/doc/hookrun/copyright"
chmod 644 "$share"/doc/hookrun/*
mkdir "$place/DEBIAN"
cat >"$place/DEBIAN/control" <<END
Package: hookrun
Version: $version
Architecture: $architecture
Maintainer: the authors of hookrun
Installed-Size: $(du -sk --apparent-size "$place/usr" | cut -f 1)
Section: utils
Priority: optional
Description: $description
 Guardrails for coding agents, git and CI: hookrun runs hooks, small programs
 in any language, before a tool call, a commit or a deployment, and blocks what
 they reject.
END
find "$place" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz -z9 --build "$place" "$out/hookrun_${version}_$architecture.deb" >/dev/null
