// A program that asks hookrun before it acts, about several things concurrently. It shows dialogs of
// hooks, and takes their messages.
//
//     node client.ts HOOKRUN COMMAND...
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { argv, exit } from "node:process";

const [program, ...commands] = argv.slice(2);
const server = spawn(program, ["serve", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let last = 0;

const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

const gone = (error) => {
  for (const { reject } of waiting.values()) reject(error);
  waiting.clear();
};
server.on("error", gone);
server.on("close", () => gone(new Error("hookrun has ended")));
server.stdin.on("error", () => {});

createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method === "hookrun/dialog") {
    // Show it where `session` and `request` belong. This one says yes to every question, and nothing
    // to all others.
    send({ id: message.id, result: { value: message.params.kind === "confirm" ? true : null } });
  } else if (message.method === "hookrun/message") {
    console.log(`message for ${message.params.session}:`, message.params.text);
  } else if (waiting.has(message.id)) {
    waiting.get(message.id).resolve(message.result);
    waiting.delete(message.id);
  }
});

const call = (method, params) =>
  new Promise((resolve, reject) => {
    last += 1;
    waiting.set(last, { resolve, reject });
    send({ id: last, method, params });
  });

// The input to use instead of `input`. Any failure is a block.
async function permit(toolName, toolInput) {
  const context = { toolName, toolInput, sessionId: "s-1" };
  const reply = await call("hookrun/decide", { event: "tool.pre", context });
  if (reply?.status !== 0) throw new Error(reply?.stderr.trim() || "hookrun did not decide");
  return JSON.parse(reply.stdout || "{}").update?.toolInput ?? toolInput;
}

const dialogs = ["select", "confirm", "input", "editor"];
await call("hookrun/hello", { client: { name: "client.ts" }, messages: true, dialogs });
for (const command of commands) {
  try {
    console.log("runs:", (await permit("bash", { command })).command);
  } catch (reason) {
    console.log("blocked:", reason.message);
  }
}
server.on("close", (status) => exit(status ?? 1));
server.stdin.end();
