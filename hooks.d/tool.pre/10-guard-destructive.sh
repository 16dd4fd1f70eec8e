#!/bin/sh
# Refuses shell commands that destroy what nobody can bring back.
#
# Every simple command is judged, wherever it stands: after ; && || | & and newlines, in
# ( ), $( ), <( ) and backticks, behind sudo, env, xargs, timeout, find -exec and their like,
# in `sh -c '...'`, `eval`, ssh, and a here-document that a shell reads. Words are unquoted
# first: "rm" -r\f is rm -rf, and `git commit -m 'no rm -rf'` is only text.
# It steers an agent that means well; it is no wall against one that hides (x=rm; $x -rf /).
#
# Tune: HOOKRUN_GUARD_ALLOW, the rules to leave out, separated by spaces:
#   rm-rf sudo chmod-777 force-push reset-hard git-clean mkfs raw-disk pipe-to-shell fork-bomb
#
# hookrun: command=. priority=10

# shellcheck disable=SC2016,SC2086,SC2088  # Shell syntax is the subject here; splitting is meant.
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

# --- What is refused -------------------------------------------------------------------

# judge WORD...: one simple command, unquoted. Sets `name`, the command that really runs.
judge() {
    quoted=$*
    case $quoted in *"$newline"*) quoted="${1##*/} ..." ;; esac
    [ ${#quoted} -le 100 ] || quoted="${1##*/} ..."

    # Take off what only runs another command, with its options, their values, and the
    # operands (a duration, a host) that stand before that command.
    while [ $# -gt 0 ]; do
        name=${1##*/} valued='' operands=0
        case $1 in
        [A-Za-z_]*=* | '!' | '{' | if | then | elif | else | while | until | do) shift; continue ;;
        esac
        case $name in
        sudo | doas | pkexec | su)
            refuse sudo "\`$quoted\` asks for another user's rights" \
                "do it without $name, or ask the person to run this command"
            valued=CDghpRrTtUu ;;
        env) valued=CuS ;;
        xargs) valued=adEILnPs ;;
        nice | watch) valued=n ;;
        ionice) valued=cnp ;;
        stdbuf) valued=ioe ;;
        parallel) valued=jN ;;
        timeout) valued=ks operands=1 ;;
        function | chroot) operands=1 ;;
        ssh) valued=bcDEeFIiJLlmOopQRSWw operands=1 ;;
        time | nohup | setsid | command | builtin | exec | coproc | busybox) valued=afo ;;
        *) break ;;
        esac
        shift
        while [ $# -gt 0 ]; do
            case $1 in
            --) shift; break ;;
            -?) case $valued in *"${1#-}"*) [ $# -eq 1 ] || shift ;; esac; shift ;;
            -* | [A-Za-z_]*=*) shift ;;
            *) [ $operands -gt 0 ] || break; operands=$((operands - 1)); shift ;;
            esac
        done
        [ "$name" != ssh ] || break
    done
    case ${1-} in *[$blank]*) later "$*" ;; esac

    if is_shell "$name"; then
        runs_shell=yes
        for argument; do
            case $argument in *[$blank]*) later "$argument" ;; esac
        done
    fi
    case $name in
    ssh) runs_shell=yes; later "$*" ;;
    eval) shift; later "$*" ;;
    trap) later "${2-}" ;;
    find)
        while [ $# -gt 1 ]; do
            shift
            case $1 in -exec | -execdir | -ok | -okdir) shift; judge "$@" ;; esac
        done
        name='find' ;;
    rm) judge_rm "$@" ;;
    git) judge_git "$@" ;;
    chmod | chown | chgrp)
        for argument; do
            case $argument in
            777 | ?777 | 777:* | *:777 | a[+=]rwx | ugo[+=]rwx)
                refuse chmod-777 "\`$quoted\` opens files to everyone" \
                    "give the owner what is missing, as in chmod u+rwx" ;;
            esac
        done ;;
    mkfs | mkfs.* | mke2fs | newfs | newfs_* | wipefs)
        refuse mkfs "\`$quoted\` wipes a file system" "ask the person to run this command" ;;
    dd)
        for argument; do
            case $argument in
            of=/dev/null | of=/dev/zero | of=/dev/full | of=/dev/std* | of=/dev/fd/* | of=/dev/shm/*) ;;
            of=/dev/*) refuse_device "${argument#of=}" ;;
            esac
        done ;;
    tee | shred) for argument; do judge_target "$argument"; done ;;
    esac
}

is_shell() {
    case ${1##*/} in sh | bash | dash | zsh | ksh | ash | fish) ;; *) return 1 ;; esac
}

judge_rm() {
    recursive='' force='' everything='' ended=''
    shift
    for argument; do
        case $ended$argument in
        --) ended=yes ;;
        --r*) recursive=yes ;;
        --f*) force=yes ;;
        --*) ;;
        -*[rR]*f* | -*f*[rR]*) recursive=yes force=yes ;;
        -*[rR]*) recursive=yes ;;
        -*f*) force=yes ;;
        *)
            case ${argument%/} in
            '' | '/*' | '~' | '~/*' | '$HOME' | '${HOME}' | '$HOME/*' | . | .. | '*' | './*') everything=yes ;;
            esac ;;
        esac
    done
    [ "$recursive" ] || return 0
    [ -z "$force" ] || refuse rm-rf "\`$quoted\` deletes for good and asks nobody" \
        "move it aside with mv, or delete files by name with plain rm"
    [ -z "$everything" ] || refuse rm-rf "\`$quoted\` deletes everything there is" \
        "name what is to be deleted"
}

