#!/usr/bin/env bash
# formula.sh OUT ADDRESS: prints the Homebrew formula for the release at ADDRESS whose files are in
# OUT.
set -euo pipefail
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
[[ $# = 2 ]] || die 'usage: formula.sh OUT ADDRESS'
out=$1 address=$2
# The sums come after it, and name it as well.
sum() {
    local file=$out/hookrun-$version-$1.tar.gz
    [[ ! -e $file ]] || sha256sum <"$file" | cut -d ' ' -f 1
}
block() {
    local sha256
    sha256=$(sum "$2")
    [[ -n $sha256 ]] || return 0
    cat <<END
  on_$1 do
    on_$3 do
      url "$address/hookrun-$version-$2.tar.gz"
      sha256 "$sha256"
    end
  end
END
}
cat <<END
class Hookrun < Formula
  desc "Runs hooks that can veto what agents, git and CI are about to do"
  homepage "${repository:-$address}"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]
$(block linux x86_64-unknown-linux-musl intel)
$(block linux aarch64-unknown-linux-musl arm)
$(block macos x86_64-apple-darwin intel)
$(block macos aarch64-apple-darwin arm)

  def install
    bin.install "bin/hookrun"
    man1.install Dir["man/*.1.gz"]
    man5.install Dir["man/*.5.gz"]
    bash_completion.install "completions/hookrun.bash" => "hookrun"
    zsh_completion.install "completions/_hookrun"
    fish_completion.install "completions/hookrun.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/hookrun --version")
  end
end
END
