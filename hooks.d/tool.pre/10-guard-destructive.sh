#!/bin/sh
# Blocks shell commands that destroy what nobody can bring back.
#
# Every simple command is judged, wherever it stands: after ; && || | & and newlines, in
# ( ), $( ), <( ) and backticks, behind sudo, env, xargs, timeout, find -exec and their like,
# in `sh -c '...'`, `eval`, ssh, and in what echo or a here-document hands to a shell. Words are
# unquoted first: "rm" -r\f is rm -rf, and `git commit -m 'no rm -rf'` is only text.
# It steers an agent that means well; it is no wall against one that hides: it does not know
# what variables hold (x=rm; $x -rf /), nor $IFS, nor what interpreters, build tools and
# containers do, nor aliases and functions of yours.
#
# Deleting what nobody misses is everyday work: files of the project that git ignores (but not
# .env), and what lies in /tmp, /var/tmp or $TMPDIR. Everything else, and what cannot be told,
# such as `rm -r "$dir"`, is blocked.
#
# Tune: HOOKRUN_GUARD_ALLOW, the rules to leave out, separated by spaces:
#   rm-rf            rm -r of what git does not ignore
#   find-delete      find -delete, find -exec rm
#   truncate         truncate -s 0
#   force-push       git push --force, --mirror, --delete, +branch
#   reset-hard       git reset --hard
#   discard          git checkout -- . and its like, git restore ., git switch --force
#   git-clean        git clean -f
#   stash-drop       git stash drop, git stash clear
#   branch-delete    git branch -D
#   git-reflog       git reflog expire, git gc --prune=now
#   terraform-destroy  also of OpenTofu, Terragrunt, Pulumi and the CDK
#   kubectl-delete   kubectl delete, helm uninstall
#   docker-prune     docker system prune, docker volume rm, docker compose down -v
#   drop-table       DROP TABLE, TRUNCATE TABLE and their like for a database
#   sudo chmod-777 mkfs raw-disk pipe-to-shell fork-bomb
#   bare-shell       a shell or interpreter without anything to run: an agent that types into
#                    it (Codex: write_stdin) runs commands that no hook sees
#
# hookrun: command=. priority=10 reads=stdin

# shellcheck disable=SC2016,SC2086,SC2088,SC2295  # Shell syntax is the subject here; splitting is meant.
set -f
newline='
'
tab='	'
blank=" $tab$newline"

# refuse RULE WHY INSTEAD: ends the hook, unless the rule is left out.
refuse() {
    case " ${HOOKRUN_GUARD_ALLOW-} " in *" $1 "*) return ;; esac
    printf '%s [%s]\ninstead: %s\n' "$2" "$1" "$3" >&2
    exit 1
}

# --- What is blocked -------------------------------------------------------------------

# judge WORD...: one simple command, unquoted. Sets `name`, the command that really runs, and
# `operands`, what stands behind it.
judge() {
    quoted=$*
    case $quoted in *"$newline"*) quoted="${1##*/} ..." ;; esac
    [ ${#quoted} -le 100 ] || quoted="${1##*/} ..."
    # A lone $ is what a substitution leaves behind, which may be nothing.
    while [ $# -gt 0 ]; do
        case $1 in
        [A-Za-z_]*=* | '!' | '{' | '$' | if | then | elif | else | while | until | do) shift ;;
        *) break ;;
        esac
    done
    name=${1-} operands='' lines='' elsewhere=''
    name=${name##*/}
    [ $# -gt 0 ] || return 0
    case $name in
    command | builtin | exec | time | nohup | setsid | nice | ionice | timeout | stdbuf)
        case ${2-} in -[vV]) return ;; esac
        judge_wrapped "$@" ;;
    env)
        case " $* " in *' -C'* | *' --ch'*) elsewhere=yes ;; esac
        judge_wrapped "$@" ;;
    ssh | mosh)
        remote=yes runs_shell=yes
        shift
        later "$*"
        judge_wrapped "$@" ;;
    sudo | doas | pkexec | su | run0 | runuser | busybox | toybox | cgexec | chroot | chrt | choom | \
        coproc | cpulimit | dbus-run-session | entr | expect | fakeroot | firejail | bwrap | flock | \
        function | gosu | linux32 | linux64 | nsenter | numactl | parallel | prlimit | proot | \
        runcon | script | setarch | setpriv | sshpass | strace | ltrace | systemd-inhibit | \
        systemd-run | taskset | tini | unbuffer | unshare | valgrind | watch | xargs | xvfb-run)
        elsewhere=yes
        judge_wrapped "$@" ;;
    *)
        judge_command "$@"
        name=${1##*/}
        shift
        operands=$*
        IFS=$newline
        lines=$*
        IFS=$blank ;;
    esac
}

