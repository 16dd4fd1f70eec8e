//! Whatever is nested or repeated: commands or a doubt, on a small stack.

use hookrun::internals::shell;

/// What is before, in and after the middle, each as often as the others.
const NESTS: &[(&str, &str, &str)] = &[
    ("{ ", "a", "; }"),
    ("( ", "a", " )"),
    ("(", "a", ")"),
    ("if ", "a", "; then b; fi"),
    ("while ", "a", "; do b; done"),
    ("case x in x) ", "a", ";; esac"),
    ("for i in a; do ", "a", "; done"),
    ("f() ", "{ a; }", ""),
    ("function f { ", "a", "; }"),
    ("[[ ( ", "a", " ) ]]"),
    ("[[ ! ", "a", " ]]"),
    ("if a; then b; elif ", "c", "; then d; fi"),
    ("a() { ", "b", "; }"),
    ("! ", "a", ""),
    ("time ", "a", ""),
    ("coproc ", "a", ""),
    ("coproc { ", "a", "; }"),
    ("$(", "a", ")"),
    ("\"$(", "a", ")\""),
    ("$(case a in a) ", "b", ";; esac)"),
    ("${x:-", "a", "}"),
    ("\"${x:-", "a", "}\""),
    ("${x:-'", "a", "'}"),
    ("$((", "1", "))"),
    ("((", "1", "))"),
    ("((a); ", "b", ")"),
    ("$[", "1", "]"),
    ("x[", "1", "]=2"),
    ("`", "a", "`"),
    ("<(", "a", ")"),
    ("a=(", "b", ")"),
    ("@(", "a", ")"),
    ("{a,", "b", "}"),
    ("sudo ", "a", ""),
    ("env ", "a", ""),
    ("env -S 'A=b' ", "a", ""),
    ("eval ", "a", ""),
    ("xargs ", "a", ""),
    ("ssh a ", "b", ""),
    ("parallel ", "a", ""),
    ("find . -exec ", "a", " \\;"),
    ("bash -c '", "a", "'"),
    ("bash -c ", "a", ""),
    ("git -c alias.a=!", "b", ""),
    ("a <<E\n", "x", "\nE\n"),
    ("a <<E ", "\nx\n", "E\n"),
];

/// What is only repeated.
const ROWS: &[&str] = &[
    "{a,b}",
    "{1..99999999}",
    "a; ",
    "a && ",
    "a || ",
    "a | ",
    "a & ",
    "a\n",
    "\\\n",
    "'a'",
    "\"a\"",
    "$a",
    "> a ",
    "a=b ",
    "$'\\x41'",
    "else ",
    ") ",
    "} ",
    ";; ",
    "#",
    "é",
    "\u{0}",
    "\u{10fffc}",
    "\u{10fffd}",
    "<",
    ">",
    "&",
    "|",
    "\"",
    "'",
    "$(",
    "${",
    "((",
    "(",
    "{",
    "if ",
    "case x in ",
    "<<E ",
    "<<E\n",
    "[[ ",
    "function ",
    "for ",
    "a <(b) ",
    "$(a) ",
    "`a` ",
    "${a} ",
    "\\",
    "$",
    " ",
    "\t",
    "a b ",
    "-",
    "*",
    "[",
    "esac ",
    "case ",
    "$((1)) ",
    "A=a; $A; ",
];

/// A text is read to commands or a doubt; an overflow of the stack would end the tests.
fn read(text: String) {
    let read = move || {
        let line = shell::read(&text);
        assert!(line.commands.len() <= 10_000);
        assert!(
            line.doubt
                .as_ref()
                .is_none_or(|doubt| !doubt.trim().is_empty())
        );
    };
    let thread = std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(read)
        .unwrap();
    thread.join().unwrap();
}

#[test]
fn whatever_is_nested_or_repeated_is_read_or_in_doubt() {
    let rows = ROWS.iter().map(|row| (*row, "", ""));
    for (open, middle, close) in NESTS.iter().copied().chain(rows) {
        for times in [10, 30, 100, 1_000, 10_000, 100_000, 1_000_000] {
            if (open.len() + close.len()) * times <= 3 << 20 {
                let text = format!("{}{middle}{}", open.repeat(times), close.repeat(times));
                read(text);
            }
        }
    }
}

#[test]
fn texts_in_texts_are_read_or_in_doubt() {
    let mut text = "a".to_string();
    for (number, (open, _, close)) in NESTS.iter().cycle().enumerate().take(60) {
        text = format!(
            "{}{text}{}",
            open.repeat(number % 8),
            close.repeat(number % 8)
        );
        read(text.clone());
        let quoted = format!("bash -c {}", shell_words::quote(&text));
        read(quoted.clone());
        if number % 4 == 0 && text.len() < 100_000 {
            text = quoted;
        }
    }
}

#[test]
fn braces_make_a_bounded_number_of_letters_and_hide_no_other_command() {
    let bombs = [
        format!("echo {{1..1000}}{}", "a".repeat(2_000)),
        format!("echo {}{{1..1000}}", "a".repeat(2_000)),
        format!("echo {{{}}}", ["abcdefgh{1..900}"; 60].join(",")),
        ["echo {1..1000}abcdefgh"; 40].join("; "),
        // Each level would copy all words again.
        format!(
            "echo {}{{1..1000}}{}{}",
            "{".repeat(62),
            "a".repeat(120),
            ",x}".repeat(62)
        ),
        format!(
            "ssh {} '{}'",
            "h{,}{,}{,}{,}{,}{,}{,}{,}", "echo {1..100}{a..z}; "
        ),
    ];
    for bomb in bombs {
        let line = shell::read(&format!("{bomb}; rm -rf x"));
        assert!(line.doubt.is_some(), "{bomb:.60}");
        let removes = |one: &shell::ShellCommand| one.program.text.as_deref() == Some("rm");
        assert!(line.commands.iter().any(removes), "{bomb:.60}");
        let letters: usize = line
            .commands
            .iter()
            .flat_map(|command| &command.args)
            .map(|word| word.written.len())
            .sum();
        assert!(letters < 1 << 18, "{letters} letters of {bomb:.60}");
    }
}
