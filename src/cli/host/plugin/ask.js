// Written by `hookrun install`; `hookrun uninstall` removes it.
import { spawn } from "node:child_process";

const HOST = "@HOST@";
// How hookrun is started.
const LAUNCH = "@LAUNCH@";
// The host's events: hookrun's name of each, and how many milliseconds there are to decide it.
const EVENTS = "@EVENTS@";

// A server that does not respond within this time does not delay an event.
const START_MS = 5;
const RESTART_MS = 60000;
const MOST_CHARS = 64 * 1024 * 1024;

// hookrun gets less time than the host has left. A hookrun that hangs cannot report that itself.
const budgetOf = (waitMs) => Math.floor(waitMs - Math.min(5000, waitMs / 2));

// Calls `take` with each line of a stream, and `giveUp` if one cannot be read.
function readLines(stream, take, giveUp) {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text) => {
    const lines = text.split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop();
    try {
      if (rest.length > MOST_CHARS) throw new Error("the line has no end");
      for (const line of lines) take(JSON.parse(line));
    } catch {
      giveUp();
    }
  });
}

// `hookrun serve --stdio`, until it exits or prints an unreadable line. `client` has a function for
// each method that the server calls in the host.
function startServer(client) {
  const child = spawn(LAUNCH[0], [...LAUNCH.slice(1), "serve", "--stdio"], { stdio: ["pipe", "pipe", "ignore"] });
  const server = { isReady: false, isGone: false, isUnknown: false };
  const open = new Map();
  const dialogs = new Map();
  let last = 0;
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  // An event's `screen` is where the host shows its dialogs.
  const request = (method, params, take, screen) => {
    say({ id: ++last, method, params });
    open.set(last, { take, screen });
    return last;
  };
  const leave = () => {
    if (server.isGone) return;
    server.isGone = true;
    child.kill("SIGKILL");
    for (const dialog of dialogs.values()) dialog.abort();
    for (const { take } of open.values()) take(undefined);
  };
  const show = async (id, params) => {
    const withdrawn = new AbortController();
    dialogs.set(id, withdrawn);
    const screen = open.get(params.request)?.screen;
    const shown = Promise.resolve(params).then((it) => client["hookrun/dialog"](it, withdrawn.signal, screen));
    const value = await shown.catch(() => null);
    dialogs.delete(id);
    if (!server.isGone) say({ id, result: { value: value ?? null } });
  };
  const hear = ({ id, method, params, result, error }) => {
    if (method === undefined) {
      open.get(id)?.take(error === undefined ? result : undefined);
      open.delete(id);
    } else if (method === "hookrun/dialog") {
      show(id, params);
    } else if (method === "hookrun/withdraw") {
      dialogs.get(params.id)?.abort();
    } else {
      // An error of the host does not concern the server.
      const screen = open.get(params?.request)?.screen;
      Promise.resolve(params).then((it) => client[method](it, screen)).catch(() => {});
    }
  };
  readLines(child.stdout, hear, leave);
  child.stdin.on("error", () => {});
  child.on("error", leave);
  child.on("close", leave);
  child.on("exit", (status) => {
    // A wrong command line: this build has no server.
    server.isUnknown = status === 2 && !server.isReady;
    // Its remaining output is still read, unless somebody else keeps its stdout open.
    setTimeout(leave, 100);
  });
  // The server does not keep the host running.
  for (const one of [child, child.stdin, child.stdout]) one.unref?.();
  // Says what the host can show, which it knows from its first event on.
  server.greet = () => {
    const hello = { client: { name: `hookrun's plugin for ${HOST}` }, ...client.offers() };
    server.ready ??= new Promise((resolve) => {
      request("hookrun/hello", hello, (answer) => {
        server.isReady = answer !== undefined;
        resolve();
      });
    });
    return server.ready;
  };
  server.leave = leave;
  // Ends it, and what runs in it.
  server.end = () => child.stdin.end();
  server.decide = (event, context, waitMs, take, screen) => {
    const params = { event, context, cwd: context.cwd, budgetMs: budgetOf(waitMs) };
    const hear = (answer) => {
      if (answer !== undefined && typeof answer?.status !== "number") leave();
      take(typeof answer?.status === "number" ? answer : undefined);
    };
    const id = request("hookrun/decide", params, hear, screen);
    return (isLate) => {
      open.delete(id);
      if (isLate) leave();
      else if (!server.isGone) say({ method: "hookrun/cancel", params: { id } });
    };
  };
  return server;
}

