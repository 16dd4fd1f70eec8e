//! What is found in each form of a command line.

use std::process::Command;

use hookrun::internals::shell;

use super::{shown, word};

/// Checks texts and the commands that are expected in them.
fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, shown(text)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(text, expected, found)| {
            format!("{text}\n  expected: {expected}\n  found:    {found}")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_command_is_found_wherever_it_is() {
    check(&[
        ("", ""),
        ("  # rm x", ""),
        ("ls -l", "ls -l"),
        ("a; b & c && d || e | f |& g\nh", "a\nb\nc\nd\ne\nf\ng\nh"),
        ("a\\\n b", "a b"),
        ("(a; b); { c; d; }", "a\nb\nc\nd"),
        ("((a); b)", "a\nb"),
        ("if a; then b; elif c; then d; else e; fi", "a\nb\nc\nd\ne"),
        ("while a; do b; done; until c; do d; done", "a\nb\nc\nd"),
        ("for i in $(a) b; do c $i; done", "a\nc ?"),
        ("for ((i = $(a); i < 9; i++)); do b; done", "a\nb"),
        ("select i in a b; do c; done", "c"),
        (
            "case $(a) in b) c;; (d | e) f;& *) g;;& x) esac",
            "a\nc\nf\ng",
        ),
        ("f() { a; }; function g { b; }; h() (c)", "a\nb\nc"),
        ("coproc a b; coproc { c; }; coproc N { d; }", "a b\nc\nd"),
        ("coproc {\na\n}", "a"),
        ("coproc $(a) { b; }", "a\nb"),
        (
            "! a; time b; time -p c; time -- d; a | ! e",
            "a\nb\nc\nd\na\ne",
        ),
        (
            "echo $(a) \"$(b \"$(c)\")\" `d \\`e\\``",
            "a\nc\nb ?\ne\nd ?\necho ? ? ?",
        ),
        (
            "echo ${x:-$(a)} \"${x:-`b`}\" ${x/'$(c)'/$(d)}",
            "a\nb\nc\nd\necho ? ? ?",
        ),
        (
            "echo $((1 + $(a))) $[ $(b) ] $((1 << 2))",
            "a\nb\necho ? ? ?",
        ),
        ("(( x = 1 << 2 )); (( $(a) ))", "a"),
        ("echo $((a); b)", "a\nb\necho ?"),
        ("diff <(a) <(b 2>&1) >(c)", "a\nb\nc\ndiff ? ? ?"),
        (
            "[[ -n <(a) && $(b) == c ]]; for i in <(d); do e; done",
            "a\nb\nd\ne",
        ),
        ("x=$(a) y=(1 $(b)) z[$(c)]=1", "a\nb\nc"),
        ("a < $(b) > \"$(c)\" <<< $(d)", "b\nc\nd\na <? >?"),
        ("cat <<E\n$(a) `b`\nE\nc", "a\nb\ncat\nc"),
        ("cat <<'E'\n$(a)\nE\nc", "cat\nc"),
        ("cat <<-E\n\t$(a)\n\tE\nc", "a\ncat\nc"),
        ("x=\"$(cat <<'E'\nDon't )\nE\n)\"; a", "cat\na"),
        (
            "git commit -m \"$(cat <<'EOF'\nDon't rm -rf\n\n- it's $(x) `y` )\nEOF\n)\" && a",
            "cat\ngit commit -m ?\na",
        ),
        ("eval 'a b' \"; c\"", "eval> a b\neval> c"),
        (
            "trap 'a' EXIT; trap - INT; trap -p",
            "trap a EXIT\ntrap> a\ntrap - INT\ntrap -p",
        ),
        ("bash -c 'a; b $1' _ x", "bash> a\nbash> b ?"),
        ("python3 a; node d; ruby x", "python3 a\nnode d\nruby x"),
        (
            "bash -c 'bash -c \"a; \\$x\"'",
            "bash> bash> a\nbash> bash> ?",
        ),
        ("bash <<E\na $x\nE", "bash> a ?"),
        ("bash -s <<< 'a; b'", "bash> a\nbash> b"),
        (
            "cat <<E > o; tee $(a) ${x:-`b`} $((1<<2))\ntext\nE\nc",
            "cat >o\na\nb\ntee ? ? ?\nc",
        ),
        (
            "x=$(case $y in a) b;; (c) d;; esac); e \"$(case a in esac; f)\"",
            "b\nd\nf\ne ?",
        ),
        (
            "x=$(echo case; a); cat <(cat <<E\n)\nE\n)",
            "echo case\na\ncat\ncat ?",
        ),
        ("(case a in b) c;; (d) e;; esac)", "c\ne"),
        (
            "( ( a ) ); ( \\\n ( b; ( c ) ) ); ((d) ); (((e)) ); f && ( (g) | (h))",
            "a\nb\nc\nd\nf\ng\nh",
        ),
        ("((a) <<E; rm x\nb\nE\n)", "a\nrm x"),
        ("cat <<E; ( ( a 1 >b ) ); ((c) )\nx\nE", "cat\na 1 >b\nc"),
        ("[[ ( ( -n $(a) ) ) ]]; (( ( (1) + 2 ) )); b", "a\nb"),
        ("a # ; b\nc", "a\nc"),
        ("echo $(ls # '\n) ; rm x #')", "ls\necho ?\nrm x"),
    ]);
}

#[test]
fn what_parsers_often_misread_is_read_as_bash_does() {
    check(&[
        // Loops of other kinds, and a `!` after a pipe.
        ("select i in a b; do c; done", "c"),
        ("a | ! b; c |& ! d; e |\n! f", "a\nb\nc\nd\ne\nf"),
        ("a | 'b' ! c", "a\nb ! c"),
        ("!(rm x)", "rm x"),
        // Reserved words are words elsewhere, and as patterns.
        ("(case a in b) c;; esac ); d", "c\nd"),
        (
            "case a in (esac) b;; esac; echo if then esac",
            "b\necho if then esac",
        ),
        ("A=1 if; i\\\nf a; then b; fi", "A=1 if\na\nb"),
        // A variable for a descriptor, numbers, `|&` after a test.
        ("rm {fd}>log x; bash {fd}<x", "rm x >log\nbash> ?\n: <x"),
        ("[[ a ]] |& b", "b"),
        ("a <<E 1 >b\nx\nE\nc", "a 1 >b\nc"),
        // Groups that look like a sum, and sums that look like groups.
        ("( (a); b); ((c); d)", "a\nb\nc\nd"),
        ("echo $((1)) $( (a) ) $((a) )", "a\na\necho ? ? ?"),
        ("((a = '$(b)')); c", "b\nc"),
        // The head of a loop, empty or with separators in a substitution.
        (
            "for ((;;)); do a; done; for ((i=$(b; c);;)) { d; }",
            "a\nb\nc\nd",
        ),
        // Lines that go on in the next one.
        ("( \\\n (a) ); {x\\\n,y} z", "a\nx y z"),
        // An index with blanks, before a command and in its words.
        ("a[1 + 2]=3 rm x", "a=3 rm x"),
        ("echo a[1 + 2]=3", "echo a[1 + 2]=3"),
        // Dollars before quotes.
        ("\\$'a\\'; rm x #'", "$a\\\nrm x"),
        ("echo $$'a\\'; rm x #'", "echo ?\nrm x"),
        ("\"${x:-'}\"; rm x #'}\"", "?"),
        ("time -f %e rm x; time -p -- rm y", "time> rm x\nrm y"),
    ]);
}

#[test]
fn braces_are_expanded_as_bash_does_it() {
    for text in [
        "rm {1..99999999999999999999}",
        "rm {1..9999}",
        "rm {Z..a}",
        "rm {../sr[c',']}",
        "rm {a..b\",\"}",
    ] {
        assert!(shown(text).contains("doubt: "), "{text}: {}", shown(text));
    }
    check(&[
        ("a {b,{c,d}}{e,}", "a be b ce c de d"),
        ("a {c..a} {1..7..3} {2..0}", "a c b a 1 4 7 2 1 0"),
        ("a {{b,c} {d} {} {e,'{f}'", "a {b {c {d} {} {e,{f}"),
        (
            "a '{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":1}}}}}}'",
            "a {\"b\":{\"c\":{\"d\":{\"e\":{\"f\":1}}}}}}",
        ),
    ]);
    if Command::new("bash").args(["-c", ":"]).status().is_err() {
        return;
    }
    for word in BRACES.split(' ') {
        let words = Command::new("bash")
            .args(["-c", &format!("printf '<%s>' {word}")])
            .output()
            .unwrap();
        let words = String::from_utf8(words.stdout).unwrap();
        let line = shell::read(&format!("a {word}"));
        let args = line.commands[0].args.iter();
        let read: String = args
            .map(|word| format!("<{}>", word.text.as_deref().unwrap_or("?")))
            .collect();
        assert_eq!(read, words, "{word}");
    }
}

