
// The host keeps the object, so its keys are what is changed.
function replace(target, value) {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, value);
}

export const Hookrun = async ({ client, directory }) => {
  const hookrun = connect({
    offers: () => ({ dialogs: [], messages: true }),
    "hookrun/message": ({ session, text, attachments = [] }) => {
      const all = [text, ...attachments.map((file) => `Attached: ${file}`)].join("\n");
      const body = { parts: [{ type: "text", text: all }] };
      return client.session.prompt({ path: { id: session }, body });
    },
  });
  const ask = (name, context) => {
    const [event, waitMs] = EVENTS[name];
    return hookrun.ask(event, { cwd: directory, ...context }, { waitMs });
  };
  const hooks = {
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text");
      const prompt = texts.map((part) => part.text).join("\n");
      const fields = { sessionId: input.sessionID, prompt };
      const { block, result } = await ask("chat.message", fields);
      if (block !== undefined) {
        // The host says no more than that there was an error.
        const body = { message: block, variant: "error" };
        Promise.resolve().then(() => client.tui.showToast({ body })).catch(() => {});
        throw new Error(block);
      }
      if (typeof result.update?.prompt === "string" && texts.length > 0) {
        for (const part of texts) part.text = "";
        texts[0].text = result.update.prompt;
      }
      if (result.additionalContext && texts.length > 0) {
        texts[texts.length - 1].text += `\n\n${result.additionalContext}`;
      }
    },
    "tool.execute.before": async (input, output) => {
      const { block, result } = await ask("tool.execute.before", {
        sessionId: input.sessionID,
        toolName: input.tool,
        toolInput: output.args,
        toolUseId: input.callID,
      });
      if (block !== undefined) throw new Error(block);
      if (result.update?.toolInput) replace(output.args, result.update.toolInput);
    },
    "tool.execute.after": async (input, output) => {
      const { result } = await ask("tool.execute.after", {
        sessionId: input.sessionID,
        toolName: input.tool,
        toolInput: input.args,
        result: output.output,
        isError: false,
        toolUseId: input.callID,
      });
      if (typeof result.update?.result === "string") output.output = result.update.result;
      if (result.additionalContext) output.output += `\n\n${result.additionalContext}`;
    },
  };
  const facts = {
    "session.created": (it) => ({ sessionId: it.info?.id }),
    "session.idle": (it) => ({ sessionId: it.sessionID }),
    "session.compacted": (it) => ({ sessionId: it.sessionID }),
    "session.error": (it) => ({
      sessionId: it.sessionID,
      message: String(it.error?.data?.message ?? it.error?.name ?? ""),
    }),
  };
  const wanted = Object.fromEntries(Object.entries(hooks).filter(([name]) => name in EVENTS));
  if (Object.keys(facts).some((name) => name in EVENTS)) {
    wanted.event = async ({ event }) => {
      if (event.type in EVENTS && event.type in facts) {
        await ask(event.type, facts[event.type](event.properties ?? {}));
      }
    };
  }
  return wanted;
};
