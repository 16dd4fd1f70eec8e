//! Answers that are not what they should be: noise, broken JSON, bytes that are no text, far too
//! much of it. What cannot be used is a failure, never consent; and a refusal is never lost.

use serde_json::json;

use crate::nasty::running::decide;
use crate::sandbox::{Ran, Sandbox};

/// The reply to a gate whose one hook prints exactly these bytes and exits with `status`.
fn printed(bytes: &[u8], status: i32) -> Ran {
    let sandbox = Sandbox::new().hook("hook", &format!("cat answer; exit {status}"));
    std::fs::write(sandbox.at("answer"), bytes).unwrap();
    decide(&sandbox)
}

#[track_caller]
fn malformed(ran: &Ran, problem: &str) {
    ran.blocks_saying("hook `hook` failed: malformed answer: ")
        .says(problem);
    ran.says("(fail closed)");
}

#[track_caller]
fn blocks(ran: &Ran, reason: &str) {
    ran.blocks(reason);
}

#[track_caller]
fn says(ran: &Ran, output: &str) {
    ran.allows_with(json!({ "output": output }));
}

/// One test for each answer: what the hook prints, what that is, and the problem, the reason or
/// the output.
macro_rules! answers {
    ($($name:ident: $bytes:expr => $becomes:ident $words:expr;)*) => {$(
        #[test]
        fn $name() {
            $becomes(&printed(($bytes).as_ref(), 0), $words);
        }
    )*};
}

/// A refusal in one line.
const NO: &str = r#"{"continue":false,"reason":"no"}"#;

/// UTF-16 with a byte order mark, as some shells write it.
fn utf_16(text: &str, bytes_of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(bytes_of)
        .collect()
}