/// Words with braces that bash expands or leaves.
const BRACES: &str = "{01..3} {a,{b}} {a..e..2} {1..-2} {-01..1} {1..} x{,}y {1..2}{a,b} {a{b,c}} \
    {a,b}} {{a,b} {a,b\\,c} {a..} {3..1..2} {1..3..0} {1..3..-1} {a..c..-1} {+1..3} {a..3} {1..a} \
    {} {}{a,b} a{}b{c,d} {a} {a,b a,b} {a,{b,c} {,a} {a,} {1..2..a} {1..2..} {..} {1...3} {é..z} \
    {a..a} {0..10..5} {00..10..5} {1..010} {-5..05} {a,b}{ {{}} {{},a} {a}{b,c} {{a,b},c} \
    {a,{b,c},d}e {1..3}..{4..5} {{1..3},x} {1..{2,3}} {a,b}{1..2..1} {z..a..13} {5..1..-2} \
    {a}b,c} {},a} a{},b}c {1..3}b,c} {a..{b,c}..d} {..{a,b}} {a,b..{c,d}} {{a..c}} {a..b}..c} \
    {{1..2}..3} {a..},b} {..a}b {a..{b}} {a..{1..2}} {}a,b} {{} {}} {a,{}} {-1..-3} {ab..c} {\"a\",b} {a,b\\} {a\\,b} {a\\,b,c} {'a,b',c} {a,\"b}\"} {a,b}$'{c,d}'";

