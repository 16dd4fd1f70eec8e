#!/usr/bin/env bash
# What other runners of hooks cost beside hookrun, as ratios: `bash benches/peers.sh [--write] [PAIRS]`.
# With --write, both tables also replace those in docs/benchmarks.md, and docs/speed.svg and the
# sentence about it in README.md are made from the first. This is how the numbers of the
# documentation are measured: `bash benches/peers.sh --write 60`, with nothing else running.
#
# The first table has two jobs: one hook that does nothing, and ten of them one after another. The
# second has commits: three hooks that get the staged files, 400 tracked files, five of them staged;
# and the same with unstaged changes in one of the five. A runner and hookrun take turns (timer.c),
# and each pair gives one ratio; the table has the median of the ratios and the interquartile
# range. Before it is timed, a runner must show that it starts all its hooks: one at a time in the first table,
# with the five files in the second. hookrun against itself shows the noise.
# Both builds of hookrun are measured: what packaging/build.sh makes to be shipped, for which the
# target must be installed (`rustup target add x86_64-unknown-linux-musl`), and what
# `cargo install --path .` makes.
#
# What the system does not have is installed into $HOOKRUN_PEERS, else target/peers, and kept there;
# building hk takes minutes. The table says what cannot be had, and why.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C CARGO_TERM_COLOR=never

lefthook_version=2.2.2
prek_version=0.5.11
hk_version=2.11.0

say() { printf 'peers.sh: %s\n' "$*" >&2; }
die() {
  say "$@"
  exit 1
}

writes=
if [[ ${1-} == --write ]]; then
  writes=1
  shift
