
export default function hookrun(amp) {
  const asks = connect({ offers: () => ({ dialogs: [], messages: false }) });
  const ask = (name, event, fields) => {
    const [own, waitMs] = EVENTS[name];
    const context = { sessionId: event.thread?.id, cwd: process.cwd(), ...fields };
    return asks.ask(own, context, { waitMs });
  };
  const callOf = (event) => ({
    toolName: event.tool,
    toolInput: event.input ?? {},
    toolUseId: event.toolUseID,
  });
  const hooks = {
    "session.start": async (event) => void (await ask("session.start", event, {})),
    "agent.start": async (event) => {
      const { result } = await ask("agent.start", event, { prompt: event.message });
      const content = result.additionalContext;
      return content ? { message: { content, display: true } } : undefined;
    },
    "agent.end": async (event) => void (await ask("agent.end", event, { reason: event.status })),
    "tool.call": async (event) => {
      const { block, result } = await ask("tool.call", event, callOf(event));
      if (block !== undefined) return { action: "reject-and-continue", message: block };
      const input = result.update?.toolInput;
      return input ? { action: "modify", input } : { action: "allow" };
    },
    "tool.result": async (event) => {
      const fields = { ...callOf(event), result: event.output, isError: event.status === "error" };
      const { result } = await ask("tool.result", event, fields);
      const output = result.update?.result;
      return output === undefined ? undefined : { status: "done", output };
    },
  };
  for (const name of Object.keys(hooks).filter((name) => name in EVENTS)) amp.on(name, hooks[name]);
}
