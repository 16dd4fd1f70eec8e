
export default {
  id: "hookrun",
  name: "hookrun",
  description: "Runs hookrun's hooks before and after agent actions",
  register(api) {
    const hookrun = connect({
      offers: () => ({ dialogs: [], messages: true }),
      "hookrun/message": ({ session, text, attachments = [] }) => {
        const all = [text, ...attachments.map((file) => `Attached: ${file}`)].join("\n");
        const injection = { sessionKey: session, text: all };
        return api.session.workflow.enqueueNextTurnInjection(injection);
      },
    });
    // For each hook: the values it takes from the event, and its result for a decision.
    const on = (name, factsOf, resultOf = () => undefined) => {
      if (!(name in EVENTS)) return;
      const [event, waitMs] = EVENTS[name];
      const ask = async (fields, ctx) => {
        const ownFolder = () => api.runtime.agent.resolveAgentWorkspaceDir(api.config, ctx.agentId);
        const cwd = fields.cwd ?? ctx.workspaceDir ?? (ctx.agentId ? ownFolder() : process.cwd());
        const facts = { cwd, sessionId: ctx.sessionKey ?? ctx.sessionId, ...factsOf(fields) };
        return resultOf(await hookrun.ask(event, facts, { waitMs, signal: ctx.abortSignal }));
      };
      // The host waits longer than hookrun takes, since it goes on when it has waited.
      api.on(name, ask, { timeoutMs: waitMs + 5000 });
    };

    on("session_start", () => ({}));
    on("session_end", ({ reason }) => ({ reason }));
    on(
      "before_agent_run",
      ({ prompt }) => ({ prompt }),
      ({ block, result }) => {
        const rewrites = result.update?.prompt !== undefined;
        const reason = block ?? (rewrites ? "openclaw cannot apply prompt rewrites" : undefined);
        return reason && { outcome: "block", reason, message: reason };
      },
    );
    on(
      "before_prompt_build",
      ({ prompt }) => ({ prompt }),
      ({ result }) => result.additionalContext && { appendContext: result.additionalContext },
    );
    on(
      "before_tool_call",
      ({ toolName, params, toolCallId }) => ({ toolName, toolInput: params, toolUseId: toolCallId }),
      ({ block, result }) =>
        block === undefined
          ? { params: result.update?.toolInput }
          : { block: true, blockReason: block },
    );
    on("after_tool_call", ({ toolName, params, toolCallId, result, error, durationMs }) => ({
      toolName,
      toolInput: params,
      toolUseId: toolCallId,
      result: result ?? error,
      isError: error !== undefined,
      durationMs,
    }));
    // A failure lets an agent stop: an endless loop is worse.
    on(
      "before_agent_finalize",
      ({ stopHookActive, lastAssistantMessage }) => ({ stopHookActive, lastAssistantMessage }),
      ({ block, isFailure }) =>
        block && !isFailure ? { action: "revise", reason: block } : undefined,
    );
    on(
      "message_sending",
      ({ to, content }) => ({ recipient: to, content }),
      ({ block, result }) =>
        block === undefined
          ? { content: result.update?.content }
          : { cancel: true, cancelReason: block },
    );
    on("after_compaction", () => ({}));
    on("agent_end", ({ messages }) => ({ messages }));
    api.on("gateway_stop", () => hookrun.end());
  },
};
