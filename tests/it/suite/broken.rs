//! Files of cases with mistakes: every one is told with its place and its cure, and nothing runs.

use super::{GUARD, case, guarded, suite};
use crate::sandbox::Sandbox;

/// The mistakes of a file, as they are told.
#[track_caller]
fn told(cases: &str) -> Vec<String> {
    let sandbox = guarded(cases);
    let ran = suite(&sandbox, &[]);
    ran.exits(2).says("no case ran");
    let text = ran
        .stdout
        .replace("hooks.d/tests/guard.toml", "F")
        .replace("\n  help: ", " [");
    let errors = text.lines().filter_map(|line| line.strip_prefix("error: "));
    errors.map(str::to_string).collect()
}

#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    let cases = r#"
hoks = ".."
[defaults]
hots = "claude"
[[case]]
name = "a"
evnt = "tool.pre"
expect = { decison = "block" }
[[case]]
event = "tool.pre"
reason = "x"
context = 5
expect = { decision = "refuse", reason = "(", reply = { status = "2" } }
[[case]]
name = "nothing"
event = "tool.pre"
"#;
    let wanted = [
        "F:2:1: unknown key `hoks` [did you mean `hooks`?",
        "F:4:1: unknown key `hots` [did you mean `host`?",
        "F:7:1: unknown key `evnt` [did you mean `event`?",
        "F:8:12: unknown key `decison` [did you mean `decision`?",
        "F:9:1: the case has no `name` [add `name = \"…\"`, a sentence that says what the case proves",
        "F:11:1: unknown key `reason` [write `expect = { reason = … }`",
        "F:12:11: `context` takes a table, or JSON in a string, not 5 [write `context = { key = 1 }`",
        "F:13:23: `decision` takes one of \"allow\", \"block\", \"ask\", not \"refuse\" [write one of these values, for example `decision = \"allow\"`",
        "F:13:42: `reason` is not a regular expression: unclosed group [fix it; `\\` escapes a special character",
        "F:13:66: `status` takes a whole number, not \"2\" [write `status = 10`",
        "F:14:1: the case has no `expect` [add `expect = { decision = \"block\" }`",
    ];
    assert_eq!(told(cases), wanted);
}

#[test]
fn placeholders_and_values_must_meet() {
    let cases = r#"
[[case]]
name = "{a} {b}"
event = "tool.pre"
expect = { decision = "allow" }
with = [{ a = "1", c = "2" }]
[[case]]
name = "in {list}"
event = "tool.pre"
expect = { decision = "allow", output = "{case.foldr}" }
with = [{ list = [1] }]
[[case]]
name = "none"
event = "tool.pre"
expect = { decision = "allow" }
with = []
"#;
    let wanted = [
        "F:3:8: the row at line 6 has no value for `{b}` [add `b = …` to the row; for literal braces, write `{{b}}`",
        "F:6:20: the value `c` is not used in the case [write `{c}` where it belongs, or remove it",
        "F:10:41: `{case.foldr}` is not a known placeholder [the placeholders are {case.folder}, {case.home}, {suite.folder}",
        "F:16:8: `with` must be a non-empty list of tables [write each table as `[[case.with]]`, or remove `with`",
    ];
    assert_eq!(told(cases), wanted);
}

