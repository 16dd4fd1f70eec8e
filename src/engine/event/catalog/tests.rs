//! The whole table, and the names of every host.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::*;
use crate::engine::event::spec::{JsonType, Merge, OnFailure, Schedule};

/// The event names in the documents of each host and seed system; separated by white space.
const HOSTS: &[(&str, &str)] = &[
    (
        "loom",
        "session.start user.prompt.submit tool.pre tool.post model.pre model.post session.end error
         onStart onToolCall onToolEnd onModelCall onModelEnd onComplete onError",
    ),
    (
        "wolli",
        "tool_call tool_result input context provider_request agent_start compact message_end",
    ),
    (
        "oh-my-pi",
        "session_start session_before_switch session_switch session_before_branch session_branch
         session_before_compact session.compacting session_compact session_before_tree
         session_tree session_shutdown context before_agent_start agent_start agent_end
         turn_start turn_end auto_compaction_start auto_compaction_end auto_retry_start
         auto_retry_end ttsr_triggered todo_reminder tool_call tool_result session_stop
         before_provider_request after_provider_response message_start message_end
         tool_execution_start tool_execution_end",
    ),
    (
        "openclaw",
        "gateway-start gateway-stop session-start session-end before-agent-start
         message-received message-sending message-sent before-tool-call after-tool-call
         before-compaction after-compaction tool-result-persist
         before_model_resolve agent_turn_prepare before_prompt_build before_agent_start
         before_agent_run before_agent_reply before_agent_finalize agent_end
         heartbeat_prompt_contribution model_call_started model_call_ended llm_input llm_output
         before_tool_call after_tool_call resolve_exec_env tool_result_persist
         before_message_write inbound_claim channel_pairing_requested message_received
         poll_vote_received message_sending reply_payload_sending message_sent before_dispatch
         reply_dispatch session_start session_end before_compaction after_compaction before_reset
         subagent_spawning subagent_delivery_target subagent_spawned subagent_ended
         subagent_progress gateway_start gateway_stop cron_reconciled cron_changed before_install
         skill_proposal_evaluate skill_proposal_changed skill_changed",
    ),
    (
        "pi",
        "resources_discover session_directory session_start session_before_switch session_switch
         session_before_fork session_fork session_before_compact session_compact
         session_before_tree session_tree session_shutdown context before_provider_request
         after_provider_response before_agent_start agent_start agent_end turn_start turn_end
         message_start message_update message_end tool_execution_start tool_execution_update
         tool_execution_end model_select user_bash input tool_call tool_result",
    ),
    (
        "claude",
        "SessionStart Setup InstructionsLoaded UserPromptSubmit UserPromptExpansion MessageDisplay
         PreToolUse PermissionRequest PermissionDenied PostToolUse PostToolUseFailure
         PostToolBatch Notification SubagentStart SubagentStop TaskCreated TaskCompleted Stop
         StopFailure TeammateIdle ConfigChange CwdChanged DirectoryAdded FileChanged
         WorktreeCreate WorktreeRemove PreCompact PostCompact PreModelSwitch PostModelSwitch
         Elicitation ElicitationResult SessionEnd",
    ),
    (
        "codex",
        "PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SessionStart SessionEnd
         UserPromptSubmit SubagentStart SubagentStop Stop Interrupt StopFailure PreModelRequest",
    ),
    (
        "gemini",
        "BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection
         SessionStart SessionEnd Notification PreCompress",
    ),
    (
        "cursor",
        "sessionStart sessionEnd preToolUse postToolUse postToolUseFailure subagentStart
         subagentStop beforeShellExecution afterShellExecution beforeMCPExecution
         afterMCPExecution beforeReadFile afterFileEdit beforeSubmitPrompt preCompact stop
         afterAgentResponse afterAgentThought beforeTabFileRead afterTabFileEdit workspaceOpen",
    ),
    (
        "copilot",
        "sessionStart sessionEnd userPromptSubmitted userPromptTransformed preToolUse postToolUse
         postToolUseFailure permissionRequest agentStop subagentStart subagentStop preCompact
         notification errorOccurred",
    ),
    (
        "opencode",
        "tool.execute.before tool.execute.after chat.message command.execute.before chat.params
         chat.headers experimental.chat.messages.transform experimental.chat.system.transform
         shell.env experimental.session.compacting tool.definition permission.ask
         experimental.text.complete session.created session.idle session.error session.compacted
         file.edited",
    ),
    (
        "hook interchange format",
        "before_tool_execute after_tool_execute tool_use_failure before_prompt agent_stop
         session_start session_end before_compact after_compact before_model after_model
         before_tool_selection permission_request permission_denied subagent_start subagent_stop
         file_changed notification error_occurred",
    ),
    (
        "git",
        "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit
         prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push
         pre-receive update post-receive post-update reference-transaction push-to-checkout
         pre-auto-gc post-rewrite sendemail-validate post-index-change",
    ),
];