#[test]
fn words_are_unquoted_as_bash_does_it() {
    check(&[
        ("r''m \"-r\"f \\x 'a b' \"c d\"", "rm -rf x 'a b' 'c d'"),
        ("$'\\x72m' $'a\\tb\\u00e9\\101' $\"x\"", "rm a\tbéA x"),
        ("\\rm \"a\\b\\$\\\"\"", "rm a\\b$\""),
        ("r\\\nm x", "rm x"),
        (
            "{rm,-r} x{1..3} {,a} '{b,c}' x{d}",
            "rm -r x1 x2 x3 a {b,c} x{d}",
        ),
        ("{,rm} x", "rm x"),
        ("a $x \"$x\" ${x} $1 $? ~/b", "a ? ? ? ? ? ~/b"),
        ("a *.txt b? [c] '*' \\? [", "a *.txt… b?… [c]… * ? ["),
        ("A=1 B='x y' C=$x D=$(b) a", "b\nA=1 B=x y C=? D=? a"),
        (
            "a >b >>c 2>d <e <>f >|g &>h &>>i 2>&1 >&- 3<&0",
            "a >b >>c >d <e <>f >|g &>h &>>i",
        ),
        ("{fd}>log rm x", "rm x >log"),
        (">a", ": >a"),
        ("a >.en{v..v} <{b,}", "a >.env <b"),
        ("a >{b,c} <<<{d,e}", "a >b >c"),
        ("a > $(rm {b,c})x{d,e}", "rm b c\na >? >?"),
        ("{ a; } > b", "a\n: >b"),
    ]);
}

