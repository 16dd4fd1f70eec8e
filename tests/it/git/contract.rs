//! Scripts that take what git itself gives to its hooks, which hookrun gives in another way.

use hookrun::hosts::git::find;
use serde_json::json;

fn taken(hook: &str, text: &str) -> Option<(&'static str, usize)> {
    find(hook)
        .unwrap()
        .taken_by(text, hook)
        .map(|taken| (taken.what, taken.line))
}

#[test]
fn a_script_that_takes_what_git_gives_is_known() {
    for (hook, text, wanted) in [
        ("commit-msg", "#!/bin/sh\ngrep -q x \"$1\"\n", ("$1", 2)),
        (
            "commit-msg",
            "#!/usr/bin/env bash\nmsg=$(cat \"${1:?}\")\n",
            ("$1", 2),
        ),
        (
            "commit-msg",
            "#!/bin/bash -e\nx=\"$(awk '{print $1}' \"$1\")\"\n",
            ("$1", 2),
        ),
        (
            "commit-msg",
            "#!/bin/sh\nf() {\n  echo \"$1\"\n}\nmain \"$@\"\n",
            ("$@", 5),
        ),
        ("commit.msg", "#!/bin/sh\ngrep -q x \"$1\"\n", ("$1", 2)),
        (
            "commit-msg",
            "#!/usr/bin/env python3\nopen(sys.argv[1])\n",
            ("sys.argv[1", 2),
        ),
        (
            "commit-msg",
            "#!/usr/bin/env node\nconst f = process.argv[2]\n",
            ("process.argv", 2),
        ),
        (
            "commit-msg",
            "#!/usr/bin/ruby\nFile.read(ARGV[0])\n",
            ("ARGV", 2),
        ),
        (
            "pre-push",
            "#!/bin/sh\ngit lfs pre-push \"$@\"\n",
            ("$@", 2),
        ),
        (
            "pre-push",
            "#!/bin/sh\nwhile read a b c d; do :; done\n",
            ("while read", 2),
        ),
        (
            "pre-push",
            "#!/bin/sh\nwhile IFS=' ' read -r a b; do :; done\n",
            ("while read", 2),
        ),
        (
            "pre-push",
            "#!/bin/sh\ncat | while read a b; do :; done\n",
            ("while read", 2),
        ),
        ("pre-receive", "#!/bin/sh\nread old new ref\n", ("read", 2)),
        (
            "pre-receive",
            "#!/bin/sh\nif ! read old new ref\nthen :; fi\n",
            ("read", 2),
        ),
        (
            "pre-receive",
            "#!/usr/bin/python3\nfor x in sys.stdin:\n",
            ("in sys.stdin", 2),
        ),
        (
            "update",
            "#!/bin/sh\n[ \"$1\" = refs/heads/main ] && exit 1\n",
            ("$1", 2),
        ),
    ] {
        assert_eq!(taken(hook, text), Some(wanted), "{hook}: {text}");
    }
}

#[test]
fn a_script_that_takes_something_else_is_none_of_gits() {
    for (hook, text) in [
        ("pre-commit", "#!/bin/sh\n[ -n \"$1\" ] && exit 1\n"),
        (
            "commit-msg",
            "#!/bin/sh\nfile=$(hookrun hook field filePath)\nset -- $file; cat \"$1\"\n",
        ),
        ("commit-msg", "#!/bin/sh\ngit log | awk '{ print $1 }'\n"),
        (
            "commit-msg",
            "#!/bin/sh\nx=\"$(git log | awk '{ print $1 }')\"\n",
        ),
        ("commit-msg", "#!/bin/sh\n# not $1\nexit 0 # nor $@\n"),
        (
            "commit-msg",
            "#!/bin/sh\ndeny() { echo \"$1\" >&2; exit 1; }\ndeny no\n",
        ),
        ("commit-msg", "#!/usr/bin/perl\nprint $1 if /(x)/;\n"),
        (
            "pre-push",
            "#!/bin/sh\ngit diff --name-only | while read -r path; do :; done\n",
        ),
        (
            "pre-push",
            "#!/bin/sh\ngit diff |\n  while read -r path; do :; done\n",
        ),
        (
            "pre-push",
            "#!/bin/sh\nwhile read -r path; do\n  :\ndone < list\n",
        ),
        ("pre-push", "#!/bin/sh\nread -r a <<EOF\nx\nEOF\n"),
        ("pre-push", "#!/bin/sh\necho 'nothing to read here'\n"),
        (
            "push.pre",
            "#!/bin/sh\nwhile read -r line; do all=$all$line; done\n",
        ),
        (
            "pre-push",
            "#!/usr/bin/python3\nfor ref in json.load(sys.stdin)['refs']:\n",
        ),
    ] {
        assert_eq!(taken(hook, text), None, "{hook}: {text}");
    }
}

#[test]
fn what_is_no_commit_never_becomes_an_option_of_git() {
    let context = json!({"refs": [{"oldSha": "00", "newSha": "--output=x", "ref": "r"}]});
    assert!(
        find("pre-push")
            .unwrap()
            .listings(context.as_object().unwrap())
            .is_err()
    );
}