#[test]
fn what_is_written_and_says_nothing_is_a_mistake() {
    let cases = r#"
hooks = []
[defaults]
hook = []
[[case]]
name = "no steps"
event = "tool.pre"
step = []
[[case]]
name = "nothing expected"
skip = " "
event = "tool.pre"
context = { n = 99999999999999999999, f = [inf] }
files = { "" = "", "e/" = "", "a/.." = "", "/tmp/x" = "", "{case.folder}" = "" }
expect = { decision = "allow", files = {}, reply = {} }
[[case]]
name = "out of range {x}"
event = "tool.pre"
expect = { decision = "allow", reply = { status = 300 } }
with = [{ x = { text = "x", times = -1 } }]
"#;
    let no_path =
        "is not the path of a file in the case's folder [write a relative path without `..`";
    let huge = "this number is not finite, or does not fit in 64 bits [use a finite 64-bit number, or write the context as JSON in a string";
    let wanted = [
        "F:2:9: `hooks` is an empty list [name one; the default is the folder that `tests` is in",
        "F:4:8: `hook` is an empty list [name one; the default is all",
        "F:8:8: `step` must be a non-empty list of tables [write each table as `[[case.step]]`, or remove `step`",
        "F:11:8: `skip` is empty [say why the case is skipped, or remove it",
        &format!("F:13:17: {huge}"),
        &format!("F:13:44: {huge}"),
        &format!("F:14:11: `` {no_path}"),
        &format!("F:14:20: `e/` {no_path}"),
        &format!("F:14:31: `a/..` {no_path}"),
        &format!("F:14:44: `/tmp/x` {no_path}"),
        &format!("F:14:59: `{{case.folder}}` {no_path}"),
        "F:15:40: `files` is empty, so it checks nothing [add a key to it, or remove it",
        "F:15:52: `reply` is empty, so it checks nothing [add a key to it, or remove it",
        "F:20:37: `times` cannot be -1 [write 0 or more",
    ];
    assert_eq!(told(cases), wanted);
    let nameless = case("x", "x", "decision = 'allow', files = { '' = true }");
    assert_eq!(
        told(&nameless),
        ["F:5:42: a path in `files` is empty [write the path of the file"]
    );
    let range = case("x", "x", "decision = 'allow', reply = { status = 300 }");
    assert_eq!(
        told(&range),
        ["F:5:51: `status` cannot be 300 [write a number from 0 to 255"]
    );
}

#[test]
fn a_file_whose_list_of_cases_is_empty_is_not_passed_by() {
    let sandbox = guarded("case = []\n").file(
        "hooks.d/tests/other.toml",
        &case("other", "x", "decision = 'allow'"),
    );
    let ran = suite(&sandbox, &[]);
    ran.exits(2)
        .prints("guard.toml:1:8: `case` must be a non-empty list of tables\n  help: write each table as `[[case]]`");
}

#[test]
fn two_cases_of_one_name_are_a_mistake() {
    let cases = case("same", "x", "decision = 'allow'") + &case("same", "y", "decision = 'allow'");
    let wanted = "F:7:1: two cases are named `same`; the first is at line 1 [give one of them another name; if it has rows, put a placeholder into the name";
    assert_eq!(told(&cases), [wanted]);
}

#[test]
fn what_a_case_names_must_be_there() {
    let cases = r#"
[[case]]
name = "event"
event = "tool.pree"
expect = { decision = "allow" }
[[case]]
name = "hooks"
event = "tool.pre"
hook = "10-gard.sh"
expect = { decision = "block", by = "nobody" }
"#;
    let wanted = [
        "F:4:9: unknown event `tool.pree` [did you mean `tool.pre`?",
        "F:9:8: no hook `10-gard.sh` for `tool.pre` [did you mean `10-guard.sh`?",
        "F:10:37: no hook `nobody` for `tool.pre` [hooks bound to `tool.pre`: 10-guard.sh",
    ];
    assert_eq!(told(cases), wanted);
}

#[test]
fn what_can_never_be_is_a_mistake() {
    let cases = "[[case]]\nname = 'x'\nevent = 'tool.pre'\nstdin = 'a'\ncontext = {}\nexpect = { decision = 'allow', by = '10-guard.sh' }\n";
    let wanted = [
        "F:5:11: `stdin` and `context` both set the input [keep one of them",
        "F:6:37: an allowed event has no `by` [remove it, or correct the `decision`",
    ];
    assert_eq!(told(cases), wanted);
}

