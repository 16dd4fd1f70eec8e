//! Programs that stay up and misbehave: no event gets the answer to another one, none is late, and
//! nothing is left.

use std::time::{Duration, Instant};

use super::TWICE;
use super::staying::{Decided, Server, process_of, says_who};

/// What a hook does with the command that it is asked about, and what its event then ends with.
const ATTACKS: &[(&str, &str)] = &[
    ("answer('e1', {})\ncontinue", "is not the `id` of the event"),
    (
        "print('hello', flush=True)\ncontinue",
        "is not a JSON object",
    ),
    ("print(flush=True)\ncontinue", "stdout is empty"),
    (TWICE, "more than one line"),
    ("os.close(1); time.sleep(1000)", "timed out"),
    ("time.sleep(1000)", "timed out"),
    ("os.kill(os.getpid(), 19)", "timed out"),
    (
        "sys.stdout.write('x' * 3000000); sys.stdout.flush(); time.sleep(1000)",
        "longer than 1 MiB",
    ),
    ("{}['x']", "KeyError"),
    ("sys.exit(0)", "stdout is empty"),
    ("sys.exit(7)", "exited with status 7"),
    ("os.kill(os.getpid(), 11)", "SIGSEGV"),
    (
        "print('not\\x00json', flush=True)\ncontinue",
        "is not a JSON object",
    ),
    (
        "sys.stdout.buffer.write(b'\\xc3\\x28\\n'); sys.stdout.flush()\ncontinue",
        "is not a JSON object",
    ),
];

#[track_caller]
fn blocks(decided: &Decided, said: &str) {
    assert!(
        decided.status == 2 && decided.text.contains(said),
        "{said}: {decided:?}"
    );
}

#[test]
fn a_fault_blocks_its_event_alone_and_the_next_one_has_a_new_process() {
    for (body, said) in ATTACKS {
        let bad = body
            .lines()
            .map(|line| format!("    {line}\n"))
            .collect::<String>();
        let mut server = Server::start(&says_who(&format!("if 'bad' in who:\n{bad}")));
        for _ in 0..2 {
            let first = process_of(&server.decide("good"));
            assert_eq!(process_of(&server.decide("good")), first, "{body}");
            let started = Instant::now();
            blocks(&server.decide("bad"), said);
            assert!(started.elapsed() < Duration::from_secs(10), "{body}");
            assert_ne!(process_of(&server.decide("good")), first, "{body}");
        }
        server.ends();
    }
}

#[test]
fn an_answer_that_was_written_ahead_decides_nothing() {
    // It blocks the next event with the id of this one, then with a guess, at once and a bit later.
    for ahead in ["request['id']", "'0' * 32"] {
        for pause in ["0", "0.05"] {
            let block = "{'continue': False, 'reason': 'written after ' + who}";
            let body = format!(
                "answer(request['id'], keys)\ntime.sleep({pause})\nanswer({ahead}, {block})\ncontinue"
            );
            let mut server = Server::start(&says_who(&body));
            for number in 0..20 {
                let decided = server.decide(&number.to_string());
                // Two answers at once are a fault of their own event; after that there is a new
                // process. On a busy machine those after a pause come at once too.
                if decided.status == 0 || decided.text.contains("written after") {
                    assert!(decided.text.ends_with(&format!(" {number}")), "{decided:?}");
                }
            }
            server.ends();
        }
    }
}

#[test]
fn a_child_that_holds_its_streams_delays_and_answers_nothing() {
    // The child outlives the answer, and its parent, and says something each time.
    let body = "if os.fork() == 0:\n    time.sleep(0.1); os.write(1, b'late\\n'); time.sleep(1000)";
    let mut server = Server::start(&says_who(body));
    for number in 0..5 {
        let decided = server.decide(&number.to_string());
        assert!(decided.text.ends_with(&format!(" {number}")), "{decided:?}");
        std::thread::sleep(Duration::from_millis(150));
    }
    server.ends();
    // It leaves the group, and ends with the hook all the same.
    let body = "if os.fork() == 0:\n    os.setsid(); time.sleep(1000)";
    let mut server = Server::start(&says_who(body));
    for number in 0..5 {
        process_of(&server.decide(&number.to_string()));
    }
    server.ends();
}

#[test]
fn an_answer_after_the_timeout_is_no_answer_to_anything() {
    let mut server = Server::start(&says_who("if 'bad' in who: time.sleep(2.5)"));
    let first = process_of(&server.decide("good"));
    blocks(&server.decide("bad"), "timed out");
    for number in 0..10 {
        let decided = server.decide(&number.to_string());
        assert!(decided.text.ends_with(&format!(" {number}")), "{decided:?}");
        assert_ne!(process_of(&decided), first);
    }
    server.ends();
}

#[test]
fn a_flood_on_stderr_hangs_nothing() {
    let mut server = Server::start(&says_who(
        "sys.stderr.write('x' * 500000); sys.stderr.flush()",
    ));
    let first = process_of(&server.decide("a"));
    for _ in 0..10 {
        assert_eq!(process_of(&server.decide("a")), first);
    }
    server.ends();
}

#[test]
fn the_rest_of_an_event_that_was_not_read_is_not_the_beginning_of_the_next_one() {
    // It answers when it has read the id and a part of the rest, which it leaves for a while.
    let hook = "#!/usr/bin/env python3\n# hookrun: warm=serve\nimport json, os, time\n\
                while True:\n\
                \x20   part = os.read(0, 4096)\n\
                \x20   id = part.split(b'\"')[3].decode()\n\
                \x20   line = json.dumps({'id': id, 'additionalContext': '%d x' % os.getpid()}) + '\\n'\n\
                \x20   os.write(1, line.encode())\n\
                \x20   time.sleep(0 if part.endswith(b'\\n') else 1000)\n";
    let mut server = Server::start(hook);
    let first = process_of(&server.decide(&"x".repeat(1_000_000)));
    assert_ne!(process_of(&server.decide("small")), first);
    server.ends();
}

#[test]
fn one_that_closes_its_stdin_gets_no_further_event() {
    let body = "answer(request['id'], keys)\nos.close(0); time.sleep(1000)";
    let mut server = Server::start(&says_who(body));
    let first = process_of(&server.decide("a"));
    // It closes it a moment after it has answered.
    std::thread::sleep(Duration::from_millis(300));
    assert_ne!(process_of(&server.decide("a")), first);
    server.ends();
}
