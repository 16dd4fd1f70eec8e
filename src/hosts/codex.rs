//! Codex CLI: Claude Code's names and keys, a strict reader, and fewer answers.
//!
//! Sources: `codex-rs/hooks` as of 8 August 2026; measured with version 0.169.0. Before a tool, a
//! result with an unknown key, a bare `allow`, a question or `continue: false` is invalid, and the
//! tool runs. So hookrun blocks and asks by exit status 2 with the reason on stderr and an empty
//! stdout.

use super::claude::{
    FAMILY, GATES, GATES_AND_TEACHES, NEW_INPUT, OBSERVED, PERMISSION, PERMITS, TEACHES,
    TOOL_READS, post_tool_use,
};
use super::context::snake;
use super::prelude::*;
use crate::engine::names::hex;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

static PRE_TOOL_USE: ReplyForm = form(
    &[
        BLOCK_RULE,
        say(
            New("toolInput"),
            &[NAMED, (PERMISSION, Word("allow")), (NEW_INPUT, Value)],
        ),
        TEACH,
        SHOW,
    ],
    TOOL_READS,
    READS_ADDED,
);

/// A result cannot be replaced: an objection, or a rewritten result, is sent as a block.
static POST_TOOL_USE: ReplyForm = form(
    &[
        say(Objection, BLOCK),
        say(
            New("result"),
            &[("decision", Word("block")), ("reason", Plain)],
        ),
        TEACH,
        SHOW,
    ],
    &[],
    READS_ADDED,
);

/// The timeout of `SessionEnd`, measured: up to 3 s if a hook sets more.
const AT_THE_END: Wait = Wait::seconds(1).at_most(3);

const ROW: HostEvent = WAITS_LONG;

const NOT_CODEXS: &[&str] =
    words!("prompt_id" "timestamp" "sessionId" "conversation_id" "cursor_version");

pub(super) static CODEX: Host = Host {
    name: "codex",
    aliases: &["codex-cli"],
    title: "Codex",
    // Codex reads files through the shell and edits them only by patches.
    tools: &[
        tool("Bash", ToolSort::Shell),
        tool("apply_patch", ToolSort::Patch).also(&["Edit", "Write"]),
        tool("spawn_agent", ToolSort::Agent).also(&["Agent"]),
    ],
    events: &[
        ROW.observed("SessionStart", "session.start", &TEACHES)
            .text_is_context(true),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES)
            .text_is_context(true),
        ROW.gate("PreToolUse", "tool.pre", &PRE_TOOL_USE),
        ROW.gate("PermissionRequest", "permission.request", &PERMITS),
        post_tool_use(ROW, &POST_TOOL_USE),
        // Observed only: exit status 2, text and context have no effect.
        ROW.observed("PreModelRequest", "model.pre", &OBSERVED),
        ROW.observed("SubagentStart", "subagent.start", &TEACHES)
            .text_is_context(true),
        ROW.open_gate("SubagentStop", "subagent.stop", &GATES),
        ROW.open_gate("Stop", "agent.stop", &GATES),
        ROW.observed("StopFailure", "error", &OBSERVED)
            .keys(&[("error", "code"), ("error_details", "message")]),
        ROW.observed("Interrupt", "agent.end", &OBSERVED)
            .waits(AT_THE_END),
        ROW.open_gate("PreCompact", "compact.pre", &GATES),
        ROW.observed("PostCompact", "compact.post", &OBSERVED),
        ROW.observed("SessionEnd", "session.end", &OBSERVED)
            .waits(AT_THE_END),
    ],
    unseen: &[
        "`write_stdin`, which sends text to a running shell or interpreter",
        "`web_search`, which runs on the provider's servers, like other hosted tools",
    ],
    trust: Some(
        "trust the project, and accept the hooks in `/hooks`; accept them again after every change \
             to their command, because Codex silently skips hooks that are not accepted",
    ),
    signs: &[
        sign(
            SignedEvents::KnownOrNew,
            &["session_id", "turn_id", "model"],
            NOT_CODEXS,
        ),
        // Claude Code's `SessionStart` has a model but no permission mode.
        sign(
            SignedEvents::Known,
            &["session_id", "model", "permission_mode"],
            NOT_CODEXS,
        ),
        sign(SignedEvents::Alone, &["session_id"], NOT_CODEXS),
    ],
    settings: Some(HostFile {
        // The account's login shell, usually bash.
        shell: Some("bash"),
        places: &[".codex"],
        // Approved hooks.
        beside: &["state"],
        hook: &[
            ("type", Kind),
            ("command", Command),
            ("commandWindows", Idle),
            ("command_windows", Idle),
            ("timeout", Time),
            ("async", Async),
            ("statusMessage", About),
        ],
        of_plugin: &["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"],
        matching: Matching {
            list: Some("_|"),
            divides: &['|'],
            ..Matching::SEARCHED
        },
        subjects: SUBJECTS,
        off: &[
            (&["features", "hooks"], false),
            (&["features", "codex_hooks"], false),
        ],
        comments: Comments::Forbidden,
        takes_mark: false,
        ..HostFile::FAMILY
    }),
    imports: &[".codex/hooks.json", ".codex/config.toml"],
    install: Install {
        project: ".codex/hooks.json",
        user: moved("CODEX_HOME", ".codex", "hooks.json"),
        cannot: &[
            "for `PermissionRequest`, the installed command cannot block if hookrun is missing",
        ],
        distrust: Some(distrust),
        beside: &["config.toml"],
        ..Install::SETTINGS
    },
    ..FAMILY
};

