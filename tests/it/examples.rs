//! The programs in `examples/` do what they are there to show.

#[path = "../../examples/agent_loop.rs"]
#[expect(dead_code, reason = "its `main` is for `cargo run`")]
mod agent_loop;

#[path = "../../examples/interceptor.rs"]
#[expect(dead_code, reason = "its `main` is for `cargo run`")]
mod interceptor;

#[test]
fn the_agent_loop_asks_at_every_step_and_tells_the_model_why() {
    let expected = "\
session.start allowed
model.pre     allowed
  to the model: <system-reminder> Additional context from hook \"branch\":  The branch is main. </system-reminder>
model.post    allowed
tool.pre      blocked
  the tool gives: Permission denied by hook: /srv/prod/users.csv is production. Do not retry; the host environment has rejected this action. Surface the block to the user with the hook's reason verbatim.
model.pre     allowed
  to the model: <system-reminder> Hook \"no-prod\" blocked the action: /srv/prod/users.csv is production. Adjust your approach; do not retry the exact same call. </system-reminder>
model.post    allowed
tool.pre      blocked
  the tool gives: Permission denied by hook: send this mail? (no answer). Do not retry; the host environment has rejected this action. Surface the block to the user with the hook's reason verbatim.
model.pre     allowed
model.post    allowed
tool.pre      allowed
tool.post     allowed
  the tool gives: hello
model.pre     allowed
model.post    allowed
  the model says: The notes say hello.
session.end   allowed
  ended: completed
session.start allowed
model.pre     allowed
  to the model: <system-reminder> Additional context from hook \"branch\":  The branch is main. </system-reminder>
error         allowed
session.end   allowed
  ended: error
";
    let mut out = Vec::new();
    agent_loop::run(&mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn interceptors_change_calls_before_hooks_judge_them() {
    let expected = "\
read {\"path\":\"notes.txt\"}: \"/tenants/acme/notes.txt says [removed]\"
read {\"path\":\"../else/notes.txt\"}: blocked: /tenants/acme/../else/notes.txt leads outside
read {}: vetoed by tenant: no path
fetch {\"url\":\"https://example.org\"}: vetoed by no-network: there is no network here
";
    let mut out = Vec::new();
    interceptor::run(&mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