fi
pairs=${1:-40}
[[ $# -le 1 && $pairs =~ ^[1-9][0-9]*$ ]] || die 'usage: peers.sh [--write] [PAIRS]'

# --- The runners ---

# The two of hookrun are the builds that the others are compared with.
runners=(shipped installed run-parts git prek lefthook hk)
declare -A title=([shipped]='hookrun (shipped build)' [installed]='hookrun (cargo install)' [git]='git hook run')
declare -A program=() missing=() version=()

# The runner is `file`, which the command makes where it is missing.
get() { # runner file command...
  local runner=$1 file=$2 log=$peers/$1.log
  shift 2
  if [[ ! -x $file ]]; then
    if ! command -v "$1" >/dev/null; then
      missing[$runner]="needs $1"
      return
    fi
    say "installing $runner; the log is $log"
    "$@" >"$log" 2>&1 </dev/null || true
  fi
  if [[ -x $file ]]; then
    program[$runner]=$file
  else
    missing[$runner]=$({ grep -im 1 error "$log" || tail -n 1 "$log"; } | cut -c 1-80 | tr '|' '/')
  fi
}

first_version() { awk 'match($0, /[0-9]+(\.[0-9]+)+/) { print substr($0, RSTART, RLENGTH); exit }'; }

command -v cc >/dev/null || die 'needs cc, a C compiler, for benches/timer.c'
git=$(command -v git) || die 'needs git: most runners call it'

peers=${HOOKRUN_PEERS:-target/peers}
mkdir -p "$peers"
peers=$(cd "$peers" && pwd)

say 'building hookrun'
program[shipped]=$(packaging/build.sh "$(uname -m)-unknown-linux-musl")
program[installed]=$(cargo build --release --quiet --bin hookrun --message-format json-render-diagnostics |
  sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')

if ! program[run-parts]=$(command -v run-parts); then
  missing[run-parts]='it is not in PATH'
fi

if "$git" hook run --ignore-missing no-such-hook 2>/dev/null; then
  program[git]=$git
else
  missing[git]="$("$git" --version) has no \`git hook run\`"
fi

# npm's launcher is a Node script; the program is in the package for the platform.
system=$(uname -s | tr '[:upper:]' '[:lower:]')
machine=$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
folder=$peers/lefthook-$lefthook_version
get lefthook "$folder/node_modules/lefthook-$system-$machine/bin/lefthook" \
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund "lefthook@$lefthook_version"

folder=$peers/prek-$prek_version
get prek "$folder/bin/prek" \
  python3 -m pip install --disable-pip-version-check --only-binary :all: --no-deps \
  --target "$folder" "prek==$prek_version"

# hk's configuration amends a file that comes with its source.
folder=$peers/hk-$hk_version
install_hk() {
  CARGO_TARGET_DIR=$folder/build cargo install hk --version "$hk_version" --locked --root "$folder" &&
    cp "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"hk-$hk_version"/pkl/Config.pkl "$folder" &&
    rm -rf "$folder/build" &&
    ln -s bin/hk "$folder/hk"
}
get hk "$folder/hk" install_hk

for runner in "${runners[@]}"; do
  [[ -n ${program[$runner]-} ]] || continue
  argument=--version
  [[ $runner != lefthook ]] || argument=version
  version[$runner]=$("${program[$runner]}" "$argument" 2>&1 | first_version) || true
done

# --- Their jobs ---

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/home"
cc -O2 -o "$root/timer" benches/timer.c
printf '{"toolName":"Bash","toolInput":{"command":"cargo test --workspace"}}' >"$root/event.json"

# Nothing of the person who measures is used or written to.
clean=(env -i "PATH=$(dirname "$git"):/usr/bin:/bin" "HOME=$root/home" GIT_CONFIG_NOSYSTEM=1)

# Approves the hooks in the working directory, as a person would.
approve() { # hookrun, and before it what starts it
  local digest
  digest=$({ "$@" trust --show || true; } 2>/dev/null | grep -o 'sha256:[0-9a-f]*')
  "$@" trust --digest "$digest" >/dev/null 2>&1 || die 'hookrun does not trust its hooks'
}

# The hooks of a job become links to a program, and are approved.
link_hooks() { # job target
  local hook
  for hook in "$root/$1"/hooks.d/tool.pre/*; do ln -sf "$2" "$hook"; done
  (cd "$root/$1" && approve "${clean[@]}" "${program[shipped]}")
}

# A repository with one staged file and the configuration of every runner; the hooks are the same
# files for all.
set_up() { # job count
  local at=$root/$1 count=$2 number hook
  mkdir -p "$at/hooks.d/tool.pre"
  "${clean[@]}" git init --quiet "$at"
  mkdir -p "$at/.git/hooks"
  pushd "$at" >/dev/null
  "${clean[@]}" git -c user.name=a -c user.email=a@b commit --quiet --allow-empty --message begin
  echo staged >file
  "${clean[@]}" git add file

  printf 'no_auto_install: true\npre-commit:\n  jobs:\n' >lefthook.yml
  printf 'repos:\n  - repo: local\n    hooks:\n' >.pre-commit-config.yaml
  printf 'amends "%s"\njobs = 1\nhooks { ["pre-commit"] { steps {\n' "$peers/hk-$hk_version/Config.pkl" >hk.pkl
  printf '#!/bin/sh\nset -e\n' >pre-commit
  for ((number = 1; number <= count; number++)); do
    hook=$(printf '%s/hooks.d/tool.pre/%02d' "$at" "$number")
    ln -s /bin/true "$hook"
    printf '    - run: %s\n' "$hook" >>lefthook.yml
    printf '      - {id: h%s, name: h%s, entry: %s, language: system, always_run: true, pass_filenames: false}\n' \
      "$number" "$number" "$hook" >>.pre-commit-config.yaml
    printf '  ["h%02d"] { check = "%s" }\n' "$number" "$hook" >>hk.pkl
    printf '%s\n' "$hook" >>pre-commit
  done
  printf '} } }\n' >>hk.pkl
  # git has one file for an event: the hook itself, or a script that calls the ten.
  if ((count == 1)); then
    ln -sf "$hook" pre-commit
  else
    chmod +x pre-commit
  fi
  mv pre-commit .git/hooks/
  popd >/dev/null
}

# Sets `words`: what starts a runner in the folder of a job. All find their configuration themselves.
words_of() { # runner
  case $1 in
  true) words=(/bin/true) ;;
  shipped | installed) words=("${program[$1]}" run tool.pre) ;;
  run-parts) words=("${program[run-parts]}" hooks.d/tool.pre) ;;
  prek) words=("${program[prek]}" run) ;;
  lefthook) words=("${program[lefthook]}" run pre-commit) ;;
  hk) words=("${program[hk]}" run pre-commit) ;;
  git) words=("${program[git]}" hook run pre-commit) ;;
  esac
}

# A runner that skips hooks, or runs two at once, is not measured.
check() { # runner job count
  local runner=$1 job=$2 count=$3 expected words
  link_hooks "$job" "$root/witness"
  : >"$root/seen"
  words_of "$runner"
  (cd "$root/$job" && "${clean[@]}" "${words[@]}" <"$root/event.json" >"$root/said" 2>&1) ||
    die "$runner failed with $job: $(cat "$root/said")"
  link_hooks "$job" /bin/true
  expected=$(for ((; count > 0; count--)); do printf 'start\nend\n'; done)
  [[ $(cat "$root/seen") == "$expected" ]] ||
    die "$runner did not run its hooks one after another with $job: $(tr '\n' ' ' <"$root/seen")$(cat "$root/said")"
}

printf '#!/bin/sh\necho start >>%s/seen\nsleep 0.01\necho end >>%s/seen\n' "$root" "$root" >"$root/witness"
chmod +x "$root/witness"
set_up one 1
set_up ten 10
for runner in "${runners[@]}"; do
  [[ -n ${program[$runner]-} ]] || continue
  say "checking that $runner runs its hooks"
  check "$runner" one 1
  check "$runner" ten 10
done

# --- The table ---

# Median and interquartile range of a column.
quantiles() {
  sort -g | awk '
    function at(part,   place, below) {
      place = 1 + (NR - 1) * part
      below = int(place)
      return below == NR ? value[NR] : value[below] + (value[below + 1] - value[below]) * (place - below)
    }
    function short(x) { return sprintf(x < 9.995 ? "%.2f" : "%.1f", x) }
    { value[NR] = $1 }
    END { print short(at(0.5)), short(at(0.25)), short(at(0.75)) }'
}

# Sets `ratio`, as a cell of a table, from what the timer printed.
read_times() {
  local low high
  read -r ratio low high < <(awk '{ print $1 / $2 }' "$root/times" | quantiles)
  ratio="$ratio ($low–$high)"
}

measure() { # runner other job
  local words first
  words_of "$1"
  first=("${words[@]}")
  words_of "$2"
  (cd "$root/$3" && "${clean[@]}" "$root/timer" "$pairs" "$root/event.json" "${first[@]}" \
    -- "$root/event.json" "${words[@]}") >"$root/times"
  read_times
}

# Below a table: how it was measured, and on which machine. Pairs make up for other work on the
# machine, but not for all of it; a load of 1 is our own.
machine() { # what is counted
  local virtual='' busy='' load
  ! grep -qw hypervisor /proc/cpuinfo 2>/dev/null || virtual=' a virtual machine,'
  if [[ -r /proc/loadavg ]]; then
    read -r load _ </proc/loadavg
    busy=$(awk -v "load=$load" 'BEGIN { if (load > 1.5) printf ", with other work going on (load %.1f)", load }')
  fi
  printf '\n%s, %s cores,%s %s %s, %s%s.\n' "$1" "$(getconf _NPROCESSORS_ONLN)" "$virtual" \
    "$(uname -s)" "$(uname -r | grep -o '^[0-9]*\.[0-9]*')" "$(date '+%-d %B %Y')" "$busy"
}

# A table is printed, and with --write replaces the part of this name in docs/benchmarks.md.
put() { # part file
  printf '\n'
  cat "$2"
  [[ -n $writes ]] || return 0
  awk -v part="$1" -v file="$2" '
    $0 == "<!-- /" part " -->" { is_old = 0 }
    !is_old
    $0 == "<!-- " part " -->" { is_old = 1; while ((getline line < file) > 0) print line }' \
    docs/benchmarks.md >"$root/page"
  cp "$root/page" docs/benchmarks.md
}

# Whether a runner can be measured; else its row of a table says why not.
is_there() { # runner, cells before the reason, cells after it
  [[ -n ${program[$1]-} ]] ||
    { printf '| %s | %snot available: %s %s\n' "${title[$1]-$1}" "$2" "${missing[$1]}" "$3"; return 1; }
}

say 'timing single runs'
{
  printf '| runner | version | one hook, × shipped build | ten | one hook, × cargo install | ten | one hook, × /bin/true |\n'
  printf -- '|---|---|--:|--:|--:|--:|--:|\n'
  for runner in "${runners[@]}"; do
    is_there "$runner" '– | ' '| | | | |' || continue
    printf '| %s | %s |' "${title[$runner]-$runner}" "${version[$runner]}"
    for other in shipped installed; do
      for job in one ten; do
        measure "$runner" "$other" "$job"
        printf ' %s |' "$ratio"
      done
    done
    measure "$runner" true one
    printf ' %s |\n' "${ratio% (*}"
  done
  machine "$pairs pairs"
} >"$root/peers"
put peers "$root/peers"

# --- Commits ---

# Five commits of five files each, in the repository $1; $2 is a line to add to a staged file.
cat >"$root/commit" <<'COMMITS'
cd "$1" || exit
for commit in 1 2 3 4 5; do
  for file in 1 2 3 4 5; do echo "value = $commit  # $$" >"d$file/f$file.py"; done
  git add d1 d2 d3 d4 d5
  [ -z "$2" ] || echo "$2" >>d1/f1.py
  git commit --quiet --message change || exit
done
COMMITS

linters=$root/linters
mkdir "$linters"
# shellcheck disable=SC2016 # The hook expands it.
printf '#!/bin/sh\necho "$# $(cat d1/f1.py d5/f5.py | wc -l)" >>%s/seen\n' "$root" >"$linters/witness"
chmod +x "$linters/witness"
link_linters() { # target
  local name
  for name in a b c; do ln -sf "$1" "$linters/lint-$name"; done
}
commits=("${clean[0]}" -i "PATH=$linters:$(dirname "$git"):/usr/bin:/bin" "${clean[@]:3}"
  GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b)

# A repository with 400 files, and with the runner as its hook.
set_up_commits() { # runner
  local at=$root/commits-$1 folder file name
  mkdir "$at"
  pushd "$at" >/dev/null
  "${commits[@]}" git init --quiet
  for ((folder = 0; folder < 20; folder++)); do
    mkdir "d$folder"
    for ((file = 0; file < 20; file++)); do echo 'value = 0' >"d$folder/f$file.py"; done
  done
  case $1 in
  shipped | installed)
    for name in a b c; do
      printf '[[hook]]\nname = "%s"\nevent = "commit.pre"\ncommand = "lint-%s {files}"\nmatch = { path = "**/*.py" }\n' \
        "$name" "$name" >>hookrun.toml
    done
    ;;
  lefthook)
    printf 'no_auto_install: true\npre-commit:\n  parallel: true\n  commands:\n' >lefthook.yml
    for name in a b c; do
      printf '    %s: { run: "lint-%s {staged_files}", glob: "*.py" }\n' "$name" "$name" >>lefthook.yml
    done
    ;;
  prek)
    printf 'repos:\n  - repo: local\n    hooks:\n' >.pre-commit-config.yaml
    for name in a b c; do
      printf '      - {id: %s, name: %s, language: system, entry: lint-%s, files: "[.]py$"}\n' \
        "$name" "$name" "$name" >>.pre-commit-config.yaml
    done
    ;;
  esac
  "${commits[@]}" git add .
  "${commits[@]}" git commit --quiet --no-verify --message begin
  case $1 in
  shipped | installed)
    "${commits[@]}" "${program[$1]}" install git >"$root/said" 2>&1 || true
    approve "${commits[@]}" "${program[$1]}"
    ;;
  lefthook) "${commits[@]}" "${program[lefthook]}" install >"$root/said" 2>&1 ;;
  prek) "${commits[@]}" "${program[prek]}" install >"$root/said" 2>&1 ;;
  esac || die "$1 cannot be installed in git: $(cat "$root/said")"
  popd >/dev/null
}