#[test]
fn a_key_that_is_nearly_one_of_the_event_is_a_mistake() {
    let cases = r#"
[[case]]
name = "native"
event = "tool.pre"
context = { toolNam = "bash", tooInput = 3, ticket = 7 }
expect = { decision = "allow" }
[[case]]
name = "a slip is blocked"
event = "tool.pre"
context = { toolNam = "bash", toolInpt = 1 }
expect = { decision = "block" }
[[case]]
name = "whatever it is"
event = "tool.pre"
stdin = '{"toolNam":1}'
expect = { decision = "allow" }
"#;
    let wanted = [
        "F:5:11: `tool.pre` has no key `toolNam` [did you mean `toolName`? To send `toolNam` as written, use `stdin`",
        "F:5:11: `tool.pre` has no key `tooInput` [did you mean `toolInput`? To send `tooInput` as written, use `stdin`",
        "F:10:11: `tool.pre` has no key `toolNam` [did you mean `toolName`? To send `toolNam` as written, use `stdin`",
        "F:10:11: `tool.pre` has no key `toolInpt` [did you mean `toolInput`? To send `toolInpt` as written, use `stdin`",
    ];
    assert_eq!(told(cases), wanted);
}

#[test]
fn a_wrong_key_is_told_once_and_what_it_was_meant_to_be_is_not_missing() {
    let cases = r#"
[[case]]
name = "one"
event = "tool.pre"
contxt = { toolName = "bash" }
[case.expct]
decision = "allow"
[[case]]
name = "two"
event = "tool.pre"
contxt = { toolName = "bash" }
expct = { decison = "allow" }
[[case]]
nam = "three"
event = "tool.pre"
[[case.step]]
evnt = "tool.pre"
expect = { decison = "allow" }
"#;
    let wanted = [
        "F:5:1: unknown key `contxt` [did you mean `context`?",
        "F:6:7: unknown key `expct` [did you mean `expect`?",
        "F:11:1: unknown key `contxt` [did you mean `context`?",
        "F:12:1: unknown key `expct` [did you mean `expect`?",
        "F:14:1: unknown key `nam` [did you mean `name`?",
        "F:17:1: unknown key `evnt` [did you mean `event`?",
        "F:18:12: unknown key `decison` [did you mean `decision`?",
    ];
    assert_eq!(told(cases), wanted);
    assert_eq!(
        told("[[cases]]\nname = 'x'\n"),
        ["F:1:3: unknown key `cases` [did you mean `case`?"]
    );
}

#[test]
fn the_first_syntax_error_is_told() {
    let case = |context: &str| {
        format!("[[case]]\nname = 'x'\ncontext = {context}\nexpect = {{ decision = 'allow' }}\n")
    };
    let json = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    let lines = json.replace(',', ",\n");
    let is_said = |cases: String, wanted: &[(&str, &str)]| {
        let found = told(&cases);
        assert_eq!(found.len(), wanted.len(), "{cases}: {found:#?}");
        for (found, (place, cure)) in found.iter().zip(wanted) {
            assert!(
                found.starts_with(place) && found.contains(cure),
                "{cases}: {found}"
            );
        }
    };
    let cure = "[fix it; hookrun-suite(5) describes a test case file";
    is_said(case(json) + &case(json), &[("F:3:", cure)]);
    is_said(case(&lines), &[("F:3:", cure)]);
    let open = case(&format!("'''{json}"));
    is_said(open.clone() + &open, &[("F:7:14: not valid TOML: ", cure)]);
    is_said(open, &[("F:", cure)]);
}

#[test]
fn a_file_that_a_case_names_must_be_there() {
    let cases = format!(
        "[[case]]\nname = 'sent'\n{0}context_file = 'x.json'\nexpect = {{ decision = 'allow' }}\n\
         [[case]]\nname = 'copied'\n{0}files = {{ a = {{ copy = 'gone' }} }}\nexpect = {{ decision = 'allow' }}\n",
        super::HEAD
    );
    let ran = suite(&guarded(&cases), &[]);
    ran.exits(2)
        .prints("cannot read its context: `x.json`: No such file")
        .prints("cannot write the file `a`: `gone`: No such file");
}

