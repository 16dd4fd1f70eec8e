// Drives an agent in its rpc mode: `node rpc.mjs PROMPT PROGRAM WORD…` sends the prompt, says yes to
// every dialog, prints what it shows, and ends when the agent has been idle for a while.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const QUIET_MS = 2500;
const [prompt, program, ...words] = process.argv.slice(2);
const agent = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
const say = (message) => agent.stdin.write(`${JSON.stringify(message)}\n`);
const answers = {
  confirm: () => ({ confirmed: true }),
  select: ({ options }) => ({ value: options[0].label ?? options[0] }),
  input: () => ({ value: "typed" }),
  editor: ({ prefill }) => ({ value: `${prefill} edited` }),
};
let timer;
let isDone = false;
createInterface({ input: agent.stdout }).on("line", (line) => {
  const { type, id, method, ...more } = JSON.parse(line);
  clearTimeout(timer);
  if (type === "extension_ui_request") {
    console.log(method, JSON.stringify(more));
    const answer = answers[method]?.(more);
    if (answer !== undefined) say({ type: "extension_ui_response", id, ...answer });
  }
  isDone ||= type === "agent_end" || (type === "response" && more.success === false);
  if (isDone) {
    timer = setTimeout(() => agent.stdin.end(), QUIET_MS);
  }
});
agent.on("close", (status) => process.exit(status ?? 1));
say({ id: "1", type: "prompt", message: prompt });