# judge_wrapped WRAPPER WORD...: it runs a command that begins at one of the words. Which one is
# not asked: options and their values are too many to know. After 64 words none begins.
judge_wrapped() {
    name='' looked=0
    texts_in "$@"
    while [ $# -gt 0 ] && [ $looked -lt 64 ]; do
        looked=$((looked + 1))
        judge_command "$@"
        found=${1##*/}
        shift
        case $found in
        curl | wget | fetch | eval | source | . | echo | printf) ;;
        *) is_interpreter "$found" || continue ;;
        esac
        [ "$name" ] || name=$found operands=$*
    done
}

# texts_in WORD...: what has blanks in it may be a command, also behind `-c` or `--command=`.
texts_in() {
    for argument; do
        case $argument in
        --*=*[$blank]*) later "${argument#*=}" ;;
        -?*[$blank]*) later "${argument#-?}" ;;
        *[$blank]*) later "$argument" ;;
        esac
    done
}

judge_command() {
    case ${1##*/} in
    sudo | doas | pkexec | su | run0 | runuser)
        refuse sudo "\`$quoted\` asks for another user's rights" \
            "do it without ${1##*/}, or ask the person to run this command" ;;
    cd) change_folder "$@" ;;
    pushd | popd) here='' moved=yes ;;
    eval) shift; later "$*" ;;
    trap) later "${2-}" ;;
    find) judge_find "$@" ;;
    rm) judge_rm "$@" ;;
    git) judge_git "$@" ;;
    truncate)
        case "$* " in *' -s 0 '* | *' -s0 '* | *' --s'*[=\ ]'0 '*)
            refuse truncate "\`$quoted\` empties a file for good" "copy it first, or write the new content" ;;
        esac ;;
    chmod) judge_mode "$@" ;;
    chown | chgrp)
        case "$* " in *' 777:'* | *:777\ *)
            refuse chmod-777 "\`$quoted\` gives files to an unknown owner" "name the owner" ;;
        esac ;;
    mkfs | mkfs.* | mke2fs | newfs | newfs_* | wipefs | mkswap | blkdiscard)
        refuse mkfs "\`$quoted\` wipes a file system" "ask the person to run this command" ;;
    dd)
        for argument; do
            case $argument in
            of=/dev/null | of=/dev/zero | of=/dev/full | of=/dev/std* | of=/dev/fd/* | of=/dev/shm/*) ;;
            of=/dev/*) refuse_device "${argument#of=}" ;;
            esac
        done ;;
    tee | shred | sponge | sgdisk | sfdisk | pvcreate) for argument; do judge_target "$argument"; done ;;
    cp | mv | install | rsync | ddrescue | dcfldd)
        for argument; do :; done
        judge_target "$argument" ;;
    terraform | tofu | terragrunt | pulumi | cdk | cdktf)
        case " $* " in *' destroy '* | *' -destroy '* | *' --destroy '*)
            refuse terraform-destroy "\`$quoted\` takes down what is running" \
                "plan it, and let the person apply it" ;;
        esac ;;
    kubectl | oc | helm)
        case " $* " in
        *' --dry-run'*) ;;
        *' delete '* | *' uninstall '*)
            refuse kubectl-delete "\`$quoted\` takes down what is running" \
                "look with --dry-run=client, and let the person do it" ;;
        esac ;;
    docker | podman | docker-compose)
        case " $* " in
        *' prune '* | *' volume rm '* | *[\ -]compose*' down'*' -v '* | *[\ -]compose*' down'*' --vol'*)
            refuse docker-prune "\`$quoted\` deletes data of other containers and projects too" \
                "remove by name what you have made" ;;
        esac ;;
    dropdb | psql | mysql | mariadb | sqlite3 | sqlcmd | duckdb | clickhouse* | mongo | mongosh)
        case "${1##*/} $everything" in
        "dropdb "* | *[Dd][Rr][Oo][Pp]\ [TtDdSs][AaCc][BbTtHh][LlAaEe]* | *.drop\(* | *.dropDatabase\(* | \
            *[Tt][Rr][Uu][Nn][Cc][Aa][Tt][Ee]\ [Tt][Aa][Bb]*)
            refuse drop-table "\`$quoted\` deletes data of a database for good" \
                "rename the table, or ask the person to do it" ;;
        esac ;;
    *)
        if is_shell "$1"; then
            runs_shell=yes
            texts_in "$@"
        fi ;;
    esac
}