#[test]
fn what_cannot_be_read_is_in_doubt() {
    for text in [
        "echo 'a",
        "a)",
        "if a",
        "a | | b",
        "cat <<E\na",
        "\u{0}",
        "echo $(a",
        "echo \"$\\\n(rm x)\"",
        "A\\\n=b rm x",
        "echo $A\\\nB",
        "echo $$(a",
        "cat <<E\nE\\\n\nrm x\nE",
        "cat <<E\nx\\\nE\nrm x\nE",
        "[[ a # ]]\n]]; rm x",
        "sudo --foo rm x",
        "sudo -u $x rm",
        "timeout $x rm y",
        "env -y rm",
        "bash $x y",
        "xargs --foo rm",
        "echo $({ cat; } <<E\n1\nE\na; b)",
        "echo $(cat <<E <<F\n1\nE\n2\nF\na\nb)",
    ] {
        assert!(shown(text).contains("doubt: "), "{text}: {}", shown(text));
    }
    assert_eq!(shown("$(cat <<E\n1\nE\na\n)"), "cat\na\n?");
    assert_eq!(
        shown("sudo --foo rm"),
        "sudo --foo rm\ndoubt: cannot tell what `sudo --foo` runs"
    );
}

#[test]
fn a_loop_is_read_for_each_of_its_words() {
    check(&[
        (
            "for d in a {b,c}; do rm $d/x; done",
            "rm a/x\nrm b/x\nrm c/x",
        ),
        (
            "for f in a; do for g in b c; do cp $g $f; done; done",
            "cp b a\ncp c a",
        ),
        (
            "for f in a; do x; done; for f in b; do rm $f; done",
            "x\nrm b",
        ),
        ("for f in a/*; do rm \"$f\"; done", "rm a/*…"),
        (
            "for f in a b; do echo x >>$f; done",
            "echo x >>a\necho x >>b",
        ),
        ("for f in a; do rm $f; done; rm \"$f\"", "rm a\nrm ?"),
        ("for f in a; do f=b; rm \"$f\"; done", "rm ?"),
        ("for f in a; do read f; rm \"$f\"; done", "read f\nrm ?"),
        ("for f in a \"$x\" $(b); do rm \"$f\"; done", "b\nrm ?"),
        (
            "for f in a; do for f in b; do :; done; rm \"$f\"; done",
            ":\nrm a",
        ),
        ("for f in {1..99}; do rm \"$f\"; done", "rm ?"),
        ("for f; do rm \"$f\"; done", "rm ?"),
    ]);
}

#[test]
fn a_program_that_runs_a_command_is_taken_off_in_each_spelling() {
    for text in [
        "npx rm x",
        "npm exec -- rm x",
        "pnpm exec rm x",
        "bundle exec rm x",
        "mise exec node@20 -- rm x",
        "asdf exec rm x",
        "nix develop -c rm x",
        "nix shell nixpkgs#a -c rm x",
        "nix-shell -p a --run 'rm x'",
        "op run --env-file=a -- rm x",
        "doppler run -- rm x",
        "aws-vault exec a -- rm x",
        "chamber exec a -- rm x",
        "tmux new-session -d 'rm x'",
        "tmux new -d -s a 'rm x'",
        "tmux split-window -h 'rm x'",
        "screen -dmS a rm x",
        "hyperfine -r 3 'rm x'",
        "perf stat -r 3 rm x",
        "git rebase --exec 'rm x' main",
        "git bisect run rm x",
        "docker exec -it a rm x",
        "kubectl exec -n a b -- rm x",
        "uv run rm x",
        "poetry run rm x",
        "cargo watch -s 'rm x'",
    ] {
        let found = shown(text);
        let is_found = found.lines().any(|line| line.ends_with("> rm x"));
        assert!(is_found && !found.contains("doubt"), "{text}: {found}");
    }
    for text in [
        "hash -p /bin/rm a",
        "let 'a[$(rm x)]=1'",
        "unset 'a[`rm x`]'",
    ] {
        assert!(shown(text).contains("doubt: "), "{text}");
    }
    for text in [
        "hash -r",
        "let a=1+2",
        "declare A='[$(date)]'",
        "screen -ls",
    ] {
        assert!(!shown(text).contains("doubt: "), "{text}");
    }
}

