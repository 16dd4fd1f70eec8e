// Written by `hookrun install`; `hookrun uninstall` removes it.
import { spawn } from "node:child_process";

const PROGRAM = "@PROGRAM@";
const EVENTS = "@EVENTS@";

// hookrun is told to decide in less. One that is stopped or hangs does not say so itself.
const BUDGET = "595s";
const DEADLINE_MS = 600000;

// Asks hookrun. Whatever goes wrong with asking is a refusal: exit status 0 allows, 2 is its own
// block, and everything else is no decision.
function ask(event, context, cwd) {
  return new Promise((resolve) => {
    let stdout = "";
    let stderr = "";
    const refuse = (reason) => resolve({ refusal: reason, result: {} });
    const isGone = (error) => refuse(`hookrun cannot be started: ${error.message}`);
    let child;
    try {
      const words = ["run", event, "--budget", BUDGET];
      child = spawn(PROGRAM, words, { cwd, stdio: ["pipe", "pipe", "pipe"] });
    } catch (error) {
      isGone(error);
      return;
    }
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      refuse(`hookrun did not answer within ${DEADLINE_MS / 1000} s`);
    }, DEADLINE_MS);
    child.on("error", (error) => {
      clearTimeout(timer);
      isGone(error);
    });
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.on("close", (status, signal) => {
      clearTimeout(timer);
      if (status !== 0 && status !== 2) {
        refuse(`hookrun ended with ${signal ?? `status ${status}`} and no decision`);
        return;
      }
      let result = {};
      let refusal = status === 0 ? undefined : stderr.trim() || "hookrun gave no reason";
      try {
        if (stdout.trim() !== "") result = JSON.parse(stdout);
      } catch (error) {
        refusal ??= `hookrun said what cannot be read: ${error.message}`;
      }
      resolve({ refusal, result });
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ event, cwd, ...context }));
  });
}

// The host keeps the object, so its keys are what is changed.
function replace(target, value) {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, value);
}

export const Hookrun = async ({ directory }) => {
  const hooks = {
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text");
      const prompt = texts.map((part) => part.text).join("\n");
      const { refusal, result } = await ask(
        "prompt.submit",
        { sessionId: input.sessionID, prompt },
        directory,
      );
      if (refusal !== undefined) throw new Error(refusal);
      if (typeof result.update?.prompt === "string" && texts.length > 0) {
        for (const part of texts) part.text = "";
        texts[0].text = result.update.prompt;
      }
      if (result.additionalContext && texts.length > 0) {
        texts[texts.length - 1].text += `\n\n${result.additionalContext}`;
      }
    },
    "tool.execute.before": async (input, output) => {
      const { refusal, result } = await ask(
        "tool.pre",
        {
          sessionId: input.sessionID,
          toolName: input.tool,
          toolInput: output.args,
          toolUseId: input.callID,
        },
        directory,
      );
      if (refusal !== undefined) throw new Error(refusal);
      if (result.update?.toolInput) replace(output.args, result.update.toolInput);
    },
    "tool.execute.after": async (input, output) => {
      const { result } = await ask(
        "tool.post",
        {
          sessionId: input.sessionID,
          toolName: input.tool,
          toolInput: input.args,
          result: output.output,
          isError: false,
          toolUseId: input.callID,
        },
        directory,
      );
      if (typeof result.update?.result === "string") output.output = result.update.result;
      if (result.additionalContext) output.output += `\n\n${result.additionalContext}`;
    },
  };
  const told = {
    "session.created": (it) => ["session.start", { sessionId: it.info?.id }],
    "session.idle": (it) => ["agent.end", { sessionId: it.sessionID }],
    "session.compacted": (it) => ["compact.post", { sessionId: it.sessionID }],
    "session.error": (it) => [
      "error",
      { sessionId: it.sessionID, message: String(it.error?.data?.message ?? it.error?.name ?? "") },
    ],
  };
  const wanted = Object.fromEntries(EVENTS.filter((name) => name in hooks).map((name) => [name, hooks[name]]));
  if (EVENTS.some((name) => name in told)) {
    wanted.event = async ({ event }) => {
      if (!EVENTS.includes(event.type) || !(event.type in told)) return;
      const [name, context] = told[event.type](event.properties ?? {});
      await ask(name, context, directory);
    };
  }
  return wanted;
};