#[test]
fn every_row_keeps_the_rules_of_the_table() {
    for spec in EVENTS {
        assert_names(spec);
        assert_rules(spec);
        assert_sample(spec);
    }
}

fn assert_names(spec: &EventSpec) {
    let name = spec.name.as_ref();
    let is_dotted_lower_case = name
        .split('.')
        .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    assert!(is_dotted_lower_case, "{name}");

    let summary = spec.summary.as_ref();
    assert!(!summary.is_empty() && summary.len() <= 60, "{name}: {summary}");
    assert!(!summary.ends_with('.'), "{name}: {summary}");
    assert!(summary.starts_with(char::is_lowercase), "{name}: {summary}");
}

fn assert_rules(spec: &EventSpec) {
    let name = &spec.name;
    let changes_something = spec.blocks || !spec.rewrites.is_empty();
    let is_sequential = spec.schedule == Schedule::Sequential;
    assert_eq!(changes_something, is_sequential, "{name}");
    assert!(
        spec.blocks || spec.on_failure == OnFailure::Allow,
        "{name} fails closed and cannot be blocked"
    );
    for rewrite in spec.rewrites.iter() {
        let field = &rewrite.field;
        assert!(spec.carries(field), "{name} rewrites `{field}` and lacks it");
    }
}

fn assert_sample(spec: &EventSpec) {
    let name = &spec.name;
    let sample: Value = serde_json::from_str(&spec.sample()).unwrap();
    assert_eq!(sample.to_string(), spec.sample(), "{name} is not compact");
    let sample = sample.as_object().unwrap();
    let keys: HashSet<&str> = spec.context.iter().map(|key| key.name.as_ref()).collect();
    assert_eq!(keys.len(), spec.context.len(), "{name}: a key appears twice");
    assert_eq!(sample["event"], name.as_ref());

    for key in spec.context.iter() {
        let label = format!("{name}: {}", key.name);
        assert!(
            !["event", "action", "raw"].contains(&key.name.as_ref()),
            "{label} is kept for hookrun"
        );
        assert!(!key.about.is_empty(), "{label}");
        assert!(key.kind.fits(&sample[key.name.as_ref()]), "{label}");
    }
    for rewrite in spec.rewrites.iter() {
        let kind = spec.context.iter().find(|key| key.name == rewrite.field).unwrap().kind;
        match rewrite.merge {
            Merge::Append => assert_eq!(kind, JsonType::Array, "{name}: {}", rewrite.field),
            Merge::SameRole | Merge::Entries => {
                assert_eq!(kind, JsonType::Object, "{name}: {}", rewrite.field);
            }
            Merge::Claim => assert_eq!(kind, JsonType::Boolean, "{name}: {}", rewrite.field),
            Merge::Last | Merge::Chain | Merge::First => {}
        }
    }
}

#[test]
fn a_name_names_one_row() {
    let mut rows: HashMap<String, &str> = HashMap::new();
    for spec in EVENTS {
        for name in spec.aliases.iter().chain([&spec.name.as_ref()]) {
            if let Some(other) = rows.insert(name.to_ascii_lowercase(), &spec.name) {
                panic!("`{name}` stands in `{other}` and in `{}`", spec.name);
            }
        }
    }
}

#[test]
fn every_name_of_every_host_is_found() {
    for (host, names) in HOSTS {
        for name in names.split_whitespace() {
            assert!(find(name).is_some(), "{host}: {name}");
            assert!(find(&name.to_uppercase()).is_some(), "{host}: {name}");
        }
    }
}

#[test]
fn no_alias_is_in_no_host_s_documents() {
    let documented: HashSet<String> = HOSTS
        .iter()
        .flat_map(|(_, names)| names.split_whitespace())
        .map(str::to_ascii_lowercase)
        .collect();
    for alias in EVENTS.iter().flat_map(|spec| spec.aliases) {
        assert!(documented.contains(&alias.to_ascii_lowercase()), "{alias}");
    }
}

#[test]
fn loom_s_contexts_come_in_loom_s_order() {
    let cases = [
        ("session.start", "turnIndex sessionId model"),
        ("prompt.submit", "turnIndex prompt"),
        ("tool.pre", "turnIndex toolName toolInput"),
        ("tool.post", "turnIndex toolName toolInput result isError"),
        ("model.pre", "turnIndex model messageCount"),
        ("model.post", "turnIndex model stopReason inputTokens outputTokens costUsd toolCallCount"),
        ("session.end", "turnIndex sessionId reason"),
        ("error", "turnIndex code message"),
    ];
    for (event, keys) in cases {
        let keys: Vec<&str> = keys.split(' ').collect();
        let context = &find(event).unwrap().context;
        let begins: Vec<&str> = context.iter().map(|key| key.name.as_ref()).collect();
        assert_eq!(begins[..keys.len()], keys, "{event}");
    }
}

#[test]
fn a_misspelt_event_gets_the_one_that_was_meant() {
    let error = Catalog::default().find("tool.per").unwrap_err();
    assert_eq!(error.to_string(), "unknown event `tool.per`; did you mean `tool.pre`?");
}