judge_git() {
    shift
    while [ $# -gt 0 ]; do
        case $1 in
        -C | -c | --git-dir | --work-tree | --namespace) [ $# -eq 1 ] || shift ;;
        -*) ;;
        *) break ;;
        esac
        shift
    done
    verb=${1-} force='' dry=''
    for argument; do
        case $verb:$argument in
        push:--force | push:--mirror | push:+?* | clean:--force) force=yes ;;
        reset:--hard) force=yes ;;
        clean:--dry-run) dry=no ;;
        *:--* | push:-o*) ;;
        clean:-*n*) dry=no ;;
        push:-*f* | clean:-*f*) force=yes ;;
        esac
    done
    case $verb:${dry:-$force} in
    push:yes) refuse force-push "\`$quoted\` overwrites what others have pushed" \
        "push without force, or with --force-with-lease" ;;
    reset:yes) refuse reset-hard "\`$quoted\` throws away uncommitted work" \
        "git stash first, or git reset --keep" ;;
    clean:yes) refuse git-clean "\`$quoted\` deletes files that git cannot bring back" \
        "look with git clean -n, then delete files by name" ;;
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
    case $name in
    curl | wget | fetch) fetched=yes; executed=$feeds_shell ;;
    eval | source | .) executed=yes ;;
    # With a script of its own (python3 -m json.tool) it only reads the data.
    python* | perl | ruby | node) case ${words#*"$tab"} in '' | "-$tab") executed=yes ;; *) executed='' ;; esac ;;
    *) executed=''; ! is_shell "$name" || executed=yes ;;
    esac
    [ "$fetched$executed" != yesyes ] || refuse pipe-to-shell \
        'this runs a download that nobody has read' 'save it to a file, read it, then run the file'
    [ "$1$piped$words" != "&yes$before" ] || [ "$words" != "$name$tab" ] || refuse fork-bomb \
        "\`$name | $name &\` multiplies until the machine stops" 'run it once, and wait for it'
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

# The number of a redirect, as in 2>, is not a word.
end_descriptor() {
    case $word in *[!0-9]*) end_word ;; *) word='' ;; esac
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
    *) piped='' fetched='' ;;
    esac
}

# enter KIND: begins a substitution, a group or a backtick.
enter() {
    depth=$((depth + 1))
    eval "kind_$depth=\$kind quote_$depth=\$quote word_$depth=\$word words_$depth=\$words role_$depth=\$role
        piped_$depth=\$piped fetched_$depth=\$fetched feeds_shell_$depth=\$feeds_shell"
    kind=$1
    [ "$kind" != group ] || return 0
    feeds_shell=''
    case ${words%%"$tab"*} in
    eval | source | .) feeds_shell=yes ;;
    *) ! is_shell "${words%%"$tab"*}" || feeds_shell=yes ;;
    esac
    quote='' word='' words='' role=argument piped='' fetched=''
}

leave() {
    [ $depth -gt 0 ] || return 0
    # A group is part of the pipeline around it; a substitution is not.
    [ "$kind" = group ] || eval "quote=\$quote_$depth word=\$word_$depth words=\$words_$depth role=\$role_$depth
        piped=\$piped_$depth fetched=\$fetched_$depth feeds_shell=\$feeds_shell_$depth"
    eval "kind=\$kind_$depth"
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
    '$('* | '<('* | '>('*) rest=${rest#??}; enter substitution ;;
    "\$'"* | '$"'*) rest=${rest#?} ;;
    '$'*) rest=${rest#?} word="$word\$" ;;
    '`'*) read_backtick ;;
    '<<<'*) end_descriptor; rest=${rest#???} ;;
    '<<'*)
        end_descriptor
        rest=${rest#??} role=delimiter literal=''
        rest=${rest#-}
        case $rest in [\'\"\\]*) literal=yes ;; esac ;;
    '<'*) end_descriptor; rest=${rest#?} role=source; rest=${rest#[\>\&]} ;;
    '>'* | '&>'*) end_descriptor; rest=${rest#\&} role=target; rest=${rest#?}; rest=${rest#[\>\&\|]} ;;
    '&&'* | '||'* | ';;'*) rest=${rest#??}; end_command ';' ;;
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
    '$('*) rest=${rest#??}; enter substitution ;;
    '$'*) rest=${rest#?} word="$word\$" ;;
    '`'*) read_backtick ;;
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
    heredoc='' literal='' skipped='' runs_shell='' joined=''
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
    echo 'this command is longer than 32 KiB, too long to be checked, and is refused unread' >&2
    echo 'instead: put the long part in a file with the write tool, then run a short command' >&2
    exit 1 ;;
esac

queue=''
scan "${HOOKRUN_ACTION_COMMAND-}"
while [ "$queue" ]; do
    first=${queue%%"$tab"*}
    queue=${queue#*"$tab"}
    scan "$first"
done