answers! {
    // Broken JSON.
    a_lone_brace_is_text: "{" => says "{";
    words_in_braces_are_text: "{oops}" => says "{oops}";
    single_quotes_are_malformed: "{'continue': false}" => malformed "line 1: an object with `continue`";
    a_literal_of_another_language_is_malformed: "{\"continue\": True}" => malformed "`continue`";
    a_missing_value_under_another_key_is_text: "{\"a\":}" => says "{\"a\":}";
    a_comma_too_many_is_malformed: "{\"continue\":true,}" => malformed "`continue`";
    a_comment_is_malformed: "{\"continue\":true /* fine */}" => malformed "`continue`";
    an_answer_that_breaks_off_is_malformed: "{\"continue\":true,\"reason\":\"fi" =>
        malformed "`continue`";
    an_answer_on_many_lines_that_breaks_off_is_malformed: "log\n{\n  \"continue\": fal" =>
        malformed "line 3: an object with `continue`";
    a_line_break_in_a_string_is_malformed: "{\"output\":\"two\nlines\"}" => malformed "`output`";
    half_a_surrogate_pair_is_replaced: r#"{"output":"a\ud800"}"# => says "a\u{fffd}\u{fffd}\u{fffd}";
    a_number_beyond_all_numbers_is_text: "{\"x\":1e999}" => says "{\"x\":1e999}";

    // JSON that is not the contract's.
    a_continue_with_a_slip_is_malformed: r#"{"contine":false}"# =>
        malformed "line 1: unknown key `contine`; write {\"continue\": false";
    a_continue_in_capitals_is_malformed: r#"{"CONTINUE":false}"# => malformed "`CONTINUE`";
    a_decision_of_another_system_is_malformed: r#"{"decision":"block"}"# =>
        malformed "line 1: unknown key `decision`; write {\"continue\": false";
    a_consent_of_another_system_is_text: r#"{"decision":"approve"}"# =>
        says r#"{"decision":"approve"}"#;
    a_text_for_a_boolean_is_malformed: r#"{"continue":"false"}"# =>
        malformed "`continue` must be a JSON boolean";
    a_number_for_a_boolean_is_malformed: r#"{"continue":1}"# =>
        malformed "`continue` must be a JSON boolean";
    null_is_absent: r#"{"continue":true,"reason":null,"output":"x","update":null}"# => says "x";
    a_list_for_a_text_is_malformed: "\n\n{\"output\":[\"a\"]}" =>
        malformed "line 3: `output` must be a JSON string";
    a_list_for_an_update_is_malformed: r#"{"update":[]}"# =>
        malformed "`update` must be a JSON object";
    of_a_key_that_stands_twice_the_last_counts: r#"{"output":"a","output":"b"}"# => says "b";
    a_block_before_a_consent_is_not_lost:
        r#"{"continue":false,"continue":true,"reason":"no"}"# => blocks "no";
    a_block_after_a_consent_is_not_lost:
        r#"{"continue":true,"continue":false,"reason":"no"}"# => blocks "no";
    a_block_with_an_update_that_is_not_allowed_blocks:
        r#"{"continue":false,"reason":"no","update":{"cwd":"/"}}"# => blocks "no";
    values_by_position_are_text: r#"["allow",true]"# => says r#"["allow",true]"#;
    a_list_of_answers_is_text: r#"[{"continue":true}]"# => says r#"[{"continue":true}]"#;
    a_key_of_somebody_else_is_text: r#"{"version":2}"# => says r#"{"version":2}"#;

    // Noise, and more than one answer.
    two_answers_are_malformed: "{\"output\":\"a\"}\n{\"output\":\"b\"}" =>
        malformed "line 2: this is the second answer; the first is on line 1";
    two_answers_on_one_line_are_malformed: "{\"output\":\"a\"}{\"output\":\"b\"}" => malformed "";
    words_around_an_answer_are_output: "hi\n{\"continue\":true}\nbye" => says "hi\nbye";
    an_output_wins_over_words: "hi\n{\"output\":\"a\"}\nbye" => says "a";
    a_block_after_words_is_not_lost: format!("Welcome!\n{NO}\n") => blocks "no";
    a_block_before_words_is_not_lost: format!("{NO}\nlogout\n") => blocks "no";
    a_block_among_words_is_not_lost: format!("hello\n  {NO}  \nbye") => blocks "no";
    an_object_within_a_line_is_text: format!("no newline here {NO}") =>
        says &format!("no newline here {NO}");
    a_block_after_a_document_is_not_lost: format!("{{\"continue\":true}}\n{NO}") => blocks "no";
    a_block_before_a_document_is_not_lost: format!("{NO}{{\"continue\":true}}") => blocks "no";
    a_block_after_broken_json_is_not_lost: format!("{{ broken\n{NO}") => blocks "no";
    a_block_on_many_lines_is_not_lost:
        "log\n{\n \"continue\" : false,\n \"reason\" : \"no\"\n}\n" => blocks "no";
    a_block_among_colours_is_not_lost:
        format!("\u{1b}[1mcolour\u{1b}[0m\r\n{NO}\r\n") => blocks "no";
    colours_alone_are_text: "\u{1b}[32mfine\u{1b}[0m" => says "\u{1b}[32mfine\u{1b}[0m";

    // Bytes that are no text, and other ways to write it.
    bytes_that_are_no_utf_8_are_replaced: b"a\xff\xfeb\0c" => says "a\u{fffd}\u{fffd}b\0c";
    bytes_that_are_no_utf_8_in_a_document_are_replaced:
        b"{\"output\":\"\xff\"}" => says "\u{fffd}";
    a_block_with_bytes_that_are_no_utf_8_is_not_lost:
        b"{\"continue\":false,\"reason\":\"\xff\"}" => blocks "\u{fffd}";
    a_nul_in_a_document_is_malformed: b"{\"output\":\"a\0b\"}" => malformed "`output`";
    a_nul_after_a_document_is_text: b"{\"output\":\"a\"}\0" => says "a";
    a_block_between_nuls_is_not_lost: format!("nul \0 byte\n{NO}\0\n") => blocks "no";
    a_byte_order_mark_and_carriage_returns_are_fine:
        "\u{feff}\r\n{\r\n  \"output\": \"x\"\r\n}\r\n" => says "x";
    a_block_after_a_byte_order_mark_is_not_lost: format!("\u{feff}{NO}\r\n") => blocks "no";

    // Without end.
    a_hundred_thousand_lists_in_an_answer_are_malformed:
        format!("{{\"continue\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)) =>
        malformed "`continue` must be a JSON boolean";
    a_hundred_thousand_lists_that_do_not_end_are_malformed:
        format!("{{\"reason\":{}", "[".repeat(100_000)) => malformed "`reason`";
    eleven_mebibytes_are_malformed_and_their_beginning_is_not_read:
        format!("{{\"continue\":true}}{}", " ".repeat(11 << 20)) => malformed "print at most 1 MiB";
    a_million_digits_of_text_are_text: "9".repeat(1_000_000) => says &"9".repeat(1_000_000);
}

#[test]
fn an_object_that_nests_as_deep_as_one_likes_is_text() {
    for depth in [120, 128, 100_000] {
        let deep = format!("{}1{}", "{\"x\":".repeat(depth), "}".repeat(depth));
        says(&printed(deep.as_bytes(), 0), &deep);
    }
}

#[test]
fn large_and_long_numbers_under_other_keys_are_fine() {
    for number in [
        "1e308".to_string(),
        "9".repeat(300),
        format!("-0.{}", "1".repeat(100_000)),
    ] {
        printed(
            format!("{{\"continue\":true,\"x\":{number}}}").as_bytes(),
            0,
        )
        .allows();
    }
}

#[test]
fn a_block_is_not_lost_in_utf_16() {
    for bytes_of in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
        let answer = "{\"continue\":false,\"reason\":\"nö\u{1f980}\"}";
        printed(&utf_16(answer, bytes_of), 0).blocks("nö\u{1f980}");
    }
}

#[test]
fn a_block_by_status_is_not_lost_in_utf_16() {
    for bytes_of in [u16::to_le_bytes, u16::to_be_bytes] {
        printed(&utf_16("{\"continue\":true}", bytes_of), 1).exits(2);
    }
}

#[test]
fn one_byte_more_than_a_mebibyte_is_malformed() {
    let mut long = br#"{"output":"x"}"#.to_vec();
    long.resize(1024 * 1024 + 1, b' ');
    malformed(
        &printed(&long, 0),
        "stdout has 1048577 bytes; print at most 1 MiB",
    );
    long.pop();
    says(&printed(&long, 0), "x");
}

#[test]
fn a_long_line_full_of_objects_is_read_in_time() {
    // A list of records, as `jq -c` or `gh api` print it: a million bytes on one line.
    let record = r#"{"id":1,"name":"x"},"#;
    let list = format!("[{}{{}}]", record.repeat(1_000_000 / record.len()));
    says(&printed(list.as_bytes(), 0), &list);
}

#[test]
fn a_block_by_status_with_bytes_that_are_no_text_is_shown_as_far_as_it_is() {
    let sandbox = Sandbox::new().hook("hook", r"printf 'bad \377 byte' >&2; exit 1");
    decide(&sandbox).blocks("bad \u{fffd} byte");
}

#[test]
fn a_block_by_status_needs_no_answer_that_can_be_used() {
    for bytes in [&b"{"[..], b"{\"continue\":\"true\"}", b"{}{}", b"\xff{\0"] {
        assert_eq!(printed(bytes, 3).status, 2);
    }
}
