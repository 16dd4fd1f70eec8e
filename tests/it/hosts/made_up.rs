//! A host that does not exist, from one `Host`: its event comes in, a decision goes out, and what
//! `install` and the documents say of it is there too.

use std::sync::Arc;
use std::time::Duration;

use hookrun::hosts::settings::{HostFile, HostHookKey, MatcherSubject};
use hookrun::hosts::settings::{HostForm, Install, UserFile};
use hookrun::hosts::{
    Binding, BlockStatus, Host, HostEvent, KeyMeaning, KeySpelling, ReplyForm, ReplyRule,
    ReplySlot, ReplyValue, ToolSort, Wait, key, tool,
};
use hookrun::{Config, Context, Environment, Event, Hook, Runner};

static GATES: ReplyForm = ReplyForm {
    writes: &[
        ReplyRule {
            on: ReplySlot::Block,
            put: &[
                ("verdict", ReplyValue::Word("stop")),
                ("why", ReplyValue::Text),
            ],
            status: 2,
        },
        ReplyRule {
            on: ReplySlot::Output,
            put: &[("say", ReplyValue::Text)],
            status: 0,
        },
    ],
    reads: &[
        key("stop", KeyMeaning::Block(true)),
        key("why", KeyMeaning::Reason),
    ],
    shares: &[],
    blocks: BlockStatus::Two,
};

static OTTER: Host = Host {
    name: "otter",
    aliases: &["otter-code"],
    title: "Otter",
    names_event_by: "moment",
    spelling: KeySpelling::Snake,
    tools: &[tool("splash", ToolSort::Shell).keys(&[("command", "line")])],
    events: &[
        HostEvent::OBSERVER
            .gate("before_tool", "tool.pre", &GATES)
            .keys(&[("tool", "toolName"), ("with", "toolInput")])
            .waits(Wait::seconds(20)),
        HostEvent::OBSERVER.open_gate("rest", "agent.stop", &GATES),
    ],
    settings: Some(HostFile {
        places: &[".otter"],
        shell: Some("sh"),
        hook: &[
            ("command", HostHookKey::Command),
            ("timeout", HostHookKey::Time),
            ("matcher", HostHookKey::Matcher),
        ],
        subjects: &[(MatcherSubject::Tool, "before_tool")],
        ..HostFile::PLAIN
    }),
    install: Install {
        project: ".otter/hooks.json",
        user: UserFile::Home(".otter/hooks.json"),
        form: HostForm::Settings,
        cannot: &["it swims"],
        ..Install::NONE
    },
    ..Host::PLAIN
};

/// What the host gets for an event, with a guard of any host and one that was written for this one.
fn reply_to(payload: &str) -> (u8, String) {
    let context = Context::parse(payload).unwrap();
    let binding = OTTER.called(&context.string("moment").unwrap())[0];
    let guard = Hook::shell(
        "guard",
        "tool.pre",
        "! grep -q 'rm -rf' || { echo 'too much' >&2; exit 1; }",
    );
    let mut own = Hook::shell(
        "own",
        "tool.pre",
        r#"grep -q '"with":{"line":"dive' && echo '{"stop": true, "why": "no diving"}'; :"#,
    );
    own.convention = Some(Arc::new(Binding {
        dialect: &OTTER,
        row: binding.row,
    }));
    let config = Config {
        hooks: vec![guard, own],
        ..Config::default()
    };
    let runner = Runner::from_config(config, &Environment::capture());
    let event = Event::new(
        binding.spec().into(),
        OTTER.name,
        binding.decode(context).unwrap(),
    )
    .unwrap();
    let reply = binding.reply(&runner.handle(&event).outcome);
    (reply.status, reply.stdout.trim_end().to_string())
}

#[test]
fn its_events_are_decided_and_answered_in_its_words() {
    let payload = |line: &str| {
        format!(
            r#"{{"moment":"before_tool","session_id":"s","tool":"splash","with":{{"line":"{line}"}}}}"#
        )
    };
    assert_eq!(reply_to(&payload("ls")), (0, String::new()));
    let blocked = |why: &str| (2, format!(r#"{{"verdict":"stop","why":"{why}"}}"#));
    assert_eq!(reply_to(&payload("rm -rf /")), blocked("too much"));
    assert_eq!(reply_to(&payload("dive")), blocked("no diving"));
}

#[test]
fn what_it_can_do_and_how_it_is_installed_comes_from_the_same_place() {
    assert!(OTTER.is_installable() && OTTER.blocks("tool.pre") && !OTTER.asks());
    let gate = OTTER.served_event("tool.pre").unwrap();
    assert!(gate.fails_closed() && gate.takes_status());
    assert_eq!(
        gate.wait.map(|wait| wait.usual),
        Some(Duration::from_secs(20))
    );
    let settings = OTTER.settings.as_ref().unwrap();
    assert_eq!(settings.subject("before_tool"), Some(MatcherSubject::Tool));
    assert_eq!(settings.subject("rest"), None);
    let limits = OTTER.limits();
    for limit in [
        "Otter cannot ask the user, so a hook that asks blocks",
        "it swims",
        "hooks cannot block a prompt",
    ] {
        assert!(limits.iter().any(|one| one == limit), "{limits:?}");
    }
}