#[test]
fn a_file_that_cannot_be_read_is_told_and_the_others_too() {
    let sandbox = guarded("[[case]\n").file("hooks.d/tests/b.toml", "x = 1\n");
    std::fs::write(sandbox.at("hooks.d/tests/c.toml"), b"#\na \xff\xfe").unwrap();
    let ran = suite(&sandbox, &[]);
    ran.exits(2)
        .prints("b.toml:1:1: unknown key `x`")
        .prints("b.toml:1:1: this file contains no test case");
    ran.prints("c.toml:2:3: is not UTF-8\n  help: save it as UTF-8");
    ran.prints("guard.toml:1:8: not valid TOML");
    ran.prints("help: fix it; hookrun-suite(5) describes a test case file");
}

#[test]
fn mistakes_in_the_hooks_keep_the_cases_from_running() {
    let sandbox = guarded(&case("x", "bad", "decision = 'block'"))
        .hook("20-slip.sh", "# hookrun: timout=1s\ntouch ran");
    let ran = suite(&sandbox, &[]);
    ran.exits(2)
        .prints("20-slip.sh:2:12: unknown setting `timout`");
    ran.prints("\n1 error\n")
        .says("no case ran; fix these errors first");
    sandbox.has_no_file("ran");
}

#[test]
fn nothing_to_run_is_no_success() {
    let none = Sandbox::new().hook("10-guard.sh", GUARD);
    suite(&none, &[]).exits(2).says("no test case files");
    suite(&none, &["hooks.d"])
        .exits(2)
        .says("no test case files in `hooks.d`");
    suite(&none, &["gone"]).exits(2).says("cannot read `gone`");

    let some = guarded(&case("x", "bad", "decision = 'block'"));
    for filter in [["--filter", "y"], ["--hook", "10-gard.sh"]] {
        suite(&some, &filter)
            .exits(2)
            .says("no case matches the selection (1 in all)");
    }
}

#[test]
fn options_for_one_event_are_rejected_beside_a_suite() {
    let some = guarded(&case("x", "bad", "decision = 'block'"));
    for option in [["--budget", "1s"], ["--host", "claude"]] {
        suite(&some, &option).exits(2).says("cannot be used with");
    }
    suite(&some, &["--discover"]).exits(2).says("--hooks");
    for wrong in ["abc", "101", "-1", ""] {
        let ran = suite(&some, &[&format!("--coverage={wrong}")]);
        ran.exits(2).says("use a whole number from 0 to 100");
    }
    let one = some.hookrun(&["test", "tool.pre", "--format", "junit"], b"");
    one.exits(2).says("`--format junit` is only for a suite");
    for format in ["junit", "github"] {
        let sent = some.hookrun(&["test", "--format", format], b"{}");
        sent.exits(2)
            .says(&format!("`--format {format}` is only for a suite"));
        sent.says(&format!("`hookrun test --suite --format {format}`"));
        assert_eq!(sent.stdout, "");
        let played = some.hookrun(&["test", "--suite", "--format", format], b"{}");
        assert!(!played.stdout.is_empty(), "{played:?}");
    }
}

#[test]
fn options_for_a_suite_are_rejected_beside_one_event() {
    let some = guarded(&case("x", "bad", "decision = 'block'"));
    let options: [&[&str]; 4] = [
        &["--coverage"],
        &["--coverage=4"],
        &["--filter", "x"],
        &["--jobs", "2"],
    ];
    let modes: [&[&str]; 3] = [
        &["tool.pre"],
        &["PreToolUse", "--host", "claude"],
        &["--budget", "1s"],
    ];
    for mode in modes {
        for option in options {
            let all: Vec<&str> = [&["test"], mode, option].concat();
            some.hookrun(&all, b"{}")
                .exits(2)
                .says("cannot be used with");
        }
    }
}
