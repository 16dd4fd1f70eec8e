//! The table of all systems for the documents: their events, their rules, and the test that holds
//! each row.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use hookrun::hosts::{Host, HostEvent, SYSTEMS};
use hookrun::internals::event::OnFailure;

/// The test, of the file of its system, that holds a row to a sentence of the system's document.
/// The other rows, of which the documents say nothing but the name, are held by the walks in
/// `rows`.
#[rustfmt::skip]
const HELD: &[(&str, &str, &str)] = &[
    ("loom", "tool.pre", "tool_pre_is_the_gate_and_the_others_are_informational"),
    ("loom", "tool.post", "post_hooks_cannot_roll_back"),
    ("loom", "model.pre", "additional_context_of_model_pre_lands_on_this_request"),
    ("loom", "model.post", "model_post_is_the_metering_moment"),
    ("loom", "session.start", "tool_pre_is_the_gate_and_the_others_are_informational"),
    ("loom", "session.end", "session_end_fires_on_every_loop_exit_with_the_terminal_reason"),
    ("loom", "error", "error_fires_just_before_session_end"),
    ("loom", "user.prompt.submit", "user_prompt_submit_is_declared_and_a_host_that_fires_it_can_be_refused"),
    ("wolli", "tool_call", "a_tool_call_is_stopped_with_a_reason"),
    ("wolli", "tool_result", "patches_accumulate_down_the_chain"),
    ("wolli", "input", "an_input_hook_that_rewrites_text_hands_the_next_hook_the_rewritten_text"),
    ("wolli", "context", "a_message_array_and_a_payload_are_handed_down_the_chain"),
    ("wolli", "provider_request", "a_message_array_and_a_payload_are_handed_down_the_chain"),
    ("wolli", "agent_start", "agent_start_accumulates_every_message_and_the_last_system_prompt_wins"),
    ("wolli", "compact", "a_terminal_decision_short_circuits_the_rest_of_the_chain"),
    ("wolli", "message_end", "a_change_of_role_is_rejected_and_the_chain_moves_on"),
    ("omp", "tool_call", "if_a_handler_throws_it_fails_closed_and_blocks_execution"),
    ("omp", "tool_result", "the_last_returned_override_wins_as_a_whole_and_nothing_short_circuits"),
    ("omp", "context", "context_is_chained"),
    ("omp", "before_agent_start", "of_before_agent_start_the_first_returned_message_is_kept_and_later_ones_are_ignored"),
    ("omp", "session_before_switch", "session_before_events_can_be_cancelled"),
    ("omp", "session_before_branch", "session_before_events_can_be_cancelled"),
    ("omp", "session_before_compact", "of_session_before_results_the_latest_is_tracked"),
    ("omp", "session_before_tree", "session_before_events_can_be_cancelled"),
    ("omp", "session.compacting", "of_session_compacting_the_latest_returned_result_wins"),
    ("omp", "session_start", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "session_switch", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "session_branch", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "session_compact", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "session_tree", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "session_shutdown", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "agent_start", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "agent_end", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "turn_start", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "turn_end", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "auto_compaction_start", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "auto_compaction_end", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "auto_retry_start", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "auto_retry_end", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "ttsr_triggered", "an_event_that_is_only_observed_cannot_be_refused"),
    ("omp", "todo_reminder", "an_event_that_is_only_observed_cannot_be_refused"),
    ("pi", "session", "each_of_the_ten_reasons_is_an_event_of_its_own"),
    ("pi", "tool_call", "an_error_of_a_tool_call_hook_blocks_the_tool"),
    ("pi", "tool_result", "tool_result_can_modify_content_details_and_whether_it_is_an_error"),
    ("pi", "agent_start", "the_agent_and_its_turns_are_told_and_cannot_be_refused"),
    ("pi", "agent_end", "the_agent_and_its_turns_are_told_and_cannot_be_refused"),
    ("pi", "turn_start", "the_agent_and_its_turns_are_told_and_cannot_be_refused"),
    ("pi", "turn_end", "the_agent_and_its_turns_are_told_and_cannot_be_refused"),
    ("pi", "input", "what_later_extensions_of_pi_return_is_understood"),
    ("pi", "before_agent_start", "what_later_extensions_of_pi_return_is_understood"),
    ("openclaw", "gateway-start", "thirteen_hooks_are_known_by_dashes_and_by_underscores"),
    ("openclaw", "gateway-stop", "thirteen_hooks_are_known_by_dashes_and_by_underscores"),
    ("openclaw", "session-start", "what_is_not_waited_for_is_answered_before_its_hooks_are_done"),
    ("openclaw", "session-end", "what_is_not_waited_for_is_answered_before_its_hooks_are_done"),
    ("openclaw", "message-received", "a_received_message_is_filtered_or_answered_by_the_documents_name_and_only_told_by_the_sources"),
    ("openclaw", "message-sent", "what_is_not_waited_for_is_answered_before_its_hooks_are_done"),
    ("openclaw", "after-tool-call", "what_is_not_waited_for_is_answered_before_its_hooks_are_done"),
    ("openclaw", "after-compaction", "what_is_not_waited_for_is_answered_before_its_hooks_are_done"),
    ("openclaw", "before-agent-start", "contexts_of_several_handlers_are_put_together"),
    ("openclaw", "before-tool-call", "the_first_approval_wins_and_freezes_the_params"),
    ("openclaw", "message-sending", "every_gate_refuses_in_its_own_words"),
    ("openclaw", "before-compaction", "thirteen_hooks_are_known_by_dashes_and_by_underscores"),
    ("openclaw", "tool-result-persist", "what_is_written_goes_from_hook_to_hook_and_keeps_its_role"),
    ("openclaw", "before_agent_run", "every_gate_refuses_in_its_own_words"),
    ("openclaw", "before_install", "every_gate_refuses_in_its_own_words"),
    ("openclaw", "before_agent_finalize", "every_gate_refuses_in_its_own_words"),
    ("openclaw", "before_message_write", "every_gate_refuses_in_its_own_words"),
    ("openclaw", "before_model_resolve", "of_several_models_the_first_is_taken"),
    ("openclaw", "inbound_claim", "the_first_that_handles_it_takes_it_and_the_rest_are_not_asked"),
    ("pi", "context", "what_later_extensions_of_pi_return_is_understood"),
    ("pi", "before_provider_request", "what_later_extensions_of_pi_return_is_understood"),
    ("pi", "user_bash", "what_later_extensions_of_pi_return_is_understood"),
    ("pi", "session_directory", "what_later_extensions_of_pi_return_is_understood"),
    ("openclaw", "reply_payload_sending", "every_gate_refuses_in_its_own_words"),
    ("openclaw", "subagent_spawning", "every_gate_refuses_in_its_own_words"),
    ("openclaw", "skill_proposal_evaluate", "every_gate_refuses_in_its_own_words"),
    ("openclaw", "before_tool_call", "a_native_question_is_an_approval_too"),
    ("openclaw", "before_dispatch", "the_first_that_handles_it_takes_it_and_the_rest_are_not_asked"),
    ("openclaw", "before_agent_reply", "the_first_that_handles_it_takes_it_and_the_rest_are_not_asked"),
    ("openclaw", "before_prompt_build", "contexts_of_several_handlers_are_put_together"),
    ("openclaw", "resolve_exec_env", "the_variables_of_all_hooks_come_together"),
];

