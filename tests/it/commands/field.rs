//! `hookrun hook field PATH`.

use crate::sandbox::{Ran, Sandbox};

const DOCUMENT: &str = r#" {
  "toolInput": { "command": "rm -rf /", "a.b": 1, "": 2, "empty": "" },
  "messages": [ { "role": "user" }, [ 10, 20 ] ],
  "big": 123456789012345678901234567890, "exact": 1.10, "small": -0.0, "wide": 1E400,
  "yes": true, "none": null, "dotted.key": "whole",
  "text": "line\none \"quoted\" é \u00e9 \ud83d\ude00"
} "#;

fn field(arguments: &[&str], stdin: &[u8]) -> Ran {
    let mut all = vec!["hook", "field"];
    all.extend(arguments);
    Sandbox::new().hookrun(&all, stdin)
}

#[track_caller]
fn prints(arguments: &[&str], text: &str) {
    let ran = field(arguments, DOCUMENT.as_bytes());
    assert_eq!(
        (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, text, ""),
        "{arguments:?}"
    );
}

#[test]
fn a_value_is_found_by_its_path() {
    prints(&["toolInput.command"], "rm -rf /\n");
    prints(&["messages.0.role"], "user\n");
    prints(&["messages.1.1"], "20\n");
    prints(&["yes"], "true\n");
    prints(&["toolInput.empty"], "\n");
    prints(&["dotted.key"], "whole\n");
    prints(&["text"], "line\none \"quoted\" é é 😀\n");
}

#[test]
fn objects_and_lists_are_compact_json() {
    prints(&["messages"], "[{\"role\":\"user\"},[10,20]]\n");
    prints(
        &["toolInput"],
        "{\"command\":\"rm -rf /\",\"a.b\":1,\"\":2,\"empty\":\"\"}\n",
    );
}

#[test]
fn numbers_are_printed_as_they_were_written() {
    for (path, number) in [
        ("big", "123456789012345678901234567890\n"),
        ("exact", "1.10\n"),
        ("small", "-0.0\n"),
        ("wide", "1E400\n"),
    ] {
        prints(&[path], number);
    }
}

#[test]
fn what_is_not_there_is_1_and_prints_nothing() {
    for path in [
        "nothing",
        "toolInput.nothing",
        "messages.9",
        "messages.-1",
        "messages.role",
        "messages.length",
        "yes.no",
        "toolInput.command.x",
        "none",
        ".",
        "",
    ] {
        let ran = field(&["--", path], DOCUMENT.as_bytes());
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{path:?}");
    }
}

#[test]
fn the_message_names_the_path() {
    let ran = field(&["tolInput"], DOCUMENT.as_bytes());
    assert_eq!(
        (ran.status, ran.stderr.as_str()),
        (1, "no value at `tolInput`\n")
    );
}

#[test]
fn a_default_stands_in_for_what_is_not_there() {
    prints(&["nothing", "--default", "else"], "else\n");
    prints(&["none", "--default", ""], "\n");
    prints(&["yes", "--default", "else"], "true\n");
}

#[test]
fn control_characters_survive() {
    let ran = field(&["a"], br#"{"a":"x\u001b[31my\u007fz\u0008\u0000end\r\n"}"#);
    assert_eq!(ran.stdout, "x\u{1b}[31my\u{7f}z\u{8}\0end\r\n\n");
}

#[test]
fn what_cannot_be_read_is_2_and_says_why() {
    for (stdin, part) in [
        (&b""[..], "nothing on stdin"),
        (b"  \n", "nothing on stdin"),
        (b"[1]", "not a JSON object"),
        (b"nonsense", "not a JSON object"),
        (b"{\"a\":1", "incomplete"),
        (b"{\"a\":1} {}", "text follows"),
        (b"{\"a\" 1}", "a"),
        (b"\x00\x01", "not a JSON object"),
    ] {
        let ran = field(&["a"], stdin);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(
            ran.stderr.starts_with("error: ") && ran.stderr.contains(part),
            "{ran:?}"
        );
        let with_default = field(&["a", "--default", "x"], stdin);
        assert_eq!(
            (with_default.status, with_default.stdout.as_str()),
            (2, ""),
            "{with_default:?}"
        );
    }
}

#[test]
fn it_does_not_wait_for_the_end_of_stdin() {
    use std::io::{Read, Write};
    let mut child = Sandbox::new()
        .command(&["hook", "field", "a"])
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"{\"a\":\"here\"}").unwrap();
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(said, "here\n");
    drop(pipe);
}

#[test]
fn a_deep_and_a_long_document_are_read() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    let path = format!("a{}", ".0".repeat(100));
    assert_eq!(field(&[&path], deep.as_bytes()).stdout, "1\n");

    let too_deep = format!("{{\"a\":{}", "[".repeat(100_000));
    let ran = field(&["a"], too_deep.as_bytes());
    assert_eq!(ran.status, 2, "{ran:?}");

    let long = format!("{{\"pad\":\"{}\",\"a\":\"end\"}}", "x".repeat(5_000_000));
    assert_eq!(field(&["a"], long.as_bytes()).stdout, "end\n");
}

#[test]
fn a_hook_can_use_it_as_the_contract_shows() {
    let hookrun = env!("CARGO_BIN_EXE_hookrun");
    let sandbox = Sandbox::new().hook(
        "x.sh",
        &format!("command=$({hookrun} hook field toolInput.command) || exit 0\necho \"no: $command\" >&2\nexit 1"),
    );
    sandbox.run_shell("rm -rf /").blocks("no: rm -rf /");
    sandbox.run("tool.pre").allows();
}
