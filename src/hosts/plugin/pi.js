
// The same for pi and oh-my-pi: where they differ, both words are said.
export default function (pi) {
  const isOmp = HOST === "omp";
  // Where dialogs of hooks are shown that run for no open event. The host takes `ctx` back, so it is
  // read before anything is waited for.
  let ui;
  // Texts for the model: of a prompt or a session until it starts, of a tool until it has a result.
  const texts = [];
  const textsOfTools = new Map();
  // Prompts sent by hooks. Hooks do not run for them, because they might send another.
  const sent = new Set();
  // The first pi has one `session` event with reasons, `ctx.sessionFile` and `pi.send`.
  const isFirstPi = typeof pi.send === "function";
  const handlers = {};
  const listen = (name, handle) => {
    handlers[name] = handle;
    pi.on(name, handle);
  };

  const show = {
    select: (screen, { title, options }, with_) => screen.select(title, options, with_),
    confirm: (screen, { title, message }, with_) => screen.confirm(title, message, with_),
    input: (screen, { title, placeholder }, with_) => screen.input(title, placeholder, with_),
    editor: (screen, { title, text }, with_) => screen.editor(title, text, with_),
  };
  const busy = { deliverAs: "followUp" };
  const client = {
    offers: () => ({
      dialogs: ui === undefined ? [] : [...Object.keys(show), "notify", "status"],
      messages: true,
    }),
    "hookrun/dialog": (params, signal, screen = ui) =>
      show[params.kind](screen, { ...params, title: `${params.hook}: ${params.title}` }, { signal }),
    "hookrun/notify": ({ hook, message, kind }, screen = ui) => screen?.notify(`${hook}: ${message}`, kind),
    "hookrun/status": ({ key, text }, screen = ui) => screen?.setStatus(key, text ?? undefined),
    "hookrun/message": ({ text, attachments = [], customType, display, details }) => {
      const content = [text, ...attachments.map((file) => `Attached: ${file}`)].join("\n");
      if (isFirstPi) {
        pi.send(content);
      } else if (customType === undefined && display && details === undefined) {
        sent.add(content);
        pi.sendUserMessage(content, busy);
      } else {
        const message = { customType: customType ?? "hookrun", content, display, details };
        pi.sendMessage(message, { ...busy, triggerTurn: true });
      }
    },
    "hookrun/context": ({ text }) =>
      isFirstPi
        ? pi.send(text)
        : pi.sendMessage({ customType: "hookrun", content: text, display: false }, { deliverAs: "steer" }),
  };
  const hookrun = connect(client);

  const ask = async (name, context, ctx) => {
    const screen = ctx.hasUI ? ctx.ui : undefined;
    ui = screen;
    const { cwd, sessionManager, sessionFile, signal } = ctx;
    const [event, waitMs] = EVENTS[name];
    const transcriptPath = sessionManager ? sessionManager.getSessionFile() : (sessionFile ?? undefined);
    const sessionId = sessionManager ? sessionManager.getSessionId() : transcriptPath;
    const facts = { cwd, sessionId, transcriptPath, ...context };
    return hookrun.ask(event, facts, { waitMs, signal, screen });
  };
  const on = (name, handle) => {
    if (name in EVENTS) listen(name, handle);
  };
  // Events that only report, and events that may be cancelled, with the values of the host's event.
  const watch = (name, facts) =>
    on(name, async (event, ctx) => {
      // With `-p` pi tells of the agent's end when the session is over, and `ctx` gone.
      const { result } = await ask(name, facts(event), ctx).catch(() => ({ result: {} }));
      if (result.additionalContext) texts.push(result.additionalContext);
    });
  const gate = (name, facts, replyTo = () => undefined) =>
    on(name, async (event, ctx) => {
      const screen = ctx.hasUI ? ctx.ui : undefined;
      const { block, result } = await ask(name, facts(event), ctx);
      if (block === undefined) return replyTo(result.update ?? {});
      screen?.notify(block, "warning");
      return { cancel: true };
    });

  watch("session_start", ({ reason }) => ({ source: reason ?? "startup" }));
  watch("session_switch", ({ reason, previousSessionFile }) => ({ reason, previousSession: previousSessionFile }));
  watch("session_compact", () => ({}));
  watch("turn_start", ({ turnIndex }) => ({ turnIndex }));
  watch("turn_end", ({ turnIndex, message, toolResults }) => ({ turnIndex, message, toolResults }));
  watch("agent_end", ({ messages }) => ({ messages }));
  gate("session_before_switch", ({ reason, targetSessionFile }) => ({ reason, targetSession: targetSessionFile }));
  gate("session_before_fork", ({ entryId }) => ({ entryId }));
  gate("session_before_branch", ({ entryId }) => ({ entryId }));
  gate("session_before_tree", ({ preparation }) => ({ entryId: preparation?.targetId }));
  gate(
    "session_before_compact",
    ({ customInstructions, preparation }) =>
      ({ customInstructions, preparation, tokensBefore: preparation?.tokensBefore }),
    ({ compaction }) => (compaction ? { compaction } : undefined),
  );
  // Always: with it the server goes, and what runs in it.
  listen("session_shutdown", async ({ reason }, ctx) => {
    if ("session_shutdown" in EVENTS) await ask("session_shutdown", { reason }, ctx);
    hookrun.end();
  });
  if (isFirstPi) {
    pi.on("session", ({ reason, ...event }, ctx) => handlers[`session_${reason}`]?.(event, ctx));
  }

  const blockPrompt = (block, screen) =>
    screen === undefined ? console.error(block) : screen.notify(block, "error");
  on("input", async ({ text, images, source }, ctx) => {
    if (source === "extension" && sent.delete(text)) return undefined;
    const screen = ctx.hasUI ? ctx.ui : undefined;
    const { block, result } = await ask("input", { prompt: text }, ctx);
    if (block !== undefined) {
      blockPrompt(block, screen);
      return { action: "handled", handled: true };
    }
    if (result.additionalContext) texts.push(result.additionalContext);
    const prompt = result.update?.prompt;
    if (typeof prompt !== "string") return undefined;
    return { action: "transform", text: prompt, images };
  });
  if ("input" in EVENTS || "session_start" in EVENTS) {
    pi.on("before_agent_start", async ({ prompt }, ctx) => {
      // oh-my-pi has `input` only at a terminal.
      if (isOmp && "input" in EVENTS && ctx.mode !== "tui" && !sent.delete(prompt)) {
        const screen = ctx.hasUI ? ctx.ui : undefined;
        const stop = () => ctx.abort();
        const { block, result } = await ask("input", { prompt }, ctx);
        const rewrites = result.update?.prompt !== undefined;
        const reason = block ?? (rewrites ? "omp cannot apply prompt rewrites here" : undefined);
        if (reason !== undefined) {
          blockPrompt(reason, screen);
          stop();
          return undefined;
        }
        if (result.additionalContext) texts.push(result.additionalContext);
      }
      if (texts.length === 0) return undefined;
      const content = texts.splice(0).join("\n\n");
      return { message: { customType: "hookrun", content, display: false } };
    });
  }

  on("tool_call", async (event, ctx) => {
    const { toolName, toolCallId, input } = event;
    const fields = { toolName, toolInput: input, toolUseId: toolCallId };
    const { block, result } = await ask("tool_call", fields, ctx);
    if (block !== undefined) return { block: true, reason: block };
    if (result.additionalContext) textsOfTools.set(toolCallId, result.additionalContext);
    const changed = result.update?.toolInput;
    if (changed === undefined) return undefined;
    // pi runs the object that it gave, oh-my-pi the one that it gets.
    for (const key of Object.keys(input)) delete input[key];
    Object.assign(input, changed);
    return isOmp ? { input } : undefined;
  });
  if ("tool_call" in EVENTS || "tool_result" in EVENTS) {
    pi.on("tool_result", async ({ toolName, toolCallId, input, content, details, isError }, ctx) => {
      const added = [textsOfTools.get(toolCallId)];
      textsOfTools.delete(toolCallId);
      let update = {};
      if ("tool_result" in EVENTS) {
        const isText = content.every((block) => block.type === "text");
        const text = isText ? content.map((block) => block.text).join("\n") : content;
        const fields = { toolName, toolInput: input, toolUseId: toolCallId, result: text, details, isError };
        const { block, result } = await ask("tool_result", fields, ctx);
        update = result.update ?? {};
        added.push(block, result.additionalContext);
      }
      const asBlocks = (text) => [{ type: "text", text }];
      const changed = typeof update.result === "string" ? asBlocks(update.result) : update.result;
      const blocks = added.filter((text) => text).flatMap(asBlocks);
      const isSame = changed === undefined && blocks.length === 0;
      return { ...update, content: isSame ? undefined : [...(changed ?? content), ...blocks] };
    });
  }

  on("context", async ({ messages }, ctx) => {
    const { result } = await ask("context", { messages }, ctx);
    const changed = result.update?.messages;
    return changed === undefined ? undefined : { messages: changed };
  });

  // A person's own command has no word for a block: it gets a result.
  on("user_bash", async ({ command, excludeFromContext }, ctx) => {
    const { block } = await ask("user_bash", { command, excludeFromContext }, ctx);
    if (block === undefined) return undefined;
    return { result: { output: block, exitCode: 1, cancelled: false, truncated: false } };
  });

  // A failure lets an agent stop: an endless loop is worse.
  on("session_stop", async ({ stop_hook_active: stopHookActive, last_assistant_message: last, signal }, ctx) => {
    const words = last?.content?.filter?.((block) => block.type === "text").map((block) => block.text);
    const fields = { stopHookActive, lastAssistantMessage: words?.join("\n") };
    const { block, isFailure } = await ask("session_stop", fields, ctx);
    if (block === undefined || isFailure || signal?.aborted) return undefined;
    return { decision: "block", reason: block };
  });
}