/// Codex trusts a project by path and a hook by a checksum, both in the user's `config.toml`.
fn distrust(question: &TrustQuestion<'_>) -> Vec<Distrust> {
    let file = question.user.join("config.toml");
    let config = (question.read)(&file);
    let mut found = Vec::new();
    if let Some(project) = question.project
        && !is_trusted(&config, project)
    {
        found.push(Distrust {
            file: file.clone(),
            cause: "the project is not trusted: Codex does not read its hooks".to_string(),
            cure: "start `codex` here, and trust the folder",
        });
    }
    let mut skipped: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (event, place, group, hook) in own_hooks(question) {
        let place = format!("{}:{place}", snake(event));
        let state = state_of(&config, question.file, &place);
        let why = match state["trusted_hash"].as_str() {
            _ if state["enabled"] == false => "is disabled in `/hooks`",
            None => "was never accepted",
            Some(sum) if sum != codex_sum(event, group, hook) => {
                "has changed since it was accepted"
            }
            Some(_) => continue,
        };
        skipped.entry(why).or_default().push(event.to_string());
    }
    for (why, events) in skipped {
        let events = events.join(", ");
        found.push(Distrust {
            file: file.clone(),
            cause: format!("Codex skips hookrun for {events}: the hook {why}"),
            cure: "start `codex` here, and accept and enable the hooks in `/hooks`",
        });
    }
    found
}

/// Whether the nearest listed folder above a project, or its canonical path, is trusted.
fn is_trusted(config: &Json, project: &Path) -> bool {
    let real = project.canonicalize().unwrap_or_default();
    for path in [project, &real] {
        let projects = &config["projects"];
        let mut folders = path.ancestors();
        let level = folders.find_map(|folder| projects.get(folder.to_str()?)?.get("trust_level"));
        if level.is_some_and(|level| level == "trusted") {
            return true;
        }
    }
    false
}

fn state_of<'c>(config: &'c Json, file: &Path, place: &str) -> &'c Json {
    let real = file.canonicalize().unwrap_or_default();
    for file in [file, &real] {
        let key = format!("{}:{place}", file.display());
        if let Some(state) = config["hooks"]["state"].get(key) {
            return state;
        }
    }
    &Json::Null
}

/// hookrun's own hooks: event, position as Codex counts, group and hook.
fn own_hooks<'a>(question: &'a TrustQuestion<'_>) -> Vec<(&'a str, String, &'a Json, &'a Json)> {
    let mut own = Vec::new();
    let events = question.settings["hooks"].as_object().into_iter().flatten();
    for (event, groups) in events {
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            for (below, hook) in group["hooks"].as_array().into_iter().flatten().enumerate() {
                if hook["command"].as_str().is_some_and(question.is_own) {
                    own.push((event.as_str(), format!("{at}:{below}"), group, hook));
                }
            }
        }
    }
    own
}

/// Codex's checksum of a hook: of compact JSON with sorted keys, without the file's path.
fn codex_sum(event: &str, group: &Json, hook: &Json) -> String {
    let mut identity = json!({
        "event_name": snake(event),
        "hooks": [{
            "async": hook["async"] == true,
            "command": hook["command"],
            "timeout": hook["timeout"].as_u64().unwrap_or(600).max(1),
            "type": "command",
        }],
    });
    if hook["statusMessage"].is_string() {
        identity["hooks"][0]["statusMessage"] = hook["statusMessage"].clone();
    }
    if group["matcher"].is_string() {
        identity["matcher"] = group["matcher"].clone();
    }
    let sum = Sha256::digest(identity.to_string());
    format!("sha256:{}", hex(&sum))
}
