// A fake model, for probing agents.
//
//   node fake-model.mjs LOG    prints its port, and writes each request into LOG as a line of JSON
//
// It speaks OpenAI's streaming chat completions on loopback. Where the user has said
// `CALL tool {"some": "input"}` and no tool has answered since, it calls that tool with that input;
// otherwise it says "done". It ends with the program that started it, when stdin does.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const log = process.argv[2];

function textOf({ content }) {
  if (typeof content === "string") return content;
  return (content ?? []).map((block) => block.text ?? "").join("\n");
}

const CALL = /CALL (\w+) (\{.*\})/;

function deltaFor(messages) {
  const calls = messages.map((message) => message.role === "user" && CALL.exec(textOf(message)));
  const last = calls.findLastIndex((call) => call);
  const isAnswered = messages.slice(last + 1).some((message) => message.role === "tool");
  if (last < 0 || isAnswered) return [{ content: "done" }, "stop"];
  const [, name, input] = calls[last];
  const made = { index: 0, id: `call_${messages.length}`, type: "function" };
  return [{ tool_calls: [{ ...made, function: { name, arguments: input } }] }, "tool_calls"];
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  if (request.method !== "POST") return response.end('{"data": [{"id": "fake"}]}');
  const { messages = [] } = JSON.parse(body);
  appendFileSync(log, `${JSON.stringify(messages)}\n`);
  const [delta, reason] = deltaFor(messages);
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const chunk = (choice, more) => {
    const choices = [{ index: 0, finish_reason: null, delta: {}, ...choice }];
    const made = { id: "c", object: "chat.completion.chunk", created: 0, model: "fake", choices };
    response.write(`data: ${JSON.stringify({ ...made, ...more })}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  chunk({ delta: { role: "assistant", ...delta } });
  chunk({ finish_reason: reason }, { usage });
  response.end("data: [DONE]\n\n");
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
