// A program that asks hookrun before it acts, one question after the other.
//
//     node host.ts HOOKRUN COMMAND...
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { argv } from "node:process";

const DEADLINE_MS = 60_000;
const [program, ...commands] = argv.slice(2);
const server = spawn(program, ["serve", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
for (const one of [server, server.stdin]) one.on("error", () => {});
const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();

// The input to use instead of `toolInput`. Any failure is a block, now and for all later calls.
async function permit(toolName, toolInput) {
  const context = { toolName, toolInput, sessionId: "s-1" };
  const params = { event: "tool.pre", context };
  const request = { jsonrpc: "2.0", id: 1, method: "hookrun/decide", params };
  server.stdin.write(JSON.stringify(request) + "\n");
  const late = setTimeout(() => server.kill("SIGKILL"), DEADLINE_MS);
  const { value } = await lines.next();
  clearTimeout(late);
  const reply = value === undefined ? undefined : JSON.parse(value).result;
  if (reply?.status !== 0) throw new Error(reply?.stderr.trim() || "hookrun did not decide");
  return JSON.parse(reply.stdout || "{}").update?.toolInput ?? toolInput;
}

for (const command of commands) {
  try {
    console.log("runs:", (await permit("bash", { command })).command);
  } catch (reason) {
    console.log("blocked:", reason.message);
  }
}
server.stdin.end();