#[test]
fn programs_that_run_others_are_taken_off() {
    check(&[
        ("sudo -n -u root -- rm x", "sudo> rm x"),
        ("sudo -nu root A=1 rm x", "sudo> A=1 rm x"),
        ("sudo --user=root --preserve-e=A rm x", "sudo> rm x"),
        ("/usr/bin/sudo rm x > y", "sudo> rm x >y"),
        ("doas -u x rm y", "doas> rm y"),
        ("pkexec rm y", "pkexec> rm y"),
        ("su -c 'rm x' y; su - y -c 'rm z'", "su> rm x\nsu> rm z"),
        (
            "runuser -u x -- rm y; runuser y -c 'rm z'",
            "runuser> rm y\nrunuser> rm z",
        ),
        ("gosu x rm y", "gosu> rm y"),
        ("ssh -p 22 host rm -rf 'a b'", "ssh> rm -rf a b"),
        ("ssh host -v 'cd x && rm y'", "ssh> cd x\nssh> rm y"),
        ("ssh host <<E\nrm x\nE", "ssh> rm x"),
        (
            "ssh host; ssh -N -L 1:a:2 host",
            "ssh host\nssh -N -L 1:a:2 host",
        ),
        ("mosh host -- rm x", "mosh> rm x"),
        ("sshpass ssh y rm z", "sshpass> ssh> rm z"),
        ("env -i A=1 B=$x rm y", "env> A=1 B=? rm y"),
        (
            "env -S 'rm -r' x; env '-Srm x'; env --split-string='A=1 rm x' y",
            "env> rm -r x\nenv> rm x\nenv> A=1 rm x y",
        ),
        ("env -u A -C b - rm x; env", "env> rm x\nenv"),
        (
            "nice rm x; nice -n 5 rm x; nice -5 rm x; nice --adjustment=5 rm x",
            "nice> rm x\nnice> rm x\nnice> rm x\nnice> rm x",
        ),
        (
            "ionice rm x; chrt 9 rm x; unshare rm x",
            "ionice> rm x\nchrt> rm x\nunshare> rm x",
        ),
        (
            "timeout -k 3 10 rm x; timeout --signal KILL 5s rm x; timeout --kill=5 --foreground 5 rm x",
            "timeout> rm x\ntimeout> rm x\ntimeout> rm x",
        ),
        (
            "nohup rm x; setsid -w rm x; stdbuf -oL -e 0 rm x",
            "nohup> rm x\nsetsid> rm x\nstdbuf> rm x",
        ),
        (
            "flock /l rm x; flock -n /l -c 'rm x'; flock 9",
            "flock> rm x\nflock> rm x\nflock 9",
        ),
        (
            "time -p rm x; /usr/bin/time -f %e -v rm x",
            "rm x\ntime> rm x",
        ),
        (
            "command -p rm x; command -v rm; builtin cd x; exec -a b rm x; exec > y",
            "command> rm x\ncommand -v rm\nbuiltin> cd x\nexec> rm x\nexec >y",
        ),
        ("chroot --userspec=a /x rm y", "chroot> rm y"),
        (
            "script -c 'rm x' /dev/null; script -qc 'rm x'; script -q /dev/null rm x",
            "script> rm x\nscript> rm x\nscript> rm x",
        ),
        (
            "systemd-run --user --unit x -p A=b rm x; strace rm x; fakeroot -- rm x",
            "systemd-run> rm x\nstrace> rm x\nfakeroot> rm x",
        ),
        (
            "unbuffer -p rm x; tini -- rm x; caffeinate -t 9 -i rm x",
            "unbuffer> rm x\ntini> rm x\ncaffeinate> rm x",
        ),
        (
            "busybox rm x; toybox rm x; busybox --list",
            "busybox> rm x\ntoybox> rm x\nbusybox --list",
        ),
        (
            "xargs -0 -n 1 rm -r; xargs; xargs -I% sh -c 'rm %'; xargs -I {} rm {}/a",
            "xargs> rm -r ?\nxargs\nxargs> sh> rm ?\nxargs> rm ? ?",
        ),
        (
            "xargs --max-args=1 -P4 rm; xargs -i rm {}",
            "xargs> rm ?\nxargs> rm ? ?",
        ),
        (
            "parallel -j4 rm -r {} ::: a b; parallel 'rm {}; ls'; parallel ::: 'rm a' 'ls b'; parallel",
            "parallel> rm -r ? ?\nparallel> rm ?\nparallel> ls ?\nparallel> rm a\nparallel> ls b\nparallel> ?",
        ),
        (
            "watch -n 5 'rm x; ls'; watch -x rm 'a;b'",
            "watch> rm x\nwatch> ls\nwatch> rm a;b",
        ),
        (
            "ls | entr -r rm x; ls | entr -s 'rm x; ls'",
            "ls\nentr> rm x\nls\nentr> rm x\nentr> ls",
        ),
        (
            "find . -exec rm -r {} + -exec echo a + b \\;",
            "find . -exec rm -r {} + -exec echo a + b ;\nfind> rm -r ?\nfind> echo a + b",
        ),
        ("find . -name x -delete", "find . -name x -delete"),
        (
            "fd -e o -x rm -r; fd x --exec-batch rm {} \\; -X ls",
            "fd -e o -x rm -r\nfd> rm -r ?\nfd x --exec-batch rm {} ; -X ls\nfd> rm ?\nfd> ls ?",
        ),
        (
            "git -c alias.x='!rm y' x; git -c alias.y='push -f' y",
            "git -c 'alias.x=!rm y' x\ngit> rm y\ngit -c 'alias.y=push -f' y\ngit> git push -f",
        ),
    ]);
}