is_shell() {
    case ${1##*/} in sh | bash | dash | zsh | ksh | ash | fish) ;; *) return 1 ;; esac
}

is_interpreter() {
    case ${1##*/} in
    python* | ipython* | node | perl | ruby | irb | php | lua) ;;
    *) is_shell "$1" ;;
    esac
}

# change_folder cd FOLDER: sets `here`, where the next command runs; empty if that is not known.
change_folder() {
    moved=yes
    [ "$2" != -- ] || shift
    case $#:$operator:${2-} in
    *['$`*?[']* | *:~* | 2:*:-* | 2:'|'*) here='' ;;
    2:'&'*) ;;
    2:*:/*) here=$2 ;;
    2:*) here=${here:+$here/$2} ;;
    *) here='' ;;
    esac
    [ -d "$here" ] || here=''
}

# is_expendable PATH: nobody misses it.
is_expendable() {
    [ -z "$elsewhere$remote" ] || return 1
    path=$1 last=''
    case $path in
    '$TMPDIR'/* | '${TMPDIR}'/*) path=${TMPDIR:+$TMPDIR/${path#*/}} ;;
    /*) ;;
    *) path=${here:+$here/$path} ;;
    esac
    case $path/ in / | *['$`{~'"$newline"]* | */../*) return 1 ;; esac
    # Of what a pattern stands for the folder counts, and a folder with a slash is what it leads to.
    case $path in
    *[*?[]*) path=${path%%[*?[]*}; path=${path%/*} ;;
    */) path=${path%/} ;;
    *) last=/${path##*/} path=${path%/*} ;;
    esac
    until real=$(cd -P -- "${path:-/}" 2>/dev/null && pwd -P); do
        last=/${path##*/}$last path=${path%/*}
    done
    base=$real real=${real%/}$last
    case $real/ in */./* | */.env/* | */.env.*) return 1 ;; esac
    for project in "${HOOKRUN_PROJECT_DIR:-$PWD}" "$PWD"; do
        project=$(cd -P -- "$project" && pwd -P) || return 1
        case $project/ in "${real%/}"/*) return 1 ;; esac
        case $real in "${project%/}"/?*)
            git -C "$base" -c core.fsmonitor=false check-ignore -q -- "$real" 2>/dev/null
            return ;;
        esac
    done
    for folder in /tmp /var/tmp "${TMPDIR:-/tmp}"; do
        folder=$(cd -P -- "$folder" 2>/dev/null && pwd -P) || continue
        case $real in "${folder%/}"/?*) return 0 ;; esac
    done
    return 1
}

# judge_deleted RULE WORD...: what is deleted; options do not count.
judge_deleted() {
    rule=$1 ended='' named=''
    shift
    for argument; do
        case $ended$argument in --) ended=yes; continue ;; -*) continue ;; esac
        is_expendable "$argument" || { named=''; break; }
        named=yes
    done
    [ "$named" ] || refuse "$rule" "\`$quoted\` deletes for good, and not only what git ignores" \
        "move it aside with mv, or delete files by name with plain rm"
}

judge_rm() {
    shift
    recursive='' ended=''
    for argument; do
        case $ended$argument in
        --) ended=yes ;;
        --r* | -[!-]*[rR]* | -[rR]*) recursive=yes ;;
        esac
    done
    [ -z "$recursive" ] || judge_deleted rm-rf "$@"
}

judge_find() {
    starts='' begun='' deletes=''
    while [ $# -gt 1 ]; do
        shift
        case $1 in
        -exec | -execdir | -ok | -okdir)
            shift
            case ${1##*/} in rm | unlink | shred) deletes=yes ;; esac
            # What stands for the files is not known.
            [ $# -eq 0 ] || judge "$@" ;;
        -delete) deletes=yes ;;
        -[HLPOD]*) ;;
        -* | '(' | '!') begun=yes ;;
        *) [ "$begun" ] || starts=$starts$1$tab ;;
        esac
    done
    name='find' operands='' elsewhere=''
    [ "$deletes" ] || return 0
    IFS=$tab
    set -- ${starts:-.}
    IFS=$blank
    judge_deleted find-delete -- "$@"
}