# Each of the three hooks must get the five files as they are staged, in each of the five commits.
check_commits() { # runner
  local count
  link_linters "$linters/witness"
  : >"$root/seen"
  "${commits[@]}" sh "$root/commit" "$root/commits-$1" '# unstaged' >"$root/said" 2>&1 ||
    die "$1 fails to commit: $(cat "$root/said")"
  link_linters /bin/true
  count=$(grep -cx '5 2' "$root/seen" || true)
  ((count == 15)) || die "$1 ran $count of 15 hooks with five staged files: $(sort "$root/seen" | uniq -c) $(cat "$root/said")"
}

measure_commits() { # runner other unstaged-line
  "${commits[@]}" "$root/timer" "$some" /dev/null /bin/sh "$root/commit" "$root/commits-$1" "$3" \
    -- /dev/null /bin/sh "$root/commit" "$root/commits-$2" "$3" >"$root/times"
  read_times
}

committers=(shipped installed prek lefthook)
some=$((pairs < 30 ? pairs : 30))
set_up_commits none
for runner in "${committers[@]}"; do
  [[ -n ${program[$runner]-} ]] || continue
  say "checking that $runner runs its hooks in a commit"
  set_up_commits "$runner"
  check_commits "$runner"
done
say 'timing commits'
{
  printf '| runner | commit | partly staged | commit, × without hooks |\n'
  printf -- '|---|--:|--:|--:|\n'
  for runner in "${committers[@]}"; do
    is_there "$runner" '' '| | |' || continue
    printf '| %s |' "${title[$runner]-$runner}"
    measure_commits "$runner" shipped ''
    printf ' %s |' "$ratio"
    measure_commits "$runner" shipped '# unstaged'
    printf ' %s |' "$ratio"
    measure_commits "$runner" none ''
    printf ' %s |\n' "$ratio"
  done
  machine "$some pairs of five commits each"
} >"$root/commit-table"
put commits "$root/commit-table"

if [[ -n $writes ]]; then
  say 'drawing docs/speed.svg'
  UPDATE_GOLDEN=1 cargo test --quiet --test it -- pictures::the_bars the_tables_in_the_documents >&2
fi
