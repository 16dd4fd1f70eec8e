//! Hooks with `warm = "serve"`: programs that stay up and answer lines.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

mod answers;
mod attacks;
mod soak;
mod staying;

/// Answers once more, in the same write as the answer that follows.
const TWICE: &str = "print(json.dumps({'id': request['id']}))";

/// The text of an example in the documentation.
fn example(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/served")
        .join(name);
    fs::read_to_string(file).unwrap()
}

/// A hook in Python that stays up and answers each request by `body`, which has `request`, `event`
/// (the context), and sets `keys` of the answer.
fn served(body: &str) -> String {
    let body = body
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect::<String>();
    format!(
        "#!/usr/bin/env python3\n# hookrun: warm=serve\nimport json, os, sys, time\n\
         def answer(id, keys):\n\
         \x20   print(json.dumps({{\"id\": id, **keys}}), flush=True)\n\
         for line in sys.stdin:\n\
         \x20   request = json.loads(line)\n\
         \x20   event = request[\"context\"]\n\
         \x20   keys = {{}}\n{body}\
         \x20   answer(request[\"id\"], keys)\n"
    )
}

fn bash(command: &str) -> Value {
    json!({ "toolName": "bash", "toolInput": { "command": command }, "sessionId": "s-1" })
}