judge_mode() {
    shift
    mode=''
    for argument; do
        case $argument in --* | -[RcfvhHLP]*) ;; *) mode=$argument; break ;; esac
    done
    opens=''
    case $mode in
    *[!0-7]*)
        IFS=,
        for clause in $mode; do
            case $clause in [!+=-]*[-+=]*) ;; *) continue ;; esac
            case ${clause%%[-+=]*}:${clause#*[-+=]} in *[oa]*:*w*) opens=$opens${clause%%w*} ;; esac
        done
        IFS=$blank
        case $opens in *[+=]*) ;; *) opens='' ;; esac ;;
    *[2367]) opens=yes ;;
    esac
    [ -z "$opens" ] || refuse chmod-777 "\`$quoted\` lets everyone write" \
        "give the owner what is missing, as in chmod u+rwx"
}

judge_git() {
    shift
    while [ $# -gt 0 ]; do
        case $1 in
        -c | -C | --git-dir | --work-tree | --namespace)
            case ${2-} in *=!*) later "${2#*!}" ;; esac
            [ $# -eq 1 ] || shift ;;
        -*) ;;
        *) break ;;
        esac
        shift
    done
    [ $# -gt 0 ] || return 0
    verb=$1 force='' dry='' paths='' whole='' staged='' delete=''
    shift
    for argument; do
        # Git takes the beginnings of long options.
        case $verb:$argument in
        *:--) paths=yes ;;
        push:--force | push:--mi* | push:--de* | push:--pru* | push:[+:]?* | clean:--f* | reset:--h*) force=yes ;;
        checkout:--f* | switch:--f* | switch:--disc* | branch:--f*) force=yes ;;
        branch:--de*) delete=yes ;;
        clean:--d*) dry=no ;;
        restore:--st* | restore:-S) staged=yes ;;
        restore:--w* | restore:-*W*) staged=no ;;
        gc:--prune=now | gc:--prune=all) force=yes ;;
        *:--* | push:-o*) ;;
        clean:-*n*) dry=no ;;
        push:-*[fd]* | clean:-*f* | checkout:-*f* | switch:-*f*) force=yes ;;
        branch:-*D* | branch:-*d*f* | branch:-*f*d*) delete=yes force=yes ;;
        branch:-*d*) delete=yes ;;
        branch:-*f*) force=yes ;;
        stash:drop | stash:clear | reflog:expire | reflog:delete) force=yes ;;
        *:. | *:.. | *::/*) whole=yes ;;
        checkout:* | restore:*)
            # A folder, where it cannot be the name of a branch.
            case $verb$paths:$argument in
            *:-*) ;;
            *:*/ | *:*'*'*) whole=yes ;;
            checkoutyes:* | restore*:*) [ ! -d "$here/$argument" ] || whole=yes ;;
            esac ;;
        esac
    done
    case $verb:${dry:-$force}:$whole:$staged:$delete in
    push:yes:*) refuse force-push "\`$quoted\` overwrites or deletes what others have pushed" \
        "push without force, or with --force-with-lease" ;;
    reset:yes:*) refuse reset-hard "\`$quoted\` throws away uncommitted work" \
        "git stash first, or git reset --keep" ;;
    clean:yes:*) refuse git-clean "\`$quoted\` deletes files that git cannot bring back" \
        "look with git clean -n, then delete files by name" ;;
    checkout:yes:* | switch:yes:* | checkout:*:yes:* | restore:*:yes::* | restore:*:yes:no:*)
        refuse discard "\`$quoted\` throws away uncommitted work" "git stash first, or name single files" ;;
    stash:yes:*) refuse stash-drop "\`$quoted\` throws away stashed work" "leave it, or git stash pop" ;;
    branch:yes:*:yes) refuse branch-delete "\`$quoted\` deletes commits that are nowhere else" \
        "git branch -d, which keeps what is not merged" ;;
    reflog:yes:* | gc:yes:*) refuse git-reflog "\`$quoted\` deletes what git could bring back" "leave it to git gc" ;;
    esac
}