/// One table for each system.
pub(crate) fn tables() -> String {
    SYSTEMS
        .iter()
        .map(|dialect| table(dialect))
        .collect::<Vec<_>>()
        .join("\n")
}

fn table(dialect: &Host) -> String {
    let mut text = format!("### {}\n\n", dialect.name);
    text.push_str(
        "| event | canonical | gate | rewrites | merging | failure | order | held by |\n",
    );
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for row in dialect.events {
        let held = HELD
            .iter()
            .find(|(system, name, _)| *system == dialect.name && *name == row.name);
        let held = match held {
            Some((system, _, test)) => {
                assert!(
                    is_there(system, test),
                    "there is no test {test} in {system}.rs"
                );
                format!("systems::{system}::{test}")
            }
            None => walk(row).to_string(),
        };
        let fields = row.results.rewrites();
        let fields = fields
            .iter()
            .map(|one| format!("`{}` {}", one.field, one.merge.name()));
        let fields = fields.collect::<Vec<_>>().join(", ");
        let failure = if row.on_failure == OnFailure::Block {
            "closed"
        } else {
            "open"
        };
        writeln!(
            text,
            "| `{}` | `{}` | {} | {} | {} | {} | {} | `{}` |",
            row.full_name(),
            row.event,
            if row.blocks { "yes" } else { "" },
            fields,
            row.merging(),
            failure,
            row.schedule.name(),
            held
        )
        .unwrap();
    }
    text
}

/// The test of every row that holds one whose document says nothing but its name.
fn walk(row: &HostEvent) -> &'static str {
    match row.blocks {
        true => {
            "systems::rows::a_refusal_is_said_in_the_words_of_every_gate_and_is_a_notice_elsewhere"
        }
        false => "systems::rows::a_hook_of_every_row_gets_that_systems_names_and_keys",
    }
}

/// Whether a system's file has a test of this name.
fn is_there(system: &str, test: &str) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/systems");
    let text = fs::read_to_string(folder.join(format!("{system}.rs"))).unwrap();
    text.contains(&format!("#[test]\nfn {test}()"))
}

#[test]
fn every_row_that_a_test_is_named_for_exists() {
    for (system, name, _) in HELD {
        let dialect = SYSTEMS
            .iter()
            .find(|dialect| dialect.name == *system)
            .unwrap();
        assert!(
            dialect.events.iter().any(|row| row.name == *name),
            "{system}: {name}"
        );
    }
}