// One `hookrun run`, which decides one event.
function decideCold(event, context, waitMs, take) {
  const words = ["run", event, "--budget", `${budgetOf(waitMs)}ms`];
  const child = spawn(LAUNCH[0], [...LAUNCH.slice(1), ...words], { cwd: context.cwd, stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  child.on("error", (error) => take({ problem: `cannot start hookrun: ${error.message}` }));
  child.on("close", (status, signal) => take({ status: signal ?? status, stdout, stderr }));
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(context));
  return () => child.kill("SIGKILL");
}

// Status 0 allows, 2 is hookrun's own block, and everything else is no decision.
function decisionOf({ problem, status, stdout, stderr }) {
  const fail = (block) => ({ block, isFailure: true, result: {} });
  if (problem !== undefined) return fail(problem);
  // The shell that looks for hookrun found none, and says how to install it.
  if (status === 127 && stderr.trim() !== "") return fail(stderr.trim());
  if (status !== 0 && status !== 2) {
    const how = typeof status === "number" ? `status ${status}` : status;
    return fail(`hookrun ended with ${how} and no decision`);
  }
  const block = status === 0 ? undefined : stderr.trim() || "hookrun gave no reason";
  try {
    return { block, result: stdout.trim() === "" ? {} : JSON.parse(stdout) };
  } catch (error) {
    return fail(block ?? `cannot read hookrun's reply: ${error.message}`);
  }
}

// Calls hookrun: a server that lives as long as the session or, if it does not answer, one
// `hookrun run` for each event.
function connect(client) {
  let server;
  let mayStart = 0;

  // Begins before there is an event to decide, so that the first one finds a server.
  const start = () => {
    if (server?.isUnknown || Date.now() < mayStart) return;
    if (server !== undefined && !server.isReady) server.leave();
    if (server !== undefined && !server.isGone) return;
    mayStart = Date.now() + RESTART_MS;
    try {
      server = startServer(client);
    } catch {
      server = undefined;
    }
  };
  const reach = async () => {
    start();
    if (server !== undefined && !server.isReady && !server.isGone) {
      let timer;
      const late = new Promise((resolve) => (timer = setTimeout(resolve, START_MS)));
      await Promise.race([server.greet(), late]);
      clearTimeout(timer);
    }
    return server?.isReady && !server.isGone ? server : undefined;
  };

  // Asks about an event: the reason for a block, and the changes and texts of hooks. It never
  // throws. An event that a server took, and died over without an answer, is decided again: its
  // hooks may then run twice.
  const ask = async (event, fields, { waitMs, signal, screen }) => {
    const context = { event, ...fields };
    const until = Date.now() + waitMs;
    let drop = () => {};
    let isOver = false;
    let timer;
    let stop;
    const over = new Promise((resolve) => {
      const giveUp = (problem, isLate) => {
        isOver = true;
        drop(isLate);
        if (isLate && server !== undefined && !server.isReady) server.leave();
        resolve({ problem });
      };
      stop = () => giveUp("hookrun was interrupted", false);
      const late = `hookrun did not answer within ${waitMs / 1000} s`;
      timer = setTimeout(() => giveUp(late, true), waitMs);
    });
    const decide = async () => {
      const near = await reach();
      const left = () => Math.max(until - Date.now(), 1);
      const by = (door) =>
        new Promise((take) => {
          if (!isOver) drop = door(event, context, left(), take, screen);
        });
      return (near && (await by(near.decide))) ?? (await by(decideCold));
    };
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    const fail = (error) => ({ problem: `cannot reach hookrun: ${error.message}` });
    const answer = await Promise.race([over, decide().catch(fail)]);
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    return decisionOf(answer);
  };

  const end = () => {
    server?.end();
    server = undefined;
    mayStart = 0;
  };
  start();
  return { ask, end };
}