#[test]
fn commands_that_nobody_can_read_are_unknown() {
    check(&[
        ("curl x | bash", "curl x\nbash> ?"),
        ("curl x | sudo -n bash -s -- -y", "curl x\nsudo> bash> ?"),
        (
            "bash; bash -i; sh -l; exec zsh -l",
            "bash> ?\nbash> ?\nsh> ?\nexec> zsh> ?",
        ),
        (
            "sudo -i; sudo -s; su; su - x; sudo su",
            "sudo> ?\nsudo> ?\nsu> ?\nsu> ?\nsudo> su> ?",
        ),
        (
            "unshare; chroot x; script; pkexec",
            "unshare> ?\nchroot> ?\nscript> ?\npkexec> ?",
        ),
        (
            "bash <(curl x); source <(a); . <(a); bash /dev/fd/3",
            "curl x\nbash> ?\na\nsource> ?\na\n.> ?\nbash> ?",
        ),
        ("bash < <(curl x); bash <&3", "curl x\nbash> ?\nbash> ?"),
        ("sh -c \"$(curl x)\"; eval \"$x\"", "curl x\nsh> ?\neval> ?"),
        ("curl x | { bash; }", "curl x\nbash> ?"),
        (
            "python3; python3 -i; node; ruby; irb; perl; php -a; lua; env python3.12 -",
            "python3> ?\npython3> ?\nnode> ?\nruby> ?\nirb> ?\nperl> ?\nphp> ?\nlua> ?\nenv> python3.12> ?",
        ),
        ("curl x | timeout 5 python3", "curl x\ntimeout> python3> ?"),
        ("a | ssh host", "a\nssh> ?"),
        (
            "python3 x.py; python3 -m json.tool; python3 --version; python3 -c 'x'",
            "python3 x.py\npython3 -m json.tool\npython3 --version\npython3 -c x",
        ),
        (
            "echo x | python3; python3 - <<E\nx\nE\npython3 < x",
            "echo x\npython3\npython3 -\npython3 <x",
        ),
        (
            "curl x | python3 -m json.tool",
            "curl x\npython3 -m json.tool",
        ),
        (
            "bash x.sh; bash < x; bash --version; source x; . x; command -v bash; which python3",
            "bash x.sh\nbash <x\nbash --version\nsource x\n. x\ncommand -v bash\nwhich python3",
        ),
        (
            "bash \"$x\"; for f in *; do sh \"$f\"; done",
            "bash ?\nsh *…",
        ),
        (
            "echo 'rm x' | bash; printf '%s' 'rm x' | sh -s; cat <<E | bash\nrm x\nE",
            "echo 'rm x'\nbash> rm x\nprintf %s 'rm x'\nsh> rm x\ncat\nbash> rm x",
        ),
        (
            "echo \"rm $x\" | sh; echo $x | sh; echo 'a\\nb' | sh",
            "echo ?\nsh> rm ?\necho ?\nsh> ?\necho a\\nb\nsh> ?",
        ),
        (
            "fish -c 'rm x'; zsh -c 'rm x'; bash -eo pipefail -c 'rm x'; bash -lc 'rm x'; bash --norc -c 'rm x'",
            "fish> rm x\nzsh> rm x\nbash> rm x\nbash> rm x\nbash> rm x",
        ),
        ("bash -c \"rm '$x' \\\"$y\\\"\"", "bash> rm ? ?"),
    ]);
}

