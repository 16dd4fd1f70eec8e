#!/usr/bin/env node
// Starts the program where install.js could not put it here: bytes, exit status and signals pass.
"use strict";

const { spawn } = require("child_process");
const { constants } = require("os");

// Without a decision nothing may go on: hosts take 2 for a block.
const fail = (error) => {
  process.stderr.write(`hookrun: ${error.message}\n`);
  process.exit(2);
};

let program;
try {
  program = require("../program.js")().file;
} catch (error) {
  fail(error);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", fail);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("exit", (status, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // Reports a signal that does not end this process as a shell does.
    setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 1000);
  } else {
    process.exit(status);
  }
});