# judge_target FILE: something that a command writes to.
judge_target() {
    case $1 in
    /dev/[shv]d[a-z]* | /dev/xvd* | /dev/nvme* | /dev/mmcblk* | /dev/disk* | /dev/rdisk* | \
        /dev/mapper/* | /dev/dm-* | /dev/md[0-9]* | /dev/loop[0-9]*) refuse_device "$1" ;;
    esac
}

refuse_device() {
    refuse raw-disk "writing to $1 destroys what is on that device" \
        "write to a file, or ask the person to do it"
}

# judge_pipe OPERATOR: what the command is to its pipeline; the operator stands behind it.
judge_pipe() {
    executed=''
    case $name in
    curl | wget | fetch) fetched=yes executed=$feeds_shell ;;
    echo | printf)
        printed="$printed $operands"
        # Each operand may be a line.
        [ "$name" = echo ] || printed=$printed$newline$lines
        [ -z "$feeds_shell" ] || later "$printed" ;;
    eval | source | .) executed=yes ;;
    *)
        if is_shell "$name"; then
            executed=yes
            later "$printed"
        elif is_interpreter "$name"; then
            # With a script of its own (python3 -m json.tool) it only reads the data.
            case $operands in '' | -) executed=yes ;; esac
        fi ;;
    esac
    [ "$fetched$executed" != yesyes ] || refuse pipe-to-shell \
        'this runs a download unread' 'save it to a file, read it, then run the file'
    [ "$1$piped$words" != "&yes$before" ] || [ "$words" != "$name$tab" ] || refuse fork-bomb \
        "\`$name | $name &\` multiplies until the machine stops" 'run it once, and wait for it'
    [ -z "$piped$fed$feeds_shell" ] || return 0
    is_interpreter "$name" || return 0
    for argument in $operands; do
        case $argument in -[ilaquesx] | -li | -il | --login | --interactive | --no*) ;; *) return 0 ;; esac
    done
    refuse bare-shell "\`$quoted\` has nothing to run, and no guard sees what is typed into it" \
        "run the commands themselves, or a file: sh -c '...', python3 file.py"
}

# --- Finding the commands --------------------------------------------------------------
# A line is read in pieces without blanks; `rest` is what is left of one, `word` the word
# being read, `words` those of the command, a tab behind each. What surrounds a $( ) waits
# on a stack until it ends.

# later TEXT: to be scanned for commands of its own.
later() { [ -z "$1" ] || queue=$queue$1$tab; }

end_word() {
    [ "$word" ] || return 0
    case $role in
    argument) words=$words$word$tab ;;
    target) judge_target "$word" ;;
    delimiter) heredoc=$word ;;
    esac
    word='' role=argument
}

# The number of a redirect, as in 2> or {fd}>, is not a word.
end_descriptor() {
    case $word in '{'[A-Za-z_]*'}') word='' ;; *[!0-9]*) end_word ;; *) word='' ;; esac
}

# end_command OPERATOR: judges what was read.
end_command() {
    end_word
    role=argument
    words=${words#"{$tab"}
    if [ "$words" ]; then
        IFS=$tab
        set -- "$1" $words
        IFS=$blank
        operator=$1
        shift
        judge "$@"
        judge_pipe "$operator"
        set -- "$operator"
    fi
    before=$words words=''
    case $1 in
    '|') piped=yes ;;
    '(' | ')') ;;
    *) piped='' fetched='' printed='' ;;
    esac
    fed=''
}

# enter KIND: begins a substitution, a group or a backtick.
enter() {
    depth=$((depth + 1))
    eval "kind_$depth=\$kind quote_$depth=\$quote word_$depth=\$word words_$depth=\$words role_$depth=\$role
        piped_$depth=\$piped fetched_$depth=\$fetched feeds_shell_$depth=\$feeds_shell fed_$depth=\$fed
        printed_$depth=\$printed here_$depth=\$here nested_$depth=\$nested"
    kind=$1
    [ "$kind" != group ] || return 0
    feeds_shell='' nested=0
    IFS=$tab
    for argument in $words; do
        case $argument in eval | source | .) feeds_shell=yes ;; esac
        ! is_shell "$argument" || feeds_shell=yes
    done
    IFS=$blank
    quote='' word='' words='' role=argument piped='' fetched='' printed='' fed=''
}

leave() {
    [ $depth -gt 0 ] || return 0
    # A group is part of the pipeline around it; a substitution is not.
    [ "$kind" = group ] || eval "quote=\$quote_$depth word=\$word_$depth words=\$words_$depth role=\$role_$depth
        piped=\$piped_$depth fetched=\$fetched_$depth feeds_shell=\$feeds_shell_$depth fed=\$fed_$depth
        printed=\$printed_$depth nested=\$nested_$depth"
    eval "kind=\$kind_$depth here=\$here_$depth"
    depth=$((depth - 1))
}

# A character behind a backslash is a letter like any other.
read_escaped() {
    rest=${rest#?}
    case $rest in
    [\'\"\\\;\&\|\(\)\<\>\`\$\#]*) word=$word${rest%"${rest#?}"} rest=${rest#?} ;;
    esac
}

read_backtick() {
    rest=${rest#?}
    if [ "$kind" = backtick ]; then
        end_command ')'
        leave
    else
        word="$word\$"
        enter backtick
    fi
}

read_plain() {
    piece=${rest%%[\'\"\\\;\&\|\(\)\<\>\`\$\#]*}
    word=$word$piece
    [ "$piece" != "$rest" ] || { rest=''; return; }
    rest=${rest#"$piece"}
    case $rest in
    "'"*) rest=${rest#?} quote=single ;;
    '"'*) rest=${rest#?} quote=double ;;
    \\?*) read_escaped ;;
    \\) rest='' joined=yes ;;
    '#'*) if [ "$word" ]; then rest=${rest#?} word="$word#"; else rest='' comment=yes; fi ;;
    '$(('*) rest=${rest#???} word="$word\$"; enter arithmetic; quote=sum ;;
    '(('*) rest=${rest#??}; end_command '('; enter arithmetic; quote=sum ;;
    '$('*) rest=${rest#??} word="$word\$"; enter substitution ;;
    '<('* | '>('*) rest=${rest#??} fed=yes; enter substitution ;;
    "\$'"* | '$"'*) rest=${rest#?} ;;
    '$'*) rest=${rest#?} word="$word\$" ;;
    '`'*) read_backtick ;;
    '<<<'*) end_descriptor; rest=${rest#???} fed=yes ;;
    '<<'*)
        end_descriptor
        fed=yes
        rest=${rest#??} role=delimiter literal=''
        rest=${rest#-}
        case $rest in [\'\"\\]*) literal=yes ;; esac ;;
    '<'*) end_descriptor; rest=${rest#?} role=source fed=yes; rest=${rest#[\>\&]} ;;
    '>'* | '&>'*) end_descriptor; rest=${rest#\&} role=target; rest=${rest#?}; rest=${rest#[\>\&\|]} ;;
    '&&'* | ';;'*) rest=${rest#??}; end_command ';' ;;
    '||'*) rest=${rest#??}; end_command '||' ;;
    '|&'*) rest=${rest#??}; end_command '|' ;;
    '|'*) rest=${rest#?}; end_command '|' ;;
    '&'*) rest=${rest#?}; end_command '&' ;;
    ';'*) rest=${rest#?}; end_command ';' ;;
    '('*) rest=${rest#?}; end_command '('; enter group ;;
    ')'*) rest=${rest#?}; end_command ')'; leave ;;
    esac
}

read_single() {
    case $rest in
    *\'*) word=$word${rest%%\'*} rest=${rest#*\'} quote='' ;;
    *) word=$word$rest rest='' ;;
    esac
}

read_double() {
    piece=${rest%%[\"\\\`\$]*}
    word=$word$piece
    [ "$piece" != "$rest" ] || { rest=''; return; }
    rest=${rest#"$piece"}
    case $rest in
    '"'*) rest=${rest#?} quote='' ;;
    \\?*) read_escaped ;;
    \\) rest='' ;;
    '$(('*) rest=${rest#???} word="$word\$"; enter arithmetic; quote=sum ;;
    '$('*) rest=${rest#??} word="$word\$"; enter substitution ;;
    '$'*) rest=${rest#?} word="$word\$" ;;
    '`'*) read_backtick ;;
    esac
}

# What is computed has << and # in it, and ends at )). If it ends at one ) it was commands.
read_sum() {
    piece=${rest%%[\(\)\`\$]*}
    word=$word$piece
    [ "$piece" != "$rest" ] || { rest=''; return; }
    rest=${rest#"$piece"}
    case $nested:$rest in
    *:'$(('*) rest=${rest#???}; enter arithmetic; quote=sum ;;
    *:'$('*) rest=${rest#??}; enter substitution ;;
    *:'$'*) rest=${rest#?} ;;
    *:'`'*) read_backtick ;;
    *:'('*) rest=${rest#?} word="$word(" nested=$((nested + 1)) ;;
    0:'))'*) rest=${rest#??}; leave ;;
    0:*) rest=${rest#?} kind=substitution quote=''; later "$word"; word='' ;;
    *) rest=${rest#?} word="$word)" nested=$((nested - 1)) ;;
    esac
}

skip_heredoc() {
    if [ "${line#"${line%%[!"$tab"]*}"}" != "$heredoc" ]; then
        skipped=$skipped$line$newline
        return
    fi
    # It is text for some other program, but what stands in a $( ) is run on the way.
    case $literal$skipped in
    yes*) ;;
    *'$('*) later "${skipped#*\$\(}" ;;
    *'`'*) later "${skipped#*\`}" ;;
    esac
    heredoc='' skipped=''
}

# scan TEXT: finds the commands in it and has each one judged.
scan() {
    depth=0 kind='' quote='' word='' words='' role=argument before='' piped='' fetched='' feeds_shell=''
    heredoc='' literal='' skipped='' runs_shell='' joined='' fed='' printed='' nested=0
    IFS=$newline
    set -- $1
    IFS=$blank
    for line; do
        if [ "$heredoc" ]; then
            skip_heredoc
            continue
        fi
        # The gap before a piece ends a word, unless it is quoted; and behind a line that
        # ends in a backslash there is none.
        gap=blank comment=''
        case $joined$line in yes[!$blank]*) gap=none ;; esac
        joined=''
        for rest in $line; do
            case $gap:$quote$joined in
            none:*) ;;
            blank:) end_word ;;
            *) word="$word " ;;
            esac
            gap=blank joined=''
            while [ "$rest" ]; do "read_${quote:-plain}"; done
            [ -z "$comment" ] || break
        done
        [ -z "$quote" ] || { word=$word$newline; continue; }
        [ -z "$joined" ] || continue
        end_command ';'
        [ -z "$runs_shell$feeds_shell" ] || heredoc=''
        runs_shell=''
    done
    # A quote or here-document without an end: the shell fails on it, or it was read wrongly
    # here. What stands in it then counts as commands too.
    [ -z "$quote" ] || later "$word"
    later "$skipped"
    end_command ';'
    while [ $depth -gt 0 ]; do
        leave
        end_command ';'
    done
}

# A command that did not fit into the environment is not one that may go unread.
case "${HOOKRUN_ACTION_COMMAND+passed} ${HOOKRUN_ACTION_KIND-} ${HOOKRUN_TRUNCATED-} " in
passed\ *) ;;
*' HOOKRUN_ACTION_COMMAND '* | ' shell '*)
    echo 'this command is too long to be checked, and is blocked unread' >&2
    echo 'instead: put the long part in a file with the write tool, then run a short command' >&2
    exit 1 ;;
esac

queue='' everything=${HOOKRUN_ACTION_COMMAND-} here=$PWD moved='' remote=''
scan "$everything"
while [ "$queue" ]; do
    first=${queue%%"$tab"*}
    queue=${queue#*"$tab"}
    # Where it runs is not known, if there was a cd before.
    [ -z "$moved" ] || here=''
    scan "$first"
done