#[test]
fn a_variable_that_is_set_once_has_its_value() {
    check(&[
        ("PY=.venv/bin/python; $PY -m x", ".venv/bin/python -m x"),
        (
            "F=--force\ngit push $F \"${F}\"",
            "git push --force --force",
        ),
        ("A=a && $A", "a"),
        ("A='a b'; $A \"$A\"", "? 'a b'"),
        ("A=a; echo \"$(\"$A\" b)\"", "a b\necho ?"),
        // It is not the value: a loop, a condition, another process, another name for it.
        ("$A; A=a", "?"),
        ("A=a; A=b; $A", "?"),
        ("A=a; bash -c '$A'", "bash> ?"),
        ("x && A=a; $A", "x\n?"),
        ("if x; then A=a; fi; $A", "x\n?"),
        ("(A=a); $A", "?"),
        ("A=a & $A", "?"),
        ("A=a | x; $A", "x\n?"),
        ("A=a; read A; $A", "read A\n?"),
        ("A=a; for A in b; do $A; done", "?"),
        ("A=a; eval x; $A", "eval> x\n?"),
        ("A=a; . ./x; $A", ". ./x\n?"),
        ("A=a; ((A++)); $A", "?"),
        ("A+=a; $A", "?"),
        ("A=*; $A \"$A\"", "? *"),
        ("RANDOM=1; a $RANDOM", "a ?"),
        ("A=a B=$A", ""),
    ]);
}

#[test]
fn a_wrapper_keeps_its_words() {
    let line = shell::read("sudo -u root bash -c \"rm $x\" > y");
    let wrappers: Vec<String> = line.commands[0]
        .through
        .iter()
        .map(|one| {
            format!(
                "{} {}",
                one.name,
                one.args.iter().map(word).collect::<Vec<_>>().join(" ")
            )
        })
        .collect();
    assert_eq!(wrappers, ["sudo -u root bash -c ?", "bash -c ?"]);
    let json = serde_json::to_value(&line.commands[0]).unwrap();
    assert_eq!(json["through"], serde_json::json!(["sudo", "bash"]));
    assert_eq!(line.commands[0].args[0].written, "…");
    assert_eq!(line.commands[0].through[1].args[1].written, "\"rm $x\"");
}
