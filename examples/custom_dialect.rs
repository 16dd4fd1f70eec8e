//! A hook system of one's own on hookrun: a mail program whose hooks see a letter before it goes.
//!
//! A dialect is a table. This one calls `message.out` of the catalog `letter_out`, has keys of
//! its own in the event and in the result, and lets hooks hold a letter back or change its text.
//! `cargo run --example custom_dialect` decides three letters and prints what the program gets.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use hookrun::hosts::{Binding, Host, HostEvent, KeyMeaning, key};
use hookrun::{Config, Context, Environment, Event, Hook, Merge, OnFailure, Runner};

static MAIL: Host = Host {
    name: "mail",
    names_event_by: "about",
    events: &[HostEvent::OBSERVER
        .named("letter_out", "message.out")
        .keys(&[("text", "content"), ("to", "recipient")])
        .blocks(true)
        .on_failure(OnFailure::Block)
        .results(&[
            key("hold", KeyMeaning::Refusal(true)),
            key("because", KeyMeaning::Reason),
            key("text", KeyMeaning::Field("content", Merge::Chain)),
        ])],
    ..Host::PLAIN
};

/// Written for the mail program: it gets a letter on stdin, and answers in the program's words.
const SIGNS: &str = r#"read -r letter
case $letter in
*'"to":"all"'*) echo '{"hold": true, "because": "nobody writes to all"}' ;;
*hello*) echo '{"text": "hello, yours"}' ;;
esac"#;

/// Written for any program: exit status 1 refuses.
const NO_SECRETS: &str = "! grep -q 'secret' || { echo 'it tells a secret' >&2; exit 1; }";

fn main() -> Result<(), Box<dyn Error>> {
    run(&Environment::capture(), &mut std::io::stdout().lock())
}

pub(crate) fn run(env: &Environment, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let binding = Binding {
        dialect: &MAIL,
        row: &MAIL.events[0],
    };
    let mut signs = Hook::shell("signs", "message.out", SIGNS);
    signs.convention = Some(Arc::new(binding));
    let secrets = Hook::shell("no-secrets", "message.out", NO_SECRETS);
    let config = Config {
        hooks: vec![signs, secrets],
        ..Config::default()
    };
    let runner = Runner::from_config(config, env);

    for letter in [
        r#"{"about": "letter_out", "to": "ann", "text": "hello"}"#,
        r#"{"about": "letter_out", "to": "all", "text": "hello"}"#,
        r#"{"about": "letter_out", "to": "bob", "text": "the secret is 7"}"#,
    ] {
        let context = binding.decode(Context::parse(letter)?)?;
        let event = Event::new(binding.spec().into(), MAIL.name, context)?;
        let run = runner.handle(&event);
        let reply = binding.reply(&run.outcome);
        write!(out, "{letter}\n  status {}: {}", reply.status, reply.stdout)?;
    }
    Ok(())
}
